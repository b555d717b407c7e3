"""log P(Y | X) of one instance under theta, with its gradient and exact Hessian, by Cholesky factors.

With A = I + L, L = diag(q) S diag(q) and q = exp(F theta / 2):

    value      theta . sum of f_i over Y  +  log det S_Y  -  log det A                    (18)
    gradient   sum of f_i over Y  -  F^T diag(K),   K = I - A^-1                          (19)
    Hessian    -F^T (diag(K) - K o K) F, minus the covariance of the feature counts, because
               Cov(i in Y, j in Y) = -K_ij^2 for i != j, and K_ii (1 - K_ii) for i = j

`dpplearn.learning.algorithm1` has Algorithm 1 of the paper, by eigendecomposition, which the tests compare with.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg
from scipy.linalg import blas, lapack

from dpplearn._checks import FloatArray, IntArray, check_choice, check_rho, check_subset, check_vector
from dpplearn._graded import reduced_rows, reduced_similarity, stacked_qr
from dpplearn._linalg import WIDE, logdet
from dpplearn.learning.itemset import ItemSet

LOG_WIDE = float(np.log(WIDE))
MIN_PIVOT = 1e-7  # of A scaled to a unit diagonal: below it, rounding (EPS / MIN_PIVOT) reaches the marginals
MAX_LOG_QUALITY = 600.0  # exp of it is a float with room to spare
MAX_LOG_KERNEL = 705.0  # exp of it, L_ii, still is one


class Terms(NamedTuple):
    """Value, gradient and Hessian of a log-likelihood in theta, and its derivative in u = rho^2."""

    value: float
    gradient: FloatArray
    hessian: FloatArray | None = None
    d_u: float = 0.0


class Normalizer(NamedTuple):
    """log det(I + L), the marginals K_ii, the covariance of the feature counts, and d log det(I + L) / du."""

    log_z: float
    marginals: FloatArray
    covariance: FloatArray | None
    d_u: float


class Example:
    """One instance (X, Y) made ready for many evaluations.

    Parameters
    ----------
    item_set : ItemSet
    subset : sorted int64 array
        The target Y.
    rho : float
        Value of the constant similarity feature; `evaluate` may be asked for another.
    method : {"auto", "primal", "dual"}
        Factor the n x n matrix I + L, or the d x d matrix I + B^T B with B = diag(q) phi; by cost.
    """

    def __init__(self, item_set: ItemSet, subset: IntArray, rho: float = 0.0, method: str = "auto") -> None:
        self.items, self.Y = item_set, subset
        self.F = item_set.features
        self.f_Y = self.F[subset].sum(axis=0)
        self.dual = method == "dual" or (method == "auto" and prefers_dual(item_set))
        if self.dual and item_set.phi is None:
            raise ValueError('method="dual" needs similarity features phi; this ItemSet was given similarity.')
        self.rho, self.log_det_Y = rho, logdet(item_set.similarity_of(subset, rho))
        # Dense similarities stay in memory; those of sparse phi, which is far smaller, are made for each evaluation.
        self._C = None if self.dual else item_set.similarity
        if self._C is None and not self.dual and isinstance(item_set.phi, np.ndarray):
            self._C = item_set.similarity_matrix()

    def evaluate(self, theta: FloatArray, rho: float | None = None, *, order: int = 2, with_rho: bool = False) -> Terms:
        """The terms at theta, with the Hessian for order 2 and the derivative in rho^2 where asked for."""
        rho = self.rho if rho is None else rho
        log_det_Y = self.log_det_Y if rho == self.rho else logdet(self.items.similarity_of(self.Y, rho))
        eta = self.F @ theta
        if not np.isfinite(eta).all() or eta.max() > 2 * MAX_LOG_QUALITY:
            m = theta.size  # no float holds this quality: a step that came here is turned back
            return Terms(-np.inf, np.full(m, np.nan), np.full((m, m), np.nan), np.nan)
        z = self.normalizer(eta, rho, order, with_rho)
        value = float(self.f_Y @ theta + log_det_Y - z.log_z)
        gradient = self.f_Y - z.marginals @ self.F
        d_u = 0.0
        if with_rho and log_det_Y == -np.inf:
            d_u = np.inf  # impossible here, and perhaps not for a larger rho
        elif with_rho:
            S_Y = self.items.similarity_of(self.Y, rho)
            ones = np.ones(self.Y.size)
            # dS/du = (11^T - S) / (1 + u), so d log det S_Y / du = (1^T S_Y^-1 1 - |Y|) / (1 + u)
            total = float(linalg.cho_solve(linalg.cho_factor(S_Y, lower=True), ones) @ ones) if self.Y.size else 0.0
            d_u = (total - self.Y.size) / (1 + rho**2) - z.d_u
        return Terms(value, gradient, None if z.covariance is None else -z.covariance, d_u)

    def normalizer(self, eta: FloatArray, rho: float, order: int, with_rho: bool) -> Normalizer:
        found = None
        if not self.dual:
            found = primal(eta, self._similarity(rho), self.F, rho, order, with_rho)
        elif eta.max() <= LOG_WIDE:
            B = np.exp(eta / 2)[:, None] * self.items.similarity_rows(rho)
            found = dual(eta, B, self.F, rho, order, with_rho)
        if found is None:  # qualities too large, or items too alike, for a Cholesky factor to be accurate
            found = wide(eta, self._factor(rho, eta / 2), self.F, rho, order, with_rho)
        return found

    def _similarity(self, rho: float) -> FloatArray:
        if self._C is None:
            return self.items.similarity_matrix(rho)
        if rho == 0.0:
            return self._C
        S = (self._C + rho**2) / (1 + rho**2)
        S.flat[:: len(S) + 1] = 1.0
        return S

    def _factor(self, rho: float, log_q: FloatArray) -> FloatArray:
        """Independent columns with S = rows rows^T, in which what depends on better items is exactly 0."""
        if self.items.phi is not None and self.items.phi.shape[1] <= 4 * self.items.n:
            return reduced_rows(self.items.similarity_rows(rho), log_q).T
        return reduced_similarity(self._similarity(rho), log_q).T


def prefers_dual(items: ItemSet) -> bool:
    """Whether 2 n d^2 + d^3 / 3 + n^2 d operations are fewer than n^3."""
    if items.phi is None:
        return False
    n, d = items.phi.shape
    return bool(2 * n * d**2 + d**3 / 3 + n**2 * d < n**3)


def primal(eta: FloatArray, S: FloatArray, F: FloatArray, rho: float, order: int, with_rho: bool) -> Normalizer | None:
    """From the Cholesky factor of A = I + L; None where A is too close to singular.

    A = diag(d) M diag(d) with d = max(1, q), so that M = diag(1/d^2) + diag(q/d) S diag(q/d) has entries
    of at most 2 whatever q is, and A^-1 = diag(1/d) M^-1 diag(1/d).
    """
    log_d = np.maximum(eta / 2, 0.0)
    r, g = np.exp(eta / 2 - log_d), np.exp(-2 * log_d)  # q / d and 1 / d^2
    M = S * r[:, None]
    M *= r
    M.flat[:: len(M) + 1] += g
    before = M.diagonal().copy()
    C, info = lapack.dpotrf(M.T, lower=1, overwrite_a=1, clean=order < 2)
    if info != 0:
        return None
    pivots = C.diagonal()
    if (pivots**2 / before).min() < MIN_PIVOT:
        return None
    log_z = float(2 * (np.log(pivots).sum() + log_d.sum()))
    if order < 2 and not with_rho:
        T, _ = lapack.dtrtri(C, lower=1, overwrite_c=1)
        return Normalizer(log_z, np.maximum(1.0 - np.einsum("ij,ij->j", T, T) * g, 0.0), None, 0.0)
    inverse, _ = lapack.dpotri(C, lower=1, overwrite_c=1)  # the lower triangle of M^-1
    out = inverse.diagonal() * g  # P(i not in Y) = (A^-1)_ii
    k = np.maximum(1.0 - out, 0.0)
    # d log det(I + L) / du = (q^T A^-1 q - trace K) / (1 + u)
    d_u = (float(r @ blas.dsymv(1.0, inverse, r, lower=1)) - k.sum()) / (1 + rho**2) if with_rho else 0.0
    if order < 2:
        return Normalizer(log_z, k, None, d_u)
    # K_ij^2 = (M^-1)_ij^2 g_i g_j off the diagonal
    np.square(inverse, out=inverse)
    inverse.T.flat[:: len(M) + 1] = 0.0
    G = np.asfortranarray(g[:, None] * F)
    covariance = F.T @ ((k * out)[:, None] * F) - G.T @ blas.dsymm(1.0, inverse, G, lower=1)
    return Normalizer(log_z, k, symmetric(covariance), d_u)


def dual(eta: FloatArray, B: FloatArray, F: FloatArray, rho: float, order: int, with_rho: bool) -> Normalizer | None:
    """From the Cholesky factor of the d x d matrix I + B^T B: K = B (I + B^T B)^-1 B^T."""
    A = blas.dsyrk(1.0, B.T, lower=1)
    A.T.flat[:: len(A) + 1] += 1.0
    C, info = lapack.dpotrf(A, lower=1, overwrite_a=1)
    if info != 0:
        return None
    W = blas.dtrsm(1.0, C, B.T, lower=1).T  # rows w_i = C^-1 b_i: K_ij = w_i . w_j
    log_z = float(2 * np.log(C.diagonal()).sum())
    d_u = 0.0
    if with_rho:
        q = np.exp(eta / 2)
        explained = q @ W
        d_u = float(q @ q - explained @ explained)  # q^T (I - K) q
    return from_rows(log_z, W, F, rho, order, d_u, with_rho)


def wide(eta: FloatArray, rows: FloatArray, F: FloatArray, rho: float, order: int, with_rho: bool) -> Normalizer:
    """From an orthogonal factor of [B; I]: slower, and accurate for qualities up to e^600.

    K = Q Q^T where Q is the upper part of that factor, whatever the lengths of the rows of B.
    """
    q = np.exp(eta / 2)
    n = q.size
    Q, R = stacked_qr(q[:, None] * rows)
    log_z = float(2 * np.log(np.abs(R.diagonal())).sum())
    quadratic = quadratic_form(q, rows, Q) if with_rho else 0.0
    return from_rows(log_z, Q[:n], F, rho, order, quadratic, with_rho)


def quadratic_form(q: FloatArray, rows: FloatArray, Q: FloatArray) -> float:
    """q^T (I + B B^T)^-1 q for B = diag(q) rows, from the orthogonal factor Q of [B; I].

    Where 1 = rows c, as it is for every rho > 0, q = B c and the form is c^T (I - (I + B^T B)^-1) c, in which
    (I + B^T B)^-1 = Q' Q'^T for the lower part Q' of the factor: nothing large cancels. Otherwise the part of q
    outside the span is large, and q^T (I - K) q with it.
    """
    n = q.size
    c = linalg.lstsq(rows, np.ones(n), check_finite=False)[0]
    if np.abs(rows @ c - 1.0).max() < 1e-10:
        lower = c @ Q[n:]
        return float(c @ c - lower @ lower)
    inside = q @ Q[:n]
    return float(q @ q - inside @ inside)


def from_rows(
    log_z: float, W: FloatArray, F: FloatArray, rho: float, order: int, quadratic: float, with_rho: bool
) -> Normalizer:
    """What follows from K = W W^T; never forms K, so that n may be large."""
    k = np.minimum(np.einsum("ij,ij->i", W, W), 1.0)
    d_u = (quadratic - k.sum()) / (1 + rho**2) if with_rho else 0.0
    if order < 2:
        return Normalizer(log_z, k, None, d_u)
    n, d = W.shape
    m = F.shape[1]
    covariance = F.T @ (k[:, None] * F)
    if d**2 * m < n * (d + m):
        # K_ij^2 = (w_i . w_j)^2 is the product of w_i (x) w_i and w_j (x) w_j
        half = np.zeros((d * d, m))
        for start in range(0, n, 4096):
            block = slice(start, start + 4096)
            half += np.einsum("ij,ik->ijk", W[block], W[block]).reshape(-1, d * d).T @ F[block]
        covariance -= half.T @ half
    else:
        for start in range(0, n, 512):
            block = slice(start, start + 512)
            covariance -= F[block].T @ (np.square(W[block] @ W.T) @ F)
    return Normalizer(log_z, k, symmetric(covariance), d_u)


def check_log_quality(eta: FloatArray, limit: float = 2 * MAX_LOG_QUALITY) -> FloatArray:
    """theta . f_i = 2 log q_i of every item, none above the limit."""
    if np.isfinite(eta).all() and eta.max() <= limit:
        return eta
    i = int(np.where(np.isfinite(eta), eta, np.inf).argmax())
    raise ValueError(
        f"theta . f must be at most {limit:g} here, and is {eta[i]:.4g} for item {i}: no float holds its "
        "quality. Scale the features down, or fit with a smaller prior_variance."
    )


def symmetric(A: FloatArray) -> FloatArray:
    return np.asarray(A + A.T) / 2


def log_likelihood(
    theta: ArrayLike, item_set: ItemSet, subset: ArrayLike, *, rho: float = 0.0, order: int = 2, method: str = "auto"
) -> Terms:
    """log P(Y | X) of one instance, equation (18), its gradient (19) and its Hessian.

    Parameters
    ----------
    theta : array of shape (m,)
    item_set : ItemSet
    subset : item numbers or a boolean mask
        The target Y; may be empty.
    rho : float
        Value of a constant similarity feature (section 7.2).
    order : {1, 2}
        1 leaves out the Hessian.
    method : {"auto", "primal", "dual", "algorithm1"}
        "primal" factors I + L (n x n), "dual" I + B^T B (d x d, needs `phi`), "auto" the cheaper of the
        two; "algorithm1" is the paper's, by eigendecomposition.

    Returns
    -------
    Terms
        value, gradient, hessian (None for order 1), d_u (0 here: see `ConditionalDPP(learn_rho=True)`).

    Examples
    --------
    >>> items = ItemSet([[1.0], [1.0]], similarity=[[1.0, 0.6], [0.6, 1.0]])
    >>> terms = log_likelihood([0.0], items, [0])  # P = 1 / (1 + 1 + 1 + 0.64)
    >>> round(terms.value, 4), terms.gradient.round(4)
    (-1.292, array([0.0989]))
    """
    from dpplearn.learning.algorithm1 import algorithm1

    check_choice(method, "method", ("auto", "primal", "dual", "algorithm1"))
    theta = check_vector(theta, "theta", item_set.n_features)
    Y, rho = check_subset(subset, item_set.n), check_rho(rho)
    if order not in (1, 2):
        raise ValueError(f"order must be 1 (value and gradient) or 2 (and Hessian), found {order!r}.")
    check_log_quality(item_set.features @ theta)
    if method == "algorithm1":
        return algorithm1(theta, item_set, Y, rho=rho, order=order)
    return Example(item_set, Y, rho, method).evaluate(theta, order=order)
