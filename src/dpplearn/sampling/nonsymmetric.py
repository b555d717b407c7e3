"""Samplers from a marginal kernel K = Q W Q^T that need not be symmetric."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from dpplearn._checks import FloatArray, IntArray, view
from dpplearn._run.blas import blas_threads
from dpplearn._run.threads import map_threads
from dpplearn.sampling import end_to_end
from dpplearn.sampling.records import Jumps
from dpplearn.sampling.spectral import stream_states

BLOCK = 64  # items that are decided between two updates of W
SHORT = 32  # items between two places where W is kept; more, where there is not the room
ROOM = 2**25  # numbers to keep, 270 MB
PER_TASK = 64  # samples that a thread draws at a time


def sample_elimination(
    Q: FloatArray, W: FloatArray, size: int, rng: np.random.Generator, *, n_jobs: int = 1
) -> tuple[IntArray, IntArray]:
    """Draw `size` exact samples item by item, in O(n d^2) each; returns indptr and indices."""
    seeds = rng.integers(0, 2**63, size=size)
    with blas_threads(len(W)):
        draws = map_threads(lambda s: eliminate(Q, W, np.random.default_rng(seeds[s]).random(len(Q))), size, n_jobs)
    return end_to_end(draws)


def eliminate(Q: FloatArray, W: FloatArray, u: FloatArray) -> IntArray:
    """One subset from n uniform numbers.

    Deciding a block S leaves the others with K - K_.S M^-1 K_S., where M is K_S less 1 on the diagonal for each item
    that was dropped (Poulson, 2020). With K = Q W Q^T only W changes.
    """
    from dpplearn._elimination_loops import decide

    chosen = np.empty(len(Q), np.bool_)
    for start in range(0, len(Q), BLOCK):
        S = slice(start, start + BLOCK)
        left = Q[S] @ W
        M = left @ Q[S].T
        decide(M.copy(), u[S], chosen[S])
        if start + BLOCK < len(Q):
            M.flat[:: len(M) + 1] -= ~chosen[S]
            W = W - (W @ Q[S].T) @ np.linalg.solve(M, left)
    return np.flatnonzero(chosen)


def make_jumps(Q: FloatArray, T: FloatArray, sure: FloatArray) -> Jumps:
    """What the loops of `sampling/_jump_loops.py` read, for L = Q T Q^T: once, in O(n d^2) and d^3 for each place kept.

    `sure` has the rows, like those of Q, of items that every sample has, beside the n.
    """
    Q, sure = np.ascontiguousarray(Q), np.ascontiguousarray(sure)
    n, d = Q.shape
    count = max(min(-(-n // SHORT), ROOM // d**2), 1)
    starts = np.linspace(0, n, count + 1).astype(np.int64)
    W, log_rest, left = np.empty((count + 1, d, d)), np.zeros(count + 1), np.empty((n, d))
    W[count] = T
    G = np.zeros((d, d))
    for i in range(count - 1, -1, -1):
        S = Q[starts[i] : starts[i + 1]]
        G += S.T @ S
        A = G @ T
        A.flat[:: d + 1] += 1.0
        factors = linalg.lu_factor(A, check_finite=False)
        W[i] = linalg.lu_solve(factors, T.T, trans=1, check_finite=False).T  # T (I + G T)^-1
        log_rest[i] = max(float(np.log(np.abs(factors[0].diagonal())).sum()), log_rest[i + 1])
        left[starts[i] : starts[i + 1]] = S @ W[i]
    return Jumps(view(Q), left, W, log_rest, starts, view(sure))


def sample_jumps(tables: Jumps, size: int, rng: np.random.Generator, *, n_jobs: int = 1) -> tuple[IntArray, IntArray]:
    """Draw `size` exact samples from chosen item to chosen item; returns indptr and indices."""
    from dpplearn.sampling._jump_loops import draw_jumps

    states = stream_states(size, rng)
    sizes = np.empty(size, np.int64)

    def task(b: int) -> IntArray:
        part = slice(b * PER_TASK, (b + 1) * PER_TASK)
        items: IntArray = draw_jumps(tables, states[part], sizes[part])
        return items

    with blas_threads(tables.W.shape[1]):
        blocks = map_threads(task, -(-size // PER_TASK), n_jobs)
    return np.append(0, np.cumsum(sizes)), np.concatenate([np.empty(0, np.int64), *blocks])
