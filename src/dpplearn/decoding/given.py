"""Items chosen earlier, of which the next ones are not to be repeats: they need not be among the candidates."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse

from dpplearn._checks import FloatArray, IntArray, check_subset
from dpplearn._holders import as_array, as_numbers
from dpplearn._linalg import to_dense
from dpplearn.decoding.candidates import Directed, as_unit, read_features
from dpplearn.decoding.lazy import AXES, Prior, axes
from dpplearn.operand import ROWS

WIDEST = 20_000  # columns for which a square matrix is made


class Earlier(NamedTuple):
    """Unit rows chosen earlier, for a kernel of near items."""

    rows: np.ndarray


def read_earlier(given: Any, directed: Directed) -> tuple[Earlier, IntArray]:
    """Unit rows chosen earlier, without those of zeros, and which of the candidates they are."""
    rows, lengths, known = read_given(given, directed)
    return Earlier(as_unit(to_dense(rows), lengths)[lengths > 0.0]), known


def read_given(given: Any, directed: Directed) -> tuple[Any, FloatArray, IntArray]:
    """Rows chosen earlier, their lengths, and which of the candidates they are: none, where rows were given."""
    n, d = directed.rows.shape
    if d > WIDEST:
        raise ValueError(
            f"given needs a {d} x {d} matrix, which is offered up to {WIDEST} columns. Reduce the embeddings, "
            "such as by TruncatedSVD."
        )
    if not sparse.issparse(given):
        plain = as_array(given, "given")
        if plain.ndim == 1 and (plain.dtype.kind in "iub" or plain.size == 0):
            items = check_subset(plain, n, "given")
            return directed.rows[items], directed.lengths[items], items
        given = as_numbers(given, "given")
    if given.ndim != 2 or given.shape[1] != d:
        raise ValueError(
            f"given must be numbers of items, or rows of {d} numbers like the embeddings, found shape {given.shape}."
        )
    none = np.empty(0, np.int64)
    return (*read_features(given, "given"), none) if given.shape[0] else (given, np.empty(0), none)


def prior(rows: Any, lengths: FloatArray, b: float) -> Prior:
    """P = (I + c U^T U)^-1 with unit rows U and c = b / (1 - b), b being what similarities are multiplied by."""
    if b >= 1.0:
        raise ValueError("given needs a nugget above 0, because it may span all directions. Leave nugget out.")
    d = rows.shape[1]
    A, along, places = np.eye(d), axes(d).T, []
    for low in range(0, lengths.size, ROWS):
        part = slice(low, low + ROWS)
        U = to_dense(rows[part]).astype(np.float64) / np.where(lengths[part] > 0.0, lengths[part], 1.0)[:, None]
        A += b / (1.0 - b) * (U.T @ U)
        places.append((U @ along)[lengths[part] > 0.0])
    P = np.asarray(linalg.inv(A, check_finite=False, overwrite_a=True))
    return Prior(P, np.concatenate([np.empty((0, AXES)), *places]))
