"""Cholesky factors, log-determinants, eigenpairs of a positive semidefinite matrix, primal and dual."""

from __future__ import annotations

from collections.abc import Callable
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


def factor_psd(A: FloatArray) -> FloatArray:
    """B (n, rank) with A = B B^T, each row accurate relative to its own length.

    The rank is read off the matrix scaled to a unit diagonal, so that neither a common factor
    of 1e150 nor qualities that differ by e^300 hide items or invent directions.
    """
    d = np.sqrt(np.maximum(A.diagonal(), 0.0))
    inverse = np.divide(1.0, d, out=np.zeros_like(d), where=d > 0)
    return np.asarray(d[:, None] * factor_similarity(A * inverse[:, None] * inverse, log_of(d)))


def factor_similarity(S: FloatArray, log_length: FloatArray) -> FloatArray:
    """U (n, rank) with S = U U^T, reduced as `reduced_rows` says."""
    s, V = eigh_psd(S)
    keep = s > 0
    if not keep.any():
        return np.zeros((len(S), 0))
    # the entries of a vector of eigenvalue s are known to EPS / s
    return reduced_rows(V[:, keep] * np.sqrt(s[keep]), log_length, 1 / np.sqrt(min(float(s[keep][0]), 1.0)))


def log_of(x: FloatArray) -> FloatArray:
    """log x, -inf for 0."""
    return np.log(x, out=np.full_like(x, -np.inf), where=x > 0)


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


def spectrum(lam: FloatArray, V: FloatArray, factor: Callable[[], FloatArray]) -> Spectrum:
    """The spectrum of the DPP whose L has eigenpairs (lam, V) and, if asked for, factor B with L = B B^T."""
    if lam.size and lam[-1] > WIDE:  # eigenvalues near 1 are within rounding of the largest: the long way
        return spectrum_wide(factor())
    return Spectrum(lam / (1 + lam), V, float(np.log1p(lam).sum()))  # equation (7)


def independent_columns(B: FloatArray) -> FloatArray:
    """B' (n, rank) with B' B'^T = B B^T; the rank is that of the rows scaled to length 1."""
    length = row_lengths(B)
    inverse = np.divide(1.0, length, out=np.zeros_like(length), where=length > 0)
    return np.asarray(length[:, None] * independent_rows(B * inverse[:, None], log_of(length)))


def independent_rows(unit: FloatArray, log_length: FloatArray) -> FloatArray:
    """The same for rows of length 1 that stand for exp(log_length_i) u_i, reduced as `reduced_rows` says."""
    U, sigma, _ = linalg.svd(unit, full_matrices=False, check_finite=False)
    keep = sigma > max(unit.shape) * EPS * max(sigma[0], EPS)
    return reduced_rows(U[:, keep] * sigma[keep], log_length)


def reduced_rows(unit: FloatArray, log_length: FloatArray, noise: float = 1.0) -> FloatArray:
    """U' (n, rank) with U' U'^T = U U^T for rows of length 1, triangular in the order of the longest that is left.

    Row i stands for exp(log_length_i) u_i, and u_i is known to `noise` EPS. Reflections turn the longest remaining row
    into the next axis; where only rounding is left of another row it is set to 0, for it depends on longer ones, such
    as a duplicate of larger quality. Left in, EPS times its length would count as a direction, and might exceed all
    shorter rows.
    """
    left = unit.copy()
    small = min(8 * max(unit.shape) * EPS * noise, 1e-6)
    for k in range(left.shape[1]):
        rest = left[:, k:]
        size = row_lengths(rest)
        gone = size <= small
        rest[gone] = 0.0
        if gone.all():
            return left[:, :k]
        p = int(np.where(gone, -np.inf, log_length + np.log(np.where(gone, 1.0, size))).argmax())
        v = rest[p].copy()
        axis = -np.copysign(size[p], v[0])
        v[0] -= axis
        rest -= np.outer(rest @ v, v * (2 / (v @ v)))
        rest[p] = 0.0
        rest[p, 0] = axis
    return left


def stacked_qr(B: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Q (n + d, d) and R with [B; I] P = Q R for a permutation P, so that R^T R = P^T (I + B^T B) P.

    Householder QR with columns pivoted and rows sorted by length keeps every row's own relative
    accuracy (Cox and Higham, 1998), however much the rows differ in length.
    """
    n, d = B.shape
    length = np.concatenate([np.abs(B).max(axis=1, initial=0.0), np.ones(d)])
    order = np.argsort(-length, kind="stable")
    stacked = np.concatenate([B, np.eye(d)])[order]
    Q, R, _ = linalg.qr(stacked, mode="economic", pivoting=True, check_finite=False)
    rows = np.empty_like(order)
    rows[order] = np.arange(n + d)
    return Q[rows], R


def spectrum_wide(B: FloatArray) -> Spectrum:
    """The spectrum when L = B B^T has eigenvalues so large that rounding them would move those near 1.

    K = B (I + B^T B)^-1 B^T = Q Q^T, where Q is the upper part of `stacked_qr`; its singular values are
    then sqrt(p), correct to EPS absolutely, which is all a probability needs. The columns of B must be
    independent and rows that depend on longer ones reduced (`independent_columns`, `factor_psd`): rounding in a
    direction that is not there would count as one.
    """
    Q, R = stacked_qr(B)
    U, sigma, _ = linalg.svd(Q[: len(B)], full_matrices=False, check_finite=False)
    p = np.clip(sigma[::-1] ** 2, 0.0, 1.0)
    # det(I + B^T B) = det(R^T R)
    return Spectrum(p, np.ascontiguousarray(U[:, ::-1]), float(2 * np.log(np.abs(R.diagonal())).sum()))


def tilt_to_size(B: FloatArray, k: int) -> float:
    """log c for which c B B^T has about k eigenvalues above 1 and the rest below, from the sizes a pivoted QR shows."""
    order = np.argsort(-row_lengths(B), kind="stable")
    pivots = np.abs(linalg.qr(B[order], mode="r", pivoting=True, check_finite=False)[0].diagonal())
    sizes = np.sort(2 * np.log(np.maximum(pivots, 1e-300)))[::-1]
    return float(-(sizes[k - 1] + sizes[min(k, sizes.size - 1)]) / 2)


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
