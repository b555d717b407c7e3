"""log det(I + L), marginals, covariances and the derivatives in a mixture's weights, by three routes.

With A = I + L, L = diag(q) S diag(q) and eta = 2 log q:

    d log det A / d eta_i = K_ii,   K = I - A^-1        d log det A / dS = G = diag(q) A^-1 diag(q)
    Cov(i in Y, j in Y) = -K_ij^2 for i != j, and K_ii (1 - K_ii) for i = j

The nugget, what each item has of its own, is taken out first. With S = nugget I + shared and D = I + nugget diag(q^2),

    A = D^1/2 (I + L') D^1/2,   L' = diag(q') shared diag(q'),   q'^2 = q^2 / (1 + nugget q^2) <= 1 / nugget,

so that the routes see a DPP with the kernel L', whose G is the same.

S is linear in the weights of a mixture, S = sum of w_a C_a, and so

    d log det A / dw_a = <G, C_a>,   d^2 / dw_a dw_b = -<G C_a, C_b G>,   dK_ii / dw_a = (G C_a G)_ii / q_i^2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import blas, lapack

from dpplearn._checks import FloatArray, IntArray
from dpplearn._linalg import (
    inverse_of_factor,
    invert_lower,
    reduced_rows,
    reduced_similarity,
    stacked_qr,
    to_dense,
)
from dpplearn._precision import MIN_PIVOT, WIDE
from dpplearn.learning._loops import mirrored, pack
from dpplearn.learning.itemset import ItemSet
from dpplearn.learning.similarity import Mixture, Similarity

LOG_WIDE = float(np.log(WIDE))
ROWS = 0.7  # products with features take less than with matrices where they are fewer than this share of all columns


class Normalizer(NamedTuple):
    """log Z, the marginals K_ii, and where they are asked for the covariance of sums of J over Y and derivatives."""

    log_z: float
    marginals: FloatArray
    covariance: FloatArray | None = None
    slopes: FloatArray | None = None  # of log Z in the weights of a mixture,
    curvature: FloatArray | None = None  # its second derivatives,
    moved: FloatArray | None = None  # and the derivatives of the marginals, (n, weights)
    error: float = 0.0  # of the slopes, relative, where it is worth telling


class ItemSimilarity:
    """S of one item set as the routes want it: a matrix, rows, or columns in the order of quality.

    What is dense and given stays in memory; similarities of sparse phi, which is far smaller, and those that are
    learned are made for each evaluation.
    """

    def __init__(self, items: ItemSet, similarity: Similarity) -> None:
        self.items, self.similarity, self.nugget = items, similarity, similarity.nugget
        rare = any(sparse.issparse(part.phi) for part in items.parts)
        self.keep = not (rare or isinstance(similarity, Mixture))
        self.kept: FloatArray | None = None

    def matrix(self) -> FloatArray:
        """S itself."""
        S = self.similarity.matrix(self.items) if self.kept is None else self.kept
        self.kept = S if self.keep else None
        return S

    def rows(self) -> FloatArray:
        """Rows with shared = rows rows^T."""
        rows = self.similarity.rows(self.items)
        assert rows is not None  # asked for where there are some
        return rows

    def factor(self, log_q: FloatArray) -> FloatArray:
        """Independent columns with shared = rows rows^T, in which what depends on better items is exactly 0."""
        scale = np.sqrt(1 - self.nugget)  # rows of length 1 are reduced, and the kernel of qualities q scale
        rank = self.similarity.rank(self.items)
        if rank is not None and rank <= 4 * self.items.n:
            return scale * reduced_rows(self.rows() / scale, log_q).T
        M = self.matrix()
        if self.nugget > 0:
            M = M / (1 - self.nugget)
            M.flat[:: len(M) + 1] = 1.0
        return scale * reduced_similarity(M, log_q).T


@dataclass(frozen=True, eq=False)
class SimilarityGradient:
    """G = d log Z / dS = diag(r) X diag(r), from the lower triangle of X, or from rows W with X = I - W W^T."""

    r: FloatArray
    X: FloatArray | None
    W: FloatArray | None = None

    def times(self, V: FloatArray) -> FloatArray:
        """G V."""
        x = self.r[:, None] * V
        if self.X is not None:
            return self.r[:, None] * blas.dsymm(1.0, self.X, np.asfortranarray(x), lower=1)
        assert self.W is not None
        return self.r[:, None] * (x - self.W @ (self.W.T @ x))

    def lower(self) -> FloatArray:
        """X itself."""
        if self.W is None:
            assert self.X is not None
            return self.X
        return np.asarray(np.eye(self.r.size) - self.W @ self.W.T)

    def trace(self) -> float:
        """<G, I>."""
        x = 1 - np.einsum("ij,ij->i", self.W, self.W) if self.W is not None else self.lower().diagonal()
        return float(self.r**2 @ x)

    def squares(self) -> FloatArray:
        """The diagonal of G^2."""
        r2 = self.r**2
        if self.W is None:
            return np.asarray(r2 * blas.dsymv(1.0, np.square(self.lower()), r2, lower=1))
        # with P = I - W W^T: the sum over j of r_i^2 P_ij^2 r_j^2, without P
        inner = np.einsum("ij,ij->i", self.W @ (self.W.T @ (r2[:, None] * self.W)), self.W)
        return np.asarray(r2 * np.maximum(r2 * (1 - 2 * np.einsum("ij,ij->i", self.W, self.W)) + inner, 0.0))


def normalize(eta: FloatArray, S: ItemSimilarity, J: FloatArray | None, weights: bool, dual: bool) -> Normalizer:
    """By the route of choice: `dual` where rows are few. With J = d eta / d parameters, the covariance too.

    With `weights`, the derivatives in those of a mixture: the first ones, and with J the second ones.
    """
    log_D = np.logaddexp(0.0, eta + np.log(S.nugget)) if S.nugget > 0 else np.zeros(eta.size)
    s, inner = np.exp(-log_D), eta - log_D
    J_inner = J if J is None or S.nugget == 0 else s[:, None] * J
    found = None
    if not dual:
        found = primal(inner, S.matrix(), S.nugget, J_inner, weights)
    elif inner.max() <= LOG_WIDE:
        found = by_rows(inner, S.rows(), J_inner)
    if found is None:  # qualities too large, or items too alike, for a Cholesky factor to be accurate
        found = wide(inner, S.factor(inner / 2), J_inner)
    log_z, k, covariance, G = found
    if S.nugget > 0:
        absent = 1.0 - k
        # K = I - D^-1/2 (I - K') D^-1/2: K_ii = 1 - s_i (1 - K'_ii), and K_ij^2 = s_i s_j K'_ij^2
        log_z, k = log_z + float(log_D.sum()), np.clip(1.0 - s * absent, 0.0, 1.0)
        if covariance is not None and J is not None:
            covariance = symmetric(covariance + J.T @ ((s * -np.expm1(-log_D) * absent)[:, None] * J))
    if not weights:
        return Normalizer(log_z, k, covariance)
    slopes, products, diagonals = in_weights(S, G, J is not None)
    if products is None or diagonals is None:
        return Normalizer(log_z, k, covariance, slopes)
    with np.errstate(over="ignore", invalid="ignore"):
        moved = np.where(diagonals > 0, diagonals * np.exp(-eta)[:, None], 0.0)
    return Normalizer(log_z, k, covariance, slopes, -products, moved)


Route = tuple[float, FloatArray, FloatArray | None, SimilarityGradient]  # log Z, marginals, covariance and G


def primal(eta: FloatArray, S: FloatArray, nugget: float, J: FloatArray | None, with_G: bool) -> Route | None:
    """From the Cholesky factor of A = I + L, L of S - nugget I; None where A is too close to singular.

    A = diag(d) M diag(d) with d = max(1, q), so that M = diag(1/d^2) + diag(q/d) S diag(q/d) has entries
    of at most 2 whatever q is, and A^-1 = diag(1/d) M^-1 diag(1/d).
    """
    log_d = np.maximum(eta / 2, 0.0)
    r, g = np.exp(eta / 2 - log_d), np.exp(-2 * log_d)  # q / d and 1 / d^2
    M = S * r[:, None]
    M *= r
    M.flat[:: len(M) + 1] += g if nugget == 0 else g - nugget * r**2
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
        return log_z, np.maximum(1.0 - np.einsum("ij,ij->j", T, T) * g, 0.0), None, SimilarityGradient(r, None)
    inverse = inverse_of_factor(C)  # the lower triangle of M^-1
    out = inverse.diagonal() * g  # P(i not in Y) = (A^-1)_ii
    k, G = np.maximum(1.0 - out, 0.0), SimilarityGradient(r, inverse)
    if J is None:
        return log_z, k, None, G
    # K_ij^2 = (M^-1)_ij^2 g_i g_j off the diagonal
    squared = np.square(inverse, out=None if with_G else inverse)
    squared.T.flat[:: len(M) + 1] = 0.0
    H = np.asfortranarray(g[:, None] * J)
    covariance = J.T @ ((k * out)[:, None] * J) - H.T @ blas.dsymm(1.0, squared, H, lower=1)
    return log_z, k, symmetric(covariance), G


def by_rows(eta: FloatArray, rows: FloatArray, J: FloatArray | None) -> Route | None:
    """The dual: from the Cholesky factor of the d x d matrix I + B^T B, B = diag(q) rows: K = B (I + B^T B)^-1 B^T."""
    q = np.exp(eta / 2)
    B = q[:, None] * rows
    A = blas.dsyrk(1.0, B.T, lower=1)
    A.T.flat[:: len(A) + 1] += 1.0
    C, info = lapack.dpotrf(A, lower=1, overwrite_a=1)
    if info != 0:
        return None
    W = blas.dtrsm(1.0, C, B.T, lower=1).T  # rows w_i = C^-1 b_i: K_ij = w_i . w_j
    return float(2 * np.log(C.diagonal()).sum()), *moments(W, J), SimilarityGradient(q, None, W)


def wide(eta: FloatArray, rows: FloatArray, J: FloatArray | None) -> Route:
    """From an orthogonal factor of [B; I]: slower, and accurate for qualities up to e^600.

    K = Q Q^T where Q is the upper part of that factor, whatever the lengths of the rows of B.
    """
    q = np.exp(eta / 2)
    Q, R = stacked_qr(q[:, None] * rows)
    W = Q[: q.size]
    return float(2 * np.log(np.abs(R.diagonal())).sum()), *moments(W, J), SimilarityGradient(q, None, W)


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


# Derivatives in the weights of a mixture: of I, of 11^T, and of each part


def in_weights(
    S: ItemSimilarity, G: SimilarityGradient, second: bool
) -> tuple[FloatArray, FloatArray | None, FloatArray | None]:
    """<G, C_a> of each weight and, if asked for, <G C_a, C_b G> and the diagonals of G C_a G."""
    items, n = S.items, S.items.n
    order = weight_order(S)
    if has_few_rows(items) if second else (G.W is not None and items.phi is not None):
        U, starts = weight_rows(items)
        GU = G.times(U)
        slopes = np.append(G.trace(), np.add.reduceat(np.einsum("ij,ij->j", U, GU), starts))[order]
        if not second:
            return slopes, None, None
        diagonals = np.column_stack([G.squares(), np.add.reduceat(np.square(GU), starts, axis=1)])
        products = np.empty((len(slopes), len(slopes)))
        inner = np.square(U.T @ GU)
        products[1:, 1:] = np.add.reduceat(np.add.reduceat(inner, starts, axis=0), starts, axis=1)
    else:
        packed = np.asarray(pack(G.lower().T, G.r))
        slopes = np.concatenate([[G.trace(), packed.sum()], items.packed_cosines @ packed])[order]
        if not second:
            return slopes, None, None
        D = np.asfortranarray(mirrored(G.lower().T, G.r))  # G, whole
        diagonals, products = np.empty((n, len(slopes))), np.empty((len(slopes), len(slopes)))
        g, diagonals[:, 0] = D.sum(axis=1), G.squares()
        diagonals[:, 1], products[1, 1] = g**2, g.sum() ** 2
        before: list[FloatArray] = []  # (G C_b)^T entry by entry
        for a, C in enumerate(part_triangles(items), start=2):
            P = blas.dsymm(1.0, C, D, side=1, lower=1)  # G C_a
            diagonals[:, a] = np.einsum("ij,ij->i", P, D)
            products[1, a] = products[a, 1] = g @ P.sum(axis=0)  # 1^T G C_a G 1
            before.append(P.T.ravel())
            turned = P.ravel()
            products[a, 2 : a + 1] = products[2 : a + 1, a] = [turned @ one for one in before]
    products[0] = products[:, 0] = diagonals.sum(axis=0)  # <G, C_a G>
    return slopes, products[np.ix_(order, order)], diagonals[:, order]


def weight_order(S: ItemSimilarity) -> IntArray:
    """For each weight of the mixture, the place of its C_a among I, 11^T and the parts of the item set."""
    assert isinstance(S.similarity, Mixture)
    places = S.similarity.places(S.items)
    parts = np.arange(len(S.items.parts)) if places is None else places
    return np.concatenate([[0, 1], parts + 2])


def has_few_rows(items: ItemSet) -> bool:
    """Whether products with the features of all parts take less than products with their matrices."""
    return items.phi is not None and bool(items.part_ends[-1] < ROWS * items.n * len(items.parts))


def weight_rows(items: ItemSet) -> tuple[FloatArray, IntArray]:
    """Columns U with C_a = U_a U_a^T, for 11^T and the parts, and where those of each begin."""
    U = np.column_stack([np.ones(items.n), to_dense(items.phi) * np.sqrt(len(items.parts))])
    return U, np.concatenate([[0], items.part_ends[:-1] + 1])


def part_triangles(items: ItemSet) -> Iterator[FloatArray]:
    """The lower triangle of each part's cosines, in the order that LAPACK wants."""
    for packed in items.packed_cosines:
        yield lapack.dtpttr(items.n, packed, uplo="L")[0]  # rows above the diagonal are columns below


def symmetric(A: FloatArray) -> FloatArray:
    return np.asarray(A + A.T) / 2
