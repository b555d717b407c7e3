"""A column of a table as numbers: a category, a boolean or a number, some of which may be missing.

A missing value, and a category that training did not have, is *unknown*. For the quality it counts as the average item,
with a weight of its own if training had unknown values; in similarities, unknown is a category like the others.
"""

from __future__ import annotations

import math
import numbers
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Literal, Self

import numpy as np
from scipy import sparse

from dpplearn._checks import Features, FloatArray, warn_user

Kind = Literal["number", "boolean", "category"]
KINDS: tuple[Kind, ...] = ("number", "boolean", "category")
MAX_DENSE = 256  # similarity features beyond which they are sparse
FARTHEST = 12.0  # numbers farther from the mean, in standard deviations, count as this far
BOOLEAN_WORDS = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0, "1": 1.0, "0": 0.0, "1.0": 1.0, "0.0": 0.0}

FREQUENCIES = np.arange(0.0, 6.5, 2 * np.pi / (2 * FARTHEST + 6.5))  # with period 2 FARTHEST + 6.5
SHARES = np.exp(-(FREQUENCIES**2) / 2) * np.where(FREQUENCIES > 0, 2.0, 1.0)
SHARES /= SHARES.sum()


@dataclass(frozen=True)
class Column:
    """One column as it was in training.

    `base` is the level without a feature of its own, -1 if there is none; `shares` is how frequent each level is;
    `mean` and `scale` are those of the numbers, or of the booleans. `unknown` says whether training had unknown values.

    Examples
    --------
    >>> genre = Column.of("genre", np.array(["rock", "jazz", "rock", None], object))
    >>> genre.quality_names, genre.quality(genre.raw(np.array(["jazz", "rock", None], object)))
    (['genre=jazz', 'genre is unknown'], array([[1.        , 0.        ],
           [0.        , 0.        ],
           [0.33333333, 1.        ]]))
    """

    name: str
    kind: Kind
    levels: tuple[str, ...] = ()
    base: int = -1
    unknown: bool = False
    mean: float = 0.0
    scale: float = 1.0
    shares: tuple[float, ...] = ()

    @classmethod
    def of(cls, name: str, values: np.ndarray, dtype: Any = None) -> Self:
        """Learn a column of training; the data frame's `dtype` may say that numbers are categories."""
        kind: Kind = "category" if hasattr(dtype, "categories") else kind_of(name, values)
        if kind == "category":
            counts = Counter(label(x) for x in values.tolist() if not is_missing(x))
            levels = tuple(sorted(counts))
            warn_about_labels(levels, f"Column {name!r}")
            shares = tuple(counts[level] / counts.total() for level in levels)
            column = cls(name, kind, levels, int(np.argmax(shares)) if shares else -1, shares=shares)
        else:
            x = cls(name, kind).raw(values)
            seen = x[~np.isnan(x)] if not np.isnan(x).all() else np.zeros(1)
            column = cls(name, kind, mean=float(seen.mean()), scale=float(seen.std()) or 1.0)
        missing = np.isnan(column.raw(values))
        if missing.all():
            raise ValueError(f"Column {name!r} of the table has no value in any row. Leave it out.")
        return replace(column, unknown=bool(missing.any()))

    def raw(self, values: np.ndarray) -> FloatArray:
        """Numbers as they are, booleans as 0 and 1, categories as the position of their level; NaN is unknown."""
        if self.levels:
            place = {level: float(j) for j, level in enumerate(self.levels)}
            return np.array([math.nan if is_missing(x) else place.get(label(x), math.nan) for x in values.tolist()])
        if values.dtype.kind in "fiub":
            x = values.astype(np.float64)
        else:
            x = np.array([self._number(value, row) for row, value in enumerate(values.tolist())], np.float64)
        if np.isinf(x).any():
            row = int(np.isinf(x).argmax())
            raise ValueError(f"Column {self.name!r} must hold finite numbers, but {self.name}[{row}] is {x[row]}.")
        odd = ~np.isin(x, (0, 1)) & ~np.isnan(x)
        if self.kind == "boolean" and odd.any():
            row = int(odd.argmax())
            raise ValueError(f"Column {self.name!r} held booleans in training, and {self.name}[{row}] is {x[row]:g}.")
        return x

    def _number(self, value: Any, row: int) -> float:
        if is_missing(value):
            return math.nan
        try:
            if self.kind == "boolean" and isinstance(value, str):
                return BOOLEAN_WORDS[value.strip().lower()]
            return float(value)
        except (TypeError, ValueError, KeyError, OverflowError):
            where = f"{self.name}[{row}] is {value!r:.40}"
            raise ValueError(f"Column {self.name!r} holds {self.kind}s, and {where}.") from None

    def words(self, x: float) -> str:
        """The value of an item in words, from what `raw` made of it.

        Examples
        --------
        >>> Column("live", "boolean").words(0.0), Column("tempo", "number").words(120.0)
        ('live being false', 'its tempo of 120')
        """
        if self.kind == "number" and not math.isnan(x):
            return f"its {self.name} of {x:.4g}"
        levels = self.levels or ("false", "true")
        return f"{self.name} being {'unknown' if math.isnan(x) else levels[int(x)]}"

    @property
    def quality_names(self) -> list[str]:
        """Names of the columns of `quality`."""
        names = [self.name]
        if self.kind == "category":
            names = [f"{self.name}={level}" for j, level in enumerate(self.levels) if j != self.base]
        return [*names, f"{self.name} is unknown"] if self.unknown else names

    def quality(self, x: FloatArray) -> FloatArray:
        """Quality features, from what `raw` made; those of a category are relative to its base."""
        missing = np.isnan(x)
        if self.kind == "category":
            others = np.flatnonzero(np.arange(len(self.levels)) != self.base)
            block, average = (x[:, None] == others).astype(np.float64), np.array(self.shares)[others]
        else:
            block, average = x[:, None].copy(), np.array([self.mean])
        block[missing] = average
        return np.column_stack([block, missing]) if self.unknown else block

    def by_distance(self, x: FloatArray) -> FloatArray:
        """Similarity features of a number: two items x and y have cosine exp(-(x - y)^2 / 2 sigma^2).

        With z = x / sigma and frequencies w_j in steps of h,
        exp(-(z - z')^2 / 2) = sum of c_j cos(w_j (z - z')) = sum of c_j (cos w_j z cos w_j z' + sin w_j z sin w_j z'),
        c_j the normal density at w_j times h: the error of this trapezoidal sum is less than 1e-7 for numbers within
        FARTHEST standard deviations of the mean. Unknown is similar to unknown only.
        """
        missing = np.isnan(x)
        z = np.clip((np.where(missing, self.mean, x) - self.mean) / self.scale, -FARTHEST, FARTHEST)
        angles = z[:, None] * FREQUENCIES
        block = np.hstack([np.cos(angles), np.sin(angles)]) * np.tile(np.sqrt(SHARES), 2)
        block[missing] = 0.0
        return np.column_stack([block, missing])

    def direction(self, x: FloatArray) -> Features:
        """Similarity features: equal categories have cosine 1, others 0; numbers and booleans are coordinates."""
        missing, L = np.isnan(x), len(self.levels)
        if self.kind == "category":
            where = np.where(missing, L, x).astype(np.int64)
            block = sparse.csr_array((np.ones(x.size), where, np.arange(x.size + 1)), shape=(x.size, L + 1))
            return block if L + 1 > MAX_DENSE else block.toarray()
        return np.where(missing, self.mean, x)[:, None]


def kind_of(name: str, values: np.ndarray) -> Kind:
    """Whether a column has numbers, booleans or categories."""
    if values.dtype.kind in "fiub":
        return "boolean" if values.dtype.kind == "b" else "number"
    first: dict[str, tuple[int, Any]] = {}
    for row, x in enumerate(values.tolist()):
        if not is_missing(x):
            other = "category" if isinstance(x, str) else type(x).__name__
            kind = "boolean" if isinstance(x, bool) else "number" if isinstance(x, numbers.Real | Decimal) else other
            first.setdefault(kind, (row, x))
    if len(first) > 1:
        kinds = ", ".join(f"{kind} ({x!r:.30} in row {row})" for kind, (row, x) in first.items())
        raise TypeError(f"Column {name!r} must hold values of one kind, found {kinds}. Convert the column.")
    kind, (row, x) = next(iter(first.items())) if first else ("number", (0, None))
    if kind not in KINDS:
        raise TypeError(f"{name}[{row}] is {x!r:.40} ({kind}). Convert column {name!r}, a date for instance to days.")
    if kind == "category":
        try:
            np.array([x for x in values.tolist() if not is_missing(x)], np.float64)
        except ValueError:  # these texts are not numbers, as it should be
            return kind
        raise TypeError(f"Column {name!r} holds numbers as texts, such as {x!r:.40}. Convert it, names to categories.")
    return kind


def label(x: Any) -> str:
    """A level as a text: 1 and 1.0 are the same."""
    return str(int(x)) if isinstance(x, float) and x.is_integer() else str(x)


def warn_about_labels(labels: Iterable[Any], where: str) -> None:
    """Warn if labels differ from others only in blanks or capitals, which usually is a mistake."""
    first: dict[str, str] = {}
    pairs = [(first.setdefault(" ".join(text.split()).casefold(), text), text) for text in labels]
    if pairs := [(a, b) for a, b in pairs if a != b]:
        a, b = pairs[0]
        many = f" ({len(pairs)} such pairs)" if len(pairs) > 1 else ""
        warn_user(
            f"{where} has both {a!r} and {b!r}{many}, which differ only in blanks or capitals and count as different. "
            "If they are the same, write them alike first: in pandas, column.str.strip().str.lower()."
        )


def is_missing(x: Any) -> bool:
    """Whether a value is None, NaN, an empty text, or what pandas has for them."""
    if isinstance(x, float):
        return x != x
    return x is None or (isinstance(x, str) and not x) or type(x).__name__ in ("NAType", "NaTType")


def column_from(state: Any) -> Column:
    """A column from a model file, checked."""
    column = Column(**{**state, "levels": tuple(state["levels"]), "shares": tuple(state["shares"])})
    n, figures = len(column.levels), (column.mean, column.scale, *column.shares)
    valid = (
        all(isinstance(text, str) for text in (column.name, *column.levels))
        and (column.kind in KINDS and type(column.unknown) is bool and type(column.base) is int)
        and (all(type(x) in (int, float) and math.isfinite(x) for x in figures) and column.scale > 0)
        and len(column.shares) == len(set(column.levels)) == n
        and ((column.kind == "category") == (n > 0) and -1 <= column.base < max(n, 1))
    )
    if not valid:
        raise ValueError(f"the column {column.name!r:.40} is not whole")
    return column
