"""Reads the texts and files that clients send. The name of a file is only a label, and never a path."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

from dpplearn.summarize.corpora.cluster import Document
from dpplearn.summarize.corpora.documents import parse_document, with_unique_ids
from dpplearn.summarize.corpora.formats.apart import LIMITS
from dpplearn.summarize.corpora.source import SkippedWarning
from dpplearn.web.engine import Engine, FeaturizedCluster, check_characters
from dpplearn.web.problems import Problem
from dpplearn.web.schema import NewCluster, SkippedFile


def read_texts(sent: NewCluster, engine: Engine) -> FeaturizedCluster:
    """Read the documents of a request; those without an id are numbered."""
    documents = [
        Document(str(i) if x.id is None else x.id, x.text, x.title or None, x.date or None)
        for i, x in enumerate(sent.documents, 1)
    ]
    return engine.featurize(with_unique_ids(documents), sent.model, keep_all=sent.keep_all)


def read_uploads(
    files: Sequence[tuple[str, bytes]], model: str | None, keep_all: bool, engine: Engine
) -> FeaturizedCluster:
    """Read documents from files, each a name and bytes. A file that cannot be read does not block the others."""
    documents, skipped, settings = list[Document](), list[SkippedFile](), engine.settings
    limits = replace(LIMITS, size=settings.max_upload_bytes, seconds=settings.max_file_seconds)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", SkippedWarning)
        for number, (filename, data) in enumerate(files):
            name = label(filename, number + 1)
            try:
                parsed = parse_document(data, name, name, None, limits)
                for document in parsed:
                    check_characters(document, name, settings)
                documents += parsed
            except (Problem, ValueError) as error:
                detail = error.detail if isinstance(error, Problem) else str(error)
                if isinstance(error.__cause__, UnicodeError):  # advice for people without a command line
                    detail = f"{name} is not in UTF-8. Save it as UTF-8 text, then add it again."
                skipped.append(SkippedFile(file=number, name=name, detail=detail))
    if not documents:
        places = [{"pointer": f"/files/{x.file}", "detail": x.detail} for x in skipped]
        raise Problem("unreadable", " ".join(x.detail for x in skipped[:10]), errors=places)
    notes = tuple(str(x.message) for x in warned if x.category is SkippedWarning)
    read = engine.featurize(with_unique_ids(documents), model, keep_all=keep_all)
    return read._replace(notes=notes + read.notes, skipped=tuple(skipped))


def label(filename: str, number: int) -> str:
    """The last part of a file's name, with only printable characters.

    >>> label("../../etc/pass\\x00wd.txt", 1), label("", 2)
    ('passwd.txt', 'file 2')
    """
    last = filename.replace("\\", "/").rsplit("/", 1)[-1]
    return "".join(c for c in last if c.isprintable())[:200].strip() or f"file {number}"
