"""Reads folders, files and lines within limits of size, and decodes bytes to text without guessing."""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from io import BufferedReader, BytesIO
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

MAX_BYTES = 32_000_000  # the largest document, after unpacking
MAX_LINE = 2 * MAX_BYTES  # the longest line, since a document may be a line of JSON
GZIP = b"\x1f\x8b"  # the first bytes of a gzip file
PEEKED = 2000  # so many bytes decide what kind a file is
MAX_BLANK = 100_000  # bytes of consecutive blank lines; a tiny gzip file can hold gigabytes of them
CUT = "Cut it into several documents."
# The first bytes of files that are not text, with the kind of the file and advice.
_KINDS = {
    b"%PDF": ("a PDF file", "Save it as text first."),
    b"PK\x03\x04": ("a zip archive (such as a Word file)", "Save it as text first."),
    b"\xd0\xcf\x11\xe0": ("an old Office file (such as .doc)", "Open it, and save it as .docx, .odt or text."),
    GZIP: ("a gzip file", "Unpack it, and give what is inside."),
    b"\x89PNG\r\n": ("a picture (PNG)", "Recognise its text first (OCR), and save that."),
    b"\xff\xd8\xff": ("a picture (JPEG)", "Recognise its text first (OCR), and save that."),
}
_LOCKED = "EncryptedPackage".encode("utf-16-le")  # occurs in Office files that are protected by a password
_CHARSETS = re.compile(
    r"ascii|utf-(?:8|16|32)(?:-sig|-le|-be)?|iso8859-\d+|cp\d+|koi8-[rtu]|gb\w+|hz|big5\w*|shift_jis\w*|euc_\w+|"
    r"iso2022_\w+|johab|mac-\w+|tis-620|kz1048|ptcp154"
)


@contextmanager
def unpacked(file: Any, name: Path | str) -> Iterator[Any]:
    """An open file for reading, which is unpacked if it is gzip; errors use `name`."""
    opened: Any = file if isinstance(file, BufferedReader) else BufferedReader(file)
    if opened.peek(2)[:2] == GZIP:
        opened = gzip.GzipFile(fileobj=opened)
    try:
        yield opened
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(
            f"{name} must be a whole gzip file, but cannot be unpacked: {error}. Fetch it again, or leave it out."
        ) from error


def unpacked_name(path: Path) -> str:
    """The name of a file in lower case, without .gz."""
    return path.name.lower().removesuffix(".gz")


def read_all(file: BinaryIO, name: Path | str, limit: int = MAX_BYTES, advice: str = CUT) -> bytes:
    """The content of an open file, unpacked; a file that is longer than the limit is an error."""
    with unpacked(file, name) as opened:
        return _bounded(opened.read(limit + 1), name, limit, advice)


def _bounded(data: bytes, name: Path | str, limit: int, advice: str) -> bytes:
    if len(data) > limit:
        raise ValueError(f"{name} must hold at most {limit / 1e6:g} MB, but is longer. {advice}")
    return data


def read_bytes(path: Path, limit: int = MAX_BYTES, advice: str = CUT) -> bytes:
    """As `read_all`, for the path of a file."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} must be a file, but is a folder.")
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist.")
    with path.open("rb") as file:
        return read_all(file, path, limit, advice)


def peek(path: Path) -> bytes:
    """The first bytes of a file, unpacked; no bytes if it cannot be read."""
    try:
        with path.open("rb") as file, unpacked(file, path) as opened:
            return opened.read(PEEKED)
    except (OSError, ValueError):
        return b""


def entries(folder: Path) -> list[Path]:
    """The files and folders in a folder, sorted by name, without hidden ones."""
    return sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))


def walk(folder: Path) -> Iterator[Path]:
    """Every file under a folder; hidden ones and links to folders are skipped."""
    for entry in entries(folder):
        if entry.is_dir():
            if not entry.is_symlink() and entry.name != "__MACOSX":
                yield from walk(entry)
        elif entry.is_file():
            yield entry


class Line(NamedTuple):
    """A line of a file, as bytes."""

    where: str  # the file and the number of the line, for messages
    data: bytes
    encoding: str

    def text(self) -> str:
        """Its characters, including the end of the line."""
        return decode(self.data, self.where, self.encoding).removeprefix("\ufeff")


def breaks_at_bytes(encoding: str) -> bool:
    """Whether a line feed is one byte, as in UTF-8 but not in UTF-16."""
    check_encoding(encoding)
    return "\n".encode(encoding).removeprefix(codecs.BOM_UTF8) == b"\n"


def read_lines(source: Path | BinaryIO, name: Path | str, encoding: str = "utf-8", first: int = 1) -> Iterator[Line]:
    """The unpacked lines of a path or an open file, numbered from `first`; a line that is too long is an error."""
    with ExitStack() as stack:
        file = stack.enter_context(source.open("rb")) if isinstance(source, Path) else source
        opened = stack.enter_context(unpacked(file, name))
        if not breaks_at_bytes(encoding):
            whole = _bounded(opened.read(MAX_LINE + 1), name, MAX_LINE, "Save it as UTF-8, which is read line by line.")
            opened, encoding = BytesIO(decode(whole, name, encoding).encode("utf-8", "surrogatepass")), "utf-8"
        blank = 0
        for number in count(first):
            where = f"{name}, line {number}"
            data = _bounded(opened.readline(MAX_LINE + 1), where, MAX_LINE, "Lines end at line feeds.")
            if not data:
                return
            blank = blank + len(data) if data.isspace() else 0
            if blank > MAX_BLANK:
                raise ValueError(f"{where}: {MAX_BLANK:,} bytes of blank lines come before it. Remove them.")
            yield Line(where, data, encoding)


def check_encoding(encoding: str) -> None:
    """Raise unless Python knows an encoding of this name."""
    try:
        "a".encode(encoding)
    except LookupError as error:
        raise ValueError(f"No encoding is called {encoding!r}. Use one such as utf-8, latin-1 or cp1252.") from error


def decode(data: bytes, file: Path | str, encoding: str) -> str:
    """Bytes as text, or an error that names the byte that cannot be read."""
    check_encoding(encoding)
    try:
        return data.decode(encoding)
    except UnicodeError as error:
        start, other = getattr(error, "start", 0), "utf-8" if codecs.lookup(encoding).name == "cp1252" else "cp1252"
        raise ValueError(
            f"{file} is not valid {encoding}: byte {start} (0x{data[start]:02x}) cannot be read. Save it as UTF-8. For "
            f"summarize and select you may instead give it by itself and name its encoding, such as {other}."
        ) from error


def check_charset(charset: str, path: Path | str) -> str:
    """Python's name of the encoding that a document declares, which must be one that people save texts in.

    Others, such as Punycode, take quadratic time.

    Examples
    --------
    >>> check_charset("Windows-1252", "a.html")
    'cp1252'
    """
    try:
        name = codecs.lookup(charset).name
    except (LookupError, ValueError):
        name = ""
    if not _CHARSETS.fullmatch(name):
        raise ValueError(f"{path} must be in a known encoding, but declares {charset!r:.60}. Save it as UTF-8.")
    return name


class BinaryError(ValueError):
    """Bytes that are not text, nor a known kind of file."""


def to_text(data: bytes, path: Path | str, encoding: str | None, fallback: str | None) -> str:
    """Decode the bytes of a text file.

    They are UTF-8 unless a byte order mark or `encoding` says otherwise. Without `encoding`, bytes that are not UTF-8
    are decoded as `fallback`; if that is None, they are an error.
    """
    for magic, (kind, advice) in _KINDS.items():
        if data.startswith(magic):
            if magic[:1] == b"\xd0" and _LOCKED in data:
                raise ValueError(f"{path} is protected by a password. Save it without, then give it again.")
            raise ValueError(f"{path} must be a text file, but is {kind}. {advice}")
    if encoding is None and data.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "utf-16"
    if encoding is None and b"\0" in data:
        raise BinaryError(
            f"{path} must be a text file, but is binary: byte {data.index(0)} is 0. "
            'Save it as UTF-8; in Python, pass encoding="utf-16-le" where it is UTF-16 without a byte order mark.'
        )
    try:
        text = decode(data, path, encoding or "utf-8")
    except ValueError:
        if encoding is not None or fallback is None:
            raise
        text = data.decode(fallback)
    if "\0" in text:
        raise ValueError(f"{path} must be a text file, but holds zero characters when read as {encoding}.")
    return text.removeprefix("\ufeff")
