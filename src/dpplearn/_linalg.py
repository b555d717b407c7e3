"""Cholesky factors, log-determinants, eigenpairs of a positive semidefinite matrix, primal and dual."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg, sparse

from dpplearn._checks import Features, FloatArray, check_array, check_square, read_only, row_lengths

EPS = float(np.finfo(np.float64).eps)
WIDE = 1e6  # up to this largest eigenvalue, rounding (EPS * WIDE) moves no probability by more than about 1e-10

SMALL = 512


class Spectrum(NamedTuple):
    """K = V diag(p) V^T: orthonormal columns V (n, m) with probabilities p, ascending, and log det(L + I)."""

    p: FloatArray
    V: FloatArray
    log_normalizer: float


def not_psd(name: str, smallest: float) -> ValueError:
    return ValueError(
        f"{name} must be positive semidefinite, but has eigenvalue {smallest:.3g}. "
        f"For a rounded or estimated matrix, pass nearest_psd({name})."
    )


def check_psd(A: FloatArray, name: str, tol: float = 1e-8) -> None:
    """Raise unless the symmetric A has no eigenvalue below -tol times its largest."""
    scale = float(np.abs(A).max())
    if scale == 0.0:
        return
    shifted = A / scale  # A + tol max|A| I has a Cholesky factor: a certificate for a third of eigh's price
    shifted.flat[:: len(A) + 1] += tol
    try:
        linalg.cholesky(shifted, lower=True, overwrite_a=True, check_finite=False)
    except linalg.LinAlgError:
        lam = linalg.eigvalsh(A / scale, check_finite=False)
        if lam[0] < -tol * max(abs(lam[-1]), 1.0):
            raise not_psd(name, float(lam[0] * scale)) from None


def eigh_psd(A: FloatArray, unsure: str | None = None) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues (ascending, those below 0 or within rounding of it set to 0) and eigenvectors (columns).

    `unsure` names a matrix that nobody has checked yet: a negative eigenvalue is then an error.
    """
    # A.T: the same matrix, in the order that LAPACK wants; evd is slower with two threads up to n = 1000
    lam, V = linalg.eigh(A.T, driver="evr", check_finite=False)
    if unsure is not None and lam[0] < -1e-6 * max(lam[-1], -lam[0]):
        raise not_psd(unsure, float(lam[0]))
    lam[lam < len(A) * EPS * max(lam[-1], 0.0)] = 0.0
    return lam, V


def logdet(A: FloatArray) -> float:
    """log det of a positive semidefinite matrix; -inf where it is singular to working precision.

    >>> round(logdet(np.array([[2.0, 1.0], [1.0, 2.0]])), 3)
    1.099
    >>> logdet(np.ones((2, 2)))
    -inf
    """
    k = len(A)
    if k == 0:
        return 0.0
    d = A.diagonal()
    if d.min() <= 0.0:
        return -np.inf
    r = np.sqrt(d)  # det A = prod(r^2) det(S): with a unit diagonal, a pivot says what is left of an item
    try:
        pivots = linalg.cholesky(A / r[:, None] / r, lower=True, check_finite=False).diagonal()
    except linalg.LinAlgError:
        return -np.inf
    if pivots.min() ** 2 < 4 * k * EPS:
        return -np.inf
    return float(2 * (np.log(r).sum() + np.log(pivots).sum()))


def eigh_gram(B: Features) -> tuple[FloatArray, FloatArray]:
    """Nonzero eigenvalues (ascending) and eigenvectors of B B^T, at the price of min(n, d)^2 (n + d).

    With few columns, the eigenpairs (lam, w) of the dual C = B^T B give v = B w / sqrt(lam), with
    columns orthonormal to EPS max(lam) / lam; where that is too little, a singular value decomposition.
    """
    n, d = B.shape
    if d >= n:
        lam, V = eigh_psd(to_dense(B @ B.T))
        return lam[lam > 0], V[:, lam > 0]
    lam, W = linalg.eigh(to_dense(B.T @ B), driver="evd", check_finite=False)
    top = max(float(lam[-1]), 0.0)
    if ((lam > 4 * d * EPS * top) & (lam < 1e-6 * top)).any():
        U, sigma, _ = linalg.svd(to_dense(B), full_matrices=False, check_finite=False)
        keep = sigma > n * EPS * sigma[0]
        return sigma[keep][::-1] ** 2, U[:, keep][:, ::-1]
    keep = (lam >= 1e-6 * top) & (lam > 0)
    return lam[keep], np.asarray(B @ (W[:, keep] / np.sqrt(lam[keep])))


def to_dense(B: Features) -> FloatArray:
    return np.asarray(B.toarray() if sparse.issparse(B) else B)


def schur_complement(A: FloatArray, rest: np.ndarray, given: np.ndarray) -> FloatArray:
    """A_rest - A_rest,given A_given^-1 A_given,rest; where only rounding is left of an item, 0."""
    if given.size == 0:
        return A[np.ix_(rest, rest)]
    d = np.sqrt(A.diagonal()[given])
    factor = linalg.cholesky(A[np.ix_(given, given)] / d[:, None] / d, lower=True, check_finite=False)
    half = linalg.solve_triangular(factor, A[np.ix_(given, rest)] / d[:, None], lower=True, check_finite=False)
    left = A[np.ix_(rest, rest)] - half.T @ half
    # the smallest pivot says how far rounding in A is magnified
    noise = 8 * given.size * EPS / factor.diagonal().min() ** 2
    gone = left.diagonal() <= noise * A.diagonal()[rest]
    left[gone] = 0.0
    left[:, gone] = 0.0
    return np.asarray(left)


def project_out(B: FloatArray, rest: np.ndarray, given: np.ndarray) -> FloatArray:
    """Rows `rest` of B without their part in the span of the rows `given`: as many columns fewer, at least one.

    B_rest Q, where the columns of Q complete the directions of B_given to a basis. L = B B^T becomes the Schur
    complement of L_given, and its rank falls by exactly the number given, whatever the scale.
    """
    rows = B[given] / row_lengths(B[given])[:, None]
    Q = linalg.qr(rows.T, mode="full", check_finite=False)[0][:, given.size :]
    left = B[rest] @ Q if Q.shape[1] else np.zeros((rest.size, 1))
    gone = row_lengths(left) <= 8 * B.shape[1] * EPS * row_lengths(B[rest])
    left[gone] = 0.0
    return np.asarray(left)


def nearest_psd(A: ArrayLike) -> FloatArray:
    """The positive semidefinite matrix closest to A in Frobenius norm.

    Symmetrizes A and sets its negative eigenvalues to 0.

    Examples
    --------
    >>> nearest_psd([[1.0, 2.0], [2.0, 1.0]])
    array([[1.5, 1.5],
           [1.5, 1.5]])
    """
    M = check_array(A, "A", 2)
    if M.shape[0] != M.shape[1] or len(M) == 0:
        raise ValueError(f"A must be square and not empty, found shape {M.shape}.")
    lam, V = linalg.eigh(M / 2 + M.T / 2, driver="evd", check_finite=False)
    B = V[:, lam > 0] * np.sqrt(lam[lam > 0])
    return np.asarray(B @ B.T)


def check_kernel(L: ArrayLike, name: str = "L") -> FloatArray:
    """A read-only, symmetric float64 copy of a kernel; up to 512 items, positive semidefinite for certain.

    Larger ones are looked at when they are first used: by `eigh_psd`, which sees the eigenvalues anyway, or by
    `check_psd`, which costs a tenth of that.
    """
    kernel = check_square(L, name)
    if len(kernel) <= SMALL:
        check_psd(kernel, name, tolerance(L))
    elif kernel.diagonal().min() < 0.0:
        raise not_psd(name, float(linalg.eigvalsh(kernel, subset_by_index=[0, 0], check_finite=False)[0]))
    read_only(kernel)
    return kernel


def tolerance(A: ArrayLike) -> float:
    """Relative size of the rounding to forgive in a kernel that was given."""
    return 1e-6 if getattr(A, "dtype", None) in (np.float32, np.float16) else 1e-8


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
