"""Words of a PDF page and where they stand, by pdfium; y grows downwards."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from math import pi
from statistics import mode
from typing import Any, NamedTuple

_BOLD_FONTS = ("bold", "black", "heavy", "semibd", "demi", "cmbx", "-medi", "extrabd")
_MATH_FONTS = ("cmmi", "cmsy", "cmex", "msbm", "msam", "math", "symbol", "mtsy", "rmtmi")
FARTHEST = 20_000.0  # points: no page is larger than 14,400, and what stands elsewhere nobody sees
_LINE_HYPHENS = (0x02, 0xFFFE)  # what pdfium has for a hyphen at a line's end
_PLAIN = {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "st", 0xFB06: "st"}
_PLAIN |= dict.fromkeys((*_LINE_HYPHENS, 0x2010, 0x2011), "-")
MARKS = "0123456789*†‡§¶,"  # marks that lead to footnotes


class Word(NamedTuple):
    """A word on a page."""

    text: str
    x0: float
    x1: float
    base: float  # its baseline
    size: float  # of the type
    bold: bool
    math: bool


Run = list[tuple[str, int]]  # characters, and their numbers in the page


def page_words(raw: Any, text_page: Any) -> list[Word]:
    """The words of a page that are written as most of them are, upright or turned, in the order of the file.

    Small words right after another, a little above or below its line, are part of it; marks of notes are dropped.
    """
    reader = PageReader(raw, text_page)
    runs = [(reader.turn(run[0][1]), run) for run in reader.runs()]
    usual = mode(turn for turn, _ in runs) if runs else 0
    kept: list[Word] = []
    for word in (reader.word(run, usual) for turn, run in runs if turn == usual):
        if max(-word.x0, word.x1, abs(word.base)) > FARTHEST:
            continue
        host = kept[-1] if kept else word
        near = abs(word.x0 - host.x1) < 0.25 * host.size and 0.1 < abs(word.base - host.base) / host.size < 0.6
        if not (near and word.size < 0.87 * host.size):
            kept.append(word)
        elif not all(c in MARKS for c in word.text):
            kept[-1] = host._replace(text=host.text + word.text, x1=word.x1)
    return kept


class PageReader:
    """What pdfium says of the characters of a page; few questions for each, because each takes a microsecond."""

    def __init__(self, raw: Any, text_page: Any) -> None:
        self.raw, self.page = raw, text_page
        self.rect, self.x, self.y = raw.FS_RECTF(), ctypes.c_double(), ctypes.c_double()
        self.name, self.flags = ctypes.create_string_buffer(128), ctypes.c_int()
        self.styles: dict[bytes, tuple[bool, bool]] = {}  # of fonts by name: whether they are bold, or for formulas

    def runs(self) -> Iterator[Run]:
        """Characters between white space; a run ends with a hyphen at a line's end, too."""
        unicode, page, run = self.raw.FPDFText_GetUnicode, self.page, Run()
        for i in range(self.raw.FPDFText_CountChars(page)):
            code = min(unicode(page, i), 0x10FFFF)
            hyphen, white = code in _LINE_HYPHENS, code == 0 or chr(code).isspace()
            if hyphen or (code > 0x20 and not white):
                run.append((_PLAIN.get(code) or chr(code), i))
            if run and (hyphen or white):
                yield run
                run = []
        if run:
            yield run

    def turn(self, number: int) -> int:
        """How often text is turned by a quarter, anticlockwise; pdfium has it clockwise."""
        return -round(self.raw.FPDFText_GetCharAngle(self.page, number) / (pi / 2)) % 4

    def box(self, number: int, turn: int) -> tuple[float, float, float]:
        """Where a character begins and ends, and how tall it is, as seen with the text upright."""
        rect = self.rect
        self.raw.FPDFText_GetLooseCharBox(self.page, number, rect)
        (x0, y0), (x1, y1) = _turned(rect.left, rect.bottom, turn), _turned(rect.right, rect.top, turn)
        return min(x0, x1), max(x0, x1), abs(y1 - y0)

    def word(self, run: Run, turn: int) -> Word:
        """The word of a run, without a small number after it: that is the mark of a note."""
        first = run[0][1]
        left, right, size = self.box(first, turn)
        size = size or self.raw.FPDFText_GetFontSize(self.page, first) or 1.0
        lettered = all(text.isalpha() for text, _ in run[:3])
        x0, x1, tall = self.box(run[-1][1], turn)
        while lettered and len(run) > 3 and run[-1][0] in MARKS and 0 < tall < 0.87 * size:
            run = run[:-1]
            x0, x1, tall = self.box(run[-1][1], turn)
        self.raw.FPDFText_GetCharOrigin(self.page, first, self.x, self.y)
        base = _turned(self.x.value, self.y.value, turn)[1]
        # on some systems a character may come as a pair of units
        text = "".join(text for text, _ in run).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return Word(text, min(left, x0), max(right, x1), base, size, *self.style(first))

    def style(self, number: int) -> tuple[bool, bool]:
        """Whether a character is bold, and whether its font is one for formulas."""
        self.raw.FPDFText_GetFontInfo(self.page, number, self.name, 128, self.flags)
        font = self.name.value
        if font not in self.styles:
            low = font.decode("utf-8", "replace").lower()
            self.styles[font] = any(part in low for part in _BOLD_FONTS), any(part in low for part in _MATH_FONTS)
        bold, math = self.styles[font]
        return bold or bool(self.flags.value & 1 << 18), math


def _turned(x: float, y: float, turn: int) -> tuple[float, float]:
    """A place as it is seen with the text upright, y growing downwards."""
    return ((x, -y), (y, x), (-x, y), (-y, -x))[turn]
