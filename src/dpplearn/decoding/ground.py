"""What the decoders read of a model: a dense kernel, or features of which L is never formed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg, sparse

from dpplearn._checks import Features, FloatArray, IntArray, check_array, check_jobs, check_vector
from dpplearn._linalg import logdet, to_dense
from dpplearn.decoding.diversity import check_diversity, diversified, exponents, quality_power
from dpplearn.dpp import DPP
from dpplearn.lowrank import LowRankDPP
from dpplearn.sampling.spectral import map_threads

DENSE = 5000  # largest n for which a decoder that samples may form n x n from features


@dataclass(frozen=True, eq=False)
class Kernel:
    """L(d) as a dense array."""

    model: DPP
    diversity: float

    @cached_property
    def L(self) -> FloatArray:
        return np.ascontiguousarray(diversified(self.model.L, self.diversity))

    @property
    def n(self) -> int:
        return self.model.n

    @property
    def diag(self) -> FloatArray:
        return self.L.diagonal()

    def log_prob(self, subset: IntArray) -> float:
        return float(self.model.log_prob(subset))

    def block(self, subset: IntArray) -> FloatArray:
        """L_Y."""
        return self.L[np.ix_(subset, subset)]

    def columns(self, subset: IntArray) -> FloatArray:
        """The columns of L that belong to Y."""
        return self.L[:, subset]

    @cached_property
    def dpp(self) -> DPP:
        """The DPP with kernel L(d), to draw from."""
        return self.model if self.diversity == 0.5 else DPP(self.L)


@dataclass(frozen=True, eq=False)
class Rows:
    """L_ij(d) = b scale_i scale_j <rows_i, rows_j> off the diagonal, and q_i^2a on it."""

    rows: Features
    lengths: FloatArray
    q: FloatArray
    model: LowRankDPP | None
    diversity: float

    @property
    def n(self) -> int:
        return int(self.rows.shape[0])

    @cached_property
    def scale(self) -> FloatArray:
        """b_i = scale_i rows_i."""
        a, b = exponents(self.diversity)
        inverse = np.divide(np.sqrt(b), self.lengths, out=np.zeros(self.n), where=self.lengths > 0)
        return quality_power(self.q, a) * inverse

    @cached_property
    def diag(self) -> FloatArray:
        return quality_power(self.q, exponents(self.diversity)[0]) ** 2

    @cached_property
    def own(self) -> FloatArray:
        """The part of L_ii that is in no other item's row: (1 - b) q_i^2, and all of it for a zero row."""
        share = 1.0 - exponents(self.diversity)[1]
        return np.where(self.lengths > 0.0, share, 1.0) * self.diag if self.zero_rows else share * self.diag

    @cached_property
    def zero_rows(self) -> bool:
        """Whether some item has no direction: it is similar to none."""
        return bool(self.lengths.min() <= 0.0)

    def log_prob(self, subset: IntArray) -> float:
        if self.model is not None:
            return self.model.log_prob(subset)
        plain = Rows(self.rows, self.lengths, self.q, None, 0.5)
        return logdet(plain.block(subset)) - self.log_normalizer

    def block(self, subset: IntArray) -> FloatArray:
        """L_Y."""
        B = self.scale[subset, None] * to_dense(self.rows[subset]).astype(np.float64)
        return np.asarray(B @ B.T) + np.diag(self.own[subset])

    def columns(self, subset: IntArray) -> FloatArray:
        """The columns of L that belong to Y."""
        B = self.scale[subset, None] * to_dense(self.rows[subset]).astype(np.float64)
        columns = np.asarray(self.scale[:, None] * (self.rows @ B.T))
        columns[subset, np.arange(subset.size)] = self.diag[subset]
        return columns

    @cached_property
    def log_normalizer(self) -> float:
        """log det(I + L) at diversity 0.5, from blocks of rows: det(I + B B^T) = det(I + B^T B)."""
        plain = Rows(self.rows, self.lengths, self.q, None, 0.5)
        n, d = self.rows.shape
        if n < d:
            A, alone = np.eye(n) + plain.block(np.arange(n)), 0.0
        else:  # a zero row is a block of its own
            A, alone = np.eye(d) + plain.dual(np.ones(n)), float(np.log1p(plain.own).sum())
        return alone + float(2 * np.log(linalg.cholesky(A, lower=True, check_finite=False).diagonal()).sum())

    def dual(self, weight: FloatArray) -> FloatArray:
        """Sum of weight_i b_i b_i^T over all items, a d x d array, made block by block in float64."""
        n, d = self.rows.shape
        C = np.zeros((d, d))
        for low in range(0, n, 16384):
            part = slice(low, min(low + 16384, n))
            factor = (self.scale[part] * np.sqrt(weight[part]))[:, None]
            B = self.rows[part].multiply(factor).tocsr() if sparse.issparse(self.rows) else factor * self.rows[part]
            C += to_dense(B.T @ B)
        return C

    @cached_property
    def L(self) -> FloatArray:
        """L(d) as a dense array, for decoders that need all of it; only for few items."""
        if self.n > DENSE:
            raise ValueError(
                f"This decoder forms the {self.n} x {self.n} kernel, which is offered up to {DENSE} items. "
                "Use greedy_map, or pass fewer candidates."
            )
        return self.block(np.arange(self.n))

    @cached_property
    def dpp(self) -> DPP | LowRankDPP:
        """The DPP with kernel L(d), to draw from."""
        if self.model is not None and self.diversity == 0.5:
            return self.model
        if self.diversity < 0.5 or self.own.any():  # an item's own share is in no column of the rows
            return DPP(self.L)
        if sparse.issparse(self.rows):
            return LowRankDPP(sparse.diags_array(self.scale) @ self.rows)
        return LowRankDPP(self.scale[:, None] * self.rows)


Ground: TypeAlias = Kernel | Rows

Model: TypeAlias = DPP | LowRankDPP | tuple[ArrayLike, Any] | Rows
"""A DPP, a LowRankDPP, or (q, phi): qualities (n,) and features (n, d), dense or scipy sparse; or Rows, read before."""


def read_model(model: Model, diversity: float = 0.5) -> Ground:
    """The kernel or features of whatever a decoder was given."""
    d = check_diversity(diversity)
    if isinstance(model, DPP):
        return Kernel(model, d)
    if isinstance(model, LowRankDPP):
        return Rows(model.B, model.quality, model.quality, model, d)
    if isinstance(model, tuple) and len(model) == 2:
        return read_rows(*model, d)
    if isinstance(model, Rows):
        return model if d == model.diversity else replace(model, diversity=d)
    raise TypeError(
        "the model to decode must be a DPP, a LowRankDPP, or a tuple (q, phi) of qualities and features, "
        f"found {type(model).__name__}. For a kernel matrix, pass DPP(L)."
    )


def read_features(phi: Any, name: str = "phi") -> tuple[Features, FloatArray]:
    """Rows and their squared lengths; float32 features stay float32 and are not copied."""
    if sparse.issparse(phi):
        if phi.dtype.kind not in "fiu":
            raise TypeError(f"{name} must hold real numbers, found dtype {phi.dtype}.")
        rows = sparse.csr_array(phi, dtype=phi.dtype if phi.dtype in (np.float32, np.float64) else np.float64)
        if not rows.has_canonical_format:
            rows = rows.copy()
            rows.sum_duplicates()
        squares = np.asarray(rows.multiply(rows).sum(axis=1), np.float64).ravel()
    else:
        rows = np.asarray(phi)
        if rows.dtype not in (np.float32, np.float64) or rows.ndim != 2:
            rows = check_array(phi, name, 2)
        rows = np.ascontiguousarray(rows)
        squares = square_lengths(rows)
    if 0 in rows.shape:
        raise ValueError(f"{name} must have at least one row (item) and one column, found shape {rows.shape}.")
    if not np.isfinite(squares).all():
        bad = np.flatnonzero(~np.isfinite(squares))
        which = f"row {bad[0]} is" if bad.size == 1 else f"rows {some(bad)} are"
        raise ValueError(f"{name} must be finite, and so the length of its rows, but {which} not.")
    return rows, squares


def some(rows: IntArray, most: int = 8) -> str:
    """The first numbers of a list, and how many there are if not all are shown."""
    shown = ", ".join(map(str, rows[:most].tolist()))
    return shown if rows.size <= most else f"{shown}, ... ({rows.size} in all)"


def read_rows(q: ArrayLike, phi: Any, diversity: float) -> Rows:
    """Qualities and features, each with a direction."""
    rows, squares = read_features(phi)
    if squares.min() <= 0.0:
        raise ValueError(
            f"phi must have no zero row, because a direction is needed; row {int(squares.argmin())} is zero."
        )
    q = check_vector(q, "q", rows.shape[0], low=0.0)
    with np.errstate(over="ignore"):
        if not np.isfinite(q.max() ** 2):
            raise ValueError(f"q must be small enough for q_i^2 to be a float, but its largest entry is {q.max():.3g}.")
    return Rows(rows, np.sqrt(squares), q, None, diversity)


def square_lengths(rows: Features) -> FloatArray:
    """|rows_i|^2 in float64, on all cores where there is enough to do."""
    from dpplearn._loops.greedy import row_squares

    out = np.empty(rows.shape[0])
    blocks = -(-rows.size // 4_000_000)
    if blocks <= 1:
        row_squares(rows, out)
        return out
    ends = np.linspace(0, rows.shape[0], blocks + 1).astype(int)
    map_threads(
        lambda b: row_squares(rows[ends[b] : ends[b + 1]], out[ends[b] : ends[b + 1]]), blocks, check_jobs(None)
    )
    return out
