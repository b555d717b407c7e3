"""A row of features, dense, sparse or float16: its products with directions, and what they leave of it."""

import numpy as np

from dpplearn._loops.elimination import dot
from dpplearn._loops.jit import jit
from dpplearn._precision import AGAIN


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
def squares(rows, i, U, low, high):
    """Sum of <rows_i, u_s>^2 over the directions low ... high-1; products are in the type of the directions."""
    total, s = 0.0, low
    while s + 4 <= high:  # four at a time: a row is read once, and its products stay in registers
        x0 = x1 = x2 = x3 = U.dtype.type(0.0)
        for c in range(rows.shape[1]):
            r = rows[i, c]
            x0 += r * U[s, c]
            x1 += r * U[s + 1, c]
            x2 += r * U[s + 2, c]
            x3 += r * U[s + 3, c]
        total += np.float64(x0) ** 2 + np.float64(x1) ** 2 + np.float64(x2) ** 2 + np.float64(x3) ** 2
        s += 4
    while s < high:
        x = U.dtype.type(0.0)
        for c in range(rows.shape[1]):
            x += rows[i, c] * U[s, c]
        total += np.float64(x) ** 2
        s += 1
    return total


@jit
def odd_squares(features, i, U, low, high):
    """`squares` of rows that are sparse or float16."""
    indptr, half, rows = features.indptr, features.half, features.rows
    if half.size > 0:
        line = np.empty((1, rows.shape[1]), half.dtype)
        for c in range(rows.shape[1]):
            line[0, c] = half[np.int64(rows[i, c])]
        return squares(line, 0, U, low, high)
    indices, data, total = features.indices, features.data, 0.0
    for s in range(low, high):
        x = 0.0
        for a in range(indptr[i], indptr[i + 1]):
            x += U[s, indices[a]] * data[a]
        total += x * x
    return total


@jit
def take_away(v, s, u):
    """v - s u in place."""
    for c in range(v.size):
        v[c] -= s * u[c]


@jit
def orthogonalize(v, U, t):
    """Take from v its parts along U[:t]; returns the squared length of what is left."""
    left, again = dot(v, v), t > 0
    while again:
        before, s = left, 0
        while s + 4 <= t:  # four at a time, being orthonormal: v is read and written once for all
            x0 = x1 = x2 = x3 = 0.0
            for c in range(v.size):
                x0 += U[s, c] * v[c]
                x1 += U[s + 1, c] * v[c]
                x2 += U[s + 2, c] * v[c]
                x3 += U[s + 3, c] * v[c]
            for c in range(v.size):
                v[c] -= x0 * U[s, c] + x1 * U[s + 1, c] + x2 * U[s + 2, c] + x3 * U[s + 3, c]
            s += 4
        while s < t:
            take_away(v, dot(U[s], v), U[s])
            s += 1
        left = dot(v, v)
        again = 0.0 < left < AGAIN * before  # digits were lost: once more (Kahan)
    return left


@jit
def project(b, v, P, U, t, shared):
    """v = P b; returns b^T P b. `shared` where nothing is the item's own: then all directions are orthonormal."""
    if P.size > 0:
        for c in range(b.size):
            v[c] = dot(P[c], b)
        return dot(b, v)
    for c in range(b.size):
        v[c] = b[c]
    if shared:
        return orthogonalize(v, U, t)
    for s in range(t):
        take_away(v, dot(U[s], b), U[s])
    return dot(b, v)
