"""The log-likelihood of baskets and its derivative in the kernel; `factors` has the kernel's own parameters.

With T baskets (weights included) and L = left right^T + diag(diagonal):

    value     sum over baskets of log det L_Y  -  T log det(I + L)
    in L      sum over baskets of scatter(L_Y^-T)  -  T (I + L)^-T  =  G
    in rows   left: G right;  right: G^T left;  diagonal: the diagonal of G

A small L is formed. Otherwise det(I + L) = det(I + right^T left), and nothing larger than the rows is made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import linalg

from dpplearn._cached import cached_property
from dpplearn._checks import FloatArray, IntArray, view
from dpplearn._precision import singular

MAX_DENSE_ITEMS = 1500  # items up to which L is formed
ROUNDED_OFF = 1e-13  # share of its diagonal up to which a Schur complement is rounding


class KernelRows(NamedTuple):
    """L = left right^T + diag(diagonal)."""

    left: FloatArray
    right: FloatArray
    diagonal: FloatArray | None = None

    @property
    def dense(self) -> bool:
        """Whether to form L, which takes n^3 operations."""
        n, columns = self.left.shape
        return self.diagonal is not None or n <= min(MAX_DENSE_ITEMS, 4 * columns)

    @property
    def L(self) -> FloatArray:
        """The kernel, an n x n array."""
        L: FloatArray = self.left @ self.right.T
        if self.diagonal is not None:
            L.flat[:: len(L) + 1] += self.diagonal
        return L

    def next_scores(self, J: IntArray) -> FloatArray:
        """det L_{J + i} / det L_J of every item i, for a set J of item numbers; -inf for those in it.

        The Schur complement L_ii - L_iJ L_J^-1 L_Ji, of all items at once.
        """
        left, right, diagonal = self
        own, down, across = np.einsum("ij,ij->i", left, right), left @ right[J].T, right @ left[J].T
        block = down[J]
        if diagonal is not None:
            own += diagonal
            block.flat[:: len(block) + 1] += diagonal[J]
        try:
            inverse = np.linalg.inv(block)
        except np.linalg.LinAlgError:
            inverse = np.full(block.shape, np.nan)
        # block is singular but for rounding if a last pivot is nothing beside its diagonal
        if (np.abs(block.diagonal() * inverse.diagonal()) * singular(len(block)) < 1.0).all():
            scores = own - np.einsum("ij,ij->i", down @ inverse, across)
            scores[scores <= ROUNDED_OFF * own] = 0.0
        else:  # J and every larger set have probability 0
            scores = np.zeros(len(left))
        scores[J] = -np.inf
        return np.asarray(scores)


@dataclass(frozen=True, eq=False)
class BasketShard:
    """Different baskets in a row, with weights."""

    indptr: IntArray
    indices: IntArray
    weights: FloatArray

    @cached_property
    def total(self) -> float:
        """T, the number of baskets."""
        return float(self.weights.sum())

    def evaluate(self, *arrays: FloatArray) -> tuple[float, list[FloatArray]]:
        """Sum of w log det L_Y over the baskets, and its derivatives in L, left and right.

        Either L or the rows are empty.
        """
        from dpplearn.baskets._inverse_loops import sum_over_baskets

        slopes = [np.zeros_like(array) for array in arrays]
        baskets = (view(self.indptr), view(self.indices), view(self.weights))
        return float(sum_over_baskets(*map(view, arrays), *baskets, *slopes)), slopes


def pick(starts: IntArray, indices: IntArray, which: IntArray) -> tuple[IntArray, IntArray]:
    """Some of the baskets in a row, in this order: where each begins, and their items."""
    sizes = np.diff(starts)[which]
    indptr = np.append(0, np.cumsum(sizes))
    return indptr, indices[np.arange(indptr[-1]) - np.repeat(indptr[:-1] - starts[which], sizes)]


def total_log_prob(shard: BasketShard, kernel: KernelRows) -> tuple[float, FloatArray, FloatArray, FloatArray | None]:
    """The value, which may be -inf, and derivatives in left, right and diagonal."""
    (left, right, diagonal), T, empty = kernel, shard.total, np.empty((0, 0))
    if kernel.dense:
        L = kernel.L
        value, (G, _, _) = shard.evaluate(L, empty, empty)
        log_z, inverse = normalizer(L)
        G -= T * inverse.T
        return value - T * log_z, G @ right, G.T @ left, None if diagonal is None else G.diagonal().copy()
    value, (_, G_left, G_right) = shard.evaluate(empty, left, right)
    log_z, P = normalizer(right.T @ left)
    # (I + L)^-T right = right P^T and (I + L)^-1 left = left P, with P = (I + right^T left)^-1
    return value - T * log_z, G_left - T * (right @ P.T), G_right - T * (left @ P), None


def normalizer(A: FloatArray) -> tuple[float, FloatArray]:
    """log det(I + A) and (I + A)^-1; the determinant is at least 1."""
    M = A + np.eye(len(A))
    lu, pivots = linalg.lu_factor(M, check_finite=False)
    return float(np.log(np.abs(lu.diagonal())).sum()), linalg.lu_solve((lu, pivots), np.eye(len(A)), check_finite=False)
