"""Lines of a PDF to paragraphs, headings, lists and the rest, by type size, indents, gaps and the words themselves."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import pairwise

from dpplearn.summarize.corpora.formats.hyphens import Hyphens
from dpplearn.summarize.corpora.formats.pdf_layout import Line, text_of, usual_size
from dpplearn.summarize.text.blocks import BlockText, is_closed
from dpplearn.summarize.text.sentences import split_sentences

HEADING_LINES, HEADING_WORDS = 3, 20
FEWEST_GAPS = 8  # between lines of a size, to tell how far apart they are
LARGE, SMALL = 1.1, 0.93  # times the size of the body: headings, notes
_BULLETS = "•‣◦▪●■○·∙*–—-"
_BULLET = re.compile(rf"(?:[{_BULLETS}]|\(?[0-9]{{1,2}}[.)]|\([a-z]\)|\([ivx]{{1,4}}\))\s+(?=\S)")
_CAPTION = re.compile(
    r"(?:Fig(?:ure|\.)?|Table|Tab\.|Listing|Algorithm|Scheme|Plate|Abb(?:ildung|\.)|Tabelle|Tableau|Figura|Tabla|"
    r"Tabella|图|表|図)\s?[A-Z]?[0-9]{1,3}(?:\.[0-9]{1,2})?\s?(?:[.:|–—]|$)",
    re.IGNORECASE,
)
_CREDIT = re.compile(r"\b(?:Picture|Photo|Photograph|Image|Credit|Foto|Bild|Photographie)s?\s?:\s[^.!?:]{2,60}$")
_REFERENCES = re.compile(
    r"(?:[0-9]{1,2}\.?\s+|[IVX]{1,4}\.\s+)?(?:references?(?: cited| and notes)?|bibliography|literature(?: cited)?|"
    r"works cited|literatur(?:verzeichnis|angaben)?|quellen(?:verzeichnis)?|références|bibliographie|"
    r"referencias|bibliografía|bibliografia)",
    re.IGNORECASE,
)
# What stands on a page of the web that was printed: the address or the time at its edge, and what comes after a story.
_PRINTED = re.compile(
    r"(?:.{0,120}\s)?https?://\S+(?:\s+(?:page )?[0-9]{1,3}\s?(?:/|of)\s?[0-9]{1,3})?$"
    r"|[0-9]{1,4}[./-][0-9]{1,2}[./-][0-9]{2,4},?\s+[0-9]{1,2}[:.][0-9]{2}\b.{0,160}$",
    re.IGNORECASE,
)
_AFTER_STORY = re.compile(
    r"(?:comments?\s?\([0-9]{1,5}\)|[0-9]{1,5} (?:comments?|responses?|replies|thoughts on\b.{0,200})|"
    r"leave a (?:reply|comment)|"
    r"related (?:articles|posts|stories)|more on this story|you (?:may|might) also like|kommentare\s?\([0-9]{1,5}\)|"
    r"[0-9]{1,5} (?:kommentare|commentaires|comentarios))",
    re.IGNORECASE,
)
_LEADERS = re.compile(r"(?:\s?\.){5,}\s*[0-9ivxl]{1,5}$")
_AFFILIATION = re.compile(
    r"@|\b(?:University|Institut|Department|Laborator|College|School of|Faculty|Universit|Inc\.|GmbH|Ltd)", re.I
)
_ABSTRACT = re.compile(r"(?:abstract|summary|zusammenfassung|résumé|resumen)\W*$", re.IGNORECASE)
_LONG_WORD = re.compile(r"[^\W\d_]{3,}")
_NOTE_START = re.compile(r"[0-9*†‡§¶]{1,3}\s?\S")


class Part:
    """Lines that belong together, and what they are."""

    def __init__(self, lines: list[Line]) -> None:
        self.lines, self.kind = lines, ""
        self.text = " ".join(line.text for line in lines)
        self.size = max(lines, key=lambda line: len(line.text)).size
        self.bold = all(line.bold for line in lines)
        self.first, self.last = lines[0], lines[-1]  # how it goes on in a later column is added to its lines


def page_blocks(lines: list[Line], title: str | None = None) -> tuple[BlockText, str | None]:
    """The blocks without the title, and the title: what the file says, or what the first page has in large type."""
    made, before = BlockText(), ""
    if not lines:
        return made, title
    hyphens = Hyphens(line.text for line in lines)
    parts, title = named_parts(parts_of(lines), usual_size((line.size, line.text) for line in lines), title, hyphens)
    for part in joined_over_columns(parts):
        if part.kind == "row":
            for line in part.lines:
                made.add("row", " | ".join(map(text_of, line.cells)))
        else:
            text = hyphens.join(line.text for line in part.lines)
            if part.kind == "paragraph" and text[:1].islower() and before == "formula":
                end = split_sentences(text)[0][1]  # "where c is the cost": the end of what began before the formula
                made.add("formula", text[:end])
                text = text[end:]
            made.add(part.kind, _BULLET.sub("", text, count=1) if part.kind == "item" else text)
        before = part.kind
    return made, title


def parts_of(lines: list[Line]) -> list[Part]:
    """Group lines that follow each other."""
    leading, groups = leadings(lines), [lines[:1]]
    for above, below in pairwise(lines):
        if begins_part(groups[-1][0], above, below, leading.get(above.size, leading[0.0])):
            groups.append([])
        groups[-1].append(below)
    return [*map(Part, groups)]


def leadings(lines: list[Line]) -> dict[float, float]:
    """How far lines of one paragraph are apart, in type sizes: by the size, and at 0 for others.

    Of all distances between lines the lower quarter: where paragraphs have a line or two, the middle one is a gap.
    """
    by_size = defaultdict[float, list[float]](list, {0.0: []})
    for above, below in pairwise(lines):
        gap = (below.base - above.base) / above.size
        if above.column == below.column and above.size == below.size and 0 < gap < 3:
            by_size[0.0].append(gap)
            if len(above.cells) == len(below.cells) == 1:
                by_size[above.size].append(gap)
    known = {size: sorted(gaps)[len(gaps) // 4] for size, gaps in by_size.items() if len(gaps) >= FEWEST_GAPS}
    return {0.0: 1.2, **known}


def begins_part(first: Line, above: Line, below: Line, leading: float) -> bool:
    """Whether a line begins something new, below others of which this is the first."""
    if len(below.cells) > 1 or len(above.cells) > 1:
        return (len(below.cells) > 1) != (len(above.cells) > 1)
    size, item, closed = above.size, bool(_BULLET.match(first.text)), closes(above)
    if abs(below.size - size) > 0.08 * size or above.bold != below.bold:
        return True
    if below.column != above.column:
        return not leads_on(above, below)
    if not 0 < below.base - above.base <= 1.3 * leading * size:
        return True
    if _BULLET.match(below.text) and (item or closed or below.text[0] in "•‣◦▪●■○∙"):
        return True
    if closed and above.x1 < above.right - 0.22 * (above.right - above.left) and not above.bold:
        return True
    indented = below.x0 > max(below.left, above.x0) + 0.7 * size and len(below.text.split()) > 1
    return indented and not item and (closed or above.x1 < above.right - 2 * size)


def leads_on(above: Line, below: Line) -> bool:
    """Whether a sentence goes on from the last line of a column in the first of another."""
    full = above.x1 > above.right - 0.15 * (above.right - above.left)
    return not closes(above) and (below.text[0].islower() or (full and not _BULLET.match(below.text)))


def closes(line: Line) -> bool:
    """Whether a line ends as a sentence does, or announces something."""
    return is_closed(line.text) or line.text.endswith(":")


def named_parts(parts: list[Part], body: float, title: str | None, hyphens: Hyphens) -> tuple[list[Part], str | None]:
    """The parts but for the title, with what each is; and the title."""
    regular = sum(len(part.text) for part in parts if part.bold) < 0.5 * sum(len(part.text) for part in parts)
    lowest: dict[int, float] = defaultdict(lambda: -1e9)  # of each column, its last line in the body's size
    for part in parts:
        if part.size >= SMALL * body:
            lowest[part.first.column] = max(lowest[part.first.column], part.last.base)
    for part in parts:
        part.kind = kind_of_part(part, body, regular, lowest[part.first.column])
    heading, shown = find_title(parts, body, title, hyphens)
    parts = [part for part in parts if part is not heading]
    above: float | None = None  # the size of the heading over references, or over what comes after a story
    under = "reference"  # what stands under it
    front = True  # before the text begins: authors, and where they work
    for part in parts:
        if part.kind == "heading":
            front, words = False, part.text.strip(" .:")
            if _REFERENCES.fullmatch(words) or _AFTER_STORY.fullmatch(words):
                above, under = part.size, "reference" if _REFERENCES.fullmatch(words) else "navigation"
            elif above is not None and part.size >= 0.95 * above:
                above = None
        elif above is not None and part.kind in ("paragraph", "item", "formula", "footnote", "row"):
            part.kind = under
        elif front and part.kind in ("paragraph", "row") and part.first.page == 0:
            front = len(part.text.split()) <= 40
            if front and shown is not None and (not closes(part.last) or _AFFILIATION.search(part.text)):
                part.kind = "byline"
    return parts, shown


def kind_of_part(part: Part, body: float, regular: bool, lowest: float) -> str:
    """What a part is by itself."""
    text, words, few = part.text, part.text.split(), len(part.lines) <= HEADING_LINES
    if len(part.first.cells) > 1:
        return "row"
    if _CAPTION.match(text) or (few and _CREDIT.search(text[-100:])):
        return "caption"
    printed = len(part.lines) == 1 and _PRINTED.match(text)
    if printed or all(_LEADERS.search(line.text[-40:]) for line in part.lines):
        return "navigation"
    if is_formula(part):
        return "formula"
    if few and len(words) <= HEADING_WORDS and _LONG_WORD.search(text):
        bold = regular and part.bold and part.size >= SMALL * body and not text.rstrip().endswith((".", ",", ";"))
        if bold or part.size >= LARGE * body or _ABSTRACT.match(text):
            return "heading"
    if part.size < SMALL * body and part.first.base > lowest and _NOTE_START.match(text):
        return "footnote"
    return "item" if _BULLET.match(text) else "paragraph"


def is_formula(part: Part) -> bool:
    """Whether a part is a formula: few words among signs and single letters."""
    words = [word for line in part.lines for word in line.words if word.text not in _BULLETS]
    long = sum(bool(_LONG_WORD.search(word.text)) and not word.math for word in words)
    if len(part.lines) > 6 or long > 4 or 3 * long > len(words):
        return False
    signs = sum(not c.isalnum() for word in words for c in word.text)
    return len(words) > 2 and (any(word.math for word in words) or 3 * signs > sum(len(word.text) for word in words))


def find_title(parts: list[Part], body: float, title: str | None, hyphens: Hyphens) -> tuple[Part | None, str | None]:
    """The heading on the first page that is the title, by what the file says or by its size, and the title."""
    heads = [part for part in parts if part.kind == "heading" and part.first.page == parts[0].first.page]
    heads = [part for part in heads if not _AFTER_STORY.fullmatch(part.text.strip(" .:"))]
    if title is not None:
        return next((part for part in heads if _letters(part.text) == _letters(title)), None), title
    largest = max(heads, key=lambda part: part.size, default=None)
    if largest is None or largest.size < (1.3 if heads.index(largest) > 1 else 1.15) * body:
        return None, None
    return largest, hyphens.join(line.text for line in largest.lines)


def _letters(text: str) -> str:
    return "".join(c for c in text.lower() if c.isalnum())


def joined_over_columns(parts: list[Part]) -> list[Part]:
    """Parts, a paragraph joined to its rest in the next column, past what is set at the head or foot of it."""
    kept: list[Part] = []
    open_: Part | None = None
    for part in parts:
        if part.kind not in ("caption", "row", "footnote", "formula", "navigation"):
            if (
                open_ is not None
                and part.kind == "paragraph"
                and abs(part.size - open_.size) <= 0.08 * open_.size
                and part.first.column != open_.last.column
                and leads_on(open_.last, part.first)
            ):
                open_.lines, open_.last = open_.lines + part.lines, part.last
                continue
            open_ = part if part.kind in ("paragraph", "item") else None
        kept.append(part)
    return kept
