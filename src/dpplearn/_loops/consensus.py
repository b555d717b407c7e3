"""The set that agrees most with many reference sets, by clipped-overlap F1 of token counts."""

from typing import Any, NamedTuple

import numpy as np

from dpplearn._loops.jit import jit

SAFE = 4e-6  # of a bound: more than the rounding of float32 overlaps
DRIFT = 0.15  # of a length, before rates are taken anew


class State(NamedTuple):
    """A set in the making. One entry per part; rates, share and at serve the bounds of `bound_with`."""

    have: Any  # tokens of the set
    overlap: Any  # (P, S): sum of min(have, reference s)
    length: Any
    rates: Any  # by token, what one more of it adds to the sum over s of share_s min(have, reference s)
    share: Any  # (P, S): 1 / (at + lengths)
    at: Any  # the length for which share was taken; negative where it was not
    gain: Any  # (S,): scratch


@jit
def mean_f1(gain, overlap, length, lengths):
    """Mean over references of 2 (overlap + gain) / (length + lengths)."""
    total = 0.0
    for s in range(overlap.size):
        total += np.float64(overlap[s] + gain[s]) / np.float64(length + lengths[s])
    return 2.0 * total / overlap.size


@jit
def change_in_overlap(part, have, i, sign, gain):
    """gain[s] = what adding (sign 1) or taking away (-1) item i changes in sum of min(have, reference s)."""
    holders, where, held = part.holders, part.where, part.held
    for s in range(gain.size):
        gain[s] = 0.0
    for a in range(part.indptr[i], part.indptr[i + 1]):
        t = part.tokens[a]
        now = have[t]
        then = now + sign * part.counts[a]
        if 4 * (holders[t + 1] - holders[t]) < gain.size:  # few references have the token: only those change
            for b in range(holders[t], holders[t + 1]):
                gain[where[b]] += min(then, held[b]) - min(now, held[b])
        else:  # most do: a plain loop over all of them is faster
            row = part.table[t]
            for s in range(gain.size):
                gain[s] += min(then, row[s]) - min(now, row[s])


@jit
def rate(part, have, share, t):
    """How fast the sum over s of share[s] min(have, reference s) grows with the count of token t."""
    total = 0.0
    for b in range(part.holders[t], part.holders[t + 1]):
        if part.held[b] > have[t]:
            total += share[part.where[b]]
    return total


@jit
def take_rates(parts, state):
    """Rates for the present length, where it is not near the one they were taken for."""
    for p in range(len(parts)):
        length, at, lengths = state.length[p], state.at[p], parts[p].lengths
        if at < 0.0 or abs(length - at) > DRIFT * (at + parts[p].shortest):
            state.at[p] = length
            for s in range(lengths.size):
                state.share[p, s] = 1.0 / (length + lengths[s])
            for t in range(state.have[p].size):
                state.rates[p][t] = rate(parts[p], state.have[p], state.share[p], t)


@jit
def move(parts, state, i, sign):
    """Add item i to the set, or take it away: counts, overlaps, lengths and rates follow."""
    for p in range(len(parts)):
        part, have, gain = parts[p], state.have[p], state.gain
        change_in_overlap(part, have, i, sign, gain)
        for s in range(gain.size):
            state.overlap[p, s] += gain[s]
        for a in range(part.indptr[i], part.indptr[i + 1]):
            t = part.tokens[a]
            have[t] += sign * part.counts[a]
            if state.at[p] >= 0.0:
                state.rates[p][t] = rate(part, have, state.share[p], t)
        state.length[p] += sign * part.totals[i]


@jit
def utility_with(wanted, state, i):
    """Mean utility of the set with item i added; i = -1 adds nothing."""
    value = 0.0
    for p in range(len(wanted.parts)):
        part = wanted.parts[p]
        extra = 0.0
        if i >= 0:
            change_in_overlap(part, state.have[p], i, 1.0, state.gain)
            extra = part.totals[i]
        else:
            state.gain[:] = 0.0
        value += wanted.weights[p] * mean_f1(state.gain, state.overlap[p], state.length[p] + extra, part.lengths)
    return value


@jit
def bound_with(wanted, state, plain, i):
    """At least the mean utility of the set with item i added, for the price of a sparse dot product.

    With x the new length, it is the mean over s of 2 (overlap_s + gain_s) / (x + l_s). The first term is the same for
    all items of a length: `plain` keeps it, -1 where it is not known yet. In the second, gain is concave in the counts,
    so at most counts times rates; and 1 / (x + l_s) is share_s times (at + l_s) / (x + l_s), which is largest for the
    longest reference if x >= at, else for the shortest.
    """
    value = 0.0
    for p in range(len(wanted.parts)):
        part, at = wanted.parts[p], state.at[p]
        lengths, kind = part.lengths, part.kind[i]
        x = state.length[p] + part.kinds[kind]
        if plain[p, kind] < 0.0:
            total = 0.0
            for s in range(lengths.size):
                total += np.float64(state.overlap[p, s]) / (x + lengths[s])
            plain[p, kind] = total
        rise = 0.0
        for a in range(part.indptr[i], part.indptr[i + 1]):
            rise += part.counts[a] * state.rates[p][part.tokens[a]]
        end = part.longest if x >= at else part.shortest
        value += wanted.weights[p] * (plain[p, kind] + rise * (at + end) / (x + end))
    return 2.0 * value / state.gain.size * (1.0 + SAFE)


@jit
def best_addition(wanted, state, left, alive, taken, power, value, floor):
    """The candidate that fits and has the largest rise in utility for cost^power; -1 where none rises.

    `taken` marks the numbers in wanted.group that the set has. Only those are evaluated whose bound reaches the best
    rise so far, and `floor`: below it nothing need be found.
    """
    parts, cost = wanted.parts, wanted.cost
    take_rates(parts, state)
    most = 0
    for p in range(len(parts)):
        most = max(most, parts[p].kinds.size)
    plain, bounds, first = np.full((len(parts), most), -1.0), np.full(cost.size, -np.inf), -1
    for i in range(cost.size):
        if alive[i] and not taken[wanted.group[i]] and cost[i] <= left:
            bounds[i] = (bound_with(wanted, state, plain, i) - value) / cost[i] ** power
            if first < 0 or bounds[i] > bounds[first]:
                first = i
    best, winner, reached = 1e-12, -1, value
    for step in range(-1, cost.size):  # the most hopeful one first, then all in order; of equals the first one wins
        i = first if step < 0 else step
        if i >= 0 and bounds[i] >= max(best, floor) and (step < 0 or i != first):
            u = utility_with(wanted, state, i)
            rise = (u - value) / cost[i] ** power
            if rise > best or (rise == best and i < winner):
                best, winner, reached = rise, i, u
    return winner, reached


@jit
def build(wanted, start, fixed, alive, power, passes):
    """From `start` (of which the first `fixed` items stay): add greedily, then swap, add and drop until none helps.

    alive (n,) marks the candidates. With a negative power nothing is added before the passes. Returns
    the items, their mean utility, and whether the last pass changed them.
    """
    parts, cost, budget, k, group = wanted.parts, wanted.cost, wanted.room, wanted.k, wanted.group
    n, S, P = cost.size, parts[0].lengths.size, len(parts)
    state = State(
        [np.zeros(part.table.shape[0], np.float32) for part in parts], np.zeros((P, S), np.float32), np.zeros(P),
        [np.zeros(part.table.shape[0]) for part in parts], np.zeros((P, S)), np.full(P, -1.0),
        np.zeros(S, np.float32),
    )  # fmt: skip
    items, taken = np.empty(n + 1, np.int64), np.zeros(n, np.uint8)
    size, spent = 0, 0.0
    for i in start:
        move(parts, state, i, 1.0)
        items[size] = i
        size += 1
        spent += cost[i]
        taken[group[i]] = 1
    nothing = np.int64(-1)  # a literal would be a type of its own, and utility_with compiled twice
    value, changed = utility_with(wanted, state, nothing), False
    while power >= 0.0 and size < k:
        i, u = best_addition(wanted, state, budget - spent, alive, taken, power, value, 0.0)
        if i < 0:
            break
        move(parts, state, i, 1.0)
        items[size], value = i, u
        size += 1
        spent += cost[i]
        taken[group[i]] = 1
    for _ in range(passes):
        changed = False
        a = fixed
        while a < size:
            j = items[a]
            move(parts, state, j, -1.0)
            taken[group[j]], alive[j] = 0, 0  # another of its number may come, but not itself
            without = utility_with(wanted, state, nothing)
            room = budget - (spent - cost[j])
            i, u = best_addition(wanted, state, room, alive, taken, 0.0, without, value - without)
            alive[j] = 1
            if i >= 0 and u > value + 1e-9:  # swap
                items[a], value, changed = i, u, True
                move(parts, state, i, 1.0)
                taken[group[i]] = 1
                spent += cost[i] - cost[j]
            elif without > value + 1e-9:  # drop
                size -= 1
                items[a], value, changed = items[size], without, True
                spent -= cost[j]
                continue
            else:
                move(parts, state, j, 1.0)
                taken[group[j]] = 1
            a += 1
        if size < k:
            i, u = best_addition(wanted, state, budget - spent, alive, taken, 0.0, value, 0.0)
            if i >= 0 and u > value + 1e-9:
                move(parts, state, i, 1.0)
                items[size], value, changed = i, u, True
                size += 1
                spent += cost[i]
                taken[group[i]] = 1
        if not changed:
            break
    return items[:size].copy(), value, changed
