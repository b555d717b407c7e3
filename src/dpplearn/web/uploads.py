"""Files of a form, read from memory: a file's name is a label, and says nothing to the file system."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from email.message import Message

from starlette.datastructures import Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from dpplearn._io.encoding import check_charset
from dpplearn.summarize.corpora.cluster import Document
from dpplearn.summarize.corpora.documents import parse_document
from dpplearn.web.problems import Problem, invalid, limited
from dpplearn.web.settings import Settings

logging.getLogger("python_multipart").setLevel(logging.ERROR)  # its warnings quote bytes of the body
PARTS = 1_000
LABEL = 200  # characters of a file's name that are kept


@dataclass(frozen=True)
class File:
    """A file of a form."""

    name: str
    content_type: str
    data: bytes


class InMemory(MultiPartParser):
    """Starlette's parser, which would put parts above a megabyte into temporary files."""

    spool_max_size = 2**40


def read_form(content_type: str, body: bytes, settings: Settings) -> tuple[list[Document], str | None]:
    """The documents in the field `files`, and the name in the field `model`."""
    files: list[File] = []
    model: str | None = None
    for name, value in form_items(content_type, body, settings):
        if name == "files" and isinstance(value, File):
            files.append(value)
        elif name == "model" and isinstance(value, str) and model is None:
            model = value
        elif name in ("files", "model"):
            expected = "files, each with a file name" if name == "files" else "one name of a model"
            raise invalid([((name,), f"the field must hold {expected}.")])
        else:
            raise invalid([((name[:LABEL],), "no field has this name; there are files and model.")])
    if not files:
        raise invalid([(("files",), "the form must have at least one file in the field files.")])
    if len(files) > settings.max_documents:
        raise limited(
            "max_documents",
            settings.max_documents,
            f"{len(files)} files are more than the {settings.max_documents} documents that the limit max_documents "
            "allows. Send fewer.",
        )
    documents = [document for i, file in enumerate(files, 1) for document in read_upload(file, i)]
    if len(documents) > settings.max_documents:
        raise limited(
            "max_documents",
            settings.max_documents,
            f"The files hold {len(documents):,} documents, more than the {settings.max_documents} that the limit "
            "max_documents allows. Send fewer.",
        )
    return unique(documents), model


def form_items(content_type: str, body: bytes, settings: Settings) -> list[tuple[str, File | str]]:
    """The fields of a multipart form, in order."""
    try:
        return asyncio.run(parse_form(content_type, body, settings.max_body_bytes))  # it never waits: the body is here
    except (MultiPartException, KeyError, ValueError) as error:
        why = getattr(error, "message", "") or "It cannot be read."
        raise Problem("malformed", f"The body must be a multipart form. {why.rstrip('.')}.") from None


async def parse_form(content_type: str, body: bytes, limit: int) -> list[tuple[str, File | str]]:
    """Read the parts and close them."""

    async def once() -> AsyncGenerator[bytes, None]:
        yield body

    headers = Headers({"content-type": content_type})
    parser = InMemory(headers, once(), max_files=PARTS, max_fields=PARTS, max_part_size=limit)
    found: list[tuple[str, File | str]] = []
    for name, value in (await parser.parse()).multi_items():
        if isinstance(value, UploadFile):
            kind = value.headers.get("content-type", "")
            found.append((name, File(value.filename or "", kind, await value.read())))
            await value.close()
        else:
            found.append((name, value))
    return found


def read_upload(file: File, number: int) -> list[Document]:
    """The documents of one file: text, Markdown, HTML or newswire, as `Cluster.from_files` tells them apart."""
    name = label(file.name, number)
    try:
        charset = charset_of(file.content_type)
        encoding = None if charset is None else check_charset(charset, name)
        return parse_document(file.data, name, name, encoding)
    except ValueError as error:
        detail = why_unreadable(error, name)
        place = {"pointer": f"/files/{number - 1}", "detail": detail}
        raise Problem("unreadable", detail, errors=[place]) from None


def label(filename: str, number: int) -> str:
    """The last part of a file's name, without characters that do not print.

    >>> label("../../etc/pass\\x00wd.txt", 1), label("", 2)
    ('passwd.txt', 'file 2')
    """
    last = filename.replace("\\", "/").rsplit("/", 1)[-1]
    return "".join(c for c in last if c.isprintable())[:LABEL].strip() or f"file {number}"


def charset_of(content_type: str) -> str | None:
    """The charset that a part's Content-Type names.

    >>> charset_of('text/plain; charset="latin-1"'), charset_of("text/plain")
    ('latin-1', None)
    """
    message = Message()
    message["Content-Type"] = content_type
    charset = message.get_param("charset")
    return charset if isinstance(charset, str) else None


def why_unreadable(error: ValueError, name: str) -> str:
    """The reader's message, with advice for somebody who has no command line."""
    if isinstance(error.__cause__, UnicodeError):
        return f"{name} is not in UTF-8. Save it as UTF-8 text, then add it again."
    return str(error).partition(" For UTF-16")[0]


def unique(documents: list[Document]) -> list[Document]:
    """Documents whose ids differ: a second one of the same name gets a number."""
    seen: set[str] = set()
    kept = []
    for document in documents:
        name, count = document.id, 2
        while name in seen:
            name, count = f"{document.id} ({count})", count + 1
        seen.add(name)
        kept.append(Document(name, document.text, document.title, document.date, document.role))
    return kept
