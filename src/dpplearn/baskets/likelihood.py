"""The log-likelihood of baskets in the kernel, with its derivative; how the kernel is made is the factors' business.

With T baskets (weights included) and L = left right^T + diag(diagonal):

    value     sum over baskets of log det L_Y  -  T log det(I + L)
    in L      sum over baskets of scatter(L_Y^-T)  -  T (I + L)^-T  =  G
    in rows   left: G right;  right: G^T left;  diagonal: the diagonal of G

Where it is small L is formed. Else det(I + L) = det(I + right^T left), and nothing larger than the rows is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import linalg

from dpplearn._checks import FloatArray, IntArray, view

DENSE = 1500  # items up to which L is formed
PIECES, SMALL = 8, 20_000  # parts of more than SMALL different baskets
Arrays = tuple[FloatArray, ...]
Spread = Callable[..., Iterable[tuple[float, Arrays]]]


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

    def take(self, which: IntArray, weights: FloatArray) -> BasketShard:
        """Some of the baskets, in this order, with other weights."""
        return BasketShard(*pick(self.indptr, self.indices, which), weights)

    def pieces(self) -> list[BasketShard]:
        """Parts of about the same work, the same ones however many threads there are."""
        n = self.weights.size
        parts = [np.arange(k, n, PIECES) for k in range(PIECES)] if n > SMALL else [np.arange(n)]
        return [self.take(which, self.weights[which]) for which in parts]

    def item_counts(self, n: int) -> FloatArray:
        """In how many baskets each of n items is, by their weights."""
        weights = np.repeat(self.weights, np.diff(self.indptr))
        return np.bincount(self.indices, weights, minlength=n).astype(np.float64)

    def evaluate(self, arrays: Arrays) -> tuple[float, Arrays]:
        """Sum of w log det L_Y over the baskets, and its derivatives: in L, or in the left and the right rows."""
        from dpplearn.baskets._inverse_loops import sum_of_entries, sum_of_rows

        slopes = tuple(np.zeros_like(array) for array in arrays)
        baskets = (view(self.indptr), view(self.indices), view(self.weights))
        loop = sum_of_entries if len(arrays) == 1 else sum_of_rows
        return float(loop(*map(view, arrays), *baskets, *slopes)), slopes


def pick(starts: IntArray, indices: IntArray, which: IntArray) -> tuple[IntArray, IntArray]:
    """Some of the baskets that lie end to end, in this order: where each begins, and their items."""
    sizes = np.diff(starts)[which]
    indptr = np.append(0, np.cumsum(sizes))
    return indptr, indices[np.arange(indptr[-1]) - np.repeat(indptr[:-1] - starts[which], sizes)]


def total_weight(shards: Sequence[BasketShard]) -> float:
    """T, the number of baskets."""
    return float(sum(shard.weights.sum() for shard in shards))


def add_up(shards: Sequence[BasketShard], arrays: Arrays, spread: Spread) -> tuple[float, Arrays]:
    """The evaluations of all shards."""
    value, slopes = 0.0, tuple(np.zeros_like(array) for array in arrays)
    for part, more in spread(lambda shard: shard.evaluate(arrays), shards):
        value += part
        for whole, piece in zip(slopes, more, strict=True):
            whole += piece
    return value, slopes


def log_likelihood(
    shards: Sequence[BasketShard], kernel: KernelRows, spread: Spread = map
) -> tuple[float, FloatArray, FloatArray, FloatArray | None]:
    """Value, and derivatives in left, right and diagonal. The value may be -inf.

    `spread` is `map`, or that of a thread pool; sums are in the order of the shards.
    """
    weight = total_weight(shards)
    left, right, diagonal = kernel
    if kernel.dense:
        L = kernel.L
        value, (G,) = add_up(shards, (L,), spread)
        log_z, inverse = normalizer(L)
        G -= weight * inverse.T
        return value - weight * log_z, G @ right, G.T @ left, None if diagonal is None else G.diagonal().copy()
    value, (G_left, G_right) = add_up(shards, (left, right), spread)
    log_z, P = normalizer(right.T @ left)
    # (I + L)^-T right = right P^T and (I + L)^-1 left = left P, with P = (I + right^T left)^-1
    G_left -= weight * (right @ P.T)
    G_right -= weight * (left @ P)
    return value - weight * log_z, G_left, G_right, None


def normalizer(A: FloatArray) -> tuple[float, FloatArray]:
    """log det(I + A) and (I + A)^-1; the determinant is at least 1."""
    M = A + np.eye(len(A))
    lu, pivots = linalg.lu_factor(M, check_finite=False)
    return float(np.log(np.abs(lu.diagonal())).sum()), linalg.lu_solve((lu, pivots), np.eye(len(A)), check_finite=False)
