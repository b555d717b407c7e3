"""Samplers from a marginal kernel K = Q W Q^T that need not be symmetric."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from dpplearn._checks import FloatArray, IntArray
from dpplearn._run.threads import map_threads
from dpplearn.sampling import end_to_end

BLOCK = 64  # items that are decided between two updates of W


def sample_elimination(
    Q: FloatArray, W: FloatArray, size: int, rng: np.random.Generator, *, n_jobs: int = 1
) -> tuple[IntArray, IntArray]:
    """Draw `size` exact samples item by item, in O(n d^2) each; returns indptr and indices."""
    seeds = rng.integers(0, 2**63, size=size)
    draws = map_threads(lambda s: eliminate(Q, W, np.random.default_rng(seeds[s]).random(len(Q))), size, n_jobs)
    return end_to_end(draws)


def eliminate(Q: FloatArray, W: FloatArray, u: FloatArray) -> IntArray:
    """One subset from n uniform numbers.

    Deciding a block S leaves the others with K - K_.S M^-1 K_S., where M is K_S less 1 on the diagonal for each item
    that was dropped (Poulson, 2020). With K = Q W Q^T only W changes.
    """
    from dpplearn._loops.elimination import decide

    chosen = np.empty(len(Q), np.bool_)
    for start in range(0, len(Q), BLOCK):
        S = slice(start, start + BLOCK)
        left = Q[S] @ W
        M = left @ Q[S].T
        decide(M.copy(), u[S], chosen[S])
        if start + BLOCK < len(Q):
            M.flat[:: len(M) + 1] -= ~chosen[S]
            W = W - (W @ Q[S].T) @ linalg.solve(M, left, check_finite=False)
    return np.flatnonzero(chosen)
