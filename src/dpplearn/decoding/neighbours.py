"""The nearest of the items chosen so far: by products with all of them, or, of many, by an index of faiss.

An index (the extra `index`) keeps the chosen in lists of those near one another, and compares with the nearest lists
alone. It finds nearly all of them where items are in clusters: one that it misses leaves an item's gain a little too
large. It is asked for items that are more than MANY choices behind; what was chosen since it last grew is
always compared by products. One thread makes and fills the lists, so the answer is the same in every run.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np

from dpplearn._checks import FloatArray, IntArray

MANY = 131072  # chosen items that products compare faster than an index
GROWS = 1024  # items that are added to it at once
LISTS, LOOKS = 1024, 48  # of the index: how many there are, and how many are looked at for an answer
EACH, ROUNDS = 64, 10  # items that a list is made from, and how often they are put into the nearest
APART = 4  # items of which one is that many times farther behind are not compared in one product
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
        self.wanted = index and needs_index(None, room)

    def add(self, rows: FloatArray) -> None:
        """Rows that were chosen next."""
        self.rows[self.count : self.count + len(rows)] = rows
        self.count += len(rows)
        if self.wanted and self.count >= MANY and self.count - self.indexed >= GROWS:
            self.grow()

    def grow(self) -> None:
        """Add to the index what was chosen since it last grew; the first of them make its lists."""
        import faiss

        new = np.ascontiguousarray(self.rows[self.indexed : self.count], np.float32)
        threads = faiss.omp_get_max_threads()
        faiss.omp_set_num_threads(1)  # several would sum in any order
        try:
            if self.index is None:
                lists, d = max(1, min(LISTS, len(new) // EACH)), new.shape[1]
                self.index = faiss.IndexIVFFlat(faiss.IndexFlatIP(d), d, lists, faiss.METRIC_INNER_PRODUCT)
                self.index.nprobe, self.index.cp.niter = LOOKS, ROUNDS
                self.index.cp.max_points_per_centroid = EACH
                self.index.train(new)
            self.index.add(new)
        finally:
            faiss.omp_set_num_threads(threads)
        self.indexed = self.count

    def update(self, items: IntArray, rows: FloatArray, known: IntArray, near: IntArray, cosine: FloatArray) -> None:
        """Put what was chosen since items were last looked at among their nearest; `rows` are theirs."""
        from dpplearn._loops.nearby import keep_nearest

        far = np.flatnonzero(self.indexed - known[items] > MANY)
        if far.size:
            found, places = self.index.search(np.ascontiguousarray(rows[far], np.float32), self.nearest)
            keep_nearest(items[far], known, found, places, 0, near, cosine)
            known[items[far]] = self.indexed
        for some in apart(self.count - known[items]):
            low = int(known[items[some]].min())
            cosines = (rows[some] @ self.rows[low : self.count].T).astype(np.float32, copy=False)
            keep_nearest(items[some], known, cosines, NO_PLACES, low, near, cosine)
        known[items] = self.count


def apart(behind: IntArray) -> list[IntArray]:
    """Places of numbers, the largest first, in parts of which none has one more than APART times another.

    >>> [part.tolist() for part in apart(np.array([1, 100, 30, 7]))]
    [[1, 2], [3], [0]]
    """
    order = np.argsort(-behind, kind="stable")
    parts = []
    while order.size:
        same = int(np.count_nonzero(APART * behind[order] >= behind[order[0]]))
        parts.append(order[:same])
        order = order[same:]
    return parts
