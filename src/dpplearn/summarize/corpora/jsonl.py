"""The project's own corpus format: JSON Lines, one cluster per line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dpplearn._checks import describe
from dpplearn._io.encoding import MAX_BYTES, read_lines
from dpplearn._io.jsonlines import parse_object
from dpplearn.summarize.corpora.cluster import Cluster, Document
from dpplearn.summarize.corpora.source import Source


def looks_like_jsonl(path: Path) -> bool:
    """Whether a file is called like JSON Lines, or begins with an object."""
    if path.is_dir():
        return False
    name = path.name.lower().removesuffix(".gz")
    if name.endswith((".jsonl", ".ndjson", ".json")):
        return True
    first = next(read_lines(path, path), None)
    return first is not None and first.data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")


def read_jsonl(source: Source) -> Iterator[Cluster]:
    """Yield the cluster of each line."""
    lines_of: dict[str, int] = {}
    for number, line in enumerate(read_lines(source.path, source.path, source.encoding or "utf-8"), 1):
        where = line.where
        with source.tolerate():
            text = line.text().rstrip()
            if not text:
                continue
            cluster = _cluster(parse_object(text, where), where)
            if str(cluster.id) in lines_of:
                raise ValueError(
                    f'{where}, field "id": {cluster.id!r} is already the id of line {lines_of[str(cluster.id)]}. '
                    "Ids of clusters must differ; rename one."
                )
            lines_of[str(cluster.id)] = number
            yield cluster


def _cluster(record: dict[str, Any], where: str) -> Cluster:
    given = record.get("documents")
    if not isinstance(given, list) or not given:
        raise ValueError(f'{where}, field "documents": must be a list with a document, found {describe(given)}.')
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
        raise ValueError(f'{where}, field "{field}": must be a string or a number, found {describe(value)}.')
    return str(value)


def _text(record: dict[str, Any], key: str, field: str, where: str, optional: bool = False) -> str | None:
    value = record.get(key)
    if not isinstance(value, str) and not (optional and value is None):
        raise ValueError(f'{where}, field "{field}": must be a string, found {describe(value)}.')
    return value
