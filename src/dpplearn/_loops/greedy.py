"""Greedy choice of items: Algorithm 2 of the paper, one Schur complement per candidate.

Given the items Y chosen so far, candidate i multiplies the probability by its gain
g_i = L_ii - L_iY L_Y^-1 L_Yi, which only shrinks as Y grows.
"""

import numpy as np

from dpplearn._loops.jit import jit
from dpplearn._loops.records import (
    DEPENDENT,
    FULL,
    IMPOSSIBLE,
    LOG,
    NO_GAIN,
    NO_ROOM,
    PROBABILITY,
    QUOTA,
    SIZE,
    Run,
    how_many,
)
from dpplearn._precision import ROUNDING, TIE


@jit
def score(g, rule, weight):
    """What the greedy rule compares; grows with g, so that an old gain gives an upper bound."""
    if rule == PROBABILITY:
        return (g - 1.0) / weight
    x = np.log(g)
    if rule == LOG or x >= 0.0:
        x = x / weight  # but not a loss, of which a costly item has no smaller a share
    return np.rint(x * (1.0 / TIE)) * TIE


@jit
def preferred(g, wanted, i, j):
    """Whether i goes before j where scores are equal: g - 1 is the same float for all small g; else the cheaper."""
    return g[i] > g[j] if wanted.rule == PROBABILITY else wanted.cost[i] < wanted.cost[j]


@jit
def bar(alive, group, j):
    """Take from the candidates those that item j excludes; returns how many."""
    count = 0
    for i in range(group.size):
        if alive[i] and group[i] == group[j]:
            alive[i] = 0
            count += 1
    return count


@jit
def why(alive, full, dear, barred, low, dependent):
    """The reason for an end: who is still a candidate, and how many left as too dear, excluded by one chosen or by the
    limits of their group, of low gain or dependent."""
    if full:
        for i in range(alive.size):
            if alive[i]:
                return SIZE
    if dear > 0:
        return NO_ROOM
    if barred > 0:
        return QUOTA
    if low > 0:
        return NO_GAIN
    return DEPENDENT if dependent > 0 else FULL


@jit(steps=lambda wanted: wanted.cost.size * (1 + how_many(wanted)) ** 2)
def greedy_kernel(L, wanted, alive):
    """Choose up to k items within the budget from the dense kernel L; O(n k^2) time and O(n k) memory.

    `alive` (n,) marks the candidates, without those that are forced, and is used up.
    """
    n, k, cost, forced = L.shape[0], wanted.k, wanted.cost, wanted.forced
    room = 16
    C = np.empty((room, n))  # one row of the Cholesky factor per chosen item: c_i is a column
    g, e = np.empty(n), np.empty(n)
    bound = np.full(n, np.inf)  # the score when last computed: gains only shrink, and so do scores
    for i in range(n):
        g[i] = L[i, i]
    items, gains = np.empty(min(k, n), np.int64), np.empty(min(k, n))
    spent, t, dear, barred, low, dependent = 0.0, 0, 0, 0, 0, 0
    while t < k:
        j, best = -1, -np.inf
        if t < forced.size:
            j = forced[t]
        else:
            for i in range(n):
                if alive[i]:
                    if spent + cost[i] > wanted.room:  # line 4: it will never fit again
                        alive[i] = 0
                        dear += 1
                    elif g[i] <= (t + 1) * ROUNDING * L[i, i]:  # in the span of those chosen
                        alive[i] = 0
                        dependent += 1
                    elif g[i] <= wanted.floor * (1.0 + TIE):
                        alive[i] = 0
                        low += 1
                    elif bound[i] >= best or j < 0:
                        bound[i] = score(g[i], wanted.rule, wanted.weight[i])
                        if bound[i] > best or j < 0 or (bound[i] == best and preferred(g, wanted, i, j)):
                            j, best = i, bound[i]
        if j < 0:
            break
        items[t], gains[t] = j, g[j]
        alive[j] = 0
        barred += bar(alive, wanted.group, j)
        spent += cost[j]
        if g[j] <= (t + 1) * ROUNDING * L[j, j]:  # only a forced item can be
            return Run(items[: t + 1], gains[: t + 1], IMPOSSIBLE, 0)
        if t == room:
            grown = np.empty((2 * room, n))
            grown[:room] = C
            C, room = grown, 2 * room
        # e_i = (L_ij - <c_i, c_j>) / sqrt(g_j);  g_i <- g_i - e_i^2   (Chen, Zhang and Zhou, 2018)
        for i in range(n):
            e[i] = L[j, i]
        for s in range(t):
            c = C[s, j]
            for i in range(n):
                e[i] -= c * C[s, i]
        root = 1.0 / np.sqrt(g[j])
        for i in range(n):
            x = e[i] * root
            C[t, i] = x
            g[i] -= x * x
        t += 1
    return Run(items[:t], gains[:t], why(alive, t == k, dear, barred, low, dependent), 0)


@jit(steps=lambda rows: 5 * rows.size)
def copy_rows(rows, copy, out):
    """A copy, and `row_squares`, in one go."""
    for i in range(rows.shape[0]):
        x = 0.0
        for c in range(rows.shape[1]):
            copy[i, c] = rows[i, c]
            y = np.float64(rows[i, c])
            x += y * y
        out[i] = x


@jit(steps=lambda rows: 4 * rows.size)
def row_squares(rows, out):
    """|rows_i|^2 in float64."""
    for i in range(rows.shape[0]):
        x = 0.0
        for c in range(rows.shape[1]):
            y = np.float64(rows[i, c])
            x += y * y
        out[i] = x
