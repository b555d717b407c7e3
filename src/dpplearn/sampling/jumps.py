"""Exact samples of a marginal kernel that need not be symmetric, from one chosen item to the next."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from dpplearn._checks import FloatArray, IntArray, view
from dpplearn._run.blas import blas_threads
from dpplearn._run.threads import map_threads
from dpplearn.sampling.records import Jumps
from dpplearn.sampling.spectral import stream_states

SHORT = 32  # items between two places where W is kept; more, where there is not the room
ROOM = 2**25  # numbers to keep, 270 MB
PER_TASK = 64  # samples that a thread draws at a time


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
