"""The determinantal point process of sections 1 and 2, made from L, from K, or from quality and similarity."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg

from dpplearn._cached import cached_property
from dpplearn._checks import FloatArray, IntArray, check_quality, check_square, frozen, tolerance
from dpplearn._linalg import Spectrum, eigh_psd, logdet, project_out, schur_complement
from dpplearn._precision import WIDE, rounding
from dpplearn.determinantal import Determinantal
from dpplearn.minors import log_minor
from dpplearn.operand import Dense
from dpplearn.process import impossible


class DPP(Determinantal):
    """Determinantal point process with likelihood kernel L.

    A subset Y of the n items has probability det(L_Y) / det(L + I).

    Parameters
    ----------
    L : array of shape (n, n)
        Symmetric positive semidefinite. Copied; integers become floats.

    Attributes
    ----------
    items : int array of shape (n,)
        Original number of each item; differs from 0 ... n-1 after `condition`.

    See Also
    --------
    LowRankDPP : L = B B^T with few columns, for many items.
    KDPP : the same distribution given the number of items.

    Examples
    --------
    >>> dpp = DPP([[1.0, 0.9], [0.9, 1.0]])  # two good items, nearly the same
    >>> round(dpp.log_prob([0]), 3), round(dpp.log_prob([0, 1]), 3)
    (-1.16, -2.821)
    >>> dpp.marginals.round(3)
    array([0.373, 0.373])
    """

    _L: FloatArray | None = None  # None if the DPP was made from K

    def __init__(self, L: ArrayLike) -> None:
        kernel = check_kernel(L)
        self._set(_L=kernel, items=frozen(np.arange(len(kernel))))

    @classmethod
    def _of(cls, items: IntArray, **kernel: FloatArray) -> Self:
        """A DPP from `_L` or `K`, without checks."""
        return cls._with(items=frozen(items), **{name: frozen(array) for name, array in kernel.items()})

    @classmethod
    def from_marginal(cls, K: ArrayLike) -> Self:
        """The DPP with marginal kernel K: P(A in Y) = det(K_A), equation (1).

        Eigenvalues of K must lie in [0, 1]. If one is exactly 1 there is no L, and methods that need L raise an
        error; all others work, including probabilities and samples.

        Examples
        --------
        >>> coin = DPP.from_marginal([[0.5, 0.5], [0.5, 0.5]])  # exactly one of two items
        >>> coin.size_pmf.round(9)
        array([0., 1., 0.])
        >>> round(coin.log_prob([0]), 3)  # log 1/2
        -0.693
        """
        kernel = check_square(K, "K")
        tol = tolerance(K)
        check_psd(kernel, "K", tol)
        try:
            check_psd((1.0 + tol) * np.eye(len(kernel)) - kernel, "I - K", tol)
        except ValueError:
            largest = linalg.eigvalsh(kernel, check_finite=False)[-1]
            raise ValueError(
                f"K must have eigenvalues in [0, 1], but its largest is {largest:.9g}. "
                "If this matrix is a likelihood kernel, use DPP(L)."
            ) from None
        return cls._of(np.arange(len(kernel)), K=kernel)

    @classmethod
    def from_quality(cls, q: ArrayLike, S: ArrayLike) -> Self:
        """The DPP with L_ij = q_i S_ij q_j, equation (8): quality q_i >= 0 of each item, similarity S with S_ii = 1.

        Examples
        --------
        >>> DPP.from_quality([2.0, 1.0], [[1.0, 0.5], [0.5, 1.0]]).L
        array([[4., 1.],
               [1., 1.]])
        """
        S = check_similarity(S)
        return cls._of_quality(check_quality(q, len(S)), S)

    @classmethod
    def _of_quality(cls, q: FloatArray, S: FloatArray) -> Self:
        """As `from_quality`, without checks."""
        L = q[:, None] * S
        L *= q
        return cls._of(np.arange(len(S)), _L=L)

    @property
    def has_L(self) -> bool:
        """Whether the DPP has a likelihood kernel; it has none if an eigenvalue of K is 1."""
        return self._L is not None or not bool((self.spectrum.p == 1.0).any())

    @cached_property
    def L(self) -> FloatArray:
        """Likelihood kernel, equation (4). For a DPP made from K it is K (I - K)^-1."""
        if self._L is not None:
            return self._L
        lam, V = self.eigenpairs
        return frozen((V * lam) @ V.T)

    @cached_property
    def eigenpairs(self) -> tuple[FloatArray, FloatArray]:
        """Eigenvalues of L, ascending, and orthonormal eigenvectors as columns."""
        if not self.has_L:
            raise ValueError(
                "This DPP has no likelihood kernel L, because an eigenvalue of its marginal kernel K is 1. "
                "Use K, marginals, log_prob or sample, which do not need L; or pass 0.999999 * K."
            )
        if self._L is not None:
            lam, V = eigh_psd(self._L)
        else:
            p, V, _ = self.spectrum
            lam = p / (1.0 - p)
        return frozen(lam), frozen(V)

    @cached_property
    def spectrum(self) -> Spectrum:
        """K = V diag(p) V^T, equation (7), and log det(L + I)."""
        if self._L is not None:
            return super().spectrum
        p, V = eigh_psd(self.K)
        p[p > 1.0 - rounding(len(p))] = 1.0
        return Spectrum(frozen(p), frozen(V), float(-np.log1p(-p[p < 1.0]).sum()))

    @cached_property
    def _operand(self) -> Dense:
        return Dense(np.ascontiguousarray(self.L))

    @cached_property
    def _near_one(self) -> bool:
        return self._L is None and bool(1.0 - self.spectrum.p.max() < 1.0 / (1.0 + WIDE))

    def _log_prob(self, Y: IntArray) -> float:
        """log P(Y); if L has lost its digits, the log-determinant of the rows Y of K and the other rows of I - K."""
        if not self._near_one:
            return super()._log_prob(Y)
        p = self.spectrum.p
        if not np.count_nonzero(p == 1.0) <= Y.size <= np.count_nonzero(p):
            return -np.inf
        A = np.eye(self.n) - self.K
        A[Y] = self.K[Y]
        return log_minor(A)

    def _condition(self, A: IntArray, B: IntArray, rest: IntArray) -> Self:
        items = self.items[rest]
        if self._L is not None:
            L = self.L
            # given A we take the Schur complement of L_A; to exclude B we leave out its rows and columns
            left = conditional_kernel(L, rest, A, impossible(include=A))
            if A.size and L.diagonal().sum() > WIDE:  # the rounding of the Schur complement would matter
                rows = project_out(self._operand.factor().rows, rest, A)
                left = rows @ rows.T
            return self._of(items, _L=left)
        K = conditional_kernel(self.K, np.concatenate([rest, B]), A, impossible(include=A))
        # I - K is the marginal kernel of the items that are left out, and B is included among these
        kept, gone = np.arange(rest.size), np.arange(rest.size, len(K))
        K = np.eye(rest.size) - conditional_kernel(np.eye(len(K)) - K, kept, gone, impossible(exclude=B))
        return self._of(items, K=(K + K.T) / 2)


def conditional_kernel(M: FloatArray, rest: IntArray, A: IntArray, error: ValueError) -> FloatArray:
    """The kernel of `rest` given A, by a Schur complement; raises the error if A has probability 0."""
    if A.size and logdet(M[np.ix_(A, A)]) == -np.inf:
        raise error
    return schur_complement(M, rest, A)


def check_psd(A: FloatArray, name: str, tol: float) -> None:
    """Raise unless the symmetric A has no eigenvalue below -tol times its largest."""
    scale = float(np.abs(A).max())
    if scale == 0.0:
        return
    shifted = A / scale  # a Cholesky factor of A + tol max|A| I is proof enough, and takes a tenth of the time of eigh
    shifted.flat[:: len(A) + 1] += tol
    try:
        linalg.cholesky(shifted, lower=True, overwrite_a=True, check_finite=False)
    except linalg.LinAlgError:
        lam = linalg.eigvalsh(A / scale, check_finite=False)
        if lam[0] < -tol * max(abs(lam[-1]), 1.0):
            raise ValueError(
                f"{name} must be positive semidefinite, but has eigenvalue {lam[0] * scale:.3g}. "
                f"For a rounded or estimated matrix, pass dpplearn.kernels.nearest_psd({name})."
            ) from None


def check_kernel(L: ArrayLike, name: str = "L") -> FloatArray:
    """A read-only, symmetric, positive semidefinite float64 copy of a kernel."""
    kernel = check_square(L, name)
    check_psd(kernel, name, tolerance(L))
    return frozen(kernel)


def check_similarity(S: ArrayLike, name: str = "S") -> FloatArray:
    """A kernel with ones on its diagonal."""
    kernel = check_kernel(S, name)
    i = int(np.abs(kernel.diagonal() - 1.0).argmax())
    if abs(kernel[i, i] - 1.0) > 1e-6:
        raise ValueError(
            f"{name} must have ones on its diagonal (each item is wholly similar to itself), but {name}[{i}, {i}] is "
            f"{kernel[i, i]:.6g}. Divide S_ij by sqrt(S_ii S_jj) and multiply q_i by sqrt(S_ii)."
        )
    return kernel
