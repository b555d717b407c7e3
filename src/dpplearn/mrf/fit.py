"""Finds the DPP that is closest to a distribution over subsets in KL divergence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpplearn._checks import FloatArray, Seed, check_int, check_rng, warn_user
from dpplearn.dpp import DPP
from dpplearn.mrf.entropy import branch_masses, choices, log_slopes
from dpplearn.mrf.enumeration import items_in, probabilities_of
from dpplearn.mrf.starts import Sine, dpp_starts, with_signs

TOL, MOST_STEPS = 1e-6, 5000  # stop at this largest entry of the gradient in M, or after so many steps


@dataclass(frozen=True, eq=False)
class Fit:
    """The closest DPP that was found.

    `divergence` is KL(target || model) in nats. `converged` says whether the largest entry of the gradient fell below
    1e-6. `divergences` has the result of each start, the smallest first.
    """

    model: DPP
    divergence: float
    converged: bool
    divergences: tuple[float, ...]


def fit_dpp_to(target: Any, *, n_starts: int = 6, rng: Seed = 0) -> Fit:
    """The DPP closest to a distribution, with the least KL(target || DPP).

    The problem is not convex, so it is solved from several starts: the kernel that agrees best with the target's
    marginals of at most three items, and random changes of it and its signs. L-BFGS moves the matrix M of K = sin(M)^2.
    If several starts reach the same value in `divergences`, that suggests, but does not prove, that it is the least.
    Ten items take about a second, and twenty some minutes.

    The eigenvalues of K stay 1e-10 away from 0 and 1, so that no subset is excluded and L exists. Signs of rows and
    columns change no probability; they are chosen so that the similarities of one item are positive.

    Parameters
    ----------
    target : PairwiseMRF, KDPP, DPP, or array of 2^n probabilities
        At most 20 items. Bit i of a position in the array says whether item i is in the subset.
    rng : int, numpy.random.Generator, SeedSequence, BitGenerator or None
        For the random starts.

    Examples
    --------
    >>> from dpplearn.mrf import PairwiseMRF
    >>> W = [[0.0, -3.0, 0.0], [-3.0, 0.0, -3.0], [0.0, -3.0, 0.0]]  # item 1 repels 0 and 2, which ignore each other
    >>> fit = fit_dpp_to(PairwiseMRF([0.0, 0.0, 0.0], W))
    >>> round(fit.divergence, 4), fit.converged
    (0.0358, True)
    >>> fit.model.similarity.round(2)  # the DPP makes the others alike too: it is transitive
    array([[1.  , 0.92, 0.68],
           [0.92, 1.  , 0.92],
           [0.68, 0.92, 1.  ]])
    """
    p, n_starts = probabilities_of(target), check_int(n_starts, "n_starts", low=1, high=1000)
    loss = Divergence(p)
    starts = [loss.kernels.start(K) for K in dpp_starts(p, n_starts, check_rng(rng))]
    reached = sorted((minimize(loss, x, TOL, MOST_STEPS, least_gain=1e-9) for x in starts), key=lambda x: loss(x)[0])
    best = minimize(loss, reached[0], TOL, MOST_STEPS)  # only the best goes on to the tolerance
    value, slopes = loss(best)
    gradient = float(np.abs(slopes).max())
    if gradient > TOL:
        warn_user(f"The closest DPP was not reached: the gradient is {gradient:.2g}.", RuntimeWarning)
    divergences = tuple(max(x, 0.0) for x in (value, *(loss(x)[0] for x in reached[1:])))
    return Fit(DPP.from_marginal(with_signs(loss.kernels.at(best)[0])), divergences[0], gradient <= TOL, divergences)


class Divergence:
    """KL(target || DPP) and its gradient, as a function of the parameters x of K = sin(M)^2 (see `Sine`)."""

    def __init__(self, p: FloatArray) -> None:
        seen = p[p > 0.0]
        self.masses, self.negative_entropy = branch_masses(p[None]), float(seen @ np.log(seen))
        self.kernels = Sine(items_in(p))

    def __call__(self, x: FloatArray) -> tuple[float, FloatArray]:
        K, spectrum = self.kernels.at(x)
        levels, value = choices(K[None]), self.negative_entropy
        for level, (taken, left) in zip(levels, self.masses, strict=True):
            value -= float((taken * np.log(level.chance) + left * np.log1p(-level.chance)).sum())
        return value, -self.kernels.pull_back(spectrum, log_slopes(levels, self.masses)[0])


def minimize(loss: object, start: FloatArray, tol: float, max_iter: int, least_gain: float = 0.0) -> FloatArray:
    """Run L-BFGS until the gradient is below tol / 10, or a step gains less than `least_gain`."""
    from scipy import optimize  # not above, because it is slow to import

    options = {"maxiter": max_iter, "maxfun": 2 * max_iter, "ftol": least_gain, "gtol": tol / 10, "maxcor": 30}
    return np.asarray(optimize.minimize(loss, start, jac=True, method="L-BFGS-B", options=options).x)
