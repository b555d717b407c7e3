"""Choosing items while eliminating them from the marginal kernel."""

from dpplearn._loops.jit import jit


@jit
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
