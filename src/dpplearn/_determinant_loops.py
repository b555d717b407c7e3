"""Elementary symmetric polynomials, and determinants of many subsets."""

import numpy as np

from dpplearn._elimination_loops import dot, subtract
from dpplearn._numba import jit
from dpplearn._precision import PARALLEL, ROUNDING, SINGULAR


@jit(steps=lambda log_lam, k: 10 * log_lam.size * k)
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


@jit(steps=lambda log_lam, k: 30 * log_lam.size * k)
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


@jit(steps=lambda K: 2 ** len(K) * 10)
def all_probs(K):
    """P(Y) of all 2^n subsets from the marginal kernel; bit i of the position says whether item i is in Y.

    Item by item, as the sequential sampler does, but down both branches: the pivot is the probability of the item
    given the choices before it, and the rest of the kernel loses the rank-one part that the choice explains.
    """
    n = K.shape[0]
    out = np.zeros(1 << n)
    level = np.empty((n + 1, n, n))  # level d: the kernel of items d, d + 1, ... given the choices on d' < d
    level[0] = K
    prob, mask = np.ones(n + 1), np.zeros(n + 1, np.int64)
    branch = np.zeros(n + 1, np.int64)  # how many of the two branches at each depth are done
    d = 0
    while d >= 0:
        if d == n:
            out[mask[n]] = prob[n]
            d -= 1
            continue
        if branch[d] == 2:
            branch[d] = 0
            d -= 1
            continue
        keep = branch[d] == 0
        branch[d] += 1
        p = min(max(level[d, d, d], 0.0), 1.0)
        chance = p if keep else 1.0 - p
        if chance <= 0.0:
            continue  # this branch cannot be, nor anything below it
        pivot = p if keep else p - 1.0
        for i in range(d + 1, n):
            f = level[d, i, d] / pivot
            for j in range(d + 1, n):
                level[d + 1, i, j] = level[d, i, j] - f * level[d, d, j]
        prob[d + 1] = prob[d] * chance
        mask[d + 1] = mask[d] | (1 << d) if keep else mask[d]
        d += 1
    return out


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
