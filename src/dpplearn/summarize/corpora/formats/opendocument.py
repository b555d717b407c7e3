"""OpenDocument texts (.odt): headings, lists and tables are elements of their own there."""

from __future__ import annotations

from dataclasses import dataclass, field

from dpplearn.summarize.corpora.cluster import Document
from dpplearn.summarize.corpora.formats.office import Blocks, Tables, blocks, core_title
from dpplearn.summarize.corpora.formats.packages import Package
from dpplearn.summarize.corpora.formats.xml import Tag, tags
from dpplearn.summarize.text.blocks import BlockText
from dpplearn.summarize.text.words import word_set

# What was struck out, comments, what describes pictures, the numbers of notes, and lists of contents.
DROPPED = word_set(
    "tracked-changes annotation annotation-end note-citation title desc forms ruby-text hidden-text hidden-paragraph "
    "table-of-content illustration-index table-index user-index alphabetical-index settings scripts"
)
STYLES = {
    "title": "title",
    "subtitle": "heading",
    "caption": "caption",
    "illustration": "caption",
    "figure": "caption",
    "table": "caption",
    "drawing": "caption",
    "quotations": "quotation",
    "preformatted_20_text": "code",
    "signature": "byline",
    "bibliography_20_1": "reference",
    "header": "navigation",
    "footer": "navigation",
}


def read_odt(package: Package, name: str) -> Document:
    """The text of an OpenDocument file: headers and footers are in its styles, which are left alone."""
    manifest = package.optional("META-INF/manifest.xml") or b""
    if b"encryption-data" in manifest:
        raise ValueError(f"{package.place} is protected by a password. Save it without, then give it again.")
    made, title, notes = BlockText(), None, []
    for kind, text in blocks(tags(package.read("content.xml"), package.place), _Reader(), DROPPED):
        if kind == "title" and title is None:
            title = " ".join(text.split()) or None
        elif kind == "footnote":
            notes.append(text)
        else:
            made.add("heading" if kind == "title" else kind, text)
    for text in notes:
        made.add("footnote", text)
    return Document(name, made.text, title or core_title(package, "meta.xml"), blocks=made.blocks)


@dataclass
class _Reader:
    """Where the stream of tags is."""

    parents: dict[str, str] = field(default_factory=dict)  # of the document's own styles
    open: list[tuple[str, list[str]]] = field(default_factory=list)  # kinds and parts of paragraphs: notes stand inside
    tables: Tables = field(default_factory=Tables)
    lists: int = 0
    notes: int = 0

    def start(self, tag: Tag) -> None:
        name, about = tag.name, tag.attributes
        if name == "style":
            self.parents[about.get("name", "")] = about.get("parent-style-name", "")
        elif name in ("p", "h"):
            self.open.append((self.kind(name, about.get("style-name", "")), []))
        elif name in ("list", "note"):
            self.lists += name == "list"
            self.notes += name == "note"
        elif name == "table":
            self.tables.open()
        elif name in ("table-cell", "covered-table-cell"):
            self.tables.open_cell()
        elif name in ("s", "tab", "line-break"):
            self.add(" ")

    def kind(self, name: str, style: str) -> str:
        if self.notes:
            return "footnote"
        if name == "h":
            return "heading"
        known = STYLES.get(style.lower()) or STYLES.get(self.parents.get(style, "").lower())
        return known or ("item" if self.lists else "paragraph")

    def add(self, text: str) -> None:
        if self.open:
            self.open[-1][1].append(text)

    def end(self, name: str) -> Blocks:
        """What is complete with this tag."""
        if name in ("p", "h") and self.open:
            kind, parts = self.open.pop()
            text = "".join(parts)
            return [] if kind != "footnote" and self.tables.takes(text) else [(kind, text)]
        if name in ("list", "note"):
            self.lists -= name == "list"
            self.notes -= name == "note"
        elif name == "table-row":
            return self.tables.close_row()
        elif name == "table":
            self.tables.close()
        return []
