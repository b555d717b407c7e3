"""How much rounding may cost: every criterion once, with its reason. Loops and Python read the same ones."""

from __future__ import annotations

import numpy as np

EPS = float(np.finfo(np.float64).eps)
EPS32 = float(np.finfo(np.float32).eps)
ROUNDING = 8 * EPS  # what each elimination may leave of 1 (L_ii, a unit row, an eigenvalue of K) where 0 is exact
SINGULAR = 4 * EPS  # times n: a squared pivot, of an n x n matrix with unit diagonal, up to which its determinant is 0
WIDE = 1e6  # up to this largest eigenvalue, rounding (EPS * WIDE) moves no probability by more than about 1e-10
MIN_PIVOT = 1e-7  # of a matrix with unit diagonal: below it, rounding (EPS / MIN_PIVOT) reaches the marginals
PARALLEL = 1e-6  # a squared pivot, of rows of length 1, below which their products lack digits: work on the rows
DIGITS = 1e-10  # relative error of 1 + lam, or of a determinant, that is good enough for a normalizer
DUAL = 1e-6  # of the largest eigenvalue: above it, B w / sqrt(lam) are orthonormal to EPS / DUAL
LOST_EIGENVALUE = 1e-8  # of the largest one: an eigenvalue of this size is known to half its digits
MISSING_TRACE = 1e-7  # of the k-th eigenvalue of a k-DPP: what the sum of the smaller ones may lack
UNSURE_PROBABILITY = 1e-6  # tensors: a k-DPP is refused where rounding may change probabilities by more
EQUAL_PROBABILITY = 1e-8  # eigenvectors whose probabilities differ by less are known only as a basis of their space
NEARLY_SURE = 1e-5  # an eigenvalue of I - K below this has lost too many digits: ask L instead
ZERO_GAIN = 1e-12  # of L_ii: a gain that a Markov chain takes for 0, because it updates its factor many times
TIE = 2.0**-22  # log gains that differ by less (2e-7) are ties: past the rank, where a millionth of an item is its own,
# sums in another order differ by up to 1e-9, and ties must be the same on any processor, compiled or not
AGAIN = 0.05  # of a squared length: where less is left, digits were lost; orthogonalize once more (Kahan)


def rounding(steps: int) -> float:
    """What so many eliminations may leave of 1 where 0 is exact."""
    return steps * ROUNDING


def singular(size: int) -> float:
    """A squared pivot of a matrix of this size, with unit diagonal, up to which its determinant counts as 0."""
    return size * SINGULAR


def keeps_digits(lam: np.ndarray) -> bool:
    """Whether rounding, of EPS times the largest eigenvalue, leaves every 1 + lam its digits."""
    return bool(EPS * lam.max() <= DIGITS * (1.0 + lam.min()))
