"""The DPP closest to a distribution over subsets, and the MRF closest to it, in KL divergence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from dpplearn._checks import FloatArray, Seed, check_between, check_int, check_rng, warn_user
from dpplearn.dpp import DPP
from dpplearn.mrf.entropy import branch_masses, choices, log_slopes
from dpplearn.mrf.enumeration import items_in, kl_divergence, log_probs, moments, probabilities_of
from dpplearn.mrf.pairwise import PairwiseMRF
from dpplearn.mrf.starts import Sine, dpp_starts, with_signs

Model = TypeVar("Model", DPP, PairwiseMRF)


@dataclass(frozen=True, eq=False)
class Fit(Generic[Model]):
    """The closest model found, and how it was reached.

    `divergence` is KL(target || model) in nats. `converged` says whether `gradient`, the largest entry of it that no
    bound holds back, fell below the tolerance. `divergences` are what each start reached, the closest one first; one
    entry for an MRF, whose problem is convex.
    """

    model: Model
    divergence: float
    converged: bool
    gradient: float
    iterations: int
    divergences: tuple[float, ...]


def fit_mrf_to(target: Any, *, repulsive: bool = True, tol: float = 1e-6, max_iter: int = 2000) -> Fit[PairwiseMRF]:
    """The pairwise MRF (11) closest to a distribution: least KL(target || MRF).

    The problem is convex. Without bounds the closest MRF has the target's marginals and pair probabilities; with
    `repulsive`, w_ij <= 0, those of the pairs with w_ij < 0. Where the target has marginals of 0 or 1, or pairs that
    never occur together, the closest MRF lies at infinity, and large finite weights come within the tolerance of it.

    Parameters
    ----------
    target : DPP, KDPP, PairwiseMRF, or array of 2^n probabilities
        At most 20 items. Bit i of a position in the array says whether item i is in the subset.
    repulsive : bool
        Whether the weights of pairs must not be positive.
    tol : float
        Largest entry of the gradient, a difference of probabilities, to stop at; or after `max_iter` steps.

    Examples
    --------
    >>> from dpplearn import DPP
    >>> fit = fit_mrf_to(DPP([[1.0, 0.6], [0.6, 1.0]]))  # two items: equivalent, equation (13)
    >>> fit.model.W[0, 1].round(4), round(fit.divergence, 8)  # log(1 - 0.6^2)
    (np.float64(-0.4463), 0.0)
    """
    p = probabilities_of(target)
    check_options(tol, max_iter)
    wanted = moments(p)
    n = len(wanted)
    pairs = np.triu_indices(n, 1)

    def weights(x: FloatArray) -> tuple[FloatArray, FloatArray]:
        W = np.zeros((n, n))
        W[pairs] = x[n:]
        return x[:n], W + W.T

    def statistics(moment: FloatArray) -> FloatArray:
        return np.concatenate([moment.diagonal(), moment[pairs]])

    def loss(x: FloatArray) -> tuple[float, FloatArray]:
        log_p, log_normalizer = log_probs(*weights(x))
        # KL = log of the normalizer - x . E_target[statistics] - entropy of the target
        return float(log_normalizer - x @ aim), statistics(moments(np.exp(log_p))) - aim

    aim, marginals = statistics(wanted), np.clip(wanted.diagonal(), 1e-6, 1 - 1e-6)
    start = np.concatenate([np.log(marginals / (1 - marginals)), np.zeros(pairs[0].size)])  # independent items
    bounds = [(None, None)] * n + [(None, 0.0 if repulsive else None)] * pairs[0].size
    x, steps = minimize(loss, start, bounds, tol, max_iter)
    gradient = loss(x)[1]
    held = (x >= 0.0) & (gradient < 0.0) & (np.arange(x.size) >= n) & repulsive
    model = PairwiseMRF(*weights(x), repulsive=repulsive)
    return finish(model, [kl_divergence(p, model)], gradient[~held], tol, steps)


def fit_dpp_to(target: Any, *, n_starts: int = 6, rng: Seed = 0, tol: float = 1e-6, max_iter: int = 2000) -> Fit[DPP]:
    """The DPP closest to a distribution: least KL(target || DPP).

    The problem is not convex, so it is solved from several starts: the kernel that agrees with the target on its
    marginals of at most three items, as far as a kernel can; nearly independent items; and random changes of the first,
    also of its signs. L-BFGS moves the matrix M of K = sin(M)^2. In `divergences`, several starts that reached the same
    value are a sign, not a proof, that it is the least. Ten items take about a second, twenty some minutes.

    The eigenvalues of K stay 1e-10 away from 0 and 1, so that no subset is excluded and L exists. Of the signs of rows
    and columns, which change no probability, those are taken that make the entries between items most alike positive.

    Parameters
    ----------
    target : PairwiseMRF, KDPP, DPP, or array of 2^n probabilities
        As for `fit_mrf_to`.
    rng : int, numpy.random.Generator, SeedSequence, BitGenerator or None
        For those of the `n_starts` starts that are random.
    tol : float
        Largest entry of the gradient with respect to M to stop at; or after `max_iter` steps from a start.

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
    p = probabilities_of(target)
    n_starts, generator = check_int(n_starts, "n_starts", low=1, high=1000), check_rng(rng)
    check_options(tol, max_iter)
    loss = Divergence(p)
    runs = []
    for K in dpp_starts(p, n_starts, generator):
        x, steps = minimize(loss, loss.kernels.start(K), None, tol, max_iter, least_gain=1e-9)
        runs.append((loss(x)[0], steps, x))
    runs.sort(key=lambda run: run[0])
    _, before, x = runs[0]  # only the best is worth the long way to the tolerance
    x, steps = minimize(loss, x, None, tol, max_iter)
    value, gradient = loss(x)
    model = DPP.from_marginal(with_signs(loss.kernels.at(x)[0]))
    return finish(model, [value, *(run[0] for run in runs[1:])], gradient, tol, before + steps)


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


def check_options(tol: float, max_iter: int) -> None:
    """Raise unless both are positive and finite."""
    check_int(max_iter, "max_iter", low=1)
    if check_between(tol, "tol", 0.0, np.inf) == 0.0:
        raise ValueError("tol must be positive, found 0.")


def minimize(
    loss: object, start: FloatArray, bounds: object, tol: float, max_iter: int, least_gain: float = 0.0
) -> tuple[FloatArray, int]:
    """L-BFGS to a gradient below tol / 10, as far as rounding allows, or until a step gains less than `least_gain`."""
    from scipy import optimize  # here: importing it costs more than all of dpplearn

    options = {"maxiter": max_iter, "maxfun": 2 * max_iter, "ftol": least_gain, "gtol": tol / 10, "maxcor": 30}
    result = optimize.minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return np.asarray(result.x), int(result.nit)


def finish(model: Model, divergences: list[float], slopes: FloatArray, tol: float, iterations: int) -> Fit[Model]:
    """The record; a warning where the gradient is too large."""
    gradient, reached = float(np.abs(slopes).max(initial=0.0)), tuple(max(value, 0.0) for value in divergences)
    if gradient > tol:
        warn_user(
            f"The closest {type(model).__name__} was not reached: the gradient is {gradient:.2g} after {iterations} "
            f"steps, with tol={tol:g}. Raise max_iter, or tol if the divergence is accurate enough.",
            RuntimeWarning,
        )
    return Fit(model, reached[0], gradient <= tol, gradient, iterations, reached)
