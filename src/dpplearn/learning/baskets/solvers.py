"""Climbing the likelihood of baskets: L-BFGS and batches on factors, EM and the fixed point on whole symmetric kernels.

Each calls `report` after an iteration, with what a fit can go on from, the objective per basket and the largest entry
of its gradient; it stops where iterations raise the objective by less than `tol` each, ten of them together.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

import numpy as np
from scipy import linalg, optimize

from dpplearn._checks import FloatArray
from dpplearn._run.stop import check_stop
from dpplearn.learning.baskets.counted import pick
from dpplearn.learning.baskets.factors import Factors
from dpplearn.learning.baskets.likelihood import Ask, BasketShard, Question, log_likelihood, normalizer

Report = Callable[[FloatArray, float, float], None]
LOOK_BACK = 10  # iterations whose gains are looked at together: single steps of L-BFGS may gain nothing
RATE = 0.05  # of Adam, falling to 0


class Settings(NamedTuple):
    """What every solver is told."""

    alpha: float
    tol: float
    max_iter: int
    report: Report


class Done(Exception):  # noqa: N818  # it ends scipy's loop, and is no error
    """Iterations no longer gain anything."""


class Watch:
    """Passes reports on, and tells when they stop rising."""

    def __init__(self, settings: Settings) -> None:
        self.settings, self.values, self.x = settings, [-np.inf], np.empty(0)

    def __call__(self, x: FloatArray, value: float, gradient: float) -> bool:
        """Whether to stop."""
        check_stop()
        self.x = x
        self.values.append(value)
        self.settings.report(x, value, gradient)
        return self.flat

    @property
    def flat(self) -> bool:
        old = self.values[-1 - LOOK_BACK] if len(self.values) > LOOK_BACK else -np.inf
        return self.values[-1] - old <= LOOK_BACK * self.settings.tol


def evaluate(ask: Ask, weight: float, factors: Factors, share: float, alpha: float) -> tuple[float, FloatArray]:
    """The objective per basket and its gradient; `share` is one over the number of baskets that the prior counts."""
    kernel = factors.kernel()
    value, left, right, own = log_likelihood(ask, weight, kernel)
    penalty, drag = factors.penalty(alpha)
    return value / weight - penalty * share, factors.pull_back(kernel, left, right, own) / weight - drag * share


def lbfgs(ask: Ask, weight: float, factors: Factors, settings: Settings) -> tuple[Factors, bool]:
    """scipy's L-BFGS-B; the factors reached, and whether they stopped rising."""
    watch, worst = Watch(settings), 0.0
    latest: dict[bytes, tuple[float, float]] = {}

    def loss(x: FloatArray) -> tuple[float, FloatArray]:
        nonlocal worst
        value, gradient = evaluate(ask, weight, factors.with_parameters(x), 1 / weight, settings.alpha)
        if not (np.isfinite(value) and np.isfinite(gradient).all()):  # a step too far: a slope that leads back
            return worst + 1e3 + float(x @ x), 2 * x
        worst = max(worst, -value)
        latest.clear()
        latest[x.tobytes()] = value, float(np.abs(gradient).max())
        return -value, -gradient

    def callback(x: FloatArray) -> None:
        found = latest.get(x.tobytes())  # none of a step too far, which scipy refuses
        if found is not None and watch(x.copy(), *found):
            raise Done

    x, before = factors.parameters, -np.inf
    while (left := settings.max_iter - len(watch.values) + 1) > 0:
        options = {"maxiter": left, "maxfun": 20 * left, "maxcor": 20, "ftol": 0.0, "gtol": 1e-9}
        with suppress(Done):
            optimize.minimize(loss, x, jac=True, method="L-BFGS-B", callback=callback, options=options)
        if watch.flat or watch.values[-1] <= before + LOOK_BACK * settings.tol:
            break
        x, before = watch.x, watch.values[-1]  # a search along a line failed: anew from there, while that gains
    return (factors.with_parameters(watch.x) if watch.x.size else factors), left > 0


def stochastic(
    baskets: BasketShard, factors: Factors, settings: Settings, batch: int, seed: int, state: FloatArray, done: int
) -> tuple[Factors, bool]:
    """Adam on batches drawn by weight; an iteration is as many draws as there are different baskets.

    `state`, which is written to and reported, holds the parameters, both moments and the number of steps: a fit that
    begins there, with iterations `done`, ends where it would have ended. Memory: some times the parameters.
    """
    ends, n = np.cumsum(baskets.weights), baskets.weights.size
    total, (x, first, second) = float(ends[-1]), state[:-1].reshape(3, -1)
    watch, steps = Watch(settings), settings.max_iter * -(-n // batch)
    for epoch in range(done, settings.max_iter):
        rng = np.random.default_rng([seed, epoch])
        values: list[float] = []
        for _ in range(0, n, batch):
            check_stop()
            drawn, times = np.unique(np.searchsorted(ends, total * rng.random(batch), "right"), return_counts=True)
            picked = pick(baskets.indptr, baskets.indices, np.minimum(drawn, n - 1))
            some, at = BasketShard(*picked, times.astype(np.float64)), factors.with_parameters(x)
            value, gradient = evaluate(some.evaluate, float(batch), at, 1 / total, settings.alpha)
            if not (np.isfinite(value) and np.isfinite(gradient).all()):
                continue  # a basket that rounding makes impossible here
            state[-1] = t = float(state[-1]) + 1
            first += 0.1 * (gradient - first)
            second += 0.01 * (gradient**2 - second)
            rate = RATE * (1 - t / (steps + 1)) * np.sqrt(1 - 0.99**t) / (1 - 0.9**t)
            x += rate * first / (np.sqrt(second) + 1e-10)
            values.append(value)
        watch(state, float(np.mean(values)) if values else -np.inf, float(np.abs(first).max()))
    return factors.with_parameters(x.copy()), True


def fixed_point(ask: Ask, weight: float, L: FloatArray, settings: Settings) -> tuple[FloatArray, bool]:
    """L <- L + L D L, D the derivative in L per basket: rises, and stays positive definite (Mariet & Sra 2015)."""
    watch = Watch(settings)
    for _ in range(settings.max_iter):
        value, (G,) = ask(Question((L,)))
        log_z, inverse = normalizer(L)
        D = G / weight - inverse
        if watch(L, value / weight - log_z, float(np.abs(D).max())):
            return L, True
        L = L + L @ D @ L
        L = (L + L.T) / 2
    return L, False


def em(ask: Ask, weight: float, L: FloatArray, settings: Settings) -> tuple[FloatArray, bool]:
    """EM over which eigenvectors of K = V diag(lam) V^T a basket was drawn from (Gillenwater et al. 2014).

    With g = lam / (1 - lam), a basket used vector j with probability g_j v_j^T L_Y^-1 v_j: its mean is the new lam_j.
    V then takes a step uphill among orthogonal matrices, V (I - s A / 2)^-1 (I + s A / 2) with A = V^T E - E^T V and E
    the derivative in V, halved until it rises.
    """
    watch, step = Watch(settings), 1.0 / weight
    odds, V = linalg.eigh(L, check_finite=False)
    identity = np.eye(len(L))

    def data(V: FloatArray, odds: FloatArray) -> tuple[float, FloatArray]:
        value, (G,) = ask(Question(((V * odds) @ V.T,)))
        return value, G

    odds = np.clip(odds, 1e-10, 1e10)
    value, G = data(V, odds)
    for _ in range(settings.max_iter):
        lam = np.clip(odds * np.einsum("ij,ij->j", V, G @ V) / weight, 1e-10, 1 - 1e-10)
        odds = lam / (1 - lam)
        value, G = data(V, odds)
        E = 2 * (G @ V) * odds
        A = V.T @ E - E.T @ V
        for _ in range(30):
            turned = V @ linalg.solve(identity - step / 2 * A, identity + step / 2 * A, check_finite=False)
            new, G_new = data(turned, odds)
            if new > value:
                V, value, G, step = linalg.qr(turned, check_finite=False)[0], new, G_new, 2 * step
                V = V * np.sign(np.einsum("ij,ij->j", V, turned))  # qr may turn signs; it only removes rounding
                break
            step /= 2
        L = (V * odds) @ V.T
        if watch(L, value / weight - float(np.log1p(odds).sum()), float(np.abs(A).max()) / weight):
            return L, True
    return L, False
