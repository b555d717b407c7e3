"""log e_k(L), the normalizer given the size, with marginals, covariances and slopes in S.

Given |Y| = k, P(Y) = det(L_Y) / e_k(lam) (KT12, section 5.2), with lam, V the eigenpairs of L: phase 1 takes a set J of
k eigenvectors, phase 2 items from the projection on them. With p_a = P(a in J) and p_ab = P(a, b in J),

    P(i in Y)     sum of p_a v_ia^2                        d log e_k / dS = diag(q) V diag(p / lam) V^T diag(q)
    P(i, j in Y)  sum of p_ab (v_ia^2 v_jb^2 - v_ia v_ib v_ja v_jb) over a != b

Scaling L changes nothing, so it is scaled until about k are expected. e_k is then a coefficient of the polynomial
det(I + zL), whose values on the unit circle give it, and what is left of it without one lam or two, by one sum with
positive results of ordinary size: e_{k-1} without a is the coefficient of det(I + zL) / (1 + lam_a z).
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

NO_DIGITS = 1e-7  # relative error of the k-th eigenvalue, and of what follows from it, beyond which nothing is said
QUIET = 1e-14  # of the largest: what a node of the sum adds that nobody sees


def normalize_sized(eta: FloatArray, S: Instance, k: int, J: FloatArray | None, weights: bool) -> Normalizer | None:
    """Given that k items are chosen. None where no set of k items is possible."""
    n, p = eta.size, len(S.parts) + 2
    if k == 0:
        covariance = None if J is None else np.zeros((J.shape[1],) * 2)
        return Normalizer(0.0, np.zeros(n), covariance, np.zeros(p))
    found = eigenpairs(eta, S, k)
    if found is None:
        return None
    lam, V, r, log_scale, error = found
    left = left_out(lam, k)
    marginals = np.clip(np.square(V) @ (left.lam * left.one), 0.0, 1.0)
    covariance = None if J is None else sized_covariance(V, left.pairs(), marginals, J)
    B = r[:, None] * V
    slopes = slopes_of(S, (B * (left.one * np.exp(left.tilt))) @ B.T) if weights else None
    return Normalizer(left.log_e + log_scale, marginals, covariance, slopes, error)


class LostDigitsError(ValueError):
    """The likelihood given the size has no digits: rounding of S is as large as what tells sets of k items apart."""


Found = tuple[FloatArray, FloatArray, FloatArray, float, float]


def eigenpairs(eta: FloatArray, S: Instance, k: int) -> Found | None:
    """Eigenpairs of diag(r) S diag(r), r = q e^(-shift / 2) at most 1, what log e_k of L has besides that of them, and
    the relative error that is to be expected of what the k-th adds to a derivative in S.

    None with k above the rank. Where the k-th eigenvalue is lost in the rounding of the largest, they are odds of the
    probabilities p of a multiple cL, which know nothing beyond 1 / EPS: then e_k(L) = P(|J| = k) det(I + cL) / c^k,
    of which the determinant is known in full, takes the place of theirs.
    """
    shift = float(eta.max())
    r = np.exp((eta - shift) / 2)
    M = S.matrix()
    lam, V = linalg.eigh(r[:, None] * M * r, driver="evd", check_finite=False)
    lam = np.maximum(lam, 0.0)
    if k <= lam.size and lam[-k] > LOST_EIGENVALUE * lam[-1]:
        return lam, V, r, k * shift, EPS * lam[-1] / lam[-k]
    factor, by_rows = factor_of(M, S, eta)
    if k > factor.pivots.size and S.nugget == 0:
        return None
    # a pivot knows its share of an item of length 1 to EPS: of the rows themselves, or of their squares
    left = factor.rows[factor.pivots].diagonal()[:k].min() if k <= factor.pivots.size else EPS
    error = float(EPS / (left if by_rows else left**2))
    if error > NO_DIGITS:
        cure = "a larger nugget, such as nugget=1e-4" if S.nugget > 0 else "nugget=1e-4, say, or pass phi in place of S"
        what = f"sets of {k} items: what one of them has of its own is {left**2:.0e}, which is lost in rounding"
        raise LostDigitsError(f"The likelihood given the size cannot be computed for {what}. Fit with {cure}.")
    scaled = Factor(r[:, None] * factor.rows, factor.pivots)
    # the squares of pivots are about the eigenvalues; eigenvectors are known to EPS of the first
    sizes = scaled.rows[scaled.pivots].diagonal() ** 2
    error = max(error, float(EPS * sizes[0] / max(sizes[k - 1], np.finfo(np.float64).tiny)))
    (p, V, log_det), log_c = scaled_spectrum(scaled, k)
    odds = p / np.maximum(1 - p, 1e-17)
    return odds * np.exp(-log_c), V, r, k * shift + log_det - float(np.log1p(odds).sum()), error


def factor_of(M: FloatArray, S: Instance, eta: FloatArray) -> tuple[Factor, bool]:
    """S = U U^T with exact zeros where an item is a combination of better ones, and whether it is made of rows."""
    rank = S.similarity.rank(S.items)
    if S.nugget == 0 and rank is not None and rank <= 4 * S.items.n:
        return reduced_rows(S.rows(), eta / 2), True
    return reduced_similarity(M, eta / 2), False


class LeftOut(NamedTuple):
    """What is left of e_k without some eigenvalues.

    For eigenvalues scaled by e^tilt, e_{k-s} without a set A of s of them, over e_k, is the sum of
    weights z^s prod 1 / (1 + lam_a z) over a in A, for nodes z.
    """

    lam: FloatArray  # scaled
    tilt: float
    log_e: float  # log e_k of those that are not
    nodes: np.ndarray
    weights: np.ndarray
    one: FloatArray  # e_{k-1} without each

    def pairs(self) -> FloatArray:
        """P(a, b in J) = lam_a lam_b e_{k-2} without both; 0 on the diagonal."""
        B = 1 / (1 + self.lam[:, None] * self.nodes)
        W = (B * (self.weights * self.nodes**2)) @ B.T
        P = np.maximum(W.real, 0.0) * self.lam[:, None] * self.lam
        np.fill_diagonal(P, 0.0)
        return np.asarray(P)


def left_out(lam: FloatArray, k: int) -> LeftOut:
    """For these eigenvalues, scaled until about k of them are taken."""
    with np.errstate(divide="ignore"):
        x = np.log(lam)
    some = x[np.isfinite(x)]
    target = k if k < some.size else k - 0.5
    span = 50.0 + abs(np.log(target / max(some.size - target, 0.5)))
    low, high = -some.max() - span, -some.min() + span
    tilt = float(optimize.brentq(lambda t: float(expit(some + t).sum()) - target, low, high))
    scaled = np.exp(np.minimum(x + tilt, 700.0))
    p = expit(x + tilt)
    deviation = np.sqrt(float((p * (1 - p)).sum()))
    N = min(2 * int(k / 2 + 7 * deviation + 10) + 1, 2 * lam.size + 3)  # odd: 1 + lam z is never 0
    N += 1 - N % 2
    nodes = np.exp(2j * np.pi * np.arange(N // 2 + 1) / N)
    # of two conjugate nodes one is enough: twice its real part
    log_value = np.log((1 - p)[:, None] + p[:, None] * nodes).sum(axis=0)
    raw = np.exp(log_value) * nodes ** (-k) * np.where(np.arange(nodes.size) == 0, 1.0, 2.0) / N
    total = float(raw.real.sum())  # P(|J| = k)
    keep = np.abs(raw) > QUIET * np.abs(raw).max()
    nodes, weights = nodes[keep], raw[keep] / total
    log_e = float(np.log(total) + np.logaddexp(0.0, x + tilt).sum() - k * tilt)
    one = (weights * nodes / (1 + scaled[:, None] * nodes)).real.sum(axis=1)
    return LeftOut(scaled, tilt, log_e, nodes, weights, np.maximum(one, 0.0))


def sized_covariance(V: FloatArray, P: FloatArray, marginals: FloatArray, J: FloatArray) -> FloatArray:
    """Of the sums of J over Y, where P has the probabilities of pairs of eigenvectors."""
    U, sums = np.square(V).T @ J, marginals @ J
    found = J.T @ (marginals[:, None] * J) + U.T @ (P @ U) - np.outer(sums, sums)
    root, (n, r), m = np.sqrt(P), V.shape, J.shape[1]
    step = max(1, 2_000_000 // (n * m))
    for start in range(0, r, step):  # M_ab = sum of v_ia v_ib J_i, for some a and all b
        some = V[:, start : start + step]
        M = (some[:, :, None] * J[:, None, :]).reshape(n, -1).T @ V
        M = M.reshape(some.shape[1], m, r) * root[start : start + step, None, :]
        M = M.transpose(1, 0, 2).reshape(m, -1)
        found -= M @ M.T
    return found
