"""Exact samples from a marginal kernel that need not be symmetric, by jumps from one chosen item to the next.

Let A be the items chosen before place i, and W_i = T (I + G_i T)^-1, where L = Q T Q^T and G_i is the sum of q q^T over
the items from i on. The weights of all sets that agree with A before i add up to

    f_i(A) = det(I + G_i T) det(Q_A W_i Q_A^T).

So f_j(A) / f_i(A) is the probability that no item from i to j is chosen, and Q (W_i - W_i Q_A^T (Q_A W_i Q_A^T)^-1 Q_A
W_i) Q^T is the marginal kernel of the items from i on. W_i is stored at the beginning of each block of items.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from dpplearn._checks import FloatArray, IntArray
from dpplearn._run.blas import blas_threads
from dpplearn._run.threads import map_threads
from dpplearn.sampling import end_to_end

BLOCK_SIZE = 32  # items in a block; more if W would need too much memory
MOST_NUMBERS = 2**25  # at most so many numbers are stored in W, 270 MB
PER_TASK = 64  # samples that a thread draws at a time


class Jumps(NamedTuple):
    """The tables of the sampler; block i has the items from starts[i] to starts[i + 1]."""

    Q: FloatArray  # (n, d)
    W: FloatArray  # (blocks + 1, d, d)
    log_rest: FloatArray  # (blocks + 1,) log det(I + G_i T), descending to 0
    starts: IntArray  # (blocks + 1,)
    sure: FloatArray  # (m, d) rows of items that are in every sample and not among the n


def make_jumps(Q: FloatArray, T: FloatArray, sure: FloatArray) -> Jumps:
    """The tables for L = Q T Q^T, in O(n d^2) and d^3 for each block."""
    n, d = Q.shape
    count = max(min(-(-n // BLOCK_SIZE), MOST_NUMBERS // d**2), 1)
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
    """Draw `size` exact samples; returns indptr and indices."""
    seeds = rng.integers(0, 2**63, size=-(-size // PER_TASK))

    def task(b: int) -> list[IntArray]:
        return draw_side_by_side(tables, min(PER_TASK, size - b * PER_TASK), np.random.default_rng(seeds[b]))

    with blas_threads(tables.W.shape[1]):
        blocks = map_threads(task, len(seeds), n_jobs)
    return end_to_end([Y for block in blocks for Y in block])


def draw_side_by_side(tables: Jumps, size: int, rng: np.random.Generator) -> list[IntArray]:
    """Draw samples side by side: in each round, every sample goes to the next block in which it chooses an item."""
    _, d = tables.Q.shape
    last, m = len(tables.starts) - 1, len(tables.sure)
    rows = np.vstack([tables.sure, tables.Q, np.zeros((1, d))])
    draws = [np.arange(m) for _ in range(size)]  # the chosen items, as numbers of `rows`
    block = np.zeros(size, np.int64)  # the block from which each sample goes on
    while (active := np.flatnonzero(block < last)).size:
        index = np.full((active.size, max(len(draws[s]) for s in active)), len(rows) - 1)
        for line, s in zip(index, active, strict=True):
            line[: len(draws[s])] = draws[s]
        padding = np.where(index == len(rows) - 1, 1.0, 0.0)[:, :, None] * np.eye(index.shape[1])
        chosen = ChosenRows(tables, rows[index], padding)
        blocks, log_goal = next_blocks(chosen, block[active], rng)
        block[active] = blocks + 1
        for s, i, A, goal in zip(active, blocks, chosen.A, log_goal, strict=True):
            if i < last:
                draws[s] = np.append(draws[s], m + choose_in_block(tables, i, A[: len(draws[s])], goal, rng))
    return [Y[m:] - m for Y in draws]


class ChosenRows(NamedTuple):
    """The rows of the items that some samples have chosen so far."""

    tables: Jumps
    A: FloatArray  # (samples, most, d) the rows, followed by zeros
    padding: FloatArray  # (samples, most, most) ones on the diagonal for the zeros of A, which keep the determinants

    def log_weight(self, place: IntArray, samples: IntArray) -> FloatArray:
        """log f_place(A) of these samples."""
        A = self.A[samples]
        sign, value = np.linalg.slogdet(A @ self.tables.W[place] @ A.transpose(0, 2, 1) + self.padding[samples])
        return self.tables.log_rest[place] + np.where(sign > 0.0, value, -np.inf)


def next_blocks(chosen: ChosenRows, first: IntArray, rng: np.random.Generator) -> tuple[IntArray, FloatArray]:
    """For each sample the block, from `first` on, of its next item, or the number of blocks if there is no next item.

    The probability that no item comes before a place falls with the place, and we search the last place where it is
    above a uniform number. Also returns the log of this number divided by the probability there.
    """
    log_rest, last = chosen.tables.log_rest, len(chosen.tables.starts) - 1
    low, high = first, np.full(first.size, last + 1)  # the place is from low to high - 1
    at_low, at_high = chosen.log_weight(low, np.arange(first.size)), np.full(first.size, -np.inf)
    goal = at_low + np.log(1.0 - rng.random(first.size))
    interpolate = True  # every other step interpolates, the others halve
    while (wide := np.flatnonzero(high - low > 1)).size:
        bottom, top = low[wide], high[wide]
        place = (bottom + top) // 2
        if interpolate:  # as if nothing had been chosen yet, since log_rest is known everywhere
            fall = log_rest[bottom] - log_rest[np.minimum(top, last)]
            slope = np.where(at_high[wide] > -np.inf, fall / np.maximum(at_low[wide] - at_high[wide], 1e-300), 1.0)
            aim = log_rest[bottom] - slope * (at_low[wide] - goal[wide])
            place = np.clip(np.searchsorted(-log_rest, -aim, side="right"), bottom + 1, top - 1)
        interpolate = not interpolate
        value = chosen.log_weight(place, wide)
        above = value >= goal[wide]
        low[wide[above]], at_low[wide[above]] = place[above], value[above]
        high[wide[~above]], at_high[wide[~above]] = place[~above], value[~above]
    return low, goal - at_low


def choose_in_block(tables: Jumps, i: int, A: FloatArray, log_goal: float, rng: np.random.Generator) -> IntArray:
    """The items of block i that a sample with rows A chooses, at least one."""
    from dpplearn.sampling._loops import decide

    Q, W, _, starts, _ = tables
    S = Q[starts[i] : starts[i + 1]]
    left, T = S @ W[i], A @ W[i]
    K = left @ S.T
    if len(A):
        K -= left @ A.T @ np.linalg.solve(T @ A.T, T @ S.T)
    chosen = np.empty(len(S), np.bool_)
    decide(K, rng.random(len(S)), chosen, log_goal)
    return starts[i] + np.flatnonzero(chosen)
