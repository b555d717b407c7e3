"""Greedy choice of items from features: gains are upper bounds, and only the front of a heap is brought up to date.

L = B B^T + diag(own) with b_i = scale_i rows_i. Given the items Y chosen so far

    g_i = own_i + b_i^T P b_i,    P = (I + B_Y^T diag(own_Y)^-1 B_Y)^-1,    P <- P - v v^T / g_j,    v = P b_j,

so that with the directions u_t = v / sqrt(g_j), g_i = L_ii - sum of <b_i, u_t>^2: no Cholesky row is stored.
Where nothing is an item's own, this is Gram-Schmidt in feature space, and ends at the rank.

Up to d items all directions are kept. For more, the *dual form* keeps P, of d x d numbers, and the last directions
(in float64, twice, so that any run of them is contiguous): a gain that misses only these is brought up to date by them,
others by P, in blocks.
"""

import numpy as np

from dpplearn._loops.elimination import dot, subtract
from dpplearn._loops.greedy import score, why
from dpplearn._loops.jit import jit
from dpplearn._loops.records import EVALUATE, GROW, IMPOSSIBLE, PROBABILITY, REFRESH
from dpplearn._precision import AGAIN

# Places of Lazy.at: items and directions taken; the heap's size; work since the last pass, and directions then;
# candidates that left, by reason; items in the block; items still owed to groups
TAKEN, KNOWN, SIZE, WORK, LAST, DEAR, BARRED, LOW, DEPENDENT, BLOCK, OWED = range(11)
# Places of Lazy.spent: on items taken; the least that what is owed to groups will cost; the cheapest candidate
SPENT, PLEDGED, CHEAPEST = range(3)
CHOSEN = -(2**30)  # in Lazy.done: of an item that was taken


@jit
def fill_row(features, i, out):
    """out = b_i = scale_i rows_i as float64, from dense rows or from csr arrays."""
    rows, indptr, scale = features.rows, features.indptr, features.scale[i]
    if indptr.size > 0:
        for c in range(out.size):
            out[c] = 0.0
        for a in range(indptr[i], indptr[i + 1]):
            out[features.indices[a]] += scale * features.data[a]
    elif features.half.size > 0:
        for c in range(rows.shape[1]):
            out[c] = scale * features.half[np.int64(rows[i, c])]
    else:
        for c in range(rows.shape[1]):
            out[c] = scale * rows[i, c]


@jit
def squares(row, U, low, high):
    """Sum of <row, u_s>^2 over the directions low ... high-1."""
    total, s = 0.0, low
    while s + 4 <= high:  # four at a time: a row is read once, and its products stay in registers
        x0 = x1 = x2 = x3 = U.dtype.type(0.0)
        for c in range(row.size):
            r = row[c]
            x0 += r * U[s, c]
            x1 += r * U[s + 1, c]
            x2 += r * U[s + 2, c]
            x3 += r * U[s + 3, c]
        total += np.float64(x0) ** 2 + np.float64(x1) ** 2 + np.float64(x2) ** 2 + np.float64(x3) ** 2
        s += 4
    while s < high:
        x = U.dtype.type(0.0)
        for c in range(row.size):
            x += row[c] * U[s, c]
        total += np.float64(x) ** 2
        s += 1
    return total


@jit
def update(features, run, i):
    """Bring g_i up to date by the directions that it does not know; it is never less than own_i."""
    low, count = run.done[i], run.at[KNOWN] - run.done[i]
    if run.P.size > 0:
        low %= run.short.shape[0] // 2
    rows, indptr, U = features.rows, features.indptr, run.short
    total = 0.0
    if indptr.size > 0:
        indices, data = features.indices, features.data
        for s in range(low, low + count):
            x = 0.0
            for a in range(indptr[i], indptr[i + 1]):
                x += U[s, indices[a]] * data[a]
            total += x * x
    elif features.half.size > 0:
        line = np.empty(rows.shape[1], features.half.dtype)
        for c in range(line.size):
            line[c] = features.half[np.int64(rows[i, c])]
        total = squares(line, U, low, low + count)
    else:
        total = squares(rows[i], U, low, low + count)
    run.g[i] = max(run.g[i] - features.scale[i] ** 2 * total, features.own[i])
    run.done[i] = run.at[KNOWN]


@jit
def reach(run):
    """How many directions `update` can make up for."""
    return run.short.shape[0] // 2 if run.P.size > 0 else run.at[KNOWN]


@jit
def refresh(features, run, alive, low, high):
    """Bring the gains of items low ... high-1 up to date, where the directions kept can."""
    known, most = run.at[KNOWN], reach(run)
    for i in range(low, high):
        if alive[i] and run.done[i] < known and known - run.done[i] <= most:
            update(features, run, i)


@jit
def leaves(features, wanted, quota, run, i):
    """Whether i can never be chosen any more; counted by reason.

    What is spent and pledged only grows, and so does what is closed; gains only shrink.
    """
    at, spent, cost = run.at, run.spent, wanted.cost[i]
    if quota.group.size > 0:
        c = quota.group[i]
        owed = quota.need[c] > 0
        if quota.most[c] == 0 or (not owed and at[TAKEN] + at[OWED] >= wanted.k):
            at[BARRED] += 1
            return True
        if owed:  # it takes the place of the dearest that is pledged for its group
            cost = max(0.0, cost - quota.mark[c])
    if spent[SPENT] + spent[PLEDGED] + cost > wanted.room:  # line 4: it will never fit again
        at[DEAR] += 1
        return True
    g = run.g[i]
    if g <= 0.0 or (features.own[i] <= 0.0 and g <= features.noise * features.diag[i]):
        at[DEPENDENT] += 1
        return True
    if g <= wanted.floor:
        at[LOW] += 1
        return True
    return False


@jit
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


@jit
def before(key, idx, tie, a, b):
    """Whether place a of the heap goes before place b: larger key, then larger tie, then smaller item number.

    `tie` (n,) are the gains for the rule of probabilities, where g - 1 is the same float for all small g; else empty.
    """
    if key[a] != key[b]:
        return key[a] > key[b]
    if tie.size > 0 and tie[idx[a]] != tie[idx[b]]:
        return tie[idx[a]] > tie[idx[b]]
    return idx[a] < idx[b]


@jit
def sift(key, idx, tie, size, a):
    """Move the entry at place a down to where the heap is in order again."""
    while True:
        b = 2 * a + 1
        if b >= size:
            return
        if b + 1 < size and before(key, idx, tie, b + 1, b):
            b += 1
        if not before(key, idx, tie, b, a):
            return
        key[a], key[b] = key[b], key[a]
        idx[a], idx[b] = idx[b], idx[a]
        a = b


@jit
def rise(key, idx, tie, a):
    """Move the entry at place a up to where the heap is in order again."""
    while a > 0 and before(key, idx, tie, a, (a - 1) // 2):
        b = (a - 1) // 2
        key[a], key[b] = key[b], key[a]
        idx[a], idx[b] = idx[b], idx[a]
        a = b


@jit
def ties(wanted, run):
    return run.g if wanted.rule == PROBABILITY else run.g[:0]


@jit
def pop(wanted, run):
    """Take the front off the heap."""
    at = run.at
    at[SIZE] -= 1
    run.key[0], run.idx[0] = run.key[at[SIZE]], run.idx[at[SIZE]]
    sift(run.key, run.idx, ties(wanted, run), at[SIZE], 0)


@jit
def build(features, wanted, quota, run, alive):
    """The heap anew, of all candidates that are left."""
    size = 0
    for i in range(alive.size):
        if alive[i]:
            if leaves(features, wanted, quota, run, i):
                alive[i] = 0
            else:
                run.key[size], run.idx[size] = score(run.g[i], wanted, i), i
                size += 1
    run.at[SIZE], run.at[WORK], run.at[LAST] = size, 0, run.at[KNOWN]
    for a in range(size // 2 - 1, -1, -1):
        sift(run.key, run.idx, ties(wanted, run), size, a)


@jit
def put_back(features, wanted, quota, run, alive):
    """The items of the block, whose gains were computed from P, into the heap again."""
    at = run.at
    for a in range(at[BLOCK]):
        i = run.block[a]
        run.done[i] = at[KNOWN]
        if leaves(features, wanted, quota, run, i):
            alive[i] = 0
        else:
            run.key[at[SIZE]], run.idx[at[SIZE]] = score(run.g[i], wanted, i), i
            rise(run.key, run.idx, ties(wanted, run), at[SIZE])
            at[SIZE] += 1
    at[BLOCK] = 0


@jit
def front(features, wanted, quota, run, alive, alone):
    """The best candidate, taken off the heap; -1 where there is none, or minus the code of what Python is to do first.

    When the front has cost a good part of what a pass over all would (an eighth, in directions since the last one,
    because items one by one are slower), a pass refreshes all gains, and the front is short again.
    """
    at, n, dual = run.at, alive.size, run.P.size > 0
    while True:
        since = at[KNOWN] - at[LAST]
        if at[SIZE] < 0 or (at[WORK] > (n // 8) * (since + 1) and (not dual or since < reach(run))):
            if not alone:
                return -REFRESH
            refresh(features, run, alive, 0, n)
            build(features, wanted, quota, run, alive)
        if at[SIZE] == 0:
            return -1
        i = run.idx[0]
        behind = at[KNOWN] - run.done[i]
        if leaves(features, wanted, quota, run, i):
            alive[i] = 0
            pop(wanted, run)
        elif behind == 0:
            alive[i] = 0
            pop(wanted, run)
            return i
        elif behind <= reach(run):
            at[WORK] += behind
            update(features, run, i)
            run.key[0] = score(run.g[i], wanted, i) if run.g[i] > 0.0 else -np.inf
            sift(run.key, run.idx, ties(wanted, run), at[SIZE], 0)
        else:  # as many as one product takes: all will be asked for soon
            while at[BLOCK] < run.block.size and at[SIZE] > 0:
                run.block[at[BLOCK]] = run.idx[0]
                at[BLOCK] += 1
                pop(wanted, run)
            return -EVALUATE


@jit
def orthogonalize(v, U, t):
    """Take from v its parts along U[:t]; returns the squared length of what is left."""
    left, again = dot(v, v), True
    while again:
        before = left
        for s in range(t):
            left = subtract(v, dot(U[s], v), U[s])
        again = 0.0 < left < AGAIN * before  # digits were lost: once more (Kahan)
    return left


@jit
def project(features, run, j):
    """run.v = P b_j; returns b_j^T P b_j."""
    b, v, P, U = run.b, run.v, run.P, run.U
    fill_row(features, j, b)
    if P.size > 0:
        for c in range(b.size):
            v[c] = dot(P[c], b)
        return dot(b, v)
    v[:] = b
    if features.own[j] <= 0.0:  # then all directions are orthonormal
        return orthogonalize(v, U, run.at[KNOWN])
    for s in range(run.at[KNOWN]):
        subtract(v, dot(U[s], b), U[s])
    return dot(b, v)


@jit
def learn(run, gain):
    """The direction v / sqrt(gain)."""
    v, t, short = run.v, run.at[KNOWN], run.short
    root = 1.0 / np.sqrt(gain)
    for c in range(v.size):
        v[c] *= root
    if run.P.size > 0:
        ring = short.shape[0] // 2
        place = t % ring
        for c in range(v.size):
            short[place, c] = short[place + ring, c] = v[c]
            x = v[c]
            row = run.P[c]
            for e in range(v.size):
                row[e] -= x * v[e]
    else:
        for c in range(v.size):
            run.U[t, c] = short[t, c] = v[c]
    run.at[KNOWN] += 1


@jit
def choose(features, wanted, quota, run, alive, alone):
    """Go on until k items are chosen, or no candidate is left, or Python has to do something: returns the code.

    `alive` (n,) marks the candidates, without those that are forced, and is used up.
    """
    at, spent, forced, own = run.at, run.spent, wanted.forced, features.own
    while at[TAKEN] < run.items.size:
        if run.P.size == 0 and at[KNOWN] == run.U.shape[0] < run.b.size:
            return GROW
        t = at[TAKEN]
        must = t < forced.size
        if must:
            j = forced[t]
        elif (
            spent[CHEAPEST] < np.inf and spent[SPENT] + spent[CHEAPEST] > wanted.room
        ):  # none fits, without asking each
            at[DEAR] += 1
            break
        else:
            j = front(features, wanted, quota, run, alive, alone)
            if j == -1:
                break
            if j < 0:
                return -j
        left = project(features, run, j)
        gain = own[j] + max(left, 0.0)
        alive[j] = 0
        if gain <= 0.0 or (own[j] <= 0.0 and gain <= features.noise * features.diag[j]):
            if must:
                run.items[t], run.gains[t] = j, 0.0
                at[TAKEN] += 1
                return IMPOSSIBLE
            at[DEPENDENT] += 1
            continue
        if left > 0.0:  # a row of zeros has no direction
            learn(run, gain)
        run.items[t], run.gains[t] = j, gain
        at[TAKEN] += 1
        spent[SPENT] += wanted.cost[j]
        if quota.group.size > 0:
            c = quota.group[j]
            quota.most[c] -= 1
            if quota.need[c] > 0:
                spent[PLEDGED] -= pledge(wanted, quota, run, c)
                quota.need[c] -= 1
                at[OWED] -= 1
                run.done[j] = CHOSEN
                spent[PLEDGED] += pledge(wanted, quota, run, c)
        run.done[j] = CHOSEN
    full = at[TAKEN] == run.items.size
    return why(alive, full, at[DEAR], at[BARRED], at[LOW], at[DEPENDENT])
