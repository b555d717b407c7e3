"""How a kernel is held: as an array, or as features of which L is never formed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy import linalg, sparse

from dpplearn._cached import cached_property
from dpplearn._checks import Features, FloatArray, IntArray, scale_rows
from dpplearn._linalg import Factor, eigh_psd, factor_kernel, factor_rows, logdet, spectrum_wide, to_dense
from dpplearn._precision import keeps_digits

ROWS = 16384  # rows that are made float64 at a time
LARGE = 20_000_000  # entries up to which features are made dense float64 as a whole


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
        """L by pivots, each row accurate relative to its own length."""
        return factor_kernel(self.L)

    def logdet(self, subset: IntArray) -> float:
        """log det L_Y."""
        return logdet(self.block(subset))

    def logdets(self, indptr: IntArray, indices: IntArray) -> FloatArray:
        """log det L_Y of many subsets."""
        from dpplearn._determinant_loops import subset_logdets

        return np.asarray(subset_logdets(self.L, False, indptr, indices))

    def columns(self, subset: IntArray) -> FloatArray:
        """The columns of L that belong to Y."""
        return self.L[:, subset]

    def entries(self) -> tuple[FloatArray, bool]:
        """An array of which loops read L: (L, False), or (B, True) for L = B B^T."""
        return self.L, False


@dataclass(frozen=True, eq=False)
class Rows:
    """L = B B^T + diag(own) with b_i = scale_i rows_i; the rows are read in place, dense or csr, float32 or float64.

    own_i is the part of L_ii that is in no other item's row, and diag_i all of L_ii, as exactly as the caller knows it.
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

    def factor(self) -> Factor:
        """L by pivots, from the rows, where nothing is an item's own."""
        return factor_rows(to_dense(self.scaled()))

    def block(self, subset: IntArray, columns: IntArray | None = None) -> FloatArray:
        """L_Y, or another block of L; of sparse rows the sparse product, so that no row is made dense."""
        B = self.scaled(subset)
        if columns is not None:
            return to_dense(B @ self.scaled(columns).T)
        A = to_dense(B @ B.T)
        A.flat[:: len(A) + 1] = self.diag[subset]
        return A

    def logdet(self, subset: IntArray) -> float:
        """log det L_Y, from the rows themselves where products of two have lost what they differ in."""

        def rows() -> FloatArray:
            B, own = to_dense(self.scaled(subset)), self.own[subset]
            return np.hstack([B, np.diag(np.sqrt(own))]) if own.any() else B

        return logdet(self.block(subset), rows)

    def logdets(self, indptr: IntArray, indices: IntArray) -> FloatArray:
        """log det L_Y of many subsets; one by one where products of rows, or all rows made dense, do not serve."""
        from dpplearn._determinant_loops import subset_logdets

        values = np.full(len(indptr) - 1, np.nan)
        if not (sparse.issparse(self.rows) and self.rows.shape[0] * self.rows.shape[1] > LARGE):
            values = subset_logdets(*self.entries(), indptr, indices)
        for s in np.flatnonzero(np.isnan(values)):
            values[s] = self.logdet(indices[indptr[s] : indptr[s + 1]])
        return np.asarray(values)

    def columns(self, subset: IntArray) -> FloatArray:
        """The columns of L that belong to Y."""
        B = self.scale[subset, None] * to_dense(self.rows[subset]).astype(np.float64)
        columns = np.asarray(self.scale[:, None] * (self.rows @ B.T))
        columns[subset, np.arange(subset.size)] = self.diag[subset]
        return columns

    def entries(self) -> tuple[FloatArray, bool]:
        """(B, True), where nothing is an item's own."""
        return np.ascontiguousarray(to_dense(self.scaled())), True

    @cached_property
    def log_normalizer(self) -> float:
        """log det(I + L) = sum of log(1 + own_i) + log det(I + B^T B), with b_i divided by sqrt(1 + own_i).

        From the smaller of B B^T and B^T B; memory min(n, d)^2 besides the rows. Eigenvalues of a product are good to
        EPS lam_max, which is enough unless 1 + lam_min is lost in it (qualities of 1e9, or singular kernels of large
        quality). Then B itself is factorized by pivots.
        """
        n, d = self.rows.shape
        alone = float(np.log1p(self.own).sum())
        scale = self.scale / np.sqrt(1.0 + self.own)
        if n <= d:
            B = self.scaled(scale=scale)
            A = to_dense(B @ B.T)
            lam = eigh_psd(A)[0]
        else:
            C = np.zeros((d, d))
            for B in self._blocks(scale):
                C += to_dense(B.T @ B)
            lam = np.maximum(linalg.eigvalsh(C, check_finite=False), 0.0)
        if keeps_digits(lam):
            return alone + float(np.log1p(lam).sum())
        if n * d <= LARGE or (n <= d and not sparse.issparse(self.rows)):
            return alone + spectrum_wide(factor_rows(to_dense(self.scaled(scale=scale)))).log_normalizer
        if n <= d:
            return alone + spectrum_wide(factor_kernel(A)).log_normalizer
        R = np.eye(d)
        for B in self._blocks(scale):  # R^T R = I + the sum of B^T B so far, without squaring what is in B
            R = linalg.qr(np.concatenate([to_dense(B), R]), mode="r", check_finite=False)[0][:d]
        return alone + float(2 * np.log(np.abs(R.diagonal())).sum())

    def _blocks(self, scale: FloatArray) -> Iterator[Features]:
        return (self.scaled(slice(low, low + ROWS), scale) for low in range(0, self.n, ROWS))


Operand: TypeAlias = Dense | Rows
