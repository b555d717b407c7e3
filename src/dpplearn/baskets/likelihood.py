"""The log-likelihood of baskets in the kernel, with its derivative; how the kernel is made is the factors' business.

With T baskets (weights included) and L = left right^T + diag(diagonal):

    value     sum over baskets of log det L_Y  -  T log det(I + L)
    in L      sum over baskets of scatter(L_Y^-T)  -  T (I + L)^-T  =  G
    in rows   left: G right;  right: G^T left;  diagonal: the diagonal of G

Where it is small L is formed. Else det(I + L) = det(I + right^T left), and nothing larger than the rows is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import linalg

from dpplearn._cached import cached_property
from dpplearn._checks import FloatArray, IntArray, view

DENSE = 1500  # items up to which L is formed
PIECES, SMALL = 8, 20_000  # parts of more than SMALL different baskets
Spread = Callable[..., Iterable[tuple[float, list[FloatArray]]]]  # `map`, or that of a thread pool


class KernelRows(NamedTuple):
    """L = left right^T + diag(diagonal)."""

    left: FloatArray
    right: FloatArray
    diagonal: FloatArray | None = None

    @property
    def dense(self) -> bool:
        """Whether to form L: n^3 operations, against some for each pair of items in each basket."""
        n, columns = self.left.shape
        return self.diagonal is not None or n <= min(DENSE, 4 * columns)

    @property
    def L(self) -> FloatArray:
        """The kernel, an n x n array."""
        L: FloatArray = self.left @ self.right.T
        if self.diagonal is not None:
            L.flat[:: len(L) + 1] += self.diagonal
        return L


@dataclass(frozen=True, eq=False)
class BasketShard:
    """Different baskets end to end, with weights."""

    indptr: IntArray
    indices: IntArray
    weights: FloatArray

    @cached_property
    def total(self) -> float:
        """T, the number of baskets."""
        return float(self.weights.sum())

    def take(self, which: IntArray, weights: FloatArray) -> BasketShard:
        """Some of the baskets, in this order, with other weights."""
        return BasketShard(*pick(self.indptr, self.indices, which), weights)

    @cached_property
    def pieces(self) -> list[BasketShard]:
        """Parts of about the same work, the same ones however many threads there are."""
        n = self.weights.size
        parts = [np.arange(k, n, PIECES) for k in range(PIECES)] if n > SMALL else [np.arange(n)]
        return [self.take(which, self.weights[which]) for which in parts]

    def item_counts(self, n: int) -> FloatArray:
        """In how many baskets each of n items is, by their weights."""
        weights = np.repeat(self.weights, np.diff(self.indptr))
        return np.bincount(self.indices, weights, minlength=n).astype(np.float64)

    def evaluate(self, *arrays: FloatArray) -> tuple[float, list[FloatArray]]:
        """Sum of w log det L_Y over the baskets, and its derivatives in L, or in the left and the right rows.

        Either L or the rows are empty.
        """
        from dpplearn.baskets._inverse_loops import sum_over_baskets

        slopes = [np.zeros_like(array) for array in arrays]
        baskets = (view(self.indptr), view(self.indices), view(self.weights))
        return float(sum_over_baskets(*map(view, arrays), *baskets, *slopes)), slopes


def pick(starts: IntArray, indices: IntArray, which: IntArray) -> tuple[IntArray, IntArray]:
    """Some of the baskets that lie end to end, in this order: where each begins, and their items."""
    sizes = np.diff(starts)[which]
    indptr = np.append(0, np.cumsum(sizes))
    return indptr, indices[np.arange(indptr[-1]) - np.repeat(indptr[:-1] - starts[which], sizes)]


def log_likelihood(
    shard: BasketShard, kernel: KernelRows, spread: Spread = map
) -> tuple[float, FloatArray, FloatArray, FloatArray | None]:
    """Value, and derivatives in left, right and diagonal; sums are in the order of the pieces. It may be -inf."""
    (left, right, diagonal), T, empty = kernel, shard.total, np.empty((0, 0))
    arrays = (kernel.L, empty, empty) if kernel.dense else (empty, left, right)
    (value, (G, G_left, G_right)), *others = spread(lambda piece: piece.evaluate(*arrays), shard.pieces)
    for part, slopes in others:
        value += part
        G, G_left, G_right = G + slopes[0], G_left + slopes[1], G_right + slopes[2]
    if kernel.dense:
        log_z, inverse = normalizer(arrays[0])
        G = G - T * inverse.T
        return value - T * log_z, G @ right, G.T @ left, None if diagonal is None else G.diagonal().copy()
    log_z, P = normalizer(right.T @ left)
    # (I + L)^-T right = right P^T and (I + L)^-1 left = left P, with P = (I + right^T left)^-1
    return value - T * log_z, G_left - T * (right @ P.T), G_right - T * (left @ P), None


def normalizer(A: FloatArray) -> tuple[float, FloatArray]:
    """log det(I + A) and (I + A)^-1; the determinant is at least 1."""
    M = A + np.eye(len(A))
    lu, pivots = linalg.lu_factor(M, check_finite=False)
    return float(np.log(np.abs(lu.diagonal())).sum()), linalg.lu_solve((lu, pivots), np.eye(len(A)), check_finite=False)
