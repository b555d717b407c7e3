"""Files of a form, read from memory: a file's name is a label, and says nothing to the file system."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import NamedTuple

from python_multipart.multipart import parse_options_header
from starlette.datastructures import Headers
from starlette.formparsers import MultiPartException, MultiPartParser

from dpplearn._io.encoding import check_charset
from dpplearn.summarize.corpora.cluster import Document
from dpplearn.summarize.corpora.documents import parse_document
from dpplearn.web.problems import Problem, invalid

logging.getLogger("python_multipart").setLevel(logging.ERROR)  # its warnings quote bytes of the body
PARTS = 1_000
LABEL = 200  # characters of a file's name that are kept


class File(NamedTuple):
    """A file of a form."""

    name: str
    content_type: str
    data: bytes


class InMemory(MultiPartParser):
    """Starlette's parser, which would put parts above a megabyte into temporary files."""

    spool_max_size = 2**40


def read_form(content_type: str, body: bytes, limit: int) -> tuple[list[Document], str | None]:
    """The documents in the field `files`, and the name in the field `model`."""
    files: list[File] = []
    model: str | None = None
    for name, value in form_items(content_type, body, limit):
        if name == "files" and isinstance(value, File):
            files.append(value)
        elif name == "model" and isinstance(value, str) and model is None:
            model = value
        elif name in ("files", "model"):
            expected = "files, each with a file name" if name == "files" else "one name of a model"
            raise invalid([((name,), f"the field must hold {expected}.")])
        else:
            raise invalid([((name,), "no field has this name; there are files and model.")])
    if not files:
        raise invalid([(("files",), "the form must have at least one file in the field files.")])
    return unique([document for i, file in enumerate(files, 1) for document in read_upload(file, i)]), model


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


def read_upload(file: File, number: int) -> list[Document]:
    """The documents of one file: text, Markdown, HTML or newswire, as `Cluster.from_files` tells them apart."""
    name = label(file.name, number)
    try:
        charset = parse_options_header(file.content_type)[1].get(b"charset")
        encoding = None if charset is None else check_charset(charset.decode("latin-1"), name)
        return parse_document(file.data, name, name, encoding)
    except ValueError as error:
        detail = str(error).partition(" For UTF-16")[0]  # advice for somebody who has no command line
        if isinstance(error.__cause__, UnicodeError):
            detail = f"{name} is not in UTF-8. Save it as UTF-8 text, then add it again."
        place = {"pointer": f"/files/{number - 1}", "detail": detail}
        raise Problem("unreadable", detail, errors=[place]) from None


def label(filename: str, number: int) -> str:
    """The last part of a file's name, without characters that do not print.

    >>> label("../../etc/pass\\x00wd.txt", 1), label("", 2)
    ('passwd.txt', 'file 2')
    """
    last = filename.replace("\\", "/").rsplit("/", 1)[-1]
    return "".join(c for c in last if c.isprintable())[:LABEL].strip() or f"file {number}"


def unique(documents: list[Document]) -> list[Document]:
    """Documents whose ids differ: a second one of the same name gets a number."""
    seen: dict[str, int] = {}  # each name, and the number of the latest that was called after it
    kept = []
    for document in documents:
        name, count = document.id, seen.get(document.id, 1)
        while name in seen:
            count += 1
            name = f"{document.id} ({count})"
        seen |= {document.id: count, name: 1}
        kept.append(replace(document, id=name))
    return kept
