"""Kernels whose items differ in quality by more than the sixteen digits that eigenvalues can hold.

With q from e^-150 to e^150, or L scaled by 1e150, the eigenvalues of L near 1, which decide probabilities, are lost
in the rounding of the largest. A triangular factor by pivots keeps each row to its own relative accuracy, and writes
exact zeros where an item is a combination of larger ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import linalg

from dpplearn._checks import FloatArray, IntArray, row_lengths
from dpplearn._linalg import EPS, WIDE, Spectrum, eigh_psd


class Factor(NamedTuple):
    """L = T T^T with T (n, rank); the rows T[pivots] are lower triangular, largest first."""

    T: FloatArray
    pivots: IntArray

    def scaled(self, log_c: float) -> Factor:
        """The factor of c L."""
        return Factor(self.T * np.exp(log_c / 2), self.pivots)


def factor_kernel(L: FloatArray) -> Factor:
    """Cholesky by pivots: always the item of which most is left, until nothing but rounding is left of any."""
    whole = np.maximum(L.diagonal(), 0.0)
    n = len(L)
    left = whole.copy()
    T = np.zeros((n, n))
    pivots: list[int] = []
    nothing = 8 * n * EPS * whole
    while left.max() > 0.0:
        j, t = int(left.argmax()), len(pivots)
        column = L[:, j] - T[:, :t] @ T[j, :t]
        column[left == 0.0] = 0.0  # exactly: these items are spanned, and what is here is rounding
        column /= np.sqrt(left[j])
        column[j] = np.sqrt(left[j])
        T[:, t] = column
        left -= column**2
        left[left <= nothing] = 0.0
        left[j] = 0.0
        pivots.append(j)
    return Factor(T[:, : len(pivots)].copy(), np.array(pivots, np.int64))


def factor_rows(B: FloatArray) -> Factor:
    """The same for L = B B^T, from the rows themselves, which know twice the digits of their products."""
    whole = row_lengths(B)
    rest, left = B.copy(), whole.copy()
    T = np.zeros((len(B), min(B.shape)))
    pivots: list[int] = []
    nothing = 8 * B.shape[1] * EPS * whole
    while left.max() > 0.0 and len(pivots) < T.shape[1]:
        j, t = int(left.argmax()), len(pivots)
        direction = rest[j] / left[j]
        along = rest @ direction
        along[left == 0.0] = 0.0
        rest -= np.outer(along, direction)
        T[:, t] = along
        left = row_lengths(rest)
        gone = left <= nothing
        gone[j] = True
        rest[gone], left[gone] = 0.0, 0.0
        pivots.append(j)
    return Factor(T[:, : len(pivots)].copy(), np.array(pivots, np.int64))


def spectrum(lam: FloatArray, V: FloatArray, factor: Callable[[], Factor]) -> Spectrum:
    """The spectrum of the DPP whose L has eigenpairs (lam, V) and, if asked for, this factor."""
    if lam.size and lam[-1] > WIDE:  # eigenvalues near 1 are within rounding of the largest: the long way
        return spectrum_wide(factor())
    return Spectrum(lam / (1 + lam), V, float(np.log1p(lam).sum()))  # equation (7)


def spectrum_wide(factor: Factor) -> Spectrum:
    """The spectrum from a factor, to EPS absolutely, whatever the scale.

    With P the pivots and X = T T_P^-1, which is the identity on P and moderate elsewhere, L = X L_P X^T, so that
    K = X M^-1 X^T and det(L + I) = det(L_P) det(M) with M = L_P^-1 + X^T X: no number in it is large but
    the inverse qualities, on M's diagonal, where a Cholesky factor does not mind.
    """
    T, pivots = factor
    if pivots.size == 0:
        return Spectrum(np.empty(0), np.empty((len(T), 0)), 0.0)
    T_P = T[pivots]
    X = linalg.solve_triangular(T_P, T.T, lower=True, trans="T", check_finite=False).T
    X[pivots] = np.eye(pivots.size)
    inverse = linalg.solve_triangular(T_P, np.eye(pivots.size), lower=True, check_finite=False)
    M = inverse.T @ inverse + X.T @ X
    d = np.sqrt(M.diagonal())
    C = linalg.cholesky(M / d[:, None] / d, lower=True, check_finite=False)
    W = linalg.solve_triangular(C, (X / d).T, lower=True, check_finite=False).T  # K = W W^T
    U, sigma, _ = linalg.svd(W, full_matrices=False, check_finite=False)
    p = np.clip(sigma[::-1] ** 2, 0.0, 1.0)
    log_det = 2 * float(np.log(T_P.diagonal()).sum() + np.log(d).sum() + np.log(C.diagonal()).sum())
    return Spectrum(p, np.ascontiguousarray(U[:, ::-1]), log_det)


def tilt_to_size(factor: Factor, k: int) -> float:
    """log c for which c L has about k eigenvalues above 1 and the rest below, by the sizes that the pivots show."""
    sizes = 2 * np.log(factor.T[factor.pivots].diagonal())
    return float(-(sizes[k - 1] + sizes[min(k, sizes.size - 1)]) / 2)


def factor_similarity(S: FloatArray, log_length: FloatArray) -> FloatArray:
    """U (n, rank) with S = U U^T, reduced as `reduced_rows` says."""
    s, V = eigh_psd(S)
    keep = s > 0
    if not keep.any():
        return np.zeros((len(S), 0))
    # the entries of a vector of eigenvalue s are known to EPS / s
    return reduced_rows(V[:, keep] * np.sqrt(s[keep]), log_length, 1 / np.sqrt(min(float(s[keep][0]), 1.0)))


def independent_rows(unit: FloatArray, log_length: FloatArray) -> FloatArray:
    """The same for rows of length 1 that stand for exp(log_length_i) u_i, reduced as `reduced_rows` says."""
    U, sigma, _ = linalg.svd(unit, full_matrices=False, check_finite=False)
    keep = sigma > max(unit.shape) * EPS * max(sigma[0], EPS)
    return reduced_rows(U[:, keep] * sigma[keep], log_length)


def reduced_rows(unit: FloatArray, log_length: FloatArray, noise: float = 1.0) -> FloatArray:
    """U' (n, rank) with U' U'^T = U U^T for rows of length 1, triangular in the order of the longest that is left.

    Row i stands for exp(log_length_i) u_i, and u_i is known to `noise` EPS. Reflections turn the longest remaining row
    into the next axis; where only rounding is left of another row it is set to 0, for it depends on longer ones, such
    as a duplicate of larger quality. Left in, EPS times its length would count as a direction, and might exceed all
    shorter rows.
    """
    left = unit.copy()
    small = min(8 * max(unit.shape) * EPS * noise, 1e-6)
    for k in range(left.shape[1]):
        rest = left[:, k:]
        size = row_lengths(rest)
        gone = size <= small
        rest[gone] = 0.0
        if gone.all():
            return left[:, :k]
        p = int(np.where(gone, -np.inf, log_length + np.log(np.where(gone, 1.0, size))).argmax())
        v = rest[p].copy()
        axis = -np.copysign(size[p], v[0])
        v[0] -= axis
        rest -= np.outer(rest @ v, v * (2 / (v @ v)))
        rest[p] = 0.0
        rest[p, 0] = axis
    return left


def stacked_qr(B: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Q (n + d, d) and R with [B; I] P = Q R for a permutation P, so that R^T R = P^T (I + B^T B) P.

    Householder QR with columns pivoted and rows sorted by length keeps every row's own relative
    accuracy (Cox and Higham, 1998), however much the rows differ in length.
    """
    n, d = B.shape
    length = np.concatenate([np.abs(B).max(axis=1, initial=0.0), np.ones(d)])
    order = np.argsort(-length, kind="stable")
    stacked = np.concatenate([B, np.eye(d)])[order]
    Q, R, _ = linalg.qr(stacked, mode="economic", pivoting=True, check_finite=False)
    rows = np.empty_like(order)
    rows[order] = np.arange(n + d)
    return Q[rows], R
