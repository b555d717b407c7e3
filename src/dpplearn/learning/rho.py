"""The similarity constant rho by maximum likelihood."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import optimize
from sklearn.exceptions import ConvergenceWarning

from dpplearn._checks import FloatArray
from dpplearn.learning.solvers import Optimum

STARTS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4)
SMALLEST = 1e-6  # below it, rho^2 is within rounding of the similarities
Maximize = Callable[[float, FloatArray, int], Optimum]  # rho, a start, iterations so far -> the best theta for this rho


class Point(NamedTuple):
    """A finished point of the profile likelihood."""

    theta: FloatArray
    value: float
    slope: float
    converged: bool


def maximize_over_rho(
    maximize: Maximize, theta: FloatArray, n_iter: int, known: dict[float, Point]
) -> tuple[float, Optimum]:
    """The rho >= 0 with the largest profile likelihood p(rho) = max over theta, and the optimum there.

    For fixed rho the problem is concave in theta; in rho it is not, so p is followed over a grid of
    starts. By the envelope theorem dp/du at u = rho^2 is the partial derivative at the best theta, which
    is exact: d log det S_Y / du = (1^T S_Y^-1 1 - |Y|) / (1 + u) and
    d log det(I + L) / du = (q^T (I + L)^-1 q - trace K) / (1 + u). Where it falls through 0 from one start
    to the next there is a local maximum, found by Brent's method; the best of those is returned. Two
    maxima between neighbouring starts would pass for one.

    `known` has the points of an earlier run that was interrupted, and is given every new one.
    """
    here: dict[float, Optimum] = {}
    latest = theta

    def profile(rho: float) -> Point:
        nonlocal latest, n_iter
        rho = float(rho)
        if rho not in known:
            here[rho] = best = maximize(rho, latest, n_iter)
            n_iter = best.n_iter
            known[rho] = Point(best.theta, best.terms.value, best.terms.d_u, best.converged)
        if np.isfinite(known[rho].value):
            latest = known[rho].theta
        return known[rho]

    def slope(rho: float) -> float:
        return profile(rho).slope

    starts = list(STARTS)
    if not np.isfinite(slope(0.0)):  # a target that rho = 0 makes impossible: p rises from -inf at some rho > 0
        starts[0] = starts[1] / 2
        while starts[0] > SMALLEST and slope(starts[0]) <= 0:
            starts.insert(0, starts[0] / 2)
    for a, b in pairwise(starts):
        if np.isfinite([slope(a), slope(b)]).all() and slope(a) > 0 >= slope(b):
            optimize.brentq(slope, a, b, xtol=1e-9, rtol=1e-12)
    if slope(STARTS[-1]) > 0 and profile(STARTS[-1]).converged:
        message = (
            f"The likelihood still rises at rho = {STARTS[-1]}, where all similarities are above 0.97: "
            "the data say little about similarity. Set rho instead of learning it."
        )
        warnings.warn(message, ConvergenceWarning, stacklevel=5)
    rho = max(known, key=lambda rho: known[rho].value)
    best = here[rho] if rho in here else maximize(rho, known[rho].theta, n_iter)
    settled = all(point.converged for point in known.values() if np.isfinite(point.value))
    return rho, Optimum(best.theta, best.terms, best.step, max(n_iter, best.n_iter), best.converged and settled)
