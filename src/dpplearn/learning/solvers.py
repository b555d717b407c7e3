"""Maximizing a concave function: Newton with the exact Hessian, and scipy's L-BFGS as in the paper."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import linalg, optimize

from dpplearn._checks import FloatArray
from dpplearn._linalg import EPS
from dpplearn.learning.likelihood import Terms

Objective = Callable[[FloatArray, int], Terms]  # theta and order (1: no Hessian) -> terms
Report = Callable[[int, FloatArray, Terms], None]  # after each iteration: its number, theta, the terms there

FLAT = 1e-11  # eigenvalues of the Hessian, scaled to a unit diagonal, that are this small are rounding
RUNAWAY = 0.05  # a Newton step that still changes some item's log-quality by this much has not settled


@dataclass(frozen=True, eq=False)
class Optimum:
    """Where a solver stopped.

    Attributes
    ----------
    theta : array of shape (m,)
    terms : Terms
        Of the objective at theta, Hessian included.
    step : array of shape (m,)
        The Newton step that would come next; not small where the optimum is at infinity.
    n_iter : int
    converged : bool
        The largest entry of the gradient is at most `tol`, or no float is better.
    """

    theta: FloatArray
    terms: Terms
    step: FloatArray
    n_iter: int
    converged: bool


def newton(
    objective: Objective, theta: FloatArray, *, tol: float, max_iter: int, report: Report, n_iter: int = 0
) -> Optimum:
    """Damped Newton steps until the largest entry of the gradient is at most `tol`.

    The objective is concave, so the step H^-1 g points uphill; it is shortened until the value rises by
    its share. One evaluation gives value, gradient and Hessian, and a full step is nearly always taken.
    """
    terms = objective(theta, 2)
    while True:
        step = newton_step(terms)
        size = largest(terms.gradient)
        if size <= tol or n_iter >= max_iter:
            return Optimum(theta, terms, step, n_iter, size <= tol)
        slope = float(terms.gradient @ step)
        noise = 64 * EPS * (1 + abs(terms.value))
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
            return Optimum(theta, terms, step, n_iter, slope <= noise)
        theta, terms, n_iter = theta + t * step, found, n_iter + 1
        report(n_iter, theta, terms)


def lbfgs(
    objective: Objective, theta: FloatArray, *, tol: float, max_iter: int, report: Report, n_iter: int = 0
) -> Optimum:
    """scipy's L-BFGS-B from gradients alone; one Hessian at the end, for the standard errors."""
    latest: dict[bytes, Terms] = {}

    def loss(x: FloatArray) -> tuple[float, FloatArray]:
        terms = objective(x, 1)
        latest.clear()
        latest[x.tobytes()] = terms
        return -terms.value, -terms.gradient

    done = n_iter

    def callback(x: FloatArray) -> None:
        nonlocal done
        done += 1
        report(done, x, latest.get(x.tobytes()) or objective(x, 1))

    options = {
        "maxiter": max(max_iter - n_iter, 0),
        "maxfun": 20 * max_iter + 20,
        "gtol": tol,
        "ftol": 0.0,
        "maxcor": 20,
    }
    if options["maxiter"]:
        theta = optimize.minimize(loss, theta, jac=True, method="L-BFGS-B", callback=callback, options=options).x
    terms = objective(theta, 2)
    step = newton_step(terms)
    small = float(terms.gradient @ step) <= 64 * EPS * (1 + abs(terms.value))
    return Optimum(theta, terms, step, done, largest(terms.gradient) <= tol or small)


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
