"""One factor on all qualities, so that sets drawn from the model have the right cost."""

from __future__ import annotations

import numpy as np

from dpplearn._checks import FloatArray
from dpplearn._linalg import Spectrum


def expected_cost(lam: FloatArray, shares: FloatArray, s: float) -> float:
    """E cost(Y) = sum of K_ii cost_i under e^s L: each eigenvector j gives its share, with probability p_j.

    K_ii = sum over j of p_j v_ij^2 with p = e^s lam / (1 + e^s lam), so share_j = sum over i of cost_i v_ij^2.
    """
    return float(shares @ tilted(lam, s))


def tilted(lam: FloatArray, s: float) -> FloatArray:
    """p = e^s lam / (1 + e^s lam), which overflows nowhere."""
    x = np.full(lam.shape, -np.inf)
    np.log(lam, out=x, where=lam > 0)
    return 1.0 / (1.0 + np.exp(np.minimum(-(x + s), 700.0)))


def find_tilt(lam: FloatArray, V: FloatArray, cost: FloatArray, target: float) -> float:
    """The s for which sets drawn from e^s L cost `target` on average.

    L -> e^s L multiplies every quality by e^(s/2) and leaves the ranking of sets of equal size alone. Where even
    the whole span costs less than the target, the s that comes within 5% of all there is.

    Examples
    --------
    >>> lam, V = np.array([0.5, 2.0]), np.eye(2)
    >>> s = find_tilt(lam, V, np.array([3.0, 1.0]), target=2.0)
    >>> bool(np.isclose(expected_cost(lam, np.array([3.0, 1.0]), s), 2.0))
    True
    """
    from scipy.optimize import brentq  # a slow import, and only this needs it

    shares = cost @ V**2
    keep = lam > 0.0
    lam, shares = lam[keep], shares[keep]
    if lam.size == 0:
        return 0.0
    goal = min(target, 0.95 * float(shares.sum()))
    low, high = -np.log(lam.max()) - 1.0, -np.log(lam.min()) + 1.0
    while expected_cost(lam, shares, low) > goal:
        low -= 2.0 + abs(low)
    while expected_cost(lam, shares, high) < goal:
        high += 2.0 + abs(high)
    return float(brentq(lambda s: expected_cost(lam, shares, s) - goal, low, high, xtol=1e-10))


def tilted_spectrum(lam: FloatArray, V: FloatArray, s: float) -> Spectrum:
    """The spectrum of the DPP with kernel e^s L."""
    x = np.full(lam.shape, -np.inf)
    np.log(lam, out=x, where=lam > 0)
    return Spectrum(tilted(lam, s), V, float(np.logaddexp(0.0, x + s).sum()))
