"""Files for tests, written from nothing: PDF, Word, OpenDocument, EPUB, e-mail. Each function returns the bytes of one.

>>> data = pdf_article([("heading", "Rain"), ("paragraph", "It rained all day.")], title="Weather", columns=2)
>>> data = docx([("heading", "Rain"), ("paragraph", "It rained."), ("item", "Wet"), ("row", ["May", "3 mm"])])

Contents are lists of (kind, text) with the kinds title, heading, subheading, paragraph, item, row (a list of cells),
caption, quotation, footnote; `odt` and `epub` take the same.
"""

import hashlib
import io
import re
import zipfile
from xml.sax.saxutils import escape

# Widths of Helvetica from the space on, in thousandths of the type size.
WIDTHS = [278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, *[556] * 10, 278, 278, 584]
WIDTHS += [584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778]
WIDTHS += [722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278]
WIDTHS += [556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500]
WIDTHS += [334, 260, 334, 584]
PAGE = 612, 792  # points
PAD = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")


def width(text, size):
    return sum(WIDTHS[ord(c) - 32] if " " <= c <= "~" else 556 for c in text) * size / 1000


class Pdf:
    """Pages with text at places: y grows upwards from the foot of the page, as in PDF."""

    def __init__(self, title=None, page=PAGE):
        self.title, self.page, self.pages = title, page, []

    def add_page(self):
        self.pages.append([])

    def text(self, x, y, text, size=10, bold=False, angle=False):
        shown = text.encode("cp1252").replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")
        turn = b"0 1 -1 0" if angle else b"1 0 0 1"
        place = turn + f" {x:.2f} {y:.2f} Tm (".encode()
        self.pages[-1].append(f"BT /F{2 if bold else 1} {size:g} Tf ".encode() + place + shown + b") Tj ET")

    def image(self):
        """A grey picture all over the page, as a scan has it."""
        self.pages[-1].append(f"q {self.page[0]} 0 0 {self.page[1]} 0 0 cm /Im Do Q".encode())

    def save(self, password=None, owner=None):
        """The bytes of the file; with a password, encrypted by RC4 of 40 bits. An owner's alone opens for all."""
        names = {
            name: f"<< /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >>"
            for name in ("Helvetica", "Helvetica-Bold")
        }
        kids = " ".join(f"{6 + 2 * i} 0 R" for i in range(len(self.pages)))
        title = "" if self.title is None else f"/Title <FEFF{self.title.encode('utf-16-be').hex()}>"
        objects = [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            f"<< /Type /Pages /Kids [{kids}] /Count {len(self.pages)} >>".encode(),
            *(font.encode() for font in names.values()),
            _stream(
                b"\x80", "/Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8"
            ),
        ]
        for i, parts in enumerate(self.pages):
            needs = "/Resources << /Font << /F1 3 0 R /F2 4 0 R >> /XObject << /Im 5 0 R >> >>"
            box = f"/MediaBox [0 0 {self.page[0]} {self.page[1]}]"
            objects.append(f"<< /Type /Page /Parent 2 0 R {box} {needs} /Contents {7 + 2 * i} 0 R >>".encode())
            objects.append(_stream(b"\n".join(parts)))
        trailer = "/Root 1 0 R"
        if password is not None or owner is not None:
            objects, more = _encrypt(objects, password or "", owner or password)
            trailer += more
        elif title:
            objects.append(f"<< {title} >>".encode())
            trailer += f" /Info {len(objects)} 0 R"
        out, places = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n"), []
        for number, body in enumerate(objects, 1):
            places.append(len(out))
            out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
        start = len(out)
        out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
        out += b"".join(b"%010d 00000 n \n" % place for place in places)
        out += f"trailer\n<< /Size {len(objects) + 1} {trailer} >>\nstartxref\n{start}\n%%EOF\n".encode()
        return bytes(out)


def _stream(data, more=""):
    return f"<< {more} /Length {len(data)} >>\nstream\n".encode() + data + b"\nendstream"


def _rc4(key, data):
    state, j = list(range(256)), 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) % 256
        state[i], state[j] = state[j], state[i]
    out, i, j = bytearray(), 0, 0
    for byte in data:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        out.append(byte ^ state[(state[i] + state[j]) % 256])
    return bytes(out)


def _encrypt(objects, user, owner):
    """The standard security handler, revision 2 (ISO 32000-1, 7.6.3): streams only, there are no strings."""
    padded = {name: (given.encode() + PAD)[:32] for name, given in (("user", user), ("owner", owner))}
    name, allowed = b"0123456789abcdef", -44
    o = _rc4(hashlib.md5(padded["owner"]).digest()[:5], padded["user"])
    key = hashlib.md5(padded["user"] + o + allowed.to_bytes(4, "little", signed=True) + name).digest()[:5]
    done = []
    for number, body in enumerate(objects, 1):
        head, found, rest = body.partition(b"\nstream\n")
        if found:
            own = hashlib.md5(key + number.to_bytes(3, "little") + b"\0\0").digest()[:10]
            body = head + found + _rc4(own, rest.removesuffix(b"\nendstream")) + b"\nendstream"
        done.append(body)
    u = _rc4(key, PAD)
    done.append(f"<< /Filter /Standard /V 1 /R 2 /O <{o.hex()}> /U <{u.hex()}> /P {allowed} >>".encode())
    return done, f" /Encrypt {len(done)} 0 R /ID [<{name.hex()}> <{name.hex()}>]"


def wrap(text, size, wide, hyphenate=True, indent=0.0):
    """Lines no wider than `wide`; words of seven letters and more are cut at line ends, as papers do."""
    lines, line = [], ""
    for word in text.split():
        while True:
            room = wide - (0 if lines else indent)
            joined = f"{line} {word}".strip()
            if width(joined, size) <= room:
                line = joined
                break
            cut = _cut(word, room - width(f"{line} ", size), size) if hyphenate else 0
            if cut:
                lines.append(f"{line} {word[:cut]}{'' if word[cut - 1] == '-' else '-'}".strip())
                line, word = "", word[cut:]
            elif line:
                lines.append(line)
                line = ""
            else:
                line = word
                break
    return [*lines, line] if line else lines


def _cut(word, room, size):
    """Where a word may be cut so that its head fits: after a hyphen of its own, or between a vowel and a consonant."""
    if not re.fullmatch(r"[A-Za-z]+(?:-[A-Za-z]+)*[.,;:]?", word):
        return 0
    places = [m.end() for m in re.finditer("-", word)]
    if len(word) >= 7 and not places:
        places = [
            m.start() + 1 for m in re.finditer("[aeiou][bcdfglmnprstv]", word) if 2 < m.start() + 1 < len(word) - 3
        ]
    return max((p for p in places if width(word[:p] + "-", size) <= room), default=0)


class Setter(Pdf):
    """Sets blocks into columns, page after page, with headers, footers and page numbers."""

    def __init__(
        self,
        title=None,
        columns=1,
        size=10,
        header=None,
        footer=None,
        numbers=True,
        margin=60,
        gutter=20,
        hyphenate=True,
    ):
        super().__init__(title)
        self.columns, self.size, self.margin, self.gutter = columns, size, margin, gutter
        self.header, self.footer, self.numbers, self.hyphenate = header, footer, numbers, hyphenate
        self.wide = (PAGE[0] - 2 * margin - (columns - 1) * gutter) / columns
        self.new_page()

    def new_page(self):
        self.add_page()
        number = len(self.pages)
        if self.header:
            self.text(self.margin, PAGE[1] - 40, self.header, 8)
        if self.footer:
            self.text(self.margin, 40, self.footer, 8)
        if self.numbers:
            self.text(PAGE[0] / 2, 40 if not self.footer else 28, str(number), 9)
        self.column, self.y, self.top = 0, PAGE[1] - 80, PAGE[1] - 80

    def left(self):
        return self.margin + self.column * (self.wide + self.gutter)

    def line(self, text, size, bold=False, shift=0.0, lead=1.2):
        if self.y - size < 70:
            self.column, self.y = self.column + 1, self.top
            if self.column == self.columns:
                self.new_page()
        self.y -= size * lead
        self.text(self.left() + shift, self.y, text, size, bold)

    def across(self, text, size=10, bold=False, centred=True):
        """Over all columns, at the top of the page; the columns begin below."""
        whole = PAGE[0] - 2 * self.margin
        for line in wrap(text, size, whole, self.hyphenate and not bold):
            self.y -= size * 1.2
            shift = (whole - width(line, size)) / 2 if centred else 0
            self.text(self.margin + shift, self.y, line, size, bold)
        self.y -= size * 0.6
        self.top = self.y

    def block(self, kind, text):
        size, s = self.size, self.size
        if kind in ("heading", "subheading"):
            size = s * (1.3 if kind == "heading" else 1.0)
            self.y -= 0.8 * s
            for line in wrap(text, size, self.wide, hyphenate=False):
                self.line(line, size, bold=True)
            self.y -= 0.4 * s
        elif kind == "row":
            step = self.wide / len(text)
            self.line(text[0], s)
            for i, cell in enumerate(text[1:], 1):
                self.text(self.left() + i * step, self.y, cell, s)
        elif kind in ("caption", "footnote"):
            self.y -= 0.5 * s
            for line in wrap(text, 0.85 * s, self.wide, self.hyphenate):
                self.line(line, 0.85 * s)
            self.y -= 0.8 * s
        else:
            mark, hang = ("\u2022 ", 1.0 * s) if kind == "item" else ("", 2.0 * s if kind == "quotation" else 0.0)
            for i, line in enumerate(wrap(text, s, self.wide - hang, self.hyphenate)):
                self.line(mark + line if i == 0 else line, s, shift=0 if mark and i == 0 else hang)
            self.y -= 0.6 * s


def pdf_article(blocks, title=None, authors=None, abstract=None, metadata=None, **options):
    """A title, authors and an abstract across the page, and the blocks in columns under them."""
    made = Setter(metadata, **options)
    if title:
        made.across(title, 1.8 * made.size, bold=True)
    if authors:
        made.across(authors, made.size)
    if abstract:
        made.across("Abstract", 1.1 * made.size, bold=True)
        made.across(abstract, made.size, centred=False)
    for kind, text in blocks:
        made.block(kind, text)
    return made.save()


def pdf_scan(pages=2):
    """Pages that are pictures."""
    made = Pdf()
    for _ in range(pages):
        made.add_page()
        made.image()
    return made.save()


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


def rtf(blocks=(), body="", title=None):
    """Rich text in code page 1252; `body` is RTF after the blocks."""

    def said(text):
        return "".join(c if " " <= c <= "~" and c not in "\\{}" else f"\\u{ord(c)}?" for c in text)

    parts = []
    for kind, text in blocks:
        if kind == "row":
            parts.append("\\trowd " + "".join(f"\\intbl {said(cell)}\\cell " for cell in text) + "\\row")
        else:
            style = {"heading": "\\s1\\b ", "subheading": "\\s1\\b ", "title": "\\s2\\b ", "quotation": "\\s3 "}.get(
                kind, ""
            )
            bullet = "{\\pntext\\bullet\\tab}\\ls1 " if kind == "item" else ""
            note = ("{\\footnote ", "}") if kind == "footnote" else ("", "")
            parts.append(f"\\pard {style}{bullet}{note[0]}{said(text)}{note[1]}\\par\\plain")
    head = "{\\rtf1\\ansi\\ansicpg1252{\\fonttbl{\\f0\\fswiss Helvetica;}}"
    head += "{\\stylesheet{\\s1 heading 1;}{\\s2 Title;}{\\s3 Quote;}}{\\header Confidential draft\\par}"
    head += f"{{\\info{{\\title {said(title)}}}}}" if title else ""
    return (head + "\n".join(parts) + body + "}").encode("ascii")


def eml(text, subject="Rain", sender="Ann Example <ann@example.org>", date="Mon, 3 May 2004 10:00:00 +0200", **headers):
    """An e-mail of plain text in UTF-8; further headers by name."""
    from email.message import EmailMessage

    made = EmailMessage()
    made["From"], made["To"], made["Subject"], made["Date"] = sender, "bob@example.org", subject, date
    made["Message-ID"] = "<1@example.org>"
    for name, value in headers.items():
        made[name.replace("_", "-")] = value
    made.set_content(text)
    return made.as_bytes()


def mbox(messages):
    """A mailbox of e-mails."""
    return b"".join(
        b"From ann@example.org Mon May  3 10:00:00 2004\n" + re.sub(rb"(?m)^From ", b">From ", one).rstrip() + b"\n\n"
        for one in messages
    )
