"""Maximizing a concave function: Newton with the exact Hessian, and scipy's L-BFGS as in the paper."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import linalg, optimize

from dpplearn._checks import FloatArray
from dpplearn._precision import EPS
from dpplearn.learning.likelihood import Terms

Objective = Callable[[FloatArray, int], Terms]  # theta and order (1: no Hessian) -> terms
Report = Callable[[int, FloatArray, Terms], None]  # after each iteration: its number, theta, the terms there

FLAT = 1e-11  # eigenvalues of the Hessian, scaled to a unit diagonal, that are this small are rounding
FARTHEST = 20.0  # no step changes log-qualities by more than this times what they are
RUNAWAY = 0.05  # a Newton step that still changes some item's log-quality by this much has not settled


@dataclass(frozen=True, eq=False)
class Optimum:
    """Where a solver stopped."""

    theta: FloatArray
    terms: Terms  # of the objective at theta, Hessian included
    step: FloatArray  # the Newton step that would come next; not small where the optimum is at infinity
    n_iter: int
    converged: bool  # no entry of the gradient is above `tol`, or nothing but rounding is left of it


def newton(
    objective: Objective,
    theta: FloatArray,
    *,
    tol: float,
    max_iter: int,
    report: Report,
    n_iter: int = 0,
    scale: FloatArray | None = None,
) -> Optimum:
    """Damped Newton steps until the largest entry of the gradient is at most `tol`.

    The objective is concave, so the step H^-1 g points uphill; it is shortened until the value rises by
    its share. One evaluation gives value, gradient and Hessian, and a full step is nearly always taken.
    Where the objective rises along a line on which it does not bend (qualities so far apart that every
    probability is 0 or 1), H says nothing and the step follows the gradient in units of the features.

    `scale` has the largest |f_ij| of each feature, 1 if not given.
    """
    scale = positive(scale, theta.size)
    terms = objective(theta, 2)
    while True:
        step = newton_step(terms)
        size = largest(terms.gradient)
        if size <= tol or n_iter >= max_iter:
            return Optimum(theta, terms, step, n_iter, size <= tol)
        noise = 64 * EPS * (1 + abs(terms.value))
        if float(terms.gradient @ step) <= noise and not settled(terms, step, scale):
            step = terms.gradient / scale**2
            step *= max(1.0, largest(theta * scale)) / largest(step * scale)
        reach = FARTHEST * (1.0 + largest(theta * scale))  # a Hessian of nearly 0 would send it anywhere
        step *= min(1.0, reach / max(largest(step * scale), reach))
        slope = float(terms.gradient @ step)
        t, found = 1.0, None
        while t > 1e-10:
            trial = objective(theta + t * step, 2)
            if trial.value >= terms.value + 1e-4 * t * slope - noise:
                # Where the rise is lost in rounding, the gradient tells whether the step is an improvement.
                if slope > noise or largest(trial.gradient) < size:
                    found = trial
                break
            t *= 0.1 if not np.isfinite(trial.value) else shorten(terms.value, slope, t, trial.value)
        if found is None:  # no float on the way is better
            return Optimum(theta, terms, newton_step(terms), n_iter, slope <= noise)
        theta, terms, n_iter = theta + t * step, found, n_iter + 1
        report(n_iter, theta, terms)


def lbfgs(
    objective: Objective,
    theta: FloatArray,
    *,
    tol: float,
    max_iter: int,
    report: Report,
    n_iter: int = 0,
    scale: FloatArray | None = None,
) -> Optimum:
    """scipy's L-BFGS-B from gradients alone; one Hessian at the end, for the standard errors.

    It works on x = theta * unit, with units from the Hessian's diagonal at the start, so that those of the features do
    not matter; where a search along a line fails, it starts anew as long as that makes the gradient smaller.
    """
    scale = positive(scale, theta.size)
    terms = objective(theta, 2)
    assert terms.hessian is not None
    unit = positive(np.sqrt(np.maximum(-terms.hessian.diagonal(), 0.0)), theta.size)
    latest: dict[bytes, Terms] = {}
    done, fallback = n_iter, 0.0

    def loss(x: FloatArray) -> tuple[float, FloatArray]:
        nonlocal fallback
        terms = objective(x / unit, 1)
        if not np.isfinite(terms.value):  # beyond every float: a finite slope back towards 0 turns the search
            return fallback + 1e3 * (1 + float(x @ x)), 2e3 * x
        fallback = max(fallback, -terms.value)
        latest.clear()
        latest[x.tobytes()] = terms
        return -terms.value, -terms.gradient / unit

    def callback(x: FloatArray) -> None:
        nonlocal done
        done += 1
        report(done, x / unit, latest.get(x.tobytes()) or objective(x / unit, 1))

    size = largest(terms.gradient)
    while size > tol and done < max_iter:
        options = {
            "maxiter": max_iter - done,
            "maxfun": 20 * max_iter + 20,
            "gtol": tol / max(float(unit.max()), 1.0),
            "ftol": 0.0,
            "maxcor": 20,
        }
        x = optimize.minimize(loss, theta * unit, jac=True, method="L-BFGS-B", callback=callback, options=options).x
        trial = objective(x / unit, 2)
        before = size
        if largest(trial.gradient) < size:
            theta, terms, size = x / unit, trial, largest(trial.gradient)
        if size > 0.5 * before:
            break
    step = newton_step(terms)
    small = float(terms.gradient @ step) <= 64 * EPS * (1 + abs(terms.value)) and settled(terms, step, scale)
    return Optimum(theta, terms, step, done, size <= tol or small)


def positive(scale: FloatArray | None, m: int) -> FloatArray:
    """The scales, and 1 for those whose squares are no floats."""
    return np.ones(m) if scale is None else np.where(scale > 1e-150, scale, 1.0)


def settled(terms: Terms, step: FloatArray, scale: FloatArray) -> bool:
    """Whether the Newton step takes away the gradient but for what rounding leaves of a sum of this size."""
    assert terms.hessian is not None
    left = np.abs(terms.gradient + terms.hessian @ step)
    return bool((left <= 1e-8 * (1 + abs(terms.value)) * scale).all())


def newton_step(terms: Terms) -> FloatArray:
    """H^-1 g for H = minus the Hessian; nothing along directions in which H is flat (collinear, unpenalized)."""
    assert terms.hessian is not None
    scale, H = unit_diagonal(-terms.hessian)
    g = terms.gradient * scale
    try:
        factor = linalg.cho_factor(H, lower=True, check_finite=False)
        if factor[0].diagonal().min() ** 2 > FLAT:
            return np.asarray(linalg.cho_solve(factor, g, check_finite=False) * scale)
    except linalg.LinAlgError:
        pass
    lam, U = linalg.eigh(H, check_finite=False)
    keep = lam > FLAT * lam.size
    return np.asarray(U[:, keep] @ ((U[:, keep].T @ g) / lam[keep]) * scale)


def standard_errors(hessian: FloatArray) -> FloatArray:
    """Square roots of the diagonal of H^-1; inf for weights that neither data nor prior determine."""
    scale, H = unit_diagonal(-hessian)
    lam, U = linalg.eigh(H, check_finite=False)
    flat = lam <= FLAT * lam.size
    variance = (U[:, ~flat] ** 2) @ (1 / lam[~flat])
    undetermined = (U[:, flat] ** 2).sum(axis=1) > 1e-6
    return np.asarray(np.where(undetermined | (scale == 0), np.inf, np.sqrt(variance) * scale))


def unit_diagonal(H: FloatArray) -> tuple[FloatArray, FloatArray]:
    """s and diag(s) H diag(s) with a unit diagonal: units of the features then do not matter."""
    d = H.diagonal()
    scale = np.divide(1.0, np.sqrt(np.maximum(d, 0.0)), out=np.zeros_like(d), where=d > np.finfo(np.float64).tiny)
    return scale, scale[:, None] * H * scale


def shorten(value: float, slope: float, t: float, trial: float) -> float:
    """Where the parabola through the value, its slope and the trial is highest, kept within [0.1, 0.5] t."""
    bend = (value + t * slope - trial) / t**2
    best = slope / (2 * bend) if bend > 0 else t
    return float(np.clip(best / t, 0.1, 0.5))


def largest(g: FloatArray) -> float:
    return float(np.abs(g).max())
