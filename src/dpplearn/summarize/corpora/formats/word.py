"""Word files (.docx): what their styles and numbering say each paragraph is, as stands in the final version."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field
from typing import NamedTuple

from dpplearn.summarize.corpora.cluster import Document
from dpplearn.summarize.corpora.formats.office import Blocks, Tables, blocks, core_title
from dpplearn.summarize.corpora.formats.packages import Package
from dpplearn.summarize.corpora.formats.xml import Tag, tags
from dpplearn.summarize.text.blocks import BlockText
from dpplearn.summarize.text.characters import STOPS
from dpplearn.summarize.text.lines import HEADING_WORDS
from dpplearn.summarize.text.word_lists import word_set

USUAL = "word/document.xml"
# What is struck out, moved away, a second form of what stands beside it, an annotation, or how it was set before.
DROPPED = word_set("del moveFrom Fallback instrText delText rt pPrChange rPrChange")
# Names of built-in styles, in English whatever language Word speaks, and what they are here.
STYLES = (
    ("title", "title"),
    ("heading", "heading"),
    ("subtitle", "heading"),
    ("toc", "navigation"),
    ("table of figures", "navigation"),
    ("index", "navigation"),
    ("caption", "caption"),
    ("quote", "quotation"),
    ("intense quote", "quotation"),
    ("block text", "quotation"),
    ("list", "item"),
    ("bibliography", "reference"),
    ("html preformatted", "code"),
    ("macro", "code"),
    ("footnote", "footnote"),
    ("endnote", "footnote"),
    ("signature", "byline"),
    ("header", "navigation"),
    ("footer", "navigation"),
)
_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z0-9])|(?<=[A-Z])(?=[0-9])")


class Styled(NamedTuple):
    """A style: what its paragraphs are, and which one it is made from."""

    kind: str | None
    parent: str | None


@dataclass
class Paragraph:
    """A paragraph that is being read."""

    kind: str | None = None
    parts: list[str] = field(default_factory=list)
    plain: bool = False  # whether a run of it is not bold


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


def read_docx(package: Package, name: str, part: str = USUAL) -> Document:
    """The text of a Word file: headers, footers and comments are other parts, which are left alone."""
    beside = posixpath.dirname(part)
    styles = read_styles(package, f"{beside}/styles.xml")
    made, title = BlockText(), None
    for kind, text in blocks(tags(package.read(part), package.place), _Reader(styles), DROPPED):
        if kind == "title" and title is None:
            title = " ".join(text.split()) or None
        else:
            made.add("heading" if kind == "title" else kind, text)
    for notes in ("footnotes", "endnotes"):
        data = package.optional(f"{beside}/{notes}.xml")
        if data is not None:
            for _, text in blocks(tags(data, package.place), _Reader({}), DROPPED):
                made.add("footnote", text)
    return Document(name, made.text, title or core_title(package, "docProps/core.xml"), blocks=made.blocks)


def read_styles(package: Package, part: str) -> dict[str, str | None]:
    """What the paragraphs of each style are, by its id; one that is not here is told by its id, such as Heading1."""
    found: dict[str, Styled] = {}
    here = ""
    for tag in tags(package.optional(part) or b"<x/>", package.place):
        if tag.event != "open":
            continue
        value = tag.attributes.get("val", "")
        if tag.name == "style":
            here = tag.attributes.get("styleId", "")
            found[here] = Styled(None, None)
        elif tag.name == "name":
            found[here] = found.get(here, Styled(None, None))._replace(kind=kind_of_style(value))
        elif tag.name == "basedOn":
            found[here] = found.get(here, Styled(None, None))._replace(parent=value)
        elif tag.name == "outlineLvl" and value.isdigit() and int(value) < 9 and here in found:
            found[here] = found[here]._replace(kind=found[here].kind or "heading")
    kinds: dict[str, str | None] = dict.fromkeys(found)
    for name in found:
        at: str | None = name
        for _ in range(20):  # a style made from itself has no end
            style = found.get(at or "")
            if style is None:
                break
            if style.kind is not None:
                kinds[name] = style.kind
                break
            at = style.parent
    return kinds


def kind_of_style(name: str) -> str | None:
    """What the paragraphs of a style are, by its name; "list paragraph" is used for much that is no list."""
    low = name.lower()
    if low in ("list paragraph", "list continue"):
        return None
    return next((kind for start, kind in STYLES if re.match(rf"{start}\b", low)), None)


@dataclass
class _Reader:
    """Where the stream of tags is."""

    styles: dict[str, str | None]
    open: list[Paragraph] = field(default_factory=list)  # a text box stands inside a paragraph
    tables: Tables = field(default_factory=Tables)
    text: bool = False  # whether what comes is text
    hidden: bool = False  # whether the run at hand is
    bold: bool = False

    def start(self, tag: Tag) -> None:
        name, value = tag.name, tag.attributes.get("val", "")
        here = self.open[-1] if self.open else None
        on = value not in ("0", "false", "none", "off")
        if name == "p":
            self.open.append(Paragraph())
        elif name == "tbl":
            self.tables.open()
        elif name == "tc":
            self.tables.open_cell()
        elif name == "r":
            self.hidden = self.bold = False
        elif name == "t":
            self.text = True
        elif name in ("vanish", "b"):
            setattr(self, "hidden" if name == "vanish" else "bold", on)
        elif here is not None:
            if name == "pStyle":
                here.kind = self.styles[value] if value in self.styles else kind_of_style(_WORDS.sub(" ", value))
            elif name == "numPr" and here.kind is None:
                here.kind = "item"
            elif name == "numId" and value == "0" and here.kind == "item":  # numbering switched off
                here.kind = None
            elif name == "outlineLvl" and value.isdigit() and int(value) < 9:
                here.kind = here.kind or "heading"
            elif name == "oMathPara":
                here.kind = "formula"
            elif name in ("tab", "br", "cr", "noBreakHyphen"):
                here.parts.append("-" if name == "noBreakHyphen" else " ")

    def add(self, text: str) -> None:
        if self.text and not self.hidden and self.open:
            self.open[-1].parts.append(text)
            self.open[-1].plain |= not self.bold and not text.isspace()

    def end(self, name: str) -> Blocks:
        """What is complete with this tag."""
        if name == "t":
            self.text = False
        elif name == "p" and self.open:
            return self.close(self.open.pop())
        elif name == "tr":
            return self.tables.close_row()
        elif name == "tbl":
            self.tables.close()
        return []

    def close(self, paragraph: Paragraph) -> Blocks:
        text, kind = "".join(paragraph.parts).strip(), paragraph.kind
        if not text or self.tables.takes(text):
            return []
        if kind is None:  # lines in bold are what many have for headings
            short = len(text.split()) <= HEADING_WORDS and text[-1] not in STOPS + ",;:"
            kind = "heading" if short and not paragraph.plain else "paragraph"
        return [(kind, text)]
