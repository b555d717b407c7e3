"""From one chosen item to the next, past all that are not, in a marginal kernel K = Q W Q^T that need not be symmetric.

Let A be what is chosen of the items before place i, and W_i = T (I + G_i T)^-1, where L = Q T Q^T and G_i is the sum of
q q^T over the items from i on. All sets that agree with A before i weigh, together,

    f_i(A) = det(I + G_i T) det(Q_A W_i Q_A^T),

so that f_j(A) / f_i(A) is the probability that nothing is chosen from i to j, and Q (W_i - W_i Q_A^T (Q_A W_i Q_A^T)^-1
Q_A W_i) Q^T is the marginal kernel of the items from i on. W_i is kept for every so many items.
"""

import numpy as np

from dpplearn._numba import jit
from dpplearn.sampling._random_loops import uniform


@jit
def times(A, B):
    """A B, for arrays of one type: numba compiles each product of other types anew, for a second."""
    return A @ B


@jit
def times_transposed(A, B):
    """A B^T, in the same way."""
    return A @ B.T


@jit
def eliminate(M, R):
    """Make M^-1 R of R, by elimination with pivots; returns log det M, -inf where it is 0 or below. Overwrites M."""
    k, m = R.shape
    total, positive = 0.0, True
    for c in range(k):
        p = c
        for i in range(c + 1, k):
            if abs(M[i, c]) > abs(M[p, c]):
                p = i
        pivot = M[p, c]
        if pivot == 0.0:
            return -np.inf
        if p != c:
            positive = not positive
            for j in range(c, k):
                M[c, j], M[p, j] = M[p, j], M[c, j]
            for j in range(m):
                R[c, j], R[p, j] = R[p, j], R[c, j]
        positive ^= pivot < 0.0
        total += np.log(abs(pivot))
        for i in range(c + 1, k):
            f = M[i, c] / pivot
            for j in range(c + 1, k):
                M[i, j] -= f * M[c, j]
            for j in range(m):
                R[i, j] -= f * R[c, j]
    for c in range(k - 1, -1, -1):
        for i in range(c + 1, k):
            for j in range(m):
                R[c, j] -= M[c, i] * R[i, j]
        for j in range(m):
            R[c, j] /= M[c, c]
    return total if positive else -np.inf


@jit
def log_weight(tables, i, A):
    """log f_i(A), and A W_i, for the rows A of what is chosen."""
    left = times(A, tables.W[i])
    return tables.log_rest[i] + eliminate(times_transposed(left, A), left[:, :0].copy()), left


@jit
def find_block(tables, i, A, now, goal):
    """The last place before which nothing more is chosen, with log f and A W there: log f is not below `goal`.

    Without A, f is known everywhere: there the next place to look at is taken from, by interpolation; every second
    time from the middle.
    """
    rest = tables.log_rest
    low, high = i, rest.size
    at_low, at_high = now, -np.inf
    turn, at_place = 0, A[:0]
    while high - low > 1:
        if turn % 2 == 0 or high == rest.size:
            share = 1.0
            if at_high > -np.inf and at_low > at_high:
                share = (rest[low] - rest[high]) / (at_low - at_high)
            x = rest[low] - share * (at_low - goal)
            place = min(max(np.searchsorted(-rest, -x, side="right"), low + 1), high - 1)  # the first below x
        else:
            place = (low + high) // 2
        turn += 1
        value, left = log_weight(tables, place, A)
        if value >= goal:
            low, at_low, at_place = place, value, left
        else:
            high, at_high = place, value
    return low, at_low, at_place


@jit
def draw(tables, state, items, rows):
    """One subset into `items`, its rows of Q into `rows`, each after what is sure; returns how many there are."""
    Q, starts = tables.Q, tables.starts
    last = starts.size - 1
    i, k = 0, tables.sure.shape[0]
    for j in range(k):
        for c in range(rows.shape[1]):
            rows[j, c] = tables.sure[j, c]
    now = log_weight(tables, 0, rows[:k])[0]
    while i < last:
        goal = now + np.log(1.0 - uniform(state))
        A = rows[:k]
        i, now, T = find_block(tables, i, A, now, goal)
        if i == last:
            break
        S = Q[starts[i] : starts[i + 1]].copy()
        left = tables.left[starts[i] : starts[i + 1]]
        K = times_transposed(left, S)
        if k > 0:
            if T.shape[0] == 0:
                T = times(A, tables.W[i])
            taken = times_transposed(T, S)
            eliminate(times_transposed(T, A), taken)
            taken = times(times_transposed(left, A), taken)
            for j in range(K.shape[0]):
                for c in range(K.shape[1]):
                    K[j, c] -= taken[j, c]
        n, room = S.shape[0], goal - now  # the log of the chance to find nothing in the block up to an item, at least
        searching = True
        for j in range(n):
            p = min(max(K[j, j], 0.0), 1.0)
            if searching:
                room -= np.log1p(-p) if p < 1.0 else -np.inf
                chosen = room > 0.0
                searching = not chosen
            else:
                chosen = uniform(state) < p
            if chosen and k < rows.shape[0]:
                items[k] = starts[i] + j
                for c in range(rows.shape[1]):
                    rows[k, c] = S[j, c]
                k += 1
            now += np.log(p if chosen else 1.0 - p)
            pivot = K[j, j] if chosen else K[j, j] - 1.0
            for a in range(j + 1, n):
                f = K[a, j] / pivot
                for c in range(j + 1, n):
                    K[a, c] -= f * K[j, c]
        i += 1
    return k


@jit(steps=lambda u: u.size**3 / 3)
def decide(A, u, chosen):
    """Decide the items of a marginal kernel A, which need not be symmetric, one by one; overwrites A.

    The pivot is the probability of the item given the choices before it; one that is dropped subtracts 1.
    """
    n = A.shape[0]
    for j in range(n):
        chosen[j] = u[j] < A[j, j]
        pivot = A[j, j] if chosen[j] else A[j, j] - 1.0
        for i in range(j + 1, n):
            f = A[i, j] / pivot
            for c in range(j + 1, n):
                A[i, c] -= f * A[j, c]


def steps_of_jumps(tables, sizes):
    """For each item a search among the blocks, of some products, and the elimination of one block."""
    starts = tables.starts
    return sizes.size * tables.Q.shape[1] * (100 * np.log2(1 + starts.size) + (starts[1:2].sum() ** 3) / 6)


@jit(steps=steps_of_jumps)
def draw_jumps(tables, states, sizes):
    """One subset for each state, end to end; their sizes into `sizes`."""
    d, sure = tables.Q.shape[1], tables.sure.shape[0]
    items, rows = np.empty(d, np.int64), np.empty((d, d))
    out, used = np.empty(64, np.int64), 0
    for s in range(sizes.size):
        k = draw(tables, states[s], items, rows) - sure
        if used + k > out.size:
            grown = np.empty(2 * (used + k), np.int64)
            for c in range(used):
                grown[c] = out[c]
            out = grown
        for c in range(k):
            out[used + c] = items[sure + c]
        used += k
        sizes[s] = k
    return out[:used].copy()
