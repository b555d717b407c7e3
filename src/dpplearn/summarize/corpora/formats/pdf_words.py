"""Words of a PDF page and where they stand, by pdfium; y grows downwards."""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Iterator
from math import pi
from typing import Any, NamedTuple

_BOLD = ("bold", "black", "heavy", "semibd", "demi", "cmbx", "-medi", "extrabd")
_MATH = ("cmmi", "cmsy", "cmex", "msbm", "msam", "math", "symbol", "mtsy", "rmtmi")
_HYPHENS = "\x02\ufffe"  # what pdfium has for a hyphen at a line's end
_LIGATURES = {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "st", 0xFB06: "st"}
_LIGATURES |= {0x2010: "-", 0x2011: "-"}
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


class Char(NamedTuple):
    """A character and its box, in the page's own coordinates."""

    text: str
    number: int  # in the page
    box: tuple[float, float, float, float]  # left, bottom, right, top
    origin: tuple[float, float]


def page_words(raw: Any, text_page: Any) -> list[Word]:
    """The words of a page that are written as most of them are, upright or turned, in the order of the file."""
    words = [(turn, chars) for chars in _runs(raw, text_page) for turn in [_turn(raw, text_page, chars[0].number)]]
    if not words:
        return []
    usual = Counter(turn for turn, _ in words).most_common(1)[0][0]
    return _with_raised([_word(raw, text_page, chars, usual) for turn, chars in words if turn == usual])


def _with_raised(words: list[Word]) -> list[Word]:
    """Small words right after another, a little above or below its line, are part of it; marks of notes are dropped."""
    kept: list[Word] = []
    for word in words:
        host = kept[-1] if kept else word
        near = abs(word.x0 - host.x1) < 0.25 * host.size and 0.1 < abs(word.base - host.base) / host.size < 0.6
        if not (near and word.size < 0.87 * host.size):
            kept.append(word)
        elif not all(c in MARKS for c in word.text):
            kept[-1] = host._replace(text=host.text + word.text, x1=word.x1)
    return kept


def _runs(raw: Any, text_page: Any) -> Iterator[list[Char]]:
    """Characters between white space."""
    rect, x, y = raw.FS_RECTF(), ctypes.c_double(), ctypes.c_double()
    run: list[Char] = []
    high = 0
    for i in range(raw.FPDFText_CountChars(text_page)):
        code = raw.FPDFText_GetUnicode(text_page, i)
        if 0xD800 <= code < 0xDC00:
            high = code
            continue
        if 0xDC00 <= code < 0xE000:
            code = 0x10000 + ((high - 0xD800) << 10) + code - 0xDC00 if high else 0xFFFD
        high = 0
        text = chr(min(code, 0x10FFFF)) if code else ""
        hyphen = text in _HYPHENS if text else False
        if not hyphen and (text.isspace() or not text):
            if run:
                yield run
            run = []
        elif hyphen or text == "\u00ad" or text >= " ":
            raw.FPDFText_GetLooseCharBox(text_page, i, rect)
            raw.FPDFText_GetCharOrigin(text_page, i, x, y)
            text = "\u00ad" if text == "\u00ad" else "-" if hyphen else text.translate(_LIGATURES)
            run.append(Char(text, i, (rect.left, rect.bottom, rect.right, rect.top), (x.value, y.value)))
            if hyphen:
                yield run
                run = []
    if run:
        yield run


def _turn(raw: Any, text_page: Any, number: int) -> int:
    """How often text is turned by a quarter, anticlockwise."""
    return -round(raw.FPDFText_GetCharAngle(text_page, number) / (pi / 2)) % 4  # pdfium has it clockwise


def _word(raw: Any, text_page: Any, chars: list[Char], turn: int) -> Word:
    name = ctypes.create_string_buffer(128)
    flags = ctypes.c_int()
    raw.FPDFText_GetFontInfo(text_page, chars[0].number, name, 128, flags)
    font = name.value.decode("utf-8", "replace").lower()
    sizes = [abs(one.box[3] - one.box[1]) if turn % 2 == 0 else abs(one.box[2] - one.box[0]) for one in chars]
    size = max(sizes[: (len(sizes) + 1) // 2]) or raw.FPDFText_GetFontSize(text_page, chars[0].number) or 1.0
    end = len(chars)  # a small number after a word of letters is the mark of a note
    while end > 3 and 0 < sizes[end - 1] < 0.87 * size and chars[end - 1].text in MARKS:
        end -= 1
    if not all(one.text.isalpha() for one in chars[:3]):
        end = len(chars)
    kept = chars[:end]
    starts = [_turned(one.box[0], one.box[1], turn) for one in kept]
    stops = [_turned(one.box[2], one.box[3], turn) for one in kept]
    across = [point[0] for point in (*starts, *stops)]
    return Word(
        "".join(one.text for one in kept),
        min(across),
        max(across),
        _turned(*kept[0].origin, turn)[1],
        size,
        any(part in font for part in _BOLD) or bool(flags.value & 1 << 18),
        any(part in font for part in _MATH),
    )


def _turned(x: float, y: float, turn: int) -> tuple[float, float]:
    """A place as it is seen with the text upright, y growing downwards."""
    return ((x, -y), (y, x), (-x, y), (-y, -x))[turn]
