"""The project's own corpus format: JSON Lines, one cluster per line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dpplearn._checks import describe
from dpplearn._io.encoding import GZIP, Line, breaks_at_bytes, read_lines, unpacked_name
from dpplearn._io.jsonfile import parse_object
from dpplearn.summarize.corpora.cluster import Cluster, Document
from dpplearn.summarize.corpora.formats.hyphens import unwrapped
from dpplearn.summarize.corpora.source import BadClusterError, Item, Source


def looks_like_jsonl(path: Path) -> bool:
    """Whether a file is called like JSON Lines, or begins with an object."""
    if path.is_dir():
        return False
    if unpacked_name(path).endswith((".jsonl", ".ndjson", ".json")):
        return True
    first = next(read_lines(path, path), None)
    return first is not None and first.data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")


def jsonl_items(source: Source) -> Iterator[Item]:
    """The number of each line, with its first byte and its length, so that a worker reads the line from the file.

    Lines of a packed file, or of one in UTF-16, cannot be found by their bytes. They are items themselves.
    """
    total, encoding = max(source.path.stat().st_size, 1), source.encoding or "utf-8"
    with source.path.open("rb") as file:
        has_places = file.seekable() and file.peek(2)[:2] != GZIP and breaks_at_bytes(encoding)
        for number, line in enumerate(read_lines(file, source.path, encoding), 1):
            size, end = len(line.data), file.tell()
            yield Item((number, (end - size, size) if has_places else line), size, min(end / total, 1.0))


def read_line(source: Source, numbered: tuple[int, Line | tuple[int, int]]) -> Iterator[tuple[Cluster, int]]:
    """The cluster of a line, with its number."""
    number, line = numbered
    with source.tolerate():
        if not isinstance(line, Line):
            start, size = line
            with source.path.open("rb") as file:
                file.seek(start)
                line = Line(f"{source.path}, line {number}", file.read(size), source.encoding or "utf-8")
        if text := line.text().rstrip():
            yield cluster_of(parse_object(text, line.where), line.where), number


def cluster_of(record: dict[str, Any], where: str) -> Cluster:
    """The cluster in a record, whose place messages name; an error knows its id."""
    try:
        documents = field_of(record, "documents", list, "a list with a document")
        references = field_of(record, "references", list | None, "a list of texts") or []
        lang, language, split = (optional_text(record, key) for key in ("lang", "language", "split"))
        labels = field_of(record, "reference_ids", list | None, "a list of strings", str) or ()
        documents = [document_of(item, i) for i, item in enumerate(documents)]
        texts = [reference_of(item, i) for i, item in enumerate(references)]
        return Cluster(documents, texts, identifier(record), language if lang is None else lang, split, labels)
    except ValueError as error:
        name = record.get("id")
        raise BadClusterError(f"{where}, {error}", str(name) if isinstance(name, str | int) else None) from None


def document_of(item: Any, index: int) -> Document:
    """One of the documents of a cluster: a text, or an object with more about it."""
    path = f"documents[{index}]"
    if isinstance(item, str):
        return Document(str(index + 1), unwrapped(item))
    if not isinstance(item, dict):
        raise ValueError(f'field "{path}": must be an object with "id" and "text", found {describe(item)}.')
    text = unwrapped(field_of(item, "text", str, "a string", path=f"{path}."))
    name = str(index + 1) if item.get("id") is None else identifier(item, f"{path}.")
    title, date, role = (optional_text(item, key, f"{path}.") for key in ("title", "date", "role"))
    return Document(name, text, title, date, role)


def reference_of(item: Any, index: int) -> str:
    """A reference: a text, or a list of its sentences."""
    lines = [item] if isinstance(item, str) else item
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        raise ValueError(f'field "references[{index}]": must be a text, found {describe(item)}.')
    return "\n".join(lines)


def identifier(record: dict[str, Any], path: str = "") -> str:
    return str(field_of(record, "id", str | int, "a string or a number", path=path))


def optional_text(record: dict[str, Any], key: str, path: str = "") -> str | None:
    return field_of(record, key, str | None, "a string", path=path)


def field_of(record: dict[str, Any], key: str, kind: Any, must: str, inside: type = object, path: str = "") -> Any:
    """A field of some type, true and false aside; its error says what is there instead."""
    value = record.get(key)
    fits = isinstance(value, kind) and not isinstance(value, bool) and not (kind is list and not value)
    if fits and all(isinstance(item, inside) for item in (value if isinstance(value, list) else ())):
        return value
    there = "but is missing" if key not in record else "but is null" if value is None else f"found {describe(value)}"
    raise ValueError(f'field "{path}{key}": must be {must}, {there}.')
