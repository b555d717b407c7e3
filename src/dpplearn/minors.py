"""Principal minors of a kernel that need not be symmetric."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy import linalg
from scipy.linalg import lapack

from dpplearn._checks import FloatArray
from dpplearn._linalg import check_psd
from dpplearn._precision import rounding
from dpplearn.operand import TwoSided

ALL_MINORS = 14  # items up to which every principal minor of a kernel is looked at


@dataclass(frozen=True, eq=False)
class Core:
    """C of a kernel L = Z C Z^T, and rows U of its symmetric part: C + C^T = 2 U U^T.

    L is then the sum of V V^T with V = Z U, and of a skew matrix. Apart, they keep their own digits: where V is short,
    what rounding leaves of the skew part would else be more than L_ii.
    """

    C: FloatArray
    U: FloatArray | None  # None where the symmetric part is not positive semidefinite

    @property
    def skew(self) -> FloatArray:
        return np.asarray((self.C - self.C.T) / 2)

    def operand(self, Z: FloatArray) -> TwoSided:
        """The kernel of these rows."""
        return TwoSided(Z @ self.C, Z) if self.U is None else TwoSided(Z @ self.skew, Z, Z @ self.U)

    def block(self, Z: FloatArray) -> FloatArray:
        """Z C Z^T."""
        return self.operand(Z).block(np.arange(len(Z)))

    def given(self, rows: FloatArray, A: FloatArray) -> tuple[FloatArray, float]:
        """The marginal kernel of items with these rows, given those of A, and log of the sum of det(L_{A + Y}).

        The sum is the determinant, and the kernel the Schur complement, of what is above and left of the lines in

            L + I   L_.A  |  L                   L + I   L_.A  |  I
            L_A.    L_A   |  L_A.                L_A.    L_A   |  0
            ----------------------      or       ------------------
            L       L_.A  |  L                   -I      0     |  0

        or I less the kernel: the latter for the columns of large items, where nothing then cancels. It is done in
        parts, however much items differ in size, and takes some times (2 n)^3 steps. C must have a U.
        """
        from dpplearn._determinant_loops import eliminate_parts

        assert self.U is not None
        n, m = len(rows), len(rows) + len(A)
        large = np.abs(self.block(rows)).max(axis=1) > 1.0
        every = np.concatenate([rows, A, np.where(large[:, None], 0.0, rows)])
        V = np.hstack([every @ self.U, np.eye(len(every), n)])
        left = every @ self.skew
        N, E = left @ every.T, np.abs(left) @ np.abs(every).T
        N, E = (N - N.T) / 2, (E + E.T) / 2
        first = np.flatnonzero(large)
        for x, sign in ((N, -1.0), (E, 1.0)):
            x[first, m + first], x[m + first, first] = 1.0, sign
        log_sum = float(eliminate_parts(V, N, E, m, len(every)))
        K = V[m:] @ V[m:].T + N[m:, m:]
        K[:, large] = np.eye(n)[:, large] - K[:, large]
        return K, log_sum

    def congruent(self, H: FloatArray) -> Core:
        """H^T C H."""
        return Core(H.T @ self.C @ H, None if self.U is None else H.T @ self.U)


def symmetric_rows(S: FloatArray) -> FloatArray | None:
    """U with S = U U^T to rounding, by Cholesky with pivots; None where S is not positive semidefinite.

    >>> symmetric_rows(np.array([[4.0, 2.0], [2.0, 1.0]]))
    array([[2.],
           [1.]])
    """
    r = np.sqrt(np.maximum(S.diagonal(), 0.0))
    scale = np.where(r > 0.0, r, 1.0)
    unit, few = S / scale[:, None] / scale, rounding(len(S))
    C, pivots, rank, _ = lapack.dpstrf(unit, lower=1, tol=few)
    U = np.zeros((len(S), max(rank, 1)))
    U[pivots - 1, :rank] = np.tril(C)[:, :rank]
    return r[:, None] * U if bool((np.abs(unit - U @ U.T) <= len(S) * few).all()) else None


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
