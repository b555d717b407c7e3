"""HTML and Markdown to plain text: blank lines between blocks, "# " before headings, "- " before list items."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape

from dpplearn.summarize.text.word_lists import word_set

_DROPPED = frozenset(["script", "style", "noscript", "template", "svg", "iframe", "select", "button", "textarea"])
_ASIDES = frozenset(["nav", "footer", "aside"])
_HEADINGS = frozenset(["h1", "h2", "h3", "h4", "h5", "h6"])
_BLOCKS = _HEADINGS | word_set(
    "address article blockquote body caption center dd details div dl dt fieldset figcaption figure form head header "
    "hr html li main ol p pre section summary table tbody td th thead title tr ul"
)
_NAME = re.compile(r"/?([A-Za-z][A-Za-z0-9_:.-]{0,40})")
_MARK = re.compile('[">]')
_LONGEST_TAG = 5_000
_HUGE = re.compile("&#[0-9]{20,};?")  # a character's number that Python would not even read


def tokens(source: str, raw: frozenset[str] = frozenset()) -> Iterator[tuple[str, str]]:
    """Yield ("text", text), ("open", tag) and ("close", tag) of HTML or SGML, tags in lower case.

    One pass, in time linear in the source, whatever is broken in it: Python's html.parser takes quadratic time for
    comments that are never closed. What stands inside the elements named in `raw` is passed over.
    """
    here, size, ends = 0, len(source), _TagEnds(source)
    closed = source.rfind(">") + 1  # a "<" from here on is text
    while here < size:
        start = source.find("<", here)
        if start < 0:
            break
        if start > here:
            yield "text", source[here:start]
            here = start
        if source.startswith("<!--", start):
            here = source.find("-->", start) + 3
            if here < 3:
                return  # as browsers do: an open comment hides the rest
            continue
        if start >= closed:
            break
        name = _NAME.match(source, start + 1)
        if name is None and source[start + 1] not in "!?/":
            yield "text", "<"
            here = start + 1
            continue
        here = ends.after(start)
        if name is None:
            continue
        tag = name[1].lower()
        yield ("close" if name[0][0] == "/" else "open"), tag
        if tag in raw and name[0][0] != "/":
            end = re.compile(f"</{tag}", re.IGNORECASE | re.ASCII).search(source, here)
            if end is None:
                return
            here = end.start()
    if here < size:
        yield "text", source[here:]


class _TagEnds:
    """Where tags end: at the first ">" outside double quotes; at the first at all if those are not closed nearby.

    The ">" looked for has as many quotes before it, modulo 2, as the tag: for each of the two there is one search that
    goes on where it was, so that no part of the source is looked at more than twice. Tags are asked for in order.
    """

    def __init__(self, source: str) -> None:
        self.source, self.here, self.odd = source, 0, False
        self.reached = {False: (0, False), True: (0, True)}  # where each search is, and whether quotes are odd there

    def after(self, start: int) -> int:
        """The end of the tag at `start`."""
        self.odd ^= bool(self.source.count('"', self.here, start) % 2)
        self.here = start
        at, odd = max(self.reached[self.odd], (start, self.odd))
        for mark in _MARK.finditer(self.source, at, start + _LONGEST_TAG):
            if mark[0] == ">" and odd == self.odd:
                self.reached[self.odd] = mark.start(), odd
                return mark.end()
            odd ^= mark[0] == '"'
        self.reached[self.odd] = start + _LONGEST_TAG, odd
        return self.source.find(">", start) + 1


@dataclass
class _Reader:
    """Collects the text of blocks."""

    blocks: list[str] = field(default_factory=list)
    titles: dict[str, str] = field(default_factory=dict)  # of <title> and of the first <h1>
    parts: list[str] = field(default_factory=list)
    prefix: str = ""
    tag: str = ""

    def flush(self) -> None:
        text = " ".join(unescape(_HUGE.sub("\ufffd", "".join(self.parts))).split())
        self.parts.clear()
        if not text:
            return
        if self.tag in ("title", "h1") and self.tag not in self.titles:
            self.titles[self.tag] = text
        else:
            self.blocks.append(self.prefix + text)
        self.prefix = self.tag = ""

    def open(self, tag: str) -> None:
        self.flush()
        self.tag = tag
        self.prefix = "# " if tag in _HEADINGS else "- " if tag == "li" else self.prefix if tag == "p" else ""

    def close(self) -> None:
        self.flush()
        self.prefix = self.tag = ""


def html_to_text(source: str) -> tuple[str, str | None]:
    """Return the text of a page and its title.

    Scripts, styles, navigation and footers are dropped. The title is that of <title>, or the first <h1>.

    Examples
    --------
    >>> html_to_text("<title>Rain</title><h2>Today</h2><p>It <b>rained</b>.<li>Wet &amp; cold<script>x</script>")
    ('# Today\\n\\nIt rained.\\n\\n- Wet & cold', 'Rain')
    """
    for dropped in (_DROPPED | _ASIDES, _DROPPED):  # a page that forgot to close <nav> is read again, with it
        reader = _Reader()
        for kind, value in tokens(source, raw=dropped):
            if kind == "text":
                reader.parts.append(value)
            elif value == "br":
                reader.parts.append(" ")
            elif value in _BLOCKS and kind == "open":
                reader.open(value)
            elif value in _BLOCKS:
                reader.close()
        reader.flush()
        if reader.blocks:
            break
    title = reader.titles.get("title") or reader.titles.get("h1")
    return "\n\n".join(reader.blocks), title


_FENCE = re.compile(r" {0,3}(```|~~~)")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*$")
_RULE = re.compile(r" {0,3}[*_-][ \t*_-]{2,}$")
_DEFINITION = re.compile(r" {0,3}\[[^\[\]]{1,200}\]:\s")
_IMAGE = re.compile(r"!\[[^\[\]]{0,500}\](?:\([^()]{0,1000}\))?")
_LINK = re.compile(r"\[([^\[\]]{0,500})\](?:\([^()]{0,1000}\)|\[[^\[\]]{0,200}\])")
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,1000}>|<!--[^<>]{0,1000}-->")
_EMPHASIS = re.compile(r"(?<!\w)[*_]{1,3}(?=[^\s*_])|(?<=[^\s*_])[*_]{1,3}(?!\w)")
_ADDRESS = re.compile(r"<(https?://[^<>\s]{1,1000})>")


def markdown_to_text(source: str) -> tuple[str, str | None]:
    """Return the text of a Markdown file and its title, which is its first heading of level 1.

    Examples
    --------
    >>> markdown_to_text("# Rain\\n\\nIt *rained* in [Oslo](x.md).\\n\\nToday\\n-----\\n* Wet")
    ('It rained in Oslo.\\n\\n# Today\\n\\n* Wet', 'Rain')
    """
    lines = source.splitlines()
    if lines and lines[0].rstrip() == "---":  # front matter
        end = next((i for i, line in enumerate(lines[1:], 1) if line.rstrip() in ("---", "...")), 0)
        lines = lines[end + 1 :] if end else lines
    kept: list[str] = []
    title, fence = None, ""
    for line in lines:
        mark = _FENCE.match(line)
        if mark and fence in ("", mark[1]):
            fence = "" if fence else mark[1]
            continue
        if fence or _DEFINITION.match(line):
            continue
        above = kept[-1] if kept else ""
        if _UNDERLINE.match(line) and above.strip() and above[:1] not in "#>-*+ |":
            level = 1 if "=" in line else 2
            heading = kept.pop()
            line = "#" * level + " " + heading
        elif _RULE.match(line):
            kept.append("")
            continue
        line = _TAG.sub("", _ADDRESS.sub(r"\1", _LINK.sub(r"\1", _IMAGE.sub("", line))))
        line = _EMPHASIS.sub("", line).replace("`", "").lstrip("> ") if line.strip() else ""
        if line.startswith("#"):
            text = line.strip("# \t")
            if title is None and line.startswith("# "):
                title = text
                continue
            kept += ["", f"# {text}", ""]
        else:
            kept.append(line)
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip("\n")
    return text, title
