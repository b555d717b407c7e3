"""Greedy choice of items from features: gains are upper bounds, and only the front of a heap is brought up to date.

L = B B^T + diag(own) with b_i = scale_i rows_i. Given the items Y chosen so far

    g_i = own_i + b_i^T P b_i,    P = (I + B_Y^T diag(own_Y)^-1 B_Y)^-1,    P <- P - v v^T / g_j,    v = P b_j,

so that with the directions u_t = v / sqrt(g_j), g_i = L_ii - sum of <b_i, u_t>^2: no Cholesky row is stored.
Where nothing is an item's own, this is Gram-Schmidt in feature space, and ends at the rank.

Up to d items all directions are kept. For more, the *dual form* keeps P, of d x d numbers, and the last directions
(in float64, twice, so that any run of them is contiguous): a gain that misses only these is brought up to date by them,
others by P, in blocks.

Functions that see one item take arrays and numbers, not records: taking an array out of one counts a reference, which
costs more than the item does.
"""

import numpy as np

from dpplearn._loops.greedy import score, why
from dpplearn._loops.heap import pop, rise, sift
from dpplearn._loops.jit import jit
from dpplearn._loops.records import (
    BARRED,
    BLOCK,
    CHEAPEST,
    CHOSEN,
    DEAR,
    DISTINCT,
    EVALUATE,
    GROW,
    HEAP,
    IMPOSSIBLE,
    KNOWN,
    LAST,
    LINEAR,
    LOW,
    NOTED,
    OWED,
    PLEDGED,
    PROBABILITY,
    REFRESH,
    SPENT,
    TAKEN,
    WAITING,
    WAITS,
    WORK,
    Lazy,
    Quota,
    Run,
    Seen,
)
from dpplearn._loops.repeats import locate, note, repeats
from dpplearn._loops.rows import fill_row, odd_squares, project, squares
from dpplearn._precision import TIE

NEAR = 1_000_000  # entries of rows up to which they are read from a cache, in any order as quickly


@jit
def reach(run):
    """How many directions a gain can be brought up to date by: all, or those kept beside P."""
    return run.short.shape[0] // 2 if run.P.size > 0 else run.at[KNOWN]


@jit
def is_dense(features):
    """Whether rows are read as they are: neither sparse nor float16."""
    return features.indptr.size == 0 and features.half.size == 0


def steps_of_rows(features, run, n, directions):
    """Products of n rows with directions; short sums are compiled, for they depend on the order of their terms."""
    if run.short.dtype != np.float64:
        return np.inf
    d = run.b.size if features.indptr.size == 0 else 1 + features.indices.size / features.diag.size
    return n * d * directions


@jit(steps=lambda features, run, low, high: steps_of_rows(features, run, high - low, run.at[KNOWN]))
def refresh(features, run, alive, low, high):
    """Bring the gains of items low ... high-1 up to date, where the directions kept can; none is below own_i."""
    g, done, short, known, most = run.g, run.done, run.short, run.at[KNOWN], reach(run)
    rows, scale, own, dense = features.rows, features.scale, features.own, is_dense(features)
    ring = short.shape[0] // 2 if run.P.size > 0 else known + 1
    for i in range(low, high):
        behind = known - done[i]
        if alive[i] == 1 and 0 < behind <= most:
            s = done[i] % ring
            x = squares(rows, i, short, s, s + behind) if dense else odd_squares(features, i, short, s, s + behind)
            g[i], done[i] = max(g[i] - scale[i] * scale[i] * x, own[i]), known


@jit
def charge(quota, at, k, i, cost):
    """What of the budget is not pledged yet and choosing i would take; -1 where its group bars it."""
    c = quota.group[i]
    owed = quota.need[c] > 0
    if quota.most[c] == 0 or (not owed and at[TAKEN] + at[OWED] >= k):
        return -1.0
    return max(0.0, cost - quota.mark[c]) if owed else cost  # it takes the place of the dearest pledged for its group


@jit
def leaves(at, cost, left, g, least, floor):
    """Whether an item can never be chosen any more; counted by reason. What is spent, pledged and closed only grows,
    and gains only shrink."""
    if cost < 0.0:
        at[BARRED] += 1
    elif cost > left:  # line 4: it will never fit again
        at[DEAR] += 1
    elif g <= least:
        at[LINEAR] += 1
    elif g <= floor * (1.0 + TIE):
        at[LOW] += 1
    else:
        return False
    return True


@jit(steps=lambda quota, c: quota.starts[c + 1] - quota.starts[c])
def pledge(wanted, quota, run, c):
    """What the cheapest items that meet what is owed to group c will cost; not counting those taken."""
    total, left = 0.0, quota.need[c]
    quota.mark[c] = 0.0
    for a in range(quota.starts[c], quota.starts[c + 1]):
        if left == 0:
            break
        i = quota.order[a]
        if run.done[i] != CHOSEN:
            quota.mark[c] = wanted.cost[i]
            total += wanted.cost[i]
            left -= 1
    return total


@jit(steps=lambda alive: 20 * alive.size)
def put(features, wanted, quota, run, alive, items, whole):
    """Items onto the heap, if they do not leave: those given, or, for the whole heap anew, all that are left."""
    g, key, idx, at, own, diag = run.g, run.key, run.idx, run.at, features.own, features.diag
    cost, weight, rule, floor = wanted.cost, wanted.weight, wanted.rule, wanted.floor
    noise, grouped, left = features.noise, quota.group.size > 0, wanted.room - run.spent[SPENT] - run.spent[PLEDGED]
    tie = g if rule == PROBABILITY else run.tie
    size = 0 if whole else at[HEAP]
    for a in range(alive.size if whole else items.size):
        i = a if whole else items[a]
        if alive[i] != 1:
            continue
        price = charge(quota, at, wanted.k, i, cost[i]) if grouped else cost[i]
        if leaves(at, price, left, g[i], 0.0 if own[i] > 0.0 else noise * diag[i], floor):
            alive[i] = 0
            continue
        key[size], idx[size] = score(g[i], rule, weight[i]), i
        if not whole:
            rise(key, idx, tie, size)
        size += 1
    at[HEAP] = size
    if whole:
        at[WORK], at[LAST] = 0, at[KNOWN]
        for a in range(size // 2 - 1, -1, -1):
            sift(key, idx, tie, size, a)


@jit(steps=lambda run: 40 * run.block.size)
def put_back(features, wanted, quota, run, alive):
    """The items of the block, whose gains were computed from P, onto the heap again."""
    block = run.block[: run.at[BLOCK]]
    for i in block:
        run.done[i] = run.at[KNOWN]
    put(features, wanted, quota, run, alive, block, False)
    run.at[BLOCK] = 0


@jit
def front(features, wanted, quota, run, alive, alone):
    """The best candidate, taken off the heap; -1 where there is none, or minus the code of what Python is to do first.

    When the front has cost a good part of what a pass over all would (an eighth, in directions since the last one,
    because items one by one are slower), a pass refreshes all gains, and the front is short again. Of rows in a cache
    they are not, and the front alone never asks for more products than a pass would.
    """
    g, done, key, idx, at, block = run.g, run.done, run.key, run.idx, run.at, run.block
    own, diag, cost, weight = features.own, features.diag, wanted.cost, wanted.weight
    rule, floor, noise = wanted.rule, wanted.floor, features.noise
    tie = g if rule == PROBABILITY else run.tie
    n, known, dual, grouped = alive.size, at[KNOWN], run.P.size > 0, quota.group.size > 0
    most, left = reach(run), wanted.room - run.spent[SPENT] - run.spent[PLEDGED]
    rows, scale, short, dense = features.rows, features.scale, run.short, is_dense(features)
    ring, far = short.shape[0] // 2 if dual else known + 1, dual or n * run.b.size > NEAR
    while True:
        since = known - at[LAST]
        if at[HEAP] < 0 or (far and at[WORK] > (n // 8) * (since + 1) and (not dual or since < most)):
            if not alone:
                return -REFRESH
            refresh(features, run, alive, 0, n)
            put(features, wanted, quota, run, alive, idx[:0], True)
        if at[HEAP] == 0:
            return -1
        i = idx[0]
        behind = known - done[i]
        price = charge(quota, at, wanted.k, i, cost[i]) if grouped else cost[i]
        if 0 < behind <= most and 0.0 <= price <= left:
            at[WORK] += behind
            s = done[i] % ring
            x = squares(rows, i, short, s, s + behind) if dense else odd_squares(features, i, short, s, s + behind)
            g[i], done[i] = max(g[i] - scale[i] * scale[i] * x, own[i]), known
        if leaves(at, price, left, g[i], 0.0 if own[i] > 0.0 else noise * diag[i], floor):
            alive[i] = 0
            pop(key, idx, tie, at[HEAP])
            at[HEAP] -= 1
        elif behind == 0:
            pop(key, idx, tie, at[HEAP])
            at[HEAP] -= 1
            return i
        elif behind <= most:
            key[0] = score(g[i], rule, weight[i])
            sift(key, idx, tie, at[HEAP], 0)
        else:  # as many as one product takes: all will be asked for soon
            while at[BLOCK] < block.size and at[HEAP] > 0:
                block[at[BLOCK]] = idx[0]
                at[BLOCK] += 1
                pop(key, idx, tie, at[HEAP])
                at[HEAP] -= 1
            return -EVALUATE


@jit
def learn(run, gain):
    """The direction v / sqrt(gain)."""
    v, t, short, P, U = run.v, run.at[KNOWN], run.short, run.P, run.U
    root = 1.0 / np.sqrt(gain)
    if P.size > 0:
        for c in range(v.size):
            v[c] *= root
        ring = short.shape[0] // 2
        place = t % ring
        for c in range(v.size):
            x = v[c]
            short[place, c] = short[place + ring, c] = x
            for e in range(v.size):
                P[c, e] -= x * v[e]
    else:
        for c in range(v.size):
            U[t, c] = short[t, c] = root * v[c]
    run.at[KNOWN] += 1


@jit
def count_in_group(wanted, quota, run, j):
    """The limits of j's group, once it is taken."""
    c = quota.group[j]
    quota.most[c] -= 1
    if quota.need[c] > 0:
        run.spent[PLEDGED] -= pledge(wanted, quota, run, c)
        quota.need[c] -= 1
        run.at[OWED] -= 1
        run.done[j] = CHOSEN
        run.spent[PLEDGED] += pledge(wanted, quota, run, c)


@jit
def ended(wanted, quota, run, alive):
    """Why a run has ended."""
    at = run.at
    if quota.group.size > 0 and at[TAKEN] < run.items.size:  # none that is barred is still a candidate
        for i in range(alive.size):
            if alive[i] and charge(quota, at, wanted.k, i, 0.0) < 0.0:
                alive[i] = 0
                at[BARRED] += 1
    return why(alive, at[TAKEN] == run.items.size, at[DEAR], at[BARRED], at[LOW], at[LINEAR])


def steps_of_choosing(features, run, alive):
    """Half of all products of rows and directions: bounds save the others; and what is learned of each item."""
    k, d = run.items.size, run.b.size
    own = 2 * k * d * (3 * d if run.P.size > 0 else k)
    return steps_of_rows(features, run, alive.size, max(k / 2, 1.0)) + own + 20 * alive.size


@jit(steps=steps_of_choosing)
def choose(features, wanted, quota, seen, run, alive, alone):
    """Go on until k items are chosen, or no candidate is left, or Python has to do something: returns the code.

    `alive` (n,) marks the candidates, without those that are forced, and is used up. Where directions are noted, an
    item that repeats one waits until no other is left.
    """
    at, spent, forced, own, diag = run.at, run.spent, wanted.forced, features.own, features.diag
    b, v, P, U, items, gains, here = run.b, run.v, run.P, run.U, run.items, run.gains, seen.here
    while at[TAKEN] < items.size:
        t = at[TAKEN]
        if P.size == 0 and at[KNOWN] == U.shape[0] < b.size:
            return GROW
        must = t < forced.size
        if must:
            j = forced[t]
        elif spent[CHEAPEST] < np.inf and spent[SPENT] + spent[CHEAPEST] > wanted.room:  # none fits: ask none
            at[DEAR] += 1
            break
        else:
            j = front(features, wanted, quota, run, alive, alone)
            if j == -1 and at[WAITING] > 0:
                at[WAITING], at[DISTINCT], at[HEAP] = 0, t, -1
                for i in range(alive.size):
                    alive[i] = min(alive[i], 1)
                continue
            if j == -1:
                break
            if j < 0:
                return -j
        fill_row(features, j, b)
        noted = here.size > 0 and at[DISTINCT] < 0 and locate(b, seen.axes, here)
        if noted and not must and repeats(seen, here):
            alive[j] = WAITS
            at[WAITING] += 1
            continue
        left = project(b, v, P, U, at[KNOWN], own[j] <= 0.0)
        gain = own[j] + max(left, 0.0)
        alive[j] = 0
        if gain <= 0.0 or (own[j] <= 0.0 and gain <= features.noise * diag[j]):
            if must:
                items[t], gains[t] = j, 0.0
                at[TAKEN] += 1
                return IMPOSSIBLE
            at[LINEAR] += 1
            continue
        if noted:
            note(seen, at[NOTED], here)
            at[NOTED] += 1
        if left > 0.0:  # a row of zeros has no direction
            learn(run, gain)
        items[t], gains[t] = j, gain
        at[TAKEN] += 1
        spent[SPENT] += wanted.cost[j]
        if quota.group.size > 0:
            count_in_group(wanted, quota, run, j)
        run.done[j] = CHOSEN
    return ended(wanted, quota, run, alive)


def steps_of_few(features, wanted, alive, d):
    """As `steps_of_choosing`, of up to k items of few rows."""
    n, k = alive.size, min(wanted.k, alive.size)
    each = d if features.indptr.size == 0 else 1 + features.indices.size / n
    return n * each * max(k / 2, 1.0) + 2 * k * k * d + 20 * n


@jit(steps=steps_of_few)
def choose_few(features, wanted, alive, d):
    """Choose k items of few rows, with room for all directions, where nothing but the size is limited.

    All that a run writes on is made here: to hand over its arrays takes longer than to choose ten items of a hundred.
    """
    n, k = alive.size, min(wanted.k, alive.size)
    none, nothing, matrix, b, v = np.empty(0, np.int64), np.empty(0), np.empty((0, 0)), np.empty(d), np.empty(d)
    U, at, spent = np.empty((min(k, d), d)), np.zeros(DISTINCT + 1, np.int64), np.zeros(CHEAPEST + 1)
    at[HEAP] = at[DISTINCT] = -1
    spent[CHEAPEST] = np.inf
    quota, seen = Quota(none, none, none, nothing, none, none), Seen(matrix, matrix, none, nothing, 0.0)
    done, idx, items, gains = np.zeros(n, np.int32), np.empty(n, np.int32), np.empty(k, np.int64), np.empty(k)
    g, key = features.diag.copy(), np.empty(n)
    run = Lazy(g, done, key, idx, nothing, items, gains, U, U, matrix, b, v, none, at, spent)
    end = choose(features, wanted, quota, seen, run, alive, True)
    return Run(items[: at[TAKEN]], gains[: at[TAKEN]], end, 0)
