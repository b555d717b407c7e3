"""Files of a form, read from memory: a file's name is a label, and says nothing to the file system."""

from __future__ import annotations

import asyncio
import logging
import warnings
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace
from typing import NamedTuple

from python_multipart.multipart import parse_options_header
from starlette.datastructures import Headers
from starlette.formparsers import MultiPartException, MultiPartParser

from dpplearn._io.encoding import check_charset
from dpplearn.summarize.corpora.cluster import Document
from dpplearn.summarize.corpora.documents import parse_document
from dpplearn.summarize.corpora.formats.limits import LIMITS
from dpplearn.summarize.corpora.given import unlike
from dpplearn.summarize.corpora.source import SkippedWarning
from dpplearn.web.problems import Problem, invalid, limited
from dpplearn.web.schema import Skipped
from dpplearn.web.settings import Settings

logging.getLogger("python_multipart").setLevel(logging.ERROR)  # its warnings quote bytes of the body
PARTS = 1_000
LABEL = 200  # characters of a file's name that are kept


class File(NamedTuple):
    """A file of a form."""

    name: str
    content_type: str
    data: bytes


class Text(NamedTuple):
    """A field of a form that is no file: what it must hold, and whether it does."""

    expected: str
    fits: Callable[[str], bool]


TEXTS = {
    "model": Text("one name of a model", lambda _: True),
    "keep_all": Text("true or false, once", lambda value: value in ("true", "false")),
}


class InMemory(MultiPartParser):
    """Starlette's parser, which would put parts above a megabyte into temporary files."""

    spool_max_size = 2**40


class Form(NamedTuple):
    """What a form holds: documents, the name of a model, what to choose from, what to know of the files, and those that
    cannot be read."""

    documents: list[Document]
    model: str | None
    keep_all: bool = False
    notes: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()


def read_form(content_type: str, body: bytes, settings: Settings) -> Form:
    """The documents in the field `files`, and what the fields of `TEXTS` say; a problem where no file can be read."""
    files: list[File] = []
    said: dict[str, str] = {}
    for name, value in form_items(content_type, body, settings.max_upload_bytes):
        if name == "files" and isinstance(value, File):
            files.append(value)
        elif name in TEXTS and isinstance(value, str) and name not in said and TEXTS[name].fits(value):
            said[name] = value
        elif name == "files" or name in TEXTS:
            expected = "files, each with a file name" if name == "files" else TEXTS[name].expected
            raise invalid([((name,), f"the field must hold {expected}.")])
        else:
            raise invalid([((name,), f"no field has this name; there are files, {' and '.join(TEXTS)}.")])
    if not files:
        raise invalid([(("files",), "the form must have at least one file in the field files.")])
    documents: list[Document] = []
    skipped: list[Skipped] = []
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", SkippedWarning)
        for number, file in enumerate(files):
            try:
                documents += read_upload(file, number + 1, settings)
            except Problem as too_long:
                if len(files) == 1:
                    raise
                skipped.append(Skipped(file=number, name=label(file.name, number + 1), detail=too_long.detail))
            except ValueError as error:
                skipped.append(Skipped(file=number, name=label(file.name, number + 1), detail=str(error)))
    if not documents:
        places = [{"pointer": f"/files/{one.file}", "detail": one.detail} for one in skipped]
        raise Problem("unreadable", " ".join(one.detail for one in skipped[:10]), errors=places)
    notes = tuple(str(one.message) for one in warned if one.category is SkippedWarning)
    return Form(unlike(documents), said.get("model"), said.get("keep_all") == "true", notes, tuple(skipped))


def form_items(content_type: str, body: bytes, limit: int) -> list[tuple[str, File | str]]:
    """The fields of a multipart form, in order."""

    async def once() -> AsyncGenerator[bytes, None]:
        yield body

    headers = Headers({"content-type": content_type})
    try:
        parser = InMemory(headers, once(), max_files=PARTS, max_fields=PARTS, max_part_size=limit)
        items = asyncio.run(parser.parse()).multi_items()  # it never waits: the body is here
    except (MultiPartException, KeyError, ValueError) as error:
        why = getattr(error, "message", "") or "It cannot be read."
        raise Problem("malformed", f"The body must be a multipart form. {why.rstrip('.')}.") from None
    found: list[tuple[str, File | str]] = []
    for name, value in items:
        if isinstance(value, str):
            found.append((name, value))
        else:
            with value.file as data:
                found.append((name, File(value.filename or "", value.content_type or "", data.read())))
    return found


def read_upload(file: File, number: int, settings: Settings) -> list[Document]:
    """The documents of one file, of any kind that `Cluster.from_files` reads; an error or a problem says why not."""
    name = label(file.name, number)
    limits = replace(LIMITS, size=settings.max_upload_bytes, seconds=settings.max_file_seconds)
    try:
        charset = parse_options_header(file.content_type)[1].get(b"charset")
        encoding = None if charset is None else check_charset(charset.decode("latin-1"), name)
        found = parse_document(file.data, name, name, encoding, limits)
    except ValueError as error:
        detail = str(error).partition(" For UTF-16")[0]  # advice for somebody who has no command line
        if isinstance(error.__cause__, UnicodeError):
            detail = f"{name} is not in UTF-8. Save it as UTF-8 text, then add it again."
        raise ValueError(detail) from None
    most = settings.max_document_characters
    for one in found:
        if len(one.text) > most:
            what = f"{name} has {len(one.text):,} characters"
            raise limited("too-large", "max_document_characters", most, what, "Cut it, or send it in parts.")
    return found


def label(filename: str, number: int) -> str:
    """The last part of a file's name, without characters that do not print.

    >>> label("../../etc/pass\\x00wd.txt", 1), label("", 2)
    ('passwd.txt', 'file 2')
    """
    last = filename.replace("\\", "/").rsplit("/", 1)[-1]
    return "".join(c for c in last if c.isprintable())[:LABEL].strip() or f"file {number}"
