"""The set that agrees most with many reference sets, by clipped-overlap F1 of token counts."""

import numpy as np

from dpplearn._loops.jit import jit


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
    indptr, tokens, counts, references, holders, where, held, _, _ = part
    for s in range(gain.size):
        gain[s] = 0.0
    for a in range(indptr[i], indptr[i + 1]):
        t = tokens[a]
        now = have[t]
        then = now + sign * counts[a]
        if 4 * (holders[t + 1] - holders[t]) < gain.size:  # few references have the token: only those change
            for b in range(holders[t], holders[t + 1]):
                gain[where[b]] += min(then, held[b]) - min(now, held[b])
        else:  # most do: a plain loop over all of them is faster
            row = references[t]
            for s in range(gain.size):
                gain[s] += min(then, row[s]) - min(now, row[s])


@jit
def move(parts, have, overlap, length, i, sign, gain):
    """Add item i to the set, or take it away: counts, overlaps and lengths follow."""
    for p in range(len(parts)):
        indptr, tokens, counts, own = parts[p][0], parts[p][1], parts[p][2], parts[p][8]
        change_in_overlap(parts[p], have[p], i, sign, gain)
        for s in range(gain.size):
            overlap[p, s] += gain[s]
        for a in range(indptr[i], indptr[i + 1]):
            have[p][tokens[a]] += sign * counts[a]
        length[p] += sign * own[i]


@jit
def utility_with(parts, weights, have, overlap, length, i, gain):
    """Mean utility of the set with item i added; i = -1 adds nothing."""
    value = 0.0
    for p in range(len(parts)):
        lengths, own = parts[p][7], parts[p][8]
        extra = 0.0
        if i >= 0:
            change_in_overlap(parts[p], have[p], i, 1.0, gain)
            extra = own[i]
        else:
            gain[:] = 0.0
        value += weights[p] * mean_f1(gain, overlap[p], length[p] + extra, lengths)
    return value


@jit
def best_addition(parts, weights, have, overlap, length, cost, left, alive, power, value, gain):
    """The candidate that fits and has the largest rise in utility for cost^power; -1 where none rises."""
    best, winner, at = 1e-12, -1, value
    for i in range(cost.size):
        if alive[i] and cost[i] <= left:
            u = utility_with(parts, weights, have, overlap, length, i, gain)
            rise = (u - value) / cost[i] ** power
            if rise > best:
                best, winner, at = rise, i, u
    return winner, at


@jit
def build(parts, weights, cost, budget, k, start, fixed, alive, power, passes):
    """From `start` (of which the first `fixed` items stay): add greedily, then swap, add and drop until none helps.

    A part is (indptr, tokens, counts) of the items, the references' counts by token as a table and as a list of
    (holders, where, held), lengths of the references, lengths of the items.
    alive (n,) marks the candidates outside the set. Returns the items and their mean utility.
    """
    n, S = cost.size, parts[0][7].size
    have = [np.zeros(part[3].shape[0], np.float32) for part in parts]
    overlap, length = np.zeros((len(parts), S), np.float32), np.zeros(len(parts))
    gain = np.zeros(S, np.float32)
    items = np.empty(min(k, n) + 1, np.int64)
    size, spent = 0, 0.0
    for i in start:
        move(parts, have, overlap, length, i, 1.0, gain)
        items[size] = i
        size += 1
        spent += cost[i]
        alive[i] = 0
    value = utility_with(parts, weights, have, overlap, length, -1, gain)
    while size < k:
        i, u = best_addition(parts, weights, have, overlap, length, cost, budget - spent, alive, power, value, gain)
        if i < 0:
            break
        move(parts, have, overlap, length, i, 1.0, gain)
        items[size], value = i, u
        size += 1
        spent += cost[i]
        alive[i] = 0
    for _ in range(passes):
        changed = False
        a = fixed
        while a < size:
            j = items[a]
            move(parts, have, overlap, length, j, -1.0, gain)
            without = utility_with(parts, weights, have, overlap, length, -1, gain)
            room = budget - (spent - cost[j])
            i, u = best_addition(parts, weights, have, overlap, length, cost, room, alive, 0.0, without, gain)
            if i >= 0 and u > value + 1e-9:  # swap
                items[a], value, changed = i, u, True
                move(parts, have, overlap, length, i, 1.0, gain)
                alive[i], alive[j] = 0, 1
                spent += cost[i] - cost[j]
            elif without > value + 1e-9:  # drop
                size -= 1
                items[a], value, changed = items[size], without, True
                alive[j] = 1
                spent -= cost[j]
                continue
            else:
                move(parts, have, overlap, length, j, 1.0, gain)
            a += 1
        if size < k:
            i, u = best_addition(parts, weights, have, overlap, length, cost, budget - spent, alive, 0.0, value, gain)
            if i >= 0 and u > value + 1e-9:
                move(parts, have, overlap, length, i, 1.0, gain)
                items[size], value, changed = i, u, True
                size += 1
                spent += cost[i]
                alive[i] = 0
        if not changed:
            break
    return items[:size].copy(), value
