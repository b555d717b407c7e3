"""Finds the DPP with the greatest evidence lower bound E_q[score] + H(q) on log Z."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Self

import numpy as np

from dpplearn._checks import FloatArray
from dpplearn.dpp import DPP
from dpplearn.estimate import Estimate
from dpplearn.mrf.entropy import EXACT, Surrogate
from dpplearn.mrf.enumeration import Rows
from dpplearn.mrf.fit import minimize
from dpplearn.mrf.starts import EDGE, Sine, inside

SURE = 2e-6  # distance of the eigenvalues of K from 0 and 1, so that L has no eigenvalue above 1e6
CORRECTIONS, SAMPLES = 10, 400  # corrections of the gradient, and samples for each
SEEN = 0.02  # distance of the eigenvalues of K from 0 and 1 when corrections begin, so that samples see both choices
SMALL = 0.1  # standard deviation of log q - c, below which there is nothing to correct
HARD = 8.0  # stronger repulsions are approached in steps, from the best q of weaker ones
PILOT, FEWEST, MOST_COUNTED = 1000, 5000, 200_000  # samples to plan a bound, and the fewest and most that count in it


class VariationalDPP(NamedTuple):
    """A DPP q, given by the parameters x of its kernel, and the surrogate that they maximize."""

    x: FloatArray
    surrogate: Surrogate

    @classmethod
    def of(cls, w: FloatArray, W: FloatArray, K: FloatArray) -> Self:
        return cls(Sine(w.size, SURE).start(K), Surrogate.of(w, W, K))

    @property
    def kernels(self) -> Sine:
        return Sine(self.surrogate.w.size, SURE)

    @property
    def K(self) -> FloatArray:
        return self.kernels.at(self.x)[0]

    @property
    def q(self) -> DPP:
        return DPP.from_marginal(self.K)

    def climb(self, max_iter: int, tilt: FloatArray | float = 0.0, hold: float = 0.0) -> Self:
        """Maximize the surrogate + tilt . y - hold |y - x|^2 / 2 over parameters y, by L-BFGS from x."""

        def loss(y: FloatArray) -> tuple[float, FloatArray]:
            K, spectrum = self.kernels.at(y)
            (value, G), move = self.surrogate(K), y - self.x
            value += float((tilt * move).sum() - hold * (move @ move) / 2)
            return -value, -(self.kernels.pull_back(spectrum, G) + tilt - hold * move)

        least_gain = 1e-12 if self.surrogate.exact else 1e-8
        return self._replace(x=minimize(loss, self.x, 1e-6, max_iter, least_gain))

    def sample_residuals(self, size: int, rng: np.random.Generator) -> tuple[Rows, FloatArray]:
        """Draw exact samples of q, with log q - c of each."""
        draws = self.q.sample(size, rng=rng)
        Y, rest = draws.to_sparse().toarray().astype(np.bool_), np.asarray(self.q.log_prob(draws))
        for part in batches(size, self.surrogate.w.size):
            rest[part] -= self.surrogate.log_surrogate(self.K, Y[part].astype(np.float64))
        return Y, rest


def best_dpp(w: FloatArray, W: FloatArray, pairs: FloatArray, rng: np.random.Generator) -> VariationalDPP:
    """Maximize the surrogate from the DPP that comes closest to these P(i and j in Y), by K_ij^2 = P_i P_j - P_ij.

    If one block does not have all items, the surrogate is no bound, and its maximum may miss a set that no block sees:
    the empty set, for example, of 15 items that exclude each other. So the candidates are compared by the bound.
    """
    d = np.clip(pairs.diagonal(), EDGE, 1 - EDGE)
    K = np.sqrt(np.maximum(np.outer(d, d) - pairs, 0.0))
    np.fill_diagonal(K, d)
    K, soft = inside(K), np.maximum(W, -HARD)
    best = VariationalDPP.of(w, soft, K).climb(300 if w.size <= EXACT else 60)
    while (soft > W).any():
        soft = np.where(soft > W, np.maximum(W, 4 * soft), W)
        best = VariationalDPP.of(w, soft, best.K).climb(60)
    if best.surrogate.exact:
        return best.climb(2000)
    for _ in range(2):  # with new blocks, chosen by the dependences of the best K
        best = VariationalDPP.of(w, W, best.K).climb(150)
    candidates = [best, corrected(best, rng), VariationalDPP.of(w, W, K)]
    return max(candidates, key=lambda dpp: float(lower_bound(dpp, np.inf, rng)))


def corrected(candidate: VariationalDPP, rng: np.random.Generator) -> VariationalDPP:
    """Correct the gradient of the surrogate by exact samples.

    A correction draws from q, estimates the gradient of -E_q[log q - c], averages it with earlier estimates, and
    maximizes the surrogate plus this linear term, close to the last parameters.
    """
    kernels, tilt = candidate.kernels, np.zeros_like(candidate.x)
    candidate = candidate._replace(x=kernels.start(inside(candidate.K, SEEN)))
    for t in range(CORRECTIONS):
        Y, rest = candidate.sample_residuals(SAMPLES, rng)
        if t == 0 and rest.std() < SMALL:
            break
        K, spectrum = kernels.at(candidate.x)
        G = -score_covariance(K, Y, rest)
        tilt += (kernels.pull_back(spectrum, G) - tilt) * max(1.0 / (t + 1), 0.25)
        candidate = candidate.climb(15, tilt, hold=2.0)
    return candidate


def score_covariance(K: FloatArray, Y: Rows, values: FloatArray) -> FloatArray:
    """The covariance of `values` with d log q(y) / dK = (K - diag(1 - y))^-T, over the rows y."""
    weights = (values - values.mean()) / (len(Y) - 1)
    G = np.zeros_like(K)
    for part in batches(len(Y), K.size):
        A = K - (1 - Y[part])[:, :, None] * np.eye(len(K))
        G += np.tensordot(weights[part], np.linalg.inv(A), 1).T
    return G


def lower_bound(candidate: VariationalDPP, error: float, rng: np.random.Generator) -> Estimate:
    """E_q[score] + H(q) with a standard error of about `error` or less.

    It is the surrogate minus the mean of log q - c, which varies little. A first sample, which does not count in the
    mean, gives the number of samples. So the estimate is unbiased, and its expectation is at most log Z.
    """
    value = candidate.surrogate(candidate.K)[0]
    if candidate.surrogate.exact:
        return Estimate(value, 0.0)
    size = (1.1 * candidate.sample_residuals(PILOT, rng)[1].std() / error) ** 2
    _, rest = candidate.sample_residuals(int(min(max(size, FEWEST), MOST_COUNTED)), rng)
    # a set with a probability below 1 / N may be in none of N samples, and may add about 1 / N of a nat
    spread = float(np.hypot(rest.std(ddof=1) / np.sqrt(rest.size), 1 / rest.size))
    return Estimate(value - float(rest.mean()), spread)


def batches(count: int, size: int) -> Iterator[slice]:
    """Slices of `count` rows of `size` numbers each, with about two million numbers in a slice."""
    step = max(2_000_000 // size, 1)
    return (slice(a, a + step) for a in range(0, count, step))
