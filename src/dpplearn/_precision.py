"""Tolerances for rounding errors, each with its reason; compiled loops and Python code use the same ones."""

from __future__ import annotations

import numpy as np

EPS = float(np.finfo(np.float64).eps)
EPS32 = float(np.finfo(np.float32).eps)
ROUNDING = 8 * EPS  # what rounding may leave of 1 (L_ii, a unit row, an eigenvalue of K) where an elimination gives 0
SINGULAR = 4 * EPS  # an n x n matrix with unit diagonal is singular if a squared pivot is at most n times this
WIDE = 1e6  # up to this largest eigenvalue, rounding (EPS * WIDE) moves no probability by more than about 1e-10
MIN_PIVOT = 1e-7  # below this pivot of a matrix with unit diagonal, rounding (EPS / MIN_PIVOT) reaches the marginals
PARALLEL = 1e-6  # below this squared pivot of unit rows, their products lack digits, and we work on the rows instead
DIGITS = 1e-10  # relative error of 1 + lam, or of a determinant, that is good enough for a normalizer
DUAL = 1e-6  # above this share of the largest eigenvalue, vectors B w / sqrt(lam) are orthonormal to EPS / DUAL
LOST_EIGENVALUE = 1e-8  # an eigenvalue with this share of the largest is known to half its digits
MISSING_TRACE = 1e-7  # the smaller eigenvalues may lack this share of the k-th one of a k-DPP in their sum
UNSURE_PROBABILITY = 1e-6  # a k-DPP of tensors is refused if rounding may change probabilities by more
EQUAL_PROBABILITY = 1e-8  # eigenvectors whose probabilities differ by less are known only as a basis of their space
NEARLY_SURE = 1e-5  # an eigenvalue of I - K below this has lost too many digits, and we use L instead
ZERO_GAIN = 1e-12  # a Markov chain updates its factor many times, and takes a gain below this share of L_ii for 0
TIE = 2.0**-22  # log gains that differ by less are ties on every processor, where sums in another order differ by 1e-9
REORTHOGONAL = (
    0.05  # if less than this share of a squared length is left, we orthogonalize again to regain digits (Kahan)
)


def rounding(steps: int) -> float:
    """How much so many eliminations may leave of 1 where the exact result is 0."""
    return steps * ROUNDING


def singular(size: int) -> float:
    """The squared pivot up to which a matrix of this size with unit diagonal counts as singular."""
    return size * SINGULAR


def keeps_digits(lam: np.ndarray) -> bool:
    """Whether every 1 + lam keeps its digits despite rounding of EPS times the largest eigenvalue."""
    return bool(EPS * lam.max() <= DIGITS * (1.0 + lam.min()))
