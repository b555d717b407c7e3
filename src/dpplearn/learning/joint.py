"""Quality and similarity together: the posterior over both, climbed from several starts, with joint standard errors.

For a fixed S the problem is concave in theta, and it is not so jointly. Where S is linear in weights (a mixture) the
Hessian of both is exact, and Newton steps with its eigenvalues made positive climb; else L-BFGS in coordinates in which
theta's Hessian is I, and at the end the Hessian from differences of exact gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import linalg, optimize

from dpplearn._checks import FloatArray
from dpplearn._precision import EPS
from dpplearn.learning.likelihood import Request, Terms
from dpplearn.learning.quality import Quality
from dpplearn.learning.similarity.learned import Learned
from dpplearn.learning.solvers import FARTHEST, FLAT, Optimum, largest, newton, positive, unit_diagonal

FARTHEST_LOGIT = 2.0  # no step changes a parameter of the similarity by more
SAME = 0.1  # log-posteriors of two starts that differ by less have found the same
MANY = 200  # parameters of a similarity beyond which differences take too long: no joint standard errors
ENOUGH = 0.05  # a gain in the log-posterior below which Newton steps take over
DIFFERENCE = 1e-4  # step of central differences of gradients, in units in which parameters are about 1


class Point(NamedTuple):
    """The log-posterior at x = (theta, parameters of the similarity)."""

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

    @property
    def m(self) -> int:
        return self.precision.size

    @property
    def unit(self) -> FloatArray:
        """What multiplies x so that changes of 1 matter about the same."""
        p = self.similarity.parameters.size
        return np.concatenate([positive(self.scale, self.m), np.ones(p)])

    def at(self, x: FloatArray, order: int = 2, similarity: bool = True) -> Point:
        """Value and derivatives; without the similarity's where they are not asked for."""
        theta, S = x[: self.m], self.similarity.with_parameters(x[self.m :])
        terms = self.evaluate(Request(self.quality.with_parameters(theta), S, order, similarity, self.given_size))
        prior = S.log_prior(self.strength)
        value = terms.value - float(self.precision @ theta**2) / 2 + prior.value
        gradient, hessian = terms.gradient - self.precision * theta, None
        if not similarity:
            hessian = None if terms.hessian is None else terms.hessian - np.diag(self.precision)
            return Point(value, gradient, hessian, terms)
        assert terms.similarity_gradient is not None
        gradient = np.concatenate([gradient, terms.similarity_gradient + prior.gradient])
        if terms.hessian is not None and terms.similarity_hessian is not None:
            own = terms.hessian - np.diag(self.precision)
            bent, cross = terms.similarity_hessian + prior.hessian, terms.cross
            assert cross is not None
            hessian = np.block([[own, cross], [cross.T, bent]])
        return Point(value, gradient, hessian, terms)

    def along_theta(self, x: FloatArray, tol: float, max_iter: int) -> FloatArray:
        """x with a better theta for its similarity, by a few Newton steps."""

        def objective(theta: FloatArray, order: int) -> Terms:
            point = self.at(np.concatenate([theta, x[self.m :]]), order, similarity=False)
            return Terms(point.value, point.gradient, point.hessian)

        best = newton(objective, x[: self.m], tol=tol, max_iter=max_iter, report=lambda *_: None, scale=self.scale)
        return np.concatenate([best.theta, x[self.m :]])

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
    x: FloatArray,
    *,
    tol: float,
    max_iter: int,
    report: Report,
    n_iter: int = 0,
    beat: float = -np.inf,
) -> Ascent:
    """From one start to a maximum; a start that will not `beat` the best so far is left half-way."""
    x = problem.along_theta(x, max(tol, 0.01), 4)
    found = descend(problem, x, tol, max_iter, report, n_iter, beat)
    if found.point.value < beat + SAME:
        return found
    return polish(problem, found, tol, max_iter, report)


def polish(problem: Problem, start: Ascent, tol: float, max_iter: int, report: Report) -> Ascent:
    """Newton steps with one Hessian, made anew where a step gains less than a factor of ten in the gradient."""
    x, point, n_iter = start.x, problem.at(start.x, 2), start.n_iter
    H, unit, fresh = problem.hessian(x, point), problem.unit, True
    while True:
        size = largest(point.gradient)
        step = np.zeros(x.size) if H is None else uphill(H, point.gradient)
        # along a weight that goes to 0 the gradient is slow to, and says nothing: what a step would gain decides
        done = size <= tol or (fresh and float(point.gradient @ step) <= tol)
        if done or n_iter >= max_iter or H is None:
            return Ascent(x, point._replace(hessian=H), n_iter, done)
        step[problem.m :] *= min(1.0, FARTHEST_LOGIT / max(largest(step[problem.m :]), FARTHEST_LOGIT))
        reach = FARTHEST * (1.0 + largest(x * unit))
        step *= min(1.0, reach / max(largest(step * unit), reach))
        slope, noise, t, found = float(point.gradient @ step), 64 * EPS * (1 + abs(point.value)), 1.0, None
        while t > 1e-8:
            trial = problem.at(x + t * step, 1)
            if trial.value >= point.value + 1e-4 * t * slope - noise:
                found = trial if slope > noise or largest(trial.gradient) < size else None
                break
            t *= 0.25
        if found is None and fresh:  # no float on the way is better
            return Ascent(x, point._replace(hessian=H), n_iter, slope <= noise)
        if found is not None:
            x, point, n_iter = x + t * step, found, n_iter + 1
            report(n_iter, x, point)
        fresh = found is None or largest(point.gradient) > 0.1 * size
        if fresh and largest(point.gradient) > tol:
            point = problem.at(x, 2)
            H = problem.hessian(x, point)


def descend(
    problem: Problem, x: FloatArray, tol: float, max_iter: int, report: Report, n_iter: int, beat: float
) -> Ascent:
    """L-BFGS on the negative, in coordinates in which the Hessian of theta is I.

    It ends where Newton steps can take over, or where its last gains are too small to beat the best so far.
    """
    m = problem.m
    start = problem.at(x, 2, similarity=False)
    assert start.hessian is not None
    lam, U = linalg.eigh(-start.hessian, check_finite=False)
    root = U / np.sqrt(np.maximum(lam, 1e-6 * max(float(lam[-1]), 1e-300)))  # theta = its start + root u
    few = x.size - m <= MANY
    points: dict[bytes, Point] = {}
    worst, values = abs(start.value), [-np.inf]

    def full(u: FloatArray) -> FloatArray:
        return np.concatenate([x[:m] + root @ u[:m], x[m:] + u[m:]])

    def loss(u: FloatArray) -> tuple[float, FloatArray]:
        nonlocal worst
        here = problem.at(full(u), 1)
        if not np.isfinite(here.value):
            return worst + 1e3 * (1 + float(u @ u)), 2e3 * u
        worst = max(worst, -here.value)
        points[u.tobytes()] = here
        return -here.value, -np.concatenate([root.T @ here.gradient[:m], here.gradient[m:]])

    def callback(u: FloatArray) -> None:
        here = points.get(u.tobytes()) or problem.at(full(u), 1)
        points.clear()
        points[u.tobytes()] = here
        values.append(here.value)
        report(n_iter + len(values) - 1, full(u), here)
        gains = np.diff(values[-3:])
        if few and len(values) > 3 and gains.max() < ENOUGH:
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
    u = optimize.minimize(loss, np.zeros(x.size), jac=True, method="L-BFGS-B", callback=callback, options=options).x
    point = points.get(u.tobytes()) or problem.at(full(u), 1)
    return Ascent(full(u), point, n_iter + len(values) - 1, largest(point.gradient) <= tol)


def uphill(H: FloatArray, g: FloatArray) -> FloatArray:
    """|H|^-1 g with the eigenvalues' absolute values; nothing along directions in which H is flat."""
    d = np.sqrt(np.maximum(np.abs(H.diagonal()), np.finfo(np.float64).tiny))
    lam, U = linalg.eigh(-H / d[:, None] / d, check_finite=False)
    keep = np.abs(lam) > FLAT * lam.size
    size = np.maximum(np.abs(lam[keep]), 1e-4)
    return np.asarray(U[:, keep] @ ((U[:, keep].T @ (g / d)) / size) / d)


def covariance_of(H: FloatArray) -> tuple[FloatArray, np.ndarray]:
    """(-H)^-1 without the directions in which H is flat, and which entries of x these directions leave undetermined."""
    scale, A = unit_diagonal(-H)
    lam, U = linalg.eigh(A, check_finite=False)
    flat = lam <= FLAT * lam.size
    inverse = (U[:, ~flat] / lam[~flat]) @ U[:, ~flat].T
    undetermined = ((U[:, flat] ** 2).sum(axis=1) > 1e-6) | (scale == 0)
    return np.asarray(inverse * scale[:, None] * scale), undetermined


class Outcome(NamedTuple):
    """The best of all starts: quality, similarity with its standard errors, and what each start reached."""

    optimum: Optimum  # of the quality
    std: FloatArray
    similarity: Learned
    starts: FloatArray  # log-posteriors at their ends
    covariance: FloatArray | None  # of the quality's parameters, where all are determined
    at_bound: list[str]


def outcome(problem: Problem, ascents: Sequence[Ascent]) -> Outcome:
    """What the ascents of all starts amount to."""
    # one that was left half-way is no better by SAME, and has no Hessian
    m, best = problem.m, max(ascents, key=lambda a: a.point.value - (SAME if a.point.hessian is None else 0.0))
    S, point = problem.similarity.with_parameters(best.x[m:]), best.point
    weights = np.array(list(S.weights.values()))
    covariance = None
    std, errors, at_bound = np.full(m, np.nan), np.full(weights.size, np.nan), []
    if point.hessian is not None:
        cov, undetermined = covariance_of(point.hessian)
        with np.errstate(divide="ignore"):
            most = 1 / np.sqrt(problem.precision)
        std = np.where(undetermined[:m], np.inf, np.sqrt(np.maximum(cov.diagonal()[:m], 0.0)))
        std = np.minimum(std, most)  # the prior's at most
        covariance = None if undetermined[:m].any() else cov[:m, :m]
        jacobian = S.weights_jacobian()
        errors = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", jacobian, cov[m:, m:], jacobian), 0.0))
        # A weight far below its share, of whose logarithm only the prior knows more than nothing, is at 0.
        low = (weights < 0.25 / weights.size) & (errors > weights / np.sqrt(2.5 * problem.strength))
        errors[low] = np.nan
        at_bound = [name for name, at in zip(S.weights, low.tolist(), strict=True) if at]
    elif point.terms.hessian is not None:
        cov, undetermined = covariance_of(point.terms.hessian - np.diag(problem.precision))
        std = np.where(undetermined, np.inf, np.sqrt(cov.diagonal()))
    terms = point.terms._replace(value=point.value, gradient=point.gradient)
    optimum = Optimum(best.x[:m], terms, np.zeros(m), max(a.n_iter for a in ascents), best.converged)
    values = np.array([a.point.value for a in ascents])
    return Outcome(optimum, std, S.with_errors(errors), values, covariance, at_bound)
