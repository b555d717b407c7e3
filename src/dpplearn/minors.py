"""Principal minors of a kernel that need not be symmetric."""

from __future__ import annotations

from contextlib import suppress
from itertools import combinations

import numpy as np
from scipy import linalg

from dpplearn._checks import FloatArray, IntArray
from dpplearn._linalg import check_psd
from dpplearn._precision import rounding

ALL_MINORS = 14  # items up to which every principal minor of a kernel is looked at


def log_minor(A: FloatArray) -> float:
    """log det of a matrix that need not be symmetric, -inf where it is 0 or below.

    >>> round(log_minor(np.array([[0.0, 2.0], [-2.0, 0.0]])), 3)
    1.386
    """
    from dpplearn._loops.minors import log_minor as loop

    return float(loop(A.copy(), np.abs(A), len(A)))


def schur(A: FloatArray, rest: IntArray, given: IntArray) -> FloatArray:
    """A_rest - A_rest,given A_given^-1 A_given,rest, where what is only rounding is 0.

    >>> schur(np.array([[2.0, 1.0], [-1.0, 1.0]]), np.array([0]), np.array([1]))
    array([[3.]])
    """
    if given.size == 0:
        return A[np.ix_(rest, rest)]
    solved = np.linalg.solve(A[np.ix_(given, given)], A[np.ix_(given, rest)])
    whole, part = A[np.ix_(rest, rest)], A[np.ix_(rest, given)]
    left = whole - part @ solved
    left[np.abs(left) <= rounding(given.size) * (np.abs(whole) + np.abs(part) @ np.abs(solved))] = 0.0
    return np.asarray(left)


def check_minors(L: FloatArray, tol: float, *, everything: bool) -> None:
    """Raise unless the principal minors of L are >= 0, as far as can be told; `from_kernel` says how far."""
    with suppress(ValueError):
        check_psd(L / 2 + L.T / 2, "L", tol)
        return
    n, d = len(L), L.diagonal()
    if d.min() < 0.0:
        raise negative_minor(float(d.min()), [int(d.argmin())])
    pairs = np.outer(d, d) - L * L.T
    if (pairs < -tol * (np.outer(d, d) + np.abs(L * L.T))).any():
        i, j = divmod(int((pairs - np.diag(pairs.diagonal())).argmin()), n)
        raise negative_minor(float(pairs[i, j]), sorted([i, j]))
    if not everything:
        return
    if n > ALL_MINORS:
        least = linalg.eigvalsh(L / 2 + L.T / 2, subset_by_index=[0, 0], check_finite=False)[0]
        raise ValueError(
            f"L must have principal minors >= 0. It has if its symmetric part (L + L.T) / 2 is positive semidefinite, "
            f"but that has eigenvalue {least:.3g}, and the 2^{n} minors are too many to look at. Pass "
            "dpplearn.kernels.nearest_psd(L) + (L - L.T) / 2; or, if you know them to be >= 0, "
            "from_kernel(L, check=False)."
        )
    for k in range(3, n + 1):
        sets = np.array(list(combinations(range(n), k)))
        blocks = L[sets[:, :, None], sets[:, None, :]]
        minors = np.linalg.det(blocks)
        bad = minors < -tol * np.linalg.norm(blocks, axis=2).prod(axis=1)  # Hadamard: how large it could be
        if bad.any():
            worst = np.flatnonzero(bad)[minors[bad].argmin()]
            raise negative_minor(float(minors[worst]), sets[worst].tolist())


def negative_minor(value: float, subset: list[int]) -> ValueError:
    return ValueError(
        f"L must have principal minors >= 0, but det(L_Y) is {value:.3g} for Y = {subset}. A kernel whose symmetric "
        "part is positive semidefinite has none below 0: pass dpplearn.kernels.nearest_psd(L) + (L - L.T) / 2."
    )
