"""Lines of a PDF to paragraphs, headings, lists and the rest, by type size, indents, gaps and the words themselves."""

from __future__ import annotations

import re
from itertools import pairwise

from dpplearn.summarize.corpora.formats.hyphens import Hyphens
from dpplearn.summarize.corpora.formats.pdf_layout import Line, text_of, usual_size
from dpplearn.summarize.text.blocks import Part, is_closed

HEADING_LINES, HEADING_WORDS = 3, 20
FEWEST_GAPS = 8  # between lines, to tell how far apart they are
LARGE, SMALL = 1.1, 0.93  # times the size of the body: headings, notes
_BULLETS = "•‣◦▪●■○∙"
_BULLET = re.compile(rf"(?:[{_BULLETS}·*–—-]|\(?[0-9]{{1,2}}[.)]|\([a-z]\)|\([ivx]{{1,4}}\))\s+(?=\S)")
_CAPTION = re.compile(
    r"(?:Fig(?:ure|\.)?|Table|Tab\.|Listing|Algorithm|Scheme|Plate|Abb(?:ildung|\.)|Tabelle|Tableau|Figura|Tabla|"
    r"Tabella|图|表|図)\s?[A-Z]?[0-9]{1,3}(?:\.[0-9]{1,2})?\s?(?:[.:|–—]|$)"
    r"|.*\b(?:Picture|Photo|Photograph|Image|Credit|Foto|Bild|Photographie)s?\s?:\s[^.!?:]{2,60}$",
    re.IGNORECASE,
)
_LIST_HEADINGS = re.compile(
    r"(?:[0-9]{1,2}\.?\s+|[IVX]{1,4}\.\s+)?(?:references?(?: cited| and notes)?|bibliography|literature(?: cited)?|"
    r"works cited|literatur(?:verzeichnis|angaben)?|quellen(?:verzeichnis)?|références|bibliographie|"
    r"referencias|bibliografía|bibliografia)",
    re.IGNORECASE,
)
# What a browser prints at the edges of a page, the address and the time; and a line of a list of contents.
_PRINTED = re.compile(
    r"(?:.{0,120}\s)?https?://\S+(?:\s+(?:page )?[0-9]{1,3}\s?(?:/|of)\s?[0-9]{1,3})?$"
    r"|[0-9]{1,4}[./-][0-9]{1,2}[./-][0-9]{2,4},?\s+[0-9]{1,2}[:.][0-9]{2}\b.{0,160}$",
    re.IGNORECASE,
)
_LEADERS = re.compile(r"(?:\s?\.){5,}\s*[0-9ivxl]{1,5}$")
_AFFILIATION = re.compile(
    r"@|\b(?:University|Institut|Department|Laborator|College|School of|Faculty|Universit|Inc\.|GmbH|Ltd)", re.I
)
_ABSTRACT = re.compile(r"(?:abstract|summary|zusammenfassung|résumé|resumen)\W*$", re.IGNORECASE)
_LONG_WORD = re.compile(r"[^\W\d_]{3,}")
_NOTE_START = re.compile(r"[0-9*†‡§¶]{1,3}\s?\S")


class Group:
    """Lines that belong together, and what they are."""

    def __init__(self, lines: list[Line]) -> None:
        self.lines, self.kind = lines, ""
        self.text = " ".join(line.text for line in lines)
        self.size = max(lines, key=lambda line: len(line.text)).size
        self.bold = all(line.bold for line in lines)


def page_blocks(lines: list[Line], title: str | None = None) -> tuple[list[Part], str | None]:
    """The blocks without the title, and the title: what the file says, or what the first page has in large type."""
    if not lines:
        return [], title
    hyphens, leading, groups = Hyphens(line.text for line in lines), usual_leading(lines), [lines[:1]]
    for above, below in pairwise(lines):
        if begins_part(groups[-1][0], above, below, leading):
            groups.append([])
        groups[-1].append(below)
    body = usual_size((line.size, line.text) for line in lines)
    parts, title = named_parts([*map(Group, groups)], body, title, hyphens)
    made = list[Part]()
    for part in joined_over_columns(parts):
        if part.kind == "row":
            made += [("row", " | ".join(map(text_of, line.cells))) for line in part.lines]
        else:
            text = hyphens.join(line.text for line in part.lines)
            made.append((part.kind, _BULLET.sub("", text, count=1) if part.kind == "item" else text))
    return made, title


def usual_leading(lines: list[Line]) -> float:
    """How far lines of one paragraph are apart, in type sizes.

    Of all distances between lines it is the lower quarter: where paragraphs have a line or two, the middle is a gap.
    """
    pairs = [(above, below) for above, below in pairwise(lines) if above.column == below.column]
    gaps = sorted((below.base - above.base) / above.size for above, below in pairs if above.size == below.size)
    gaps = [gap for gap in gaps if 0 < gap < 3]
    return gaps[len(gaps) // 4] if len(gaps) >= FEWEST_GAPS else 1.2


def begins_part(first: Line, above: Line, below: Line, leading: float) -> bool:
    """Whether a line begins something new, below others of which this is the first."""
    if len(below.cells) > 1 or len(above.cells) > 1:
        return (len(below.cells) > 1) != (len(above.cells) > 1)
    size, item, closed = above.size, bool(_BULLET.match(first.text)), is_closed(above.text) or above.text[-1] == ":"
    if abs(below.size - size) > 0.08 * size or above.bold != below.bold:
        return True
    if below.column != above.column:
        return not leads_on(above, below)
    if not 0 < below.base - above.base <= 1.3 * leading * size:
        return True
    if _BULLET.match(below.text) and (item or closed or below.text[0] in _BULLETS):
        return True
    if closed and above.x1 < above.right - 0.22 * (above.right - above.left) and not above.bold:
        return True
    indented = below.x0 > max(below.left, above.x0) + 0.7 * size and len(below.text.split()) > 1
    return indented and not item and (closed or above.x1 < above.right - 2 * size)


def leads_on(above: Line, below: Line) -> bool:
    """Whether a sentence goes on from the last line of a column in the first of another."""
    full = above.x1 > above.right - 0.15 * (above.right - above.left) and above.text[-1] != ":"
    return not is_closed(above.text) and (below.text[0].islower() or (full and not _BULLET.match(below.text)))


def named_parts(parts: list[Group], body: float, title: str | None, hyphens: Hyphens) -> tuple[list[Group], str | None]:
    """The parts but for the title, with what each is; and the title."""
    regular = sum(len(part.text) for part in parts if part.bold) < 0.5 * sum(len(part.text) for part in parts)
    for part in parts:
        part.kind = kind_of_part(part, body, regular)
    heading, title = find_title(parts, body, title, hyphens)
    parts = [part for part in parts if part is not heading]
    references: float | None = None  # the size of the heading over them
    front = title is not None  # before the text begins: authors, and where they work
    for part in parts:
        if part.kind == "heading":
            front = False
            if _LIST_HEADINGS.fullmatch(part.text.strip(" .:")):
                references = part.size
            elif references is not None and part.size >= 0.95 * references:
                references = None
        elif references is not None and part.kind in ("paragraph", "item", "formula", "footnote", "row"):
            part.kind = "reference"
        elif front and part.kind in ("paragraph", "row"):
            front = len(part.text.split()) <= 40 and part.lines[0].page == 0
            if front and (not is_closed(part.text) or _AFFILIATION.search(part.text)):
                part.kind = "byline"
    return parts, title


def kind_of_part(part: Group, body: float, regular: bool) -> str:
    """What a part is by itself."""
    text, words, few = part.text, part.text.split(), len(part.lines) <= HEADING_LINES
    if len(part.lines[0].cells) > 1:
        return "row"
    if _CAPTION.match(text if few else text[:20]):
        return "caption"
    if (len(part.lines) == 1 and _PRINTED.match(text)) or all(_LEADERS.search(line.text[-40:]) for line in part.lines):
        return "navigation"
    if is_formula(words) and len(part.lines) <= 2 * HEADING_LINES:
        return "formula"
    if few and len(words) <= HEADING_WORDS and _LONG_WORD.search(text):
        bold = regular and part.bold and part.size >= SMALL * body and not text.endswith((".", ",", ";"))
        if bold or part.size >= LARGE * body or _ABSTRACT.match(text):
            return "heading"
    if part.size < SMALL * body and _NOTE_START.match(text):
        return "footnote"
    return "item" if _BULLET.match(text) else "paragraph"


def is_formula(words: list[str]) -> bool:
    """Whether words are a formula: few of them among signs and single letters."""
    words = [word for word in words if word not in _BULLETS]
    long = sum(bool(_LONG_WORD.search(word)) for word in words)
    if len(words) < 3 or long > 4 or 3 * long > len(words):
        return False
    signs = sum(not c.isalnum() for word in words for c in word)
    return 3 * signs > sum(map(len, words)) or 2 * sum(len(word) <= 2 for word in words) > len(words)


def find_title(parts: list[Group], body: float, title: str | None, hyphens: Hyphens) -> tuple[Group | None, str | None]:
    """The heading on the first page that is the title, by what the file says or by its size, and the title."""
    heads = [part for part in parts if part.kind == "heading" and part.lines[0].page == parts[0].lines[0].page]
    if title is not None:
        return next((part for part in heads if _letters(part.text) == _letters(title)), None), title
    largest = max(heads, key=lambda part: part.size, default=None)
    if largest is None or largest.size < (1.3 if heads.index(largest) > 1 else 1.15) * body:
        return None, None
    return largest, hyphens.join(line.text for line in largest.lines)


def _letters(text: str) -> str:
    return "".join(c for c in text.lower() if c.isalnum())


def joined_over_columns(parts: list[Group]) -> list[Group]:
    """Parts, a paragraph joined to its rest in the next column, past what is set at the head or foot of it."""
    kept: list[Group] = []
    held: Group | None = None
    for part in parts:
        if part.kind not in ("caption", "row", "footnote", "formula", "navigation"):
            if held is not None and part.kind == "paragraph" and abs(part.size - held.size) <= 0.08 * held.size:
                above, below = held.lines[-1], part.lines[0]
                if below.column != above.column and leads_on(above, below):
                    held.lines = held.lines + part.lines
                    continue
            held = part if part.kind in ("paragraph", "item") else None
        kept.append(part)
    return kept
