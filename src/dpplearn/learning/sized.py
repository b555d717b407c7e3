"""log e_k(L), the normalizer given the size, with marginals, covariances and slopes in S.

Given |Y| = k, P(Y) = det(L_Y) / e_k(lam) (KT12, section 5.2), with lam, V the eigenpairs of L: phase 1 takes a set J of
k eigenvectors, phase 2 items from the projection on them. With p_a = P(a in J) and p_ab = P(a, b in J),

    P(i in Y)     sum of p_a v_ia^2                        d log e_k / dS = diag(q) V diag(p / lam) V^T diag(q)
    P(i, j in Y)  sum of p_ab (v_ia^2 v_jb^2 - v_ia v_ib v_ja v_jb) over a != b

Scaling L changes no probability, so L is scaled until about k items are expected. e_k is then a coefficient of the
polynomial det(I + zL), and so a sum of its values on the unit circle, with a positive result of ordinary size. The same
sum gives e_{k-1} without one lam, as a coefficient of det(I + zL) / (1 + lam_a z), and e_{k-2} without two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import linalg, optimize
from scipy.special import expit

from dpplearn._checks import FloatArray
from dpplearn._linalg import Factor, reduced_rows, reduced_similarity
from dpplearn._precision import EPS, LOST_EIGENVALUE
from dpplearn.kdpp import scaled_spectrum
from dpplearn.learning.normalizer import Normalizer, slopes_of

if TYPE_CHECKING:
    from dpplearn.learning.likelihood import Instance

MAX_ERROR = 1e-7  # relative error of the k-th eigenvalue beyond which the likelihood is refused
SMALLEST_TERM = 1e-14  # a term of the sum, relative to the largest, that may be left out


class LostDigitsError(ValueError):
    """The likelihood given the size has no digits: rounding of S is as large as what tells sets of k items apart."""


def normalize_sized(eta: FloatArray, S: Instance, k: int, J: FloatArray | None, weights: bool) -> Normalizer | None:
    """The normalizer given that k items are chosen; None if no set of k items is possible."""
    n, p = eta.size, len(S.parts) + 2
    if k == 0:
        return Normalizer(0.0, np.zeros(n), None if J is None else np.zeros((J.shape[1],) * 2), np.zeros(p))
    pairs = eigenpairs(eta, S, k)
    if pairs is None:
        return None
    sums = elementary_sums(pairs.lam, k)
    without_one = sums.without_one()
    marginals = np.clip(np.square(pairs.V) @ (sums.lam * without_one), 0.0, 1.0)
    covariance = None if J is None else sized_covariance(pairs.V, sums.joint(), marginals, J)
    B = pairs.r[:, None] * pairs.V
    slopes = slopes_of(S, (B * (without_one * np.exp(sums.tilt))) @ B.T) if weights else None
    return Normalizer(sums.log_e + pairs.log_scale, marginals, covariance, slopes, pairs.error)


class Eigenpairs(NamedTuple):
    """Eigenpairs of diag(r) S diag(r), r = q e^(-shift / 2) at most 1."""

    lam: FloatArray
    V: FloatArray
    r: FloatArray
    log_scale: float  # log e_k(L) less log e_k(lam)
    error: float  # relative error to expect of what the k-th pair adds to a derivative in S


def eigenpairs(eta: FloatArray, S: Instance, k: int) -> Eigenpairs | None:
    """Eigenpairs of L but for a scale; None with k above the rank.

    If rounding of the largest eigenvalue hides the k-th, lam are the odds of the probabilities p of a multiple cL, up
    to 1 / EPS. The determinant is known in full, so e_k(L) = P(|J| = k) det(I + cL) / c^k is exact.
    """
    shift = float(eta.max())
    r = np.exp((eta - shift) / 2)
    M = S.matrix()
    lam, V = linalg.eigh(r[:, None] * M * r, driver="evd", check_finite=False)
    lam = np.maximum(lam, 0.0)
    if k <= lam.size and lam[-k] > LOST_EIGENVALUE * lam[-1]:
        return Eigenpairs(lam, V, r, k * shift, EPS * lam[-1] / lam[-k])
    by_rows = S.nugget == 0 and S.few_columns
    factor = reduced_rows(S.rows(), eta / 2) if by_rows else reduced_similarity(M, eta / 2)
    if k > factor.pivots.size and S.nugget == 0:
        return None
    # EPS is the error of the rows; a pivot of S is the square of one of rows
    left = factor.rows[factor.pivots].diagonal()[:k].min() if k <= factor.pivots.size else EPS
    error = float(EPS / (left if by_rows else left**2))
    if error > MAX_ERROR:
        remedy = "a larger nugget, such as nugget=1e-4" if S.nugget > 0 else "nugget=1e-4, or pass phi instead of S"
        what = f"sets of {k} items: what one of them has of its own is {left**2:.0e}, which is lost in rounding"
        raise LostDigitsError(f"The likelihood given the size cannot be computed for {what}. Fit with {remedy}.")
    scaled = Factor(r[:, None] * factor.rows, factor.pivots)
    # the squares of pivots are about the eigenvalues; the error of eigenvectors is EPS times the first
    sizes = scaled.rows[scaled.pivots].diagonal() ** 2
    error = max(error, float(EPS * sizes[0] / max(sizes[k - 1], np.finfo(np.float64).tiny)))
    (p, V, log_det), log_c = scaled_spectrum(scaled, k)
    odds = p / np.maximum(1 - p, 1e-17)
    return Eigenpairs(odds * np.exp(-log_c), V, r, k * shift + log_det - float(np.log1p(odds).sum()), error)


class ElementarySums(NamedTuple):
    """e_k of eigenvalues, and e_{k-s} without a set A of s of them.

    With the eigenvalues scaled by e^tilt, the second over the first is the sum of weights z^s prod 1 / (1 + lam_a z),
    a in A, over nodes z.
    """

    lam: FloatArray  # scaled
    tilt: float
    log_e: float  # log e_k of the eigenvalues that are not scaled
    nodes: np.ndarray
    weights: np.ndarray

    def without_one(self) -> FloatArray:
        """e_{k-1} without each, over e_k."""
        return np.maximum((self.weights * self.nodes / (1 + self.lam[:, None] * self.nodes)).real.sum(axis=1), 0.0)

    def joint(self) -> FloatArray:
        """P(a, b in J) = lam_a lam_b e_{k-2} without both, over e_k; 0 on the diagonal."""
        B = 1 / (1 + self.lam[:, None] * self.nodes)
        W = (B * (self.weights * self.nodes**2)) @ B.T
        P = np.maximum(W.real, 0.0) * self.lam[:, None] * self.lam
        np.fill_diagonal(P, 0.0)
        return np.asarray(P)


def elementary_sums(lam: FloatArray, k: int) -> ElementarySums:
    """The sums of these eigenvalues, scaled until about k of them are expected in J."""
    with np.errstate(divide="ignore"):
        x = np.log(lam)
    finite = x[np.isfinite(x)]
    target = k if k < finite.size else k - 0.5
    span = 50.0 + abs(np.log(target / max(finite.size - target, 0.5)))
    low, high = -finite.max() - span, -finite.min() + span
    tilt = float(optimize.brentq(lambda t: float(expit(finite + t).sum()) - target, low, high))
    p = expit(x + tilt)
    deviation = np.sqrt(float((p * (1 - p)).sum()))
    N = min(2 * int(k / 2 + 7 * deviation + 10) + 1, 2 * lam.size + 3)  # odd: 1 + lam z is never 0
    N += 1 - N % 2
    nodes = np.exp(2j * np.pi * np.arange(N // 2 + 1) / N)
    # conjugate nodes add the same real part, so one of two is enough
    log_value = np.log((1 - p)[:, None] + p[:, None] * nodes).sum(axis=0)
    raw = np.exp(log_value) * nodes ** (-k) * np.where(np.arange(nodes.size) == 0, 1.0, 2.0) / N
    total = float(raw.real.sum())  # P(|J| = k)
    keep = np.abs(raw) > SMALLEST_TERM * np.abs(raw).max()
    log_e = float(np.log(total) + np.logaddexp(0.0, x + tilt).sum() - k * tilt)
    return ElementarySums(np.exp(np.minimum(x + tilt, 700.0)), tilt, log_e, nodes[keep], raw[keep] / total)


def sized_covariance(V: FloatArray, P: FloatArray, marginals: FloatArray, J: FloatArray) -> FloatArray:
    """The covariance of the sums of J over Y; P has the probabilities of pairs of eigenvectors."""
    U, sums = np.square(V).T @ J, marginals @ J
    covariance = J.T @ (marginals[:, None] * J) + U.T @ (P @ U) - np.outer(sums, sums)
    root, (n, r), m = np.sqrt(P), V.shape, J.shape[1]
    step = max(1, 2_000_000 // (n * m))
    for start in range(0, r, step):  # M_ab = sum of v_ia v_ib J_i, for some a and all b
        block = V[:, start : start + step]
        M = (block[:, :, None] * J[:, None, :]).reshape(n, -1).T @ V
        M = M.reshape(block.shape[1], m, r) * root[start : start + step, None, :]
        M = M.transpose(1, 0, 2).reshape(m, -1)
        covariance -= M @ M.T
    return covariance
