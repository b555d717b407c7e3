"""Files of items as parts that workers read where they lie: row groups of Parquet, rows of one .npy array."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from dpplearn._holders import read_groups
from dpplearn.cli.items import Items
from dpplearn.cli.parquet import ParquetItems
from dpplearn.decoding.rounds import Part, read_array

BYTES = 2**28  # of embeddings in a part, about
FEWEST, SMALLEST = 8, 20_000  # parts, unless they would have fewer rows than this


def rows_in_part(n: int, width: int) -> int:
    """How many rows of so many bytes a part has."""
    return max(1, min(BYTES // max(1, width), max(SMALLEST, -(-n // FEWEST))))


def parts_of(path: Path, items: Items, embedding: str) -> tuple[list[Part], int]:
    """The parts of a file, and how many numbers a row has."""
    state = path.stat()
    file = f"{path.resolve()}-{state.st_size}-{state.st_mtime_ns}"
    if isinstance(items, ParquetItems):
        names = items.wide(embedding) or [embedding]
        if not items.has(names[0]):
            raise ValueError(f"{items.name} has no field {embedding!r}. Fields found: {', '.join(items.fields)}.")
        head = read_groups(str(path), names, [0])
        step = rows_in_part(len(items.records), head.shape[1] * head.itemsize)
        sizes = [items.origin.metadata.row_group(g).num_rows for g in range(items.origin.num_row_groups)]
        parts, start, groups = [], 0, []
        ends = np.cumsum(sizes).tolist()
        for g, end in enumerate(ends):
            groups.append(g)
            if end - start >= step or g == len(ends) - 1:
                parts.append(Part(start, end, read_groups, (str(path), names, groups), f"{file}-{names}-{groups}"))
                start, groups = end, []
        return parts, head.shape[1]
    whole: Any = items.origin.get(embedding) if isinstance(items.origin, dict) else None
    if not isinstance(whole, np.memmap):
        raise ValueError(
            f"--backend dask reads .parquet and .npy files, where rows are found without the others: not {path}."
        )
    n, d = whole.shape
    step = rows_in_part(n, d * whole.itemsize)
    bounds = [(a, min(a + step, n)) for a in range(0, n, step)]
    return [Part(a, b, read_array, (str(path), a, b), f"{file}-{a}-{b}") for a, b in bounds], d
