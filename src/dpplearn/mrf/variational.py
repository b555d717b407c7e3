"""The determinantal q with the greatest evidence lower bound E_q[score] + H(q) on log Z."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from dpplearn._checks import FloatArray
from dpplearn.determinantal import Determinantal
from dpplearn.estimate import Estimate
from dpplearn.mrf.chains import batches, draw, scores
from dpplearn.mrf.enumeration import Rows
from dpplearn.mrf.fit import minimize
from dpplearn.mrf.messages import mean_field
from dpplearn.mrf.parameters import LARGEST, Factors, Sine
from dpplearn.mrf.starts import field_starts, inside, loosely
from dpplearn.mrf.surrogate import Surrogate, expected_score
from dpplearn.nonsymmetric import NonsymmetricDPP

Process = Determinantal | NonsymmetricDPP

SURE = 2e-6  # eigenvalues of K stay this far from 0 and 1: L has no eigenvalue above 1e6, and keeps its digits
DRAWS = 400  # samples of a correction
SEEN = 0.02  # corrections start with the eigenvalues of K this far from 0 and 1: DRAWS samples see both choices
HARD = 8.0  # stronger repulsions are reached in steps, from the best q of weaker ones
SMALL = 0.1  # deviation of log q - c up to which nothing is left to correct
PILOT, LEAST, MOST = 1000, 5000, 200_000  # samples that are not counted in the bound; fewest and most that are


@dataclass(frozen=True)
class Variational:
    """A determinantal q by its parameters, and the surrogate in which they were sought."""

    kernels: Sine | Factors
    x: FloatArray
    surrogate: Surrogate

    @property
    def K(self) -> FloatArray:
        return self.kernels.at(self.x).K

    @property
    def q(self) -> Process:
        return self.kernels.process(self.x)

    def climb(self, max_iter: int, tilt: FloatArray | None = None, hold: float = 0.0) -> Self:
        """The maximum of surrogate + tilt . y - hold |y - x|^2 / 2 over parameters y, by L-BFGS from x."""
        kernels, surrogate, start = self.kernels, self.surrogate, self.x

        def loss(x: FloatArray) -> tuple[float, FloatArray]:
            point = kernels.at(x)
            value, G = surrogate(point.K)
            g = kernels.pull_back(point, G)
            if tilt is not None:
                value, g = value + tilt @ x - hold * ((x - start) ** 2).sum() / 2, g + tilt - hold * (x - start)
            return -value, -g

        bounds = [(-LARGEST, LARGEST)] * start.size if isinstance(kernels, Factors) else None
        least_gain = 1e-12 if surrogate.exact else 1e-8
        return replace(self, x=minimize(loss, start, bounds, 1e-6, max_iter, least_gain)[0])


def best_process(
    w: FloatArray,
    W: FloatArray,
    kernels: Sine | Factors,
    *,
    neighbours: int,
    corrections: int,
    rng: np.random.Generator,
) -> Variational:
    """Maximize the surrogate by L-BFGS, then correct its gradient by exact samples.

    Blocks are chosen for the start's dependences, and once more for those found. A correction draws from q, estimates
    the gradient of -E_q[log q - c] (see `surrogate`), averages it with those before, and maximizes the surrogate plus
    that linear term, near where it was. Kept if the bound, on samples of its own, is the higher one.

    The blocks can drive an eigenvalue of K to 0 or 1 where the bound does not: of 15 items that exclude one another, no
    block sees that one must be in Y, and so the empty set is lost. Samples of such a q never show what is lost, so
    corrections start from eigenvalues that are SEEN.
    """

    def climbed(W: FloatArray, K: FloatArray) -> tuple[float, Variational]:
        surrogate = Surrogate.of(w, W, dependence(K), neighbours)
        found = Variational(kernels, kernels.start(K), surrogate).climb(300 if surrogate.exact else 40)
        return surrogate(found.K)[0], found

    soft = np.maximum(W, -HARD)
    value, best = max((climbed(soft, K) for K in field_starts(w, soft, rng)), key=lambda pair: pair[0])
    while (soft > W).any():
        soft = np.where(soft > W, np.maximum(W, 4 * soft), W)
        value, best = climbed(soft, best.K)
    independent = mean_field(w, W)
    if value < independent.log_z:  # independent items are a DPP too
        again = climbed(W, loosely(independent.pairs.diagonal(), W))
        best = max((value, best), again, key=lambda pair: pair[0])[1]
    if best.surrogate.exact:
        return best.climb(2000)
    for _ in range(2):
        best = replace(best, surrogate=Surrogate.of(w, W, dependence(best.K), neighbours)).climb(150)
    other, tilt = replace(best, x=kernels.start(inside(best.K, SEEN))), np.zeros_like(best.x)
    if corrections == 0 or max(Weighed.of(v, DRAWS, rng).left().std() for v in (best, other)) < SMALL:
        return best
    for t in range(corrections):
        point, (Y, log_q) = kernels.at(other.x), draw(other.q, DRAWS, rng)
        G = -score_covariance(point.K, Y, log_q - best.surrogate.log_surrogate(point.K, Y.astype(np.float64)))
        tilt += (kernels.pull_back(point, G) - tilt) * max(1.0 / (t + 1), 0.25)
        other = other.climb(15, tilt, hold=2.0)
    return max(best, other, key=lambda v: float(lower_bound(v, np.inf, rng)[0]))


def score_covariance(K: FloatArray, Y: Rows, values: FloatArray) -> FloatArray:
    """The covariance of `values` with d log q(y) / dK = (K - diag(1 - y))^-T, over the rows y."""
    weights = (values - values.mean()) / (len(Y) - 1)
    G = np.zeros_like(K)
    for part in batches(len(Y), K.size):
        A = np.broadcast_to(K, (len(Y[part]), *K.shape)).copy()
        A[:, np.arange(len(K)), np.arange(len(K))] -= 1 - Y[part]
        G += np.tensordot(weights[part], np.linalg.inv(A), 1).T
    return G


@dataclass(frozen=True)
class Weighed:
    """Exact samples of q and their log weights score - log q; `values` with the same mean, and columns of mean 0."""

    log_weights: FloatArray
    Y: Rows
    values: FloatArray
    known: FloatArray

    @classmethod
    def of(cls, found: Variational, size: int, rng: np.random.Generator) -> Self:
        """The score and the surrogate's c have known means: less these, they are control variates.

        What the pairs that repel beyond HARD add beyond it is replaced by its mean: rare samples have all of it.
        """
        q, K, surrogate = found.q, found.K, found.surrogate
        w, W, soft = surrogate.w, surrogate.W, np.maximum(surrogate.W, -HARD)
        mean, mean_soft, value = expected_score(w, W, K)[0], expected_score(w, soft, K)[0], surrogate(K)[0]
        parts = []
        for part in batches(size, len(K)):
            rows, log_q = draw(q, len(range(size)[part]), rng)
            Y = rows.astype(np.float64)
            score = scores(w, soft, Y)
            known = np.column_stack([score - mean_soft, surrogate.log_surrogate(K, Y) - (mean - value)])
            parts.append((scores(w, W, Y) - log_q, rows, score - log_q + (mean - mean_soft), known))
        return cls(*(np.concatenate(column) for column in zip(*parts, strict=True)))

    def slopes(self) -> FloatArray:
        """Of the values on what is known: near 1 and -1, those of q itself, because rare sets count as much as a slope.

        Samples that are all the same set leave them there, so that sets not seen enter by the known means.
        """
        from scipy import optimize

        known, values, near = (
            self.known - self.known.mean(axis=0),
            self.values - self.values.mean(),
            np.array([1.0, -1.0]),
        )
        return np.asarray(near + optimize.lsq_linear(known, values - known @ near, bounds=(-2.0 - near, 2.0 - near)).x)

    def left(self, slopes: FloatArray | None = None) -> FloatArray:
        """The values without what is known: the same mean, a smaller spread."""
        return self.values - self.known @ (self.slopes() if slopes is None else slopes)


def lower_bound(found: Variational, error: float, rng: np.random.Generator) -> tuple[Estimate, Weighed]:
    """E_q[score] + H(q) with a standard error of about `error` or less, and the samples it is from.

    A pilot, which is not counted, gives the slopes of the control variates and the number of samples: so the estimate
    is unbiased, and its expectation not above log Z.
    """
    if found.surrogate.exact:
        return Estimate(found.surrogate(found.K)[0], 0.0), Weighed.of(found, LEAST, rng)
    pilot = Weighed.of(found, PILOT, rng)
    slopes = pilot.slopes()
    wanted = (1.1 * pilot.left(slopes).std() / error) ** 2
    weighed = Weighed.of(found, int(min(max(wanted, LEAST), MOST)), rng)
    left = weighed.left(slopes)
    # what has less than a chance of one in N is in none of N samples: it may add some 1 / N of a nat
    return Estimate(float(left.mean()), float(np.hypot(left.std(ddof=1) / np.sqrt(left.size), 1 / left.size))), weighed


def dependence(K: FloatArray) -> FloatArray:
    """Squared correlations of the items."""
    d = np.clip(K.diagonal(), 1e-9, 1 - 1e-9)
    spread = d * (1 - d)
    return np.asarray((K * K.T) ** 2 / np.outer(spread, spread))
