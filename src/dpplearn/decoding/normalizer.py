"""log det(I + L) of features that are read in place: no copy of them, and no n x n array where n > d."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np
from scipy import linalg, sparse

from dpplearn._checks import Features, FloatArray
from dpplearn._graded import factor_kernel, factor_rows, spectrum_wide
from dpplearn._linalg import EPS, eigh_psd, to_dense

ROWS = 16384  # rows that are made float64 at a time
DIGITS = 1e-10  # relative error of 1 + lam that is good enough
LARGE = 20_000_000  # entries up to which features are made dense float64 as a whole


class ScaledRows(Protocol):
    """Rows b_i = scale_i rows_i."""

    @property
    def rows(self) -> Features: ...
    @property
    def scale(self) -> FloatArray: ...


def scaled(rows: Features, scale: FloatArray) -> Features:
    """b_i = scale_i rows_i in float64, dense or sparse like the rows."""
    if sparse.issparse(rows):
        return sparse.csr_array(sparse.diags_array(scale) @ rows.astype(np.float64))
    return scale[:, None] * rows.astype(np.float64)


def similarities(rows: Features, scale: FloatArray) -> FloatArray:
    """<b_i, b_j> of all pairs; of sparse rows the sparse product, so that no row is made dense."""
    B = scaled(rows, scale)
    return to_dense(B @ B.T)


def log_normalizer(model: ScaledRows) -> float:
    """log det(I + B B^T) = log det(I + B^T B), from the smaller of the two; memory min(n, d)^2 besides the rows.

    Eigenvalues of a product are good to EPS lam_max, which is enough unless 1 + lam_min is lost in it (qualities of
    1e9, or singular kernels of large quality). Then B itself is factorized by pivots, as LowRankDPP does.
    """
    n, d = model.rows.shape
    if n <= d:
        A = similarities(model.rows, model.scale)
        lam, _ = eigh_psd(A)
        if enough(lam):
            return float(np.log1p(lam).sum())
        whole = sparse.issparse(model.rows) and n * d > LARGE
        factor = factor_kernel(A) if whole else factor_rows(to_dense(scaled(model.rows, model.scale)))
        return spectrum_wide(factor).log_normalizer
    C = np.zeros((d, d))
    for B in blocks(model):
        C += to_dense(B.T @ B)
    lam = np.maximum(linalg.eigvalsh(C, check_finite=False), 0.0)
    if enough(lam):
        return float(np.log1p(lam).sum())
    if n * d <= LARGE:
        return spectrum_wide(factor_rows(to_dense(scaled(model.rows, model.scale)))).log_normalizer
    R = np.eye(d)
    for B in blocks(model):  # R^T R = I + the sum of B^T B so far, without squaring what is in B
        R = linalg.qr(np.concatenate([to_dense(B), R]), mode="r", check_finite=False)[0][:d]
    return float(2 * np.log(np.abs(R.diagonal())).sum())


def enough(lam: FloatArray) -> bool:
    """Whether rounding, of EPS times the largest, leaves every 1 + lam its digits."""
    return bool(EPS * lam.max() <= DIGITS * (1.0 + lam.min()))


def blocks(model: ScaledRows) -> Iterator[Features]:
    for low in range(0, model.rows.shape[0], ROWS):
        part = slice(low, low + ROWS)
        yield scaled(model.rows[part], model.scale[part])
