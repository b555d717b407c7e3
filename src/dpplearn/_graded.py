"""Kernels whose items differ in quality by more than the sixteen digits that eigenvalues can hold.

With q from e^-150 to e^150, or L scaled by 1e150, the eigenvalues of L near 1, which decide probabilities, are lost
in the rounding of the largest. Two steps keep every item to its own relative accuracy:

1. S = U U^T with U triangular in the order of the best item that is left, from rows (`reduced_rows`) or from S itself
   (`reduced_similarity`), with exact zeros where an item is a combination of better ones. It takes log q, which may be
   of any size.
2. An orthogonal factor of [diag(q) U; I] (`stacked_qr`), which is all that probabilities and their derivatives need.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import linalg

from dpplearn._checks import FloatArray, IntArray, row_lengths
from dpplearn._linalg import EPS, WIDE, Spectrum


class Factor(NamedTuple):
    """L = T T^T with T (n, rank); the rows T[pivots] are lower triangular, largest first."""

    T: FloatArray
    pivots: IntArray

    def scaled(self, log_c: float) -> Factor:
        """The factor of c L."""
        return Factor(self.T * np.exp(log_c / 2), self.pivots)


def factor_kernel(L: FloatArray) -> Factor:
    """The factor of L, from its entries."""
    q = np.sqrt(np.maximum(L.diagonal(), 0.0))
    unit = np.where(q > 0, q, 1.0)
    with np.errstate(divide="ignore"):
        U, pivots = reduced_similarity(L / unit[:, None] / unit, np.log(q))
    return Factor(q[:, None] * U, pivots)


def factor_rows(B: FloatArray) -> Factor:
    """The factor of L = B B^T from the rows themselves, which know twice the digits of their products."""
    q = row_lengths(B)
    with np.errstate(divide="ignore"):
        U, pivots = reduced_rows(B / np.where(q > 0, q, 1.0)[:, None], np.log(q))
    return Factor(q[:, None] * U, pivots)


def reduced_similarity(S: FloatArray, log_q: FloatArray) -> Factor:
    """U with S = U U^T, as `reduced_rows`: Cholesky by pivots, always the item of which most is left."""
    n = len(S)
    left = (log_q > -np.inf).astype(np.float64)
    U = np.zeros((n, n))
    pivots: list[int] = []
    while left.max() > 0.0:
        t, j = len(pivots), best(log_q, left)
        column = S[:, j] - U[:, :t] @ U[j, :t]
        column[left == 0.0] = 0.0  # exactly: these items are spanned, and what is here is rounding
        column /= np.sqrt(left[j])
        column[j] = np.sqrt(left[j])
        U[:, t] = column
        left -= column**2
        left[left <= 8 * n * EPS] = 0.0
        left[j] = 0.0
        pivots.append(j)
    return Factor(U[:, : len(pivots)].copy(), np.array(pivots, np.int64))


def reduced_rows(unit: FloatArray, log_q: FloatArray) -> Factor:
    """U' (n, rank) with U' U'^T = U U^T for rows of length 1, triangular in the order of the longest that is left.

    Row i stands for q_i u_i. Reflections turn the longest remaining row into the next axis; where only rounding is left
    of another row it is set to 0, for it depends on longer ones, such as a duplicate of larger quality. Left in, EPS
    times its length would count as a direction, and might exceed all shorter rows.
    """
    n, d = unit.shape
    # more columns than rows: a rotation brings the rows, each to EPS, into the first n
    U = linalg.qr(unit.T, mode="r", check_finite=False)[0][:n].T.copy() if d > n else unit.copy()
    pivots: list[int] = []
    small = 8 * d * EPS
    for k in range(U.shape[1]):
        rest = U[:, k:]
        size = row_lengths(rest)
        gone = size <= small
        rest[gone], size[gone] = 0.0, 0.0
        if gone.all():
            break
        p = best(log_q, size**2)
        v = rest[p].copy()
        axis = -np.copysign(size[p], v[0])
        v[0] -= axis
        rest -= np.outer(rest @ v, v * (2 / (v @ v)))
        rest[p] = 0.0
        rest[p, 0] = axis
        pivots.append(p)
    # columns may have either sign: make the diagonal positive
    U = U[:, : len(pivots)] * np.sign(U[pivots, range(len(pivots))])
    return Factor(U, np.array(pivots, np.int64))


def best(log_q: FloatArray, left: FloatArray) -> int:
    """The item of which most is left: the largest q_i^2 left_i."""
    return int(np.where(left > 0.0, log_q + np.log(np.where(left > 0.0, left, 1.0)) / 2, -np.inf).argmax())


def stacked_qr(B: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Q (n + d, d) and R with [B; I] P = Q R for a permutation P, so that R^T R = P^T (I + B^T B) P.

    The upper part of Q has K = Q Q^T, the lower one (I + B^T B)^-1. Householder QR with columns pivoted and rows
    sorted by length keeps every row's own relative accuracy (Cox and Higham, 1998), however much they differ in length.
    """
    n, d = B.shape
    length = np.concatenate([np.abs(B).max(axis=1, initial=0.0), np.ones(d)])
    order = np.argsort(-length, kind="stable")
    stacked = np.concatenate([B, np.eye(d)])[order]
    Q, R, _ = linalg.qr(stacked, mode="economic", pivoting=True, check_finite=False)
    rows = np.empty_like(order)
    rows[order] = np.arange(n + d)
    return Q[rows], R


def spectrum(lam: FloatArray, V: FloatArray, factor: Callable[[], Factor]) -> Spectrum:
    """The spectrum of the DPP whose L has eigenpairs (lam, V) and, if asked for, this factor."""
    if lam.size and lam[-1] > WIDE:  # eigenvalues near 1 are within rounding of the largest: the long way
        return spectrum_wide(factor())
    return Spectrum(lam / (1 + lam), V, float(np.log1p(lam).sum()))  # equation (7)


def spectrum_wide(factor: Factor) -> Spectrum:
    """The spectrum from a factor, to EPS absolutely, whatever the scale."""
    n = len(factor.T)
    if factor.pivots.size == 0:
        return Spectrum(np.empty(0), np.empty((n, 0)), 0.0)
    Q, R = stacked_qr(factor.T)
    U, sigma, _ = linalg.svd(Q[:n], full_matrices=False, check_finite=False)
    p = np.clip(sigma[::-1] ** 2, 0.0, 1.0)
    return Spectrum(p, np.ascontiguousarray(U[:, ::-1]), 2 * float(np.log(np.abs(R.diagonal())).sum()))


def tilt_to_size(factor: Factor, k: int) -> float:
    """log c for which c L has about k eigenvalues above 1 and the rest below, by the sizes that the pivots show."""
    sizes = 2 * np.log(factor.T[factor.pivots].diagonal())
    return float(-(sizes[k - 1] + sizes[min(k, sizes.size - 1)]) / 2)
