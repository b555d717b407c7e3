"""How often a DPP's sets hold a token, and the set whose tokens are expected most.

A token's count N in a set drawn is a sum over the items that hold it. `chance` has P(N >= j) for j = 1, 2, ..., so
that E min(a, N) is the sum of the first a, and one item more in a set costs a look at its own tokens.
"""

from typing import Any, NamedTuple

import numpy as np

from dpplearn._loops.jit import jit
from dpplearn._loops.records import how_many

FEW = 8  # items up to which all 2^m ways of holding a token are listed


class Counts(NamedTuple):
    """A set in the making; one entry per part."""

    have: Any  # levels of each token
    overlap: Any  # (P,) sum of chance over these
    length: Any  # (P,)


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


@jit
def put(parts, state, i):
    """Add item i to the set."""
    for p in range(len(parts)):
        part, have = parts[p], state.have[p]
        state.overlap[p] += rise(part, have, i)
        state.length[p] += part.totals[i]
        for a in range(part.indptr[i], part.indptr[i + 1]):
            have[part.tokens[a]] += part.steps[a]


@jit
def take(parts, state, i):
    """Take item i from the set."""
    for p in range(len(parts)):
        part, have = parts[p], state.have[p]
        for a in range(part.indptr[i], part.indptr[i + 1]):
            have[part.tokens[a]] -= part.steps[a]
        state.overlap[p] -= rise(part, have, i)
        state.length[p] -= part.totals[i]


@jit
def value_with(wanted, state, i):
    """2 E overlap / (length + E length) of the set with item i added, summed over parts; i = -1 adds nothing."""
    value = 0.0
    for p in range(len(wanted.parts)):
        part, overlap, length = wanted.parts[p], state.overlap[p], state.length[p]
        if i >= 0:
            overlap += rise(part, state.have[p], i)
            length += part.totals[i]
        value += wanted.weights[p] * 2.0 * overlap / (length + part.mean + 1e-12)
    return value


@jit
def best_one(wanted, state, left, alive, taken, power, value):
    """The candidate that fits and has the largest rise in value for cost^power; -1 where none rises.

    Of those that differ only by rounding the first wins, or the answer would be that of a library's version.
    """
    cost, best, winner, reached = wanted.cost, 1e-12, np.int64(-1), value
    for i in range(cost.size):
        if alive[i] and not taken[wanted.group[i]] and cost[i] <= left:
            u = value_with(wanted, state, i)
            change = u - value if power == 0.0 else (u - value) / cost[i] ** power
            if change > best + 1e-11:
                best, winner, reached = change, i, u
    return winner, reached


def steps_of_gathering(wanted, passes):
    """A look at all tokens for each item that fits, some times over; one pass is seldom enough, and four are."""
    return sum(part.tokens.size for part in wanted.parts) * (1 + how_many(wanted)) * (1 + min(passes, 4))


@jit(steps=steps_of_gathering)
def gather(wanted, start, fixed, alive, power, passes):
    """As `build` of `_loops/consensus.py`: from `start` add greedily, then swap, add and drop, `passes` times."""
    parts, cost, group = wanted.parts, wanted.cost, wanted.group
    state = Counts([np.zeros(part.starts.size, np.int64) for part in parts], np.zeros(len(parts)), np.zeros(len(parts)))
    items, taken = np.empty(cost.size + 1, np.int64), np.zeros(cost.size, np.uint8)
    size, spent, changed, nothing = 0, 0.0, False, np.int64(-1)
    for i in start:
        put(parts, state, i)
        items[size] = i
        size += 1
        spent += cost[i]
        taken[group[i]] = 1
    value = value_with(wanted, state, nothing)
    while power >= 0.0 and size < wanted.k:
        i, u = best_one(wanted, state, wanted.room - spent, alive, taken, power, value)
        if i < 0:
            break
        put(parts, state, i)
        items[size], value = i, u
        size += 1
        spent += cost[i]
        taken[group[i]] = 1
    for _ in range(passes):
        changed = False
        a = fixed
        while a < size:
            j = items[a]
            take(parts, state, j)
            taken[group[j]], alive[j] = 0, 0  # another of its number may come, but not itself
            without = value_with(wanted, state, nothing)
            i, u = best_one(wanted, state, wanted.room - (spent - cost[j]), alive, taken, 0.0, without)
            alive[j] = 1
            if i >= 0 and u > value + 1e-9:  # swap
                put(parts, state, i)
                items[a], value, changed = i, u, True
                taken[group[i]] = 1
                spent += cost[i] - cost[j]
            elif without > value + 1e-9:  # drop
                size -= 1
                items[a], value, changed = items[size], without, True
                spent -= cost[j]
                continue
            else:
                put(parts, state, j)
                taken[group[j]] = 1
            a += 1
        while size < wanted.k:
            i, u = best_one(wanted, state, wanted.room - spent, alive, taken, 0.0, value)
            if i < 0 or u <= value + 1e-9:
                break
            put(parts, state, i)
            items[size], value, changed = i, u, True
            size += 1
            spent += cost[i]
            taken[group[i]] = 1
        if not changed:
            break
    return items[:size].copy(), value, changed
