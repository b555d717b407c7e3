"""Mean field, annealing and Gibbs chains of a pairwise field, and what weighed samples say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit

from dpplearn._checks import FloatArray
from dpplearn.estimate import Estimate
from dpplearn.mrf.enumeration import Rows

INSIDE = 1e-12  # probabilities of mean field stay this far from 0 and 1


def mean_field(w: FloatArray, W: FloatArray, tol: float = 1e-10, max_iter: int = 2000) -> tuple[float, FloatArray]:
    """The lower bound on log Z of the best independent items, by coordinate ascent from several starts; P(i in Y)."""
    best, found = -np.inf, np.empty(0)
    for start in (expit(w), np.full(w.size, 0.5), expit(w + W.sum(axis=1)), np.full(w.size, 1e-3)):
        p = start.copy()
        for _ in range(max_iter):
            before = p.copy()
            for i in range(w.size):
                p[i] = expit(w[i] + W[i] @ p)
            if np.abs(p - before).max() < tol:
                break
        p = np.clip(p, INSIDE, 1 - INSIDE)
        value = float(w @ p + p @ W @ p / 2 - (p * np.log(p) + (1 - p) * np.log1p(-p)).sum())
        if value > best:
            best, found = value, p
    return best, found


def annealed(
    w: FloatArray, W: FloatArray, chains: int, sweeps: int, rng: np.random.Generator, share: float | None = None
) -> tuple[FloatArray, Rows]:
    """Log weights, whose exponentials have mean Z, and the sets they weigh (Neal, 2001).

    Chains go from independent items to the field itself, half of the sweeps in the last third of the way. They start
    from mean field for a share of all weights: with all of them it may sit in one of several phases, and see no other.
    By default it is the largest share for which mean field surely has one solution, |W| / 4 < 1, because
    p -> expit(w + W p) then contracts.
    """
    from dpplearn.mrf._gibbs_loops import anneal

    if share is None:
        share = min(1.0, 3.9 / max(float(np.linalg.norm(W, 2)), 3.9))
    base = logit(mean_field(share * w, share * W)[1])
    Y = rng.random((chains, w.size)) < expit(base)
    log_weights = np.full(chains, float(np.logaddexp(0.0, base).sum()))
    betas = 1.0 - (1.0 - np.linspace(0.0, 1.0, sweeps + 1)) ** 1.5
    anneal(w, W, base, betas, Y, states(chains, rng), log_weights)
    return log_weights, Y


def swept(w: FloatArray, W: FloatArray, Y: Rows, sweeps: int, rng: np.random.Generator) -> Rows:
    """Where Gibbs chains are so many sweeps after the rows of Y."""
    from dpplearn.mrf._gibbs_loops import anneal

    Y = Y.copy()
    anneal(w, W, w, np.ones(sweeps + 1), Y, states(len(Y), rng), np.zeros(len(Y)))
    return Y


def states(chains: int, rng: np.random.Generator) -> npt.NDArray[np.uint64]:
    """One random number generator for each chain."""
    return rng.integers(1, 2**63, size=(chains, 4)).astype(np.uint64)


def climb(w: FloatArray, W: FloatArray, Y: Rows) -> Rows:
    """The sets that the rows reach by taking the best flip of one item, until none helps."""
    Y, every = Y.copy(), np.arange(len(Y))
    pull = w + Y @ W
    while True:
        gain = np.where(Y, -pull, pull)
        item = gain.argmax(axis=1)
        rows = np.flatnonzero(gain[every, item] > 1e-12)
        if rows.size == 0:
            return Y
        flipped = item[rows]
        Y[rows, flipped] ^= True
        pull[rows] += np.where(Y[rows, flipped], 1.0, -1.0)[:, None] * W[flipped]


def draw(q: Any, size: int, rng: np.random.Generator) -> tuple[Rows, FloatArray]:
    """Exact samples of q, and log q of each."""
    draws = q.sample(size, rng=rng)
    return draws.to_sparse().toarray().astype(np.bool_), np.asarray(q.log_prob(draws))


def weighted_moments(log_weights: FloatArray, Y: Rows) -> tuple[Estimate, FloatArray, float]:
    """log of the mean weight with its standard error, P(i and j), and the effective share of the samples."""
    top = float(log_weights.max())
    weights = np.exp(log_weights - top)
    mean = float(weights.mean())
    error = float(weights.std(ddof=1)) / mean / np.sqrt(weights.size)
    pairs = np.zeros((Y.shape[1], Y.shape[1]))
    for part in batches(len(Y), Y.shape[1]):
        rows = Y[part].astype(np.float64)
        pairs += rows.T @ (rows * weights[part, None])
    share = weights.sum() ** 2 / (weights @ weights) / weights.size
    return Estimate(top + float(np.log(mean)), error), pairs / weights.sum(), float(share)


def batches(count: int, size: int) -> Iterator[slice]:
    """Slices of `count` rows of `size` numbers each, two million numbers at a time."""
    step = max(2_000_000 // size, 1)
    return (slice(a, a + step) for a in range(0, count, step))
