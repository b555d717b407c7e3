"""What the decoders read of a model: a dense kernel, or features of which L is never formed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from dpplearn._cached import Latest, cached_property
from dpplearn._checks import Features, FloatArray, IntArray, check_array, check_jobs, check_vector
from dpplearn._linalg import logdet, to_dense
from dpplearn._run.threads import map_threads
from dpplearn.decoding.diversity import check_diversity, diversified, exponents, quality_power
from dpplearn.decoding.normalizer import log_normalizer, similarities
from dpplearn.dpp import DPP
from dpplearn.lowrank import LowRankDPP

DENSE = 5000  # largest n for which a decoder that samples may form n x n from features
COPIED = 2**20  # bytes of features up to which a copy is made; larger ones are read in place


@dataclass(frozen=True, eq=False)
class Kernel:
    """L(d) as a dense array."""

    model: DPP
    diversity: float
    tilt: float = 0.0

    @cached_property
    def L(self) -> FloatArray:
        L = diversified(self.model.L, self.diversity)
        return np.ascontiguousarray(L if self.tilt == 0.0 else np.exp(self.tilt) * L)

    def tilted(self, s: float) -> Kernel:
        """The same items with kernel e^s L(d)."""
        return replace(self, tilt=s) if s else self

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

    @cached_property
    def _given(self) -> Latest[DPP]:
        return Latest()

    def given(self, include: IntArray, exclude: IntArray) -> DPP:
        """The DPP given what must be in and out; a second call with the same items finds its eigenvectors there."""
        if not (include.size or exclude.size):
            return self.dpp
        return self._given.get((include.tobytes(), exclude.tobytes()), lambda: self.dpp.condition(include, exclude))


@dataclass(frozen=True, eq=False)
class Rows:
    """L_ij(d) = b scale_i scale_j <rows_i, rows_j> off the diagonal, and q_i^2a on it."""

    rows: Features
    lengths: FloatArray
    q: FloatArray
    model: LowRankDPP | None
    diversity: float
    squares: FloatArray | None = None  # squared lengths of rows that belong to the caller
    tilt: float = 0.0

    def tilted(self, s: float) -> Rows:
        """The same items with kernel e^s L(d)."""
        return replace(self, tilt=s) if s else self

    @property
    def n(self) -> int:
        return int(self.rows.shape[0])

    @cached_property
    def scale(self) -> FloatArray:
        """b_i = scale_i rows_i."""
        a, b = exponents(self.diversity)
        inverse = np.divide(np.sqrt(b), self.lengths, out=np.zeros(self.n), where=self.lengths > 0)
        return np.exp(self.tilt / 2) * quality_power(self.q, a) * inverse

    @cached_property
    def diag(self) -> FloatArray:
        return np.exp(self.tilt) * quality_power(self.q, exponents(self.diversity)[0]) ** 2

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
        if not self.unchanged():
            raise RuntimeError(
                "phi was changed after the set was chosen, so that its log_prob is not known any more. "
                "Ask for log_prob before, or decode a copy of phi."
            )
        return logdet(self.plain.block(subset)) - self.log_normalizer

    def unchanged(self) -> bool:
        """Whether rows that are read in place still have the lengths they had."""
        if self.squares is None or "log_normalizer" in self.__dict__:
            return True
        return bool(np.array_equal(square_lengths(self.rows), self.squares))

    @cached_property
    def plain(self) -> Rows:
        """The model as given."""
        return self if self.diversity == 0.5 and not self.tilt else Rows(self.rows, self.lengths, self.q, None, 0.5)

    def block(self, subset: IntArray) -> FloatArray:
        """L_Y, with q_i^2a on its diagonal exactly."""
        A = similarities(self.rows[subset], self.scale[subset])
        A.flat[:: len(A) + 1] = self.diag[subset]
        return A

    def columns(self, subset: IntArray) -> FloatArray:
        """The columns of L that belong to Y."""
        B = self.scale[subset, None] * to_dense(self.rows[subset]).astype(np.float64)
        columns = np.asarray(self.scale[:, None] * (self.rows @ B.T))
        columns[subset, np.arange(subset.size)] = self.diag[subset]
        return columns

    @cached_property
    def log_normalizer(self) -> float:
        """log det(I + L) of the model as given, like LowRankDPP's but with rows that are read in place."""
        alone = float(np.log1p(self.plain.own).sum()) if self.zero_rows else 0.0  # a zero row is a block of its own
        return alone + log_normalizer(self.plain)

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

    def given(self, include: IntArray, exclude: IntArray) -> DPP | LowRankDPP:
        """The DPP given what must be in and out."""
        return self.dpp.condition(include, exclude) if include.size or exclude.size else self.dpp


Ground: TypeAlias = Kernel | Rows

Model: TypeAlias = DPP | LowRankDPP | tuple[ArrayLike, Any] | Ground
"""A DPP, a LowRankDPP, or (q, phi): qualities (n,) and features (n, d), dense or scipy sparse; or one read before."""


def read_model(model: Model, diversity: float = 0.5) -> Ground:
    """The kernel or features of whatever a decoder was given."""
    d = check_diversity(diversity)
    if isinstance(model, DPP):
        return Kernel(model, d)
    if isinstance(model, LowRankDPP):
        return Rows(model.B, model.quality, model.quality, model, d)
    if isinstance(model, tuple) and len(model) == 2:
        return read_rows(*model, d)
    if isinstance(model, Kernel | Rows):
        return model if d == model.diversity else replace(model, diversity=d)
    raise TypeError(
        "the model to decode must be a DPP, a LowRankDPP, or a tuple (q, phi) of qualities and features, "
        f"found {type(model).__name__}. For a kernel matrix, pass DPP(L)."
    )


def read_features(phi: Any, name: str = "phi") -> tuple[Features, FloatArray]:
    """Rows and their squared lengths; float32 features stay float32, and are copied only where they are small."""
    if sparse.issparse(phi):
        if phi.dtype.kind not in "fiu":
            raise TypeError(f"{name} must hold real numbers, found dtype {phi.dtype}.")
        rows = sparse.csr_array(phi, dtype=phi.dtype if phi.dtype in (np.float32, np.float64) else np.float64)
        if not rows.has_canonical_format:
            rows = rows.copy()
            rows.sum_duplicates()
    else:
        rows = np.asarray(phi)
        if rows.dtype not in (np.float32, np.float64) or rows.ndim != 2:
            rows = check_array(phi, name, 2)
        rows = np.ascontiguousarray(rows)
    if 0 in rows.shape:
        raise ValueError(f"{name} must have at least one row (item) and one column, found shape {rows.shape}.")
    if (rows.data if sparse.issparse(rows) else rows).nbytes <= COPIED:
        rows = rows.copy()
    squares = square_lengths(rows)
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
    return Rows(rows, np.sqrt(squares), q, None, diversity, squares)


def square_lengths(rows: Features) -> FloatArray:
    """|rows_i|^2 in float64, on all cores where there is enough to do."""
    from dpplearn._loops.greedy import row_squares

    if sparse.issparse(rows):
        squares = rows.data.astype(np.float64) ** 2
        return np.asarray(sparse.csr_array((squares, rows.indices, rows.indptr), rows.shape).sum(axis=1)).ravel()
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
