"""Embeddings and scores where they lie: arrays, memory maps, sparse and Arrow arrays; or what is wrong with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from dpplearn._checks import Features, FloatArray, IntArray, balanced, check_jobs, check_subset, square_sums, view
from dpplearn._holders import as_array, as_csr, as_numbers, is_arrow
from dpplearn._precision import EPS, EPS32
from dpplearn._run.threads import map_threads

EPSILON = {"d": EPS, "f": EPS32, "e": 2.0**-10}  # by type of scores
WIDEST = 40.0  # largest range of standardized scores: quality ratios stay below e^20, and their squares are floats
HIGHEST = 300.0  # of |log q|, to which scores of too large a scale are brought down: q^2 is a float
COPIED = 2**20  # bytes of features up to which a copy is made; larger ones are read in place
BLOCK = 4_000_000  # entries of rows from which on their lengths are summed by compiled loops, on all cores
NO_ITEMS = np.empty(0, np.int64)


def read_candidates(embeddings: Any, scores: Any) -> tuple[Any, FloatArray, FloatArray]:
    """Rows, their lengths and standardized scores, one for each item; or what is wrong with them.

    Without scores all are equal.
    """
    check_whole(embeddings)
    if not sparse.issparse(embeddings):
        embeddings = as_numbers(embeddings, "embeddings")
    n = embeddings.shape[0] if embeddings.ndim else -1
    if n == 0 and (scores is None or np.shape(scores) == (0,)):
        return embeddings, np.empty(0), np.empty(0)
    if embeddings.ndim != 2 and n != 0:
        raise ValueError(f"embeddings must have one row for each item, found shape {embeddings.shape}.")
    z = np.zeros(n) if scores is None else read_scores(scores, n)
    return *read_features(embeddings, "embeddings"), z


def read_features(phi: Any, name: str = "phi", start: int = 0) -> tuple[Features, FloatArray]:
    """Rows and their lengths; features keep their type, and are copied only where they are small. The first is called
    row `start` where one is wrong."""
    rows: Any = as_csr(phi, name) if sparse.issparse(phi) else np.ascontiguousarray(as_numbers(phi, name, 2))
    if 0 in rows.shape:
        raise ValueError(f"{name} must have at least one row (item) and one column, found shape {rows.shape}.")
    same = rows.copy() if (rows.data if sparse.issparse(rows) else rows).nbytes <= COPIED else rows
    squares = square_lengths(same)
    rows = balanced(same, squares)
    lengths = np.sqrt(squares if rows is same else square_lengths(rows))
    bad = not_finite(lengths)
    if bad.size:
        which = f"row {start + bad[0]} is" if bad.size == 1 else f"rows {some(start + bad)} are"
        raise ValueError(f"{name} must be finite, and so the length of its rows, but {which} not.")
    return rows, lengths


def square_lengths(rows: Features) -> FloatArray:
    """|rows_i|^2 in float64; for many rows on all cores."""
    if sparse.issparse(rows) or rows.size <= BLOCK:
        return square_sums(rows.astype(np.float64, copy=False))
    from dpplearn.decoding._loops import row_squares

    out = np.empty(rows.shape[0])
    step = BLOCK // rows.shape[1] + 1

    def some_rows(b: int) -> None:
        part = slice(b * step, (b + 1) * step)
        row_squares(view(single(rows[part])), out[part])

    map_threads(some_rows, -(-rows.shape[0] // step), check_jobs(None))
    return out


def single(rows: Any) -> Any:
    """float16 as float32, which products and loops know."""
    return rows.astype(np.float32) if rows.dtype.char == "e" else rows


def not_finite(x: FloatArray) -> IntArray:
    """Where numbers are infinite, or none."""
    finite = np.isfinite(x)
    return NO_ITEMS if np.count_nonzero(finite) == x.size else np.flatnonzero(~finite)


def some(rows: IntArray, most: int = 8) -> str:
    """The first numbers of a list, and how many there are if not all are shown."""
    shown = ", ".join(map(str, rows[:most].tolist()))
    return shown if rows.size <= most else f"{shown}, ... ({rows.size} in all)"


def read_scores(scores: Any, n: int) -> FloatArray:
    """n standardized scores."""
    s = as_numbers(scores, "scores", 1 if is_arrow(scores) else None)
    if s.ndim == 2 and s.shape[1] == 1:
        s = s[:, 0]
    if s.ndim == 1 and s.size != n:
        raise ValueError(
            f"embeddings and scores must have one row and one entry per item: found {n} rows and {s.size} scores."
        )
    if s.ndim != 1:
        raise ValueError(f"scores must have 1 dimension, found shape {s.shape}.")
    values = s.astype(np.float64)
    bad = not_finite(values)
    if bad.size:
        raise ValueError(f"scores must be finite, but those of rows {some(bad)} are not, such as {s[bad[0]]}.")
    return standardize(values, EPSILON[s.dtype.char])


def check_whole(rows: Any) -> None:
    """A memory map whose file became shorter would end the process where it is read; also behind a view of one."""
    whole = None
    while isinstance(rows, np.ndarray):
        whole, rows = (rows if isinstance(rows, np.memmap) else whole), rows.base
    if whole is None or whole.filename is None:
        return
    name, need = whole.filename, whole.offset + whole.nbytes
    if Path(name).stat().st_size < need:
        raise ValueError(
            f"embeddings are a memory map of {need} bytes of {name}, which has only {Path(name).stat().st_size} now. "
            "Write the file anew, and map it again."
        )


def standardize(s: Any, eps: float) -> Any:
    """z = (s - mean) / sigma, where sigma is at least 1/40 of the range; 0 where all are equal but for rounding.

    Of an array, or of a tensor.

    >>> standardize(np.array([1.0, 2.0, 3.0]), 1e-16).round(3)
    array([-1.225,  0.   ,  1.225])
    """
    if len(s) == 0:
        return s
    low, high = float(s.min()), float(s.max())
    largest = max(-low, high)
    if largest == 0.0:
        return 0.0 * s
    s = s / largest  # so that no square overflows
    spread = high / largest - low / largest
    if spread <= 8 * eps:
        return 0.0 * s
    s -= s.sum() / len(s)
    sigma = float(s @ s / len(s)) ** 0.5
    s /= max(sigma, spread / WIDEST)
    return s


def qualities(z: Any, scale: float, diversity: float) -> FloatArray:
    """q_i = sqrt(2) exp(min(1/2, 1 - diversity) scale z_i) of standardized scores; of an array, or of a tensor."""
    factor = scale * min(0.5, 1.0 - diversity)
    if factor * WIDEST > HIGHEST and len(z):
        factor = min(factor, HIGHEST / max(1.0, float(abs(z).max())))
    return (z * factor).exp() * 2**0.5 if hasattr(z, "exp") else np.exp(z * factor) * 2**0.5


def read_given(given: Any, rows: Any, lengths: FloatArray) -> tuple[Any, FloatArray, IntArray]:
    """Rows chosen before, their lengths, and which of the candidates they are: none, where rows were given."""
    n, d = rows.shape
    if not sparse.issparse(given):
        plain = as_array(given, "given")
        if plain.ndim == 1 and (plain.dtype.kind in "iub" or plain.size == 0):
            items = check_subset(plain, n, "given")
            return rows[items], lengths[items], items
        given = as_numbers(given, "given")
    if given.ndim != 2 or given.shape[1] != d:
        raise ValueError(
            f"given must be numbers of items, or rows of {d} numbers like the embeddings, found shape {given.shape}."
        )
    return (*read_features(given, "given"), NO_ITEMS) if given.shape[0] else (given, np.empty(0), NO_ITEMS)
