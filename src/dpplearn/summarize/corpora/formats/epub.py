"""Books (.epub): the pages of the spine, in its order, without what only leads to others."""

from __future__ import annotations

import posixpath
import re
from urllib.parse import unquote

from dpplearn._io.encoding import check_charset, to_text
from dpplearn.summarize.corpora.cluster import Document
from dpplearn.summarize.corpora.formats.packages import Package
from dpplearn.summarize.text.blocks import Part
from dpplearn.summarize.text.page import html_blocks
from dpplearn.summarize.text.words import word_set

_ENCODING = re.compile(rb"<\?xml[^<>]{0,100}encoding=[\"']([A-Za-z0-9_.:-]{1,40})")
# Pages without text of the book's own: how their types, or their files, are called
_LEADING = word_set(
    "toc nav ncx contents tableofcontents cover titlepage title halftitle halftitlepage copyright copyrightpage "
    "imprint imprimatur dedication colophon index loi lot landmarks credits alsoby"
)
_TYPED = re.compile(r"<(?:body|section|div|article)\b[^<>]{0,300}?epub:type\s?=\s?[\"']([a-z .-]{1,80})", re.IGNORECASE)
# What the page with a book's rights says; two of these tell it.
_RIGHTS = re.compile(
    r"©|copyright|(rights reserved)|(\bISBN\b)|(work of fiction)|(no part of this)|(first published)|"
    r"(published by)|(library of congress)|(alle rechte vorbehalten)|(tous droits réservés)|(dépôt légal)",
    re.IGNORECASE,
)
_LONGEST_MATTER = 500  # words of a page that is none of the book's text


def read_epub(package: Package, name: str) -> Document:
    """The text of a book: of its pages those that are its own, or all of them where none is."""
    container = package.xml("META-INF/container.xml")
    opf = next((item.get("full-path", "") for item in container.iter("rootfile")), "")
    spine, locked = read_spine(package, opf), package.optional("META-INF/encryption.xml")
    pages, own = list[Part](), list[Part]()
    named = [place for place in spine if not is_leading(posixpath.splitext(posixpath.basename(place))[0])]
    for number, place in enumerate(named or spine):
        if number < 50 and place.rpartition("/")[2].encode() in locked:
            raise ValueError(f"{package.place} is locked by its seller (DRM), and cannot be read. Give it unlocked.")
        if place in package.members:
            page, leading = read_page(package.read(place), package.place)
            pages += page
            own += [] if leading else page
    if not pages:
        raise ValueError(f"{package.place} holds no text: the pages of its spine are missing or empty. Get it again.")
    return Document.of_blocks(name, own or pages, package.title(opf))


def read_spine(package: Package, opf: str) -> list[str]:
    """Where the pages of a book are, in their order, without those that only lead to others."""
    folder, book, leading = posixpath.dirname(opf), package.xml(opf), set[str]()
    pages = dict[str, str]()
    for item in book.iter("item"):
        if "html" in item.get("media-type", "html"):
            pages[item.get("id", "")] = place = member_of(folder, item.get("href", ""))
            leading |= {place} if "nav" in item.get("properties", "").split() else set()
    for item in book.iter("reference"):
        if is_leading(item.get("type", "").lower().removeprefix("other.")):
            leading.add(member_of(folder, item.get("href", "")))
    order = dict.fromkeys(item.get("idref", "") for item in book.iter("itemref") if item.get("linear") != "no")
    return [pages[one] for one in order if one in pages and pages[one] not in leading]


def member_of(folder: str, href: str) -> str:
    """The member of the archive that a link leads to."""
    return posixpath.normpath(posixpath.join(folder, unquote(href).partition("#")[0]))


def is_leading(name: str) -> bool:
    """Whether a type or a file is called like a page without text: title-page, copyright, 02_titlepage."""
    return "".join(filter(str.isalpha, name.lower())) in _LEADING


def read_page(data: bytes, place: object) -> tuple[list[Part], bool]:
    """The blocks of a page, and whether it is none of the book's text, as its types or words say."""
    declared = _ENCODING.match(data[:200])
    encoding = None if declared is None else check_charset(declared[1].decode("ascii"), str(place))
    source = to_text(data, str(place), encoding, fallback="latin-1")
    parts = html_blocks(source)
    text = " ".join(text for _, text in parts)
    typed = " ".join(_TYPED.findall(source[:2_000])).lower().split()
    rights = len({match.lastindex for match in _RIGHTS.finditer(text)}) > 1
    return parts, (rights or any(map(is_leading, typed))) and len(text.split()) <= _LONGEST_MATTER
