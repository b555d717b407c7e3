"""Files that are parsed in a process of their own, within limits: what breaks or stalls there is one line here."""

from __future__ import annotations

import json
import struct
import warnings
import zlib
from dataclasses import asdict, dataclass
from importlib import import_module
from traceback import walk_tb
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

from dpplearn._run.sandbox import SandboxLostError, run_sandboxed
from dpplearn.summarize.corpora.cluster import Document
from dpplearn.summarize.corpora.formats.limits import Limits
from dpplearn.summarize.corpora.source import heard, say_of_file
from dpplearn.summarize.text.blocks import Block

if TYPE_CHECKING:
    from dpplearn.summarize.corpora.documents import DocumentFile

DAMAGE = (EOFError, BadZipFile, struct.error, zlib.error)  # what is raised where a file is not what it says


@dataclass(frozen=True)
class Apart:
    """A `parse` of `FileKind` that is named, "module:function", and called in another process."""

    function: str

    def __call__(self, file: DocumentFile) -> list[Document]:
        place, limits = str(file.place), file.limits
        options: dict[str, Any] = {
            "function": self.function,
            "name": file.name,
            "place": place,
            "encoding": file.encoding,
        }
        options["limits"] = asdict(limits)
        try:
            found = json.loads(
                run_sandboxed(f"{__name__}:parse", file.data, options, seconds=limits.seconds, memory=limits.memory)
            )
        except SandboxLostError:
            raise ValueError(
                f"{place} must be readable in {limits.seconds:g} s and {limits.memory / 1e9:.1f} GB of memory, but was "
                "not: it is damaged, or made to be slow. Save it anew, or as text."
            ) from None
        for said in found["skipped"]:
            say_of_file(said)
        return [as_document(*one) for one in found["documents"]]


def as_document(name: str, text: str, title: str | None, date: str | None, blocks: list[Any] | None) -> Document:
    """A document from what the other process sends."""
    return Document(name, text, title, date, blocks=None if blocks is None else tuple(Block(*one) for one in blocks))


def parse(data: bytes, function: str, name: str, place: str, encoding: str | None, limits: dict[str, Any]) -> bytes:
    """In the other process: the documents of a file, as lists, and what was said of them."""
    from dpplearn.summarize.corpora.documents import DocumentFile

    module, _, attribute = function.partition(":")
    read = getattr(import_module(module), attribute)
    try:
        with heard() as said, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what libraries find strange
            documents: list[Document] = read(DocumentFile(data, name, place, encoding, Limits(**limits)))
    except (ValueError, OSError):
        raise
    except MemoryError:
        raise ValueError(
            f"{place} takes more than {limits['memory'] / 1e9:.1f} GB of memory to read. Split it."
        ) from None
    except Exception as error:  # whatever a file is, it is not the end of the others
        if not isinstance(error, DAMAGE) and is_ours(error, module):
            raise
        why = type(error).__name__
        raise ValueError(f"{place} cannot be read: it is damaged ({why}). Save it anew, or as text.") from None
    lists = [[one.id, one.text, one.title, one.date, one.blocks] for one in documents]
    return json.dumps({"documents": lists, "skipped": said}).encode()


def is_ours(error: BaseException, module: str) -> bool:
    """Whether an error was raised by a reader, or by code of this package: a fault of ours, not the file's."""
    frames = [frame for frame, _ in walk_tb(error.__traceback__)]
    return bool(frames) and str(frames[-1].f_globals.get("__name__", "")).startswith(("dpplearn", module))
