"""Climbing the log-likelihood of baskets on the factors of a kernel: L-BFGS on all baskets, or Adam on batches.

Both call `report` after an iteration, with what a fit can go on from, the objective per basket and the largest entry
of its gradient. L-BFGS stops when ten iterations together raise the objective by less than ten times `tol`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

import numpy as np
from scipy import optimize

from dpplearn._checks import FloatArray
from dpplearn._run.stop import check_stop
from dpplearn.baskets.baskets import pick
from dpplearn.baskets.factors import KernelFactors
from dpplearn.baskets.likelihood import BasketShard, ManyBaskets, log_likelihood

Report = Callable[[FloatArray, float, float], None]
LOOK_BACK = 10  # iterations whose gains are looked at together: single steps of L-BFGS may gain nothing
RATE = 0.05  # of Adam, falling to 0


class SolverOptions(NamedTuple):
    """What both solvers are told."""

    alpha: float
    tol: float
    max_iter: int
    report: Report


class Stalled(Exception):  # noqa: N818  # it ends scipy's loop, and is no error
    """Iterations no longer gain anything."""


class Climb:
    """The iterations so far: passes them on to `report`, and knows when they stop rising."""

    def __init__(self, options: SolverOptions) -> None:
        self.options, self.values, self.x = options, [-np.inf], np.empty(0)

    def add(self, x: FloatArray, value: float, gradient: float) -> None:
        check_stop()
        self.x = x
        self.values.append(value)
        self.options.report(x, value, gradient)

    @property
    def stalled(self) -> bool:
        old = self.values[-1 - LOOK_BACK] if len(self.values) > LOOK_BACK else -np.inf
        return self.values[-1] - old <= LOOK_BACK * self.options.tol


def objective(
    baskets: BasketShard | ManyBaskets, factors: KernelFactors, alpha: float, total: float
) -> tuple[float, FloatArray]:
    """The objective per basket and its gradient; the prior is that of `total` baskets, of which these may be some."""
    kernel, weight, share = factors.kernel(), baskets.total, 1 / total
    value, left, right, diagonal = log_likelihood(baskets, kernel)
    penalty, drag = factors.penalty(alpha)
    return value / weight - penalty * share, factors.pull_back(kernel, left, right, diagonal) / weight - drag * share


def lbfgs(baskets: ManyBaskets, factors: KernelFactors, options: SolverOptions) -> tuple[KernelFactors, bool]:
    """scipy's L-BFGS-B; the factors reached, and whether the objective stopped rising."""
    climb, worst = Climb(options), 0.0
    latest: dict[bytes, tuple[float, float]] = {}

    def loss(x: FloatArray) -> tuple[float, FloatArray]:
        nonlocal worst
        value, gradient = objective(baskets, factors.with_parameters(x), options.alpha, baskets.total)
        if not (np.isfinite(value) and np.isfinite(gradient).all()):  # a step too far: a slope that leads back
            return worst + 1e3 + float(x @ x), 2 * x
        worst = max(worst, -value)
        latest.clear()
        latest[x.tobytes()] = value, float(np.abs(gradient).max())
        return -value, -gradient

    def callback(x: FloatArray) -> None:
        found = latest.get(x.tobytes())  # a step too far, which scipy refuses, is not there
        if found is not None:
            climb.add(x.copy(), *found)
            if climb.stalled:
                raise Stalled

    x, before = factors.parameters, -np.inf
    while (left := options.max_iter - len(climb.values) + 1) > 0:
        limits = {"maxiter": left, "maxfun": 20 * left, "maxcor": 20, "ftol": 0.0, "gtol": 1e-9}
        with suppress(Stalled):
            optimize.minimize(loss, x, jac=True, method="L-BFGS-B", callback=callback, options=limits)
        if climb.stalled or climb.values[-1] <= before + LOOK_BACK * options.tol:
            break
        x, before = climb.x, climb.values[-1]  # a line search failed: start again from there while that gains
    return (factors.with_parameters(climb.x) if climb.x.size else factors), left > 0


def stochastic(
    baskets: BasketShard,
    factors: KernelFactors,
    options: SolverOptions,
    batch: int,
    seed: int,
    state: FloatArray,
    done: int,
) -> KernelFactors:
    """Adam on batches drawn by weight; an iteration is as many draws as there are different baskets.

    `state` holds the parameters, both moments and the number of steps; it is written to and reported. A fit that
    begins from a reported state, with `done` iterations, ends where it would have ended without the break. The memory
    needed is a few times that of the parameters.
    """
    ends, n = np.cumsum(baskets.weights), baskets.weights.size
    total, (x, first, second) = float(ends[-1]), state[:-1].reshape(3, -1)
    climb, steps = Climb(options), options.max_iter * -(-n // batch)
    for epoch in range(done, options.max_iter):
        rng = np.random.default_rng([seed, epoch])
        values: list[float] = []
        for _ in range(0, n, batch):
            check_stop()
            drawn, times = np.unique(np.searchsorted(ends, total * rng.random(batch), "right"), return_counts=True)
            picked = pick(baskets.indptr, baskets.indices, np.minimum(drawn, n - 1))
            some, at = BasketShard(*picked, times.astype(np.float64)), factors.with_parameters(x)
            value, gradient = objective(some, at, options.alpha, total)
            if not (np.isfinite(value) and np.isfinite(gradient).all()):
                continue  # a basket that rounding makes impossible here
            state[-1] = t = float(state[-1]) + 1
            first += 0.1 * (gradient - first)
            second += 0.01 * (gradient**2 - second)
            rate = RATE * (1 - t / (steps + 1)) * np.sqrt(1 - 0.99**t) / (1 - 0.9**t)
            x += rate * first / (np.sqrt(second) + 1e-10)
            values.append(value)
        climb.add(state, float(np.mean(values)) if values else -np.inf, float(np.abs(first).max()))
    return factors.with_parameters(x.copy())
