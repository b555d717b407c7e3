"""The nearest of the items chosen so far: by products with all of them, or, of many, by an index of faiss.

An index (the extra `index`) finds nearly all of them, 99.9 % where measured (docs/selection.md): one that it misses
leaves an item's gain a little too large. It is asked for items that are more than MANY choices behind; what was chosen
since it last grew is always compared by products. One thread adds to it, so the answer is the same in every run.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np

from dpplearn._checks import FloatArray, IntArray

MANY = 4096  # chosen items that products compare faster than an index
GROWS = 1024  # items that are added to it at once
LINKS, LOOKS = 16, 64  # of the graph: neighbours of a place, and places looked at for an answer
NO_PLACES = np.empty((0, 0), np.int64)


def check_index(index: Any) -> bool:
    """Whether an index is used: as asked, or where faiss is installed."""
    if index not in (None, True, False):
        raise ValueError(f"index must be True, False or None (if faiss is installed), found {index!r}.")
    there = find_spec("faiss") is not None
    if index and not there:
        raise ImportError('index=True needs the package faiss-cpu: pip install "dpplearn[index]".')
    return there if index is None else bool(index)


def needs_index(earlier: Any, k: int) -> bool:
    """Whether so many items are to be compared with that an index is worth it."""
    return (0 if earlier is None else len(earlier)) + k > MANY + GROWS


class Neighbours:
    """Unit rows in the order they were chosen, and for some others the nearest of them."""

    def __init__(self, room: int, d: int, dtype: Any, nearest: int, index: bool) -> None:
        self.rows = np.empty((room, d), dtype)
        self.count, self.indexed, self.nearest = 0, 0, nearest
        self.index: Any = None
        if index and needs_index(None, room):
            import faiss

            self.faiss = faiss
            self.index = faiss.IndexHNSWFlat(d, LINKS, faiss.METRIC_INNER_PRODUCT)
            self.index.hnsw.efConstruction = self.index.hnsw.efSearch = max(LOOKS, 2 * nearest)

    def add(self, rows: FloatArray) -> None:
        """Rows that were chosen next."""
        self.rows[self.count : self.count + len(rows)] = rows
        self.count += len(rows)
        if self.index is not None and self.count - self.indexed >= GROWS:
            self.alone(self.index.add, self.rows[self.indexed : self.count])
            self.indexed = self.count

    def alone(self, call: Any, rows: FloatArray, *more: Any) -> Any:
        """A call of faiss on one thread: several would link places in any order."""
        threads = self.faiss.omp_get_max_threads()
        self.faiss.omp_set_num_threads(1)
        try:
            return call(np.ascontiguousarray(rows, np.float32), *more)
        finally:
            self.faiss.omp_set_num_threads(threads)

    def update(self, items: IntArray, rows: FloatArray, known: IntArray, near: IntArray, cosine: FloatArray) -> None:
        """Put what was chosen since items were last looked at among their nearest; `rows` are theirs."""
        from dpplearn._loops.nearby import keep_nearest

        low = int(known[items].min())
        if self.indexed - low > MANY:
            found, places = self.alone(self.index.search, rows, self.nearest)
            keep_nearest(items, known, found, places, 0, near, cosine)
            known[items] = np.maximum(known[items], self.indexed)
            low = self.indexed
        cosines = (rows @ self.rows[low : self.count].T).astype(np.float32, copy=False)
        keep_nearest(items, known, cosines, NO_PLACES, low, near, cosine)
        known[items] = self.count
