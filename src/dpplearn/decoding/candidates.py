"""The items that decoders choose from: the kernel of a model, or features that are read in place.

All decoders share one setting, diversity d from 0 to 1. They work on the kernel

    L_ij(d) = q_i^a S_ij(b) q_j^a,   a = min(1, 2 - 2 d),   b = min(1, 2 d),   S(b) = (1 - b) I + b S.

At d = 0, S(0) = I, and only quality counts. At 0.5, L(d) is the model's own kernel. At 1, q^0 = 1, and only similarity
counts. Every L(d) is positive semidefinite, so it is the kernel of a DPP. Above 0.5, decoders that look for the most
probable set fill the budget or the size limit: see `dpplearn.decoding.tilt.fill_tilt`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg, sparse

from dpplearn._cached import LatestValue, cached_property
from dpplearn._checks import (
    LONGEST,
    SHORTEST,
    Features,
    FloatArray,
    IntArray,
    balanced,
    check_items,
    check_jobs,
    check_quality,
    first_few,
    square_sums,
    view,
)
from dpplearn._holders import as_array, as_csr, as_numbers
from dpplearn._linalg import to_dense
from dpplearn._notebook import short_repr
from dpplearn._precision import EPS
from dpplearn._run.threads import map_threads
from dpplearn.decoding import near
from dpplearn.decoding.engine import ArrayOps, Gains, KernelGains, RowGains
from dpplearn.decoding.limits import NO_ITEMS, check_diversity, check_nugget
from dpplearn.dpp import DPP
from dpplearn.lowrank import LowRankDPP
from dpplearn.minors import TwoSided
from dpplearn.nonsymmetric import NonsymmetricDPP
from dpplearn.operand import ROWS_AT_ONCE, Dense, Operand, Rows

COPIED_BYTES = 2**20  # features of at most so many bytes are copied as float64; larger ones are read in place
ENTRIES_PER_THREAD = 4_000_000  # entries of rows that a thread reads at once
COMPILED_ENTRIES = 2_000_000  # with more entries, a compiled loop computes the lengths of rows
MAX_DENSE_ITEMS = 5000  # largest n for which an n x n kernel may be formed from features
SMALL_NUGGET = 1e-6  # the nugget that `given` items need: too small to change which items come first


def read_features(
    phi: Any, name: str = "phi", start: int = 0, n_jobs: int | None = None
) -> tuple[Features, FloatArray]:
    """Rows and their lengths. Small dense rows are copied as float64; large ones are read in place, in their own type.

    `start` is the number of the first row in error messages.
    """
    dense = isinstance(phi, np.ndarray) or not sparse.issparse(phi)
    rows: Any = as_numbers(phi, name, 2) if dense else as_csr(phi, name)
    if 0 in rows.shape:
        raise ValueError(f"{name} must have at least one row (item) and one column, found shape {rows.shape}.")
    if dense:
        rows = np.array(rows, np.float64, order="C") if rows.nbytes <= COPIED_BYTES else np.ascontiguousarray(rows)
    elif rows.data.nbytes <= COPIED_BYTES:
        rows = rows.copy()
    squares = square_lengths(rows, n_jobs)
    least, most = squares[squares.argmin()], squares[squares.argmax()]  # quicker than min and max; also find nan
    if not (least >= SHORTEST**2 and most <= LONGEST**2):
        rows = balanced(rows, squares)
        squares = square_lengths(rows)
        bad = start + np.flatnonzero(~np.isfinite(squares))
        if bad.size:
            which = f"row {bad[0]} is" if bad.size == 1 else f"rows {first_few(bad)} are"
            advice = "Leave such rows out, or mend them."
            raise ValueError(f"{name} must be finite, and so the length of its rows, but {which} not. {advice}")
    return rows, np.sqrt(squares)


def square_lengths(rows: Features, n_jobs: int | None = None) -> FloatArray:
    """|rows_i|^2 in float64. For many rows, a compiled loop on threads reads them once and copies nothing."""
    if not isinstance(rows, np.ndarray):  # sparse
        return square_sums(rows.astype(np.float64, copy=False))
    if rows.size <= COMPILED_ENTRIES:
        rows = rows.astype(np.float64, copy=False)
        return np.asarray(np.einsum("ij,ij->i", rows, rows))
    from dpplearn.decoding._loops import row_squares  # here: numba takes a moment to import

    out, step = np.empty(rows.shape[0]), ENTRIES_PER_THREAD // rows.shape[1] + 1

    def some_rows(b: int) -> None:
        part = slice(b * step, (b + 1) * step)
        some = rows[part]
        row_squares(view(some.astype(np.float32) if some.dtype.char == "e" else some), out[part])

    map_threads(some_rows, -(-rows.shape[0] // step), check_jobs(n_jobs))
    return out


class Embedded(NamedTuple):
    """Items of quality q in the directions of their rows, L_ij = q_i q_j cos(rows_i, rows_j); arrays, or tensors."""

    rows: Features
    lengths: FloatArray  # of the rows; a row of length 0 is similar to no other
    q: FloatArray

    def __repr__(self) -> str:
        return short_repr(self)

    def part(self, subset: IntArray) -> Embedded:
        """Some of the items."""
        subset = subset.copy()  # torch warns of indices that cannot be written
        return Embedded(self.rows[subset], self.lengths[subset], self.q[subset])

    def operand(self, diversity: float = 0.5, tilt: float = 0.0, nugget: float = 0.0) -> Rows:
        """e^s L(d), with the similarities of different items multiplied by 1 - nugget."""
        a, b = (1.0, 1.0) if diversity == 0.5 else exponents(diversity)
        b *= 1.0 - nugget
        power = self.q if a == 1.0 else quality_power(self.q, a)
        if tilt:
            power = np.exp(tilt / 2) * power
        diag = power * power
        own, scale = (1.0 - b) * diag, power if b == 1.0 else b**0.5 * power
        if self.lengths[self.lengths.argmin()] > 0.0:
            return Rows(self.rows, scale / self.lengths, diag, own)
        there = self.lengths > 0.0
        return Rows(self.rows, scale * there / (self.lengths + ~there), diag, own + (diag - own) * ~there)


class Given(NamedTuple):
    """Items chosen before, which the next ones should not repeat; they need not be among the candidates."""

    rows: Any
    lengths: FloatArray

    def explained(self, share: float) -> FloatArray:
        """Rows U such that I - U^T U = (I + c G^T G)^-1, for the unit rows G and c = share / (1 - share).

        This is what the given items leave of each direction, if similarities are multiplied by `share`.
        """
        d = self.rows.shape[1]
        A = np.zeros((d, d))
        for low in range(0, self.lengths.size, ROWS_AT_ONCE):
            part = slice(low, low + ROWS_AT_ONCE)
            lengths = np.where(self.lengths[part] > 0.0, self.lengths[part], 1.0)
            U = to_dense(self.rows[part]).astype(np.float64) / lengths[:, None]
            A += U.T @ U
        lam, V = linalg.eigh(A, check_finite=False, overwrite_a=True)
        there = lam > d * EPS * max(lam[-1], 1.0)
        return np.sqrt(share * lam[there] / (1.0 - share + share * lam[there]))[:, None] * V.T[there]


def read_given(given: Any, rows: Any, lengths: FloatArray) -> tuple[Given, IntArray]:
    """Items chosen before, and their numbers among the candidates: no numbers if rows were given."""
    n, d = rows.shape
    if (items := read_given_items(given, n)) is not None:
        return Given(rows[items], lengths[items]), items
    if not sparse.issparse(given):
        given = as_numbers(given, "given")
    if given.ndim != 2 or given.shape[1] != d:
        raise ValueError(
            f"given must be numbers of items, or rows of {d} numbers like the embeddings, found shape {given.shape}."
        )
    return Given(*read_features(given, "given")) if given.shape[0] else Given(given, np.empty(0)), NO_ITEMS


def read_given_items(given: Any, n: int) -> IntArray | None:
    """The numbers of the items chosen before, in their order, which counts in a feed; None if rows were given."""
    if sparse.issparse(given):
        return None
    plain = as_array(given, "given")
    by_number = plain.ndim == 1 and (plain.dtype.kind in "iub" or plain.size == 0)
    return check_items(plain, n, "given") if by_number else None


@dataclass(frozen=True, eq=False)
class Candidates:
    """The items of a model at diversity d, with kernel e^s L(d), and a nugget: S = (1 - nugget) C + nugget I."""

    model: DPP | LowRankDPP | NonsymmetricDPP | Embedded | Operand | TwoSided
    diversity: float = 0.5
    tilt: float = 0.0
    nugget: float = 0.0
    given: Given | None = None
    near: bool = False  # whether the kernel is the one of `dpplearn.decoding.near`
    xp: ClassVar[Any] = ArrayOps

    def gains(self, k: int, expected: int | None = None) -> Gains | None:
        """The gains for greedy choice of at most k items; None for a kernel that is not symmetric.

        The kernel of near items depends on how many items are expected to be chosen, by default k.
        """
        if self.near:
            rows, lengths, q = self.embedded
            a, b = exponents(self.diversity)
            given = () if self.given is None else self.given.rows
            return near.NearGains(rows, lengths, quality_power(q, a), expected or k, b, self.nugget, given)
        model = self.model
        operand = model.operand(self.diversity, self.tilt, self.nugget) if isinstance(model, Embedded) else self.operand
        if isinstance(operand, TwoSided):
            return None
        if isinstance(operand, Dense):
            return KernelGains(operand.L, k)
        before = None if self.given is None else self.explained()
        return RowGains(operand.rows, operand.scale, operand.diag, operand.own, k, before, self.xp)

    def explained(self) -> FloatArray:
        """The directions that a choice begins with, from the items given."""
        assert self.given is not None
        return self.given.explained(exponents(self.diversity)[1] * (1.0 - self.nugget))

    @cached_property
    def operand(self) -> Operand | TwoSided:
        """e^s L(d), as an array or as rows."""
        model = self.model
        if isinstance(model, Dense | Rows | TwoSided):
            return model
        if isinstance(model, NonsymmetricDPP):
            return model._operand
        as_given = self.diversity == 0.5 and self.nugget == 0.0 == self.tilt
        if not isinstance(model, Embedded) and as_given and model.has_L:
            return model._operand
        if not isinstance(model, DPP):
            return self.embedded.operand(self.diversity, self.tilt, self.nugget)
        L = mixed(diversified(model.L, self.diversity), 1.0 - self.nugget)
        return Dense(np.ascontiguousarray(L if self.tilt == 0.0 else np.exp(self.tilt) * L))

    @cached_property
    def embedded(self) -> Embedded:
        """Rows, their lengths and qualities; only for models that have rows."""
        if isinstance(self.model, Embedded):
            return self.model
        assert isinstance(self.model, LowRankDPP)
        return Embedded(self.model.B, self.model.quality, self.model.quality)

    def near_items(self) -> Candidates:
        """The same items under a kernel of near items."""
        return replace(self, nugget=max(self.nugget, near.NUGGET), near=True)

    @property
    def directions(self) -> int:
        """An upper bound on how many items can be independent: the columns, and the rows of zeros."""
        return int(self.embedded.rows.shape[1] + (self.embedded.lengths <= 0.0).sum())

    @property
    def n(self) -> int:
        return self.operand.n

    @property
    def diag(self) -> FloatArray:
        """L_ii."""
        return self.operand.diag

    def part(self, subset: IntArray) -> Candidates:
        """Some of the items, as candidates by themselves."""
        whole = self.operand
        return Candidates(whole.part(subset) if isinstance(whole, TwoSided) else Dense(whole.block(subset)))

    @cached_property
    def L(self) -> FloatArray:
        """L(d) as a dense array, for decoders that need all of it; an error for many items."""
        if isinstance(self.operand, Dense):
            return self.operand.L
        self.check_few()
        return self.operand.block(np.arange(self.n))

    def check_few(self) -> None:
        """An error if there are too many items for an n x n matrix."""
        if self.n > MAX_DENSE_ITEMS:
            formed = f"This decoder forms an n x n kernel for n up to {MAX_DENSE_ITEMS}, found {self.n} items"
            raise ValueError(f"{formed}. Use greedy_map, or pass fewer candidates.")

    def log_prob(self, subset: IntArray) -> float:
        """log P(Y) under the model as it was given, with the nugget."""
        if isinstance(self.model, DPP | NonsymmetricDPP):
            model = self.model if self.nugget == 0.0 else replace(self, diversity=0.5).dpp
            return float(model.log_prob(subset))
        if isinstance(self.model, LowRankDPP) and self.nugget == 0.0:
            return float(self.model.log_prob(subset))
        if isinstance(self.model, Embedded) and "log_normalizer" not in self._plain.__dict__:
            now = np.sqrt(square_lengths(self.model.rows))  # the rows may be the caller's own array
            if not np.allclose(now, self.model.lengths, rtol=1e-12, atol=0.0):
                raise RuntimeError("Features were changed after the choice. Ask for log_prob before, or pass a copy.")
        return self._plain.logdet(subset) - self._plain.log_normalizer

    @cached_property
    def _plain(self) -> Rows:
        return self.embedded.operand(nugget=self.nugget)

    @cached_property
    def dpp(self) -> DPP | LowRankDPP:
        """The DPP with kernel L(d), without tilt."""
        if self.tilt:
            return replace(self, tilt=0.0).dpp
        if isinstance(self.model, DPP | LowRankDPP) and self.diversity == 0.5 and self.nugget == 0.0:
            return self.model
        if isinstance(self.operand, Rows) and not self.operand.own.any():
            return LowRankDPP(self.operand.scaled())
        return DPP(self.L)  # nuggets are not in the rows

    @cached_property
    def _conditioned(self) -> LatestValue[DPP | LowRankDPP]:
        return LatestValue()

    def conditioned(self, include: IntArray, exclude: IntArray) -> DPP | LowRankDPP:
        """The DPP given the items to include and exclude, kept for a second call, which then has its eigenvectors."""
        if not (include.size or exclude.size):
            return self.dpp
        key = (include.tobytes(), exclude.tobytes())
        return self._conditioned.get(key, lambda: self.dpp.condition(include, exclude))


Model: TypeAlias = DPP | LowRankDPP | NonsymmetricDPP | tuple[ArrayLike, Any]
"""A DPP, a LowRankDPP, a NonsymmetricDPP (greedy and local search), or (q, phi): qualities (n,) and features (n, d),
dense or scipy sparse."""


def read_model(model: Model, diversity: float = 0.5, *, nonsymmetric: bool = False, nugget: float = 0.0) -> Candidates:
    """The candidates of a model that a decoder was given; an error for a nonsymmetric one unless that is allowed."""
    d, nugget = check_diversity(diversity), check_nugget(nugget)
    if isinstance(model, NonsymmetricDPP):
        if not nonsymmetric:
            raise TypeError("this decoder is not for a NonsymmetricDPP. Use greedy_map or local_search.")
        if nugget or d != 0.5:
            settings = f"{diversity!r} and {nugget!r}"
            raise ValueError(f"diversity must be 0.5 and nugget 0 for a NonsymmetricDPP, found {settings}.")
        return Candidates(model, d)
    if isinstance(model, DPP | LowRankDPP):
        return Candidates(model, d, nugget=nugget)
    if isinstance(model, tuple) and len(model) == 2:
        rows, lengths = read_features(model[1])
        if lengths.min() <= 0.0:
            row = int(lengths.argmin())
            raise ValueError(f"phi must have no zero row, because a direction is needed; row {row} is zero.")
        return Candidates(Embedded(rows, lengths, check_quality(model[0], len(lengths))), d, nugget=nugget)
    raise TypeError(
        "the model to decode must be a DPP, a LowRankDPP, or a tuple (q, phi) of qualities and features, "
        f"found {type(model).__name__}. For a kernel matrix, pass DPP(L)."
    )


def exponents(diversity: float) -> tuple[float, float]:
    """a and b of the formula: the power of quality and the share of similarity."""
    return min(1.0, 2.0 - 2.0 * diversity), min(1.0, 2.0 * diversity)


def quality_power(q: FloatArray, a: float) -> FloatArray:
    """q^a, but 0 where q is 0, also for a = 0."""
    return q if a == 1.0 else q**a * (q > 0.0)


def diversified(L: FloatArray, diversity: float) -> FloatArray:
    """L(d) for a dense kernel.

    >>> diversified(np.array([[4.0, 1.0], [1.0, 1.0]]), 1.0)
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    a, b = exponents(diversity)
    if a == 1.0:
        return mixed(L, b)
    q = np.sqrt(np.maximum(L.diagonal(), 0.0))
    factor = np.where(q > 0.0, q, 1.0) ** (a - 1.0)
    scaled = np.asarray(factor[:, None] * L * factor)
    scaled.flat[:: len(L) + 1] = quality_power(q, a) ** 2  # exactly 1 at the end, so that ties are ties
    return scaled


def mixed(L: FloatArray, b: float) -> FloatArray:
    """L with the entries off the diagonal multiplied by b: S -> (1 - b) I + b S."""
    if b == 1.0:
        return L
    less = b * L
    less.flat[:: len(L) + 1] = L.diagonal()
    return less
