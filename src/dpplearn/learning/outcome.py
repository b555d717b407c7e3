"""What the ascents of all starts amount to: the best of them, with joint standard errors of quality and similarity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import linalg

from dpplearn._checks import FloatArray
from dpplearn.learning.joint import SAME, Ascent, Problem
from dpplearn.learning.similarity.learned import Learned
from dpplearn.learning.solvers import FLAT, Optimum, unit_diagonal


def covariance_of(H: FloatArray, T: FloatArray | None = None) -> tuple[FloatArray, np.ndarray]:
    """T (-H)^-1 T^T without the directions in which H is flat, and which entries of Tx these leave undetermined.

    T is I if none is given. Logits are flat where all grow by the same, and log(1 - w_all) does not change with that.
    """
    scale, A = unit_diagonal(-H)
    lam, U = linalg.eigh(A, check_finite=False)
    flat = lam <= FLAT * lam.size
    T = np.eye(scale.size) if T is None else T
    along, deaf = (T * scale) @ U, np.abs(T) @ (scale == 0) > 0
    length = np.square(along).sum(axis=1)
    undetermined = (np.square(along[:, flat]).sum(axis=1) > 1e-6 * length) | deaf
    return np.asarray((along[:, ~flat] / lam[~flat]) @ along[:, ~flat].T), undetermined


class Outcome(NamedTuple):
    """The best of all starts: quality, similarity with its standard errors, and what each start reached."""

    optimum: Optimum  # of the quality
    std: FloatArray
    similarity: Learned
    starts: FloatArray  # log-posteriors at their ends
    covariance: FloatArray | None  # of the quality's parameters, where all are determined
    at_bound: list[str]
    log_likelihood: float = np.nan


def outcome(problem: Problem, ascents: Sequence[Ascent], maxima: Sequence[Ascent] = ()) -> Outcome:
    """What the ascents of all starts amount to, and maxima to which none of them led."""
    # one that was left half-way is no better by SAME, and has no Hessian
    every = [*ascents, *maxima]
    m, best = problem.m, max(every, key=lambda a: a.point.value - (SAME if a.point.hessian is None else 0.0))
    (theta, S), point = problem.split(best.x), best.point
    weights = np.array(list(S.weights.values()))
    covariance = None
    std, errors, at_bound = np.full(m, np.nan), np.full(weights.size, np.nan), []
    if point.hessian is not None:
        cov, undetermined = covariance_of(point.hessian, problem.jacobian(best.x))
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
    optimum = Optimum(theta, terms, np.zeros(m), max(a.n_iter for a in every), best.converged)
    values = np.array([a.point.value for a in ascents])
    return Outcome(optimum, std, S.with_errors(errors), values, covariance, at_bound, point.terms.value)
