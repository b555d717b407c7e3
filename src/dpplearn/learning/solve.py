"""Maximizing a log-posterior: Newton with exact Hessians, a region of trust where it is not concave, and L-BFGS.

A fixed similarity makes a concave problem, which Newton solves in about ten evaluations. Where a mixture is learned,
second derivatives take about ten times as long as first ones: steps within a region of trust then work with a Hessian
that gradients keep up to date, and that is exact near the maximum. Beyond 2,000 parameters there are no Hessians.
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
REACH = 2.0  # how far a first step in a region of trust goes: a logit by 2, a weight theta by two standard errors
CLOSE = 1e-4  # a gain in the log-posterior that moves no parameter by more than 0.015 of its standard error
SAME = 0.1  # log-posteriors that differ by less are of the same maximum


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


def maximize(
    objective: Objective, x: FloatArray, scale: FloatArray, *, tol: float, max_iter: int, n_iter: int = 0
) -> Optimum:
    """The maximum of a concave objective, from x: by Newton's method, or without Hessians where x is large.

    `scale` has what one unit of each x_j changes, such as the largest |f_ij| of each feature.
    """
    scale = np.where(scale > 1e-150, scale, 1.0)  # whose squares are floats
    solver = newton if x.size <= MANY else lbfgs
    return solver(objective, x, scale, tol=tol, max_iter=max_iter, n_iter=n_iter)


def newton(
    objective: Objective, x: FloatArray, scale: FloatArray, *, tol: float, max_iter: int, n_iter: int = 0
) -> Optimum:
    """Damped Newton steps until the largest entry of the gradient is at most `tol`.

    The objective is concave, so the step H^-1 g points uphill; it is shortened until the value rises by
    its share. One evaluation gives value, gradient and Hessian, and a full step is nearly always taken.
    Where the objective rises along a line on which it does not bend (qualities so far apart that every
    probability is 0 or 1), H says nothing and the step follows the gradient in units of the features.
    """
    point = objective.at(x, 2)
    while True:
        step = newton_step(point)
        size = largest(point.gradient)
        if size <= tol or n_iter >= max_iter:
            return Optimum(x, point, n_iter, size <= tol, step)
        noise = 64 * EPS * (1 + abs(point.value))
        if float(point.gradient @ step) <= noise and not is_settled(point, step, scale):
            step = point.gradient / scale**2
            step *= max(1.0, largest(x * scale)) / largest(step * scale)
        reach = FARTHEST * (1.0 + largest(x * scale))  # a Hessian of nearly 0 would send it anywhere
        step *= min(1.0, reach / max(largest(step * scale), reach))
        slope = float(point.gradient @ step)
        t, found = 1.0, None
        while t > 1e-10:
            trial = objective.at(x + t * step, 2)
            if trial.value >= point.value + 1e-4 * t * slope - noise:
                # Where the rise is lost in rounding, the gradient tells whether the step is an improvement.
                if slope > noise or largest(trial.gradient) < size:
                    found = trial
                break
            # where the parabola through the value, its slope and the trial is highest, within [0.1, 0.5] t
            bent = (point.value + t * slope - trial.value) / t**2
            best = slope / (2 * bent) if bent > 0 else t
            t *= float(np.clip(best / t, 0.1, 0.5))
        if found is None:  # no float on the way is better
            return Optimum(x, point, n_iter, slope <= noise, newton_step(point))
        x, point, n_iter = x + t * step, found, n_iter + 1
        objective.report(n_iter, x, point)


def newton_step(point: Point) -> FloatArray:
    """H^-1 g for H = minus the Hessian; nothing along directions in which H is flat (collinear, unpenalized)."""
    assert point.hessian is not None
    scale, H = unit_diagonal(-point.hessian)
    g = point.gradient * scale
    try:
        factor = linalg.cho_factor(H, lower=True, check_finite=False)
        if factor[0].diagonal().min() ** 2 > FLAT:
            return np.asarray(linalg.cho_solve(factor, g, check_finite=False) * scale)
    except linalg.LinAlgError:
        pass
    lam, U = linalg.eigh(H, check_finite=False)
    keep = lam > FLAT * lam.size
    return np.asarray(U[:, keep] @ ((U[:, keep].T @ g) / lam[keep]) * scale)


def is_settled(point: Point, step: FloatArray, scale: FloatArray) -> bool:
    """Whether the Newton step takes away the gradient but for what rounding leaves of a sum of this size."""
    assert point.hessian is not None
    left = np.abs(point.gradient + point.hessian @ step)
    return bool((left <= 1e-8 * (1 + abs(point.value)) * scale).all())


def trust_region(
    objective: Objective,
    x: FloatArray,
    m: int,
    hessian: FloatArray | None = None,
    *,
    tol: float,
    max_iter: int,
    n_iter: int = 0,
    enough: float = 0.0,
    beat: float = -np.inf,
) -> Optimum:
    """Steps within a region of trust, with a Hessian that is changed by what gradients say of it (SR1).

    It begins with `hessian`, of some point near x, or with the exact one. The length of a step counts the first m
    entries in their standard errors, and logits as they are. Where a step would gain no more than `CLOSE` the Hessian
    is made exact, and that one is returned. A gain of `enough` ends it before that, and so does a maximum that would
    not `beat` the best so far.
    """
    point = objective.at(x, 1 if hessian is not None else 2)
    H, fresh, reach = point.hessian if hessian is None else hessian, hessian is None, REACH
    if H is None:  # the start is beyond every float
        return Optimum(x, point, n_iter, False)
    exact, steps = point.hessian, 0
    near = False  # `exact` is the Hessian near the maximum
    unit = np.ones(x.size)
    unit[:m] = np.sqrt(np.maximum(-H.diagonal()[:m], np.finfo(np.float64).tiny))
    while True:
        size, step = largest(point.gradient), step_within(H, point.gradient, unit, reach)
        gain = float(point.gradient @ step + step @ H @ step / 2)
        length = float(np.linalg.norm(step * unit))
        short = reach < REACH and length > 0.99 * reach  # cut after others failed: it gains little anywhere
        near = near or (fresh and gain <= CLOSE and not short)
        # along a weight that goes to 0 the gradient is slow to, and says nothing: what a step would gain decides
        done = near and (size <= tol or (gain <= tol and not short))
        hopeless = steps > 3 and point.value + 5 * gain < beat
        if gain <= CLOSE and not short:
            hopeless |= point.value + 2 * gain < beat + CLOSE
        if done or n_iter >= max_iter or hopeless or (gain <= enough and not short):
            return Optimum(x, point._replace(hessian=exact if near else None), n_iter, done)
        if not fresh and not near and gain <= CLOSE:
            point, fresh = objective.at(x, 2), True
            assert point.hessian is not None
            H = exact = point.hessian
            unit[:m] = np.sqrt(np.maximum(-H.diagonal()[:m], np.finfo(np.float64).tiny))
            continue
        trial, noise = objective.at(x + step, 1), 64 * EPS * (1 + abs(point.value))
        rise = trial.value - point.value
        better = rise >= 1e-3 * gain or (abs(rise) <= noise and largest(trial.gradient) < size)
        if not better and (gain <= noise or length < 1e-10):  # no float on the way is better
            return Optimum(x, point._replace(hessian=exact), n_iter, gain <= noise)
        change = trial.gradient - point.gradient
        if better:
            x, point, n_iter, steps = x + step, trial, n_iter + 1, steps + 1
            objective.report(n_iter, x, point)
            reach = max(reach, 2.5 * length) if rise > 0.75 * gain else reach
        else:
            reach = 0.25 * length
        if np.isfinite(trial.value) and (better or not fresh):
            H, fresh = secant(H, step, change, unit), False


def secant(H: FloatArray, step: FloatArray, change: FloatArray, unit: FloatArray) -> FloatArray:
    """H after the symmetric change of rank one with which it says how the gradient changed along a step."""
    left = change - H @ step
    along = float(left @ step)
    if abs(along) <= 1e-8 * float(np.linalg.norm(left / unit) * np.linalg.norm(step * unit)):
        return H
    return np.asarray(H + np.outer(left, left) / along)


def step_within(H: FloatArray, g: FloatArray, unit: FloatArray, reach: float) -> FloatArray:
    """The step s with |unit s| <= reach that maximizes g . s + s . H s / 2, whatever the signs of H's eigenvalues."""
    lam, U = linalg.eigh(-H / unit[:, None] / unit, check_finite=False)
    c = U.T @ (g / unit)
    c[np.abs(lam) <= FLAT * lam.size] = 0.0  # directions of which H and g say nothing but rounding

    def length(mu: float) -> float:
        return float(np.linalg.norm(np.divide(c, lam + mu, out=np.zeros_like(c), where=c != 0)))

    mu = 0.0
    if lam[c != 0].size and (lam[c != 0].min() <= 0 or length(0.0) > reach):
        mu = low = max(0.0, -float(lam[0])) + 1e-12 * max(1.0, float(np.abs(lam).max()))
        if length(low) > reach:
            high = low + 1.0
            while length(high) > reach:
                high = low + 4 * (high - low)
            mu = float(optimize.brentq(lambda mu: length(mu) - reach, low, high))
    return np.asarray(U @ np.divide(c, lam + mu, out=np.zeros_like(c), where=c != 0) / unit)


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
        self.latest: tuple[bytes, Point] | None = None

    def loss(self, u: FloatArray) -> tuple[float, FloatArray]:
        point = self.objective.at(u / self.scale, 1)
        if not np.isfinite(point.value):  # beyond every float: a finite slope back towards 0 turns the search
            return self.worst + 1e3 * (1 + float(u @ u)), 2e3 * u
        self.worst, self.latest = max(self.worst, -point.value), (u.tobytes(), point)
        return -point.value, -point.gradient / self.scale

    def callback(self, u: FloatArray) -> None:
        x, self.n_iter = u / self.scale, self.n_iter + 1
        known = self.latest is not None and self.latest[0] == u.tobytes()
        self.objective.report(self.n_iter, x, self.latest[1] if known and self.latest else self.objective.at(x, 1))


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
    d = H.diagonal()
    scale = np.divide(1.0, np.sqrt(np.maximum(d, 0.0)), out=np.zeros_like(d), where=d > np.finfo(np.float64).tiny)
    return scale, scale[:, None] * H * scale


def largest(g: FloatArray) -> float:
    return float(np.abs(g).max())
