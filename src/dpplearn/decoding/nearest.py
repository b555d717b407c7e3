"""Which of the chosen items is most like another."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dpplearn._checks import FloatArray, IntArray, read_only
from dpplearn._linalg import to_dense
from dpplearn.decoding.ground import Rows

BLOCK = 2**24  # cosines computed at once, at most


class Nearest(NamedTuple):
    """For every item asked about, the chosen one most similar to it (-1 where there is none) and their cosine."""

    items: IntArray
    similarity: FloatArray


def nearest_chosen(ground: Rows, subset: IntArray) -> Nearest:
    """The chosen item most similar to each candidate; of equals, the one chosen first."""
    return _nearest(ground, None, subset)


def nearest_other(ground: Rows, subset: IntArray) -> Nearest:
    """For each chosen item, in their order, the most similar of the others that were chosen."""
    if subset.size < 2:
        return Nearest(np.full(subset.size, -1), np.zeros(subset.size))
    return _nearest(ground, subset, subset)


def _nearest(ground: Rows, asked: IntArray | None, subset: IntArray) -> Nearest:
    """For each item asked about (None: all), the chosen one most similar to it, by blocks; of those named, another."""
    lengths = np.where(ground.lengths > 0.0, ground.lengths, 1.0)
    chosen = to_dense(ground.rows[subset]) / lengths[subset, None].astype(ground.rows.dtype)
    rows, scale = (ground.rows, lengths) if asked is None else (ground.rows[asked], lengths[asked])
    n = scale.size
    items, similarity = np.empty(n, np.int64), np.empty(n)
    step = min(16384, max(1, BLOCK // subset.size))
    for low in range(0, n, step):
        part = slice(low, min(low + step, n))
        cosines = np.asarray(rows[part] @ chosen.T)
        if asked is not None:
            cosines[asked[part, None] == subset] = -np.inf
        best = cosines.argmax(axis=1)
        items[part] = subset[best]
        similarity[part] = cosines[np.arange(best.size), best] / scale[part]
    np.clip(similarity, -1.0, 1.0, out=similarity)
    read_only(items, similarity)
    return Nearest(items, similarity)
