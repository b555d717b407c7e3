"""Read Word and OpenDocument texts (.docx, .odt) by their styles and numbering, and rich text (.rtf).

Word files are converted by mammoth, in their final version, and rich text by striprtf.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from xml.etree.ElementTree import Element

from dpplearn.summarize.corpora.cluster import Document
from dpplearn.summarize.corpora.formats.apart import DocumentFile, import_reader
from dpplearn.summarize.corpora.formats.packages import Package
from dpplearn.summarize.text.blocks import BLOCK_MARKS, WORDS_OF_HEADING, Part
from dpplearn.summarize.text.page import html_blocks, read_html
from dpplearn.summarize.text.words import STOPS, word_set

# Built-in styles of Word, by how their names begin (in English, whatever language Word speaks) and by their .ids.
WORD_STYLES = {
    "h1.title": "Title .Title",
    "h2": "Subtitle heading " + " ".join(f".Heading{level}" for level in range(1, 10)),
    "p.toc": "toc table_of_figures index " + " ".join(f".TOC{level}" for level in range(1, 10)),
    "p.navigation": "header footer .Header .Footer",
    "p.caption": "caption .Caption",
    "blockquote": "Quote Intense_Quote Block_Text",
    "p.references": "Bibliography",
    "pre": "HTML_Preformatted macro",
    "p.byline": "Signature",
    "ul > li": "List_Bullet",
    "ol > li": "List_Number",
}
STYLE_MAP = "\n".join(
    "p" + (style if style[0] == "." else f"[style-name^='{style.replace('_', ' ')}']") + f" => {element}:fresh"
    for element, styles in WORD_STYLES.items()
    for style in styles.split()
)
_BOLD_LINE = re.compile(r"<p><strong>((?:(?!</?(?:p|strong)\b).)*)</strong></p>", re.DOTALL)
_CELL = re.compile(r"(<t[dh][^>]*>)<p>((?:(?!</?p\b).)*)</p>(</t[dh]>)", re.DOTALL)
_NOTE_ITEM = re.compile(r'<li id="(?:foot|end)note-[^"]*">')
_BACK = re.compile(r'<a href="#(?:foot|end)note-ref[^"]*">↑</a>')
_RTF_TITLE = re.compile(rb"\{\\title\s([^{}\\]{1,300})\}")  # among what the file says of itself

# Of OpenDocument: what was struck out, comments, what describes pictures, the numbers of notes, lists of contents.
DROPPED = word_set(
    "tracked-changes annotation annotation-end note-citation title desc forms ruby-text hidden-text hidden-paragraph "
    "table-of-content illustration-index table-index user-index alphabetical-index settings scripts"
)
ODF_STYLES = {"title": "title", "subtitle": "heading", "quotations": "quotation", "preformatted_20_text": "code"}
ODF_STYLES |= {"signature": "byline", "bibliography_20_1": "reference", "header": "navigation", "footer": "navigation"}
ODF_STYLES |= dict.fromkeys(("caption", "illustration", "figure", "table", "drawing"), "caption")
LONGEST_CELL = 300  # characters: a row with a longer one lays out a page


def read_docx(package: Package, file: DocumentFile) -> Document:
    """The text of a Word file: headers, footers and comments are left alone."""
    mammoth = import_reader("mammoth", package.place, "Word")
    for member in package.members:  # within the limits of a file, and with no entities, before mammoth reads them
        if member.endswith((".xml", ".rels")):
            package.xml(member)
    ignore = {"ignore_empty_paragraphs": True, "convert_image": mammoth.images.img_element(lambda _: {})}
    source = mammoth.convert_to_html(BytesIO(file.data), style_map=STYLE_MAP, **ignore).value
    text, *notes = _NOTE_ITEM.split(_BACK.sub("", _BOLD_LINE.sub(as_heading, source)))
    parts, title = read_html(_CELL.sub(r"\1\2\3", text), fragment=True)
    parts += [("footnote", words) for note in notes for _, words in html_blocks(note)]
    return Document.of_blocks(file.name, parts, title or package.title("docProps/core.xml"))


def as_heading(match: re.Match[str]) -> str:
    """Make a heading of a short line in bold without a stop, as many writers do."""
    words = re.sub("<[^>]*>", "", match[1]).strip()
    short = bool(words) and len(words.split()) <= WORDS_OF_HEADING and words[-1] not in STOPS + ",;:"
    return f"<h2>{match[1]}</h2>" if short else match[0]


def read_odt(package: Package, name: str) -> Document:
    """The text of an OpenDocument file: headers and footers are in its styles, which are left alone."""
    if b"encryption-data" in package.optional("META-INF/manifest.xml"):
        raise ValueError(f"{package.place} is protected by a password. Save it without, then give it again.")
    root, notes = package.xml("content.xml"), list[Part]()
    styles = {style.get("name", ""): style.get("parent-style-name", "") for style in root.iter("style")}
    parts = [*odt_parts(root, "paragraph", styles, notes), *notes]
    title = next((part for part in parts if part[0] == "title"), None)
    if title is not None:
        parts.remove(title)
    parts = [("heading" if kind == "title" else kind, text) for kind, text in parts]
    return Document.of_blocks(name, parts, " ".join(title[1].split()) if title else package.title("meta.xml"))


def odt_parts(element: Element, kind: str, styles: dict[str, str], notes: list[Part]) -> Iterator[Part]:
    """The blocks in an element of OpenDocument, of the given kind unless a style says otherwise; notes are appended.

    A style that a writer made is known by the built-in style that it is made of. Text in frames comes after its
    paragraph.
    """
    for child in element:
        if child.tag in ("p", "h"):
            style = child.get("style-name", "")
            names = style.lower(), styles.get(style, "").lower()
            usual = "heading" if child.tag == "h" else kind
            yield next((ODF_STYLES[name] for name in names if name in ODF_STYLES), usual), words_of(child)
            notes += [("footnote", words_of(body)) for body in child.iter("note-body")]
            for frame in child.iter("frame"):
                yield from odt_parts(frame, "paragraph", styles, notes)
        elif child.tag == "table-row":
            cells = [" ".join(words_of(cell).split()) for cell in child]
            if len(cells) > 1 and max(map(len, cells)) < LONGEST_CELL:
                yield "row", " | ".join(cells)
            else:
                yield from odt_parts(child, kind, styles, notes)
        elif child.tag not in DROPPED:
            yield from odt_parts(child, "item" if child.tag == "list-item" else kind, styles, notes)


def words_of(element: Element) -> str:
    """The words of an element, without those of its notes and frames."""
    parts = [" " if element.tag in ("s", "tab", "line-break", "p") else "", element.text or ""]
    for child in element:
        parts.append("" if child.tag in DROPPED | {"note", "frame"} else words_of(child))
        parts.append(child.tail or "")
    return "".join(parts)


def parse_rtf(file: DocumentFile) -> list[Document]:
    """Rich text, read as plain text is: a paragraph for each line, and rows of tables."""
    from dpplearn.summarize.corpora.documents import plain_document

    if not file.data.rstrip(b"\0 \r\n").endswith(b"}"):
        raise ValueError(f"{file.place} is cut off: rich text ends with a closing brace. Get it again.")
    rtf_to_text = import_reader("striprtf.striprtf", file.place, "rich text").rtf_to_text
    text = rtf_to_text(file.data.decode("latin-1"), encoding="cp1252", errors="replace")
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # pairs of units are one character
    document = plain_document(file.name, "\n\n".join(map(as_paragraph, filter(str.strip, text.split("\n")))))
    title = _RTF_TITLE.search(file.data[:20_000])
    return [replace(document, title=title[1].decode("latin-1").strip()) if title else document]


def as_paragraph(line: str) -> str:
    """A line as a paragraph or as a row of a table, whose cells each end with a bar; one cell frames a text.

    Examples
    --------
    >>> as_paragraph("May|3 mm|"), as_paragraph("It rained.|")
    ('| May | 3 mm', 'It rained.')
    """
    if not line.rstrip().endswith("|"):
        return line
    cells = [cell.strip() for cell in line.rstrip().removesuffix("|").split("|")]
    return BLOCK_MARKS["row"] + " | ".join(cells) if len(cells) > 1 else cells[0]
