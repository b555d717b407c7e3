"""The DPP with the greatest evidence lower bound E_q[score] + H(q) on log Z."""

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

SURE = 2e-6  # eigenvalues of K stay this far from 0 and 1: L has no eigenvalue above 1e6, and keeps its digits
CORRECTIONS, SAMPLES = 10, 400  # of the gradient, and samples for each
SEEN = 0.02  # corrections start with the eigenvalues of K this far from 0 and 1: SAMPLES samples see both choices
SMALL = 0.1  # deviation of log q - c up to which nothing is left to correct
HARD = 8.0  # stronger repulsions are reached in steps, from the best q of weaker ones
PILOT, FEWEST, MOST_COUNTED = 1000, 5000, 200_000  # samples that are not counted in the bound; fewest and most that are


class VariationalDPP(NamedTuple):
    """A DPP q by the parameters x of its kernel, and the surrogate in which they are sought."""

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
        """The maximum of the surrogate + tilt . y - hold |y - x|^2 / 2 over parameters y, by L-BFGS from x."""

        def loss(y: FloatArray) -> tuple[float, FloatArray]:
            K, spectrum = self.kernels.at(y)
            (value, G), move = self.surrogate(K), y - self.x
            value += float((tilt * move).sum() - hold * (move @ move) / 2)
            return -value, -(self.kernels.pull_back(spectrum, G) + tilt - hold * move)

        least_gain = 1e-12 if self.surrogate.exact else 1e-8
        return self._replace(x=minimize(loss, self.x, 1e-6, max_iter, least_gain))

    def left_out(self, size: int, rng: np.random.Generator) -> tuple[Rows, FloatArray]:
        """Exact samples of q, and log q - c of each."""
        draws = self.q.sample(size, rng=rng)
        Y, rest = draws.to_sparse().toarray().astype(np.bool_), np.asarray(self.q.log_prob(draws))
        for part in batches(size, self.surrogate.w.size):
            rest[part] -= self.surrogate.log_surrogate(self.K, Y[part].astype(np.float64))
        return Y, rest


def best_dpp(w: FloatArray, W: FloatArray, pairs: FloatArray, rng: np.random.Generator) -> VariationalDPP:
    """Maximize the surrogate from the DPP with these P(i and j in Y), as far as there is one: K_ij^2 = P_i P_j - P_ij.

    With more items than one block has, the surrogate is no bound, and its maximum may lose a set that no block sees: of
    15 items that exclude one another, that there may be none. So what was found is compared by the bound.
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
    for _ in range(2):  # blocks once more, for the dependences that were found
        best = VariationalDPP.of(w, W, best.K).climb(150)
    candidates = [best, corrected(best, rng), VariationalDPP.of(w, W, K)]
    return max(candidates, key=lambda dpp: float(lower_bound(dpp, np.inf, rng)))


def corrected(candidate: VariationalDPP, rng: np.random.Generator) -> VariationalDPP:
    """Correct the gradient of the surrogate by exact samples.

    A correction draws from q, estimates the gradient of -E_q[log q - c], averages it with those before, and maximizes
    the surrogate plus that linear term, near where it was. Eigenvalues of K start far enough from 0 and 1 for the
    samples to see both choices.
    """
    kernels, tilt = candidate.kernels, np.zeros_like(candidate.x)
    candidate = candidate._replace(x=kernels.start(inside(candidate.K, SEEN)))
    for t in range(CORRECTIONS):
        Y, rest = candidate.left_out(SAMPLES, rng)
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

    It is the surrogate less the mean of log q - c, whose spread is small. A pilot, which is not counted, gives the
    number of samples: so the estimate is unbiased, and its expectation not above log Z.
    """
    value = candidate.surrogate(candidate.K)[0]
    if candidate.surrogate.exact:
        return Estimate(value, 0.0)
    wanted = (1.1 * candidate.left_out(PILOT, rng)[1].std() / error) ** 2
    _, rest = candidate.left_out(int(min(max(wanted, FEWEST), MOST_COUNTED)), rng)
    # a set with a chance of less than one in N is in none of N samples: it may add some 1 / N of a nat
    spread = float(np.hypot(rest.std(ddof=1) / np.sqrt(rest.size), 1 / rest.size))
    return Estimate(value - float(rest.mean()), spread)


def batches(count: int, size: int) -> Iterator[slice]:
    """Slices of `count` rows of `size` numbers each, two million numbers at a time."""
    step = max(2_000_000 // size, 1)
    return (slice(a, a + step) for a in range(0, count, step))
