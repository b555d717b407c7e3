"""The DPP with the greatest evidence lower bound E_q[score] + H(q) on log Z."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
from scipy import linalg

from dpplearn._checks import FloatArray
from dpplearn.dpp import DPP
from dpplearn.estimate import Estimate
from dpplearn.mrf.chains import batches, draw, mean_field, scores
from dpplearn.mrf.entropy import EXACT, Surrogate
from dpplearn.mrf.enumeration import Rows
from dpplearn.mrf.fit import minimize
from dpplearn.mrf.starts import EDGE, Sine, inside, shaken

SURE = 2e-6  # eigenvalues of K stay this far from 0 and 1: L has no eigenvalue above 1e6, and keeps its digits
HARD = 8.0  # stronger repulsions are reached in steps, from the best q of weaker ones
PILOT, LEAST, MOST = 1000, 5000, 200_000  # samples that are not counted in the bound; fewest and most that are


class VariationalDPP(NamedTuple):
    """A DPP q by its parameters, and the surrogate in which they are sought."""

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
        return self.kernels.process(self.x)

    def climb(self, max_iter: int) -> Self:
        """The maximum of the surrogate, by L-BFGS from x."""

        def loss(x: FloatArray) -> tuple[float, FloatArray]:
            K, spectrum = self.kernels.at(x)
            value, G = self.surrogate(K)
            return -value, -self.kernels.pull_back(spectrum, G)

        least_gain = 1e-12 if self.surrogate.exact else 1e-8
        return self._replace(x=minimize(loss, self.x, None, 1e-6, max_iter, least_gain)[0])


def best_dpp(w: FloatArray, W: FloatArray, pairs: FloatArray, rng: np.random.Generator) -> VariationalDPP:
    """Maximize the surrogate from several starts; `pairs` are estimates of P(i and j in Y).

    With more items than one block has, the surrogate is no bound, and its maximum may lose a set that no block sees: of
    15 items that exclude one another, that there may be none. So all are compared by the bound.
    """
    starts, soft = field_starts(w, W, pairs, rng), np.maximum(W, -HARD)
    steps = 300 if w.size <= EXACT else 60
    best = max((VariationalDPP.of(w, soft, K).climb(steps) for K in starts), key=lambda one: one.surrogate(one.K)[0])
    while (soft > W).any():
        soft = np.where(soft > W, np.maximum(W, 4 * soft), W)
        best = VariationalDPP.of(w, soft, best.K).climb(steps)
    if best.surrogate.exact:
        return best.climb(2000)
    for _ in range(2):  # blocks once more, for the dependences that were found
        best = VariationalDPP.of(w, W, best.K).climb(150)
    found = [best, *(VariationalDPP.of(w, W, K) for K in starts)]
    return max(found, key=lambda one: float(lower_bound(one, np.inf, rng)[0]))


def field_starts(w: FloatArray, W: FloatArray, pairs: FloatArray, rng: np.random.Generator) -> list[FloatArray]:
    """Marginal kernels: with the pairs of the field; with the factors of pairs; near mean field; for few items more.

    K_ij^2 = P_i P_j - P_ij from the pairs; from factors, L_ii = exp(w_i) and L_ij^2 = L_ii L_jj (1 - exp(w_ij)). Items
    that do not depend on one another at all would be a stationary point.
    """
    d = np.clip(pairs.diagonal(), EDGE, 1 - EDGE)
    by_pairs = np.sqrt(np.maximum(np.outer(d, d) - pairs, 0.0))
    np.fill_diagonal(by_pairs, d)
    quality, S = np.exp(np.clip(w, -15.0, 15.0) / 2), np.sqrt(-np.expm1(np.minimum(W, 0.0)))
    lam, V = linalg.eigh(quality[:, None] * (S + np.eye(w.size)) * quality)
    lam = np.maximum(lam, EDGE)
    p = mean_field(w, W)[1]
    spread = np.sqrt(p * (1 - p))
    near_independent = np.diag(p) + 0.1 * spread[:, None] * S * spread / w.size
    known = [inside(by_pairs), inside((V * (lam / (1 + lam))) @ V.T), near_independent]
    if w.size <= EXACT:
        known += [shaken(K, rng) for K in known[:2]]
    return known


def lower_bound(found: VariationalDPP, error: float, rng: np.random.Generator) -> tuple[Estimate, FloatArray, Rows]:
    """E_q[score] + H(q) with a standard error of about `error` or less; samples with their log weights score - log q.

    It is the surrogate less the mean of log q - c, whose spread is small. A pilot, which is not counted, gives the
    number of samples: so the estimate is unbiased, and its expectation not above log Z.
    """
    surrogate, q, K = found.surrogate, found.q, found.K
    value = surrogate(K)[0]

    def sampled(size: int) -> tuple[FloatArray, FloatArray, Rows]:
        parts = []
        for part in batches(size, len(K)):
            Y, log_q = draw(q, len(range(size)[part]), rng)
            rest = log_q - surrogate.log_surrogate(K, Y.astype(np.float64))
            parts.append((rest, scores(surrogate.w, surrogate.W, Y) - log_q, Y))
        rest, log_weights, Y = (np.concatenate(column) for column in zip(*parts, strict=True))
        return rest, log_weights, Y

    if surrogate.exact:
        _, log_weights, Y = sampled(LEAST)
        return Estimate(value, 0.0), log_weights, Y
    wanted = (1.1 * sampled(PILOT)[0].std() / error) ** 2
    rest, log_weights, Y = sampled(int(min(max(wanted, LEAST), MOST)))
    # a set with a chance of less than one in N is in none of N samples: it may add some 1 / N of a nat
    spread = float(np.hypot(rest.std(ddof=1) / np.sqrt(rest.size), 1 / rest.size))
    return Estimate(value - float(rest.mean()), spread), log_weights, Y
