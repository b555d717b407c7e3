"""Word files (.docx): mammoth makes HTML of their final version, by what their styles and numbering say."""

from __future__ import annotations

import re
from io import BytesIO

from dpplearn.summarize.corpora.cluster import Document
from dpplearn.summarize.corpora.formats.limits import import_reader
from dpplearn.summarize.corpora.formats.office import core_title
from dpplearn.summarize.corpora.formats.packages import Package
from dpplearn.summarize.corpora.formats.xml import tags
from dpplearn.summarize.text.characters import STOPS
from dpplearn.summarize.text.lines import HEADING_WORDS
from dpplearn.summarize.text.page import page_blocks, read_html

USUAL = "word/document.xml"
# Built-in styles, by how their names begin (in English, whatever language Word speaks) and by their ids.
STYLES = {
    "p[style-name^='Title']": "h1.title",
    "p.Title": "h1.title",
    "p[style-name^='Subtitle']": "h2",
    "p[style-name^='heading']": "h2",
    **{f"p.Heading{level}": "h2" for level in range(1, 10)},
    "p[style-name^='toc']": "p.toc",
    **{f"p.TOC{level}": "p.toc" for level in range(1, 10)},
    "p[style-name^='table of figures']": "p.toc",
    "p[style-name^='index']": "p.toc",
    "p[style-name^='header']": "p.navigation",
    "p[style-name^='footer']": "p.navigation",
    "p.Header": "p.navigation",
    "p.Footer": "p.navigation",
    "p[style-name^='caption']": "p.caption",
    "p.Caption": "p.caption",
    "p[style-name^='Quote']": "blockquote",
    "p[style-name^='Intense Quote']": "blockquote",
    "p[style-name^='Block Text']": "blockquote",
    "p[style-name^='Bibliography']": "p.references",
    "p[style-name^='HTML Preformatted']": "pre",
    "p[style-name^='macro']": "pre",
    "p[style-name^='Signature']": "p.byline",
    "p[style-name^='List Bullet']": "ul > li:fresh",
    "p[style-name^='List Number']": "ol > li:fresh",
}
STYLE_MAP = "\n".join(f"{style} => {element}{'' if '>' in element else ':fresh'}" for style, element in STYLES.items())
_BOLD = re.compile(r"<p><strong>((?:(?!</?(?:p|strong)\b).)*)</strong></p>", re.DOTALL)
_CELL = re.compile(r"(<t[dh][^>]*>)<p>((?:(?!</?p\b).)*)</p>(</t[dh]>)", re.DOTALL)
_NOTE = re.compile(r'<li id="(?:foot|end)note-[^"]*">')
_BACK = re.compile(r'<a href="#(?:foot|end)note-ref[^"]*">↑</a>')


def main_part(package: Package) -> str | None:
    """The member with the text, or None where this is no Word file."""
    if USUAL in package:
        return USUAL
    for tag in tags(package.optional("_rels/.rels") or b"<x/>", package.place):
        if tag.attributes.get("Type", "").endswith("/officeDocument"):
            name = tag.attributes.get("Target", "").lstrip("/")
            if name.endswith(".xml") and name.startswith("word"):
                return name if name in package else None
    return None


def read_docx(package: Package, data: bytes, name: str) -> Document:
    """The text of a Word file: headers, footers and comments are left alone."""
    mammoth = import_reader("mammoth", package.place, "Word")
    for member in package.members:  # within the limits of a file, and with no entities, before mammoth reads them
        if member.endswith((".xml", ".rels")):
            for _ in tags(package.read(member), package.place):
                pass
    ignore = {"ignore_empty_paragraphs": True, "convert_image": mammoth.images.img_element(lambda _: {})}
    source = mammoth.convert_to_html(BytesIO(data), style_map=STYLE_MAP, **ignore).value
    source = _CELL.sub(r"\1\2\3", _BACK.sub("", _BOLD.sub(as_heading, source)))
    text, *notes = _NOTE.split(source)
    made, title = read_html(text, fragment=True)
    for note in notes:
        for _, words in page_blocks(note):
            made.add("footnote", words)
    return Document(name, made.text, title or core_title(package, "docProps/core.xml"), blocks=made.blocks)


def as_heading(found: re.Match[str]) -> str:
    """A short line in bold without a stop is what many have for a heading."""
    words = re.sub("<[^>]*>", "", found[1]).strip()
    short = bool(words) and len(words.split()) <= HEADING_WORDS and words[-1] not in STOPS + ",;:"
    return f"<h2>{found[1]}</h2>" if short else found[0]
