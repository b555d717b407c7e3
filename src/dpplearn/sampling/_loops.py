"""The loops of elimination, and of the Markov chain that adds, deletes and swaps items.

The chain finds the ratio of determinants of a move from the Cholesky factor of L_Y, kept up to date. With L_Y = C C^T,
x = C^-1 L_Yi and g = L_ii - |x|^2, adding i multiplies the determinant by g. Deleting the last item of Y divides it by
c^2, the square of C's last pivot, and swapping it for i is adding i to the others. So an item that may be deleted or
swapped is first moved to the end.
"""

from typing import NamedTuple

import numpy as np

from dpplearn._numba import jit
from dpplearn._precision import ZERO_GAIN
from dpplearn.sampling import Array


@jit(steps=lambda u: u.size**3 / 3)
def decide(A, u, chosen, log_goal):
    """Decide the items of a marginal kernel A, which need not be symmetric, one by one; overwrites A.

    The pivot is the probability of the item given the choices before it; one that is dropped subtracts 1. With
    `log_goal` up to 0 some item is chosen: the first at which the log chance of none so far falls below `log_goal`.
    """
    n = A.shape[0]
    for j in range(n):
        p = min(max(A[j, j], 0.0), 1.0)
        chosen[j] = u[j] < p
        if log_goal <= 0.0:
            log_goal -= np.log1p(-p) if p < 1.0 else -np.inf
            chosen[j] = log_goal > 0.0
        pivot = A[j, j] if chosen[j] else A[j, j] - 1.0
        for i in range(j + 1, n):
            f = A[i, j] / pivot
            for c in range(j + 1, n):
                A[i, c] -= f * A[j, c]


class ChainState(NamedTuple):
    """A Markov chain's set Y with the Cholesky factor C of L_Y."""

    A: Array  # L; or one row of it, that of the next item; or B with L = B B^T
    gram: bool  # whether A is B
    Y: Array
    inside: Array  # (n,) whether an item is in Y
    C: Array
    b: Array  # work space, as long as Y


@jit
def entries(state, i, k):
    """b[:k] = L[i, Y], returns L[i, i]."""
    A, Y, b = state.A, state.Y, state.b
    if not state.gram:
        row = A[min(i, A.shape[0] - 1)]  # the only one, where there is one
        for a in range(k):
            b[a] = row[Y[a]]
        return row[i]
    for a in range(k):
        b[a] = 0.0
        for c in range(A.shape[1]):
            b[a] += A[i, c] * A[Y[a], c]
    diagonal = 0.0
    for c in range(A.shape[1]):
        diagonal += A[i, c] * A[i, c]
    return diagonal


@jit
def gain_of_adding(C, k, b, diagonal):
    """Turn b = L_Yi into x = C^-1 b, and return g = L_ii - |x|^2, or 0 where nothing is left."""
    left = diagonal
    for r in range(k):
        x = b[r]
        for c in range(r):
            x -= C[r, c] * b[c]
        b[r] = x / C[r, r]
        left -= b[r] * b[r]
    return left if left > ZERO_GAIN * diagonal else 0.0


@jit
def make_last(C, Y, k, a):
    """Move the item at place a of Y behind all others; rotations make C triangular again; returns its squared pivot."""
    i = Y[a]
    for r in range(a, k - 1):
        Y[r] = Y[r + 1]
    Y[k - 1] = i
    for c in range(k):
        x = C[a, c] if c <= a else 0.0
        for r in range(a, k - 1):
            C[r, c] = C[r + 1, c]
        C[k - 1, c] = x
    for r in range(a, k - 1):  # row r reaches one column too far
        norm = np.hypot(C[r, r], C[r, r + 1])
        cos, sin = C[r, r] / norm, C[r, r + 1] / norm
        for s in range(r, k):
            u, v = C[s, r], C[s, r + 1]
            C[s, r], C[s, r + 1] = cos * u + sin * v, cos * v - sin * u
    C[k - 1, k - 1] = abs(C[k - 1, k - 1])
    return C[k - 1, k - 1] ** 2


def steps_of_chain(state, u, k):
    return len(u) * (20 + k * k + k * (state.A.shape[1] if state.gram else 1))


@jit(steps=steps_of_chain)
def run_chain(state, u, k, fixed_size):
    """len(u) moves from Y[:k]. Returns k.

    A move toggles one item, or swaps one in Y for one outside, each proposed with equal chance from
    both sides, and is accepted with probability min(1, ratio of determinants).
    """
    Y, inside, C, b = state.Y, state.inside, state.C, state.b
    n = inside.size
    for t in range(u.shape[0]):
        i = min(np.int64(u[t, 1] * n), n - 1)
        toggle = not fixed_size and u[t, 0] < 0.5
        if inside[i]:
            if toggle:
                a = 0
                while Y[a] != i:
                    a += 1
                if u[t, 3] * make_last(C, Y, k, a) < 1.0:
                    k -= 1
                    inside[i] = False
            continue
        if not toggle and k == 0:
            continue
        whole = 1.0  # the determinant's share of the item that may be swapped
        if not toggle:
            whole = make_last(C, Y, k, min(np.int64(u[t, 2] * k), k - 1))
            k -= 1
        gain = gain_of_adding(C, k, b, entries(state, i, k))
        if u[t, 3] * whole < gain and k < Y.size:
            if not toggle:
                inside[Y[k]] = False
            for c in range(k):  # the row (x, sqrt(g)) of C
                C[k, c] = b[c]
            C[k, k], Y[k], inside[i] = np.sqrt(gain), i, True
            k += 1
        elif not toggle:
            k += 1
    return k
