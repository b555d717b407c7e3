"""Markov chains for a pairwise field: annealed importance sampling, Gibbs, and proposals by a determinantal q."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit

from dpplearn._checks import FloatArray
from dpplearn.estimate import Estimate
from dpplearn.mrf.enumeration import Rows, rows_to_subsets
from dpplearn.mrf.messages import mean_field


def annealed(
    w: FloatArray, W: FloatArray, chains: int, sweeps: int, rng: np.random.Generator, share: float | None = None
) -> tuple[FloatArray, Rows]:
    """Log weights, whose exponentials have mean Z, and the sets they weigh (Neal, 2001).

    From independent items to the field itself: half of the sweeps in the last third of the way. The items are those of
    mean field for a share of all weights: with all of them it may sit in one of several phases, and see no other. By
    default the largest share for which it surely has one solution, |W| / 4 below 1: p -> expit(w + W p) then contracts.
    """
    from dpplearn.mrf._gibbs_loops import anneal

    if share is None:
        share = min(1.0, 3.9 / max(float(np.linalg.norm(W, 2)), 3.9))
    base = logit(mean_field(share * w, share * W).pairs.diagonal())
    Y = rng.random((chains, w.size)) < 1 / (1 + np.exp(-base))
    log_weights = np.full(chains, float(np.logaddexp(0.0, base).sum()))
    betas = 1.0 - (1.0 - np.linspace(0.0, 1.0, sweeps + 1)) ** 1.5
    anneal(w, W, base, betas, Y, states(chains, rng), log_weights)
    return log_weights, Y


def states(chains: int, rng: np.random.Generator) -> npt.NDArray[np.uint64]:
    """Of the chains' own generators of random numbers."""
    return rng.integers(1, 2**63, size=(chains, 4)).astype(np.uint64)


def gibbs(w: FloatArray, W: FloatArray, chains: int, sweeps: int, rng: np.random.Generator, q: Any = None) -> Rows:
    """States of many chains after `sweeps` sweeps, and four earlier ones of the second half: (5 chains, n).

    Without q, chains start from independent coins. With it they start from exact samples of q, and before every tenth
    of the sweeps each is offered a new one, accepted with probability min(1, ratio of exp(score) / q) (Metropolis).
    """
    Y = rng.random((chains, w.size)) < 0.5 if q is None else propose(w, W, q, chains, rng)[1]
    kept = []
    for part in range(10):
        if q is not None and part:
            other, offered = propose(w, W, q, chains, rng)
            weights = scores(w, W, Y) - np.asarray(q.log_prob(rows_to_subsets(Y)))
            taken = np.log(rng.random(chains)) < other - weights
            Y = np.where(taken[:, None], offered, Y)
        Y = swept(w, W, Y, max(sweeps // 10, 1), rng)
        if part >= 5:
            kept.append(Y)
    return np.concatenate(kept)


def swept(w: FloatArray, W: FloatArray, Y: Rows, sweeps: int, rng: np.random.Generator) -> Rows:
    """Where Gibbs chains are so many sweeps after the rows of Y."""
    from dpplearn.mrf._gibbs_loops import anneal

    Y = Y.copy()
    anneal(w, W, w, np.ones(sweeps + 1), Y, states(len(Y), rng), np.zeros(len(Y)))
    return Y


def propose(w: FloatArray, W: FloatArray, q: Any, size: int, rng: np.random.Generator) -> tuple[FloatArray, Rows]:
    """Log weights score - log q of exact samples of q, and these."""
    Y, log_q = draw(q, size, rng)
    return scores(w, W, Y) - log_q, Y


def draw(q: Any, size: int, rng: np.random.Generator) -> tuple[Rows, FloatArray]:
    """Exact samples of q, and log q of each."""
    draws = q.sample(size, rng=rng)
    return draws.to_sparse().toarray().astype(np.bool_), np.asarray(q.log_prob(draws))


def scores(w: FloatArray, W: FloatArray, Y: npt.NDArray[Any]) -> FloatArray:
    """Sum of w_i and w_ij over each row of zeros and ones."""
    return np.asarray(Y @ w + ((Y @ W) * Y).sum(axis=1) / 2)


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


def conditional_moments(w: FloatArray, W: FloatArray, Y: Rows) -> FloatArray:
    """P(i and j) from samples of the field: the mean of y_i P(y_j = 1 | the others), which varies less than y_i y_j."""
    rows = Y.astype(np.float64)
    chance = expit(w + rows @ W)
    pairs = rows.T @ chance / len(Y)
    pairs = (pairs + pairs.T) / 2
    np.fill_diagonal(pairs, chance.mean(axis=0))
    return np.asarray(pairs)
