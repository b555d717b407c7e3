"""Quantile bins: a real-valued feature as a row of zeros and a one."""

from __future__ import annotations

import numpy as np

from dpplearn._checks import FloatArray, IntArray


def quantile_edges(values: FloatArray, bins: int) -> FloatArray:
    """The bins - 1 inner edges that cut the values into equal shares.

    Examples
    --------
    >>> quantile_edges(np.array([1.0, 2.0, 3.0, 4.0]), 2)
    array([2.5])
    """
    low, high, t = edge_places(values.size, bins)
    ordered = np.sort(values)
    return between(ordered[low], ordered[high], t)


def edge_places(n: int, bins: int) -> tuple[IntArray, IntArray, FloatArray]:
    """The places of n ordered values that each edge lies between, and how far it is from the one to the other."""
    at = np.arange(1, bins) / bins * (n - 1)
    low = np.floor(at).astype(np.int64)
    return low, np.minimum(low + 1, n - 1), at - low


def between(a: FloatArray, b: FloatArray, t: FloatArray) -> FloatArray:
    """a + t (b - a), from the nearer end, as numpy.quantile has it."""
    return np.where(t >= 0.5, b - (b - a) * (1 - t), a + (b - a) * t)


def global_bins(values: FloatArray, edges: FloatArray) -> IntArray:
    """The bin of each value; edges that ties made equal leave bins between them empty."""
    return np.searchsorted(edges, values, side="right")


def local_bins(values: FloatArray, bins: int) -> IntArray:
    """The bin of each value among the others: by the share of values below it, ties counting half.

    Equal values share a bin, and one value alone is in the middle one, so that clusters of any size have bins.

    Examples
    --------
    >>> local_bins(np.array([3.0, 1.0, 2.0, 2.0]), 4)
    array([3, 0, 2, 2])
    >>> local_bins(np.array([7.0]), 5)
    array([2])
    """
    ordered = np.sort(values)
    below = np.searchsorted(ordered, values, side="left")
    up_to = np.searchsorted(ordered, values, side="right")
    return (below + up_to) * bins // (2 * values.size)


def bins_within(values: FloatArray, group: IntArray, bins: int) -> IntArray:
    """`local_bins` of the values of each group by themselves; groups are numbered from 0.

    Examples
    --------
    >>> bins_within(np.array([3.0, 7.0, 1.0, 2.0, 2.0]), np.array([0, 1, 0, 0, 0]), 4)
    array([3, 2, 0, 2, 2])
    """
    key = group * values.size + np.searchsorted(np.sort(values), values)  # groups, and in them values, in order
    ordered, size = np.sort(key), np.bincount(group)
    both = np.searchsorted(ordered, key, side="left") + np.searchsorted(ordered, key, side="right")
    before = np.cumsum(size) - size
    return np.asarray((both - 2 * before[group]) * bins // (2 * size[group]))


def one_hot(index: IntArray, bins: int) -> FloatArray:
    """Row i has its one in column index[i]."""
    out = np.zeros((index.size, bins))
    out[np.arange(index.size), index] = 1.0
    return out
