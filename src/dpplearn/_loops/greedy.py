"""Greedy choice of items: Algorithm 2 of the paper, one Schur complement per candidate.

Given the items Y chosen so far, candidate i multiplies the probability by its gain
g_i = L_ii - L_iY L_Y^-1 L_Yi, which only shrinks as Y grows.
"""

import numpy as np

from dpplearn._loops.elimination import dot, subtract
from dpplearn._loops.jit import jit
from dpplearn._loops.records import DEPENDENT, FULL, IMPOSSIBLE, LOG, NO_GAIN, NO_ROOM, PROBABILITY, QUOTA, SIZE, Run
from dpplearn._precision import AGAIN, ROUNDING


@jit
def score(g, wanted, i):
    """What the greedy rule compares; grows with g, so that an old gain gives an upper bound."""
    if wanted.rule == PROBABILITY:
        return (g - 1.0) / wanted.weight[i]
    x = np.log(g)
    if wanted.rule == LOG or x >= 0.0:
        return x / wanted.weight[i]
    return x  # a loss, of which a costly item has no smaller a share


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
    """The reason for an end: who is still a candidate, and how many left as too dear, excluded by one chosen, of low
    gain or dependent."""
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


@jit
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
                    elif g[i] <= wanted.floor:
                        alive[i] = 0
                        low += 1
                    elif bound[i] >= best or j < 0:
                        bound[i] = score(g[i], wanted, i)
                        if bound[i] > best or j < 0 or (bound[i] == best and preferred(g, wanted, i, j)):
                            j, best = i, bound[i]
        if j < 0:
            break
        items[t], gains[t] = j, g[j]
        alive[j] = 0
        barred += bar(alive, wanted.group, j)
        spent += cost[j]
        if g[j] <= (t + 1) * ROUNDING * L[j, j]:  # only a forced item can be
            return Run(items[: t + 1], gains[: t + 1], IMPOSSIBLE)
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
    return Run(items[:t], gains[:t], why(alive, t == k, dear, barred, low, dependent))


@jit
def fill_row(features, i, out):
    """out = b_i = scale_i rows_i as float64, from dense rows or from csr arrays."""
    rows, indptr, scale = features.rows, features.indptr, features.scale[i]
    if indptr.size == 0:
        for c in range(rows.shape[1]):
            out[c] = scale * rows[i, c]
    else:
        for c in range(out.size):
            out[c] = 0.0
        for a in range(indptr[i], indptr[i + 1]):
            out[features.indices[a]] += scale * features.data[a]


@jit
def residual(features, i, U, done, t, g):
    """g less the squares of b_i along the directions done ... t-1; U is in the type of the rows."""
    rows, indptr, scale = features.rows, features.indptr, features.scale[i]
    total = 0.0
    if indptr.size > 0:
        indices, data = features.indices, features.data
        for s in range(done, t):
            x = 0.0
            for a in range(indptr[i], indptr[i + 1]):
                x += U[s, indices[a]] * data[a]
            total += x * x
        return g - scale * scale * total
    d = rows.shape[1]
    s = done
    while s + 4 <= t:  # four at a time: a row is read once, and its products stay in registers
        x0 = x1 = x2 = x3 = rows.dtype.type(0.0)
        for c in range(d):
            r = rows[i, c]
            x0 += r * U[s, c]
            x1 += r * U[s + 1, c]
            x2 += r * U[s + 2, c]
            x3 += r * U[s + 3, c]
        total += np.float64(x0) ** 2 + np.float64(x1) ** 2 + np.float64(x2) ** 2 + np.float64(x3) ** 2
        s += 4
    while s < t:
        x = rows.dtype.type(0.0)
        for c in range(d):
            x += rows[i, c] * U[s, c]
        total += np.float64(x) ** 2
        s += 1
    return g - scale * scale * total


@jit
def before(key, idx, tie, a, b):
    """Whether place a of the heap goes before place b: larger key, then larger tie, then smaller item number.

    `tie` (n,) are the gains for the rule of probabilities, where g - 1 is the same float for all small g; else what
    prefers the cheaper, or empty where costs are equal.
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
def greedy_rows(features, d, wanted, alive):
    """Choose up to k items within the budget from features of d columns.

    Gram-Schmidt in feature space: u_t is the direction of the t-th choice that the earlier ones do not span, so
    g_i = L_ii - sum of <b_i, u_s>^2, and no row of a Cholesky factor is stored. L_ii = diag_i may exceed
    |b_i|^2 by own_i, a coordinate that i shares with nobody: it counts only where i itself is chosen.

    Lazy (Minoux 1978; Hemmi et al., 2022): old gains are upper bounds, so only the front of a heap is
    brought up to date. When that has cost a good part of what a pass over all would (an eighth, in directions since the
    last one, because items one by one are slower), a pass refreshes all gains, and the front is short again.
    """
    diag, own, noise = features.diag, features.own, features.noise
    cost, forced, rule, budget, floor = wanted.cost, wanted.forced, wanted.rule, wanted.room, wanted.floor
    n = diag.size
    k = min(wanted.k, n)
    room, shared = 16, True
    for i in range(n):
        if own[i] > 0.0:
            shared = False
            break
    extra = 0 if shared else room  # own coordinates, one for each item chosen, where there are any
    U = np.zeros((room, d + extra))
    short = np.empty((room, d), features.data.dtype)  # U in the type of the rows, which the passes over them read
    v = np.zeros(d + extra)
    g, done = diag.copy(), np.zeros(n, np.int32)
    tie = g if rule == PROBABILITY else -cost if cost.min() < cost.max() else g[:0]
    key, idx = np.empty(n), np.empty(n, np.int64)
    items, gains = np.empty(k, np.int64), np.empty(k)
    spent, t, size, work, dear, barred, low, dependent = 0.0, 0, -1, 0, 0, 0, 0, 0
    end, cheapest, last = -1, np.inf, 0
    for i in range(n):
        if alive[i]:
            cheapest = min(cheapest, cost[i])
    while t < k:
        j, fresh = -1, False
        if t < forced.size:
            j, fresh = forced[t], True
        elif cheapest < np.inf and spent + cheapest > budget:  # none fits, without asking each
            dear += 1
            break
        while j < 0:
            if size < 0 or work > (n // 8) * (t - last + 1):  # bring all gains up to date, and build the heap
                size, work, last = 0, 0, t
                for i in range(n):
                    if alive[i]:
                        if spent + cost[i] > budget:
                            alive[i] = 0
                            dear += 1
                            continue
                        if done[i] < t:
                            g[i] = residual(features, i, short, done[i], t, g[i])
                            done[i] = t
                        if g[i] <= noise * diag[i]:
                            alive[i] = 0
                            dependent += 1
                        elif g[i] <= floor:
                            alive[i] = 0
                            low += 1
                        else:
                            key[size], idx[size] = score(g[i], wanted, i), i
                            size += 1
                for a in range(size // 2 - 1, -1, -1):
                    sift(key, idx, tie, size, a)
            if size == 0:
                break
            i = idx[0]
            gone = True
            if not alive[i]:  # excluded by one chosen
                pass
            elif spent + cost[i] > budget:  # line 4: it will never fit again
                dear += 1
            else:
                if done[i] == t:
                    j = i
                else:
                    work += t - done[i]
                    g[i] = residual(features, i, short, done[i], t, g[i])
                    done[i] = t
                    if g[i] <= noise * diag[i]:
                        dependent += 1
                    elif g[i] <= floor:
                        low += 1
                    else:
                        gone = False
                        key[0] = score(g[i], wanted, i)
            if gone:
                alive[i] = 0
                size -= 1
                key[0], idx[0] = key[size], idx[size]
            sift(key, idx, tie, size, 0)
        if j < 0:
            break
        if t == room:
            extra = 0 if shared else 2 * room
            grown, wider = np.zeros((2 * room, d + extra)), np.empty((2 * room, d), short.dtype)
            grown[:room, : U.shape[1]] = U
            wider[:room] = short
            U, short, v, room = grown, wider, np.zeros(d + extra), 2 * room
        v[d:] = 0.0
        fill_row(features, j, v[:d])
        if extra > 0:
            v[d + t] = np.sqrt(own[j])
        gain = orthogonalize(v, U, t)
        alive[j] = 0
        if gain <= noise * diag[j] or gain == 0.0:
            if fresh:
                end = IMPOSSIBLE
                items[t], gains[t] = j, 0.0
                t += 1
                break
            dependent += 1
            continue
        root = 1.0 / np.sqrt(gain)
        for c in range(d + extra):
            U[t, c] = v[c] * root
        for c in range(d):
            short[t, c] = U[t, c]
        items[t], gains[t] = j, gain
        barred += bar(alive, wanted.group, j)
        spent += cost[j]
        t += 1
    if end < 0:
        end = why(alive, t == k, dear, barred, low, dependent)
    return Run(items[:t], gains[:t], end)


@jit
def row_squares(rows, out):
    """|rows_i|^2 in float64."""
    for i in range(rows.shape[0]):
        x = 0.0
        for c in range(rows.shape[1]):
            y = np.float64(rows[i, c])
            x += y * y
        out[i] = x
