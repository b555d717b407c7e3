"""Maximizing a log-posterior: Newton's steps with exact Hessians, and L-BFGS where there are too many features.

A fixed similarity makes a concave problem, for which ten evaluations are enough. Where a mixture is learned with the
qualities, the Hessian may have eigenvalues of either sign: a step then goes up along each of its eigenvectors.
Beyond 2,000 parameters there are no Hessians.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

import numpy as np
from scipy import linalg, optimize

from dpplearn._checks import FloatArray
from dpplearn._precision import EPS

MANY = 2000  # parameters beyond which no Hessian is made
FLAT = 1e-11  # eigenvalues of the Hessian, scaled to a unit diagonal, that are this small are rounding
FARTHEST = 20.0  # no Newton step changes log-qualities by more than this times what they are


class Point(NamedTuple):
    """The objective at some x: value, gradient and, for order 2, Hessian."""

    value: float
    gradient: FloatArray
    hessian: FloatArray | None = None
    log_likelihood: float = np.nan  # the value without the priors


class Objective(Protocol):
    """What is maximized."""

    def at(self, x: FloatArray, order: int) -> Point:
        """Value and gradient, and for order 2 the Hessian; a value of -inf turns the step back that came there."""

    def report(self, n_iter: int, x: FloatArray, point: Point) -> None:
        """Called after each iteration."""


@dataclass(frozen=True, eq=False)
class Optimum:
    """Where a solver stopped."""

    x: FloatArray
    point: Point  # its Hessian is None where it is not known there
    n_iter: int
    converged: bool  # no entry of the gradient is above `tol`, or nothing but rounding is left to gain
    step: FloatArray = field(default_factory=lambda: np.zeros(0))  # Newton's next; large where the maximum is far


def newton(
    objective: Objective,
    x: FloatArray,
    scale: FloatArray,
    *,
    tol: float,
    max_iter: int,
    n_iter: int = 0,
    reach: float | None = None,
    enough: float = 0.0,
) -> Optimum:
    """A maximum by Newton's steps: no entry of the gradient is above `tol`, or a step would gain less than `enough`.

    Nearly every step is taken whole; one that does not raise the value by its share is shortened. `scale` has what one
    unit of each x_j changes, such as the largest |f_ij| of each feature; where the objective is not concave, a step
    goes no farther than `reach` in these units. Where it rises along a line on which it does not bend (qualities so far
    apart that every probability is 0 or 1), the Hessian says nothing, and the step follows the gradient.
    """
    point, t = objective.at(x, 2), 1.0
    if point.hessian is None:  # the start is beyond every float
        return Optimum(x, point, n_iter, False)
    while True:
        step, size, noise = newton_step(point), largest(point.gradient), 64 * EPS * (1 + abs(point.value))
        if size <= tol or n_iter >= max_iter or float(point.gradient @ step) / 2 < enough:
            return Optimum(x, point, n_iter, size <= tol, step)
        taken, left = step, np.abs(point.gradient + point.hessian @ step)
        if point.gradient @ step <= noise and (left > 1e-8 * (1 + abs(point.value)) * scale).any():
            taken = point.gradient / scale**2
            taken = taken * max(1.0, largest(x * scale)) / largest(taken * scale)
        far = FARTHEST * (1.0 + largest(x * scale)) if reach is None else reach
        taken = taken * min(1.0, far / max(largest(taken * scale), far))  # a Hessian of nearly 0 would send it anywhere
        slope = float(point.gradient @ taken)
        trial = objective.at(x + t * taken, 2)
        # where the rise is lost in rounding, the gradient tells whether the step is an improvement
        better = slope > noise or largest(trial.gradient) < size
        if trial.value >= point.value + 1e-4 * t * slope - noise and better:
            x, point, n_iter, t = x + t * taken, trial, n_iter + 1, 1.0
            objective.report(n_iter, x, point)
        elif slope <= noise or t < 1e-10:  # no float on the way is better
            return Optimum(x, point, n_iter, slope <= noise, step)
        else:
            t *= 0.25


def newton_step(point: Point) -> FloatArray:
    """|H|^-1 g for the Hessian H; nothing along directions in which it is flat (collinear, unpenalized)."""
    assert point.hessian is not None
    unit, H = unit_diagonal(-point.hessian)
    factor, info = linalg.lapack.dpotrf(H, lower=1)
    if info == 0 and factor.diagonal().min() ** 2 > FLAT:
        return np.asarray(unit * linalg.lapack.dpotrs(factor, unit * point.gradient, lower=1)[0])
    lam, U = linalg.eigh(H, check_finite=False)
    size = np.abs(lam)
    along = np.divide(U.T @ (unit * point.gradient), size, out=np.zeros_like(lam), where=size > FLAT * lam.size)
    return np.asarray(unit * (U @ along))


def lbfgs(
    objective: Objective, x: FloatArray, scale: FloatArray, *, tol: float, max_iter: int, n_iter: int = 0
) -> Optimum:
    """scipy's L-BFGS-B from gradients alone, in units of `scale`.

    Where a search along a line fails, it starts anew as long as that makes the gradient smaller.
    """
    search = LineSearches(objective, scale, n_iter)
    best = Optimum(x, objective.at(x, 1), n_iter, False)
    size = largest(best.point.gradient)
    while size > tol and search.n_iter < max_iter:
        options: dict[str, float] = {"maxiter": max_iter - search.n_iter, "maxfun": 20 * max_iter + 20, "maxcor": 20}
        options |= {"gtol": tol / max(float(scale.max()), 1.0), "ftol": 0.0}
        found = optimize.minimize(
            search.loss, best.x * scale, jac=True, method="L-BFGS-B", callback=search.callback, options=options
        )
        trial, before = objective.at(found.x / scale, 1), size
        if largest(trial.gradient) < size:
            best, size = replace(best, x=found.x / scale, point=trial), largest(trial.gradient)
        if size > 0.5 * before:
            break
    rounding = 1e-8 * (1 + abs(best.point.value)) * scale  # what a sum of this size leaves of a gradient
    settled = bool((np.abs(best.point.gradient) <= rounding).all()) and search.n_iter < max_iter
    return replace(best, n_iter=search.n_iter, converged=size <= tol or settled)


class LineSearches:
    """The negative objective of u = x scale, as scipy asks for it."""

    def __init__(self, objective: Objective, scale: FloatArray, n_iter: int) -> None:
        self.objective, self.scale, self.n_iter, self.worst = objective, scale, n_iter, 0.0

    def loss(self, u: FloatArray) -> tuple[float, FloatArray]:
        self.point = self.objective.at(u / self.scale, 1)
        if not np.isfinite(self.point.value):  # beyond every float: a finite slope back towards 0 turns the search
            return self.worst + 1e3 * (1 + float(u @ u)), 2e3 * u
        self.worst = max(self.worst, -self.point.value)
        return -self.point.value, -self.point.gradient / self.scale

    def callback(self, u: FloatArray) -> None:  # the step that was taken is the one evaluated last
        self.n_iter += 1
        self.objective.report(self.n_iter, u / self.scale, self.point)


def covariance(hessian: FloatArray, T: FloatArray | None = None) -> tuple[FloatArray, np.ndarray]:
    """T (-H)^-1 T^T without the directions in which H is flat, and which entries of Tx these leave undetermined.

    T is I if none is given. Logits are flat where all grow by the same, and log(1 - w_all) does not change with that.
    """
    scale, A = unit_diagonal(-hessian)
    lam, U = linalg.eigh(A, check_finite=False)
    flat = lam <= FLAT * lam.size
    T = np.eye(scale.size) if T is None else T
    along, deaf = (T * scale) @ U, np.abs(T) @ (scale == 0) > 0
    length = np.square(along).sum(axis=1)
    undetermined = (np.square(along[:, flat]).sum(axis=1) > 1e-6 * length) | deaf
    return np.asarray((along[:, ~flat] / lam[~flat]) @ along[:, ~flat].T), undetermined


def unit_diagonal(H: FloatArray) -> tuple[FloatArray, FloatArray]:
    """s and diag(s) H diag(s) with a unit diagonal: units of the features then do not matter."""
    d = np.abs(H.diagonal())
    scale = np.divide(1.0, np.sqrt(d), out=np.zeros_like(d), where=d > np.finfo(np.float64).tiny)
    return scale, scale[:, None] * H * scale


def largest(g: FloatArray) -> float:
    return float(np.abs(g).max())
