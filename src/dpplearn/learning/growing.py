"""One tree on the slopes and curvatures of a log-likelihood: columns in bins, levels of a tree one by one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dpplearn._checks import FloatArray, IntArray
from dpplearn.learning._tree_loops import UNKNOWN, Trees, best_split, descend, histograms

SAMPLE = 200_000  # numbers from which quantiles are taken
LEAST = 1.0  # curvature that a leaf must have: about as many items that might as well be chosen as not


@dataclass(frozen=True, eq=False)
class Binned:
    """Raw columns as bins: a category's levels, or intervals of numbers between `edges`; 255 is what is not known."""

    bins: np.ndarray  # uint8, one row per item
    edges: tuple[FloatArray, ...]  # of each column, none of a category: bin b has what is at most edges[b]
    n_levels: IntArray  # 0 for numbers

    @property
    def is_category(self) -> np.ndarray:
        return self.n_levels > 0

    @classmethod
    def of(cls, raw: FloatArray, n_levels: IntArray) -> Binned:
        """Numbers by their values where these are few, else by quantiles."""
        bins, edges = np.empty(raw.shape, np.uint8), []
        for j, x in enumerate(raw.T):
            known = ~np.isnan(x)
            between = np.empty(0) if n_levels[j] else cuts(x[known])
            edges.append(between)
            bins[:, j] = UNKNOWN
            bins[known, j] = x[known] if n_levels[j] else np.searchsorted(between, x[known])
        return cls(bins, tuple(edges), n_levels)


def cuts(x: FloatArray) -> FloatArray:
    """At most 253 numbers between neighbouring values, or quantiles where there are more values."""
    values = np.unique(x if x.size <= SAMPLE else x[:: x.size // SAMPLE + 1])
    if values.size > UNKNOWN - 1:
        values = np.unique(np.quantile(x, np.linspace(0, 1, UNKNOWN - 1), method="inverted_cdf"))
    middle = values[:-1] / 2 + values[1:] / 2
    return np.where(middle < values[1:], middle, values[:-1])  # of neighbouring floats, the lower one


class Growth(NamedTuple):
    """How a tree grows."""

    depth: int
    ridge: float  # 1 / variance of the Gaussian prior of a leaf's value
    rate: float  # the part of a Newton step that is taken


def grow(binned: Binned, slope: FloatArray, curvature: FloatArray, growth: Growth) -> Trees | None:
    """A tree for the items with curvature above 0; None where no split gains anything.

    With g_i = d log P / d eta_i and h_i its curvature, the best value of a leaf is sum g / (sum h + ridge).
    """
    node = np.where(curvature > 0, 0, -1)
    depth, ridge = growth.depth, growth.ridge + 1e-12
    column, child, threshold, category, unknown_left, value = [], [], [], [], [], []
    left: list[np.ndarray] = []
    level, base = 1, 0
    for deep in range(depth + 1):
        sums = histograms(binned.bins, node, slope, curvature, level)
        totals = sums[:, 0].sum(axis=1)
        value += (growth.rate * totals[:, 0] / (totals[:, 1] + ridge)).tolist()
        next_child, masks, columns = np.full(level, -1), np.zeros((level, 256), np.bool_), np.zeros(level, np.int64)
        below = 0
        for a in range(level):
            _, j, mask = best_split(sums[a], binned.is_category, ridge, LEAST) if deep < depth else (0.0, -1, None)
            at, row, unknown = 0.0, -1, False
            if j >= 0 and mask is not None:
                next_child[a], masks[a], columns[a], unknown = below, mask, j, bool(mask[UNKNOWN])
                below += 2
                if binned.is_category[j]:
                    row = len(left)
                    left.append(mask & (np.arange(256) < binned.n_levels[j]))
                else:
                    cut = int(mask[:UNKNOWN].sum()) - 1  # beyond the last edge, only what is not known goes right
                    at = float(binned.edges[j][cut]) if cut < binned.edges[j].size else np.inf
            column.append(max(int(j), 0))
            child.append(base + level + int(next_child[a]) if next_child[a] >= 0 else -1)
            threshold.append(at)
            category.append(row)
            unknown_left.append(unknown)
        if below == 0:
            break
        descend(binned.bins, node, columns, masks, next_child)
        base, level = base + level, below
    if len(value) == 1:
        return None
    whole = np.array(left, np.bool_).reshape(-1, 256)
    return Trees(
        np.zeros(1, np.int64), ints(column), ints(child), np.array(threshold), ints(category),
        np.array(unknown_left), np.array(value), whole,
    )  # fmt: skip


def ints(values: list[int]) -> IntArray:
    return np.array(values, np.int64)


def joined(forest: Trees, tree: Trees) -> Trees:
    """The forest with one more tree."""
    nodes, rows = forest.value.size, len(forest.left)
    child = np.where(tree.child >= 0, tree.child + nodes, -1)
    category = np.where(tree.category >= 0, tree.category + rows, -1)
    moved = tree._replace(root=tree.root + nodes, child=child, category=category)
    return Trees(*(np.concatenate(pair) for pair in zip(forest, moved, strict=True)))


def no_trees() -> Trees:
    none, empty = np.empty(0, np.int64), np.empty(0)
    return Trees(none, none, none, empty, none, np.empty(0, np.bool_), empty, np.empty((0, 256), np.bool_))
