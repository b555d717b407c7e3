"""Solvers that maximize a log-posterior: Newton steps in a trust region, and L-BFGS where there are many weights.

With a fixed similarity the problem is concave and every Hessian is exact, so that about ten evaluations are enough.
When a mixture is learned, second derivatives take about ten times as long as first ones. There the Hessian is updated
from gradients (SR1), and is computed exactly only near the maximum. Beyond 2,000 weights no Hessian is formed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import linalg, optimize

from dpplearn._checks import FloatArray
from dpplearn._precision import EPS
from dpplearn._run.progress import Progress
from dpplearn.learning.likelihood import LikelihoodRequest, LogLinear
from dpplearn.learning.similarity import ALL, Similarity
from dpplearn.learning.training_set import Backend, Survey

if TYPE_CHECKING:
    from dpplearn.learning.files import Checkpoint

HESSIAN_LIMIT = 2000  # weights beyond which no Hessian is formed
FLAT_CURVATURE = 1e-11  # an eigenvalue of the Hessian, scaled to a unit diagonal, up to which it is rounding
LONGEST_STEP = 20.0  # no Newton step changes log-qualities by more than this times their size
FIRST_RADIUS = 2.0  # of the trust region of a mixture: a logit may change by 2, a weight by two standard errors
MAX_FAILURES = 17  # steps in a row that are no better, each a quarter of the last: the last is 1e-10 of the first
DIFFERENCE_STEP = 1e-5  # of a logit, for second derivatives by differences
DIRICHLET_STRENGTH = 0.1  # of the prior on the weights of a mixture
SMALL_GAIN = 1e-4  # a gain in the log-posterior that moves no parameter by more than 0.015 of its standard error


class Point(NamedTuple):
    """The objective at some x: value, gradient and, for order 2, Hessian."""

    value: float
    gradient: FloatArray
    hessian: FloatArray | None = None
    log_likelihood: float = np.nan  # the value without the priors
    size: float = np.nan  # largest entry of the gradient
    noise: float = np.nan  # how much rounding may change the value


@dataclass(frozen=True, eq=False)
class Posterior:
    """The log-posterior of quality and similarity as a function of one vector x."""

    backend: Backend  # evaluates the instances where they are kept
    survey: Survey
    progress: Progress
    quality: LogLinear
    similarity: Similarity
    precision: FloatArray  # of the Gaussian prior on theta
    scale: FloatArray  # largest |f_ij| of each feature
    constant: FloatArray  # c with F c = 1, or 0 if there is none
    m: int  # number of weights in theta
    settings: Any  # the estimator with its arguments
    learned: bool = False  # whether x has the parameters of the similarity
    checkpoint: Checkpoint | None = None
    repeats: float = 1.0  # how often each instance counts: more than once when they are a sample of all
    exploring: bool = False  # whether a start is only tried out: then nothing is shown or saved

    def join(self, theta: FloatArray, parameters: FloatArray) -> FloatArray:
        """x for a theta and parameters of the mixture."""
        if not self.similarity.names:
            return theta
        rest = self.similarity.with_parameters(parameters).log_rest
        return np.concatenate([theta + self.constant * rest, parameters])

    def split(self, x: FloatArray) -> tuple[FloatArray, Similarity]:
        """theta and the similarity at x."""
        S = self.similarity
        if not S.names:
            return x, S
        S = S.with_parameters(x[self.m :]) if self.learned else S
        return x[: self.m] - self.constant * S.log_rest, S

    def at(self, x: FloatArray, order: int) -> Point:
        """Value and derivatives; with a learned similarity, also those in its parameters.

        Second derivatives in the similarity's parameters are differences of first ones. Where no float holds the
        likelihood the value is -inf, and the solver goes back.
        """
        theta, S = self.split(x)
        quality = replace(self.quality, theta=theta)
        request = LikelihoodRequest(quality, S, order, self.learned, self.settings.given_size, sample=self.repeats > 1)
        terms = self.backend.evaluate(request)
        if not np.isfinite(terms.value):
            return Point(-np.inf, np.full(x.size, np.nan))
        value = self.repeats * terms.value - float(self.precision @ theta**2) / 2
        gradient, hessian = self.repeats * terms.gradient - self.precision * theta, None
        if terms.hessian is not None:
            hessian = self.repeats * terms.hessian - np.diag(self.precision)
        if S.names:
            value += DIRICHLET_STRENGTH * self.repeats * float(np.log(S.w).sum())
            if terms.similarity_gradient is not None:
                slopes = self.repeats * (terms.similarity_gradient + DIRICHLET_STRENGTH * S.slopes().sum(axis=0))
                slopes[ALL] += float(self.constant @ gradient) * S.w[ALL]  # theta = x - c log(1 - w_all)
                gradient = np.concatenate([gradient, slopes])
        if hessian is not None and self.learned:
            steps = DIFFERENCE_STEP * np.eye(x.size)[self.m :]
            rows = (np.array([self.at(x + h, 1).gradient for h in steps]) - gradient) / DIFFERENCE_STEP
            shares = np.arange(len(rows)) != ALL  # if these logits all grow by the same amount, nothing changes
            P = np.eye(len(rows)) - np.outer(shares, shares) / shares.sum()
            cross, second = P @ rows[:, : self.m], P @ rows[:, self.m :] @ P
            hessian = np.block([[hessian, cross.T], [cross, (second + second.T) / 2]])
        size, noise = float(np.abs(gradient).max()), 64 * EPS * (1 + abs(value))
        return Point(value, gradient, hessian, terms.value, size, noise)

    def jacobian(self, x: FloatArray) -> FloatArray:
        """d (theta, parameters of the similarity) / dx."""
        T = np.eye(x.size)
        T[: self.m, self.m + ALL] += self.constant * self.split(x)[1].weights["all"]
        return T

    def report(self, n_iter: int, x: FloatArray, point: Point) -> None:
        """Show the progress, and save it in the checkpoint."""
        if not self.exploring:
            self.progress.finish(n_iter, point.log_likelihood, point.size)
            if self.checkpoint is not None:
                self.checkpoint.save(x, n_iter, point.log_likelihood)


class Optimum(NamedTuple):
    """Where a solver stopped."""

    x: FloatArray
    point: Point  # its Hessian is None if it was not computed
    n_iter: int
    converged: bool  # no entry of the gradient is above `tol`, or only rounding is left to gain


def newton(
    objective: Posterior,
    x: FloatArray,
    scale: FloatArray,
    m: int,
    hessian: FloatArray | None = None,
    *,
    tol: float,
    max_iter: int,
    n_iter: int = 0,
    enough: float = -np.inf,
) -> Optimum:
    """A maximum by Newton steps in a trust region.

    x has m weights, and after them the logits of a mixture. Without logits the objective is concave: every Hessian is
    exact, the radius is unlimited until a step fails, and the ascent ends when no entry of the gradient is above `tol`.
    `scale` says how much a unit of each weight changes log-qualities; steps are limited in these units. If the
    objective rises along a line without curvature (qualities so far apart that every probability is 0 or 1), the
    Hessian says nothing, and the step follows the gradient in these units.

    With logits the Hessian, which may be given for some point near x, is updated by SR1. The radius counts weights in
    standard errors and logits as they are. When a step would gain no more than `SMALL_GAIN` the Hessian is computed
    exactly, and that one is returned. Before that, a step that would gain less than `enough` ends the ascent.
    """
    concave = m == x.size
    order, fresh = 2 if concave else 1, hessian is None
    point = objective.at(x, 2 if fresh else order)
    H, radius = point.hessian if hessian is None else hessian, np.inf if concave else FIRST_RADIUS
    if H is None:  # no float holds the likelihood at the start
        return Optimum(x, point, n_iter, False)
    exact, near = point.hessian, concave  # near: `exact` is the Hessian near the maximum
    unit, failures = np.empty(0), 0
    while True:
        if unit.size == 0:  # after each exact Hessian: standard errors of the weights; logits count as they are
            unit = np.append(unit_diagonal(-H[:m, :m])[0], np.ones(x.size - m))
        size, noise = point.size, point.noise
        s = step_within(-unit[:, None] * H * unit, unit * point.gradient, radius)
        step = unit * s
        length, gain = float(np.linalg.norm(s)), float(point.gradient @ step + step @ H @ step / 2)
        cut = not concave and radius < FIRST_RADIUS and length > 0.99 * radius  # so short that it gains little anywhere
        near = near or (fresh and gain <= SMALL_GAIN and not cut)
        # along a weight that goes to 0 the gradient falls slowly, so the gain of a step decides
        done = near and (size <= tol or (not concave and gain <= tol and not cut))
        if done or n_iter >= max_iter or (gain <= enough and not cut):
            return Optimum(x, point._replace(hessian=exact if near else H), n_iter, done)
        if not fresh and not near and gain <= SMALL_GAIN:
            point, fresh = objective.at(x, 2), True
            assert point.hessian is not None
            H, unit = point.hessian, np.empty(0)
            exact = H
            continue
        if concave:
            largest, left = np.abs(x * scale).max(), np.abs(point.gradient + H @ step)
            if gain <= noise and (left > 1e-8 * (1 + abs(point.value)) * scale).any():
                step = point.gradient / scale**2
                length = min(max(1.0, largest), radius)
                step = step * length / np.abs(step * scale).max()
            limit = LONGEST_STEP * (1.0 + largest)  # a Hessian of nearly 0 would send it anywhere
            shrink = min(1.0, limit / max(np.abs(step * scale).max(), limit))
            step, length = shrink * step, shrink * length
            gain = float(point.gradient @ step + step @ H @ step / 2)
        trial = objective.at(x + step, order)
        rise, change = trial.value - point.value, trial.gradient - point.gradient
        # where the rise is lost in rounding, a smaller gradient is an improvement
        better = rise >= 1e-3 * gain or (abs(rise) <= noise and trial.size < size)
        if not better and (gain <= noise or failures == MAX_FAILURES):
            return Optimum(x, point._replace(hessian=exact), n_iter, gain <= noise)
        if better:
            x, point, n_iter, failures = x + step, trial, n_iter + 1, 0
            objective.report(n_iter, x, point)
            radius = max(radius, 2.5 * length) if rise > 0.75 * gain else radius
        else:
            radius, failures = 0.25 * length, failures + 1
        if concave and better:
            assert point.hessian is not None
            H, unit, radius = point.hessian, np.empty(0), np.inf
            exact = H
        elif not concave and np.isfinite(trial.value) and (better or not fresh):
            error = change - H @ step
            along = float(error @ step)
            if abs(along) > 1e-8 * float(np.linalg.norm(error * unit)) * length:  # SR1
                H = H + np.outer(error, error) / along
            fresh = False


def step_within(H: FloatArray, g: FloatArray, radius: float = np.inf) -> FloatArray:
    """The step s with |s| <= radius that maximizes g . s - s . H s / 2, whatever the signs of H's eigenvalues.

    It is 0 along directions in which H is flat, as for collinear features: there H and g are only rounding.
    """
    factor, info = linalg.lapack.dpotrf(H, lower=1)
    if info == 0 and factor.diagonal().min() ** 2 > FLAT_CURVATURE:
        s = linalg.lapack.dpotrs(factor, g, lower=1)[0]
        if np.linalg.norm(s) <= radius:
            return np.asarray(s)
    lam, U = linalg.eigh(H, check_finite=False)
    c = U.T @ g
    c[np.abs(lam) <= FLAT_CURVATURE * lam.size] = 0.0
    used, mu = c != 0, 0.0

    def solution(mu: float) -> FloatArray:
        return np.divide(c, lam + mu, out=np.zeros_like(c), where=used)

    def excess(mu: float) -> float:
        return float(np.linalg.norm(solution(mu))) - radius

    if used.any() and (lam[used].min() <= 0 or excess(0.0) > 0):
        mu = low = max(0.0, -float(lam[0])) + 1e-12 * max(1.0, float(np.abs(lam).max()))
        if excess(low) > 0:
            high = low + 1.0
            while excess(high) > 0:
                high = low + 4 * (high - low)
            mu = float(optimize.brentq(excess, low, high))
    return np.asarray(U @ solution(mu))


def lbfgs(
    objective: Posterior, x: FloatArray, scale: FloatArray, *, tol: float, max_iter: int, n_iter: int = 0
) -> Optimum:
    """A maximum from gradients alone, in units of `scale`."""
    point = Point(-np.inf, x)

    def at(u: FloatArray) -> tuple[float, FloatArray]:
        nonlocal point
        point = objective.at(u / scale, 1)
        return point.value, point.gradient / scale

    def after_step(u: FloatArray, _value: float) -> None:  # the step that was taken is the one evaluated last
        nonlocal n_iter
        n_iter += 1
        objective.report(n_iter, u / scale, point)

    x = lbfgs_ascent(at, x * scale, after_step, max_iter - n_iter, tol / max(float(scale.max()), 1.0)) / scale
    point = objective.at(x, 1)
    rounding = 1e-8 * (1 + abs(point.value)) * scale  # what a sum of this size leaves of a gradient
    settled = bool((np.abs(point.gradient) <= rounding).all()) and n_iter < max_iter
    return Optimum(x, point, n_iter, point.size <= tol or settled)


def lbfgs_ascent(
    at: Callable[[FloatArray], tuple[float, FloatArray]],
    x: FloatArray,
    after_step: Callable[[FloatArray, float], None],
    max_iter: int,
    gtol: float,
) -> FloatArray:
    """Where scipy's L-BFGS-B ends, from the value and the gradient `at` x.

    `after_step(x, value)` is called after each iteration, and may raise StopIteration.
    """
    worst = 0.0

    def loss(x: FloatArray) -> tuple[float, FloatArray]:
        nonlocal worst
        value, gradient = at(x)
        if not (np.isfinite(value) and np.isfinite(gradient).all()):  # a step too far: a slope that leads back to 0
            return worst + 1e3 * (1 + float(x @ x)), 2e3 * x
        worst = max(worst, -value)
        return -value, -gradient

    def callback(intermediate_result: optimize.OptimizeResult) -> None:
        after_step(intermediate_result.x, -float(intermediate_result.fun))

    options = {"maxiter": max_iter, "maxfun": 20 * max_iter + 20, "maxcor": 20, "ftol": 0.0, "gtol": gtol}
    return np.asarray(optimize.minimize(loss, x, jac=True, method="L-BFGS-B", callback=callback, options=options).x)


def covariance(hessian: FloatArray, T: FloatArray | None = None) -> tuple[FloatArray, np.ndarray]:
    """The covariance T (-H)^-1 T^T of Tx without flat directions of H, and which entries of Tx depend on these.

    T is I by default. Adding the same number to the logits of all shares is such a direction, and changes no share.
    """
    scale, A = unit_diagonal(-hessian)
    lam, U = linalg.eigh(A, check_finite=False)
    flat = lam <= FLAT_CURVATURE * lam.size
    T = np.eye(scale.size) if T is None else T
    along, without_curvature = (T * scale) @ U, np.abs(T) @ (scale == 0) > 0
    length = np.square(along).sum(axis=1)
    undetermined = (np.square(along[:, flat]).sum(axis=1) > 1e-6 * length) | without_curvature
    return np.asarray((along[:, ~flat] / lam[~flat]) @ along[:, ~flat].T), undetermined


def unit_diagonal(H: FloatArray) -> tuple[FloatArray, FloatArray]:
    """s and diag(s) H diag(s) with a unit diagonal, so that units of the features do not matter."""
    d = H.diagonal()
    scale = np.divide(1.0, np.sqrt(np.maximum(d, 0.0)), out=np.zeros_like(d), where=d > np.finfo(np.float64).tiny)
    return scale, scale[:, None] * H * scale
