"""Books (.epub): the pages of the spine, in its order, without what only leads to others."""

from __future__ import annotations

import posixpath
import re
from urllib.parse import unquote

from dpplearn._io.encoding import check_charset, to_text
from dpplearn.summarize.corpora.cluster import Document
from dpplearn.summarize.corpora.formats.packages import Package, tags
from dpplearn.summarize.text.blocks import BlockText
from dpplearn.summarize.text.page import html_blocks
from dpplearn.summarize.text.words import word_set

_ENCODING = re.compile(rb"<\?xml[^<>]{0,100}encoding=[\"']([A-Za-z0-9_.:-]{1,40})")
_HEAD, _BODY = re.compile(r"<head\b", re.IGNORECASE), re.compile(r"</head\s{0,9}>", re.IGNORECASE)
# Types of pages without text of the book's own, and how their files are called
_LEADING = word_set(
    "toc cover title-page titlepage halftitlepage half-title copyright copyright-page other.copyright-page imprint "
    "imprimatur dedication colophon index loi lot landmarks other-credits"
)
_NAMED = word_set(
    "toc nav ncx cover titlepage title halftitle halftitlepage copyright copyrightpage imprint colophon dedication "
    "contents tableofcontents alsoby"
)
_TYPED = re.compile(r"<(?:body|section|div|article)\b[^<>]{0,300}?epub:type\s?=\s?[\"']([a-z .-]{1,80})", re.IGNORECASE)
_LANDMARK = re.compile(r"<a\b[^<>]{0,300}>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"(epub:type|href)\s?=\s?[\"']([^\"']{1,300})", re.IGNORECASE)
# What the page with a book's rights says; two of these tell it.
_RIGHTS = re.compile(
    r"©|copyright|(rights reserved)|(\bISBN\b)|(work of fiction)|(no part of this)|(first published)|"
    r"(published by)|(library of congress)|(alle rechte vorbehalten)|(tous droits réservés)|(dépôt légal)",
    re.IGNORECASE,
)
_LONGEST_MATTER = 500  # words of a page that is none of the book's text
_SHORT = 40  # words of a page before the first that is longer: a dedication, a motto


def read_epub(package: Package, name: str) -> Document:
    """The text of a book."""
    title, spine = read_opf(package)
    locked = package.optional("META-INF/encryption.xml") or b""
    pages: list[tuple[BlockText, bool]] = []
    for number, place in enumerate([place for place in spine if not is_named(place)] or spine):
        if number < 50 and place.rpartition("/")[2].encode() in locked:
            raise ValueError(f"{package.place} is locked by its seller (DRM), and cannot be read. Give it unlocked.")
        if place in package:
            pages.append(read_page(package.read(place), package.place))
    made = BlockText()
    for page in without_matter(pages):
        made.extend(page)
    if not made.text:
        raise ValueError(f"{package.place} holds no text: the pages of its spine are missing or empty. Get it again.")
    return Document(name, made.text, title, blocks=made.blocks)


def read_opf(package: Package) -> tuple[str | None, list[str]]:
    """The title of a book, and where its pages are, in their order, without those that only lead to others."""
    opened = tags(package.read("META-INF/container.xml"), package.place)
    opf = next((tag.attributes.get("full-path", "") for tag in opened if tag.name == "rootfile"), "")
    folder, title, inside = posixpath.dirname(opf), None, False
    pages, order, skipped, leading = dict[str, str](), list[str](), set[str](), set[str]()
    for event, name, about in tags(package.read(opf), package.place):
        place = place_of(folder, about.get("href", ""))
        if event == "text":
            title = " ".join(name.split()) or None if inside and title is None else title
        elif name == "title":
            inside = event == "open"
        elif event != "open":
            continue
        elif name == "item" and "html" in about.get("media-type", "html"):
            pages[about.get("id", "")] = place
            leading |= {place} if "nav" in about.get("properties", "").split() else set()
        elif name == "itemref":
            order.append(about.get("idref", ""))
            skipped |= {order[-1]} if about.get("linear") == "no" else set()
        elif name == "reference" and about.get("type", "").lower() in _LEADING:
            leading.add(place)
    for place in leading & set(pages.values()):
        leading |= landmarks(package.optional(place) or b"", posixpath.dirname(place))
    spine = (pages[one] for one in dict.fromkeys(order) if one in pages and one not in skipped)
    return title, [place for place in spine if place not in leading]


def place_of(folder: str, href: str) -> str:
    """The member of the archive that a link leads to."""
    return posixpath.normpath(posixpath.join(folder, unquote(href).partition("#")[0]))


def is_named(place: str) -> bool:
    """Whether a file is called like a page without text: copyright.xhtml, 02_titlepage.html."""
    stem = posixpath.splitext(posixpath.basename(place))[0].lower()
    return "".join(c for c in stem if c.isalpha()) in _NAMED


def landmarks(data: bytes, folder: str) -> set[str]:
    """The pages of which the list of contents says that they have no text."""
    found = set()
    for link in _LANDMARK.findall(data[:200_000].decode("utf-8", "replace")):
        about = {name.lower(): value for name, value in _ATTRIBUTE.findall(link)}
        leads = not _LEADING.isdisjoint(about.get("epub:type", "").lower().split())
        if leads and "#" not in about.get("href", ""):  # a page of its own, no place on one
            found.add(place_of(folder, about.get("href", "")))
    return found


def without_matter(pages: list[tuple[BlockText, bool]]) -> list[BlockText]:
    """The pages of the book itself: without rights, and what is short before the first page that is not."""
    own = [page for page, apart in pages if not apart and not is_rights(page.text)]
    first = next((i for i, page in enumerate(own) if len(page.text.split()) > _SHORT), 0)
    return own[first:] or [page for page, _ in pages]


def is_rights(text: str) -> bool:
    """Whether a page says whose a book is, and who printed it."""
    if len(text.split()) > _LONGEST_MATTER:
        return False
    return len({match.lastindex for match in _RIGHTS.finditer(text)}) > 1


def without_head(source: str) -> str:
    """A page without its first head, if that ends somewhere.

    Examples
    --------
    >>> without_head("<html><head><title>c01.xhtml</title></head><body>It rained.")
    '<html><body>It rained.'
    """
    start = _HEAD.search(source)
    end = start and _BODY.search(source, start.end())
    return source[: start.start()] + source[end.end() :] if start and end else source


def read_page(data: bytes, place: object) -> tuple[BlockText, bool]:
    """The blocks of a page, and whether it says that it has no text of the book.

    What its head calls it is the same on all pages of most books, or a file's name.
    """
    declared = _ENCODING.match(data[:200])
    encoding = None if declared is None else check_charset(declared[1].decode("ascii"), str(place))
    source = to_text(data, str(place), encoding, fallback="latin-1")
    source, made = without_head(source), BlockText()
    for kind, text in html_blocks(source):
        made.add(kind, text)
    typed = " ".join(_TYPED.findall(source[:2_000])).lower().split()
    return made, not _LEADING.isdisjoint(typed) and len(made.text.split()) <= _LONGEST_MATTER
