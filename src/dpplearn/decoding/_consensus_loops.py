"""How often a DPP's sets hold a token, and the item that raises expected agreement most.

A token's count N in a set drawn is a sum over the items that hold it. `chance` has P(N >= j) for j = 1, 2, ..., so
that E min(a, N) is the sum of the first a, and one item more in a set costs a look at its own tokens.
"""

from typing import Any, NamedTuple

import numpy as np

from dpplearn._numba import jit

Array = np.ndarray[Any, Any]
FEW = 8  # items up to which all 2^m ways of holding a token are listed
SAME = 1e-11  # rises that differ by less are equal: else rounding, and so a library's version, would decide
CALLS = 100  # of `best_addition` in a search, about


class LevelPart(NamedTuple):
    """Token counts of items in whole steps, and how probable each level of a token is in a set drawn."""

    indptr: Array  # the items' counts as csr
    tokens: Array
    steps: Array
    starts: Array  # (tokens + 1,) where the levels of each token start
    chance: Array  # of each level, times the token's unit
    totals: Array  # (n,) lengths of the items
    mean: float  # expected length of a set drawn


@jit
def every_way(K, steps, pmf, M, prob, total, branch):
    """pmf[c] = P(the items taken have c levels together), by their marginal kernel K: in or out, one after the other.

    In, with probability K_00, leaves K_ij - K_i0 K_0j / K_00 to the others; out, K_ij + K_i0 K_0j / (1 - K_00).
    """
    m = steps.size
    M[0, :m, :m] = K
    prob[0], total[0], branch[0], depth = 1.0, 0, 0, 0
    while depth >= 0:
        if depth == m:
            pmf[total[m]] += prob[m]
            depth -= 1
            continue
        way = branch[depth]
        branch[depth] = way + 1
        if way == 2:
            depth -= 1
            continue
        pivot = M[depth, depth, depth]
        p = min(max(pivot if way == 0 else 1.0 - pivot, 0.0), 1.0)
        if prob[depth] * p < 1e-15:
            continue
        f = -1.0 / p if way == 0 else 1.0 / p
        for i in range(depth + 1, m):
            for j in range(depth + 1, m):
                M[depth + 1, i, j] = M[depth, i, j] + f * M[depth, i, depth] * M[depth, depth, j]
        prob[depth + 1] = prob[depth] * p
        total[depth + 1] = total[depth] + (steps[depth] if way == 0 else 0)
        depth += 1
        branch[depth] = 0


@jit
def by_moments(mean, variance, pmf):
    """The binomial, Poisson or negative binomial distribution of this mean and variance (Panjer's class).

    p_(c+1) / p_c = a + b / (c + 1) with a = 1 - mean / variance, b = mean (1 - a) - a; from the mode, both ways.
    """
    a = 1.0 - mean / max(variance, 1e-3)
    b = mean * (1.0 - a) - a
    mode, top = min(int(mean), pmf.size - 1), pmf.size - 1
    pmf[mode], whole = 1.0, 1.0
    for c in range(mode, top):
        pmf[c + 1] = pmf[c] * max(a + b / (c + 1), 0.0)
        whole += pmf[c + 1]
    for c in range(mode - 1, -1, -1):
        ratio = a + b / (c + 1)
        pmf[c] = pmf[c + 1] / ratio if ratio > 0.0 else 0.0
        whole += pmf[c]
    for c in range(pmf.size):
        pmf[c] /= whole


@jit
def moments(K, items, steps):
    """Mean and variance of the levels of items that are drawn together."""
    mean, variance = 0.0, 0.0
    for x in range(items.size):
        p = K[items[x], items[x]]
        mean += steps[x] * p
        variance += steps[x] ** 2 * p * (1.0 - p)
        for y in range(x):
            variance -= 2.0 * steps[x] * steps[y] * K[items[x], items[y]] ** 2
    return mean, variance


@jit(steps=lambda holders: 2 ** (FEW + 1) * np.count_nonzero(np.diff(holders)) + (np.diff(holders) ** 2).sum())
def fill_chance(K, holders, items, steps, starts, base, unit, chance):
    """chance[starts[t] + j - 1] = unit_t P(N_t >= j), where base_t levels are certain."""
    M, prob = np.empty((FEW + 1, FEW, FEW)), np.empty(FEW + 1)
    total, branch, block = np.empty(FEW + 1, np.int64), np.empty(FEW + 1, np.int64), np.empty((FEW, FEW))
    for t in range(holders.size - 1):
        first, m = holders[t], holders[t + 1] - holders[t]
        low, high = starts[t] + base[t], starts[t + 1]
        chance[starts[t] : low] = unit[t]
        if m == 0:
            continue
        pmf = np.zeros(high - low + 1)
        if m <= FEW:
            for x in range(m):
                for y in range(m):
                    block[x, y] = K[items[first + x], items[first + y]]
            every_way(block[:m, :m], steps[first : first + m], pmf, M, prob, total, branch)
        else:
            mean, variance = moments(K, items[first : first + m], steps[first : first + m])
            by_moments(mean, variance, pmf)
        tail = 0.0
        for j in range(high - low, 0, -1):
            tail += pmf[j]
            chance[low + j - 1] = unit[t] * tail


@jit
def rise(part, have, i):
    """What item i adds to the expected overlap."""
    total = 0.0
    for a in range(part.indptr[i], part.indptr[i + 1]):
        at = part.starts[part.tokens[a]] + have[part.tokens[a]]
        for j in range(at, at + part.steps[a]):
            total += part.chance[j]
    return total


@jit(steps=lambda parts: CALLS * sum(part.tokens.size for part in parts))
def best_addition(parts, weights, items, free, price):
    """The free item whose addition to `items` raises agreement most for its price, and the agreement with it; the
    first of equals, and -1 where none rises. Last, the agreement of the set as it is.

    Agreement is the weighted sum over parts of 2 E overlap / (length + E length).
    """
    have = [np.zeros(part.starts.size, np.int64) for part in parts]
    overlap, length = np.zeros(len(parts)), np.zeros(len(parts))
    now = 0.0
    for p in range(len(parts)):
        part = parts[p]
        for i in items:
            overlap[p] += rise(part, have[p], i)
            length[p] += part.totals[i]
            for a in range(part.indptr[i], part.indptr[i + 1]):
                have[p][part.tokens[a]] += part.steps[a]
        now += weights[p] * 2.0 * overlap[p] / (length[p] + part.mean + 1e-12)
    best, winner, reached = 0.0, np.int64(-1), now
    for i in range(free.size):
        if free[i]:
            value = 0.0
            for p in range(len(parts)):
                part = parts[p]
                more = overlap[p] + rise(part, have[p], i)
                value += weights[p] * 2.0 * more / (length[p] + part.totals[i] + part.mean + 1e-12)
            change = (value - now) / price[i]
            if change > best + SAME:
                best, winner, reached = change, np.int64(i), value
    return winner, reached, now
