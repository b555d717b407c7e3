"""Checks of arguments: each returns its argument in a usable form, or raises an error that says what to change."""

from __future__ import annotations

import operator
import os
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike
from scipy import sparse

from dpplearn._holders import as_csr, as_numbers

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Numbers = TypeVar("Numbers")  # an array, dense or csr
Features: TypeAlias = Any  # a float array or a scipy csr_array, one row per item; scipy has no types
Items: TypeAlias = ArrayLike | Iterable[int]  # item numbers in any collection, or a boolean mask
Seed = int | np.random.SeedSequence | np.random.BitGenerator | np.random.Generator | None

SMALLEST = float(np.finfo(np.float64).tiny)
SHORTEST, LONGEST = 1e-18, 1e18  # between these lengths of rows, squares and sums of many squares fit in float32
LARGEST_QUALITY = float(np.sqrt(np.finfo(np.float64).max)) * (1 - 1e-8)  # a little less, since S_ij may exceed 1
PACKAGE = str(Path(__file__).parent)


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line of the user's own code, however deep in this package the warning arises."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def count_of(number: int, one: str, many: str) -> str:
    """A number with its noun.

    >>> count_of(1, "item", "items"), count_of(0, "item", "items")
    ('1 item', '0 items')
    """
    return f"{number} {one if number == 1 else many}"


def first_few(rows: IntArray) -> str:
    """The first eight numbers in words, and how many there are in all if there are more."""
    shown = ", ".join(map(str, rows[:8].tolist()))
    return shown if rows.size <= 8 else f"{shown}, ... ({rows.size} in all)"


def is_tensor(x: Any) -> bool:
    """Whether x is a torch tensor; does not import torch."""
    return type(x).__module__.partition(".")[0] == "torch" and hasattr(x, "device")


def check_array(x: Any, name: str, ndim: int) -> FloatArray:
    """A float64 array of `ndim` dimensions with finite entries, in C order; always a copy."""
    array = np.array(as_numbers(x, name, ndim), np.float64, order="C")
    if not np.isfinite(array).all():
        bad = np.argwhere(~np.isfinite(array)).tolist()
        count, value = count_of(len(bad), "such entry", "such entries"), array[tuple(bad[0])]
        raise ValueError(f"{name} must be finite, but {name}{bad[0]} is {value} ({count} in all).")
    return array


def check_square(x: ArrayLike, name: str) -> FloatArray:
    """A symmetric, finite, square matrix with at least one row; rounding asymmetry is averaged away."""
    A = check_array(x, name, 2)
    if A.shape[0] != A.shape[1]:
        raise ValueError(f"{name} must be square (one row and one column per item), found shape {A.shape}.")
    if len(A) == 0:
        raise ValueError(f"{name} has no items: a ground set needs at least one.")
    gap = float(np.abs(A - A.T).max())
    if gap > tolerance(x) * np.abs(A).max():
        raise ValueError(
            f"{name} must be symmetric, but {name} and its transpose differ by up to {gap:.2g}. "
            f"Pass ({name} + {name}.T) / 2 if that is what you mean."
        )
    if gap > 0:
        A = A / 2 + A.T / 2
    return A


def tolerance(A: ArrayLike) -> float:
    """The relative size of rounding errors that are forgiven in a user's kernel."""
    kind: Any = getattr(A, "dtype", None)
    return 1e-6 if getattr(kind, "kind", "") == "f" and kind.itemsize < 8 else 1e-8  # in any byte order


def check_vector(x: ArrayLike, name: str, n: int, *, low: float | None = None) -> FloatArray:
    """A finite float64 vector of n entries, none below `low`."""
    v = check_array(x, name, 1)
    if v.size != n:
        raise ValueError(f"{name} must have one entry per item ({n}), found {v.size}.")
    if low is not None and v.size and v.min() < low:
        i = int(v.argmin())
        raise ValueError(f"{name} must not be below {low:g}, but {name}[{i}] is {v[i]:.3g}.")
    return v


def check_quality(q: ArrayLike, n: int) -> FloatArray:
    """Qualities that are not negative, and small enough that no q_i S_ij q_j overflows."""
    q = check_vector(q, "q", n, low=0.0)
    if q.max() > LARGEST_QUALITY:
        raise ValueError(f"q must be small enough for q_i^2 to be a float, but its largest entry is {q.max():.3g}.")
    return q


def check_items(items: Items, n: int, name: str) -> IntArray:
    """Different item numbers below n, in the caller's order; a boolean mask of length n stands for its True items."""
    if np.ma.isMaskedArray(items):
        raise TypeError(f"{name} must be a plain array, found a masked one. Pass {name}.compressed().")
    flat: Any = items
    if not isinstance(flat, list | tuple | str) and not hasattr(flat, "__array__") and isinstance(flat, Iterable):
        flat = list(flat)  # a set, a range, a generator or the keys of a dict
    try:
        Y = np.asarray(flat)
    except (ValueError, OverflowError):  # lists of different lengths
        Y = np.empty((0, 0))
    if Y.ndim != 1:
        many = "For many subsets, pass Subsets.from_lists(..., n)."
        raise ValueError(f"{name} must be a flat list of item numbers, found {items!r:.60}. {many}")
    if Y.dtype == np.bool_:
        if Y.size != n:
            raise ValueError(f"{name} as a boolean mask must have length {n}, found {Y.size}.")
        return np.flatnonzero(Y).astype(np.int64)
    if Y.size == 0:
        return np.empty(0, np.int64)
    if Y.dtype.kind not in "iu":
        raise TypeError(f"{name} must hold integers or be a boolean mask, found dtype {Y.dtype}.")
    if Y.min() < 0 or Y.max() >= n:
        bad = Y.min() if Y.min() < 0 else Y.max()
        raise IndexError(f"{name} must hold item numbers from 0 to {n - 1}, found {bad}.")
    values, counts = np.unique(Y, return_counts=True)
    if values.size < Y.size:
        repeated = values[counts > 1][0]
        raise ValueError(
            f"{name} must not repeat items, but {repeated} appears more than once. "
            f"Where it has 0 or 1 for each item, pass np.flatnonzero({name})."
        )
    return Y.astype(np.int64)


def check_subset(subset: Items, n: int, name: str = "subset") -> IntArray:
    """As `check_items`, but sorted."""
    return np.sort(check_items(subset, n, name))


def check_disjoint(include: Items, exclude: Items, n: int, name: str = "exclude") -> tuple[IntArray, IntArray]:
    """Two subsets that share no item."""
    A, B = check_subset(include, n, "include"), check_subset(exclude, n, name)
    if A.size and B.size and (both := np.intersect1d(A, B)).size:
        raise ValueError(f"include and {name} must not share items, but both hold {both[0]}.")
    return A, B


def read_rows(B: Any, name: str) -> Features:
    """Finite float64 rows, one per item, dense or as a csr_array; a copy."""
    if sparse.issparse(B):
        rows = as_csr(B, name).astype(np.float64)  # a copy
        if not np.isfinite(rows.data).all():
            row, column = (int(places[~np.isfinite(rows.data)][0]) for places in rows.tocoo().coords)
            raise ValueError(f"{name} must be finite, but {name}[{row}, {column}] is {rows[row, column]}.")
    else:
        rows = check_array(B, name, 2)
    if 0 in rows.shape:
        raise ValueError(f"{name} must have at least one row (item) and one column, found shape {rows.shape}.")
    return rows


def check_directions(phi: Any, name: str) -> Features:
    """The rows of phi, each divided by its length, dense or as a csr_array; a zero row is an error."""
    rows = read_rows(phi, name)
    rows = balanced(rows, square_sums(rows))
    lengths = row_lengths(rows)
    if lengths.min() == 0.0:
        row = int(lengths.argmin())
        raise ValueError(
            f"{name} must have no zero row, because a zero vector has no direction; row {row} is zero "
            f"({int((lengths == 0).sum())} such rows in all). Leave the item out, or give it a feature of its own."
        )
    return frozen(scale_rows(rows, 1 / lengths) if sparse.issparse(rows) else rows / lengths[:, None])


def balanced(rows: Features, squares: FloatArray) -> Features:
    """The rows, but rows that are too long or too short are multiplied by a power of 2: directions stay the same.

    `squares` are their squared lengths, with 0 or infinity where they are beyond the range of floats.
    """
    odd = ~((squares >= SHORTEST**2) & (squares <= LONGEST**2))
    if not odd.any():
        return rows
    top = largest_entries(rows)
    powers = np.where(odd & (top > 0.0) & np.isfinite(top), np.clip(-np.frexp(top)[1], -1000, 1000), 0)
    return scale_rows(rows, np.ldexp(1.0, powers)) if powers.any() else rows


def scale_rows(rows: Features, scale: FloatArray) -> Features:
    """The rows scale_i rows_i, dense or sparse as they were."""
    if sparse.issparse(rows):
        return sparse.csr_array(sparse.diags_array(scale) @ rows)
    return scale[:, None] * rows


def largest_entries(rows: Features) -> FloatArray:
    """max_j |rows_ij| of every row."""
    if sparse.issparse(rows):
        return np.asarray(abs(rows).max(axis=1).toarray(), np.float64).ravel()
    return np.abs(rows).max(axis=1, initial=0.0).astype(np.float64)


def square_sums(B: Features) -> FloatArray:
    """|b_i|^2 of every row; infinite or 0 where it is beyond the range of floats."""
    with np.errstate(over="ignore", under="ignore"):
        if sparse.issparse(B):
            return np.asarray(B.multiply(B).sum(axis=1)).ravel()
        return np.einsum("ij,ij->i", B, B)


def row_lengths(B: Features) -> FloatArray:
    """|b_i| of every row."""
    return np.sqrt(square_sums(B))


MAX_COUNT = 10**8  # the default upper bound of counts: more does not fit in memory, or takes longer than a day


def check_int(x: Any, name: str, *, low: int = 0, high: int | None = MAX_COUNT) -> int:
    """A whole number from `low` to `high`, without an upper bound if that is None."""
    if isinstance(x, bool | np.bool_):
        raise TypeError(f"{name} must be a whole number, found {x!r}.")
    try:
        value = operator.index(x)
    except TypeError:
        raise TypeError(f"{name} must be a whole number, found {x!r}.") from None
    if value < low:
        raise ValueError(f"{name} must be at least {low}, found {value}.")
    if high is not None and value > high:
        raise ValueError(f"{name} must be at most {high}, found {value}.")
    return value


def check_between(x: Any, name: str, low: float, high: float) -> float:
    """A finite number in [low, high]."""
    if isinstance(x, bool | np.bool_) or not isinstance(x, int | float | np.number) or not np.isfinite(x):
        raise TypeError(f"{name} must be a finite number, found {x!r:.60}.")
    if not low <= x <= high:
        raise ValueError(f"{name} must lie between {low:g} and {high:g}, found {x:.6g}.")
    return float(x)


def check_rng(rng: Seed) -> np.random.Generator:
    """A numpy Generator from a seed, a Generator or None (fresh entropy)."""
    if isinstance(rng, bool | np.bool_):
        raise TypeError(f"rng must be a whole number, a numpy.random.Generator or None, found {rng}.")
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        what = "a whole number from 0 on, a numpy.random.Generator or None"
        raise type(error)(f"rng must be {what}, found {rng!r:.60}.") from None


def check_jobs(n_jobs: int | None) -> int:
    """A number of threads or processes; None and -1 mean every core that this process may use."""
    if n_jobs is None or n_jobs == -1:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return check_int(n_jobs, "n_jobs", low=1, high=1024)


MAX_RHO = 1e6  # rho^2 is added to cosines, which vanish beside a larger one in rounding


def check_rho(rho: Any) -> float:
    """rho, the value of the constant similarity feature of section 7.2."""
    return check_between(rho, "rho", 0.0, MAX_RHO)


def check_choice(x: str, name: str, choices: tuple[str, ...]) -> str:
    """One of a few words."""
    if x not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}; found {x!r}.")
    return x


def read_only(*arrays: Any) -> None:
    """Make arrays read-only, dense or csr, as those of frozen objects are."""
    for array in arrays:
        for part in (array.data, array.indices, array.indptr) if sparse.issparse(array) else (array,):
            part.setflags(write=False)


def frozen(array: Numbers) -> Numbers:
    """The same array, made read-only."""
    read_only(array)
    return array


def view(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A read-only view of an array: numba would compile a loop once more for writable arrays."""
    return frozen(array.view())


def describe(value: object) -> str:
    """A value for an error message: its repr, cut at 60 characters, and its type."""
    text = repr(value)
    return f"{text if len(text) <= 60 else text[:57] + '...'} ({type(value).__name__})"
