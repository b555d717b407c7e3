"""A DPP whose kernel need not be symmetric, so that items may also attract each other."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg

from dpplearn._cached import cached_property
from dpplearn._checks import FloatArray, IntArray, check_array, frozen, read_only, row_lengths, tolerance
from dpplearn._precision import DIGITS, WIDE, rounding
from dpplearn._run.blas import blas_threads
from dpplearn.determinantal import sum_of_coins
from dpplearn.minors import TwoSided, log_minor, symmetric_rows
from dpplearn.process import PointProcess, impossible, remaining
from dpplearn.sampling.elimination import eliminate_rows, sample_elimination
from dpplearn.sampling.jumps import Jumps, make_jumps, sample_jumps


class NonsymmetricDPP(PointProcess):
    """Determinantal point process with likelihood kernel L = V V^T + B (D - D^T) B^T.

    P(Y) = det(L_Y) / det(L + I), as for every DPP. The symmetric part V V^T repels; with the skew part, two items may
    come together more often than by chance, which no symmetric kernel allows (Gartrell et al., 2019, 2021). All
    principal minors are >= 0, because the symmetric part is positive semidefinite, so det(L + I) >= 1. With few
    columns, no n x n array is ever formed: for d columns in all it takes O(n d^2) time and O(n d) memory.

    Parameters
    ----------
    V : array of shape (n, r)
    B : array of shape (n, s)
        May be V itself; then L = V (I + D - D^T) V^T, and d = r. Otherwise d = r + s.
    D : array of shape (s, s)
        Only D - D^T matters.

    Examples
    --------
    >>> dpp = NonsymmetricDPP(V=[[0.5], [0.0]], B=[[1.0, 0.0], [0.0, 1.0]], D=[[0.0, 1.0], [0.0, 0.0]])
    >>> dpp.L
    array([[ 0.25,  1.  ],
           [-1.  ,  0.  ]])
    >>> dpp.marginals.round(3), round(dpp.inclusion_prob([0, 1]), 3)  # nearly always bought together
    (array([0.556, 0.444]), 0.444)
    """

    V: FloatArray  # V, B and D are the constructor's arguments; processes made in other ways do not have them
    B: FloatArray
    D: FloatArray
    _kernel: TwoSided
    _sure: FloatArray  # rows Z_A of the items A that `condition` included; they are not among the n items

    def __init__(self, V: ArrayLike, B: ArrayLike, D: ArrayLike) -> None:
        rows, other, core = (check_array(x, name, 2) for x, name in ((V, "V"), (B, "B"), (D, "D")))
        for name, x in (("V", rows), ("B", other)):
            if 0 in x.shape:
                raise ValueError(f"{name} must have at least one row (item) and one column, found shape {x.shape}.")
        if len(rows) != len(other):
            raise ValueError(f"V and B must have one row per item, found {len(rows)} and {len(other)} rows.")
        if core.shape != (other.shape[1], other.shape[1]):
            raise ValueError(
                f"D must be square, with a row and a column for each column of B ({other.shape[1]}), "
                f"found shape {core.shape}."
            )
        skew = core - core.T
        r = rows.shape[1]
        if rows.shape == other.shape and np.array_equal(rows, other):
            Z, C = rows, np.eye(r) + skew
        else:
            Z, C = np.hstack([rows, other]), linalg.block_diag(np.eye(r), skew)
        with np.errstate(over="ignore", invalid="ignore"):
            if not np.isfinite((Z @ C) * Z).all():
                raise ValueError("V, B and D are too large for L to hold floats; scale them down.")
        read_only(rows, other, core, Z, C)
        kernel, items = TwoSided(Z, C, np.eye(len(C), r)), frozen(np.arange(len(Z)))
        self._set(_kernel=kernel, _sure=Z[:0], items=items, V=rows, B=other, D=core)

    @classmethod
    def _of(cls, kernel: TwoSided, sure: FloatArray, items: IntArray) -> Self:
        """The process with kernel L = Z C Z^T, given that items with rows `sure` are included."""
        read_only(kernel.Z, kernel.C, sure, items)
        return cls._with(_kernel=kernel, _sure=sure, items=items)

    def _given(self, A: IntArray, rest: IntArray) -> Self:
        """The process of the items `rest`, given that A is included."""
        return self._of(self._kernel.part(rest), np.vstack([self._sure, self._kernel.Z[A]]), self.items[rest])

    @classmethod
    def from_kernel(cls, L: ArrayLike) -> Self:
        """The process with likelihood kernel L, whose symmetric part (L + L^T) / 2 must be positive semidefinite.

        Examples
        --------
        >>> dpp = NonsymmetricDPP.from_kernel([[1.0, 2.0], [-2.0, 1.0]])
        >>> dpp.correlations().round(3)
        array([[1.   , 0.333],
               [0.333, 1.   ]])
        """
        A = check_array(L, "L", 2)
        if A.shape[0] != A.shape[1] or len(A) == 0:
            raise ValueError(f"L must be square (one row and one column per item), found shape {A.shape}.")
        S, Z = A / 2 + A.T / 2, np.eye(len(A))
        U = symmetric_rows(S, tolerance(L))
        if U is None:
            raise ValueError(
                "L must have a symmetric part (L + L.T) / 2 that is positive semidefinite, but that has eigenvalue "
                f"{linalg.eigvalsh(S)[0]:.3g}. Pass dpplearn.kernels.nearest_psd(L) + (L - L.T) / 2."
            )
        return cls._of(TwoSided(Z, A, U), Z[:0], np.arange(len(A)))

    # The kernel

    @cached_property
    def _operand(self) -> TwoSided:
        """The likelihood kernel of the items that remain.

        With F = L_A^-1 Z_A C and H = I - Z_A^T F, the Schur complement of L_A is Z H^T C H Z^T. H^T C H is 0 along the
        rows of A on both sides, so each item of A takes one column.
        """
        kernel, A = self._kernel, self._sure
        if len(A) == 0:
            return kernel
        if self._log_sure == -np.inf:
            raise ValueError(
                "This process has no likelihood kernel L: the items that were included cannot be all of Y, so another "
                "item is sure to be in Y. Use K, marginals, log_prob or sample, which do not need L."
            )
        A = A / row_lengths(A)[:, None]
        N = linalg.qr(A.T, mode="full", check_finite=False)[0][:, len(A) :]
        if N.shape[1] == 0:
            return TwoSided(np.zeros((self.n, 1)), np.zeros((1, 1)), np.zeros((1, 1)))
        left = kernel.Z @ N
        left[row_lengths(left) <= rounding(kernel.width) * row_lengths(kernel.Z)] = 0.0
        H = N - A.T @ solve(kernel.of(A).block(), A @ kernel.C @ N)
        return TwoSided(left, H.T @ kernel.C @ H, H.T @ kernel.U)

    @property
    def L(self) -> FloatArray:
        """The likelihood kernel, an n x n array that is made on each access; no method here needs it.

        There is none if the items included by `condition` cannot be all of Y: L_ii would be infinite for some i.
        """
        self._some_items(None)
        return self._operand.block()

    @cached_property
    def _marginal(self) -> tuple[FloatArray, FloatArray, float]:
        """K = Q W Q^T as Q, with orthonormal columns, and W; and the log of the sum of det(L_{A + Y}) over all Y."""
        if self._plain is not None:
            Q, W, log_sum = self._plain
        else:
            Q, R = orthonormal(self._kernel.Z, careful=True)
            W, log_sum = self._kernel.of(R).given(self._sure)
        return np.ascontiguousarray(Q), np.ascontiguousarray(W), log_sum

    @cached_property
    def _plain(self) -> tuple[FloatArray, FloatArray, float] | None:
        """Q, W and the log of the sum; None if the slower `TwoSided.given` is needed.

        Without included items A, L = Q T Q^T, and L + I differs from I only in the span of Q, where it is T + I. Its
        symmetric part is at least I, so |(T + I)^-1| <= 1, and solving loses no digits unless T is large.

        With A the sum is det(L + I) det(M), where M = L_A - L_A. (L + I)^-1 L_.A, and (L + I)^-1 L_.A M^-1 L_A. (L +
        I)^-1 is subtracted from K. This needs no L_A^-1, so the items of A may need others, which are then sure. With
        F = (T + I)^-1 R C Z_A^T and rows Z' = Z_A - F^T R, M = Z' C Z'^T + F^T F, where nothing large cancels.
        """
        kernel, A = self._kernel, self._sure
        Q, R = orthonormal(kernel.Z)
        T = kernel.of(R).block()
        if np.abs(T).max() > WIDE:
            return None
        shifted = T + np.eye(len(T))
        log_sum = max(float(np.linalg.slogdet(shifted)[1]), 0.0)  # det(L + I) is 1 plus minors, none below 0
        W = solve(shifted, T)  # (T + I)^-1 T
        if len(A):
            F, after = solve(shifted, R @ kernel.C @ A.T), solve(shifted.T, R @ kernel.C.T @ A.T).T
            M = kernel.of(A - F.T @ R).plus(F.T)
            log_det, block = M.logdet(), M.block()
            # if rounding hides det(M) in the sum of its parts, it hides M^-1 too
            if not abs(log_minor(block) - log_det) < DIGITS:
                return None
            log_sum += log_det
            W = W - F @ solve(block, after)
        return Q, W, log_sum

    # Probabilities

    @property
    def log_normalizer(self) -> float:
        """log det(L + I) >= 0, the sum over all subsets of equation (5)."""
        _ = self._operand  # raises if there is no L
        return max(self._marginal[2] - self._log_sure, 0.0)

    @cached_property
    def _log_sure(self) -> float:
        """log det L_A for the included items A; 0 if there are none."""
        return self._kernel.of(self._sure).logdet()

    @cached_property
    def _with_sure(self) -> TwoSided:
        """The kernel of the included items, followed by the remaining ones."""
        return self._kernel.of(np.vstack([self._sure, self._kernel.Z]))

    def _log_prob(self, Y: IntArray) -> float:
        # P(Y | A in Y) is det(L_{A + Y}) divided by the sum of these over Y, even if A cannot be all of Y
        a = len(self._sure)
        return self._with_sure.logdet(np.append(np.arange(a), a + Y)) - self._marginal[2]

    def _marginal_block(self, A: IntArray, B: IntArray) -> FloatArray:
        Q, W, _ = self._marginal
        return np.asarray(Q[A] @ W @ Q[B].T)

    @cached_property
    def marginals(self) -> FloatArray:
        """P(i in Y) = K_ii for every item, equation (2)."""
        Q, W, _ = self._marginal
        return frozen(np.clip(np.einsum("ij,ij->i", Q @ W, Q), 0.0, 1.0))

    def _prob(self, A: IntArray, B: IntArray) -> float:
        """The sum of det(L_{A + Y}) over all sets Y of remaining items, divided by the same sum over all sets.

        Both are sums of positive terms, which keep their digits however small the probability is.
        """
        rest = remaining(self.n, A, B)
        given = self._given(A, rest)
        log_sum = given._marginal[2] if rest.size else given._log_sure
        return float(np.exp(log_sum - self._marginal[2]))

    def _condition(self, A: IntArray, B: IntArray, rest: IntArray) -> Self:
        given = self._given(A, rest)
        if len(given._sure) and given._marginal[2] == -np.inf:
            raise impossible(include=A, exclude=B)
        return given

    # Size

    @cached_property
    def size_pmf(self) -> FloatArray:
        """P(|Y| = k) for k = 0 ... n, from the eigenvalues of K: E z^|Y| = det(I + (z - 1) K)."""
        p = np.linalg.eigvals(self._marginal[1])  # all other eigenvalues of K are 0
        rank = min(p.size, max(self._kernel.width - len(self._sure), 0))
        pmf = sum_of_pairs(p[np.argsort(-np.abs(p))[:rank]])
        return frozen(np.append(pmf, np.zeros(self.n + 1 - pmf.size)))

    # Sampling

    _methods = ("jumps", "elimination")

    def _draw(self, method: str, size: int, rng: np.random.Generator, jobs: int) -> tuple[IntArray, IntArray]:
        if method == "jumps" and self._plain is not None:  # otherwise the tables of jumps would lose digits
            return sample_jumps(self._jumps, size, rng, n_jobs=jobs)
        Q, W, _ = self._marginal
        with blas_threads(len(W)):
            return sample_elimination(lambda u: eliminate_rows(Q, W, u), self.n, size, rng, n_jobs=jobs)

    @cached_property
    def _jumps(self) -> Jumps:
        Q, R = orthonormal(np.vstack([self._kernel.Z, self._sure]))
        return make_jumps(Q[: self.n], self._kernel.of(R).block(), Q[self.n :])


def orthonormal(Z: FloatArray, careful: bool = False) -> tuple[FloatArray, FloatArray]:
    """Q and R with Z = Q R, where Q has orthonormal columns, as many as the smaller dimension of Z.

    If `careful`, each row keeps its own digits, as in `stacked_qr`.
    """
    n, d = Z.shape
    if n <= d:
        return np.eye(n), Z
    if not careful:
        Q, R = linalg.qr(Z, mode="economic", check_finite=False)
        return Q, R
    order = np.argsort(-np.abs(Z).max(axis=1), kind="stable")
    Q, R, columns = linalg.qr(Z[order], mode="economic", pivoting=True, check_finite=False)
    return Q[np.argsort(order)], R[:, np.argsort(columns)]


def solve(A: FloatArray, b: FloatArray) -> FloatArray:
    """A^-1 b, with rows and columns of A scaled to similar sizes before pivots are compared."""
    rows = np.abs(A).max(axis=1)
    A = A / rows[:, None]
    columns = np.abs(A).max(axis=0)
    return np.asarray(np.linalg.solve(A / columns, b / rows[:, None]) / columns[:, None])


def sum_of_pairs(p: np.ndarray) -> FloatArray:
    """P(|Y| = k) from the eigenvalues of a K that is not symmetric: a real one is a coin, a conjugate pair two items.

    It is the product of the polynomials 1 - p + p z, where conjugates together give |1 - p|^2 + 2 Re(p (1 - p*)) z +
    |p|^2 z^2. If the symmetric part of L is positive semidefinite, no coefficient is negative, and nothing cancels.
    """
    pairs, coins = p[p.imag > 0.0], p.real[p.imag == 0.0]
    pmf = sum_of_coins(np.clip(coins, 0.0, 1.0))
    none, both = np.abs(1 - pairs) ** 2, np.abs(pairs) ** 2
    for three in np.stack([none, np.maximum(2 * (pairs.real - both), 0.0), both], axis=1):
        pmf = np.convolve(pmf, three)
    return np.asarray(pmf)
