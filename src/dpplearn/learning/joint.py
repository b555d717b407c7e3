"""Quality and similarity together: the posterior over both, climbed from a start.

For a fixed S the problem is concave in theta, and it is not so jointly. Of L = diag(q) (w_all 11^T + R) diag(q) the
data know q^2 R well and w_all little, so that where some c has F c = 1 the posterior is a ridge along which q^2 grows
as R, 1 - w_all of S, falls. So the coordinates are theta + c log(1 - w_all), which is constant along the ridge, and
the similarity's parameters.

L-BFGS climbs, in units in which the Hessian at the start is I as far as it is known: of both where S is linear in
weights (a mixture), else of theta. Newton steps within a region of trust end it, with a Hessian that gradients keep up
to date; the last one is exact, or of differences of gradients where the kind has none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import linalg, optimize

from dpplearn._checks import FloatArray
from dpplearn._precision import EPS
from dpplearn.learning.likelihood import Request, Terms
from dpplearn.learning.quality import Quality
from dpplearn.learning.similarity.learned import Learned
from dpplearn.learning.solvers import FLAT, largest, newton

FARTHEST = 2.0  # how far the first step may go: a logit by 2, a weight theta by two standard errors
SAME = 0.1  # log-posteriors of two starts that differ by less have found the same
MANY = 200  # parameters of a similarity beyond which differences take too long: no joint standard errors
CLOSE = 4e-3  # a gain in the log-posterior that moves no parameter by more than 0.09 of its standard error
ENOUGH = 0.005  # a gain in the log-posterior below which Newton steps take over
ROUGH = 0.3  # and one below which some of the data have no more to say
DIFFERENCE = 1e-4  # step of central differences of gradients, in units in which parameters are about 1


class Point(NamedTuple):
    """The log-posterior at x = (theta + c log(1 - w_all), parameters of the similarity)."""

    value: float
    gradient: FloatArray
    hessian: FloatArray | None
    terms: Terms  # of the likelihood alone


@dataclass(frozen=True, eq=False)
class Ascent:
    """Where a start led."""

    x: FloatArray
    point: Point
    n_iter: int
    converged: bool


class Start(NamedTuple):
    """Where to climb from, and what is known there: about the Hessian, and the log-posterior."""

    x: FloatArray
    H: FloatArray | None = None
    value: float | None = None


@dataclass(frozen=True, eq=False)
class Problem:
    """The posterior of quality and similarity as a function of one vector."""

    evaluate: Callable[[Request], Terms]
    quality: Quality
    similarity: Learned
    precision: FloatArray  # of the Gaussian prior on theta
    strength: float  # of the similarity's prior
    given_size: bool
    scale: FloatArray  # largest |f_ij| of each feature
    constant: FloatArray  # c with F c = 1, or 0 where there is none

    @property
    def m(self) -> int:
        return self.precision.size

    def join(self, theta: FloatArray, parameters: FloatArray) -> FloatArray:
        """x at a theta and parameters of the similarity."""
        level = self.similarity.with_parameters(parameters).level()
        return np.concatenate([theta + self.constant * level.value, parameters])

    def split(self, x: FloatArray) -> tuple[FloatArray, Learned]:
        """theta and the similarity at x."""
        S = self.similarity.with_parameters(x[self.m :])
        return x[: self.m] - self.constant * S.level().value, S

    def jacobian(self, x: FloatArray) -> FloatArray:
        """d (theta, parameters) / dx."""
        T = np.eye(x.size)
        T[: self.m, self.m :] -= np.outer(self.constant, self.split(x)[1].level().gradient)
        return T

    def unit_of(self, H: FloatArray) -> FloatArray:
        """What multiplies x so that changes of 1 matter about the same: of theta by its Hessian, logits as they are."""
        own = np.sqrt(np.maximum(-H.diagonal()[: self.m], np.finfo(np.float64).tiny))
        return np.concatenate([own, np.ones(len(H) - self.m)])

    def at(self, x: FloatArray, order: int = 2, similarity: bool = True) -> Point:
        """Value and derivatives; without the similarity's where they are not asked for."""
        theta, S = self.split(x)
        terms = self.evaluate(Request(self.quality.with_parameters(theta), S, order, similarity, self.given_size))
        if not np.isfinite(terms.value):  # beyond every float: a step that came here is turned back
            return Point(-np.inf, np.full(x.size if similarity else self.m, np.nan), None, terms)
        prior = S.log_prior(self.strength)
        value = terms.value - float(self.precision @ theta**2) / 2 + prior.value
        gradient, hessian = terms.gradient - self.precision * theta, None
        if not similarity:
            hessian = None if terms.hessian is None else terms.hessian - np.diag(self.precision)
            return Point(value, gradient, hessian, terms)
        assert terms.similarity_gradient is not None
        T, along = self.jacobian(x), float(self.constant @ gradient)
        gradient = T.T @ np.concatenate([gradient, terms.similarity_gradient + prior.gradient])
        if terms.hessian is not None and terms.similarity_hessian is not None:
            own = terms.hessian - np.diag(self.precision)
            bent, cross = terms.similarity_hessian + prior.hessian - along * S.level().hessian, terms.cross
            assert cross is not None
            hessian = T.T @ np.block([[own, cross], [cross.T, bent]]) @ T
        return Point(value, gradient, hessian, terms)

    def along_theta(self, x: FloatArray, tol: float, max_iter: int) -> Start:
        """x with a better theta for its similarity, by a few Newton steps."""

        def objective(theta: FloatArray, order: int) -> Terms:
            point = self.at(np.concatenate([theta, x[self.m :]]), order, similarity=False)
            return Terms(point.value, point.gradient, point.hessian)

        best = newton(objective, x[: self.m], tol=tol, max_iter=max_iter, report=lambda *_: None, scale=self.scale)
        return Start(np.concatenate([best.theta, x[self.m :]]), value=best.terms.value)

    def hessian(self, x: FloatArray, point: Point) -> FloatArray | None:
        """Exact where the kind can say, else by central differences of gradients; None where these are too many."""
        if point.hessian is not None:
            return point.hessian
        p = x.size - self.m
        if p > MANY:
            return None
        point = self.at(x, 2)
        assert point.terms.hessian is not None
        H = np.zeros((x.size, x.size))
        H[: self.m, : self.m] = point.terms.hessian - np.diag(self.precision)
        for j in range(self.m, x.size):
            e = np.zeros(x.size)
            e[j] = DIFFERENCE
            column = (self.at(x + e, 1).gradient - self.at(x - e, 1).gradient) / (2 * DIFFERENCE)
            H[:, j] = column
            H[j, : self.m] = column[: self.m]
        H[self.m :, self.m :] = (H[self.m :, self.m :] + H[self.m :, self.m :].T) / 2
        return H


Report = Callable[[int, FloatArray, Point], None]


def climb(
    problem: Problem,
    start: Start,
    *,
    tol: float,
    max_iter: int,
    report: Report = lambda *_: None,
    n_iter: int = 0,
    beat: float = -np.inf,
) -> Ascent:
    """From one start to a maximum; one that will not `beat` the best so far is left half-way."""
    found = descend(problem, start, tol, max_iter, report, n_iter, beat, ENOUGH)
    if found.point.value < beat + SAME:
        return found
    return polish(problem, found, tol, max_iter, report)


def polish(problem: Problem, start: Ascent, tol: float, max_iter: int, report: Report) -> Ascent:
    """Newton steps within a region of trust, with a Hessian that is changed by what gradients say of it (SR1).

    The one that is returned was exact where a step gained no more than `CLOSE`.
    """
    x, point, n_iter = start.x, problem.at(start.x, 2), start.n_iter
    H, fresh, reach = problem.hessian(x, point), True, FARTHEST
    if H is None:
        return Ascent(x, point, n_iter, largest(point.gradient) <= tol)
    exact, near, unit = H, False, problem.unit_of(H)  # near: exact is that of the maximum
    while True:
        size, step = largest(point.gradient), within(H, point.gradient, unit, reach)
        gain = float(point.gradient @ step + step @ H @ step / 2)
        length = float(np.linalg.norm(step * unit))
        short = reach < FARTHEST and length > 0.99 * reach  # cut after others failed: it gains little anywhere
        near = near or (fresh and gain <= CLOSE and not short)
        # along a weight that goes to 0 the gradient is slow to, and says nothing: what a step would gain decides
        done = near and (size <= tol or (gain <= tol and not short))
        if done or n_iter >= max_iter:
            return Ascent(x, point._replace(hessian=exact), n_iter, done)
        if not fresh and not near and gain <= CLOSE:
            point, fresh = problem.at(x, 2), True
            found = problem.hessian(x, point)
            assert found is not None
            H, exact, unit = found, found, problem.unit_of(found)
            continue
        trial, noise = problem.at(x + step, 1), 64 * EPS * (1 + abs(point.value))
        rise = trial.value - point.value
        better = rise >= 1e-3 * gain or (abs(rise) <= noise and largest(trial.gradient) < size)
        if not better and (gain <= noise or length < 1e-10):  # no float on the way is better
            return Ascent(x, point._replace(hessian=exact), n_iter, gain <= noise)
        change = trial.gradient - point.gradient
        if better:
            x, point, n_iter = x + step, trial, n_iter + 1
            report(n_iter, x, point)
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


def within(H: FloatArray, g: FloatArray, unit: FloatArray, reach: float) -> FloatArray:
    """The step s with |unit s| <= reach that maximizes g . s + s . H s / 2, whatever the signs of H's eigenvalues."""
    lam, U = linalg.eigh(-H / unit[:, None] / unit, check_finite=False)
    c = U.T @ (g / unit)
    c[np.abs(lam) <= FLAT * lam.size] = 0.0  # directions of which H and g say nothing but rounding

    def length(mu: float) -> float:
        return float(np.linalg.norm(np.divide(c, lam + mu, out=np.zeros_like(c), where=c != 0)))

    low = max(0.0, -float(lam[0])) + 1e-12 * max(1.0, float(np.abs(lam).max()))
    if lam[c != 0].size and (lam[c != 0].min() <= 0 or length(0.0) > reach):
        high = low + 1.0
        while length(high) > reach:
            high = low + 4 * (high - low)
        mu = float(optimize.brentq(lambda mu: length(mu) - reach, low, high)) if length(low) > reach else low
    else:
        mu = 0.0
    return np.asarray(U @ np.divide(c, lam + mu, out=np.zeros_like(c), where=c != 0) / unit)


def descend(
    problem: Problem,
    start: Start,
    tol: float,
    max_iter: int,
    report: Report = lambda *_: None,
    n_iter: int = 0,
    beat: float = -np.inf,
    enough: float = ROUGH,
) -> Ascent:
    """L-BFGS on the negative, in coordinates in which the Hessian at the start is I as far as it is known.

    It ends where Newton steps can take over, or where its last gains are too small to beat the best so far.
    """
    m, (x, H, _) = problem.m, start
    if H is None:
        H = problem.at(x, 2, similarity=problem.similarity.bends).hessian
    assert H is not None
    known = len(H)
    lam, U = linalg.eigh(-H, check_finite=False)
    # logits are of size 1: along directions in which the posterior hardly bends, no step is larger
    least = 1.0 if known > m else 1e-6 * max(float(lam[-1]), 1e-300)
    root = np.eye(x.size)
    root[:known, :known] = U / np.sqrt(np.maximum(np.abs(lam), least))
    few = x.size - m <= MANY
    begin = np.zeros(x.size)
    points = {begin.tobytes(): problem.at(x, 1)}
    # the first step of L-BFGS-B has length 1: in these units it is that of a Newton step, if that is not too long
    length = float(np.linalg.norm(root.T @ points[begin.tobytes()].gradient))
    root *= np.clip(length, 1.0, FARTHEST) if np.isfinite(length) else 1.0
    worst, values = 0.0, [-np.inf]

    def full(u: FloatArray) -> FloatArray:
        return x + root @ u

    def loss(u: FloatArray) -> tuple[float, FloatArray]:
        nonlocal worst
        here = points.get(u.tobytes()) or problem.at(full(u), 1)
        if not np.isfinite(here.value):
            return worst + 1e3 * (1 + float(u @ u)), 2e3 * u
        worst = max(worst, -here.value)
        points[u.tobytes()] = here
        return -here.value, -(root.T @ here.gradient)

    def callback(u: FloatArray) -> None:
        here = points.get(u.tobytes()) or problem.at(full(u), 1)
        points.clear()
        points[u.tobytes()] = here
        values.append(here.value)
        report(n_iter + len(values) - 1, full(u), here)
        gains = np.diff(values[-3:])
        if few and len(values) > 3 and gains.max() < enough:
            raise StopIteration
        if len(values) > 4 and values[-1] + 5 * gains.max() < beat:
            raise StopIteration

    options = {
        "maxiter": max(max_iter - n_iter, 0),
        "maxfun": 20 * max_iter + 20,
        "gtol": max(tol, 1e-3) if few else tol,  # Newton steps do the rest
        "ftol": 0.0,
        "maxcor": 30,
    }
    u = optimize.minimize(loss, begin, jac=True, method="L-BFGS-B", callback=callback, options=options).x
    point = points.get(u.tobytes()) or problem.at(full(u), 1)
    return Ascent(full(u), point, n_iter + len(values) - 1, largest(point.gradient) <= tol)
