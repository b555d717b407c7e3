"""Read files other than plain text in a separate process with limits, so that a damaged file is only one error."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name
from traceback import walk_tb
from typing import Any

from dpplearn._io.encoding import to_text
from dpplearn._run.processes import SandboxLostError, run_sandboxed
from dpplearn.summarize.corpora.cluster import Document

LIBRARIES = ("cobble", "email", "mammoth", "pypdfium2", "selectolax", "striprtf", "xml", "zipfile")  # that read files


@dataclass(frozen=True)
class Limits:
    """Limits for reading one file other than plain text."""

    size: int = 100_000_000  # bytes of the file
    unpacked: int = 100_000_000  # bytes of all that is unpacked from it
    ratio: float = 200.0  # of a part to its packed size, beyond a megabyte: text has 3 to 30, bombs 1,000
    members: int = 10_000  # files in an archive
    pages: int = 2_000  # of a PDF
    messages: int = 5_000  # of a mailbox
    seconds: float = 120.0  # of the process that reads it
    memory: int = 3_000_000_000  # bytes of address space of that process

    def check(self, place: object, name: str, count: float) -> None:
        """Refuse what passes the limit of this name."""
        most = getattr(self, name)
        if count > most:
            raise ValueError(f"{place} must have at most {most:,} {name}, but has {count:,}. Split it.")


LIMITS = Limits()


@dataclass(frozen=True)
class DocumentFile:
    """The bytes of a file, its name, its place for messages, and its encoding where that is known."""

    data: bytes
    name: str
    place: Path | str
    encoding: str | None = None
    limits: Limits = LIMITS
    remarks: list[str] = field(default_factory=list)  # what its reader has to say, such as what was left out

    def text(self, fallback: str | None = None) -> str:
        """Its characters, as `to_text` finds them."""
        return to_text(self.data, self.place, self.encoding, fallback)

    @property
    def opening(self) -> str:
        """How its text begins, without what cannot be decoded."""
        usual = "utf-16" if self.data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8"
        return self.data[:2000].decode(self.encoding or usual, "ignore").removeprefix("\ufeff")


@dataclass(frozen=True)
class Apart:
    """A `parse` of `FileKind`, named "module:function", that is called in another process."""

    function: str

    def __call__(self, file: DocumentFile) -> list[Document]:
        limits = file.limits
        try:
            answer = run_sandboxed(parse_here, self.function, file, seconds=limits.seconds, memory=limits.memory)
        except SandboxLostError:
            raise ValueError(
                f"{file.place} must be readable in {limits.seconds:g} s and {limits.memory / 1e9:.1f} GB of memory, "
                "but was not: it is damaged, or made to be slow. Save it anew, or as text."
            ) from None
        documents, remarks = json.loads(answer)
        file.remarks.extend(remarks)
        return [Document(**fields) for fields in documents]


def parse_here(function: str, file: DocumentFile) -> bytes:
    """In the other process: the documents of a file, and the remarks of its reader."""
    place = file.place
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what libraries find strange
            documents: list[Document] = resolve_name(function)(file)
    except MemoryError:
        raise ValueError(
            f"{place} takes more than {file.limits.memory / 1e9:.1f} GB of memory to read. Split it."
        ) from None
    except Exception as error:
        modules = (frame.f_globals.get("__name__", "").partition(".")[0] for frame, _ in walk_tb(error.__traceback__))
        if [name for name in modules if name in (*LIBRARIES, "dpplearn")][-1] == "dpplearn":
            raise  # what a reader of ours says of a file, or a fault of ours; else a library choked on a damaged file
        why = type(error).__name__
        raise ValueError(f"{place} cannot be read: it is damaged ({why}). Save it anew, or as text.") from None
    return json.dumps([[vars(document) for document in documents], file.remarks]).encode()


def import_reader(module: str, place: object, kind: str) -> Any:
    """A package that reads a kind of files, or what to do where it is not installed."""
    try:
        return import_module(module)
    except ImportError:
        raise ValueError(
            f"{place} is a {kind} file, for which the package {module.partition('.')[0]} is needed: "
            "pip install 'dpplearn[documents]'"
        ) from None
