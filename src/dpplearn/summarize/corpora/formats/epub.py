"""Books (.epub): the pages of the spine, in its order, without what only leads to others."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field
from urllib.parse import unquote

from dpplearn._io.encoding import check_charset, to_text
from dpplearn.summarize.corpora.cluster import Document
from dpplearn.summarize.corpora.formats.packages import Package
from dpplearn.summarize.corpora.formats.pages import page_blocks
from dpplearn.summarize.corpora.formats.xml import tags
from dpplearn.summarize.text.blocks import BlockText
from dpplearn.summarize.text.word_lists import word_set

_ENCODING = re.compile(rb"<\?xml[^<>]{0,100}encoding=[\"']([A-Za-z0-9_.:-]{1,40})")
_HEAD = re.compile(r"<head\b.{0,20000}?</head>", re.IGNORECASE | re.DOTALL)
_LEADING = word_set(
    "toc cover title-page titlepage copyright-page index loi lot landmarks"
)  # types of pages without text


@dataclass
class Book:
    """What a package file says."""

    title: str | None = None
    pages: dict[str, str] = field(default_factory=dict)  # ids, and where the pages are
    left_out: set[str] = field(default_factory=set)  # places of pages that only lead to others
    spine: list[str] = field(default_factory=list)


def read_epub(package: Package, name: str) -> Document:
    """The text of a book."""
    book = read_opf(package)
    locked = package.optional("META-INF/encryption.xml") or b""
    made = BlockText()
    for number, place in enumerate(book.spine):
        if place in book.left_out:
            continue
        if number < 50 and place.rpartition("/")[2].encode() in locked:
            raise ValueError(f"{package.place} is locked by its seller (DRM), and cannot be read. Give it unlocked.")
        if place in package:
            add_page(made, package.read(place), package.place)
    if not made.text:
        raise ValueError(f"{package.place} holds no text: the pages of its spine are missing or empty. Get it again.")
    return Document(name, made.text, book.title, blocks=made.blocks)


def read_opf(package: Package) -> Book:
    """Where the pages of a book are, and their order."""
    opened = tags(package.read("META-INF/container.xml"), package.place)
    opf = next((tag.attributes.get("full-path", "") for tag in opened if tag.name == "rootfile"), "")
    book, order, inside = Book(), [], False
    skipped: set[str] = set()
    for tag in tags(package.read(opf), package.place):
        about = tag.attributes
        place = posixpath.normpath(
            posixpath.join(posixpath.dirname(opf), unquote(about.get("href", "")).partition("#")[0])
        )
        if tag.event == "text":
            if inside and book.title is None and tag.name.strip():
                book.title = " ".join(tag.name.split())
        elif tag.name == "title":
            inside = tag.event == "open"
        elif tag.event != "open":
            continue
        elif tag.name == "item" and "html" in about.get("media-type", "html"):
            book.pages[about.get("id", "")] = place
            if "nav" in about.get("properties", "").split():
                book.left_out.add(place)
        elif tag.name == "itemref":
            order.append(about.get("idref", ""))
            if about.get("linear") == "no":
                skipped.add(about.get("idref", ""))
        elif tag.name == "reference" and about.get("type", "").lower() in _LEADING:
            book.left_out.add(place)
    book.spine = [book.pages[name] for name in dict.fromkeys(order) if name in book.pages and name not in skipped]
    return book


def add_page(made: BlockText, data: bytes, place: object) -> None:
    """Add the blocks of a page; what its head calls it is the same on all pages of most books, or a file's name."""
    declared = _ENCODING.match(data[:200])
    encoding = None if declared is None else check_charset(declared[1].decode("ascii"), str(place))
    source = to_text(data, str(place), encoding, fallback="latin-1")
    for kind, text in page_blocks(_HEAD.sub("", source, count=1)):
        made.add(kind, text)
