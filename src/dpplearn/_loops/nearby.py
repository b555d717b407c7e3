"""Greedy choice by gains that Python brings up to date, and the nearest of the items chosen.

The heap, the limits and the groups are those of `_loops/lazy.py`; only where a gain comes from is another matter.
"""

from dpplearn._loops.heap import pop
from dpplearn._loops.jit import jit
from dpplearn._loops.lazy import charge, count_in_group, ended, leaves, put
from dpplearn._loops.records import (
    BLOCK,
    CHEAPEST,
    CHOSEN,
    DEAR,
    EVALUATE,
    HEAP,
    KNOWN,
    PLEDGED,
    SPENT,
    TAKEN,
    WORK,
)


@jit
def front(features, wanted, quota, run, alive):
    """The best candidate, taken off the heap; -1 where there is none; -EVALUATE where a block is to be updated first.

    As long as the front is out of date, the block doubles.
    """
    g, done, key, idx, at, tie = run.g, run.done, run.key, run.idx, run.at, run.tie
    known, grouped = at[KNOWN], quota.group.size > 0
    left = wanted.room - run.spent[SPENT] - run.spent[PLEDGED]
    if at[HEAP] < 0:
        many = at[WORK]
        put(features, wanted, quota, run, alive, idx[:0], True)
        at[WORK] = many
    while at[HEAP] > 0:
        i = idx[0]
        price = charge(quota, at, wanted.k, i, wanted.cost[i]) if grouped else wanted.cost[i]
        if leaves(at, price, left, g[i], 0.0, wanted.floor):
            alive[i] = 0
            pop(key, idx, tie, at[HEAP])
            at[HEAP] -= 1
        elif done[i] == known:
            pop(key, idx, tie, at[HEAP])
            at[HEAP] -= 1
            return i
        else:
            while at[HEAP] > 0 and at[BLOCK] < at[WORK] and done[idx[0]] < known:
                run.block[at[BLOCK]] = idx[0]
                at[BLOCK] += 1
                pop(key, idx, tie, at[HEAP])
                at[HEAP] -= 1
            at[WORK] = min(2 * at[WORK], run.block.size)
            return -EVALUATE
    return -1


@jit
def choose(features, wanted, quota, run, alive, first):
    """Go on until k items are chosen, or no candidate is left, or a block of `first` or more is to be updated."""
    at, spent, forced, items = run.at, run.spent, wanted.forced, run.items
    while at[TAKEN] < items.size:
        t = at[TAKEN]
        if t < forced.size:
            j = forced[t]
            if run.done[j] < at[KNOWN]:
                run.block[0], at[BLOCK] = j, 1
                return EVALUATE
        elif spent[SPENT] + spent[CHEAPEST] > wanted.room:  # none fits: ask none
            at[DEAR] += 1
            break
        else:
            j = front(features, wanted, quota, run, alive)
            if j == -1:
                break
            if j < 0:
                return -j
        alive[j] = 0
        items[t], run.gains[t] = j, run.g[j]
        at[TAKEN] += 1
        spent[SPENT] += wanted.cost[j]
        if quota.group.size > 0:
            count_in_group(wanted, quota, run, j)
        run.done[j] = CHOSEN
        at[WORK] = min(first, run.block.size)
        if features.scale[j] > 0.0:  # a row of zeros is near none
            at[KNOWN] += 1
    return ended(wanted, quota, run, alive)


@jit
def keep_nearest(items, known, cosines, places, low, near, cosine):
    """Put what is new among the nearest of each item, which are in order; of equals, the one chosen first.

    Row a of `cosines` is of item a: with places low, low + 1, ..., or with those in row a of `places`; one that the
    item knew of before, or that is missing (-1), is none.
    """
    last = near.shape[1] - 1
    for a in range(items.size):
        i = items[a]
        if known[i] == 0:  # nothing was written there yet
            for m in range(last + 1):
                near[i, m], cosine[i, m] = -1, -2.0
        for b in range(cosines.shape[1]):
            x = cosines[a, b]
            if not x > cosine[i, last]:
                continue
            place = places[a, b] if places.size > 0 else low + b
            if place < known[i]:
                continue
            m = last
            while m > 0 and x > cosine[i, m - 1]:
                cosine[i, m], near[i, m] = cosine[i, m - 1], near[i, m - 1]
                m -= 1
            cosine[i, m], near[i, m] = x, place
