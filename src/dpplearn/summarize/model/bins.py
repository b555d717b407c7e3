"""Quantile bins: a real-valued feature as a row of zeros and a one."""

from __future__ import annotations

import numpy as np

from dpplearn._checks import FloatArray, IntArray


def inner_edges(bins: int) -> FloatArray:
    """The shares of values below each edge between bins of equal size: 1/5, 2/5, ... of five."""
    return np.arange(1, bins) / bins


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
