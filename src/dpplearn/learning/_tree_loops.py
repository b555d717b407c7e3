"""Trees grown on histograms: a column is at most 256 bins, of which the last is what is not known."""

from typing import NamedTuple

import numpy as np

from dpplearn._checks import FloatArray, IntArray
from dpplearn._numba import exact

UNKNOWN = 255


class Trees(NamedTuple):
    """Nodes of many trees: `child` is the first of two neighbours, the left and the right one, or -1 in a leaf."""

    root: IntArray  # of each tree
    column: IntArray  # that a node splits
    child: IntArray
    threshold: FloatArray  # numbers up to it go left
    category: IntArray  # the row of `left` that says which levels do, -1 for a number
    unknown_left: np.ndarray
    value: FloatArray  # of the items in a node, were it a leaf
    left: np.ndarray  # one row of 256 for each split of a category


@exact
def histograms(bins, node, slope, curvature, n_nodes):
    """Sums of slopes and curvatures of each node, column and bin, over the items that are in a node (not -1)."""
    n, c = bins.shape
    sums = np.zeros((n_nodes, c, 256, 2))
    for i in range(n):
        a = node[i]
        if a >= 0:
            g, h = slope[i], curvature[i]
            for j in range(c):
                b = bins[i, j]
                sums[a, j, b, 0] += g
                sums[a, j, b, 1] += h
    return sums


@exact
def best_split(sums, is_category, ridge, least):
    """The split with the largest gain of a node: gain, column, which bins go left.

    The gain in the second-order model is half of  G_l^2 / (H_l + ridge) + G_r^2 / (H_r + ridge) - G^2 / (H + ridge),
    and both sides keep a curvature of at least `least`. Bins of a category are taken in the order of their G / (H + 1),
    in which the best of all bipartitions is a cut; bins without items go with the larger side.
    """
    c = sums.shape[0]
    best, column, left = 0.0, -1, np.zeros(256, np.bool_)
    G, H = sums[0, :, 0].sum(), sums[0, :, 1].sum()
    base = G * G / (H + ridge)
    order, key = np.empty(256, np.int64), np.empty(256)
    for j in range(c):
        s = sums[j]
        last = UNKNOWN  # a number's bins in their order, and then what is not known, on either side
        if is_category[j]:
            last = 256
            for b in range(256):
                key[b] = s[b, 0] / (s[b, 1] + 1.0) if s[b, 1] > 0.0 else np.inf
            order[:] = np.argsort(key, kind="mergesort")
        else:
            for b in range(256):
                order[b] = b
        for side in range(1 if is_category[j] else 2):
            g, h = (s[UNKNOWN, 0], s[UNKNOWN, 1]) if side == 1 else (0.0, 0.0)
            if side == 1 and h == 0.0:
                break
            for t in range(last):
                b = order[t]
                if s[b, 1] == 0.0:
                    continue
                g += s[b, 0]
                h += s[b, 1]
                if h < least or H - h < least:
                    continue
                gain = 0.5 * (g * g / (h + ridge) + (G - g) * (G - g) / (H - h + ridge) - base)
                if gain > best * (1.0 + 1e-12) + 1e-12:  # of equals, the first
                    best, column = gain, j
                    larger_left = h > H - h
                    for u in range(256):
                        x = order[u]
                        left[x] = u <= t if s[x, 1] > 0.0 or not is_category[j] else larger_left
                    if not is_category[j]:
                        left[UNKNOWN] = side == 1 if s[UNKNOWN, 1] > 0.0 else larger_left
    return best, column, left


@exact
def descend(bins, node, column, left, child):
    """Move every item to its child: node a goes to child[a], or to the one after it; -1 where it has none."""
    for i in range(node.size):
        a = node[i]
        if a >= 0:
            if child[a] < 0:
                node[i] = -1
            else:
                node[i] = child[a] + (0 if left[a, bins[i, column[a]]] else 1)


@exact
def step(x, a, trees):
    """The child of node a that a row of raw columns goes to."""
    value = x[trees.column[a]]
    if np.isnan(value):
        to_left = trees.unknown_left[a]
    elif trees.category[a] >= 0:
        code = int(value)
        to_left = trees.left[trees.category[a], code] if 0 <= code < UNKNOWN else trees.unknown_left[a]
    else:
        to_left = value <= trees.threshold[a]
    return trees.child[a] + (0 if to_left else 1)


@exact
def sum_trees(X, trees):
    """The sum of the trees' values for each row."""
    total = np.zeros(len(X))
    for i in range(len(X)):
        for r in range(trees.root.size):
            a = trees.root[r]
            while trees.child[a] >= 0:
                a = step(X[i], a, trees)
            total[i] += trees.value[a]
    return total


@exact
def sum_paths(X, trees):
    """What each column adds along the paths: the value after a split on it less that before; first what all share."""
    added = np.zeros((X.shape[0], X.shape[1] + 1))
    for i in range(len(X)):
        for r in range(trees.root.size):
            a = trees.root[r]
            added[i, 0] += trees.value[a]
            while trees.child[a] >= 0:
                b = step(X[i], a, trees)
                added[i, 1 + trees.column[a]] += trees.value[b] - trees.value[a]
                a = b
    return added
