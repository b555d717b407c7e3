"""A page of HTML as blocks of known kinds: what an element is called, and what its class says it is for."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from itertools import pairwise

from dpplearn.summarize.text.blocks import OUTSIDE, RUNNING, BlockText
from dpplearn.summarize.text.lines import is_date
from dpplearn.summarize.text.markup import characters, tokens
from dpplearn.summarize.text.newswire import is_byline
from dpplearn.summarize.text.word_lists import word_lists, word_set

_DROPPED = frozenset(["script", "style", "noscript", "template", "svg", "iframe", "select", "button", "textarea"])
_HEADINGS = frozenset(["h1", "h2", "h3", "h4", "h5", "h6"])
_KINDS = {
    **dict.fromkeys(_HEADINGS | {"dt", "summary"}, "heading"),
    **dict.fromkeys(("nav", "footer", "aside", "menu", "label", "legend"), "navigation"),
    **dict.fromkeys(("caption", "figcaption"), "caption"),
    **dict.fromkeys(("li", "dd"), "item"),
    **dict.fromkeys(("td", "th"), "row"),
    "blockquote": "quotation",
    "address": "byline",
    "pre": "code",
    "p": "paragraph",
}
_BLOCKS = frozenset(_KINDS) | word_set(
    "article body center details div dl fieldset figure form head header hr html main ol section table tbody thead "
    "title tr ul"
)
_CELLS = frozenset(["td", "th"])
# Elements that end where the next of them begins, and what they may not be sought beyond.
_SAME = {
    "p": frozenset(["p"]),
    "li": frozenset(["li"]),
    "tr": frozenset(["tr", "td", "th"]),
    **dict.fromkeys(("dt", "dd"), frozenset(["dt", "dd"])),
    **dict.fromkeys(_CELLS, _CELLS),
}
_VOID = frozenset(["hr"])
_WHOLE_PAGE = frozenset(["html", "body", "main", "article", "head", "title"])  # their classes say nothing of their text
_ATTRIBUTE = re.compile(
    r"(?:^|\s)(class|id|role|itemprop|rel)\s{0,9}=\s{0,9}(\"[^\"]{0,400}|'[^']{0,400}|[^\s\"'>]{1,200})",
    re.IGNORECASE,
)
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_PART = re.compile(r"[a-z]+")
_LINKED = 0.8  # share of its characters in links from which on a short block only leads elsewhere
_LONGEST_BYLINE = 200
_STORY = 0.25  # share of a page's paragraphs that must be left as its story
_ENOUGH = 400  # characters that are a story however many readers comment on it
_INLINE = frozenset(["sup", "span"])
_MARK = re.compile(r"\s*\[[^\[\]]{1,30}\]\s*")  # a note's number, [citation needed]
_LONGEST_MARK = 40
_TO_NOTE = re.compile(r"href\s{0,9}=\s{0,9}[\"']?[^\"'\s>]{0,200}#", re.IGNORECASE)


def read_html(source: str, *, fragment: bool = False) -> tuple[BlockText, str | None]:
    """Return the blocks of a page and its title, that of <title> or the first <h1>.

    Scripts and styles are dropped. Navigation, banners, bylines and captions are told by their elements, or by words
    such as "cookie" in their class, id or role; a page of which this leaves too little is read without these words,
    and then without <nav>, <footer>, <aside> and <header>, which it may have forgotten to close. Readers' comments are
    outside, too, unless there is hardly anything else. Marks of notes are dropped. A fragment, such as one in a
    Markdown file, is read once.

    Examples
    --------
    >>> page, title = read_html("<title>Rain</title><nav>Home</nav><h2>Today</h2><p>It <b>rained</b>.<li>Wet &amp; c.")
    >>> title, [(block.kind, page.text[block.start : block.end]) for block in page.blocks]
    ('Rain', [('navigation', 'Home'), ('heading', 'Today'), ('paragraph', 'It rained.'), ('item', 'Wet & c.')])
    """
    trusted, comments = 2, True
    while True:
        reader = _Reader(trusted, comments)
        for kind, value, attributes in tokens(source, raw=_DROPPED):
            if kind == "text":
                reader.write(value)
            elif kind == "open":
                reader.open(value, attributes)
            else:
                reader.close(value)
        reader.finish()
        if fragment or reader.has_story or not (trusted or comments):
            break
        if comments and (reader.commented > reader.passed or not trusted):
            comments = False
        else:
            trusted -= 1
    return reader.made, reader.titles.get("title") or reader.titles.get("h1")


class _Reader:
    """Collects the text of blocks, and what the open elements say of it."""

    def __init__(self, trusted: int, comments: bool) -> None:
        self.trusted = trusted  # 2: classes and elements say what is outside the story; 1: elements; 0: none does
        self.comments = comments  # whether those of readers are outside
        self.made = BlockText()
        self.titles: dict[str, str] = {}  # of <title> and of the first <h1>
        self.stack: list[tuple[str, str]] = []  # open blocks, and the kind of what is in them
        self.depth: Counter[str] = Counter()
        self.parts: list[str] = []
        self.links = self.linked = 0  # <a> that are open; characters in them
        self.cells: list[str] = []
        self.kept = self.passed = self.commented = 0  # characters of paragraphs in the story, outside, by readers
        self.inline: list[tuple[str, int, int, bool]] = []  # open ones, where they begin, and whether they are no text

    @property
    def kind(self) -> str:
        return self.stack[-1][1] if self.stack else "paragraph"

    @property
    def has_story(self) -> bool:
        """Whether enough of the page is left as what it tells."""
        heard = self.kept > min(_STORY * (self.kept + self.commented), _ENOUGH)
        return self.kept > _STORY * (self.kept + self.passed) and (heard or not self.comments)

    def write(self, text: str) -> None:
        self.parts.append(text)
        if self.links:
            self.linked += len(text.strip())

    def open(self, tag: str, attributes: str) -> None:
        if tag == "br":
            self.parts.append("\n")
        elif tag == "a":
            self.links = int("href" in attributes.lower())
            if self.inline and self.inline[-1][0] == "sup" and _TO_NOTE.search(attributes[:500]):
                self.inline[-1] = (*self.inline[-1][:3], True)
        elif tag in _INLINE:
            said = _words(tag, attributes) if attributes else frozenset()
            marks = (tag == "sup" and "reference" in said) or not said.isdisjoint(word_lists("page-words")["mark"])
            self.inline.append((tag, len(self.parts), self.linked, marks))
        elif tag in _BLOCKS:
            self.flush()
            self.end_same(tag)
            if tag == "table":
                self.end_row()
            if tag not in _VOID:
                self.stack.append((tag, self.kind_of(tag, attributes)))
                self.depth[tag] += 1

    def close(self, tag: str) -> None:
        if tag == "a":
            self.links = 0
        elif tag in _INLINE:
            self.end_inline(tag)
        elif tag in _BLOCKS:
            self.flush()
            while self.depth[tag]:
                last = self.pop()
                if last == tag:
                    break

    def end_inline(self, tag: str) -> None:
        """Forget what was in an element if it only marks a note."""
        if not self.inline or self.inline[-1][0] != tag:
            return
        _, start, linked, dropped = self.inline.pop()
        short = tag == "sup" and len(self.parts) - start < _LONGEST_MARK  # bounded, whatever is nested in what
        if dropped or (short and _MARK.fullmatch("".join(part[:_LONGEST_MARK] for part in self.parts[start:]))):
            del self.parts[start:]
            self.linked = linked

    def end_same(self, tag: str) -> None:
        """Close what cannot hold this element: the <li> before a <li>, the <p> before any block."""
        ends = _SAME.get(tag, frozenset()) | {"p"}
        while self.stack and self.stack[-1][0] in ends:
            self.pop()

    def pop(self) -> str:
        tag, _ = self.stack.pop()
        self.depth[tag] -= 1
        if tag in ("tr", "table"):
            self.end_row()
        return tag

    def kind_of(self, tag: str, attributes: str) -> str:
        """What is in an element: by the one around it, its class, its name."""
        around = self.kind
        if around in (*OUTSIDE, "comment", "reference") and tag not in _HEADINGS:
            return around
        named = _KINDS.get(tag)
        if attributes and (self.trusted == 2 or self.comments) and tag not in _WHOLE_PAGE and tag not in _HEADINGS:
            said = self.said(tag, attributes)
            if said is not None:
                return said
        if tag == "footer" and self.depth["blockquote"]:
            return "byline"
        if named == "navigation":
            return named if self.trusted else around
        if tag == "header" and self.trusted and not (self.depth["article"] or self.depth["main"]):
            return "banner"
        if around in ("heading", "caption", "byline") or (around in ("quotation", "item") and named == "paragraph"):
            return around
        if around == "row" and tag != "table":
            return named or "paragraph"  # a table for the layout
        return named or ("paragraph" if tag in ("table", "ul", "ol", "dl") else around)

    def said(self, tag: str, attributes: str) -> str | None:
        """What the words of class, id and role say that counts: the kind of the first list that has one."""
        found = _words(tag, attributes)
        for kind, known in word_lists("page-words").items():
            counts = self.comments if kind == "comment" else self.trusted == 2
            if counts and kind != "mark" and not known.isdisjoint(found):
                return kind
        return None

    def flush(self) -> None:
        """End the block at hand."""
        text = characters("".join(self.parts))
        linked, self.linked = self.linked, 0
        self.parts.clear()
        self.inline.clear()
        seen = " ".join(text.split())
        if not seen:
            return
        tag, kind = self.stack[-1] if self.stack else ("", "paragraph")
        if tag in ("title", "h1") and tag not in self.titles:
            self.titles[tag] = seen
            return
        if tag == "title":
            return
        if kind == "row":
            self.cells.append(seen)
            return
        if kind == "comment":
            self.commented += len(seen)
            kind = "navigation"
        elif kind in RUNNING:
            self.kept += len(seen) * (kind != "item")
            if is_byline(seen) or is_date(seen):
                kind = "byline"
            elif linked >= _LINKED * len(seen) and len(seen) < 200:
                kind = "navigation"
        elif kind in OUTSIDE:
            self.passed += len(seen) * (tag == "p")
        elif kind == "byline" and len(seen) > _LONGEST_BYLINE:
            kind = "paragraph"
        self.made.add(kind, text)

    def end_row(self) -> None:
        """Put the cells of a row together; one cell alone, or a long one, is a table made for the layout."""
        cells, self.cells = self.cells, []
        if len(cells) > 1 and max(map(len, cells)) < 300:
            self.made.add("row", " | ".join(cells))
        else:
            for cell in cells:
                self.kept += len(cell)
                self.made.add("paragraph", cell)

    def finish(self) -> None:
        self.flush()
        self.end_row()


@lru_cache(1_000)
def _words(tag: str, attributes: str) -> frozenset[str]:
    """The words of class, id and role, and every two of them in a row as one.

    The id of a section without a class is what its heading says, as programs that make documentation write it.
    """
    named = _ATTRIBUTE.findall(attributes[:2_000])
    classes = {value.strip("\"' ") for name, value in named if name.lower() != "id"}
    if classes == {"section"} or (tag == "section" and not classes):
        named = []
    found: set[str] = set()
    for _, value in named:
        for one in value.split():
            parts = _PART.findall(_HUMP.sub(" ", one).lower())
            found.update(parts, map("".join, pairwise(parts)))
    return frozenset(found)
