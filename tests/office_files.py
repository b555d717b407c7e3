"""Files for tests that are zip archives, written from nothing: Word, OpenDocument, EPUB.

>>> data = docx([("heading", "Rain"), ("paragraph", "It rained."), ("item", "Wet"), ("row", ["May", "3 mm"])])

Contents are lists of (kind, text) with the kinds title, heading, subheading, paragraph, item, row (a list of cells),
caption, quotation, footnote; `pdf_files` and `markup_files` take the same.
"""

import io
import zipfile
from xml.sax.saxutils import escape


def archive(members, method=zipfile.ZIP_DEFLATED):
    """A zip archive of {name: text or bytes}; the first member of OpenDocument and EPUB is never compressed."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", method) as made:
        for name, data in members.items():
            stored = zipfile.ZIP_STORED if name == "mimetype" else method
            made.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), data, stored)
    return held.getvalue()


W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
STYLES = {
    "title": ("Title", "Title"),
    "heading": ("Heading1", "heading 1"),
    "subheading": ("Heading2", "heading 2"),
    "caption": ("Caption", "caption"),
    "quotation": ("Quote", "Quote"),
}


def docx_paragraph(kind, text):
    """One paragraph in WordprocessingML."""
    style = STYLES.get(kind, (None,))[0]
    about = f'<w:pStyle w:val="{style}"/>' if style else ""
    if kind == "item":
        about = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>'
    return f'<w:p><w:pPr>{about}</w:pPr><w:r><w:t xml:space="preserve">{escape(text)}</w:t></w:r></w:p>'


def docx(blocks=(), body="", title=None, more=None):
    """A Word file of blocks; `body` is WordprocessingML after them, `more` further members of the archive."""
    parts, notes = [], []
    for kind, text in blocks:
        if kind == "row":
            cells = "".join(f"<w:tc>{docx_paragraph('paragraph', cell)}</w:tc>" for cell in text)
            parts.append(f"<w:tbl><w:tr>{cells}</w:tr></w:tbl>")
        elif kind == "footnote":
            notes.append(f'<w:footnote w:id="{len(notes) + 1}">{docx_paragraph("paragraph", text)}</w:footnote>')
            parts.append(f'<w:p><w:r><w:footnoteReference w:id="{len(notes)}"/></w:r></w:p>')
        else:
            parts.append(docx_paragraph(kind, text))
    body = "".join(parts).replace("</w:tbl><w:tbl>", "") + body
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="{key}"><w:name w:val="{name}"/></w:style>'
        for key, name in STYLES.values()
    )
    head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
    members = {
        "[Content_Types].xml": f'{head}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
        "word/document.xml": f"{head}<w:document {W}><w:body>{body}</w:body></w:document>",
        "word/styles.xml": f"{head}<w:styles {W}>{styles}</w:styles>",
        "word/header1.xml": f"{head}<w:hdr {W}>{docx_paragraph('paragraph', 'Confidential draft')}</w:hdr>",
    }
    if 'numId w:val="1"' in body:
        level = '<w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/></w:lvl>'
        listed = f'<w:abstractNum w:abstractNumId="0">{level}</w:abstractNum>'
        listed += '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
        members["word/numbering.xml"] = f"{head}<w:numbering {W}>{listed}</w:numbering>"
    if notes:
        members["word/footnotes.xml"] = f"{head}<w:footnotes {W}>{''.join(notes)}</w:footnotes>"
    if title:
        spaces = 'xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" '
        spaces += 'xmlns:dc="http://purl.org/dc/elements/1.1/"'
        core = f"<cp:coreProperties {spaces}><dc:title>{escape(title)}</dc:title></cp:coreProperties>"
        members["docProps/core.xml"] = head + core
    return archive({**members, **(more or {})})


ODF = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{where}:1.0"'
    for name, where in (
        ("office", "office"),
        ("text", "text"),
        ("table", "table"),
        ("style", "style"),
        ("draw", "drawing"),
        ("meta", "meta"),
    )
)


def odt(blocks=(), body="", title=None, more=None):
    """An OpenDocument text of blocks; `body` is XML after them."""
    parts = []
    for kind, text in blocks:
        if kind in ("heading", "subheading"):
            level = 1 if kind == "heading" else 2
            parts.append(f'<text:h text:outline-level="{level}">{escape(text)}</text:h>')
        elif kind == "item":
            parts.append(f"<text:list><text:list-item><text:p>{escape(text)}</text:p></text:list-item></text:list>")
        elif kind == "row":
            cells = "".join(f"<table:table-cell><text:p>{escape(c)}</text:p></table:table-cell>" for c in text)
            parts.append(f"<table:table><table:table-row>{cells}</table:table-row></table:table>")
        elif kind == "footnote":
            note = f"<text:note-citation>1</text:note-citation><text:note-body><text:p>{escape(text)}</text:p>"
            parts.append(f"<text:p><text:note>{note}</text:note-body></text:note></text:p>")
        else:
            style = {"title": "Title", "caption": "Caption", "quotation": "Quotations"}.get(kind, "Standard")
            parts.append(f'<text:p text:style-name="{style}">{escape(text)}</text:p>')
    inside = "".join(parts).replace("</table:table><table:table>", "") + body
    content = f"<office:body><office:text>{inside}</office:text></office:body>"
    members = {
        "mimetype": "application/vnd.oasis.opendocument.text",
        "content.xml": f"<office:document-content {ODF}>{content}</office:document-content>",
    }
    if title:
        about = f'<dc:title xmlns:dc="http://purl.org/dc/elements/1.1/">{escape(title)}</dc:title>'
        members["meta.xml"] = f"<office:document-meta {ODF}><office:meta>{about}</office:meta></office:document-meta>"
    return archive({**members, **(more or {})})


TAGS = {"title": "h1", "heading": "h2", "subheading": "h3", "item": "li", "quotation": "blockquote"}


def xhtml(blocks, title=""):
    """A page of blocks."""
    parts = []
    for kind, text in blocks:
        if kind == "row":
            parts.append(f"<table><tr>{''.join(f'<td>{escape(cell)}</td>' for cell in text)}</tr></table>")
        else:
            tag = TAGS.get(kind, "p")
            parts.append(f"<{tag}>{escape(text)}</{tag}>")
    head = f'<html xmlns="http://www.w3.org/1999/xhtml"><head><title>{escape(title)}</title></head><body>'
    return f"<?xml version='1.0' encoding='utf-8'?>{head}{''.join(parts)}</body></html>"


def epub(chapters, title=None, more=None, spine=None):
    """A book of {member name: blocks or XHTML}, with a table of contents that is no chapter."""
    pages = {name: page if isinstance(page, str) else xhtml(page, name) for name, page in chapters.items()}
    items = "".join(
        f'<item id="i{i}" href="{name}" media-type="application/xhtml+xml"/>' for i, name in enumerate(pages)
    )
    order = "".join(f'<itemref idref="i{i}"/>' for i in (range(len(pages)) if spine is None else spine))
    named = f"<dc:title>{escape(title)}</dc:title>" if title else ""
    opf = (
        f'<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/" version="3.0">'
        f'<metadata>{named}</metadata><manifest>{items}<item id="nav" href="nav.xhtml" properties="nav" '
        f'media-type="application/xhtml+xml"/></manifest><spine><itemref idref="nav"/>{order}</spine></package>'
    )
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile '
        'full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
    )
    contents = xhtml([("paragraph", "Contents of this book")]).replace("<body>", "<body><nav>")
    return archive(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": container,
            "OEBPS/book.opf": opf,
            "OEBPS/nav.xhtml": contents,
            **{f"OEBPS/{name}": page for name, page in pages.items()},
            **(more or {}),
        }
    )
