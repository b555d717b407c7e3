"""The log-likelihood of baskets in the kernel, with its derivative; how the kernel is made is the factors' business.

With T baskets (weights included) and L = left right^T + diag(own):

    value     sum over baskets of log det L_Y  -  T log det(I + L)
    in L      sum over baskets of scatter(L_Y^-T)  -  T (I + L)^-T  =  G
    in rows   left: G right;  right: G^T left;  own: the diagonal of G

Where it is small L is formed. Else det(I + L) = det(I + right^T left), and nothing larger than the rows is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import linalg

from dpplearn._checks import FloatArray, IntArray, view

DENSE = 1500  # items up to which L is formed


class Kernel(NamedTuple):
    """L = left right^T + diag(own)."""

    left: FloatArray
    right: FloatArray
    own: FloatArray | None = None

    @property
    def dense(self) -> bool:
        """Whether to form L: n^3 operations, against some for each pair of items in each basket."""
        n, columns = self.left.shape
        return self.own is not None or n <= min(DENSE, 4 * columns)

    @property
    def L(self) -> FloatArray:
        """The kernel, an n x n array."""
        L: FloatArray = self.left @ self.right.T
        if self.own is not None:
            L.flat[:: len(L) + 1] += self.own
        return L


class Slopes(NamedTuple):
    """A log-likelihood and its derivatives: in L, or in left and right rows; in both with respect to own."""

    value: float
    parts: tuple[FloatArray, ...]


class Question(NamedTuple):
    """What shards are asked: the sums over their baskets, for L itself or for two sides of rows."""

    arrays: tuple[FloatArray, ...]

    def total(self, weighted: Iterable[tuple[float, Slopes]]) -> Slopes:
        """The sum, in the order given."""
        value, parts = 0.0, tuple(np.zeros_like(array) for array in self.arrays)
        for w, slopes in weighted:
            value += w * slopes.value
            for mine, theirs in zip(parts, slopes.parts, strict=True):
                mine += w * theirs
        return Slopes(value, parts)


@dataclass(frozen=True, eq=False)
class BasketShard:
    """Different baskets end to end, with weights: what a backend keeps and asks."""

    indptr: IntArray
    indices: IntArray
    weights: FloatArray

    def evaluate(self, question: Question) -> Slopes:
        """Sum of w log det L_Y, and its derivatives in what the question brought."""
        from dpplearn.learning.baskets._inverse_loops import sum_of_entries, sum_of_rows

        parts = tuple(np.zeros_like(array) for array in question.arrays)
        baskets = (view(self.indptr), view(self.indices), view(self.weights))
        loop = sum_of_entries if len(parts) == 1 else sum_of_rows
        return Slopes(float(loop(*map(view, question.arrays), *baskets, *parts)), parts)


Ask = Callable[[Question], Slopes]


def log_likelihood(ask: Ask, weight: float, kernel: Kernel) -> tuple[float, FloatArray, FloatArray, FloatArray | None]:
    """Value, and derivatives in left, right and own; `weight` is T. The value may be -inf."""
    left, right, own = kernel
    if kernel.dense:
        L = kernel.L
        value, (G,) = ask(Question((L,)))
        log_z, inverse = normalizer(L)
        G -= weight * inverse.T
        return value - weight * log_z, G @ right, G.T @ left, None if own is None else G.diagonal().copy()
    value, (G_left, G_right) = ask(Question((left, right)))
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
