"""Files that are zip archives inside (Word, OpenDocument, EPUB): unpacked within limits, told apart by their parts.

XML has no entities here, and nothing is fetched for it. What the standard library finds damaged is told by `apart`.
"""

from __future__ import annotations

from io import BytesIO
from xml.etree.ElementTree import Element, iterparse
from zipfile import ZipFile

from dpplearn.summarize.corpora.cluster import Document
from dpplearn.summarize.corpora.formats.apart import DocumentFile, Limits

SMALL_PACKAGE = 1_000_000  # bytes below which the ratio of packing says nothing


class Package:
    """The members of an archive, by name."""

    def __init__(self, data: bytes, place: object, limits: Limits) -> None:
        self.place, self.limits, self.left = place, limits, limits.unpacked
        self.archive = ZipFile(BytesIO(data))
        self.members = {one.filename: one for one in self.archive.infolist()}
        limits.check(place, "members", len(self.archive.infolist()))

    def read(self, name: str) -> bytes:
        """A member that must be there; what it unpacks to counts against the limits before it is unpacked."""
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
        """What a member, if it is there, has in its first element that is called a title and is not empty."""
        titles = self.xml(name).iter("title") if name in self.members else ()
        return next(filter(None, (" ".join("".join(one.itertext()).split()) for one in titles)), None)


def parse_package(file: DocumentFile) -> list[Document]:
    """The document in an archive, or what else it is."""
    from dpplearn.summarize.corpora.formats.epub import read_epub
    from dpplearn.summarize.corpora.formats.office import read_docx, read_odt

    package = Package(file.data, file.place, file.limits)
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


DEEPEST_XML = 500  # elements in elements


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
            break
        if event == "start":
            root.tag = local(root.tag)
            if root.attrib:
                root.attrib = {local(name): value for name, value in root.items()}
    if depth:
        raise ValueError(f"{place} cannot be read: its XML is nested more than {DEEPEST_XML} deep. Save it anew.")
    return root


def local(name: str) -> str:
    """A name without its namespace."""
    return name.rpartition("}")[2]
