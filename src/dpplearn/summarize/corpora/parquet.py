"""Parquet files of clusters: a row for each, with the fields of the JSON Lines format; a piece is a row group."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from dpplearn.summarize.corpora.jsonl import cluster_of
from dpplearn.summarize.corpora.pieces import CLUSTERS, Cut, Entry
from dpplearn.summarize.corpora.source import Source

FIELDS = ("id", "documents", "references", "reference_ids", "lang", "language", "split")
SUFFIX = ".parquet"


def looks_like_parquet(path: Path) -> bool:
    """Whether a file is called so."""
    return path.name.lower().endswith(SUFFIX) and not path.is_dir()


def open_parquet(path: Path) -> Any:
    """The file, which must have the fields of clusters."""
    try:
        parquet: Any = import_module("pyarrow.parquet")
    except ImportError:
        raise ImportError(f'{path} is a Parquet file: to read it, pip install "dpplearn[tables]".') from None
    try:
        file = parquet.ParquetFile(path)
    except import_module("pyarrow").ArrowInvalid as error:
        raise ValueError(f"{path} must be a whole Parquet file, but cannot be read: {error}") from None
    missing = [name for name in ("id", "documents") if name not in file.schema_arrow.names]
    if missing:
        found = ", ".join(file.schema_arrow.names)
        raise ValueError(f"{path} must have a column {missing[0]!r}, as a line of JSON Lines has it. Found {found}.")
    return file


def cut_parquet(source: Source) -> Iterator[Cut]:
    """A piece for each row group, or for several small ones that follow each other."""
    with open_parquet(source.path) as file:
        sizes = [file.metadata.row_group(g).num_rows for g in range(file.num_row_groups)]
    groups: list[int] = []
    first = rows = 0
    for g, size in enumerate(sizes):
        groups.append(g)
        rows += size
        if rows >= CLUSTERS or g + 1 == len(sizes):
            yield Cut(read_groups, (tuple(groups), first), (first + rows) / max(sum(sizes), 1))
            first, rows, groups = first + rows, 0, []


def read_groups(source: Source, given: tuple[tuple[int, ...], int]) -> Iterator[Entry]:
    """The clusters of some row groups, a few at a time; `first` rows stand before them."""
    groups, first = given
    with open_parquet(source.path) as file:
        columns = [name for name in FIELDS if name in file.schema_arrow.names]
        number = first
        for batch in file.iter_batches(CLUSTERS, row_groups=list(groups), columns=columns):
            for record in batch.to_pylist():
                number += 1
                with source.tolerate():
                    yield Entry(cluster_of(record, f"{source.path}, row {number}"), number)
