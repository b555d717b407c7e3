"""Factorizations of positive semidefinite matrices: log-determinants, eigenpairs primal and dual, Schur complements.

The eigenvalues of L near 1 decide the probabilities. Where qualities differ by more than the sixteen digits of a float
(q from e^-150 to e^150, or L scaled by 1e150), they are lost in the rounding of the largest eigenvalue. Two steps keep
every item to its own relative accuracy:

1. S = U U^T, where U is triangular in an order that always takes the best remaining item, from rows (`reduced_rows`) or
   from S itself (`reduced_similarity`). A combination of better items gets exact zeros. Both take log q, of any size.
2. An orthogonal factor of [diag(q) U; I] (`stacked_qr`), which is all that probabilities and their derivatives need.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import linalg, sparse
from scipy.linalg import lapack

from dpplearn._checks import Features, FloatArray, IntArray, row_lengths
from dpplearn._precision import EPS, PARALLEL, rounding, singular


class Spectrum(NamedTuple):
    """K = V diag(p) V^T: orthonormal columns V (n, m) with probabilities p, ascending, and log det(L + I)."""

    p: FloatArray
    V: FloatArray
    log_normalizer: float


def eigh_psd(A: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Ascending eigenvalues, with 0 for negative ones and for rounding, and eigenvectors as columns."""
    # A.T is the same matrix in the order that LAPACK wants; evd is slower with two threads up to n = 1000
    lam, V = linalg.eigh(A.T, driver="evr", check_finite=False)
    lam[lam < len(A) * EPS * max(lam[-1], 0.0)] = 0.0
    return lam, V


def logdet(A: FloatArray, rows: Callable[[], FloatArray] | None = None) -> float:
    """log det of a positive semidefinite matrix; -inf if it is singular to working precision.

    For A = B B^T pass a function that returns the rows B: it is called if A has lost digits because its rows are nearly
    dependent.

    >>> round(logdet(np.array([[2.0, 1.0], [1.0, 2.0]])), 3)
    1.099
    >>> logdet(np.ones((2, 2)))
    -inf
    """
    k = len(A)
    if k == 0:
        return 0.0
    d = A.diagonal()
    if d.min() <= 0.0:
        return -np.inf
    r = np.sqrt(d)  # det A = prod(r^2) det(S); S has a unit diagonal, so a pivot is the remaining share of an item
    C, info = lapack.dpotrf(A / r[:, None] / r, lower=1)
    pivots = C.diagonal()
    least = pivots.min() ** 2 if info == 0 else 0.0
    if least < PARALLEL and rows is not None:
        T, order = factor_rows(rows())
        return float(2 * np.log(T[order].diagonal()).sum()) if order.size == k else -np.inf
    if least < singular(k):
        return -np.inf
    return float(2 * (np.log(r).sum() + np.log(pivots).sum()))


def safe_log(x: FloatArray) -> FloatArray:
    """log x, -inf where x is 0."""
    with np.errstate(divide="ignore"):
        return np.log(x)


def to_dense(B: Features) -> FloatArray:
    return np.asarray(B.toarray() if sparse.issparse(B) else B)


def schur_complement(A: FloatArray, rest: np.ndarray, given: np.ndarray) -> FloatArray:
    """A_rest - A_rest,given A_given^-1 A_given,rest, with zeros for items of which only rounding is left."""
    if given.size == 0:
        return A[np.ix_(rest, rest)]
    d = np.sqrt(A.diagonal()[given])
    factor = linalg.cholesky(A[np.ix_(given, given)] / d[:, None] / d, lower=True, check_finite=False)
    half = linalg.solve_triangular(factor, A[np.ix_(given, rest)] / d[:, None], lower=True, check_finite=False)
    left = A[np.ix_(rest, rest)] - half.T @ half
    # the smallest pivot says how far rounding in A is magnified
    noise = rounding(given.size) / factor.diagonal().min() ** 2
    gone = left.diagonal() <= noise * A.diagonal()[rest]
    left[gone] = 0.0
    left[:, gone] = 0.0
    return np.asarray(left)


def project_out(B: FloatArray, rest: np.ndarray, given: np.ndarray) -> FloatArray:
    """The rows `rest` of B without their part in the span of the rows `given`.

    They are B_rest Q, where the columns of Q complete the directions of B_given to a basis. So each given row takes one
    column (one always remains), L = B B^T becomes the Schur complement of L_given, and its rank falls by exactly the
    number of given rows, whatever their scale.
    """
    rows = B[given] / row_lengths(B[given])[:, None]
    Q = linalg.qr(rows.T, mode="full", check_finite=False)[0][:, given.size :]
    left = B[rest] @ Q if Q.shape[1] else np.zeros((rest.size, 1))
    gone = row_lengths(left) <= rounding(B.shape[1]) * row_lengths(B[rest])
    left[gone] = 0.0
    return np.asarray(left)


class Factor(NamedTuple):
    """L = T T^T with `rows` T (n, rank); T[pivots] is lower triangular, with the largest pivot first."""

    rows: FloatArray
    pivots: IntArray


def factor_rows(B: FloatArray) -> Factor:
    """The factor of L = B B^T from its rows, which hold twice the digits of their products."""
    q = row_lengths(B)
    U, pivots = reduced_rows(B / np.where(q > 0, q, 1.0)[:, None], safe_log(q))
    return Factor(q[:, None] * U, pivots)


def reduced_similarity(S: FloatArray, log_q: FloatArray) -> Factor:
    """U with S = U U^T as from `reduced_rows`, by Cholesky; each pivot is the item with the largest q_i^2 left_i."""
    n = len(S)
    left = (log_q > -np.inf).astype(np.float64)
    U = np.zeros((n, n))
    pivots: list[int] = []
    while left.max() > 0.0:
        t, j = len(pivots), best(log_q, left)
        column = S[:, j] - U[:, :t] @ U[j, :t]
        column[left == 0.0] = 0.0  # these items are spanned, and their entries are rounding
        column /= np.sqrt(left[j])
        column[j] = np.sqrt(left[j])
        U[:, t] = column
        left -= column**2
        left[left <= rounding(n)] = 0.0
        left[j] = 0.0
        pivots.append(j)
    return Factor(U[:, : len(pivots)].copy(), np.array(pivots, np.int64))


def reduced_rows(unit: FloatArray, log_q: FloatArray) -> Factor:
    """U' (n, rank) with U' U'^T = U U^T for unit rows, triangular in an order that takes the longest row left.

    Row i stands for q_i u_i. Reflections turn the longest row that is left into the next axis. A row of which only
    rounding is left depends on longer ones, as a duplicate of lower quality does, and is set to 0: otherwise its
    rounding would count as a direction, and might exceed all shorter rows.
    """
    n, d = unit.shape
    # with more columns than rows, a rotation brings the rows, each to EPS, into the first n columns
    U = linalg.qr(unit.T, mode="r", check_finite=False)[0][:n].T.copy() if d > n else unit.copy()
    pivots: list[int] = []
    small = rounding(d)
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
    # the sign of a column is arbitrary, so we make the diagonal positive
    U = U[:, : len(pivots)] * np.sign(U[pivots, range(len(pivots))])
    return Factor(U, np.array(pivots, np.int64))


def best(log_q: FloatArray, left: FloatArray) -> int:
    """The item with the largest q_i^2 left_i."""
    return int(np.where(left > 0.0, log_q + np.log(np.where(left > 0.0, left, 1.0)) / 2, -np.inf).argmax())


def stacked_qr(B: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Q (n + d, d) and R with [B; I] P = Q R for a permutation P, so that R^T R = P^T (I + B^T B) P.

    For its upper part K = Q Q^T, for its lower part (I + B^T B)^-1 = Q Q^T. Householder QR with pivoted columns and
    sorted rows keeps every row to its own relative accuracy, however much lengths differ (Cox and Higham, 1998).
    """
    n, d = B.shape
    length = np.concatenate([np.abs(B).max(axis=1, initial=0.0), np.ones(d)])
    order = np.argsort(-length, kind="stable")
    stacked = np.concatenate([B, np.eye(d)])[order]
    Q, R, _ = linalg.qr(stacked, mode="economic", pivoting=True, check_finite=False)
    rows = np.empty_like(order)
    rows[order] = np.arange(n + d)
    return Q[rows], R


def spectrum_wide(factor: Factor) -> Spectrum:
    """The spectrum from a factor; the error of a probability is about EPS, whatever the scale."""
    n = len(factor.rows)
    if factor.pivots.size == 0:
        return Spectrum(np.empty(0), np.empty((n, 0)), 0.0)
    Q, R = stacked_qr(factor.rows)
    U, sigma, _ = linalg.svd(Q[:n], full_matrices=False, check_finite=False)
    p = np.clip(sigma[::-1] ** 2, 0.0, 1.0)
    return Spectrum(p, np.ascontiguousarray(U[:, ::-1]), 2 * float(np.log(np.abs(R.diagonal())).sum()))
