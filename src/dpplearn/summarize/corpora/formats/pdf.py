"""PDF: words and their places by pdfium, the rest by how pages are set."""

from __future__ import annotations

import re
from contextlib import closing, suppress
from typing import Any

from dpplearn.summarize.corpora.document import Document
from dpplearn.summarize.corpora.formats.apart import DocumentFile, import_reader
from dpplearn.summarize.corpora.formats.pdf_blocks import page_blocks
from dpplearn.summarize.corpora.formats.pdf_layout import lines_of
from dpplearn.summarize.corpora.formats.pdf_words import Word, page_words

_LENGTH = re.compile(rb"/Linearized\b[^<>]{0,200}?/L\s+([0-9]{1,12})")
_FILE_NAME = re.compile(
    r"\.(?:docx?|tex|dvi|indd|qxd|pdf|odt|rtf|ps|pages|pptx?|xlsx?|html?|txt)\b|^untitled|^microsoft word", re.I
)
_UNREADABLE = re.compile("[\ufffd\ue000-\uf8ff\x00-\x08]")
FEWEST = 3  # words a page, below which a file with pictures is taken for a scan


def parse_pdf(file: DocumentFile) -> list[Document]:
    """The text of a PDF file in reading order."""
    pdfium, raw = (import_reader(name, file.place, "PDF") for name in ("pypdfium2", "pypdfium2.raw"))
    length = _LENGTH.search(file.data[:2048])
    if b"%%EOF" not in file.data or (length is not None and len(file.data) < int(length[1])):
        # pdfium would rebuild what is there, and nobody would know of the rest
        raise ValueError(f"{file.place} is cut off: the end of the PDF file is missing. Get it again.")
    try:
        pdf = pdfium.PdfDocument(file.data)
    except pdfium.PdfiumError as error:
        # for some files pdfium repeats its error of the file before
        if "password" in str(error).lower() and b"/Encrypt" in file.data:
            raise ValueError(f"{file.place} is protected by a password. Save it without, then give it again.") from None
        raise ValueError(f"{file.place} is cut off or damaged: it is no whole PDF file. Get it again.") from None
    try:
        file.limits.check(file.place, "pages", len(pdf))
        pages: list[list[Word]] = []
        for number in range(len(pdf)):
            pages.append([])
            with suppress(pdfium.PdfiumError), closing(pdf[number]) as page, closing(page.get_textpage()) as text:
                pages[-1] = page_words(raw, text.raw)  # none where a page alone is damaged
        title = given_title(pdf)
    finally:
        pdf.close()
    check_words(pages, file.place)
    made, title = page_blocks(lines_of(pages), title)
    return [Document(file.name, made.text, title, blocks=made.blocks)]


def check_words(pages: list[list[Word]], place: object) -> None:
    """Refuse what has no text, or none that can be told."""
    words = [word.text for page in pages for word in page]
    if len(words) < FEWEST * len(pages) or not pages:
        what = "no text" if not words else f"only {len(words)} words on {len(pages)} pages"
        raise ValueError(f"{place} has {what}: it may be a scan. Recognise its text first (OCR), then give it again.")
    text = "".join(words)
    if 3 * len(_UNREADABLE.findall(text)) > len(text):
        raise ValueError(f"{place} does not say which characters its fonts show. Recognise its text first (OCR).")


def given_title(pdf: Any) -> str | None:
    """What the file says it is called, unless that is the name of a file or of a program."""
    try:
        title = " ".join(pdf.get_metadata_value("Title").split())
    except UnicodeError:
        return None
    return title if len(title.split()) > 1 and len(title) < 300 and not _FILE_NAME.search(title) else None
