"""The project's own corpus format: JSON Lines, one cluster per line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from dpplearn._checks import describe
from dpplearn._io.encoding import MAX_BYTES, MAX_LINE, Line, breaks_at_bytes, is_packed, read_lines, unpacked_name
from dpplearn._io.jsonlines import parse_object
from dpplearn.summarize.corpora.cluster import Cluster, Document
from dpplearn.summarize.corpora.pieces import LARGEST, Cut, sizes
from dpplearn.summarize.corpora.source import BadClusterError, Source

BLOCK = 2**23  # bytes that are searched for ends of lines at a time
SUFFIXES = (".jsonl", ".ndjson")  # of files that are nothing else


def looks_like_jsonl(path: Path) -> bool:
    """Whether a file is called like JSON Lines, or begins with an object."""
    if path.is_dir() or path.suffix.lower() == ".parquet":
        return False
    if unpacked_name(path).endswith((*SUFFIXES, ".json")):
        return True
    first = next(read_lines(path, path), None)
    return first is not None and first.data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")


def cut_jsonl(source: Source) -> Iterator[Cut]:
    """Stretches of lines: by their places in the file, or as they come out of one that is packed."""
    path, encoding = source.path, source.encoding or "utf-8"
    size = max(path.stat().st_size, 1)
    if breaks_at_bytes(encoding) and not is_packed(path):
        for start, stop, first in line_ranges(source):
            yield Cut(read_range, (start, stop, first), stop / size)
        return
    with path.open("rb") as packed:
        lines = ((line.data, line.encoding) for line in read_lines(packed, path, encoding))
        first = 1
        for number in sizes(source):
            some = take(lines, number)
            if not some:
                return
            at = size if packed.closed else packed.tell()  # pyarrow closes it at its end
            yield Cut(read_given, (first, some), min(at / size, 1.0))
            first += len(some)


def take(lines: Iterator[tuple[bytes, str]], number: int) -> list[tuple[bytes, str]]:
    """The next lines, as many as one piece has."""
    some, size = [], 0
    for line in lines:
        some.append(line)
        size += len(line[0])
        if len(some) == number or size >= LARGEST:
            break
    return some


def line_ranges(source: Source) -> Iterator[tuple[int, int, int]]:
    """Where stretches of whole lines begin and end, and the number of the first line of each."""
    start, at, first, number, each = 0, 0, 1, 1, sizes(source)
    size = next(each)
    with source.path.open("rb") as file:
        while block := file.read(BLOCK):
            for end in (np.flatnonzero(np.frombuffer(block, np.uint8) == 10) + (at + 1)).tolist():
                number += 1
                if number - first == size or end - start >= LARGEST:
                    yield start, end, first
                    start, first, size = end, number, next(each)
            at += len(block)
    if at > start:
        yield start, at, first


def read_range(source: Source, given: tuple[int, int, int]) -> Iterator[tuple[Cluster, int | None]]:
    """The clusters of the lines between two places."""
    start, stop, first = given
    with source.path.open("rb") as file:
        file.seek(start)
        data = file.read(min(stop - start, LARGEST + MAX_LINE + 1))
    if len(data) < min(stop - start, LARGEST + MAX_LINE + 1):
        raise OSError(f"{source.path} became shorter while it was read. Put it back as it was, or begin anew.")
    yield from entries_of(read_lines(BytesIO(data), source.path, source.encoding or "utf-8", first), first, source)


def read_given(source: Source, given: tuple[int, list[tuple[bytes, str]]]) -> Iterator[tuple[Cluster, int | None]]:
    """The clusters of lines that were unpacked."""
    first, lines = given
    where = (f"{source.path}, line {first + k}" for k in range(len(lines)))
    yield from entries_of((Line(at, *line) for at, line in zip(where, lines, strict=True)), first, source)


def entries_of(lines: Iterable[Line], first: int, source: Source) -> Iterator[tuple[Cluster, int | None]]:
    """The cluster of each line, with its number."""
    for number, line in enumerate(lines, first):
        with source.tolerate():
            text = line.text().rstrip()
            if text:
                yield cluster_of(parse_object(text, line.where), line.where), number


def cluster_of(record: dict[str, Any], where: str) -> Cluster:
    """The cluster in a record, whose place messages name; an error knows its id."""
    try:
        return checked(record, where)
    except ValueError as error:
        name = record.get("id")
        raise BadClusterError(str(error), str(name) if isinstance(name, str | int) else None) from None


def checked(record: dict[str, Any], where: str) -> Cluster:
    """The cluster in a record, every field as it must be."""
    given = record.get("documents")
    if not isinstance(given, list) or not given:
        raise ValueError(f'{where}, field "documents": must be a list with a document, {found(record, "documents")}.')
    documents = [_document(item, i, f"documents[{i}]", where) for i, item in enumerate(given)]
    seen: set[str] = set()
    for i, document in enumerate(documents):
        if document.id in seen:
            raise ValueError(f'{where}, field "documents[{i}].id": {document.id!r} occurs twice. Ids must differ.')
        seen.add(document.id)
    references = record.get("references")
    if not isinstance(references, list | None):
        raise ValueError(f'{where}, field "references": must be a list of texts, found {describe(references)}.')
    language = _text(record, "lang", "lang", where, optional=True)
    labels = record.get("reference_ids") or ()
    if not isinstance(labels, list | tuple) or not all(isinstance(label, str) for label in labels):
        raise ValueError(f'{where}, field "reference_ids": must be a list of strings, found {describe(labels)}.')
    if labels and len(labels) != len(references or ()):
        counts = f"{len(references or ())} references, found {len(labels)}"
        raise ValueError(f'{where}, field "reference_ids": must name each of the {counts}.')
    return Cluster(
        documents,
        [_reference(item, f"references[{i}]", where) for i, item in enumerate(references or ())],
        _identifier(record, "id", where),
        language if language is not None else _text(record, "language", "language", where, optional=True),
        split=_text(record, "split", "split", where, optional=True),
        reference_ids=labels,
    )


def found(record: dict[str, Any], key: str) -> str:
    """What is there instead of what a field must be, as the end of a sentence.

    Examples
    --------
    >>> [found({"id": 1.5, "text": None}, key) for key in ("id", "text", "date")]
    ['found 1.5 (float)', 'but is null', 'but is missing']
    """
    if key not in record:
        return "but is missing"
    return "but is null" if record[key] is None else f"found {describe(record[key])}"


def _document(item: Any, index: int, field: str, where: str) -> Document:
    if isinstance(item, str):
        item = {"text": item}
    if not isinstance(item, dict):
        raise ValueError(f'{where}, field "{field}": must be an object with "id" and "text", found {describe(item)}.')
    text = _text(item, "text", f"{field}.text", where)
    if len(text or "") > MAX_BYTES:
        raise ValueError(
            f'{where}, field "{field}.text": must have at most {MAX_BYTES:,} characters, found {len(text or ""):,}. '
            "Cut it into several documents."
        )
    name = _identifier(item, f"{field}.id", where) if item.get("id") is not None else str(index + 1)
    options = {key: _text(item, key, f"{field}.{key}", where, optional=True) for key in ("title", "date", "role")}
    return Document(name, text or "", options["title"], options["date"], options["role"])


def _reference(item: Any, field: str, where: str) -> str:
    if isinstance(item, list) and all(isinstance(line, str) for line in item):
        return "\n".join(item)  # sentences
    if not isinstance(item, str):
        raise ValueError(f'{where}, field "{field}": must be a text, found {describe(item)}.')
    return item


def _identifier(record: dict[str, Any], field: str, where: str) -> str:
    value = record.get("id")
    if not isinstance(value, str | int) or isinstance(value, bool):
        raise ValueError(f'{where}, field "{field}": must be a string or a number, {found(record, "id")}.')
    return str(value)


def _text(record: dict[str, Any], key: str, field: str, where: str, optional: bool = False) -> str | None:
    value = record.get(key)
    if not isinstance(value, str) and not (optional and value is None):
        raise ValueError(f'{where}, field "{field}": must be a string, {found(record, key)}.')
    return value
