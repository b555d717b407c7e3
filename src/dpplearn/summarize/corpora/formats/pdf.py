"""Read PDF files: pdfium gives the words and their places, and `pdf_layout` makes blocks of them."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator
from contextlib import closing, suppress
from math import pi
from statistics import mode
from typing import Any

from dpplearn.summarize.corpora.cluster import Document
from dpplearn.summarize.corpora.formats.apart import DocumentFile, import_reader
from dpplearn.summarize.corpora.formats.pdf_layout import Word, page_blocks

_LENGTH = re.compile(rb"/Linearized\b[^<>]{0,200}?/L\s+([0-9]{1,12})")
_FILE_NAME = re.compile(
    r"\.(?:docx?|tex|dvi|indd|qxd|pdf|odt|rtf|ps|pages|pptx?|xlsx?|html?|txt)\b|^untitled|^microsoft word", re.I
)
_UNREADABLE = re.compile("[\ufffd\ue000-\uf8ff\x00-\x08]")
FEWEST = 3  # words a page, below which a file with pictures is taken for a scan
_BOLD_FONTS = (b"bold", b"black", b"heavy", b"semibd", b"demi", b"cmbx", b"-medi", b"extrabd")
_LINE_HYPHENS = (0x02, 0xFFFE)  # what pdfium has for a hyphen at a line's end
_PLAIN = {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "st", 0xFB06: "st"}
_PLAIN |= dict.fromkeys((*_LINE_HYPHENS, 0x2010, 0x2011), "-")
MARKS = "0123456789*†‡§¶,"  # marks that lead to footnotes


def parse_pdf(file: DocumentFile) -> list[Document]:
    """The text of a PDF file in reading order."""
    pdfium, raw = (import_reader(name, file.place, "PDF") for name in ("pypdfium2", "pypdfium2.raw"))
    length = _LENGTH.search(file.data[:2048])
    if b"%%EOF" not in file.data or (length is not None and len(file.data) < int(length[1])):
        # pdfium would rebuild what is there, and nobody would know of the rest
        raise ValueError(f"{file.place} is cut off: the end of the PDF file is missing. Get it again.")
    try:
        pdf = pdfium.PdfDocument(file.data)
    except pdfium.PdfiumError:
        # for some files pdfium repeats its error of the file before
        if raw.FPDF_GetLastError() == raw.FPDF_ERR_PASSWORD and b"/Encrypt" in file.data:
            raise ValueError(f"{file.place} is protected by a password. Save it without, then give it again.") from None
        raise ValueError(f"{file.place} is cut off or damaged: it is no whole PDF file. Get it again.") from None
    with closing(pdf):
        file.limits.check(file.place, "pages", len(pdf))
        pages: list[list[Word]] = []
        for number in range(len(pdf)):
            pages.append([])
            with suppress(pdfium.PdfiumError), closing(pdf[number]) as page, closing(page.get_textpage()) as text:
                pages[-1] = PageReader(raw, text.raw).words()  # none where a page alone is damaged
        title = given_title(pdf)
    check_words([word.text for page in pages for word in page], len(pages), file.place)
    return [Document.of_blocks(file.name, *page_blocks(pages, title))]


def check_words(words: list[str], n_pages: int, place: object) -> None:
    """Refuse a file that has no text, or none whose characters are known."""
    if len(words) < max(FEWEST * n_pages, 1):
        what = "no text" if not words else f"only {len(words)} words on {n_pages} pages"
        raise ValueError(f"{place} has {what}: it may be a scan. Recognise its text first (OCR), then give it again.")
    text = "".join(words)
    if 3 * len(_UNREADABLE.findall(text)) > len(text):
        raise ValueError(f"{place} does not say which characters its fonts show. Recognise its text first (OCR).")


def given_title(pdf: Any) -> str | None:
    """What the file says it is called, unless that is the name of a file or of a program."""
    title = ""
    with suppress(UnicodeError):
        title = " ".join(pdf.get_metadata_value("Title").split())
    return title if " " in title and len(title) < 300 and not _FILE_NAME.search(title) else None


class PageReader:
    """Asks pdfium for the characters of a page, with few questions for each, because each takes a microsecond."""

    def __init__(self, raw: Any, text_page: Any) -> None:
        self.raw, self.page = raw, text_page
        self.rect, self.x, self.y = raw.FS_RECTF(), ctypes.c_double(), ctypes.c_double()
        self.name, self.flags = ctypes.create_string_buffer(128), ctypes.c_int()

    def words(self) -> list[Word]:
        """The words that are written as most of them are, upright or turned, in the order of the file.

        Small words right after another, a little above or below its line, are part of it; marks of notes are dropped.
        """
        runs = [(self.turn(run[0][1]), run) for run in self.runs()]
        usual = mode(turn for turn, _ in runs) if runs else 0
        kept: list[Word] = []
        for word in (self.word(run, usual) for turn, run in runs if turn == usual):
            host = kept[-1] if kept else word
            near = abs(word.x0 - host.x1) < 0.25 * host.size and 0.1 < abs(word.base - host.base) / host.size < 0.6
            if not (near and word.size < 0.87 * host.size):
                kept.append(word)
            elif not all(c in MARKS for c in word.text):
                kept[-1] = host._replace(text=host.text + word.text, x1=word.x1)
        return kept

    def runs(self) -> Iterator[list[tuple[str, int]]]:
        """Characters between white space, with their numbers; a run ends with a hyphen at a line's end, too."""
        run: list[tuple[str, int]] = []
        for i in range(self.raw.FPDFText_CountChars(self.page)):
            code = min(self.raw.FPDFText_GetUnicode(self.page, i), 0x10FFFF)
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
        (x0, y0), (x1, y1) = turned(rect.left, rect.bottom, turn), turned(rect.right, rect.top, turn)
        return min(x0, x1), max(x0, x1), abs(y1 - y0)

    def word(self, run: list[tuple[str, int]], turn: int) -> Word:
        """The word of a run, without a small number after it, which is the mark of a note."""
        first = run[0][1]
        left, right, size = self.box(first, turn)
        size = size or self.raw.FPDFText_GetFontSize(self.page, first) or 1.0
        lettered = all(text.isalpha() for text, _ in run[:3])
        x0, x1, tall = self.box(run[-1][1], turn)
        while lettered and len(run) > 3 and run[-1][0] in MARKS and 0 < tall < 0.87 * size:
            run = run[:-1]
            x0, x1, tall = self.box(run[-1][1], turn)
        self.raw.FPDFText_GetCharOrigin(self.page, first, self.x, self.y)
        base = turned(self.x.value, self.y.value, turn)[1]
        # on some systems a character may come as a pair of units
        text = "".join(text for text, _ in run).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        self.raw.FPDFText_GetFontInfo(self.page, first, self.name, 128, self.flags)
        font = self.name.value.lower()
        bold = bool(self.flags.value & 1 << 18) or any(part in font for part in _BOLD_FONTS)
        return Word(text, min(left, x0), max(right, x1), base, size, bold)


def turned(x: float, y: float, turn: int) -> tuple[float, float]:
    """A place as it is seen with the text upright, y growing downwards."""
    return ((x, -y), (y, x), (-x, y), (-y, -x))[turn]
