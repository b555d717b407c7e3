"""Kernels that need not be symmetric, and their principal minors, for `NonsymmetricDPP`."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy import linalg
from scipy.linalg import lapack

from dpplearn._cached import cached_property
from dpplearn._checks import FloatArray, IntArray, square_sums
from dpplearn._precision import DIGITS, rounding

SWEEPS = 12  # each sweep halves the exponents by which sizes of rows differ; twelve bring 1e-300 and 1e300 together
ALL_ITEMS = slice(None)


@dataclass(frozen=True, eq=False)
class TwoSided:
    """L = Z C Z^T, and rows U of its symmetric part: C + C^T = 2 U U^T.

    So L is V V^T, V = Z U, plus a skew matrix. We keep the two apart, because where V is short the rounding of the skew
    part could exceed L_ii.
    """

    Z: FloatArray
    C: FloatArray
    U: FloatArray

    @property
    def n(self) -> int:
        return len(self.Z)

    @property
    def width(self) -> int:
        """An upper bound of the rank of L."""
        return self.Z.shape[1]

    @cached_property
    def V(self) -> FloatArray:
        return self.Z @ self.U

    @cached_property
    def left(self) -> FloatArray:
        """Z times the skew part of C."""
        return self.Z @ ((self.C - self.C.T) / 2)

    @cached_property
    def diag(self) -> FloatArray:
        """L_ii = |v_i|^2, without the rounding of the skew part, which is 0 there."""
        return square_sums(self.V)

    def of(self, Z: FloatArray) -> TwoSided:
        """The kernel of items with these rows Z."""
        return TwoSided(Z, self.C, self.U)

    def part(self, subset: IntArray) -> TwoSided:
        """The kernel of some of the items."""
        return self.of(self.Z[subset])

    def plus(self, rows: FloatArray) -> TwoSided:
        """L + rows rows^T."""
        C, U = (linalg.block_diag(M, np.eye(rows.shape[1])) for M in (self.C, self.U))
        return TwoSided(np.hstack([self.Z, rows]), C, U)

    def block(self, subset: IntArray | slice = ALL_ITEMS) -> FloatArray:
        """L_Y."""
        return self.parts(subset)[0] + self.V[subset] @ self.V[subset].T

    def rows(self, subset: IntArray | slice, columns: IntArray | slice = ALL_ITEMS) -> FloatArray:
        """The rows of L that belong to Y."""
        return self.left[subset] @ self.Z[columns].T + self.V[subset] @ self.V[columns].T

    def columns(self, subset: IntArray) -> FloatArray:
        """The columns of L that belong to Y."""
        return self.rows(ALL_ITEMS, subset)

    def parts(self, subset: IntArray | slice = ALL_ITEMS) -> tuple[FloatArray, FloatArray]:
        """The skew part of L_Y, and the sizes of the terms whose sums are its entries."""
        left, right = self.left[subset], self.Z[subset]
        N, E = left @ right.T, np.abs(left) @ np.abs(right).T
        return (N - N.T) / 2, (E + E.T) / 2

    def logdet(self, subset: IntArray | slice = ALL_ITEMS) -> float:
        """log det L_Y, -inf if the determinant is 0."""
        V = self.V[subset]
        k = len(V)
        if k > self.width:
            return -np.inf
        N, E = self.parts(subset)
        quick = log_minor(N + V @ V.T, E + np.abs(V) @ np.abs(V).T, rounding(k) / DIGITS)
        return quick if quick > -np.inf else eliminate_parts(V, N, E, k)[0]  # slower, but keeps all digits

    def logdets(self, indptr: IntArray, indices: IntArray) -> FloatArray:
        """log det L_Y of many subsets."""
        return np.array([self.logdet(indices[a:b]) for a, b in pairwise(indptr)])

    def given(self, A: FloatArray) -> tuple[FloatArray, float]:
        """The marginal kernel of these items given those with rows A, and the log of the sum of det(L_{A + Y}).

        The sum is the determinant of the part above and left of the lines, and the kernel is its Schur complement, in

            L + I   L_.A  |  L                   L + I   L_.A  |  I
            L_A.    L_A   |  L_A.                L_A.    L_A   |  0
            ----------------------      or       ------------------
            L       L_.A  |  L                   -I      0     |  0

        where the second one gives I minus the kernel, and is used for the columns of large items, so that nothing
        cancels. `eliminate_parts` keeps all digits, however much items differ in size, in a few times (2 n)^3 steps.
        """
        n, m = self.n, self.n + len(A)
        large = np.abs(self.block()).max(axis=1) > 1.0
        every = self.of(np.concatenate([self.Z, A, np.where(large[:, None], 0.0, self.Z)]))
        N, E = every.parts()
        first = np.flatnonzero(large)
        for x, sign in ((N, -1.0), (E, 1.0)):
            x[first, m + first], x[m + first, first] = 1.0, sign
        log_sum, V, N = eliminate_parts(np.hstack([every.V, np.eye(every.n, n)]), N, E, m)
        K = V @ V.T + N
        K[:, large] = np.eye(n)[:, large] - K[:, large]
        return K, log_sum


def log_minor(A: FloatArray, sizes: FloatArray | None = None, least: float | None = None) -> float:
    """log det of a matrix that need not be symmetric; -inf if the determinant is not positive to working precision.

    If `sizes` are those of the terms whose sums are the entries, pivots are compared with these sizes, and -inf is
    returned if one is below `least`.

    >>> round(log_minor(np.array([[0.0, 2.0], [-2.0, 0.0]])), 3)
    1.386
    """
    if len(A) == 0:
        return 0.0
    total, sizes = 0.0, np.abs(A) if sizes is None else sizes
    for axis in (1, 0):  # rows and columns get the same size, so that a pivot is the remaining share of an item
        size = sizes.max(axis=axis, keepdims=True, initial=0.0)
        if not size.all():
            return -np.inf
        A, sizes, total = A / size, sizes / size, total + float(np.log(size).sum())
    factors, order, _ = lapack.dgetrf(A)
    pivots = factors.diagonal()
    negative = np.count_nonzero(pivots < 0.0) + np.count_nonzero(order != np.arange(len(A)))
    if negative % 2 or (np.abs(pivots) <= (rounding(len(A)) if least is None else least)).any():
        return -np.inf
    return total + float(np.log(np.abs(pivots)).sum())


def eliminate_parts(V: FloatArray, N: FloatArray, E: FloatArray, k: int) -> tuple[float, FloatArray, FloatArray]:
    """log det of the first k rows of L = V V^T + N, N skew (-inf if it is 0), and V and N of the rest given these rows.

    Each part keeps its own digits: rounding in N, however large N is, never counts as a part of V V^T. Eliminating the
    items P leaves, with F = L_P^-1 L_P,rest,

        V  <-  V_rest - F^T V_P    and    N  <-  H^T N H,    H = [-F; I].

    P is one item, or two that N joins, whichever is the largest: det L_P is |v|^2, or N_pq^2 plus the squared area of
    v_p and v_q. E holds the sizes of the terms whose sums are the entries of N. An entry that is only rounding beside
    its terms is set to 0, and so are rows of V. We add up squares of sizes, since plain sums soon are far too large.
    """
    few, scale, nothing = rounding(len(V)), np.ones((len(V), 1)), (-np.inf, V[k:], N[k:, k:])
    for _ in range(SWEEPS):  # divide items by their sizes until their largest entries are near 1
        size = np.sqrt(np.abs(N).max(axis=1, initial=0.0, keepdims=True))
        size = np.maximum(size, np.abs(V).max(axis=1, initial=0.0, keepdims=True))
        if not size[:k].all():
            return nothing
        size[size == 0.0] = 1.0
        if ((size > 0.5) & (size < 2.0)).all():
            break
        V, N, E, scale = V / size, N / size / size.T, E / size / size.T, scale * size
    total, reach, E = 2 * float(np.log(scale[:k]).sum()), square_sums(V), E**2
    while k:
        np.fill_diagonal(E, 0.0)
        V = np.where((square_sums(V) <= few**2 * reach)[:, None], 0.0, V)
        N = np.where(few**2 * E >= N**2, 0.0, (N - N.T) / 2)
        squares, joined = square_sums(V[:k]), np.abs(N[:k, :k])
        p, (q, r) = int(squares.argmax()), divmod(int(joined.argmax()), k)
        if max(squares[p], joined[q, r]) == 0.0:
            return nothing
        P, det, inverse = [p], squares[p], np.ones((1, 1))
        if joined[q, r] > squares[p]:
            P, x = [q, r], N[q, r]
            (a, c), (_, b) = V[P] @ V[P].T
            det, inverse = x * x + max(a * b - c * c, 0.0), np.array([[b, -c - x], [x - c, a]])
        total += float(np.log(det))
        rest = np.delete(np.arange(len(V)), P)
        N_P, E_P = N[P][:, rest], E[P][:, rest]
        F = inverse @ (V[P] @ V[rest].T + N_P) / det
        X, squared = F.T @ N_P, F.T**2
        Y = squared @ E_P
        N = N[np.ix_(rest, rest)] - X + X.T + F.T @ N[np.ix_(P, P)] @ F
        E = E[np.ix_(rest, rest)] + Y + Y.T + squared @ E[np.ix_(P, P)] @ squared.T
        V, reach, scale, k = V[rest] - F.T @ V[P], reach[rest] + squared @ reach[P], scale[rest], k - len(P)
    return total, V * scale, N * scale * scale.T


def symmetric_rows(S: FloatArray, tol: float) -> FloatArray | None:
    """U with S = U U^T up to rounding, or up to `tol`, by Cholesky with pivots; None if S is not semidefinite.

    >>> symmetric_rows(np.array([[4.0, 2.0], [2.0, 1.0]]), 1e-8)
    array([[2.],
           [1.]])
    """
    r = np.sqrt(np.maximum(S.diagonal(), 0.0))
    scale = np.where(r > 0.0, r, 1.0)
    unit = S / scale[:, None] / scale
    for few in (rounding(len(S)), tol):
        C, pivots, rank, _ = lapack.dpstrf(unit, lower=1, tol=few)
        U = np.zeros((len(S), max(rank, 1)))
        U[pivots - 1, :rank] = np.tril(C)[:, :rank]
        if (np.abs(unit - U @ U.T) <= len(S) * few).all():
            return r[:, None] * U
    return None
