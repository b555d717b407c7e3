"""A DPP with kernel L = B B^T, which is never formed, for many items with few features each."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg, sparse

from dpplearn._cached import cached_property
from dpplearn._checks import (
    SMALLEST,
    Features,
    FloatArray,
    IntArray,
    check_directions,
    check_quality,
    frozen,
    largest_entries,
    read_rows,
    row_lengths,
    scale_rows,
    square_sums,
)
from dpplearn._linalg import eigh_psd, project_out, to_dense
from dpplearn._precision import DUAL, EPS, WIDE, singular
from dpplearn.determinantal import Determinantal
from dpplearn.operand import Rows
from dpplearn.process import impossible
from dpplearn.sampling.elimination import eliminate_rows


class LowRankDPP(Determinantal):
    """Determinantal point process with likelihood kernel L = B B^T.

    Row b_i = q_i phi_i of B is item i: its length is the item's quality, and its direction decides how similar it is to
    others (equation 8). With d < n columns, no n x n array is ever formed: it takes O(n d^2) time, once, and O(n d)
    memory. With more columns than items, eigenpairs come from the n x n matrix.

    Parameters
    ----------
    B : array or scipy sparse array of shape (n, d)
        Copied, as float64.

    Examples
    --------
    >>> dpp = LowRankDPP([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]])
    >>> round(dpp.expected_size, 3), round(dpp.inclusion_prob([0, 2]), 3)
    (1.167, 0.167)
    >>> dpp.log_prob([0, 1, 2])  # three vectors in a plane span no volume
    -inf
    """

    B: Features
    """The rows b_i."""

    def __init__(self, B: ArrayLike | sparse.sparray | sparse.spmatrix) -> None:
        rows = check_features(B)
        self._set(B=rows, items=frozen(np.arange(rows.shape[0])))

    @classmethod
    def _of(cls, B: Features, items: IntArray) -> Self:
        return cls._with(B=frozen(B), items=frozen(items))

    @classmethod
    def from_quality(cls, q: ArrayLike, phi: ArrayLike | sparse.sparray | sparse.spmatrix) -> Self:
        """Rows b_i = q_i phi_i / |phi_i|, equation (8)."""
        U = check_directions(phi, "phi")
        q = check_quality(q, U.shape[0])
        return cls._of(scale_rows(U, q), np.arange(len(q)))

    @cached_property
    def eigenpairs(self) -> tuple[FloatArray, FloatArray]:
        """Nonzero eigenvalues of L, ascending, and their eigenvectors, from the smaller of B B^T and B^T B."""
        lam, V = eigh_gram(self.B)
        return frozen(lam), frozen(V)

    @cached_property
    def _operand(self) -> Rows:
        return Rows(self.B, np.ones(self.n), square_sums(self.B), np.zeros(self.n))

    @property
    def L(self) -> FloatArray:
        """B B^T, an n x n array that is made on each access; no method here needs it."""
        self._some_items(None)
        return to_dense(self.B @ self.B.T)

    def _condition(self, A: IntArray, B: IntArray, rest: IntArray) -> Self:  # noqa: ARG002  # as for other kernels
        """The remaining rows of B without their part in the span of the included rows: again L = B B^T."""
        if A.size == 0:
            return self._of(self.B[rest], self.items[rest])
        if A.size > self.B.shape[1] or self._operand.logdet(A) == -np.inf:
            raise impossible(include=A)
        rows = to_dense(self.B)
        # if rounding would matter, or if columns outnumber rows, we reduce B to as many columns as its rank
        if rows.shape[1] > rows.shape[0] or (row_lengths(rows) ** 2).sum() > WIDE:
            rows = self._operand.factor().rows
        return self._of(project_out(rows, rest, A), self.items[rest])

    def _eliminator(self) -> Callable[[FloatArray], IntArray]:
        p, V, _ = self.spectrum
        return partial(eliminate_rows, V, np.diag(p))


def check_features(B: Any, name: str = "B") -> Features:
    """Finite float64 rows, one per item, dense or as a csr_array, whose squared lengths are floats; always a copy."""
    rows = read_rows(B, name)
    squares = square_sums(rows)
    odd = np.flatnonzero(~np.isfinite(squares) | (squares < SMALLEST))
    odd = odd[largest_entries(rows[odd]) > 0.0] if odd.size else odd
    if odd.size:
        how, factor = ("long", "small") if squares[odd[0]] > 1.0 else ("short", "large")
        raise ValueError(
            f"{name} has rows that are too {how} for {name} {name}^T to be floats, such as row {odd[0]}. "
            f"Multiply {name} by a {factor} number; zero rows are allowed."
        )
    return frozen(rows)


def eigh_gram(B: Features) -> tuple[FloatArray, FloatArray]:
    """Nonzero eigenvalues (ascending) and eigenvectors of B B^T, in O(min(n, d)^2 (n + d)).

    With few columns, the eigenpairs (lam, w) of the dual C = B^T B give v = B w / sqrt(lam), which are orthonormal to
    EPS max(lam) / lam; if that is too inaccurate, they come from a singular value decomposition.
    """
    n, d = B.shape
    if d >= n:
        lam, V = eigh_psd(to_dense(B @ B.T))
        return lam[lam > 0], V[:, lam > 0]
    lam, W = linalg.eigh(to_dense(B.T @ B), driver="evd", check_finite=False)
    top = max(float(lam[-1]), 0.0)
    if ((lam > singular(d) * top) & (lam < DUAL * top)).any():
        U, sigma, _ = linalg.svd(to_dense(B), full_matrices=False, check_finite=False)
        keep = sigma > n * EPS * sigma[0]
        return sigma[keep][::-1] ** 2, U[:, keep][:, ::-1]
    keep = (lam >= DUAL * top) & (lam > 0)
    return lam[keep], np.asarray(B @ (W[:, keep] / np.sqrt(lam[keep])))
