"""Exact samples by elimination: items are decided one after the other, in blocks, so that BLAS does most of the work.

The pivot of an item is its probability given the choices before it. After a block S of decided items, the kernel of the
others is K - K_.S M^-1 K_S., where M is K_S minus 1 on the diagonal for each item that was dropped (Poulson, 2020).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dpplearn._checks import FloatArray, IntArray
from dpplearn._run.threads import map_threads
from dpplearn.sampling import end_to_end

BLOCK = 64


def eliminate(K: FloatArray, u: FloatArray) -> IntArray:
    """One subset from the marginal kernel K, symmetric or not, and n uniform numbers: n^3 / 3 multiplications."""
    chosen = np.empty(len(K), np.bool_)
    for start in range(0, len(u), BLOCK):
        M = decide_block(K[:BLOCK, :BLOCK], u[start : start + BLOCK], chosen[start : start + BLOCK])
        if len(K) > BLOCK:
            K = K[BLOCK:, BLOCK:] - K[BLOCK:, :BLOCK] @ np.linalg.solve(M, K[:BLOCK, BLOCK:])
    return np.flatnonzero(chosen)


def eliminate_rows(Q: FloatArray, W: FloatArray, u: FloatArray) -> IntArray:
    """One subset as from `eliminate`, for K = Q W Q^T, where only W changes, in O(n d^2)."""
    chosen = np.empty(len(Q), np.bool_)
    for start in range(0, len(Q), BLOCK):
        S = slice(start, start + BLOCK)
        left = Q[S] @ W
        M = decide_block(left @ Q[S].T, u[S], chosen[S])
        if start + BLOCK < len(Q):
            W = W - (W @ Q[S].T) @ np.linalg.solve(M, left)
    return np.flatnonzero(chosen)


def decide_block(K: FloatArray, u: FloatArray, chosen: np.ndarray) -> FloatArray:
    """Decide the items of a block, write the choice into `chosen`, and return M."""
    from dpplearn.sampling._loops import decide

    M = K.copy()
    decide(K.copy(), u, chosen, 1.0)
    M.flat[:: len(M) + 1] -= ~chosen
    return M


def sample_elimination(
    draw: Callable[[FloatArray], IntArray], n: int, size: int, rng: np.random.Generator, *, n_jobs: int
) -> tuple[IntArray, IntArray]:
    """`size` samples, each drawn from n uniform numbers; returns indptr and indices."""
    seeds = rng.integers(0, 2**63, size=size)
    return end_to_end(map_threads(lambda s: draw(np.random.default_rng(seeds[s]).random(n)), size, n_jobs))
