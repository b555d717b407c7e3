"""The two ways in which a kernel is stored: as an array, or as rows of features, from which L is never formed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy import linalg, sparse

from dpplearn._cached import cached_property
from dpplearn._checks import Features, FloatArray, IntArray, scale_rows
from dpplearn._linalg import Factor, factor_rows, logdet, reduced_similarity, safe_log, spectrum_wide, to_dense
from dpplearn._precision import PARALLEL, keeps_digits

ROWS_AT_ONCE = 16384  # so many rows are converted to float64 at a time
MAX_DENSE_ENTRIES = 20_000_000  # features with up to so many entries become dense float64 as a whole
CACHED_NUMBERS = 2**17  # so many numbers fit in the processor's cache


@dataclass(frozen=True, eq=False)
class Dense:
    """L as an array."""

    L: FloatArray

    @property
    def n(self) -> int:
        return len(self.L)

    @property
    def diag(self) -> FloatArray:
        return self.L.diagonal()

    def block(self, subset: IntArray, columns: IntArray | None = None) -> FloatArray:
        """L_Y, or another block of L."""
        return self.L[np.ix_(subset, subset if columns is None else columns)]

    def factor(self) -> Factor:
        """A factor of L with pivots; each row is accurate relative to its own length."""
        return factor_kernel(self.L)

    def logdet(self, subset: IntArray) -> float:
        """log det L_Y."""
        return logdet(self.block(subset))

    def logdets(self, indptr: IntArray, indices: IntArray) -> FloatArray:
        """log det L_Y of many subsets."""
        return many_logdets(self, lambda Y: self.L[Y[:, :, None], Y[:, None]], 1, indptr, indices)

    def columns(self, subset: IntArray) -> FloatArray:
        """The columns of L that belong to Y."""
        return self.L[:, subset]


@dataclass(frozen=True, eq=False)
class Rows:
    """L = B B^T + diag(own) with b_i = scale_i rows_i; rows are dense or csr, float32 or float64, and not copied.

    own_i is the part of L_ii that belongs to item i alone. diag_i = L_ii = |b_i|^2 + own_i, as exactly as the caller
    knows it.
    """

    rows: Features
    scale: FloatArray
    diag: FloatArray
    own: FloatArray

    @property
    def n(self) -> int:
        return len(self.diag)

    def scaled(self, part: Any = slice(None), scale: FloatArray | None = None) -> Features:
        """Rows b_i of B in float64, dense or sparse like the rows."""
        rows, scale = self.rows[part].astype(np.float64), (self.scale if scale is None else scale)[part]
        return scale_rows(rows, scale)

    def beside_own(self, part: Any = slice(None)) -> FloatArray:
        """Dense rows whose products are L: the rows of B, and beside them a column for each item's own part, if any."""
        B, own = to_dense(self.scaled(part)), self.own[part]
        return np.hstack([B, np.diag(np.sqrt(own))]) if own.any() else B

    def factor(self) -> Factor:
        """A factor of L with pivots, from the rows."""
        return factor_rows(self.beside_own())

    def block(self, subset: IntArray, columns: IntArray | None = None) -> FloatArray:
        """L_Y, or another block of L; sparse rows are multiplied without making them dense."""
        B = self.scaled(subset)
        if columns is None:
            A = to_dense(B @ B.T)
            A.flat[:: len(A) + 1] = self.diag[subset]
            return A
        A = to_dense(B @ self.scaled(columns).T)
        i, j = np.nonzero(subset[:, None] == columns)
        A[i, j] = self.diag[subset[i]]
        return A

    def logdet(self, subset: IntArray) -> float:
        """log det L_Y, from the rows if their products have lost too many digits."""
        return logdet(self.block(subset), lambda: self.beside_own(subset))

    def logdets(self, indptr: IntArray, indices: IntArray) -> FloatArray:
        """log det L_Y of many subsets."""
        width = self.rows.shape[1]

        def blocks(Y: IntArray) -> FloatArray:
            if sparse.issparse(self.rows) and Y.size * width > MAX_DENSE_ENTRIES:
                return np.stack([self.block(y) for y in Y])
            B = to_dense(self.scaled(Y.ravel())).reshape(*Y.shape, width)
            A = B @ B.transpose(0, 2, 1)
            every = np.arange(Y.shape[1])
            A[:, every, every] = self.diag[Y]
            return A

        return many_logdets(self, blocks, width, indptr, indices)

    def columns(self, subset: IntArray) -> FloatArray:
        """The columns of L that belong to Y."""
        B = self.scale[subset, None] * to_dense(self.rows[subset]).astype(np.float64)
        columns = np.asarray(self.scale[:, None] * (self.rows @ B.T))
        columns[subset, np.arange(subset.size)] = self.diag[subset]
        return columns

    @cached_property
    def log_normalizer(self) -> float:
        """log det(I + L) = sum of log(1 + own_i) + log det(I + B^T B), with b_i divided by sqrt(1 + own_i).

        It comes from the smaller of B B^T and B^T B, and takes min(n, d)^2 numbers besides the rows. Eigenvalues of a
        product are known to EPS lam_max. If that is too much beside 1 + lam_min (qualities of 1e9, or singular kernels
        of large quality), B itself is factorized with pivots.
        """
        n, d = self.rows.shape
        alone = float(np.log1p(self.own).sum())
        scale = self.scale / np.sqrt(1.0 + self.own)
        if n <= d:
            B = self.scaled(scale=scale)
            A = to_dense(B @ B.T)
        else:
            A = sum((to_dense(B.T @ B) for B in self._blocks(scale)), start=np.zeros((d, d)))
        lam = np.maximum(linalg.eigvalsh(A, check_finite=False), 0.0)
        if keeps_digits(lam):
            return alone + float(np.log1p(lam).sum())
        if n * d <= MAX_DENSE_ENTRIES or (n <= d and not sparse.issparse(self.rows)):
            return alone + spectrum_wide(factor_rows(to_dense(self.scaled(scale=scale)))).log_normalizer
        if n <= d:
            return alone + spectrum_wide(factor_kernel(A)).log_normalizer
        R = np.eye(d)
        for B in self._blocks(scale):  # R^T R = I + the sum of B^T B so far, without squares of B's entries
            R = linalg.qr(np.concatenate([to_dense(B), R]), mode="r", check_finite=False)[0][:d]
        return alone + float(2 * np.log(np.abs(R.diagonal())).sum())

    def _blocks(self, scale: FloatArray) -> Iterator[Features]:
        return (self.scaled(slice(low, low + ROWS_AT_ONCE), scale) for low in range(0, self.n, ROWS_AT_ONCE))


Operand: TypeAlias = Dense | Rows


def many_logdets(
    kernel: Operand, blocks: Callable[[IntArray], FloatArray], width: int, indptr: IntArray, indices: IntArray
) -> FloatArray:
    """log det L_Y of many subsets; those of equal size are done together, and nearly singular ones once more, alone.

    `blocks` returns L_Y of several sets of equal size, in about `width` steps for each entry.
    """
    sizes, values = np.diff(indptr), np.zeros(indptr.size - 1)
    for k in np.unique(sizes[sizes > 0]).tolist():
        every = np.flatnonzero(sizes == k)
        for some in np.array_split(every, -(-every.size * k * max(k, width) // CACHED_NUMBERS)):
            A = blocks(indices[indptr[some, None] + np.arange(k)])
            try:
                roots = np.asarray(np.linalg.cholesky(A), np.float64).diagonal(axis1=1, axis2=2)
            except linalg.LinAlgError:  # numpy does not say which matrix is singular
                roots = np.zeros((some.size, k))
            values[some] = 2 * safe_log(roots).sum(axis=1)
            for s in some[(roots <= np.sqrt(PARALLEL * A.diagonal(axis1=1, axis2=2))).any(axis=1)]:
                values[s] = kernel.logdet(indices[indptr[s] : indptr[s + 1]])
    return values


def factor_kernel(L: FloatArray) -> Factor:
    """The factor of L from its entries."""
    q = np.sqrt(np.maximum(L.diagonal(), 0.0))
    unit = np.where(q > 0, q, 1.0)
    U, pivots = reduced_similarity(L / unit[:, None] / unit, safe_log(q))
    return Factor(q[:, None] * U, pivots)
