"""Principal minors, many subsets at a time: of positive semidefinite matrices, and of V V^T + a skew matrix."""

import numpy as np

from dpplearn._numba import jit
from dpplearn._precision import PARALLEL, ROUNDING, SINGULAR

SWEEPS = 12  # each halves the digits by which rows differ in size; twelve bring 1e-300 and 1e300 together


@jit
def dot(x, y):
    total = 0.0
    for c in range(x.size):
        total += x[c] * y[c]
    return total


@jit
def subtract(x, s, y):
    """x - s y in place; returns the squared length of what is left."""
    left = 0.0
    for c in range(x.size):
        x[c] -= s * y[c]
        left += x[c] * x[c]
    return left


@jit
def log_minor_of_rows(B, items, k):
    """log det of B_Y B_Y^T for Y = items[:k] from the rows themselves, which know twice the digits of their products.

    Modified Gram-Schmidt on rows of length 1, always the one of which most is left.
    """
    d = B.shape[1]
    W, left, total = np.empty((k, d)), np.ones(k), 0.0
    for a in range(k):
        b = B[items[a]]
        x = dot(b, b)
        if x == 0.0:
            return -np.inf
        total += np.log(x)
        for c in range(d):
            W[a, c] = b[c] / np.sqrt(x)
    for t in range(k):
        p = t
        for a in range(t + 1, k):
            if left[a] > left[p]:
                p = a
        if left[p] <= (d * ROUNDING) ** 2:
            return -np.inf
        total += np.log(left[p])
        root, left[p] = np.sqrt(left[p]), left[t]
        for c in range(d):
            W[p, c], W[t, c] = W[t, c], W[p, c] / root
        for a in range(t + 1, k):
            left[a] = subtract(W[a], dot(W[a], W[t]), W[t])
    return total


@jit
def log_minor(A, gram, items, k, C):
    """log det L_Y for Y = items[:k]; L = A, or A A^T where gram is set. C is work space (k, k) or more."""
    product, total = 1.0, 0.0
    for a in range(k):
        i = items[a]
        for b in range(a + 1):
            j = items[b]
            if gram:
                x = 0.0
                for c in range(A.shape[1]):
                    x += A[i, c] * A[j, c]
            else:
                x = A[i, j]
            C[a, b] = x
        whole = C[a, a]
        for b in range(a):
            x = C[a, b]
            for r in range(b):
                x -= C[a, r] * C[b, r]
            x *= C[b, b]  # the inverse of the pivot's root
            C[a, b] = x
            C[a, a] -= x * x
        if gram and C[a, a] < PARALLEL * whole:
            return log_minor_of_rows(A, items, k)
        if C[a, a] <= k * SINGULAR * whole:
            return -np.inf
        product *= C[a, a]
        if product < 1e-100 or product > 1e100:  # one logarithm for many pivots
            total += np.log(product)
            product = 1.0
        C[a, a] = 1.0 / np.sqrt(C[a, a])
    return total + np.log(product)


def steps_of_subsets(A, gram, indptr):
    k = np.diff(indptr)
    return (k**3 / 6 + k**2 * (A.shape[1] if gram else 1)).sum()


@jit(steps=steps_of_subsets)
def subset_logdets(A, gram, indptr, indices):
    """log det of L_Y for many subsets; L = A, or L = A A^T where gram is set."""
    out = np.empty(indptr.size - 1)
    longest = 0
    for s in range(out.size):
        longest = max(longest, indptr[s + 1] - indptr[s])
    C = np.empty((longest, longest))
    for s in range(out.size):
        out[s] = log_minor(A, gram, indices[indptr[s] : indptr[s + 1]], indptr[s + 1] - indptr[s], C)
    return out


@jit(steps=lambda V, n: 12 * n**3 + 2 * n * n * V.shape[1])
def eliminate_parts(V, N, E, k, n):
    """log det of L = V V^T + N for the first k of n rows, with N skew; -inf where it is 0. Overwrites V, N and E.

    The rows from k on, of V and N, become the parts of the Schur complement. Each part keeps its own digits: rounding
    in N, however large N is, never counts as a part of V V^T. Eliminating the items P leaves, with F = L_P^-1 L_P,rest,

        V  <-  V_rest - F^T V_P    and    N  <-  H^T N H,    H = [-F; I].

    P is one item, or two that N joins, whichever is the largest: det L_P is |v|^2, or N_pq^2 and the squared area of
    v_p and v_q. E holds the sizes of the terms that the entries of N are sums of, and `reach` those of the rows of V:
    what is only rounding beside them is 0.
    """
    total, few = 0.0, n * ROUNDING
    size, scale, reach, F, G = np.empty(n), np.ones(n), np.empty(n), np.empty(n), np.empty(n)
    for _ in range(SWEEPS):  # divide items by sizes until their largest entries are near 1
        far = False
        for i in range(n):
            size[i] = 0.0
            for m in range(V.shape[1]):
                size[i] = max(size[i], abs(V[i, m]))
            for j in range(n):
                size[i] = max(size[i], np.sqrt(abs(N[i, j])))
            if size[i] == 0.0:
                if i < k:
                    return -np.inf
                size[i] = 1.0
            far |= not 0.5 < size[i] < 2.0
        if not far:
            break
        for i in range(n):
            scale[i] *= size[i]
            for m in range(V.shape[1]):
                V[i, m] /= size[i]
            for j in range(n):
                N[i, j] = N[i, j] / size[i] / size[j] if i < j else -N[j, i]
                E[i, j] = E[i, j] / size[i] / size[j]
    for i in range(n):
        reach[i] = np.sqrt(dot(V[i], V[i]))
        if i < k:
            total += 2 * np.log(scale[i])
    t = 0
    while t < k:
        p, q, r, s, v = t, t, t, 0.0, 0.0
        for i in range(t, n):
            x = dot(V[i], V[i])
            if np.sqrt(x) <= few * reach[i]:
                for m in range(V.shape[1]):
                    V[i, m] = 0.0
            elif x > s and i < k:
                p, s = i, x
            for j in range(i + 1, n):
                if abs(N[i, j]) <= few * E[i, j]:
                    N[i, j] = N[j, i] = 0.0
                elif abs(N[i, j]) > v and j < k:
                    q, r, v = i, j, abs(N[i, j])
        if max(s, v) == 0.0:
            return -np.inf
        pair = v > s
        exchange(V, N, E, reach, t, q if pair else p, n)
        u = min(t + 1, n - 1)
        if pair:  # q < r, so that r is still in its place
            exchange(V, N, E, reach, u, r, n)
            a, b, c, x = dot(V[t], V[t]), dot(V[u], V[u]), dot(V[t], V[u]), N[t, u]
            s = x * x + max(a * b - c * c, 0.0)
        total += np.log(s)
        first = t + 2 if pair else t + 1
        for j in range(first, n):
            F[j], G[j] = dot(V[t], V[j]) + N[t, j], 0.0
            if pair:
                y, z = F[j], dot(V[u], V[j]) + N[u, j]
                F[j], G[j] = (b * y - (c + x) * z) / s, (a * z - (c - x) * y) / s
            else:
                F[j] /= s
            for m in range(V.shape[1]):
                V[j, m] -= F[j] * V[t, m] + G[j] * V[u, m]
            reach[j] += abs(F[j]) * reach[t] + abs(G[j]) * reach[u]
        for i in range(first, n):
            for j in range(i + 1, n):
                N[i, j] -= F[i] * N[t, j] - F[j] * N[t, i] + G[i] * N[u, j] - G[j] * N[u, i]
                N[i, j] += N[t, u] * (F[i] * G[j] - G[i] * F[j])
                N[j, i] = -N[i, j]
                E[i, j] += abs(F[i]) * E[t, j] + abs(F[j]) * E[t, i] + abs(G[i]) * E[u, j] + abs(G[j]) * E[u, i]
                E[i, j] += E[t, u] * (abs(F[i] * G[j]) + abs(G[i] * F[j]))
                E[j, i] = E[i, j]
        t = first
    for i in range(k, n):
        for m in range(V.shape[1]):
            V[i, m] *= scale[i]
        for j in range(k, n):
            N[i, j] *= scale[i] * scale[j]
    return total


@jit
def exchange(V, N, E, reach, a, b, n):
    """Exchange the items a and b."""
    if a == b:
        return
    reach[a], reach[b] = reach[b], reach[a]
    for m in range(V.shape[1]):
        V[a, m], V[b, m] = V[b, m], V[a, m]
    for j in range(n):
        N[a, j], N[b, j], E[a, j], E[b, j] = N[b, j], N[a, j], E[b, j], E[a, j]
    for i in range(n):
        N[i, a], N[i, b], E[i, a], E[i, b] = N[i, b], N[i, a], E[i, b], E[i, a]


def steps_of_minors(left, indptr):
    k = np.diff(indptr)
    return (12 * k**3 + 2 * k**2 * left.shape[1]).sum()


@jit(steps=steps_of_minors)
def subset_log_minors(V, left, right, indptr, indices):
    """log det L_Y of each subset, L = V V^T + left right^T, where the latter is skew."""
    out = np.empty(indptr.size - 1)
    longest = 0
    for s in range(out.size):
        longest = max(longest, indptr[s + 1] - indptr[s])
    N, E, rows = np.empty((longest, longest)), np.empty((longest, longest)), np.empty((longest, V.shape[1]))
    for s in range(out.size):
        Y = indices[indptr[s] : indptr[s + 1]]
        k = Y.size
        if k > left.shape[1]:
            out[s] = -np.inf
            continue
        for a in range(k):
            for c in range(V.shape[1]):
                rows[a, c] = V[Y[a], c]
            for b in range(a, k):
                x, size = 0.0, 0.0
                for c in range(left.shape[1]):  # (A - A^T) / 2 of A = left right^T, and the sizes of its terms
                    u, v = left[Y[a], c] * right[Y[b], c], left[Y[b], c] * right[Y[a], c]
                    x += (u - v) / 2
                    size += (abs(u) + abs(v)) / 2
                N[a, b], N[b, a] = x, -x
                E[a, b] = E[b, a] = size
        out[s] = eliminate_parts(rows, N, E, k, k)
    return out
