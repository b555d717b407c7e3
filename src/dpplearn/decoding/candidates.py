"""The items that a decoder chooses from, as it reads them from a model: a dense kernel, or features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from numbers import Real
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from dpplearn._cached import Latest, cached_property
from dpplearn._checks import Features, FloatArray, IntArray, balanced, check_jobs, check_vector, square_sums, view
from dpplearn._holders import as_csr, as_numbers
from dpplearn._linalg import logdet
from dpplearn._notebook import short_repr
from dpplearn._run.threads import map_threads
from dpplearn.decoding.diversity import check_diversity, diversified, exponents, mixed, quality_power
from dpplearn.decoding.lazy import Prior
from dpplearn.dpp import DPP
from dpplearn.lowrank import LowRankDPP
from dpplearn.nonsymmetric import NonsymmetricDPP
from dpplearn.operand import Dense, Operand, Rows, TwoSided

DENSE = 5000  # largest n for which a decoder that samples may form n x n from features
SMALLEST = 1e-8  # nugget
NONE = np.empty(0, np.int64)
COPIED = 2**20  # bytes of features up to which a copy is made; larger ones are read in place


class Directed(NamedTuple):
    """Items of quality q in the directions of their rows: L_ij = q_i q_j cos(rows_i, rows_j)."""

    rows: Features
    lengths: FloatArray  # of the rows; one of length 0 is similar to none
    q: FloatArray

    def __repr__(self) -> str:
        return short_repr(self)

    @property
    def zero(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Rows that have no direction."""
        return np.asarray(self.lengths <= 0.0)

    def operand(self, diversity: float = 0.5, tilt: float = 0.0, nugget: float = 0.0) -> Rows:
        """e^s L(d), of which similarities count for 1 - nugget of what they are."""
        a, b = exponents(diversity)
        b *= 1.0 - nugget
        power, lengths = quality_power(self.q, a), self.lengths
        diag = power * power
        if tilt:
            diag, power = np.exp(tilt) * diag, np.exp(tilt / 2) * power
        own = (1.0 - b) * diag
        if np.count_nonzero(lengths) == lengths.size:
            inverse = b**0.5 / lengths
        else:
            inverse = np.divide(b**0.5, lengths, out=np.zeros_like(lengths), where=lengths > 0.0)
            own = np.where(lengths > 0.0, own, diag)
        return Rows(self.rows, power * inverse, diag, own)


@dataclass(frozen=True, eq=False)
class Candidates:
    """The items of a model at diversity d, with kernel e^s L(d), and a nugget: S = (1 - nugget) C + nugget I."""

    model: DPP | LowRankDPP | NonsymmetricDPP | Directed
    diversity: float
    tilt: float = 0.0
    nugget: float = 0.0
    prior: Prior | None = None  # items chosen earlier
    distinct: bool = False  # whether greedy choice leaves items that repeat a direction to the end
    here: ClassVar[bool] = True  # in arrays; those of a device have a `greedy_run` of their own

    def greedy_run(self, limits: Any, rule: int, power: float, floor: float) -> Any:
        """One greedy pass where the items are."""
        raise NotImplementedError  # asked where they are not here

    @cached_property
    def operand(self) -> Operand | TwoSided:
        """e^s L(d), as an array or as rows."""
        if isinstance(self.model, NonsymmetricDPP):
            return self.model._operand
        if not isinstance(self.model, Directed) and self.as_given and not self.tilt and self.model.has_L:
            return self.model._operand
        if not isinstance(self.model, DPP):
            return self.directed.operand(self.diversity, self.tilt, self.nugget)
        L = mixed(diversified(self.model.L, self.diversity), 1.0 - self.nugget)
        return Dense(np.ascontiguousarray(L if self.tilt == 0.0 else np.exp(self.tilt) * L))

    @property
    def as_given(self) -> bool:
        """Whether neither the knob nor a nugget changes the model's kernel."""
        return self.diversity == 0.5 and self.nugget == 0.0

    @cached_property
    def directed(self) -> Directed:
        """Rows, their lengths and qualities, where there are rows."""
        if isinstance(self.model, Directed):
            return self.model
        assert isinstance(self.model, LowRankDPP)
        return Directed(self.model.B, self.model.quality, self.model.quality)

    def tilted(self, s: float) -> Candidates:
        """The same items with kernel e^s L(d)."""
        return replace(self, tilt=s) if s else self

    @property
    def n(self) -> int:
        return self.operand.n

    @property
    def diag(self) -> FloatArray:
        """L_ii."""
        return self.operand.diag

    def block(self, subset: IntArray) -> FloatArray:
        """L_Y."""
        return self.operand.block(subset)

    def part(self, subset: IntArray) -> Operand | TwoSided:
        """L_Y, as a kernel of these items alone."""
        return self.operand.part(subset) if isinstance(self.operand, TwoSided) else Dense(self.block(subset))

    def logdet(self, subset: IntArray) -> float:
        """log det L_Y, -inf where it is 0."""
        return self.operand.logdet(subset) if isinstance(self.operand, TwoSided) else logdet(self.block(subset))

    @cached_property
    def L(self) -> FloatArray:
        """L(d) as a dense array, for decoders that need all of it; only for few items."""
        if isinstance(self.operand, Dense):
            return self.operand.L
        if self.n > DENSE:
            raise ValueError(
                f"This decoder forms the {self.n} x {self.n} kernel, which is offered up to {DENSE} items. "
                "Use greedy_map, or pass fewer candidates."
            )
        return self.block(np.arange(self.n))

    def log_prob(self, subset: IntArray) -> float:
        """log P(Y) under the model as it was given, with the nugget."""
        if isinstance(self.model, DPP | NonsymmetricDPP):
            model = self.model if self.nugget == 0.0 else replace(self, diversity=0.5, tilt=0.0).dpp
            return float(model.log_prob(subset))
        if isinstance(self.model, LowRankDPP) and self.nugget == 0.0:
            return float(self.model.log_prob(subset))
        given = isinstance(self.model, Directed) and "log_normalizer" not in self._plain.__dict__
        if given and not self.unchanged():
            raise RuntimeError(
                "phi was changed after the set was chosen, so that its log_prob is not known any more. "
                "Ask for log_prob before, or decode a copy of phi."
            )
        return self._plain.logdet(subset) - self._plain.log_normalizer

    @cached_property
    def _plain(self) -> Rows:
        return self.directed.operand(nugget=self.nugget)

    def unchanged(self) -> bool:
        """Whether rows that are read in place still have the lengths they had."""
        now = np.sqrt(square_lengths(self.directed.rows))
        return bool(
            np.allclose(now, self.directed.lengths, rtol=1e-12, atol=0.0)
        )  # sums in another order round otherwise

    @cached_property
    def dpp(self) -> DPP | LowRankDPP:
        """The DPP with kernel L(d), to draw from."""
        assert not isinstance(self.model, NonsymmetricDPP)  # decoders that draw refuse it
        assert not isinstance(self.operand, TwoSided)
        if self.as_given and not isinstance(self.model, Directed):
            return self.model
        if isinstance(self.operand, Dense) or self.operand.own.any():  # what is an item's own is in no column of rows
            return DPP(self.L)
        return LowRankDPP(self.operand.scaled())

    @cached_property
    def _given(self) -> Latest[DPP | LowRankDPP]:
        return Latest()

    def given(self, include: IntArray, exclude: IntArray) -> DPP | LowRankDPP:
        """The DPP given what must be in and out; a second call with the same items finds its eigenvectors there."""
        if not (include.size or exclude.size):
            return self.dpp
        return self._given.get((include.tobytes(), exclude.tobytes()), lambda: self.dpp.condition(include, exclude))


Model: TypeAlias = DPP | LowRankDPP | NonsymmetricDPP | tuple[ArrayLike, Any] | Candidates
"""A DPP, a LowRankDPP, a NonsymmetricDPP (greedy and local search), or (q, phi): qualities (n,) and features (n, d),
dense or scipy sparse; or one read before."""


def read_model(model: Model, diversity: float = 0.5, *, nonsymmetric: bool = False, nugget: float = 0.0) -> Candidates:
    """The kernel or features of whatever a decoder was given, which may not be nonsymmetric unless it says so."""
    d, own = check_diversity(diversity), check_nugget(nugget)
    if isinstance(model, NonsymmetricDPP):
        if own:
            raise ValueError(f"nugget must be 0 for a NonsymmetricDPP, found {nugget!r}: its items may attract.")
        if not nonsymmetric:
            raise TypeError(
                "this decoder relies on gains that only shrink, or on eigenvectors, and a NonsymmetricDPP has neither. "
                "Use greedy_map or local_search."
            )
        if d != 0.5:
            raise ValueError(
                f"diversity must be 0.5 for a NonsymmetricDPP, found {diversity!r}: it weighs quality against "
                "similarity, and items that attract have none."
            )
        return Candidates(model, d)
    if isinstance(model, DPP | LowRankDPP):
        return Candidates(model, d, nugget=own)
    if isinstance(model, tuple) and len(model) == 2:
        return Candidates(read_rows(*model), d, nugget=own)
    if isinstance(model, Candidates):
        return model if d == model.diversity else replace(model, diversity=d)
    raise TypeError(
        "the model to decode must be a DPP, a LowRankDPP, or a tuple (q, phi) of qualities and features, "
        f"found {type(model).__name__}. For a kernel matrix, pass DPP(L)."
    )


def check_nugget(nugget: Any) -> float:
    """0, or a number from SMALLEST to 1."""
    number = isinstance(nugget, Real) and not isinstance(nugget, bool)
    if not (number and (nugget == 0.0 or SMALLEST <= nugget <= 1.0)):
        raise ValueError(
            f"nugget must be 0, or a number from {SMALLEST:g} (less is lost in rounding) to 1 (quality alone), "
            f"found {nugget!r}."
        )
    return float(nugget)


def read_features(phi: Any, name: str = "phi", start: int = 0) -> tuple[Features, FloatArray]:
    """Rows and their lengths; features keep their type, and are copied only where they are small. The first is called
    row `start` where one is wrong."""
    rows: Any = as_csr(phi, name) if sparse.issparse(phi) else np.ascontiguousarray(as_numbers(phi, name, 2))
    if 0 in rows.shape:
        raise ValueError(f"{name} must have at least one row (item) and one column, found shape {rows.shape}.")
    same, squares = copied(rows) if is_small(rows) else (rows, square_lengths(rows))
    rows = balanced(same, squares)
    lengths = np.sqrt(squares if rows is same else square_lengths(rows))
    bad = not_finite(lengths)
    if bad.size:
        which = f"row {start + bad[0]} is" if bad.size == 1 else f"rows {some(start + bad)} are"
        raise ValueError(f"{name} must be finite, and so the length of its rows, but {which} not.")
    return rows, lengths


def not_finite(x: FloatArray) -> IntArray:
    """Where numbers are infinite, or none."""
    finite = np.isfinite(x)
    return NONE if np.count_nonzero(finite) == x.size else np.flatnonzero(~finite)


def some(rows: IntArray, most: int = 8) -> str:
    """The first numbers of a list, and how many there are if not all are shown."""
    shown = ", ".join(map(str, rows[:most].tolist()))
    return shown if rows.size <= most else f"{shown}, ... ({rows.size} in all)"


def read_rows(q: ArrayLike, phi: Any) -> Directed:
    """Qualities and features, each with a direction."""
    rows, lengths = read_features(phi)
    if lengths.min() <= 0.0:
        raise ValueError(
            f"phi must have no zero row, because a direction is needed; row {int(lengths.argmin())} is zero."
        )
    q = check_vector(q, "q", rows.shape[0], low=0.0)
    with np.errstate(over="ignore"):
        if not np.isfinite(q.max() ** 2):
            raise ValueError(f"q must be small enough for q_i^2 to be a float, but its largest entry is {q.max():.3g}.")
    return Directed(rows, lengths, q)


def square_lengths(rows: Features) -> FloatArray:
    """|rows_i|^2 in float64, on all cores where there is enough to do."""
    if not isinstance(rows, np.ndarray):
        return square_sums(rows.astype(np.float64, copy=False))
    out = np.empty(rows.shape[0])
    blocks = -(-rows.size // 4_000_000)
    row_squares = loops().row_squares
    if blocks <= 1:
        row_squares(view(single(rows)), out)
        return out
    ends = np.linspace(0, rows.shape[0], blocks + 1).astype(int)
    parts = [slice(a, b) for a, b in pairwise(ends.tolist())]
    map_threads(lambda b: row_squares(view(single(rows[parts[b]])), out[parts[b]]), blocks, check_jobs(None))
    return out


def is_small(rows: Features) -> bool:
    """Whether features are copied, and not read in place."""
    return bool((rows if isinstance(rows, np.ndarray) else rows.data).nbytes <= COPIED)


def copied(rows: Features) -> tuple[Features, FloatArray]:
    """A copy, and the squared lengths of its rows."""
    if not isinstance(rows, np.ndarray) or rows.dtype.char == "e":
        return (same := rows.copy()), square_lengths(same)
    copy, squares = np.empty(rows.shape, rows.dtype), np.empty(rows.shape[0])
    loops().copy_rows(view(rows), copy, squares)
    return copy, squares


@cache
def loops() -> Any:
    """The compiled loops, imported with the first rows."""
    from dpplearn._loops import greedy

    return greedy


def single(rows: Features) -> Features:
    """float16 as float32, which products and loops know."""
    return rows.astype(np.float32) if rows.dtype.char == "e" else rows


def as_unit(rows: Any, lengths: FloatArray) -> np.ndarray:
    """Rows of length 1 in single or double precision; a row of zeros stays one."""
    rows = single(rows)
    return np.asarray(rows / np.where(lengths > 0.0, lengths, 1.0).astype(rows.dtype)[:, None])
