"""Sequential sampling straight from K, in blocks, so that the work is in BLAS."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from dpplearn._checks import FloatArray, IntArray
from dpplearn._run.threads import map_threads
from dpplearn.sampling import end_to_end

BLOCK = 64


def sample_cholesky_once(K: FloatArray, u: FloatArray) -> IntArray:
    """One subset from the marginal kernel K and n uniform numbers, in n^3 / 3 multiplications.

    Item by item: the pivot is the probability of the item given the choices before it. A kept item
    leaves the pivot as it is, a dropped one subtracts 1; then eliminate (Poulson, 2020). What a block
    of items does to the rest is one matrix product.
    """
    from dpplearn._elimination_loops import decide_block

    n = len(K)
    A = K.copy()
    chosen = np.empty(n, np.bool_)
    for start in range(0, n, BLOCK):
        stop = min(start + BLOCK, n)
        block = A[start:stop, start:stop]
        decide_block(block, u[start:stop], chosen[start:stop])  # block = T D T^T, T unit lower triangular
        if stop == n:
            break
        panel = linalg.solve_triangular(block, A[start:stop, stop:], lower=True, unit_diagonal=True, check_finite=False)
        A[stop:, stop:] -= panel.T @ (panel / block.diagonal()[:, None])
    return np.flatnonzero(chosen)


def sample_cholesky(
    K: FloatArray, size: int, rng: np.random.Generator, *, n_jobs: int = 1
) -> tuple[IntArray, IntArray]:
    """Draw `size` exact samples of the DPP with marginal kernel K; returns indptr and indices."""
    seeds = rng.integers(0, 2**63, size=size)

    def task(s: int) -> IntArray:
        return sample_cholesky_once(K, np.random.default_rng(seeds[s]).random(len(K)))

    draws = map_threads(task, size, n_jobs)
    return end_to_end(draws)
