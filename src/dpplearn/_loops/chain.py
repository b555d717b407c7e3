"""The add / delete / swap Markov chain: moves priced with the inverse M of L_Y, kept up to date."""

import numpy as np

from dpplearn._loops.jit import jit


@jit
def entries(A, gram, i, Y, k, b):
    """b[:k] = L[i, Y], returns L[i, i]; L = A, or L = A A^T where gram is set."""
    if not gram:
        for a in range(k):
            b[a] = A[i, Y[a]]
        return A[i, i]
    for a in range(k):
        x = 0.0
        for c in range(A.shape[1]):
            x += A[i, c] * A[Y[a], c]
        b[a] = x
    x = 0.0
    for c in range(A.shape[1]):
        x += A[i, c] * A[i, c]
    return x


@jit
def gain_of_adding(M, k, b, diagonal, skip):
    """det(L_{Z + i}) / det(L_Z), Z = Y without its item at place `skip` (-1: all of Y); 0 where nothing is left.

    The inverse of L_Z is M with row and column `skip` eliminated.
    """
    left, cross = diagonal, 0.0
    for a in range(k):
        if a != skip:
            x = 0.0
            for c in range(k):
                if c != skip:
                    x += M[a, c] * b[c]
            left -= b[a] * x
            if skip >= 0:
                cross += M[skip, a] * b[a]
    if skip >= 0:
        left += cross * cross / M[skip, skip]
    return left if left > 1e-12 * diagonal else 0.0


@jit
def remove(M, Y, k, a):
    """Take the item at place a out of Y and out of M; the last item moves into its place."""
    last = k - 1
    if a != last:
        Y[a], Y[last] = Y[last], Y[a]
        for c in range(k):
            M[a, c], M[last, c] = M[last, c], M[a, c]
        for c in range(k):
            M[c, a], M[c, last] = M[c, last], M[c, a]
    for r in range(last):
        f = M[r, last] / M[last, last]
        for c in range(last):
            M[r, c] -= f * M[last, c]
    return last


@jit
def insert(M, Y, k, i, b, gain):
    """Append item i to Y and to M, by the inverse of a bordered matrix."""
    for a in range(k):
        x = 0.0
        for c in range(k):
            x += M[a, c] * b[c]
        M[a, k] = x
    for a in range(k):
        for c in range(k):
            M[a, c] += M[a, k] * M[c, k] / gain
    for a in range(k):
        M[a, k] /= -gain
        M[k, a] = M[a, k]
    M[k, k] = 1.0 / gain
    Y[k] = i
    return k + 1


@jit
def refresh(A, gram, M, Y, k, b):
    """Rebuild M item by item from L, to shed what rounding has gathered."""
    m = 0
    for a in range(k):
        i = Y[a]
        diagonal = entries(A, gram, i, Y, m, b)
        m = insert(M, Y, m, i, b, max(gain_of_adding(M, m, b, diagonal, -1), 1e-12 * diagonal))


@jit
def run_chain(A, gram, u, Y, place, k, M, b, fixed_size, countdown):
    """len(u) moves from Y[:k]; place[i] is where item i stands in Y, or -1. Returns k and countdown.

    A move toggles one item, or swaps one in Y for one outside, each proposed with equal chance from
    both sides, and is accepted with probability min(1, ratio of determinants).
    """
    n = place.size
    for t in range(u.shape[0]):
        i = min(np.int64(u[t, 1] * n), n - 1)
        old = k
        if not fixed_size and u[t, 0] < 0.5:
            a = place[i]
            if a >= 0:
                if u[t, 3] < M[a, a]:
                    k = remove(M, Y, k, a)
                    place[Y[a]] = a
                    place[i] = -1
            else:
                gain = gain_of_adding(M, k, b, entries(A, gram, i, Y, k, b), -1)
                if u[t, 3] < gain:
                    place[i] = k
                    k = insert(M, Y, k, i, b, gain)
        elif 0 < k < n and place[i] < 0:
            a = min(np.int64(u[t, 2] * k), k - 1)
            gain = gain_of_adding(M, k, b, entries(A, gram, i, Y, k, b), a)
            if u[t, 3] < gain * M[a, a]:
                place[Y[a]] = -1
                k = remove(M, Y, k, a)
                if a < k:
                    place[Y[a]] = a
                    b[a] = b[k]
                place[i] = k
                k = insert(M, Y, k, i, b, gain)
                old = -1
        if k != old:
            countdown -= 1
            if countdown == 0:
                refresh(A, gram, M, Y, k, b)
                countdown = 200
    return k, countdown
