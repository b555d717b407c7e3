"""The truth in exact fractions: floats are binary fractions, so every determinant of them has an exact value."""

from __future__ import annotations

from fractions import Fraction
from math import log

from brute import event, subsets  # noqa: F401  # the same of fractions


def fractions(A):
    """The numbers of an array of floats, exactly."""
    return [[Fraction(float(x)) for x in row] for row in A]


def product(A, B):
    """A B for matrices of fractions."""
    columns = list(zip(*B, strict=True))
    return [[sum(x * y for x, y in zip(row, column, strict=True)) for column in columns] for row in A]


def transpose(A):
    return [list(column) for column in zip(*A, strict=True)]


def determinant(A):
    """By elimination with exact pivots."""
    A, value = [row[:] for row in A], Fraction(1)
    for c in range(len(A)):
        pivot = next((r for r in range(c, len(A)) if A[r][c]), None)
        if pivot is None:
            return Fraction(0)
        if pivot != c:
            A[c], A[pivot], value = A[pivot], A[c], -value
        value *= A[c][c]
        for r in range(c + 1, len(A)):
            factor = A[r][c] / A[c][c]
            if factor:
                A[r] = [x - factor * y for x, y in zip(A[r], A[c], strict=True)]
    return value


def minors(L):
    """det(L_Y) of every subset Y."""
    return {Y: determinant([[L[i][j] for j in Y] for i in Y]) for Y in subsets(len(L))}


def from_marginal(K):
    """P(Y) of every subset by inclusion and exclusion over det(K_A)."""
    inclusion = minors(K)
    return {
        Y: sum((-1) ** (len(A) - len(Y)) * value for A, value in inclusion.items() if set(Y) <= set(A))
        for Y in inclusion
    }


def normalized(weights, k=None):
    """Weights of sets (those of k items, if given) divided by their sum."""
    kept = {Y: w for Y, w in weights.items() if k is None or len(Y) == k}
    total = sum(kept.values())
    return {Y: w / total for Y, w in kept.items()}


def log_of(p):
    """log of a fraction of any size; -inf of 0."""
    return log(p.numerator) - log(p.denominator) if p > 0 else float("-inf")
