"""Parquet files of clusters: a row for each, with the fields of the JSON Lines format."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from dpplearn._holders import check_fields
from dpplearn.summarize.corpora.cluster import Cluster
from dpplearn.summarize.corpora.jsonl import cluster_of
from dpplearn.summarize.corpora.source import Cut, Source, spans

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
    check_fields(file.schema_arrow, str(path))
    names = file.schema_arrow.names
    for name in ("id", "documents"):
        if name not in names:
            has = ", ".join(names)
            raise ValueError(f"{path} must have a column {name!r}, as a line of JSON Lines has it. Found {has}.")
    return file


def cut_parquet(source: Source, sizes: Iterator[int]) -> Iterator[Cut]:
    """Rows of a row group."""
    with open_parquet(source.path) as file:
        ends = [0, *accumulate(file.metadata.row_group(g).num_rows for g in range(file.num_row_groups))]
    for g, (first, last) in enumerate(pairwise(ends)):
        for a, b in spans(last - first, sizes):
            yield Cut(read_rows, (g, a, b, first + a), (first + b) / ends[-1])


def read_rows(source: Source, given: tuple[int, int, int, int]) -> Iterator[tuple[Cluster, int | None]]:
    """The clusters of rows a to b of a row group, before which there are so many in the file."""
    group, a, b, before = given
    table = read_group(source.path, source.path.stat().st_mtime_ns, group)
    records = table.slice(a, b - a).to_pylist()
    if b == table.num_rows:
        read_group.cache_clear()
    for number, record in enumerate(records, before + 1):
        with source.tolerate():
            yield cluster_of(record, f"{source.path}, row {number}"), number


@lru_cache(maxsize=1)
def read_group(path: Path, _: int, group: int) -> Any:
    """The columns of a row group, which is unpacked as a whole, kept for its next piece."""
    with open_parquet(path) as file:
        return file.read_row_group(group, columns=[name for name in FIELDS if name in file.schema_arrow.names])
