"""Taking items out: from the marginal kernel while choosing them, or from rows what others span."""

from dpplearn._numba import jit


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


@jit(steps=lambda u: u.size**3 / 6)
def decide_block(A, u, chosen):
    """Decide the items of one diagonal block and leave its factors T (unit lower) and D (diagonal) in A."""
    n = A.shape[0]
    for j in range(n):
        chosen[j] = u[j] < A[j, j]
        if not chosen[j]:
            A[j, j] -= 1.0
        for i in range(j + 1, n):
            t = A[i, j] / A[j, j]
            for c in range(j + 1, i + 1):
                A[i, c] -= t * A[c, j]
            # column j is still needed unscaled by the rows below, so it is scaled afterwards
        for i in range(j + 1, n):
            A[i, j] /= A[j, j]


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
