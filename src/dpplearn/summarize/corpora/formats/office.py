"""Word and OpenDocument texts (.docx, .odt) as HTML, by what their styles and numbering say, and rich text (.rtf).

Word files are converted by mammoth, in their final version, and rich text by striprtf.
"""

from __future__ import annotations

import re
from dataclasses import replace
from html import escape
from io import BytesIO
from xml.etree.ElementTree import Element

from dpplearn.summarize.corpora.cluster import Document
from dpplearn.summarize.corpora.formats.apart import DocumentFile, import_reader
from dpplearn.summarize.corpora.formats.packages import Package
from dpplearn.summarize.text.blocks import BLOCK_MARKS, WORDS_OF_HEADING
from dpplearn.summarize.text.page import html_blocks, read_html
from dpplearn.summarize.text.words import STOPS, word_set

# Built-in styles of Word, by how their names begin (in English, whatever language Word speaks) and by their .ids.
WORD_STYLES = {
    "h1.title": ("Title", ".Title"),
    "h2": ("Subtitle", "heading", *(f".Heading{level}" for level in range(1, 10))),
    "p.toc": ("toc", "table of figures", "index", *(f".TOC{level}" for level in range(1, 10))),
    "p.navigation": ("header", "footer", ".Header", ".Footer"),
    "p.caption": ("caption", ".Caption"),
    "blockquote": ("Quote", "Intense Quote", "Block Text"),
    "p.references": ("Bibliography",),
    "pre": ("HTML Preformatted", "macro"),
    "p.byline": ("Signature",),
    "ul > li": ("List Bullet",),
    "ol > li": ("List Number",),
}
STYLE_MAP = "\n".join(
    "p" + (style if style[0] == "." else f"[style-name^='{style}']") + f" => {element}:fresh"
    for element, styles in WORD_STYLES.items()
    for style in styles
)
_BOLD_LINE = re.compile(r"<p><strong>((?:(?!</?(?:p|strong)\b).)*)</strong></p>", re.DOTALL)
_CELL = re.compile(r"(<t[dh][^>]*>)<p>((?:(?!</?p\b).)*)</p>(</t[dh]>)", re.DOTALL)
_NOTE_ITEM = re.compile(r'<li id="(?:foot|end)note-[^"]*">')
_RTF_TITLE = re.compile(rb"\{\\title\s([^{}\\]{1,300})\}")  # among what the file says of itself
_BACK = re.compile(r'<a href="#(?:foot|end)note-ref[^"]*">↑</a>')

# Of OpenDocument: what was struck out, comments, what describes pictures, the numbers of notes, lists of contents.
DROPPED = word_set(
    "tracked-changes annotation annotation-end note-citation title desc forms ruby-text hidden-text hidden-paragraph "
    "table-of-content illustration-index table-index user-index alphabetical-index settings scripts"
)
ODF_STYLES = {
    "title": "h1.title",
    "subtitle": "h2",
    **dict.fromkeys(("caption", "illustration", "figure", "table", "drawing"), "p.caption"),
    "quotations": "blockquote",
    "preformatted_20_text": "pre",
    "signature": "p.byline",
    "bibliography_20_1": "p.references",
    **dict.fromkeys(("header", "footer"), "p.navigation"),
}
ODF_TAGS = {
    "list": "ul", "list-item": "li", "table": "table", "table-row": "tr", "table-cell": "td", "covered-table-cell": "td"
}  # fmt: skip


def read_docx(package: Package, file: DocumentFile) -> Document:
    """The text of a Word file: headers, footers and comments are left alone."""
    mammoth = import_reader("mammoth", package.place, "Word")
    for member in package.members:  # within the limits of a file, and with no entities, before mammoth reads them
        if member.endswith((".xml", ".rels")):
            package.xml(member)
    ignore = {"ignore_empty_paragraphs": True, "convert_image": mammoth.images.img_element(lambda _: {})}
    try:
        source = mammoth.convert_to_html(BytesIO(file.data), style_map=STYLE_MAP, **ignore).value
    except ValueError as error:  # such as a document without a body
        raise ValueError(f"{package.place} is damaged: {error} Save it anew.") from None
    text, *notes = _NOTE_ITEM.split(_BACK.sub("", _BOLD_LINE.sub(as_heading, source)))
    return office_document(file.name, text, notes, package.title("docProps/core.xml"))


def as_heading(found: re.Match[str]) -> str:
    """A short line in bold without a stop is what many have for a heading."""
    words = re.sub("<[^>]*>", "", found[1]).strip()
    short = bool(words) and len(words.split()) <= WORDS_OF_HEADING and words[-1] not in STOPS + ",;:"
    return f"<h2>{found[1]}</h2>" if short else found[0]


def read_odt(package: Package, name: str) -> Document:
    """The text of an OpenDocument file: headers and footers are in its styles, which are left alone."""
    if b"encryption-data" in package.optional("META-INF/manifest.xml"):
        raise ValueError(f"{package.place} is protected by a password. Save it without, then give it again.")
    read = OdtText(package.xml("content.xml"))
    return office_document(name, "".join(read.text), read.notes, package.title("meta.xml"))


class OdtText:
    """An OpenDocument text as HTML: its parts in order, and those of its notes.

    Paragraphs in others, as in notes and frames, stand before the one around them.
    """

    def __init__(self, root: Element) -> None:
        self.text, self.notes = list[str](), list[str]()
        self.parents = {one.get("name", ""): one.get("parent-style-name", "") for one in root.iter("style")}
        self.add(root, [], self.text)

    def add(self, element: Element, words: list[str], out: list[str]) -> None:
        """Add an element to the text or to the notes, and its words to those of the paragraph around it."""
        tag, is_paragraph = element.tag, element.tag in ("p", "h")
        words = [] if is_paragraph else words
        wrapped = ODF_TAGS.get(tag) if out is self.text else None
        if wrapped:
            out.append(f"<{wrapped}>")
        words.append(" " if tag in ("s", "tab", "line-break") else escape(element.text or ""))
        for child in element:
            if child.tag not in DROPPED:
                self.add(child, words, self.notes if child.tag == "note" else out)
            words.append(escape(child.tail or ""))
        if wrapped:
            out.append(f"</{wrapped}>")
        elif is_paragraph:
            name, _, kind = ("h2" if tag == "h" else self.styled(element.get("style-name", ""))).partition(".")
            classes = f' class="{kind}"' if kind else ""
            out.append(f"<{name}{classes}>{''.join(words)}</{name}>")

    def styled(self, style: str) -> str:
        """What a paragraph of a style is."""
        return ODF_STYLES.get(style.lower()) or ODF_STYLES.get(self.parents.get(style, "").lower(), "p")


def office_document(name: str, text: str, notes: list[str], named: str | None) -> Document:
    """The document in HTML, its notes after it; its title, if it shows none, is what its properties call it."""
    made, title = read_html(_CELL.sub(r"\1\2\3", text), fragment=True)
    for note in notes:
        for _, words in html_blocks(note):
            made.add("footnote", words)
    return Document(name, made.text, title or named, blocks=made.blocks)


def parse_rtf(file: DocumentFile) -> list[Document]:
    """The text of rich text: a paragraph for each line, told apart as those of a plain text are, and rows of tables."""
    from dpplearn.summarize.corpora.documents import plain_document

    if not file.data.rstrip(b"\0 \r\n").endswith(b"}"):
        raise ValueError(f"{file.place} is cut off: rich text ends with a closing brace. Get it again.")
    rtf_to_text = import_reader("striprtf.striprtf", file.place, "rich text").rtf_to_text
    text = rtf_to_text(file.data.decode("latin-1"), encoding="cp1252", errors="replace")
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # pairs of units are one character
    document = plain_document(file.name, "\n\n".join(map(as_paragraph, filter(str.strip, text.split("\n")))))
    named = _RTF_TITLE.search(file.data[:20_000])
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
