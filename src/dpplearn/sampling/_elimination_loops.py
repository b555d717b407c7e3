"""Deciding the items of a marginal kernel one after the other."""

from dpplearn._numba import jit


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
