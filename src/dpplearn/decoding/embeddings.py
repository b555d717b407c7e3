"""Embeddings and scores where they lie: arrays, memory maps, sparse and Arrow arrays; or what is wrong with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from dpplearn._checks import FloatArray, check_vector
from dpplearn._io.arrow import arrow_rows, is_arrow
from dpplearn._precision import EPS, EPS32
from dpplearn.decoding.candidates import not_finite, read_features, some

EPSILON = {"d": EPS, "f": EPS32}  # of what scores usually are
WIDEST = 40.0  # largest range of standardized scores: quality ratios stay below e^20, and their squares are floats


def read_candidates(embeddings: Any, scores: Any) -> tuple[Any, FloatArray, FloatArray]:
    """Rows, their lengths and standardized scores, one for each item; or what is wrong with them."""
    check_whole(embeddings)
    if type(embeddings) is not np.ndarray or type(scores) is not np.ndarray:
        embeddings = as_plain(embeddings, scores)
    n = embeddings.shape[0] if embeddings.ndim else -1
    if n == 0 and np.shape(scores) == (0,):
        return embeddings, np.empty(0), np.empty(0)
    if embeddings.ndim != 2 and n != 0:
        raise ValueError(f"embeddings must have one row for each item, found shape {embeddings.shape}.")
    z = read_scores(scores, n)
    return *read_features(embeddings, "embeddings"), z


def as_plain(embeddings: Any, scores: Any) -> Any:
    """Embeddings as an array, or as they are where they are sparse; neither they nor scores may be masked."""
    if np.ma.isMaskedArray(embeddings) or np.ma.isMaskedArray(scores):
        raise TypeError("embeddings and scores must be plain arrays, found a masked one. Leave those items out.")
    if sparse.issparse(embeddings):
        return embeddings
    return arrow_rows(embeddings) if is_arrow(embeddings) else as_rows(embeddings)


def read_scores(scores: Any, n: int) -> FloatArray:
    """n standardized scores."""
    if is_arrow(scores):
        scores = scores.to_numpy()
    s = np.asarray(scores)
    if s.ndim == 2 and s.shape[1] == 1:
        s = s[:, 0]
    if s.ndim == 1 and s.size != n:
        raise ValueError(
            f"embeddings and scores must have one row and one entry per item: found {n} rows and {s.size} scores."
        )
    if s.dtype.kind != "f" or s.ndim != 1:
        return standardize(check_vector(scores, "scores", n), EPS)
    values = s.astype(np.float64)
    bad = not_finite(values)
    if bad.size:
        raise ValueError(f"scores must be finite, but those of rows {some(bad)} are not, such as {s[bad[0]]}.")
    return standardize(values, EPSILON.get(s.dtype.char) or float(np.finfo(s.dtype).eps))


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


def as_rows(embeddings: Any) -> Any:
    """An array, or which row has another length than the first."""
    try:
        return np.asarray(embeddings)
    except ValueError:
        lengths = [np.size(row) for row in embeddings]
        bad = next((i for i, m in enumerate(lengths) if m != lengths[0]), 0)
        raise ValueError(
            f"embeddings must be rows of equal length, but row {bad} has {lengths[bad]} numbers and row 0 {lengths[0]}."
        ) from None


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
