"""Mean field and annealed importance sampling of a pairwise MRF."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logit

from dpplearn._checks import FloatArray
from dpplearn.estimate import Estimate
from dpplearn.mrf.enumeration import Rows

STATES_EACH, APART = 10, 5  # states of each chain after annealing, and sweeps between them
INSIDE = 1e-12  # distance of mean-field probabilities from 0 and 1


def mean_field(w: FloatArray, W: FloatArray, tol: float = 1e-10, max_iter: int = 2000) -> tuple[float, FloatArray]:
    """The best lower bound on log Z with independent items, and their P(i in Y), by coordinate ascent."""
    best, best_p = -np.inf, np.empty(0)
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
            best, best_p = value, p
    return best, best_p


def annealed(
    w: FloatArray, W: FloatArray, chains: int, sweeps: int, rng: np.random.Generator, share: float | None = None
) -> tuple[Estimate, Rows]:
    """log Z by annealed importance sampling (Neal, 2001), and STATES_EACH states of the MRF for each chain.

    Chains go from independent items to the MRF, with half of the sweeps in the last third of the way, and the mean of
    their weights is Z. They start from mean field for a share of all weights, because with all weights mean field may
    be in one of several phases, and see no other. By default it is the largest share with |W| / 4 < 1, for which mean
    field has one solution, since p -> expit(w + W p) contracts. Final states, resampled by weight, go on by Gibbs.
    """
    if share is None:
        share = min(1.0, 3.9 / max(float(np.linalg.norm(W, 2)), 3.9))
    base = logit(mean_field(share * w, share * W)[1])
    Y = rng.random((chains, w.size)) < expit(base)
    betas = 1.0 - (1.0 - np.linspace(0.0, 1.0, sweeps + 1)) ** 1.5
    log_weights = sweep(w, W, base, betas, Y, rng) + float(np.logaddexp(0.0, base).sum())
    top = float(log_weights.max())
    weights = np.exp(log_weights - top)
    mean = float(weights.mean())
    # a state with a probability below 1 / N may be in none of N chains, so no error is below 1 / N
    error = float(np.hypot(weights.std(ddof=1) / mean / np.sqrt(chains), 1 / chains))
    visited = [Y[rng.choice(chains, chains, p=weights / weights.sum())]]
    while len(visited) < STATES_EACH:
        visited.append(visited[-1].copy())
        sweep(w, W, w, np.ones(APART + 1), visited[-1], rng)  # betas of 1: Gibbs sampling
    return Estimate(top + float(np.log(mean)), error), np.concatenate(visited)


def sweep(
    w: FloatArray, W: FloatArray, base: FloatArray, betas: FloatArray, Y: Rows, rng: np.random.Generator
) -> FloatArray:
    """Sweep every row of Y in place at each temperature, and return the log weights; see `anneal`."""
    from dpplearn.mrf._gibbs_loops import anneal  # not above, because numba is slow to import

    log_weights = np.zeros(len(Y))
    anneal(w, W, base, betas, Y, rng.integers(1, 2**63, size=(len(Y), 4)).astype(np.uint64), log_weights)
    return log_weights
