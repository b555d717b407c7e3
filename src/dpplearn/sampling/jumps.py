"""Exact samples of a marginal kernel that need not be symmetric, from one chosen item to the next.

Let A be what is chosen of the items before place i, and W_i = T (I + G_i T)^-1, where L = Q T Q^T and G_i is the sum of
q q^T over the items from i on. All sets that agree with A before i weigh, together,

    f_i(A) = det(I + G_i T) det(Q_A W_i Q_A^T),

so that f_j(A) / f_i(A) is the probability that nothing is chosen from i to j, and Q (W_i - W_i Q_A^T (Q_A W_i Q_A^T)^-1
Q_A W_i) Q^T is the marginal kernel of the items from i on. W_i is kept for every so many items.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from dpplearn._checks import FloatArray, IntArray
from dpplearn._run.blas import blas_threads
from dpplearn._run.threads import map_threads
from dpplearn.sampling import end_to_end

SHORT = 32  # items between two places where W is kept; more, where there is not the room
ROOM = 2**25  # numbers to keep, 270 MB
PER_TASK = 64  # samples that a thread draws at a time


class Jumps(NamedTuple):
    """What samples are drawn from; block i has the items from starts[i] to starts[i + 1]."""

    Q: FloatArray  # (n, d)
    W: FloatArray  # (blocks + 1, d, d)
    log_rest: FloatArray  # (blocks + 1,) log det(I + G_i T), descending to 0
    starts: IntArray  # (blocks + 1,)
    sure: FloatArray  # (m, d) the rows of items that every sample has, beside the n


def make_jumps(Q: FloatArray, T: FloatArray, sure: FloatArray) -> Jumps:
    """What is read of L = Q T Q^T: once, in O(n d^2) and d^3 for each place kept."""
    n, d = Q.shape
    count = max(min(-(-n // SHORT), ROOM // d**2), 1)
    starts = np.linspace(0, n, count + 1).astype(np.int64)
    W, log_rest, G = np.empty((count + 1, d, d)), np.zeros(count + 1), np.zeros((d, d))
    W[count] = T
    for i in range(count - 1, -1, -1):
        S = Q[starts[i] : starts[i + 1]]
        G += S.T @ S
        factors = linalg.lu_factor(np.eye(d) + G @ T, check_finite=False)
        W[i] = linalg.lu_solve(factors, T.T, trans=1, check_finite=False).T  # T (I + G T)^-1
        log_rest[i] = max(float(np.log(np.abs(factors[0].diagonal())).sum()), log_rest[i + 1])
    return Jumps(Q, W, log_rest, starts, sure)


def sample_jumps(tables: Jumps, size: int, rng: np.random.Generator, *, n_jobs: int) -> tuple[IntArray, IntArray]:
    """Draw `size` exact samples from chosen item to chosen item; returns indptr and indices."""
    seeds = rng.integers(0, 2**63, size=-(-size // PER_TASK))

    def task(b: int) -> list[IntArray]:
        return draw_side_by_side(tables, min(PER_TASK, size - b * PER_TASK), np.random.default_rng(seeds[b]))

    with blas_threads(tables.W.shape[1]):
        blocks = map_threads(task, len(seeds), n_jobs)
    return end_to_end([Y for block in blocks for Y in block])


def draw_side_by_side(tables: Jumps, size: int, rng: np.random.Generator) -> list[IntArray]:
    """Some samples, side by side: in each round, everyone goes to the next block in which it chooses something."""
    from dpplearn.sampling._loops import decide

    Q, W, rest, starts, sure = tables
    last, m = len(starts) - 1, len(sure)
    rows = np.vstack([sure, Q, np.zeros((1, Q.shape[1]))])
    draws = [np.arange(m) for _ in range(size)]  # numbers of rows
    at = np.zeros(size, np.int64)
    while (going := np.flatnonzero(at < last)).size:
        index = np.full((going.size, max(len(draws[s]) for s in going)), len(rows) - 1)
        for line, s in zip(index, going, strict=True):
            line[: len(draws[s])] = draws[s]
        A = rows[index]
        unused = np.where(index == len(rows) - 1, 1.0, 0.0)[:, :, None] * np.eye(index.shape[1])

        def log_weight(places: IntArray, A: FloatArray = A, unused: FloatArray = unused) -> FloatArray:
            sign, value = np.linalg.slogdet(A @ W[places] @ A.transpose(0, 2, 1) + unused)
            return rest[places] + np.where(sign > 0.0, value, -np.inf)

        low, high = at[going], np.full(going.size, last + 1)
        now = log_weight(low)
        goal = now + np.log(1.0 - rng.random(going.size))
        above, turn = np.full(going.size, -np.inf), 0
        while (open_ := np.flatnonzero(high - low > 1)).size:  # the last place before which nothing more is chosen
            bottom, top = low[open_], high[open_]
            place = (bottom + top) // 2
            if turn % 2 == 0:  # by interpolation between weights without A, which are known everywhere
                fall = rest[bottom] - rest[np.minimum(top, last)]
                share = np.where(above[open_] > -np.inf, fall / np.maximum(now[open_] - above[open_], 1e-300), 1.0)
                aim = rest[bottom] - share * (now[open_] - goal[open_])
                place = np.clip(np.searchsorted(-rest, -aim, side="right"), bottom + 1, top - 1)
            turn += 1
            value = log_weight(place, A[open_], unused[open_])
            before = value >= goal[open_]
            low[open_[before]], now[open_[before]] = place[before], value[before]
            high[open_[~before]], above[open_[~before]] = place[~before], value[~before]
        at[going] = low + 1
        for s, i, a, room in zip(going, low, A, goal - now, strict=True):
            if i == last:
                continue
            S, a = Q[starts[i] : starts[i + 1]], a[: len(draws[s])]
            left, T = S @ W[i], a @ W[i]
            K = left @ S.T
            if len(a):
                K -= left @ a.T @ np.linalg.solve(T @ a.T, T @ S.T)
            chosen = np.empty(len(S), np.bool_)
            decide(K, rng.random(len(S)), chosen, room)
            draws[s] = np.append(draws[s], m + starts[i] + np.flatnonzero(chosen))
    return [Y[m:] - m for Y in draws]
