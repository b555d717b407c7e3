"""Unpack files that are zip archives (Word, OpenDocument, EPUB) within limits, and see by their parts what they are.

Books (.epub) are read here: the pages of the spine, in its order, without those that only lead to others. XML may have
no entities, and nothing is fetched for it.
"""

from __future__ import annotations

import posixpath
import re
from io import BytesIO
from urllib.parse import unquote
from xml.etree.ElementTree import Element, iterparse
from zipfile import ZipFile

from dpplearn._io.encoding import check_charset, to_text
from dpplearn.summarize.corpora.cluster import Document
from dpplearn.summarize.corpora.formats.apart import DocumentFile
from dpplearn.summarize.text.blocks import Part
from dpplearn.summarize.text.page import html_blocks
from dpplearn.summarize.text.words import word_set

SMALL_PACKAGE = 1_000_000  # bytes below which the ratio of packing says nothing
DEEPEST_XML = 500  # elements in elements
_ENCODING = re.compile(rb"<\?xml[^<>]{0,100}encoding=[\"']([A-Za-z0-9_.:-]{1,40})")
# Types and file names of pages that have no text of the book itself
_LEADING = word_set(
    "toc nav ncx contents tableofcontents cover titlepage title halftitle halftitlepage copyright copyrightpage "
    "imprint imprimatur dedication colophon index loi lot landmarks credits alsoby"
)
_TYPED = re.compile(r"<(?:body|section|div|article)\b[^<>]{0,300}?epub:type\s?=\s?[\"']([a-z .-]{1,80})", re.IGNORECASE)
# What a page with a book's rights says: it has two of these at least.
_RIGHTS = re.compile(
    r"©|copyright|(rights reserved)|(\bISBN\b)|(work of fiction)|(no part of this)|(first published)|"
    r"(published by)|(library of congress)|(alle rechte vorbehalten)|(tous droits réservés)|(dépôt légal)",
    re.IGNORECASE,
)
_LONGEST_MATTER = 500  # words of a page before the book's own text


class Package:
    """The members of an archive, by name."""

    def __init__(self, file: DocumentFile) -> None:
        self.place, self.limits, self.left = file.place, file.limits, file.limits.unpacked
        self.archive = ZipFile(BytesIO(file.data))
        self.members = {member.filename: member for member in self.archive.infolist()}
        self.limits.check(self.place, "members", len(self.archive.infolist()))

    def read(self, name: str) -> bytes:
        """A member that must be there. Its size counts against the limits before it is unpacked."""
        info = self.members.get(name)
        if info is None:
            raise ValueError(f"{self.place} is damaged: its part {name!r:.100} is missing. Save it anew.")
        if info.flag_bits & 1:
            raise ValueError(f"{self.place} is protected by a password. Save it without, then give it again.")
        if info.file_size > max(SMALL_PACKAGE, self.limits.ratio * info.compress_size):
            raise ValueError(
                f"{self.place} unpacks to {info.file_size / max(info.compress_size, 1):,.0f} times its size, as bombs "
                f"do, and was not read. The limit is {self.limits.ratio:g} times."
            )
        with self.archive.open(info) as member:
            data = member.read(min(self.left, info.file_size) + 1)
        self.left -= len(data)
        if self.left < 0:
            most = f"{self.limits.unpacked / 1e6:g} MB"
            raise ValueError(f"{self.place} must unpack to at most {most}, but is longer, as bombs are. Split it.")
        return data

    def optional(self, name: str) -> bytes:
        """A member that may be there; else nothing."""
        return self.read(name) if name in self.members else b""

    def xml(self, name: str) -> Element:
        """The root of a member that must be there."""
        return parse_xml(self.read(name), self.place)

    def title(self, name: str) -> str | None:
        """The text of the first title element of a member that is not empty; None if there is none."""
        titles = self.xml(name).iter("title") if name in self.members else ()
        return next(filter(None, (" ".join("".join(title.itertext()).split()) for title in titles)), None)


def parse_package(file: DocumentFile) -> list[Document]:
    """The document in an archive, or an error that says what else it is."""
    from dpplearn.summarize.corpora.formats.office import read_docx, read_odt

    package = Package(file)
    kind = package.optional("mimetype")[:200].decode("latin-1").strip()
    if kind == "application/epub+zip" or "META-INF/container.xml" in package.members:
        return [read_epub(package, file.name)]
    if kind.endswith(("opendocument.text", "opendocument.text-template")):
        return [read_odt(package, file.name)]
    if any(member.startswith("word/") and member.endswith(".xml") for member in package.members):
        return [read_docx(package, file)]
    raise ValueError(
        f"{file.place} must be a Word, OpenDocument or EPUB file, but is another archive, such as a spreadsheet or "
        "slides. Save its text as .docx, .odt or PDF, or give what is inside."
    )


def parse_xml(data: bytes, place: object) -> Element:
    """The root of a document, names without their namespaces.

    Declared entities, of which bombs are made and which no file of ours needs, are refused.

    Examples
    --------
    >>> parse_xml(b'<w:p xmlns:w="x" w:style="y">It rained.</w:p>', "a.docx").items()
    [('style', 'y')]
    """
    if b"<!ENTITY" in data.replace(b"\0", b""):  # in UTF-16, too
        raise ValueError(f"{place} cannot be read: its XML declares entities, as bombs do. Save it anew.")
    root, depth = Element(""), 0
    for event, root in iterparse(BytesIO(data), ("start", "end")):
        depth += 1 if event == "start" else -1
        if depth > DEEPEST_XML:
            raise ValueError(f"{place} cannot be read: its XML is nested more than {DEEPEST_XML} deep. Save it anew.")
        if event == "start":
            root.tag = root.tag.rpartition("}")[2]
            root.attrib = {name.rpartition("}")[2]: value for name, value in root.items()}
    return root


def read_epub(package: Package, name: str) -> Document:
    """The text of a book: its pages without front matter, or all pages if there are no others."""
    container = package.xml("META-INF/container.xml")
    opf = next((item.get("full-path", "") for item in container.iter("rootfile")), "")
    spine, locked = read_spine(package, opf), package.optional("META-INF/encryption.xml")
    pages, story = list[Part](), list[Part]()
    for number, place in enumerate(spine):
        if number < 50 and place.rpartition("/")[2].encode() in locked:
            raise ValueError(f"{package.place} is locked by its seller (DRM), and cannot be read. Give it unlocked.")
        if place in package.members:
            page, leading = read_page(package.read(place), package.place)
            pages += page
            story += [] if leading else page
    if not pages:
        raise ValueError(f"{package.place} holds no text: the pages of its spine are missing or empty. Get it again.")
    return Document.of_blocks(name, story or pages, package.title(opf))


def read_spine(package: Package, opf: str) -> list[str]:
    """The places of a book's pages, in order, without pages that only lead to others, unless all do."""
    folder, book, leading = posixpath.dirname(opf), package.xml(opf), set[str]()

    def member_of(item: Element) -> str:
        return posixpath.normpath(posixpath.join(folder, unquote(item.get("href", "")).partition("#")[0]))

    pages = dict[str, str]()
    for item in book.iter("item"):
        if "html" in item.get("media-type", "html"):
            pages[item.get("id", "")] = place = member_of(item)
            leading |= {place} if "nav" in item.get("properties", "").split() else set()
    types = [(item, item.get("type", "").lower().removeprefix("other.")) for item in book.iter("reference")]
    leading |= {member_of(item) for item, kind in types if is_leading(kind)}
    order = dict.fromkeys(item.get("idref", "") for item in book.iter("itemref") if item.get("linear") != "no")
    places = [pages[name] for name in order if name in pages and pages[name] not in leading]
    return [place for place in places if not is_leading(posixpath.splitext(posixpath.basename(place))[0])] or places


def is_leading(name: str) -> bool:
    """Whether a type or a file is called like a page without text: title-page, copyright, 02_titlepage."""
    return "".join(filter(str.isalpha, name.lower())) in _LEADING


def read_page(data: bytes, place: object) -> tuple[list[Part], bool]:
    """The blocks of a page, and whether its types or words say that it is front matter."""
    declared = _ENCODING.match(data[:200])
    encoding = None if declared is None else check_charset(declared[1].decode("ascii"), str(place))
    source = to_text(data, str(place), encoding, fallback="latin-1")
    parts = html_blocks(source)
    text = " ".join(text for _, text in parts)
    typed = " ".join(_TYPED.findall(source[:2_000])).lower().split()
    rights = len({match.lastindex for match in _RIGHTS.finditer(text)}) > 1
    return parts, (rights or any(map(is_leading, typed))) and len(text.split()) <= _LONGEST_MATTER
