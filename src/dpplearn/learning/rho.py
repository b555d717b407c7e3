"""The similarity constant rho by maximum likelihood."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from scipy import optimize
from sklearn.exceptions import ConvergenceWarning

from dpplearn._checks import FloatArray
from dpplearn.learning.solvers import Optimum

STARTS = (0.0, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4)
Maximize = Callable[[float, FloatArray, int], Optimum]  # rho, a start, iterations so far -> the best theta for this rho


def maximize_over_rho(maximize: Maximize, theta: FloatArray, n_iter: int) -> tuple[float, Optimum]:
    """The rho >= 0 with the largest profile likelihood p(rho) = max over theta, and the optimum there.

    For fixed rho the problem is concave in theta; in rho it is not, so p is followed over a grid of
    starts. By the envelope theorem dp/du at u = rho^2 is the partial derivative at the best theta, which
    is exact: d log det S_Y / du = (1^T S_Y^-1 1 - |Y|) / (1 + u) and
    d log det(I + L) / du = (q^T (I + L)^-1 q - trace K) / (1 + u). Wherever it falls through 0 between
    two starts there is a local maximum, found by Brent's method; the best of all is returned.
    """
    found: dict[float, Optimum] = {}
    latest = theta

    def profile(rho: float) -> Optimum:
        nonlocal latest, n_iter
        if rho not in found:
            found[rho] = best = maximize(float(rho), latest, n_iter)
            n_iter = best.n_iter
            if np.isfinite(best.terms.value):
                latest = best.theta
        return found[rho]

    def slope(rho: float) -> float:
        return profile(rho).terms.d_u

    slopes = [slope(rho) for rho in STARTS]
    for (a, left), (b, right) in zip(
        zip(STARTS, slopes, strict=True), zip(STARTS[1:], slopes[1:], strict=True), strict=False
    ):
        if np.isfinite([left, right]).all() and left > 0 >= right:
            optimize.brentq(slope, a, b, xtol=1e-9, rtol=1e-12)
    if slopes[-1] > 0:
        message = (
            f"The likelihood still rises at rho = {STARTS[-1]}, where all similarities are above 0.97: "
            "the data say little about similarity. Set rho instead of learning it."
        )
        warnings.warn(message, ConvergenceWarning, stacklevel=5)
    rho = max(found, key=lambda rho: found[rho].terms.value)
    best = found[rho]
    return rho, Optimum(best.theta, best.terms, best.step, n_iter, best.converged)
