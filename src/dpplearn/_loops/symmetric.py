"""Elementary symmetric polynomials and principal minors."""

import numpy as np

from dpplearn._loops.jit import jit


@jit
def log_esp_table(log_lam, k):
    """T[j, i] = log e_j(lam_1 ... lam_i), for j = 0 ... k: sums of positive terms, so nothing cancels."""
    n = log_lam.size
    T = np.full((k + 1, n + 1), -np.inf)
    T[0, :] = 0.0
    for i in range(1, n + 1):
        x = log_lam[i - 1]
        for j in range(1, min(i, k) + 1):
            a, b = T[j, i - 1], T[j - 1, i - 1] + x  # without lam_i, and with it
            if a < b:
                a, b = b, a
            T[j, i] = a + np.log1p(np.exp(b - a)) if b > -np.inf else a
    return T


@jit
def log_esp_without(log_lam, k):
    """out[i] = log e_k of all numbers but the i-th, from the tables of what is before and after it."""
    n = log_lam.size
    before = log_esp_table(log_lam, k)
    after = log_esp_table(log_lam[::-1].copy(), k)
    out = np.full(n, -np.inf)
    for i in range(n):
        top = -np.inf
        for j in range(k + 1):
            top = max(top, before[j, i] + after[k - j, n - 1 - i])
        if top > -np.inf:
            total = 0.0
            for j in range(k + 1):
                total += np.exp(before[j, i] + after[k - j, n - 1 - i] - top)
            out[i] = top + np.log(total)
    return out


@jit
def all_minors(L):
    """det(L_Y) for all 2^n subsets; bit i of the position says whether item i is in Y.

    Depth first, one row of a Cholesky factor per item added: O(2^n n^2) in all.
    """
    n = L.shape[0]
    out = np.zeros(1 << n)
    out[0] = 1.0
    C = np.zeros((n, n))
    Y = np.empty(n + 1, np.int64)
    det = np.ones(n + 1)
    mask = np.zeros(n + 1, np.int64)
    k, i = 0, 0
    while True:
        if i < n:
            pivot = L[i, i]
            for s in range(k):
                c = L[i, Y[s]]
                for r in range(s):
                    c -= C[k, r] * C[s, r]
                c /= C[s, s]
                C[k, s] = c
                pivot -= c * c
            if pivot > 8 * (k + 1) * 2.2e-16 * L[i, i]:  # else det = 0, and so for every superset
                C[k, k] = np.sqrt(pivot)
                Y[k] = i
                det[k + 1] = det[k] * pivot
                mask[k + 1] = mask[k] | (1 << i)
                out[mask[k + 1]] = det[k + 1]
                k += 1
            i += 1
        elif k == 0:
            return out
        else:
            k -= 1
            i = Y[k] + 1


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
        if C[a, a] <= 4 * k * 2.220446049250313e-16 * whole:
            return -np.inf
        product *= C[a, a]
        if product < 1e-100 or product > 1e100:  # one logarithm for many pivots
            total += np.log(product)
            product = 1.0
        C[a, a] = 1.0 / np.sqrt(C[a, a])
    return total + np.log(product)


@jit
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
