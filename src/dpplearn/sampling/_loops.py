"""The compiled loop of the samplers `elimination` and `jumps`."""

import numpy as np

from dpplearn._numba import jit


@jit(steps=lambda u: u.size**3 / 3)
def decide(A, u, chosen, log_goal):
    """Decide the items of a marginal kernel A, which need not be symmetric, one by one; overwrites A.

    The pivot is the probability of the item given the choices before it, less 1 if the item is dropped. If `log_goal`
    is at most 0, at least one item is chosen: the first at which the log-probability of none so far is below it.
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
