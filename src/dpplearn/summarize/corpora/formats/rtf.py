r"""Rich text (.rtf): groups, control words and code pages, read in one pass.

A `\'e9` is a byte in the code page of the document or of its font; a `\u233` is a UTF-16 unit, after which as many
characters as `\uc` says are passed over: they are for older readers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from dpplearn.summarize.corpora.cluster import Document
from dpplearn.summarize.corpora.formats.office import row_blocks
from dpplearn.summarize.corpora.formats.word import kind_of_style
from dpplearn.summarize.text.blocks import BlockText
from dpplearn.summarize.text.word_lists import word_set

if TYPE_CHECKING:
    from dpplearn.summarize.corpora.documents import DocumentFile

_TOKEN = re.compile(
    rb"\\([A-Za-z]{1,32})(-?[0-9]{1,10})? ?|\\'([0-9A-Fa-f]{2})|\\([^A-Za-z'])|([{}])|[\r\n]+|([^\\{}\r\n]+)|\\"
)
DEEPEST = 1_000
# Destinations whose text is none of the document's; those marked \* that nobody knows are left out too.
ASIDE = word_set(
    "fonttbl colortbl info pict object header headerl headerr headerf footer footerl footerr footerf ftnsep ftnsepc "
    "xmlnstbl listtable listoverridetable rsidtbl generator themedata colorschememapping latentstyles datastore "
    "mmathPr filetbl revtbl annotation atnid atnauthor atrfstart atrfend bkmkstart bkmkend fldinst nonshppict "
    "pntext pnseclvl listtext result private tc xe sp shprslt"
)
WORDS = {
    **dict.fromkeys(("par", "sect", "page", "column"), "\n"),
    **dict.fromkeys(("line", "tab", "enspace", "emspace"), " "),
    "emdash": "—",
    "endash": "–",
    "lquote": "‘",
    "rquote": "’",
    "ldblquote": "“",
    "rdblquote": "”",
    "bullet": "•",
}
CHARSETS = {0: 1252, 77: 10000, 128: 932, 129: 949, 130: 1361, 134: 936, 136: 950, 161: 1253, 162: 1254, 163: 1258}
CHARSETS |= {177: 1255, 178: 1256, 186: 1257, 204: 1251, 222: 874, 238: 1250, 255: 437}
ENCODINGS = {10000: "mac-roman", 65001: "utf-8", 1361: "johab"}


@dataclass
class Group:
    """What holds until a closing brace."""

    place: str = "body"  # body, footnote, style, title, font or aside
    encoding: str = "cp1252"
    skip: int = 1  # characters after \u that are for older readers
    hidden: bool = False


@dataclass
class _Reader:
    """Where the stream of tokens is."""

    data: bytes
    groups: list[Group] = field(default_factory=lambda: [Group()])
    made: BlockText = field(default_factory=BlockText)
    texts: dict[str, list[str]] = field(default_factory=dict)  # by place, what is not complete yet
    fonts: dict[int, str] = field(default_factory=dict)
    styles: dict[int, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)
    waiting: bytearray = field(default_factory=bytearray)  # bytes of a code page that has more than one for a character
    kind: str | None = None  # of the paragraph at hand
    table: bool = False
    passed: int = 0  # characters still to be passed over
    starred: bool = False
    font: int = 0
    style: int = 0
    usual: str = "cp1252"
    high: int = 0  # the first half of a surrogate pair
    title: str | None = None

    def read(self, place: object) -> None:
        at, size = 0, len(self.data)
        while at < size:
            token = _TOKEN.match(self.data, at)
            if token is None:
                raise ValueError(f"{place} cannot be read: byte {at} is no rich text. Save it anew.")
            at = token.end()
            word, number, byte, symbol, brace, text = token.groups()
            if brace is not None:
                self.flush()
                if brace == b"{":
                    if len(self.groups) > DEEPEST:
                        raise ValueError(f"{place} cannot be read: its groups are nested more than {DEEPEST} deep.")
                    self.groups.append(replace(self.groups[-1]))
                    self.starred = False
                elif len(self.groups) > 1:
                    self.close(self.groups.pop())
                self.passed = 0
            elif word is not None:
                self.flush()
                count = None if number is None else int(number)
                if word == b"bin" and count:
                    at += max(count, 0)
                else:
                    self.word(word.decode("ascii"), count)
            elif byte is not None:
                self.raw(bytes.fromhex(byte.decode("ascii")))
            elif symbol is not None:
                self.symbol(symbol)
            elif text is not None:
                self.raw(text)
        self.flush()
        self.paragraph()

    def raw(self, data: bytes) -> None:
        kept = data[self.passed :]
        self.passed = max(self.passed - len(data), 0)
        self.waiting += kept

    def flush(self) -> None:
        if self.waiting:
            text = bytes(self.waiting).decode(self.groups[-1].encoding, "replace")
            self.waiting.clear()
            self.add(text)

    def add(self, text: str) -> None:
        group = self.groups[-1]
        if group.place != "aside" and not group.hidden:
            self.texts.setdefault(group.place, []).append(text)

    def symbol(self, symbol: bytes) -> None:
        self.flush()
        if symbol == b"*":
            self.starred = True
        elif self.passed:
            self.passed -= 1
        elif symbol in (b"\r", b"\n"):
            self.paragraph()
        else:
            self.add({b"~": "\u00a0", b"_": "-", b"-": "", b":": "", b"|": ""}.get(symbol, symbol.decode("latin-1")))

    def word(self, word: str, number: int | None) -> None:
        group = self.groups[-1]
        starred, self.starred = self.starred, False
        if word in ASIDE:
            group.place = "aside" if word != "fonttbl" else "font"
            if word in ("pntext", "listtext"):
                self.kind = self.kind or "item"
        elif word == "stylesheet":
            group.place = "style"
        elif word == "title":
            group.place = "title"
        elif word == "footnote":
            group.place = "footnote"
        elif starred and word not in ("shppict", "shpinst", "shptxt", "cs", "ds"):
            group.place = "aside"
        elif word == "u" and number is not None:
            self.unicode(number & 0xFFFF)
            self.passed = group.skip
        elif word == "uc":
            group.skip = min(max(number or 0, 0), 16)
        elif word in ("ansicpg", "mac", "pc", "pca"):
            page = {"mac": 10000, "pc": 437, "pca": 850}.get(word, number or 1252)
            group.encoding = self.usual = encoding_of(page)
        elif word == "f":
            self.font = number or 0
            if group.place != "font":
                group.encoding = self.fonts.get(self.font, self.usual)
        elif word in ("fcharset", "cpg") and group.place == "font":
            known = CHARSETS.get(number or 0) if word == "fcharset" else number
            if known and number:  # charset 0 is the document's own
                self.fonts[self.font] = encoding_of(known)
        elif word == "plain":
            group.encoding, group.hidden = self.usual, False
        elif word in ("v", "deleted"):
            group.hidden = number != 0
        elif group.place == "body":
            self.layout(word, number)
        elif word in WORDS:
            self.add(WORDS[word].replace("\n", " "))
        elif word == "s" and group.place == "style":
            self.style = number or 0

    def layout(self, word: str, number: int | None) -> None:
        """Control words that say what a paragraph of the body is, or end one."""
        if word == "pard":
            self.kind, self.table = None, False
        elif word == "s":
            self.kind = self.styles.get(number or 0, self.kind)
        elif word == "outlinelevel" and (number or 0) < 9:
            self.kind = self.kind or "heading"
        elif word in ("ls", "pnlvlblt", "pnlvlbody"):
            self.kind = self.kind or "item"
        elif word == "intbl":
            self.table = True
        elif word in ("cell", "nestcell"):
            self.cells.append("".join(self.texts.pop("body", [])))
        elif word in ("row", "nestrow"):
            for kind, text in row_blocks([[cell] for cell in self.cells]):
                self.made.add(kind, text)
            self.cells = []
        elif WORDS.get(word) == "\n":
            if self.table:
                self.add(" ")
            else:
                self.paragraph()
        elif word in WORDS:
            self.add(WORDS[word])

    def unicode(self, code: int) -> None:
        if 0xD800 <= code < 0xDC00:
            self.high = code
        elif 0xDC00 <= code < 0xE000:
            if self.high:
                self.add(chr(0x10000 + ((self.high - 0xD800) << 10) + code - 0xDC00))
            self.high = 0
        else:
            self.add(chr(code))

    def paragraph(self) -> None:
        text = "".join(self.texts.pop("body", []))
        if self.kind == "title" and self.title is None and text.strip():
            self.title = " ".join(text.split())
        else:
            self.made.add("heading" if self.kind == "title" else self.kind or "paragraph", text)

    def close(self, group: Group) -> None:
        """A group has ended: of a style, a note or the title."""
        if group.place == self.groups[-1].place and group.place != "style":
            return
        text = " ".join("".join(self.texts.pop(group.place, [])).split()) if group.place != "body" else ""
        if group.place == "style":
            kind = kind_of_style(text.rstrip(";"))
            if kind is not None:
                self.styles[self.style] = kind
            self.style = 0
        elif group.place == "footnote":
            self.notes.append(text)
        elif group.place == "title" and text:
            self.title = text


def encoding_of(page: int) -> str:
    """A code page that Python knows, or the usual one."""
    name = ENCODINGS.get(page, f"cp{page}")
    try:
        b"a".decode(name)
    except LookupError:
        return "cp1252"
    return name


def parse_rtf(file: DocumentFile) -> list[Document]:
    """The text of a rich text file; headers, footers and pictures are left out, notes stand at its end."""
    if not file.data.rstrip(b"\0 \r\n").endswith(b"}"):
        raise ValueError(f"{file.place} is cut off: its last brace is missing. Get it again.")
    reader = _Reader(file.data)
    reader.read(file.place)
    for note in reader.notes:
        reader.made.add("footnote", note)
    return [Document(file.name, reader.made.text, reader.title, blocks=reader.made.blocks)]
