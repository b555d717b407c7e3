"""PDF files for tests, written from nothing.

>>> data = pdf_article([("heading", "Rain"), ("paragraph", "It rained all day.")], title="Weather", columns=2)

Contents are lists of (kind, text), as in `office_files`.
"""

import re

# Widths of Helvetica from the space on, in thousandths of the type size.
WIDTHS = [278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, *[556] * 10, 278, 278, 584]
WIDTHS += [584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778]
WIDTHS += [722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278]
WIDTHS += [556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500]
WIDTHS += [334, 260, 334, 584]
PAGE = 612, 792  # points


def width(text, size):
    return sum(WIDTHS[ord(c) - 32] if " " <= c <= "~" else 556 for c in text) * size / 1000


class Pdf:
    """Pages with text at places: y grows upwards from the foot of the page, as in PDF."""

    def __init__(self, title=None, page=PAGE):
        self.title, self.page, self.pages = title, page, []

    def add_page(self):
        self.pages.append([])

    def text(self, x, y, text, size=10, bold=False):
        shown = text.encode("cp1252").replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")
        place = f"BT /F{2 if bold else 1} {size:g} Tf 1 0 0 1 {x:.2f} {y:.2f} Tm (".encode()
        self.pages[-1].append(place + shown + b") Tj ET")

    def image(self):
        """A grey picture all over the page, as a scan has it."""
        self.pages[-1].append(f"q {self.page[0]} 0 0 {self.page[1]} 0 0 cm /Im Do Q".encode())

    def save(self):
        """The bytes of the file."""
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
        if title:
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


def wrap(text, size, wide, hyphenate=True):
    """Lines no wider than `wide`; words of seven letters and more are cut at line ends, as papers do."""
    lines, line = [], ""
    for word in text.split():
        while True:
            joined = f"{line} {word}".strip()
            if width(joined, size) <= wide:
                line = joined
                break
            cut = _cut(word, wide - width(f"{line} ", size), size) if hyphenate else 0
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

    margin = 60

    def __init__(self, title=None, columns=1, size=10, header=None, footer=None, numbers=True, gutter=20):
        super().__init__(title)
        self.gutter = gutter
        self.columns, self.size, self.header, self.footer, self.numbers = columns, size, header, footer, numbers
        self.wide = (PAGE[0] - 2 * self.margin - (columns - 1) * self.gutter) / columns
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

    def line(self, text, size, bold=False, shift=0.0):
        if self.y - size < 70:
            self.column, self.y = self.column + 1, self.top
            if self.column == self.columns:
                self.new_page()
        self.y -= size * 1.2
        self.text(self.left() + shift, self.y, text, size, bold)

    def across(self, text, size=10, bold=False, centred=True):
        """Over all columns, at the top of the page; the columns begin below."""
        whole = PAGE[0] - 2 * self.margin
        for line in wrap(text, size, whole, hyphenate=not bold):
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
            for line in wrap(text, 0.85 * s, self.wide):
                self.line(line, 0.85 * s)
            self.y -= 0.8 * s
        else:
            mark, hang = ("\u2022 ", 1.0 * s) if kind == "item" else ("", 2.0 * s if kind == "quotation" else 0.0)
            for i, line in enumerate(wrap(text, s, self.wide - hang)):
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
