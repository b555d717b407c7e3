"""Maximizing a log-posterior: Newton's steps within a region of trust, and L-BFGS where there are too many features.

A fixed similarity makes a concave problem, for which every Hessian is exact, and ten evaluations are enough. Where a
mixture is learned, second derivatives take about ten times as long as first ones: there a Hessian is kept up to date by
gradients (SR1), and is exact near the maximum. Beyond 2,000 parameters there are no Hessians.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
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

MANY = 2000  # parameters beyond which no Hessian is made
FLAT = 1e-11  # eigenvalues of the Hessian, scaled to a unit diagonal, that are this small are rounding
LONGEST_STEP = 20.0  # no Newton step changes log-qualities by more than this times what they are
REACH = 2.0  # how far a first step in a region of trust goes: a logit by 2, a weight theta by two standard errors
DIFFERENCE = 1e-5  # of a logit, for second derivatives
STRENGTH = 0.1  # of the Dirichlet prior on the weights of a mixture
CLOSE = 1e-4  # a gain in the log-posterior that moves no parameter by more than 0.015 of its standard error


class Point(NamedTuple):
    """The objective at some x: value, gradient and, for order 2, Hessian."""

    value: float
    gradient: FloatArray
    hessian: FloatArray | None = None
    log_likelihood: float = np.nan  # the value without the priors
    size: float = np.nan  # largest entry of the gradient
    noise: float = np.nan  # what rounding may change in the value


@dataclass(frozen=True, eq=False)
class Posterior:
    """The log-posterior of quality and similarity as a function of one vector x, where the instances live."""

    engine: Backend
    survey: Survey
    progress: Progress
    quality: LogLinear
    similarity: Similarity
    precision: FloatArray  # of the Gaussian prior on theta
    scale: FloatArray  # largest |f_ij| of each feature
    constant: FloatArray  # c with F c = 1, or 0 where there is none
    m: int  # how many weights theta has
    settings: Any  # the estimator, whose arguments say how
    learned: bool = False  # whether x has the parameters of the similarity
    checkpoint: Checkpoint | None = None
    counts: float = 1.0  # how often each instance counts: more than once where they are a sample
    rough: bool = False  # whether it is climbed to see where a start leads: nothing of that is shown or kept

    def join(self, theta: FloatArray, parameters: FloatArray) -> FloatArray:
        """x at a theta and parameters of the mixture."""
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
        """Value and derivatives, those in the similarity's parameters where these are learned.

        Second derivatives in the similarity's parameters are differences of first ones. A value of -inf turns the step
        back that came here.
        """
        theta, S = self.split(x)
        quality = replace(self.quality, theta=theta)
        request = LikelihoodRequest(quality, S, order, self.learned, self.settings.given_size, sample=self.counts > 1)
        terms = self.engine.evaluate(request)
        if not np.isfinite(terms.value):  # beyond every float
            return Point(-np.inf, np.full(x.size, np.nan))
        value = self.counts * terms.value - float(self.precision @ theta**2) / 2
        gradient, hessian = self.counts * terms.gradient - self.precision * theta, None
        if terms.hessian is not None:
            hessian = self.counts * terms.hessian - np.diag(self.precision)
        if S.names:
            value += STRENGTH * self.counts * float(np.log(S.w).sum())
            if terms.similarity_gradient is not None:
                slopes = self.counts * (terms.similarity_gradient + STRENGTH * S.slopes().sum(axis=0))
                slopes[ALL] += float(self.constant @ gradient) * S.w[ALL]  # theta = x - c log(1 - w_all)
                gradient = np.concatenate([gradient, slopes])
        if hessian is not None and self.learned:
            steps = DIFFERENCE * np.eye(x.size)[self.m :]
            rows = (np.array([self.at(x + h, 1).gradient for h in steps]) - gradient) / DIFFERENCE
            rest = np.arange(len(rows)) != ALL  # where these logits all grow by the same, nothing changes, exactly
            P = np.eye(len(rows)) - np.outer(rest, rest) / rest.sum()
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
        """Show how far it is, and keep it in the checkpoint."""
        if not self.rough:
            self.progress.finish(n_iter, point.log_likelihood, point.size)
            if self.checkpoint is not None:
                self.checkpoint.save(x, n_iter, point.log_likelihood)


@dataclass(frozen=True, eq=False)
class Optimum:
    """Where a solver stopped."""

    x: FloatArray
    point: Point  # its Hessian is None where it is not known there
    n_iter: int
    converged: bool  # no entry of the gradient is above `tol`, or nothing but rounding is left to gain
    step: FloatArray = field(default_factory=lambda: np.zeros(0))  # Newton's next; large where the maximum is far


def newton(
    objective: Posterior, x: FloatArray, scale: FloatArray, *, tol: float, max_iter: int, n_iter: int = 0
) -> Optimum:
    """The maximum of a concave objective, by Newton's steps, until no entry of the gradient is above `tol`.

    Nearly every step is taken whole; one that does not raise the value by its share is shortened. `scale` has what one
    unit of each x_j changes, such as the largest |f_ij| of each feature. Where the objective rises along a line on
    which it does not bend (qualities so far apart that every probability is 0 or 1), the Hessian says nothing, and the
    step follows the gradient in these units.
    """
    point, t = objective.at(x, 2), 1.0
    while True:
        assert point.hessian is not None
        unit, H = unit_diagonal(-point.hessian)  # a step is 0 along what is flat: collinear features without a prior
        step, size, noise = unit * step_within(H, unit * point.gradient), point.size, point.noise
        if size <= tol or n_iter >= max_iter:
            return Optimum(x, point, n_iter, size <= tol, step)
        taken, left = step, np.abs(point.gradient + point.hessian @ step)
        if point.gradient @ step <= noise and (left > 1e-8 * (1 + abs(point.value)) * scale).any():
            taken = point.gradient / scale**2
            taken = taken * max(1.0, np.abs(x * scale).max()) / np.abs(taken * scale).max()
        reach = LONGEST_STEP * (1.0 + np.abs(x * scale).max())  # a Hessian of nearly 0 would send it anywhere
        taken = taken * min(1.0, reach / max(np.abs(taken * scale).max(), reach))
        slope = float(point.gradient @ taken)
        trial = objective.at(x + t * taken, 2)
        # where the rise is lost in rounding, the gradient tells whether the step is an improvement
        better = slope > noise or trial.size < size
        if trial.value >= point.value + 1e-4 * t * slope - noise and better:
            x, point, n_iter, t = x + t * taken, trial, n_iter + 1, 1.0
            objective.report(n_iter, x, point)
        elif slope <= noise or t < 1e-10:  # no float on the way is better
            return Optimum(x, point, n_iter, slope <= noise, step)
        else:
            t *= 0.25


def trust_region(
    objective: Posterior,
    x: FloatArray,
    m: int,
    hessian: FloatArray | None = None,
    *,
    tol: float,
    max_iter: int,
    n_iter: int = 0,
    enough: float = 0.0,
) -> Optimum:
    """Steps within a region of trust, with a Hessian that is changed by what gradients say of it (SR1).

    It begins with `hessian`, of some point near x, or with the exact one. The length of a step counts the first m
    entries in their standard errors, and logits as they are. Where a step would gain no more than `CLOSE` the Hessian
    is made exact, and that one is returned. A gain of `enough` ends it before that, with the Hessian as it is.
    """
    point = objective.at(x, 1 if hessian is not None else 2)
    H, fresh, reach = point.hessian if hessian is None else hessian, hessian is None, REACH
    if H is None:  # the start is beyond every float
        return Optimum(x, point, n_iter, False)
    exact, near = point.hessian, False  # near: `exact` is the Hessian near the maximum
    unit = region_units(H, m)
    while True:
        size, noise = point.size, point.noise
        s = step_within(-unit[:, None] * H * unit, unit * point.gradient, reach)
        step, length = unit * s, float(np.linalg.norm(s))
        gain = float(point.gradient @ step + step @ H @ step / 2)
        short = reach < REACH and length > 0.99 * reach  # cut after others failed: it gains little anywhere
        near = near or (fresh and gain <= CLOSE and not short)
        # along a weight that goes to 0 the gradient is slow to, and says nothing: what a step would gain decides
        done = near and (size <= tol or (gain <= tol and not short))
        if done or n_iter >= max_iter or (gain <= enough and not short):
            return Optimum(x, point._replace(hessian=exact if near else H), n_iter, done)
        if not fresh and not near and gain <= CLOSE:
            point, fresh = objective.at(x, 2), True
            assert point.hessian is not None
            H = exact = point.hessian
            unit = region_units(H, m)
            continue
        trial = objective.at(x + step, 1)
        rise, change = trial.value - point.value, trial.gradient - point.gradient
        better = rise >= 1e-3 * gain or (abs(rise) <= noise and trial.size < size)
        if not better and (gain <= noise or length < 1e-10):  # no float on the way is better
            return Optimum(x, point._replace(hessian=exact), n_iter, gain <= noise)
        if better:
            x, point, n_iter = x + step, trial, n_iter + 1
            objective.report(n_iter, x, point)
            reach = max(reach, 2.5 * length) if rise > 0.75 * gain else reach
        else:
            reach = 0.25 * length
        if np.isfinite(trial.value) and (better or not fresh):
            left = change - H @ step
            along = float(left @ step)
            if abs(along) > 1e-8 * float(np.linalg.norm(left * unit)) * length:  # SR1
                H = H + np.outer(left, left) / along
            fresh = False


def region_units(H: FloatArray, m: int) -> FloatArray:
    """What the length of a step counts in: standard errors of the first m entries, and others as they are."""
    return np.append(unit_diagonal(-H[:m, :m])[0], np.ones(len(H) - m))


def step_within(H: FloatArray, g: FloatArray, reach: float = np.inf) -> FloatArray:
    """The step s with |s| <= reach that maximizes g . s - s . H s / 2, whatever the signs of H's eigenvalues.

    It is 0 along directions in which H is flat: of these H and g say nothing but rounding.
    """
    factor, info = linalg.lapack.dpotrf(H, lower=1)
    if info == 0 and factor.diagonal().min() ** 2 > FLAT:
        s = linalg.lapack.dpotrs(factor, g, lower=1)[0]
        if np.linalg.norm(s) <= reach:
            return np.asarray(s)
    lam, U = linalg.eigh(H, check_finite=False)
    c = U.T @ g
    c[np.abs(lam) <= FLAT * lam.size] = 0.0
    some, mu = c != 0, 0.0
    if some.any() and (lam[some].min() <= 0 or step_length(c, lam, 0.0) > reach):
        mu = low = max(0.0, -float(lam[0])) + 1e-12 * max(1.0, float(np.abs(lam).max()))
        if step_length(c, lam, low) > reach:
            high = low + 1.0
            while step_length(c, lam, high) > reach:
                high = low + 4 * (high - low)
            mu = float(optimize.brentq(lambda mu: step_length(c, lam, mu) - reach, low, high))
    return np.asarray(U @ np.divide(c, lam + mu, out=np.zeros_like(c), where=some))


def step_length(c: FloatArray, lam: FloatArray, mu: float) -> float:
    return float(np.linalg.norm(np.divide(c, lam + mu, out=np.zeros_like(c), where=c != 0)))


def lbfgs(
    objective: Posterior, x: FloatArray, scale: FloatArray, *, tol: float, max_iter: int, n_iter: int = 0
) -> Optimum:
    """scipy's L-BFGS-B from gradients alone, in units of `scale`."""
    search = LineSearches(objective, scale, n_iter)
    options: dict[str, float] = {"maxiter": max_iter - n_iter, "maxfun": 20 * max_iter + 20, "maxcor": 20}
    options |= {"gtol": tol / max(float(scale.max()), 1.0), "ftol": 0.0}
    found = optimize.minimize(
        search.loss, x * scale, jac=True, method="L-BFGS-B", callback=search.callback, options=options
    )
    point = objective.at(found.x / scale, 1)
    rounding = 1e-8 * (1 + abs(point.value)) * scale  # what a sum of this size leaves of a gradient
    settled = bool((np.abs(point.gradient) <= rounding).all()) and search.n_iter < max_iter
    return Optimum(found.x / scale, point, search.n_iter, point.size <= tol or settled)


class LineSearches:
    """The negative objective of u = x scale, as scipy asks for it."""

    def __init__(self, objective: Posterior, scale: FloatArray, n_iter: int) -> None:
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
    d = H.diagonal()
    scale = np.divide(1.0, np.sqrt(np.maximum(d, 0.0)), out=np.zeros_like(d), where=d > np.finfo(np.float64).tiny)
    return scale, scale[:, None] * H * scale
