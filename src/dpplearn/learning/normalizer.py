"""log det(I + L), with marginals, covariances and derivatives in a mixture's weights, by three routes.

With A = I + L, L = diag(q) S diag(q) and eta = 2 log q:

    d log det A / d eta_i = K_ii,   K = I - A^-1        d log det A / dS = G = diag(q) A^-1 diag(q)
    Cov(i in Y, j in Y) = -K_ij^2 for i != j, and K_ii (1 - K_ii) for i = j

The nugget is taken out first. With S = nugget I + shared and D = I + nugget diag(q^2),

    A = D^1/2 (I + L') D^1/2,   L' = diag(q') shared diag(q'),   q'^2 = q^2 / (1 + nugget q^2) <= 1 / nugget,

so that the routes work on a DPP with the kernel L', whose G is the same. S is linear in the weights of a mixture,
S = sum of w_a C_a, and so d log det A / dw_a = <G, C_a>.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.linalg import blas, lapack

from dpplearn._checks import FloatArray
from dpplearn._linalg import stacked_qr, to_dense
from dpplearn._precision import MIN_PIVOT, WIDE

if TYPE_CHECKING:
    from dpplearn.learning.likelihood import Instance

LOG_WIDE = float(np.log(WIDE))
SMALL_TRIANGLE = 32  # rows up to which LAPACK inverts a triangle; a larger one is inverted by halves


class Normalizer(NamedTuple):
    """log Z and the marginals K_ii; on request, the covariance of sums of J over Y and slopes."""

    log_z: float
    marginals: FloatArray
    covariance: FloatArray | None = None
    slopes: FloatArray | None = None  # derivatives of log Z in the weights of a mixture
    error: float = 0.0  # relative error of the slopes, if it may be large


class Route(NamedTuple):
    """log Z, marginals and covariance of L', and d log Z / dS = diag(r) X diag(r).

    X is given by its lower triangle, with zeros above, or by rows W with X = I - W W^T.
    """

    log_z: float
    marginals: FloatArray
    covariance: FloatArray | None
    r: FloatArray
    X: Any
    W: Any = None


def normalize(
    eta: FloatArray, S: Instance, J: FloatArray | None = None, weights: bool = False, k: int | None = None
) -> Normalizer | None:
    """The normalizer by the route that suits the qualities.

    J = d eta / d parameters asks for the covariance, `weights` for the slopes. With k, given that k items are chosen:
    None if no set of k items is possible.
    """
    if k is not None:
        from dpplearn.learning.sized import normalize_sized  # which imports this file

        return normalize_sized(eta, S, k, J, weights)
    log_D = np.logaddexp(0.0, eta + np.log(S.nugget)) if S.nugget > 0 else np.zeros(eta.size)
    s, inner = np.exp(-log_D), eta - log_D
    J_inner = J if J is None or S.nugget == 0 else s[:, None] * J
    route = None
    if not S.dual:
        route = primal(inner, S.matrix(), S.nugget, J_inner, weights)
    elif inner.max() <= LOG_WIDE:
        route = by_rows(inner, S.rows(), J_inner)
    if route is None:  # qualities too large, or items too similar, for a Cholesky factor to be accurate
        route = wide(inner, S.factor(inner / 2), J_inner)
    log_z, marginals, covariance = route[:3]
    if S.nugget > 0:
        absent = 1.0 - marginals
        # K = I - D^-1/2 (I - K') D^-1/2: K_ii = 1 - s_i (1 - K'_ii), and K_ij^2 = s_i s_j K'_ij^2
        log_z, marginals = log_z + float(log_D.sum()), np.clip(1.0 - s * absent, 0.0, 1.0)
        if covariance is not None and J is not None:
            covariance = covariance + J.T @ ((s * -np.expm1(-log_D) * absent)[:, None] * J)
    return Normalizer(log_z, marginals, covariance, weight_slopes(S, route) if weights else None)


def weight_slopes(S: Instance, route: Route) -> FloatArray:
    """<G, C_a> for G = d log Z / dS and the C_a of the weights of a mixture: I, 11^T and each part."""
    r, W = route.r, route.W
    if W is None:  # G is symmetric and given by its lower triangle; every C_a has ones on its diagonal
        G = route.X * r
        G *= r[:, None]
        return 2 * slopes_of(S, G.T) - G.trace()
    if any(part.phi is None for part in S.parts):
        return slopes_of(S, r[:, None] * (np.eye(r.size) - W @ W.T) * r)
    # |r U_a|^2 - |W^T (r U_a)|^2, C_a = U_a U_a^T
    rows = [r[:, None] * to_dense(U) for U in (np.ones((r.size, 1)), *(part.phi for part in S.parts))]
    own = float(r**2 @ (1 - np.square(W).sum(axis=1)))
    return np.array([own, *(np.square(U).sum() - np.square(W.T @ U).sum() for U in rows)])


def slopes_of(S: Instance, G: FloatArray) -> FloatArray:
    """<G, C_a> from the matrices."""
    C = S.cosines()
    return np.concatenate([[G.trace(), G.sum()], C.reshape(len(C), -1) @ G.ravel()])


def primal(eta: FloatArray, S: FloatArray, nugget: float, J: FloatArray | None, with_G: bool) -> Route | None:
    """From the Cholesky factor of A = I + L, with L of S - nugget I; None if A is too close to singular.

    A = diag(d) M diag(d) with d = max(1, q), so that M = diag(1/d^2) + diag(q/d) S diag(q/d) has entries
    of at most 2 whatever q is, and A^-1 = diag(1/d) M^-1 diag(1/d).
    """
    log_d = np.maximum(eta / 2, 0.0)
    r, g = np.exp(eta / 2 - log_d), np.exp(-2 * log_d)  # q / d and 1 / d^2
    M = S * r[:, None]
    M *= r
    M.flat[:: len(M) + 1] += g if nugget == 0 else g - nugget * r**2
    before = M.diagonal().copy()
    C, info = lapack.dpotrf(M.T, lower=1, overwrite_a=1, clean=J is None or with_G)
    if info != 0:
        return None
    pivots = C.diagonal()
    if (pivots**2 / before).min() < MIN_PIVOT:
        return None
    log_z = float(2 * (np.log(pivots).sum() + log_d.sum()))
    if J is None and not with_G:
        T = invert_lower(C)
        return Route(log_z, np.maximum(1.0 - np.einsum("ij,ij->j", T, T) * g, 0.0), None, r, None)
    inverse = inverse_of_factor(C)  # the lower triangle of M^-1
    out = inverse.diagonal() * g  # P(i not in Y) = (A^-1)_ii
    k = np.maximum(1.0 - out, 0.0)
    if J is None:
        return Route(log_z, k, None, r, inverse)
    # K_ij^2 = (M^-1)_ij^2 g_i g_j off the diagonal
    squared = np.square(inverse, out=None if with_G else inverse)
    squared.T.flat[:: len(M) + 1] = 0.0
    H = np.asfortranarray(g[:, None] * J)
    covariance = J.T @ ((k * out)[:, None] * J) - H.T @ blas.dsymm(1.0, squared, H, lower=1)
    return Route(log_z, k, covariance, r, inverse)


def by_rows(eta: FloatArray, rows: FloatArray, J: FloatArray | None) -> Route | None:
    """From the Cholesky factor of the d x d matrix I + B^T B, B = diag(q) rows: K = B (I + B^T B)^-1 B^T."""
    q = np.exp(eta / 2)
    B = q[:, None] * rows
    A = blas.dsyrk(1.0, B.T, lower=1)
    A.T.flat[:: len(A) + 1] += 1.0
    C, info = lapack.dpotrf(A, lower=1, overwrite_a=1)
    if info != 0:
        return None
    W = blas.dtrsm(1.0, C, B.T, lower=1).T  # rows w_i = C^-1 b_i: K_ij = w_i . w_j
    return Route(float(2 * np.log(C.diagonal()).sum()), *row_moments(W, J), q, None, W)


def wide(eta: FloatArray, rows: FloatArray, J: FloatArray | None) -> Route:
    """From an orthogonal factor of [B; I]: slower, but accurate for qualities up to e^600.

    K = Q Q^T, where Q is the upper part of that factor, for rows of B of any length.
    """
    q = np.exp(eta / 2)
    Q, R = stacked_qr(q[:, None] * rows)
    W = Q[: q.size]
    return Route(float(2 * np.log(np.abs(R.diagonal())).sum()), *row_moments(W, J), q, None, W)


def row_moments(W: FloatArray, J: FloatArray | None) -> tuple[FloatArray, FloatArray | None]:
    """Marginals and the covariance of sums of J, from K = W W^T, which is never formed, so that n may be large."""
    k = np.minimum(np.einsum("ij,ij->i", W, W), 1.0)
    if J is None:
        return k, None
    (n, d), m = W.shape, J.shape[1]
    covariance = J.T @ (k[:, None] * J)
    if d**2 * m < n * (d + m):
        # K_ij^2 = (w_i . w_j)^2 is the product of w_i (x) w_i and w_j (x) w_j
        half = np.zeros((d * d, m))
        for start in range(0, n, 4096):
            block = slice(start, start + 4096)
            half += np.einsum("ij,ik->ijk", W[block], W[block]).reshape(-1, d * d).T @ J[block]
        covariance -= half.T @ half
    else:
        for start in range(0, n, 512):
            block = slice(start, start + 512)
            covariance -= J[block].T @ (np.square(W[block] @ W.T) @ J)
    return k, covariance


def invert_lower(C: FloatArray) -> FloatArray:
    """C^-1 of a lower triangular C in column order, in place; it never reads above the diagonal.

    By halves, [[A, 0], [B, D]]^-1 = [[A^-1, 0], [-D^-1 B A^-1, D^-1]]: mostly products, in half the time of `dtrtri`.
    """
    n = len(C)
    if n <= SMALL_TRIANGLE:
        C[:], _ = lapack.dtrtri(C, lower=1)
        return C
    half = n // 2
    A, B, D = C[:half, :half], C[half:, :half], C[half:, half:]
    invert_lower(A)
    invert_lower(D)
    B[:] = blas.dtrmm(-1.0, D, blas.dtrmm(1.0, A, B, side=1, lower=1), lower=1, overwrite_b=1)
    return C


def inverse_of_factor(C: FloatArray) -> FloatArray:
    """The lower triangle of (C C^T)^-1 = C^-T C^-1, in place of C, in two thirds of the time of `dpotri`."""
    return np.asarray(lapack.dlauum(invert_lower(C), lower=1, overwrite_c=1)[0])
