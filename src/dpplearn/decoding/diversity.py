"""Measures how diverse a set is: how many different items it is worth, how similar two of them are, what it misses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from dpplearn._checks import IntArray, check_subset
from dpplearn._linalg import to_dense
from dpplearn.decoding.candidates import Embedded, read_features
from dpplearn.decoding.selection import nearest_chosen


@dataclass(frozen=True, repr=False)
class SetDiversity:
    """The three numbers of `diversity_of`. `closest` of fewer than two items is nan, and so is `coverage` of none."""

    effective: float
    closest: float
    coverage: float

    def __repr__(self) -> str:
        return f"SetDiversity(effective={self.effective:.4g}, closest={self.closest:.4g}, coverage={self.coverage:.4g})"


def diversity_of(X: ArrayLike | sparse.sparray | sparse.spmatrix, subset: ArrayLike) -> SetDiversity:
    """The diversity of a set among all items, by the cosines S of their embeddings.

    `effective` is the number of different items: 1 if all are the same, |Y| if no two are similar. It is exp of the
    entropy of the eigenvalues of S_Y / |Y|, known as the Vendi score (Friedman and Dieng, 2023). `closest` is the
    largest similarity of two items of the set, `coverage` the smallest one of any item with its nearest in the set.

    Parameters
    ----------
    X : array of shape (n, d), dense or sparse, as for `diversify`
        All items there are. Only directions count; a row of zeros is similar to none.
    subset : array of item numbers
        Such as `diversify(X, k=10).subset`.

    Examples
    --------
    >>> X = [[1, 0], [2, 0], [0, 1], [1, 1]]
    >>> diversity_of(X, [0, 1])  # the same twice, and nothing for item 2
    SetDiversity(effective=1, closest=1, coverage=0)
    >>> diversity_of(X, [0, 2])  # item 3 lies between them
    SetDiversity(effective=2, closest=0, coverage=0.7071)
    """
    rows, lengths = read_features(X, "X")
    return measured_set(Embedded(rows, lengths, lengths), check_subset(subset, len(lengths)))


def measured_set(items: Embedded, Y: IntArray) -> SetDiversity:
    """The diversity of a set. Rows may be shorter than their `lengths`, which leaves items a nugget."""
    chosen = items.part(Y)
    closest = nearest_chosen(chosen, chosen, Y).similarity.max() if Y.size > 1 else np.nan
    covered = nearest_chosen(items, chosen, Y).similarity.copy()
    covered[Y] = 1.0  # also with a nugget
    return SetDiversity(effective_number(chosen), float(closest), float(covered.min()) if Y.size else np.nan)


def effective_number(items: Embedded) -> float:
    """exp(-sum p log p) of the eigenvalues p of S / n; from a d x d matrix if it is smaller and there is no nugget."""
    there = items.lengths > 0.0  # each row of zeros is similar to nothing, and has an eigenvalue of 1
    rows: Any = items.rows[there]
    U = to_dense(rows).astype(np.float64) / items.lengths[there, None]
    if len(U) <= U.shape[1] or not np.allclose(np.einsum("ij,ij->i", U, U), 1.0, atol=1e-2):
        S = U @ U.T
        np.fill_diagonal(S, 1.0)
    else:
        S = U.T @ U
    lam = np.linalg.eigvalsh(S)
    p = np.append(lam[lam > 0.0], np.ones((~there).sum())) / max(there.size, 1)
    return float(np.exp(-(p * np.log(p)).sum())) if p.size else 0.0
