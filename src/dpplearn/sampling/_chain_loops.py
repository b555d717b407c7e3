"""The add / delete / swap Markov chain: moves priced with the Cholesky factor of L_Y, kept up to date.

With L_Y = C C^T, x = C^-1 L_Yi and z = C^-1 e_a:
    adding i multiplies the determinant by    g = L_ii - |x|^2,
    deleting the item at place a by           |z|^2,
    swapping it for i by                      |z|^2 g + (z . x)^2.
Triangular solves lose no digits to the condition of L_Y, as its inverse would.
"""

import numpy as np

from dpplearn._determinant_loops import dot
from dpplearn._numba import jit
from dpplearn._precision import NOTHING


@jit
def entries(chain, i, k):
    """b[:k] = L[i, Y], returns L[i, i]."""
    A, Y, b = chain.A, chain.Y, chain.b
    if not chain.gram:
        row = A[min(i, A.shape[0] - 1)]  # the only one, where there is one
        for a in range(k):
            b[a] = row[Y[a]]
        return row[i]
    for a in range(k):
        b[a] = dot(A[i], A[Y[a]])
    return dot(A[i], A[i])


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
    return left if left > NOTHING * diagonal else 0.0


@jit
def gain_of_deleting(C, k, a, z):
    """z = C^-1 e_a (zero before place a); returns |z|^2 = (L_Y^-1)_aa = det(L_{Y - a}) / det(L_Y)."""
    total = 0.0
    for r in range(a, k):
        x = 1.0 if r == a else 0.0
        for c in range(a, r):
            x -= C[r, c] * z[c]
        z[r] = x / C[r, r]
        total += z[r] * z[r]
    return total


@jit
def gain_of_swapping(k, a, x, z, gain, deleting):
    """det(L_{Y - a + i}) / det(L_Y), from what adding i and deleting the item at place a gave."""
    cross = 0.0
    for r in range(a, k):
        cross += z[r] * x[r]
    return deleting * gain + cross * cross


@jit
def insert(C, Y, k, i, x, gain):
    """Append item i to Y, and the row (x, sqrt(g)) to C."""
    for c in range(k):
        C[k, c] = x[c]
    C[k, k] = np.sqrt(gain)
    Y[k] = i
    return k + 1


@jit
def remove(C, Y, k, a):
    """Take the item at place a out of Y; rotations make C without its row triangular again."""
    for r in range(a, k - 1):
        Y[r] = Y[r + 1]
        for c in range(r + 2):
            C[r, c] = C[r + 1, c]
    for r in range(a, k - 1):  # row r reaches one column too far
        norm = np.hypot(C[r, r], C[r, r + 1])
        cos, sin = C[r, r] / norm, C[r, r + 1] / norm
        for s in range(r, k - 1):
            u, v = C[s, r], C[s, r + 1]
            C[s, r], C[s, r + 1] = cos * u + sin * v, cos * v - sin * u
    return k - 1


def steps_of_chain(chain, u, k):
    return len(u) * (20 + k * k + k * (chain.A.shape[1] if chain.gram else 1))


@jit(steps=steps_of_chain)
def run_chain(chain, u, k, fixed_size):
    """len(u) moves from Y[:k]. Returns k.

    A move toggles one item, or swaps one in Y for one outside, each proposed with equal chance from
    both sides, and is accepted with probability min(1, ratio of determinants).
    """
    Y, inside, C, b, z = chain.Y, chain.inside, chain.C, chain.b, chain.z
    n = inside.size
    for t in range(u.shape[0]):
        i = min(np.int64(u[t, 1] * n), n - 1)
        toggle = not fixed_size and u[t, 0] < 0.5
        if inside[i]:
            if toggle:
                a = 0
                while Y[a] != i:
                    a += 1
                if u[t, 3] < gain_of_deleting(C, k, a, z):
                    k = remove(C, Y, k, a)
                    inside[i] = False
            continue
        if not toggle and k == 0:
            continue
        diagonal = entries(chain, i, k)
        gain = gain_of_adding(C, k, b, diagonal)
        if toggle:
            if u[t, 3] < gain:
                k = insert(C, Y, k, i, b, gain)
                inside[i] = True
            continue
        a = min(np.int64(u[t, 2] * k), k - 1)
        deleting = gain_of_deleting(C, k, a, z)
        ratio = gain_of_swapping(k, a, b, z, gain, deleting)
        if u[t, 3] < ratio and ratio > NOTHING * diagonal * deleting:
            inside[Y[a]] = False
            k = remove(C, Y, k, a)
            gain = gain_of_adding(C, k, b, entries(chain, i, k))
            k = insert(C, Y, k, i, b, max(gain, NOTHING * diagonal))
            inside[i] = True
    return k
