"""Rich text (.rtf), read by striprtf: a paragraph for each line, which are told apart as those of a plain text are."""

from __future__ import annotations

import re
from dataclasses import replace

from dpplearn.summarize.corpora.document import Document
from dpplearn.summarize.corpora.formats.apart import DocumentFile, import_reader
from dpplearn.summarize.text.blocks import BLOCK_MARKS

_TITLE = re.compile(rb"\{\\title\s([^{}\\]{1,300})\}")  # among what the file says of itself


def parse_rtf(file: DocumentFile) -> list[Document]:
    """The text of a file; the rows of its tables are rows."""
    from dpplearn.summarize.corpora.documents import plain_document

    if not file.data.rstrip(b"\0 \r\n").endswith(b"}"):
        raise ValueError(f"{file.place} is cut off: rich text ends with a closing brace. Get it again.")
    rtf_to_text = import_reader("striprtf.striprtf", file.place, "rich text").rtf_to_text
    text = rtf_to_text(file.data.decode("latin-1"), encoding="cp1252", errors="replace")
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # pairs of units are one character
    document = plain_document(file.name, "\n\n".join(map(as_paragraph, filter(str.strip, text.split("\n")))))
    named = _TITLE.search(file.data[:20_000])
    return [replace(document, title=named[1].decode("latin-1").strip()) if named else document]


def as_paragraph(line: str) -> str:
    """A line, or a row of a table, whose cells each end with a bar; one cell alone is a frame around text.

    Examples
    --------
    >>> as_paragraph("May|3 mm|"), as_paragraph("It rained.|")
    ('| May | 3 mm', 'It rained.')
    """
    if not line.rstrip().endswith("|"):
        return line
    cells = [cell.strip() for cell in line.rstrip().removesuffix("|").split("|")]
    return BLOCK_MARKS["row"] + " | ".join(cells) if len(cells) > 1 else cells[0]
