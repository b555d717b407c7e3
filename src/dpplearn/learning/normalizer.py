"""log det(I + L), marginals, covariances and the derivative in S, by three routes.

With A = I + L, L = diag(q) S diag(q) and eta = 2 log q:

    d log det A / d eta_i = K_ii,   K = I - A^-1        d log det A / dS = G = diag(q) A^-1 diag(q)
    Cov(i in Y, j in Y) = -K_ij^2 for i != j, and K_ii (1 - K_ii) for i = j

What each item has of its own, S = own I + shared, is taken out first: with D = I + own diag(q^2),

    A = D^1/2 (I + L') D^1/2,   L' = diag(q') shared diag(q'),   q'^2 = q^2 / (1 + own q^2) <= 1 / own,

so that the routes see a DPP with the kernel L', whose G is the same.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import linalg, sparse
from scipy.linalg import blas, lapack

from dpplearn._checks import FloatArray
from dpplearn._linalg import inverse_of_factor, invert_lower, reduced_rows, reduced_similarity, stacked_qr
from dpplearn._precision import MIN_PIVOT, WIDE
from dpplearn.learning._packed_loops import mirrored, pack
from dpplearn.learning.similarity.learned import Learned
from dpplearn.learning.similarity.record import Derivative, Direction, Items, Similarity

LOG_WIDE = float(np.log(WIDE))


class Normalizer(NamedTuple):
    """log det(I + L), the marginals K_ii, the covariance of sums of J over Y, and G; the last two where asked for."""

    log_z: float
    marginals: FloatArray
    covariance: FloatArray | None
    G: Derivative | None
    error: float = 0.0  # of G, relative, where it is worth telling


class Operand:
    """S of one item set as the routes want it: a matrix, rows, or columns in the order of quality.

    What is dense and given stays in memory; similarities of sparse phi, which is far smaller, and those that are
    learned are made for each evaluation.
    """

    def __init__(self, items: Items, similarity: Similarity) -> None:
        self.items, self.similarity, self.own = items, similarity, similarity.own
        rare = any(sparse.issparse(part.phi) for part in items.parts)
        self.keep = not (rare or isinstance(similarity, Learned))  # that changes each time
        self._kept: FloatArray | None = None

    def matrix(self) -> FloatArray:
        """S itself."""
        S = self.similarity.matrix(self.items) if self._kept is None else self._kept
        self._kept = S if self.keep else None
        return S

    def rows(self) -> FloatArray:
        """Rows with shared = rows rows^T."""
        rows = self.similarity.rows(self.items)
        assert rows is not None  # asked for where there are some
        return rows

    def factor(self, log_q: FloatArray) -> FloatArray:
        """Independent columns with shared = rows rows^T, in which what depends on better items is exactly 0."""
        scale = np.sqrt(1 - self.own)  # rows of length 1 are reduced, and the kernel of qualities q scale
        rank = self.similarity.rank(self.items)
        if rank is not None and rank <= 4 * self.items.n:
            return scale * reduced_rows(self.rows() / scale, log_q).T
        M = self.matrix()
        if self.own > 0:
            M = M / (1 - self.own)
            M.flat[:: len(M) + 1] = 1.0
        return scale * reduced_similarity(M, log_q).T

    @property
    def nbytes(self) -> int:
        """Of what stays in memory."""
        return 0 if self._kept is None else self._kept.nbytes


class OfDeterminant(Derivative):
    """G = diag(q) (I + L)^-1 diag(q), the derivative of log det(I + L): it knows how that bends along directions.

    d^2 log det(I + L) = -<G C_a, C_b G>, and dK_ii = (G C_a G)_ii / q_i^2.
    """

    @abstractmethod
    def squares(self) -> FloatArray:
        """The diagonal of G^2."""

    @abstractmethod
    def dense(self) -> FloatArray:
        """G as an n x n array."""

    def curvature(self, directions: Sequence[Direction], eta: FloatArray) -> tuple[FloatArray, FloatArray]:
        n, p = eta.size, len(directions)
        second, diagonal = np.zeros((p, p)), np.empty((n, p))
        if all(way.rows is not None for way in directions[1:]):
            ends = np.cumsum([0, *(0 if way.rows is None else way.rows.shape[1] for way in directions)])
            U = np.hstack([way.rows for way in directions if way.rows is not None])
            GU = self.times(U)
            Z, squared = np.square(U.T @ GU), np.square(GU)
            for a, way in enumerate(directions):
                mine = slice(ends[a], ends[a + 1])
                diagonal[:, a] = self.squares() if way.rows is None else squared[:, mine].sum(axis=1)
                for b in range(a + 1):
                    if way.rows is None or directions[b].rows is None:  # <G, C_a G>, or <G, G>
                        second[a, b] = diagonal[:, a].sum()
                    else:
                        second[a, b] = Z[mine, ends[b] : ends[b + 1]].sum()
        else:  # I, 11^T, and matrices
            G = np.asfortranarray(self.dense())
            g, diagonal[:, 0] = G.sum(axis=1), self.squares()
            diagonal[:, 1] = g**2
            second[1, 1] = g.sum() ** 2
            flat: list[FloatArray] = []  # (G C_b)^T of those before, entry by entry
            for a, way in enumerate(directions[2:], start=2):
                P = blas.dsymm(1.0, way.triangle(n), G, side=1, lower=1)  # G C_a
                diagonal[:, a] = np.einsum("ij,ij->i", P, G)
                second[a, 1] = g @ P.sum(axis=0)  # 1^T G C_a G 1
                flat.append(P.T.ravel())
                turned = P.ravel()
                second[a, 2 : a + 1] = [turned @ one for one in flat]  # <G C_a, C_b G>
            second[:, 0] = diagonal.sum(axis=0)  # <G, C_a G>
        second = np.tril(second) + np.tril(second, -1).T
        with np.errstate(over="ignore", invalid="ignore"):
            ratio = np.where(diagonal > 0, diagonal * np.exp(-eta)[:, None], 0.0)
        return -second, ratio


@dataclass(frozen=True, eq=False)
class Inverse(OfDeterminant):
    """G = diag(r) X diag(r), from the lower triangle of X."""

    X: FloatArray
    r: FloatArray
    shared: float

    def packed(self) -> FloatArray:
        return np.asarray(pack(self.X.T, self.r))

    def dense(self) -> FloatArray:
        return np.asarray(mirrored(self.X.T, self.r))

    def squares(self) -> FloatArray:
        r2 = self.r**2
        return np.asarray(r2 * blas.dsymv(1.0, np.square(self.X), r2, lower=1))

    def trace(self) -> float:
        return float(self.r**2 @ self.X.diagonal())

    def times(self, V: FloatArray) -> FloatArray:
        return self.r[:, None] * blas.dsymm(1.0, self.X, np.asfortranarray(self.r[:, None] * V), lower=1)

    def inner(self, C: FloatArray) -> float:
        lower = np.tril(self.X) * C
        return float(2 * self.r @ lower @ self.r - self.r**2 @ lower.diagonal())


@dataclass(frozen=True, eq=False)
class Complement(OfDeterminant):
    """G = diag(q) (I - W W^T) diag(q) for K' = W W^T.

    The accurate route also has rows and the lower part of its orthogonal factor. Where v = rows c, as 1 is for every
    rho > 0, diag(q) v = B c and v^T G v = c^T (I - (I + B^T B)^-1) c, in which (I + B^T B)^-1 = lower lower^T: nothing
    large cancels. Otherwise the part of v outside the span is large, and q^T (I - K) q with it.
    """

    q: FloatArray
    W: FloatArray
    shared: float
    rows: FloatArray | None = None
    lower: FloatArray | None = None

    def dense(self) -> FloatArray:
        return np.asarray(self.q[:, None] * (np.eye(self.q.size) - self.W @ self.W.T) * self.q)

    def squares(self) -> FloatArray:
        # with P = I - W W^T: sum over j of q_i^2 P_ij^2 q_j^2
        q2 = self.q**2
        inner = np.einsum("ij,ij->i", self.W @ (self.W.T @ (q2[:, None] * self.W)), self.W)
        return np.asarray(q2 * np.maximum(q2 * (1 - 2 * np.einsum("ij,ij->i", self.W, self.W)) + inner, 0.0))

    def trace(self) -> float:
        if self.rows is not None:
            return float(self.quadratics(np.eye(self.q.size)).sum())
        return float(self.q**2 @ (1 - np.einsum("ij,ij->i", self.W, self.W)))

    def quadratics(self, V: FloatArray) -> FloatArray:
        out, far = np.empty(V.shape[1]), np.ones(V.shape[1], np.bool_)
        if self.rows is not None and self.lower is not None:
            c = linalg.lstsq(self.rows, V, check_finite=False)[0]
            far = np.abs(self.rows @ c - V).max(axis=0) >= 1e-10
            out[~far] = squares(c[:, ~far]) - squares(self.lower.T @ c[:, ~far])
        if far.any():
            x = self.q[:, None] * V[:, far]
            size = np.maximum(np.abs(x).max(axis=0), np.finfo(np.float64).tiny)
            with np.errstate(over="ignore"):  # of qualities beyond e^300, inf is the answer
                out[far] = np.maximum(squares(x / size) - squares(self.W.T @ (x / size)), 0.0) * size**2
        return out

    def times(self, V: FloatArray) -> FloatArray:
        x = self.q[:, None] * V
        return self.q[:, None] * (x - self.W @ (self.W.T @ x))


def normalize(eta: FloatArray, S: Operand, J: FloatArray | None, with_G: bool, dual: bool) -> Normalizer:
    """By the route of choice: `dual` where rows are few. With J = d eta / d parameters, the covariance too."""
    if S.own == 0:
        return shared_part(eta, S, J, with_G, dual)
    log_D = np.logaddexp(0.0, eta + np.log(S.own))
    s = np.exp(-log_D)
    z = shared_part(eta - log_D, S, None if J is None else s[:, None] * J, with_G, dual)
    absent = 1.0 - z.marginals
    # K = I - D^-1/2 (I - K') D^-1/2: K_ii = 1 - s_i (1 - K'_ii), and K_ij^2 = s_i s_j K'_ij^2
    covariance = z.covariance
    if covariance is not None and J is not None:
        covariance = symmetric(covariance + J.T @ ((s * -np.expm1(-log_D) * absent)[:, None] * J))
    return Normalizer(z.log_z + float(log_D.sum()), np.clip(1.0 - s * absent, 0.0, 1.0), covariance, z.G)


def shared_part(eta: FloatArray, S: Operand, J: FloatArray | None, with_G: bool, dual: bool) -> Normalizer:
    """Of the kernel L' = diag(q) shared diag(q), q = exp(eta / 2)."""
    found = None
    if not dual:
        found = primal(eta, S.matrix(), S.own, J, with_G)
    elif eta.max() <= LOG_WIDE:
        found = by_rows(eta, S.rows(), J, with_G)
    if found is None:  # qualities too large, or items too alike, for a Cholesky factor to be accurate
        found = wide(eta, S.factor(eta / 2), J, with_G)
    return found


def primal(eta: FloatArray, S: FloatArray, own: float, J: FloatArray | None, with_G: bool) -> Normalizer | None:
    """From the Cholesky factor of A = I + L, L of S - own I; None where A is too close to singular.

    A = diag(d) M diag(d) with d = max(1, q), so that M = diag(1/d^2) + diag(q/d) S diag(q/d) has entries
    of at most 2 whatever q is, and A^-1 = diag(1/d) M^-1 diag(1/d).
    """
    log_d = np.maximum(eta / 2, 0.0)
    r, g = np.exp(eta / 2 - log_d), np.exp(-2 * log_d)  # q / d and 1 / d^2
    M = S * r[:, None]
    M *= r
    M.flat[:: len(M) + 1] += g if own == 0 else g - own * r**2
    before = M.diagonal().copy()
    C, info = lapack.dpotrf(M.T, lower=1, overwrite_a=1, clean=J is None)
    if info != 0:
        return None
    pivots = C.diagonal()
    if (pivots**2 / before).min() < MIN_PIVOT:
        return None
    log_z = float(2 * (np.log(pivots).sum() + log_d.sum()))
    if J is None and not with_G:
        T = invert_lower(C)
        return Normalizer(log_z, np.maximum(1.0 - np.einsum("ij,ij->j", T, T) * g, 0.0), None, None)
    inverse = inverse_of_factor(C)  # the lower triangle of M^-1
    out = inverse.diagonal() * g  # P(i not in Y) = (A^-1)_ii
    k = np.maximum(1.0 - out, 0.0)
    G = Inverse(inverse, r, float(k.sum())) if with_G else None
    if J is None:
        return Normalizer(log_z, k, None, G)
    # K_ij^2 = (M^-1)_ij^2 g_i g_j off the diagonal
    squared = np.square(inverse, out=None if with_G else inverse)
    squared.T.flat[:: len(M) + 1] = 0.0
    H = np.asfortranarray(g[:, None] * J)
    covariance = J.T @ ((k * out)[:, None] * J) - H.T @ blas.dsymm(1.0, squared, H, lower=1)
    return Normalizer(log_z, k, symmetric(covariance), G)


def by_rows(eta: FloatArray, rows: FloatArray, J: FloatArray | None, with_G: bool) -> Normalizer | None:
    """The dual: from the Cholesky factor of the d x d matrix I + B^T B, B = diag(q) rows: K = B (I + B^T B)^-1 B^T."""
    q = np.exp(eta / 2)
    B = q[:, None] * rows
    A = blas.dsyrk(1.0, B.T, lower=1)
    A.T.flat[:: len(A) + 1] += 1.0
    C, info = lapack.dpotrf(A, lower=1, overwrite_a=1)
    if info != 0:
        return None
    W = blas.dtrsm(1.0, C, B.T, lower=1).T  # rows w_i = C^-1 b_i: K_ij = w_i . w_j
    k, covariance = moments(W, J)
    G = Complement(q, W, float(k.sum())) if with_G else None
    return Normalizer(float(2 * np.log(C.diagonal()).sum()), k, covariance, G)


def wide(eta: FloatArray, rows: FloatArray, J: FloatArray | None, with_G: bool) -> Normalizer:
    """From an orthogonal factor of [B; I]: slower, and accurate for qualities up to e^600.

    K = Q Q^T where Q is the upper part of that factor, whatever the lengths of the rows of B.
    """
    q = np.exp(eta / 2)
    n = q.size
    Q, R = stacked_qr(q[:, None] * rows)
    k, covariance = moments(Q[:n], J)
    G = Complement(q, Q[:n], float(k.sum()), rows, Q[n:]) if with_G else None
    return Normalizer(float(2 * np.log(np.abs(R.diagonal())).sum()), k, covariance, G)


def moments(W: FloatArray, J: FloatArray | None) -> tuple[FloatArray, FloatArray | None]:
    """Marginals and the covariance of sums of J, from K = W W^T; never forms K, so that n may be large."""
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
    return k, symmetric(covariance)


def symmetric(A: FloatArray) -> FloatArray:
    return np.asarray(A + A.T) / 2


def squares(X: FloatArray) -> FloatArray:
    """x . x of each column."""
    return np.einsum("ij,ij->j", X, X)
