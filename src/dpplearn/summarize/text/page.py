"""Read a page of HTML as blocks of known kinds, by the names of its elements and the words of their classes."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import Any

from dpplearn.summarize.text.blocks import OUTSIDE, RUNNING, Part
from dpplearn.summarize.text.dates import date_line, is_byline
from dpplearn.summarize.text.words import word_lists, word_set

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
_WHOLE_PAGE = frozenset(["html", "body", "main", "article", "head", "title"])  # their classes say nothing of their text
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_PART = re.compile(r"[a-z]+")
_LINKED = 0.8  # share of its characters in links from which on a short block only leads elsewhere
_LONGEST_BYLINE = 200
_STORY = 0.25  # share of a page's paragraphs that must be left as its story
_A_STORY = 400  # characters that are a story however many readers comment on it
_NOTE_MARK = re.compile(r"\s*\[[^\[\]]{1,30}\]\s*")  # a note's number, [citation needed]

# Comments and what is no text, to be left out; declarations; and tags, with attributes as the HTML standard reads them.
_MARKUP = re.compile(
    r"<!--(?:-?>|.*?(?:-->|\Z))"
    r"|<(script|style|noscript|template|svg|iframe|select|button|textarea)(?=[\s/>])(?:[^<>]*+/>|.*?(?:</\1(?=[\s/>])[^>]*+>?|\Z))"
    r"|<title\s*/>|<(?:[!?]|/(?![a-z]))[^>]*+(?:>|\Z)"
    r"|<(/?)([a-z][^\s/>]*+)(?:[\s/]*+[^\s/>][^\s/>=]*+"
    r"(?:\s*+=\s*+(?:\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z)|[^\s>]*+))?+)*+[\s/]*+(?:(>)|\Z)",
    re.IGNORECASE | re.DOTALL | re.ASCII,
)
_DEEPEST = 100  # elements in elements: beyond, the time of HTML parsers is quadratic
_SELF_ENDING = word_set("p li dd dt td th tr tbody thead caption")  # the parser ends them itself where the next begins
_ONCE = frozenset(["html", "head", "body"])  # an end tag of these ends nothing
_COUNTED = (_BLOCKS | {"span", "sup"}) - _SELF_ENDING


def read_html(source: str, *, fragment: bool = False) -> tuple[list[Part], str | None]:
    """Return the blocks of a page and its title, that of <title> or the first <h1>.

    Scripts, styles and marks of notes are dropped. Navigation, banners, bylines and captions are known by their
    elements, or by words such as "cookie" in their class, id or role. Readers' comments are outside the story. Where
    this leaves too little, the page is read without these words, or with the comments, and then without <nav>,
    <footer>, <aside> and <header>, which it may have forgotten to close. A fragment, such as one in a Markdown file, is
    read once.

    Examples
    --------
    >>> read_html("<title>Rain</title><nav>Home</nav><h2>Today</h2><p>It <b>rained</b>.<li>Wet &amp; c.")
    ([('navigation', 'Home'), ('heading', 'Today'), ('paragraph', 'It rained.'), ('item', 'Wet & c.')], 'Rain')
    """
    reader = _read_page(source, fragment)
    return reader.blocks, reader.titles.get("title") or reader.titles.get("h1")


def html_blocks(source: str) -> list[Part]:
    """The blocks of a page inside another file; its first <h1> is a heading, and its <title> is nothing.

    Examples
    --------
    >>> html_blocks("<h1>One</h1><p>It rained.<ul><li>Wet</ul>")
    [('heading', 'One'), ('paragraph', 'It rained.'), ('item', 'Wet')]
    """
    reader = _read_page(source, fragment=False)
    return [("heading", reader.titles["h1"]), *reader.blocks] if "h1" in reader.titles else reader.blocks


def _read_page(source: str, fragment: bool) -> _Reader:
    """Read a page with as much trust in its classes and elements as leaves a story."""
    from selectolax.lexbor import LexborHTMLParser

    root = LexborHTMLParser(shallow(source)).root
    trusted, comments = 2, True
    while True:
        reader = _Reader(trusted, comments)
        reader.read(root)
        reader.end_row()
        if fragment or reader.has_story or not (trusted or comments):
            return reader
        if comments and (reader.commented > reader.passed or not trusted):
            comments = False
        else:
            trusted -= 1


def shallow(source: str) -> str:
    """A page without comments and scripts, with the tags that matter, and none of them too deep in others.

    The parser needs time in proportion to size times depth. A tag that is left out becomes <wbr>, which holds nothing.

    Examples
    --------
    >>> shallow('It <b title=">">rained</b>.<!-- <p> --><script>x</script>'), shallow("<div>" * 9_000).count("<div>")
    ('It <wbr>rained<wbr>.', 100)
    """
    opened: list[str] = []

    def tag(match: re.Match[str]) -> str:
        name = (match[3] or "").lower()
        if not name or not match[4]:  # a tag that is never ended is none, either
            return ""
        if name in _SELF_ENDING or name in ("a", "br"):
            return match[0]
        if name in _ONCE:
            return "" if match[2] else match[0]
        if name == "form":
            return "<hr>"
        if name not in _COUNTED:
            return "<wbr>"
        if not match[2]:
            if name != "hr":
                if len(opened) == _DEEPEST:
                    return "<wbr>"
                opened.append(name)
            return match[0]
        for at in range(len(opened) - 1, -1, -1):
            if opened[at] == name:
                del opened[at:]
                return match[0]
            if opened[at] == "table" or name in ("span", "sup"):  # a table, or a block, is not ended from inside
                break
        return ""

    return _MARKUP.sub(tag, source)


class _Reader:
    """Collects the text of blocks."""

    def __init__(self, trusted: int, comments: bool) -> None:
        self.trusted = trusted  # 2: classes and elements say what is outside the story; 1: elements; 0: neither
        self.comments = comments  # whether readers' comments are outside the story
        self.blocks: list[Part] = []
        self.titles: dict[str, str] = {}  # of <title> and of the first <h1>
        self.parts: list[str] = []
        self.linked = 0  # characters in links
        self.cells: list[str] = []
        self.headed = False  # the table at hand has a head, so it does not lay out the page
        self.kept = self.passed = self.commented = 0  # characters of paragraphs in the story, outside, by readers

    @property
    def has_story(self) -> bool:
        """Whether enough of the page is left as what it tells."""
        beside_comments = self.kept > min(_STORY * (self.kept + self.commented), _A_STORY)
        return self.kept > _STORY * (self.kept + self.passed) and (beside_comments or not self.comments)

    def read(self, node: Any, around: str = "paragraph", inside: frozenset[str] = frozenset()) -> None:
        """Read a block that is in one of some kind, and inside some elements."""
        tag, kind = node.tag, self.kind_of(node, around, inside)
        if tag == "table":
            self.end_row()
        self.headed = tag == "thead" or (self.headed and tag != "table")
        self.read_inside(node, tag, kind, inside | {tag})
        self.flush(tag, kind)
        if tag in ("tr", "table"):
            self.end_row()

    def read_inside(self, node: Any, tag: str, kind: str, inside: frozenset[str]) -> None:
        """Read what is in an element of the block at hand."""
        for child in node.iter(include_text=True):
            if child.is_text_node:
                text = child.text_content or ""
                self.parts.append(text)
                self.linked += len(text.strip()) * ("a" in inside)
            elif child.tag == "br":
                self.parts.append("\n")
            elif child.tag in _BLOCKS:
                self.flush(tag, kind)
                self.read(child, kind, inside)
            elif not (child.tag in ("sup", "span") and _marks_note(child)):
                linked = child.tag == "a" and "href" in child.attributes
                self.read_inside(child, tag, kind, inside | {"a"} if linked else inside)

    def kind_of(self, node: Any, around: str, inside: frozenset[str]) -> str:
        """The kind of what is in an element, by the kind around it, its class and its name."""
        tag, tag_kind = node.tag, _KINDS.get(node.tag)
        if around in (*OUTSIDE, "comment", "reference") and tag not in _HEADINGS:
            return around
        if (self.trusted == 2 or self.comments) and tag not in _WHOLE_PAGE and tag not in _HEADINGS:
            words = _words(node)
            for kind, listed in word_lists("page-words").items():
                counts = self.comments if kind == "comment" else self.trusted == 2
                if counts and kind != "mark" and not listed.isdisjoint(words):
                    return kind
        if tag == "footer" and "blockquote" in inside:
            return "byline"
        if tag_kind == "navigation":
            return tag_kind if self.trusted else around
        if tag == "header" and self.trusted and inside.isdisjoint(("article", "main")):
            return "banner"
        if around in ("heading", "caption", "byline") or (around in ("quotation", "item") and tag_kind == "paragraph"):
            return around
        if around == "row" and tag != "table":
            return tag_kind or "paragraph"  # a table for the layout
        return tag_kind or ("paragraph" if tag in ("table", "ul", "ol", "dl") else around)

    def flush(self, tag: str, kind: str) -> None:
        """End the block at hand."""
        text, linked = "".join(self.parts), self.linked
        self.parts, self.linked = [], 0
        seen = " ".join(text.split())
        if tag in ("title", "h1") and seen and tag not in self.titles:
            self.titles[tag] = seen
        elif not seen or tag == "title":
            pass
        elif kind == "row":
            self.cells.append(seen)
        elif kind == "comment":
            self.commented += len(seen)
            self.blocks.append(("navigation", seen))
        else:
            if kind in RUNNING:
                self.kept += len(seen) * (kind != "item")
                if is_byline(seen) or date_line(seen):
                    kind = "byline"
                elif linked >= _LINKED * len(seen) and len(seen) < 200:
                    kind = "navigation"
            elif kind in OUTSIDE:
                self.passed += len(seen) * (tag == "p")
            elif kind == "byline" and len(seen) > _LONGEST_BYLINE:
                kind = "paragraph"
            self.blocks.append((kind, text if kind == "code" else seen))

    def end_row(self) -> None:
        """Put the cells of a row together. Without a head, one cell or a long one only lays out the page."""
        cells, self.cells = self.cells, []
        if self.headed or (len(cells) > 1 and max(map(len, cells)) < 300):
            self.blocks += [("row", " | ".join(cells))] * bool(cells)
        else:
            self.kept += sum(map(len, cells))
            self.blocks += [("paragraph", cell) for cell in cells]


def _marks_note(node: Any) -> bool:
    """Whether an element only marks a note, or links to an editor of the text beside it."""
    words = _words(node)
    if not words.isdisjoint(word_lists("page-words")["mark"]):
        return True
    if node.tag != "sup":
        return False
    to_note = "reference" in words or node.css_first("a[href*='#']") is not None
    return to_note or _NOTE_MARK.fullmatch(node.text(deep=True)) is not None


def _words(node: Any) -> frozenset[str]:
    """The words of class, id and role."""
    attributes = node.attributes
    names = ("class", "id", "role", "itemprop", "rel") if attributes else ()
    return _split_names(node.tag, tuple((attributes.get(name) or "")[:400] for name in names))


@lru_cache(1_000)
def _split_names(tag: str, values: tuple[str, ...]) -> frozenset[str]:
    """The words of names, and every two of them in a row as one.

    The id of a section without a class counts for nothing: programs that make documentation copy its heading there.
    """
    classes = {value for value in (*values[:1], *values[2:]) if value}
    if classes == {"section"} or (tag == "section" and not classes):
        return frozenset()
    words: set[str] = set()
    for name in " ".join(values).split():
        parts = _PART.findall(_HUMP.sub(" ", name).lower())
        words.update(parts, map("".join, pairwise(parts)))
    return frozenset(words)
