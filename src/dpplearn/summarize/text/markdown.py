"""A Markdown file as blocks of known kinds, by markdown-it-py's tokens: CommonMark and tables, no front matter."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from dpplearn.summarize.text.blocks import BlockText
from dpplearn.summarize.text.lines import is_date
from dpplearn.summarize.text.newswire import is_byline
from dpplearn.summarize.text.page import read_html
from dpplearn.summarize.text.sentences import CODE

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_core import StateCore
    from markdown_it.token import Token

NESTING = 60  # of lists and quotations: what is deeper the parser drops
BRACKETS = 10  # in each other: those inside are text. The parser's time grows by as many times
_IMAGES = re.compile(r"(?:!\[){9,}")  # a run of what opens images, each of which the parser would try
_MARKS = re.compile(r"^[>*+\- \t]{40,}", re.MULTILINE)  # at the head of a line
_QUOTES = re.compile(r"^[*+\-0-9.) \t]*(?:>[*+\-0-9.) \t]*){5,}>", re.MULTILINE)  # at the head of a line
_HEAD = re.compile(r"(?:[*+\-0-9.) \t]*(?:>[*+\-0-9.) \t]*)*>)?")
_ENDS = 5  # of quotations without a blank line between them
_RULE = re.compile(r"[> \t]*\|?[ \t]*:?-[-:| \t]*\|[-:| \t]*")  # the second line of a table
_MISSING = 10  # cells that rows of a table may lack, and one more for every four of its characters
_FRONT = {"---": ("---", "..."), "+++": ("+++",)}  # YAML, TOML
_NOTE = re.compile(r"\[\^[^\[\]\s]{1,60}\](:\s?)?")  # footnotes, which CommonMark does not know
_TASK = re.compile(r"\[[ xX]\]\s+")
_SETTINGS = re.compile(
    r"\ufeff?(?:---[ \t]*\r?\n[A-Za-z][\w-]{0,40}:[ \t\r\n]|\+\+\+[ \t]*\r?\n[A-Za-z][\w-]{0,40} ?=)"
)
_HEADING = re.compile(r"(?:\A\ufeff?|\n\r?\n)#{1,6} [^\s#][^\n]{0,200}(?:\n\r?\n|\Z)")
_OTHER_MARKS = re.compile(r"\]\([^()\s]{1,300}\)|\*\*[^*\s][^*\n]{0,200}\*\*|^```|^\|? ?:?-{3,}:? ?\|", re.MULTILINE)
_ALERT = re.compile(r"\[![A-Za-z]{3,20}\][+-]?\s*")  # [!NOTE] at the head of a quotation
_MARKED = re.compile(r"(?<![=\w])==(?=\S)([^=\n]{1,300})(?<=\S)==(?![=\w])")
_DEFINITION = re.compile(r"^:[ \t]+(?=[^\W_]|[\"'*`(])", re.MULTILINE)  # under the term that it defines
_DIRECTIVE = re.compile(r":::|!!!\s|\?\?\?\+?\s|\{%|\{\{|\[TOC\]|\[\[toc\]\]", re.IGNORECASE)  # of site generators
_STOPPED = re.compile(r"[^\W\d_]{3}[.!?][\"')]?\s$")
_SPACES = ("softbreak", "hardbreak")
_LINKED = 0.8


class _Inline(NamedTuple):
    """The text of a block, and what it is made of."""

    text: str
    linked: int  # characters in links
    images: str  # what stands for them
    strong: bool  # nothing else in it


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # only where there is Markdown to read

    shallow = MarkdownIt("commonmark", {"maxNesting": BRACKETS}).enable("strikethrough")

    def inline(state: StateCore) -> None:
        for token in state.tokens:
            if token.type == "inline" and token.children is not None:
                shallow.inline.parse(token.content, shallow, state.env, token.children)

    parser = MarkdownIt("commonmark", {"maxNesting": NESTING}).enable("table")
    parser.core.ruler.at("inline", inline)
    return parser


def read_markdown(source: str) -> tuple[BlockText, str | None]:
    """Return the blocks of a Markdown file and its title, which is its first heading of level 1.

    Front matter, what is struck out, link targets and images in a text are dropped; HTML is read as `read_html` does; a
    paragraph in bold is a heading, one of images a caption, as is a footnote; one of links is navigation.

    Examples
    --------
    >>> made, title = read_markdown("# Rain\\n\\nIt *rained* in [Oslo](x.md).\\n\\n- Wet\\n\\na | b\\n--|--\\n1 | 2")
    >>> title, [(block.kind, made.text[block.start : block.end]) for block in made.blocks]
    ('Rain', [('paragraph', 'It rained in Oslo.'), ('item', 'Wet'), ('row', 'a | b'), ('row', '1 | 2')])
    """
    made, title = BlockText(), None
    level, cell = 0, False  # of the open heading; whether a cell is open
    inside: list[str] = []  # open lists and quotes
    cells: list[str] = []  # of the open row
    for token in _parser().parse(_plain_marks(_without_front_matter(source))):
        kind = token.type
        if kind == "heading_open":
            level = int(token.tag[1])
        elif kind in ("list_item_open", "blockquote_open"):
            inside.append("item" if kind == "list_item_open" else "quotation")
        elif kind in ("list_item_close", "blockquote_close"):
            inside.pop()
        elif kind in ("fence", "code_block"):
            made.add("code", token.content)
        elif kind == "html_block":
            made.extend(read_html(token.content, fragment=True)[0])
        elif kind == "tr_open":
            cells = []
        elif kind == "tr_close":
            made.add("row", " | ".join(cells))
        elif kind in ("th_open", "td_open", "th_close", "td_close"):
            cell = token.nesting == 1
        elif kind == "heading_close":
            level = 0
        elif kind == "inline":
            inline = _inline(token.children or ())
            if cell:
                cells.append(inline.text)
            elif level:
                if level == 1 and title is None and inline.text:
                    title = inline.text
                else:
                    made.add("heading", inline.text)
            else:
                _add_text(made, inside[-1] if inside else "paragraph", inline)
    return made, title


def is_markdown(text: str) -> bool:
    """Whether a text is Markdown beyond doubt: it has front matter, or a heading and other marks.

    Examples
    --------
    >>> [is_markdown(text) for text in ("# Rain\\n\\nIt *is* **wet** in [Oslo](x.md).", "# make it so\\nx = 1")]
    [True, False]
    """
    if _SETTINGS.match(text):
        return len(_without_front_matter(text)) < len(text.removeprefix("\ufeff"))
    return _HEADING.search(text) is not None and _OTHER_MARKS.search(text) is not None


def _plain_marks(source: str) -> str:
    """Without what nobody writes, and what would be deeper than the parser goes or cost it much time."""
    source = _bounded(_DEFINITION.sub("\n- ", source.replace("\r\n", "\n").replace("\r", "\n")))
    source = _MARKS.sub(lambda match: match[0] if match[0].isspace() else match[0][:20], source)
    return _IMAGES.sub("", _QUOTES.sub(_five_deep, source))


def _five_deep(marks: re.Match[str]) -> str:
    """The head of a line with its first five marks of quotations: a line after it may belong to any of them."""
    parts = marks[0].split(">")
    return ">".join(parts[:6]) + "".join(parts[6:])


def _bounded(source: str) -> str:
    """With a blank line where the parser would take long: at a row of a table from which on it adds too many cells, and
    where quotations end again and again, for each looks for its end as far as the next blank line."""
    if "|" not in source and ">" not in source:
        return source
    found: list[str] = []
    depth = ends = columns = lacking = size = 0  # of quotations, and of the table at hand
    for line in source.split("\n"):
        if not line.strip():
            depth = ends = columns = lacking = 0
        else:
            before, depth = depth, _HEAD.match(line)[0].count(">")  # type: ignore[index]  # it matches nothing, too
            ends += depth < before
            size += len(line)
            lacking += max(columns - 1 - line.count("|"), 0)
            if ends > _ENDS or lacking > _MISSING + size // 4:
                found.append("")
                ends = columns = lacking = 0
            if not columns and _RULE.fullmatch(line.rstrip()):
                columns, size = line.count("|") + 1, 2 * len(line)
        found.append(line)
    return "\n".join(found)


def _add_text(made: BlockText, kind: str, inline: _Inline) -> None:
    """A paragraph, or the text of an item or a quotation."""
    text = _TASK.sub("", inline.text, count=1) if kind == "item" and _TASK.match(inline.text) else inline.text
    if kind == "quotation":
        text = _ALERT.sub("", text, count=1) if _ALERT.match(text) else text
    note = _NOTE.match(text)
    if not text:
        made.add("caption", inline.images)
    elif note and note[1]:
        made.add("caption", text[note.end() :])
    elif _DIRECTIVE.match(text):
        made.add("code", text)
    elif is_byline(text) or is_date(text):
        made.add("byline", text)
    elif inline.linked >= _LINKED * len(text) and len(text) < 200:
        made.add("navigation", text)
    elif inline.strong and text[-1] not in ".!?。！？।:" and kind == "paragraph":
        made.add("heading", text)
    else:
        made.add(kind, _NOTE.sub("", text))


def _inline(tokens: Sequence[Token]) -> _Inline:
    """Text without marks, on one line."""
    parts: list[str] = []
    images: list[str] = []
    linked = links = bold = plain = struck = 0
    for token in tokens:
        if token.type in ("s_open", "s_close"):
            struck += token.nesting
        elif struck:
            continue  # withdrawn
        elif token.type in ("text", "text_special", "code_inline"):
            if token.type == "code_inline" and parts and _STOPPED.search(parts[-1]):
                parts.append(CODE)  # a name in small letters, which may begin a sentence
            parts.append(_MARKED.sub(r"\1", token.content) if token.type == "text" else token.content)
            linked += len(token.content) * (links > 0)
            plain += len(token.content.strip()) * (bold == 0)
        elif token.type in _SPACES or (token.type == "html_inline" and token.content[:3].lower() == "<br"):
            parts.append(" ")
        elif token.type == "image":
            images.append(_inline(token.children or ()).text)
        elif token.type.startswith("link"):
            links += token.nesting
        elif token.type.startswith("strong"):
            bold += token.nesting
    text = " ".join("".join(parts).split())
    return _Inline(text, linked, ", ".join(filter(None, images)), bool(text) and not plain)


def _without_front_matter(source: str) -> str:
    """A file without the settings of a site generator at its head."""
    source = source.removeprefix("\ufeff")
    first, _, rest = source.partition("\n")
    ends = _FRONT.get(first.rstrip())
    if ends is None:
        return source
    position = len(source) - len(rest)
    for line in rest.splitlines(keepends=True):
        position += len(line)
        if line.rstrip() in ends:
            return source[position:]
    return source
