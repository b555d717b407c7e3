"""Embeddings and scores where they lie: arrays, memory maps, sparse and Arrow arrays; or what is wrong with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from dpplearn._checks import FloatArray
from dpplearn._holders import as_numbers, is_arrow
from dpplearn._precision import EPS, EPS32
from dpplearn.decoding.candidates import not_finite, read_features, some

EPSILON = {"d": EPS, "f": EPS32, "e": 2.0**-10}  # by type of scores
WIDEST = 40.0  # largest range of standardized scores: quality ratios stay below e^20, and their squares are floats


def read_candidates(embeddings: Any, scores: Any) -> tuple[Any, FloatArray, FloatArray]:
    """Rows, their lengths and standardized scores, one for each item; or what is wrong with them."""
    check_whole(embeddings)
    if not sparse.issparse(embeddings):
        embeddings = as_numbers(embeddings, "embeddings")
    n = embeddings.shape[0] if embeddings.ndim else -1
    if n == 0 and np.shape(scores) == (0,):
        return embeddings, np.empty(0), np.empty(0)
    if embeddings.ndim != 2 and n != 0:
        raise ValueError(f"embeddings must have one row for each item, found shape {embeddings.shape}.")
    z = read_scores(scores, n)
    return *read_features(embeddings, "embeddings"), z


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
