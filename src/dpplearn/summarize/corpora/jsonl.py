"""The project's own corpus format: JSON Lines, one cluster per line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

from dpplearn._checks import describe
from dpplearn._io.encoding import MAX_BYTES, MAX_LINE, Line, breaks_at_bytes, is_packed, read_lines, unpacked_name
from dpplearn._io.jsonlines import parse_object
from dpplearn.summarize.corpora.cluster import Cluster, Document
from dpplearn.summarize.corpora.pieces import Cut, sizes
from dpplearn.summarize.corpora.source import BadClusterError, Source

PIECE_BYTES = 2**24  # of lines after which a piece ends
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
    """Stretches of lines: by their places in the file, or as they come out of one that is packed or recoded."""
    path, encoding = source.path, source.encoding or "utf-8"
    total, in_place = max(path.stat().st_size, 1), breaks_at_bytes(encoding) and not is_packed(path)
    first, start = 1, 0
    with path.open("rb") as file:
        lines = read_lines(file, path, encoding)
        for number in sizes(source):
            some = take(lines, number)
            if not some:
                return
            stop = start + sum(len(data) for data, _ in some)
            if in_place:
                yield Cut(read_range, (start, stop, first), stop / total)
            else:
                at = total if file.closed else file.tell()  # pyarrow closes it at its end
                yield Cut(read_given, (first, some), min(at / total, 1.0))
            first, start = first + len(some), stop


def take(lines: Iterator[Line], number: int) -> list[tuple[bytes, str]]:
    """The bytes and encodings of the next lines, as many as one piece has."""
    some, size = list[tuple[bytes, str]](), 0
    while len(some) < number and size < PIECE_BYTES and (line := next(lines, None)) is not None:
        some.append((line.data, line.encoding))
        size += len(line.data)
    return some


def read_range(source: Source, given: tuple[int, int, int]) -> Iterator[tuple[Cluster, int | None]]:
    """The clusters of the lines between two places."""
    start, stop, first = given
    size = min(stop - start, PIECE_BYTES + MAX_LINE + 1)
    with source.path.open("rb") as file:
        file.seek(start)
        data = file.read(size)
    if len(data) < size:
        raise OSError(f"{source.path} became shorter while it was read. Put it back as it was, or begin anew.")
    yield from numbered_clusters(
        read_lines(BytesIO(data), source.path, source.encoding or "utf-8", first), first, source
    )


def read_given(source: Source, given: tuple[int, list[tuple[bytes, str]]]) -> Iterator[tuple[Cluster, int | None]]:
    """The clusters of lines that were unpacked."""
    first, lines = given
    named = (Line(f"{source.path}, line {number}", *line) for number, line in enumerate(lines, first))
    yield from numbered_clusters(named, first, source)


def numbered_clusters(lines: Iterable[Line], first: int, source: Source) -> Iterator[tuple[Cluster, int | None]]:
    """The cluster of each line, with its number."""
    for number, line in enumerate(lines, first):
        with source.tolerate():
            text = line.text().rstrip()
            if text:
                yield cluster_of(parse_object(text, line.where), line.where), number


def cluster_of(record: dict[str, Any], where: str) -> Cluster:
    """The cluster in a record, whose place messages name; an error knows its id."""
    try:
        return read_cluster(record, where)
    except ValueError as error:
        name = record.get("id")
        raise BadClusterError(str(error), str(name) if isinstance(name, str | int) else None) from None


def read_cluster(record: dict[str, Any], where: str) -> Cluster:
    """The cluster in a record, every field as it must be."""
    given = record.get("documents")
    if not isinstance(given, list) or not given:
        raise wrong(where, "documents", "a list with a document", record)
    documents = [read_item(item, i, where) for i, item in enumerate(given)]
    ids = [document.id for document in documents]
    if len({*ids}) < len(ids):
        i, name = next((i, name) for i, name in enumerate(ids) if name in ids[:i])
        raise ValueError(f'{where}, field "documents[{i}].id": {name!r} occurs twice. Ids must differ.')
    if not isinstance(record.get("references"), list | None):
        raise wrong(where, "references", "a list of texts", record)
    references, labels = record.get("references") or [], record.get("reference_ids") or []
    if not isinstance(labels, list | tuple) or not all(isinstance(label, str) for label in labels):
        raise wrong(where, "reference_ids", "a list of strings", record)
    for i, one in enumerate(references):
        if not isinstance(one, str) and not (isinstance(one, list) and all(isinstance(line, str) for line in one)):
            raise ValueError(f'{where}, field "references[{i}]": must be a text, found {describe(one)}.')
    if labels and len(labels) != len(references):
        counts = f"{len(references)} references, found {len(labels)}"
        raise ValueError(f'{where}, field "reference_ids": must name each of the {counts}.')
    languages = [read_text(record, name, where) for name in ("lang", "language")]
    return Cluster(
        documents,
        ["\n".join(one) if isinstance(one, list) else one for one in references],  # a list of sentences
        read_id(record, where),
        next((language for language in languages if language is not None), None),
        split=read_text(record, "split", where),
        reference_ids=labels,
    )


def read_item(item: Any, index: int, where: str) -> Document:
    """One of the documents of a cluster: a text, or an object with more about it."""
    field = f"documents[{index}]"
    if isinstance(item, str):
        item = {"text": item}
    if not isinstance(item, dict):
        raise ValueError(f'{where}, field "{field}": must be an object with "id" and "text", found {describe(item)}.')
    text = item.get("text")
    if not isinstance(text, str):
        raise wrong(where, f"{field}.text", "a string", item)
    if len(text) > MAX_BYTES:
        raise ValueError(
            f'{where}, field "{field}.text": must have at most {MAX_BYTES:,} characters, found {len(text):,}. '
            "Cut it into several documents."
        )
    name = str(index + 1) if item.get("id") is None else read_id(item, where, f"{field}.")
    title, date, role = (read_text(item, key, where, f"{field}.") for key in ("title", "date", "role"))
    return Document(name, text, title, date, role)


def read_id(record: dict[str, Any], where: str, path: str = "") -> str:
    value = record.get("id")
    if not isinstance(value, str | int) or isinstance(value, bool):
        raise wrong(where, f"{path}id", "a string or a number", record)
    return str(value)


def read_text(record: dict[str, Any], key: str, where: str, path: str = "") -> str | None:
    """A text that may be missing."""
    value = record.get(key)
    if not isinstance(value, str | None):
        raise wrong(where, path + key, "a string", record)
    return value


def wrong(where: str, field: str, wanted: str, record: dict[str, Any]) -> ValueError:
    """An error that says what a field must be, and what it is.

    Examples
    --------
    >>> for record in ({"id": 1.5}, {"id": None}, {}):
    ...     print(wrong("a.jsonl, line 1", "id", "a string", record))
    a.jsonl, line 1, field "id": must be a string, found 1.5 (float).
    a.jsonl, line 1, field "id": must be a string, but is null.
    a.jsonl, line 1, field "id": must be a string, but is missing.
    """
    value = record.get(key := field.rpartition(".")[2])
    found = f"found {describe(value)}" if value is not None else "but is null" if key in record else "but is missing"
    return ValueError(f'{where}, field "{field}": must be {wanted}, {found}.')
