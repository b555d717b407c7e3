"""Draw samples and keep the most probable that are within limits, without storing the others."""

from typing import Any, NamedTuple

import numpy as np

from dpplearn._determinant_loops import log_minor
from dpplearn._numba import jit
from dpplearn.sampling._spectral_loops import draw, make_work, steps_of_drawing

Array = np.ndarray[Any, Any]


class Window(NamedTuple):
    """Which samples count, and how they are scored."""

    A: Array  # L, or B with L = B B^T
    gram: bool
    log_diag: Array  # (n,) log L_ii
    cost: Array  # (n,)
    low: float
    high: float
    smallest: int  # number of items
    largest: int
    group: Array  # (n,)
    most: Array  # (groups,) how many items of each group a sample may have
    need: Array  # (groups,) and must have
    m: int  # how many sets to keep


@jit
def same_or_first(kept, size, items, k):
    """0 where the two sets are the same, 1 where `items` comes first in lexicographic order, else -1."""
    for c in range(min(size, k)):
        if items[c] != kept[c]:
            return 1 if items[c] < kept[c] else -1
    if size == k:
        return 0
    return 1 if k < size else -1


@jit
def within_quotas(items, k, window, owed, counts):
    """Whether a sample has as many items of each group as it may and must; `counts` is all 0 before and after."""
    met, kept = 0, True
    for c in range(k):
        g = window.group[items[c]]
        counts[g] += 1
        if counts[g] > window.most[g]:
            kept = False
        if counts[g] <= window.need[g]:
            met += 1
    for c in range(k):
        counts[window.group[items[c]]] = 0
    return kept and met == owed


def steps_of_best(tables, size, window):
    """As for drawing a sample of each, and its determinant."""
    k = max(len(tables.log_esp) - 1, -np.expm1(-np.diff(tables.hazard, prepend=0.0)).sum())  # items expected
    each = k**3 / 6 + k**2 * window.A.shape[1] if window.gram else k**3 / 6
    return size * (50 + each) + steps_of_drawing(size, 64 + size * k)


@jit(steps=steps_of_best)
def best_of_block(tables, state, size, window):
    """Of `size` samples, the m most probable distinct ones that count.

    Returns their log det L_Y (descending), lengths and items; how many samples of each number of items counted; and of
    those that did not, though they had the right number of items, the cost nearest to the window.
    """
    cost, log_diag, low, high = window.cost, window.log_diag, window.low, window.high
    n, m = tables.V.shape[0], window.m
    work = make_work(*tables.V.shape)
    items = work.items
    C = np.empty((min(n, 64), min(n, 64)))
    best, lengths = np.full(m, -np.inf), np.zeros(m, np.int64)
    kept = np.empty((m, min(n, 64)), np.int32)
    count, nearest, gap, counts = 0, np.nan, np.inf, np.zeros(n + 1, np.int64)
    owed, in_group = window.need.sum(), np.zeros(window.most.size, np.int64)
    for _ in range(size):
        k = draw(tables, state, work, window.smallest, window.largest)
        if k < 0:
            continue
        total, bound = 0.0, 0.0
        for c in range(k):
            total += cost[items[c]]
            bound += log_diag[items[c]]
        away = max(low - total, total - high)
        if away > 0.0 or not within_quotas(items, k, window, owed, in_group):
            if away < gap:
                gap, nearest = away, total
            continue
        counts[k] += 1
        # det L_Y <= product of its diagonal (Hadamard): most samples need no factorization
        if count == m and bound < best[m - 1]:
            continue
        if k > C.shape[0]:
            C = np.empty((k, k))
        if k > kept.shape[1]:
            wider = np.empty((m, min(n, 2 * k)), np.int32)
            wider[:, : kept.shape[1]] = kept
            kept = wider
        value = log_minor(window.A, window.gram, items, k, C)
        if value == -np.inf or (count == m and value < best[m - 1]):
            continue
        place, seen = 0, False
        while place < count and value <= best[place]:
            if value == best[place]:
                order = same_or_first(kept[place], lengths[place], items, k)
                if order == 0:
                    seen = True
                    break
                if order == 1:
                    break
            place += 1
        if seen or place == m:
            continue
        count = min(count + 1, m)
        for a in range(count - 1, place, -1):
            best[a], lengths[a] = best[a - 1], lengths[a - 1]
            kept[a, : lengths[a]] = kept[a - 1, : lengths[a]]
        best[place], lengths[place] = value, k
        kept[place, :k] = items[:k]
    return best[:count], lengths[:count], kept[:count], counts, nearest
