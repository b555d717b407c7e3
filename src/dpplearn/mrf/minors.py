"""log det(L_Y) of all 2^n subsets at once, and the gradient of their weighted sum."""

from __future__ import annotations

import numpy as np

from dpplearn._checks import FloatArray
from dpplearn._linalg import EPS


def expected_log_minor(L: FloatArray, masses: list[FloatArray]) -> tuple[float, FloatArray]:
    """Sum over all Y of P(Y) log det(L_Y), and its gradient: the sum of P(Y) L_Y^-1, padded with zeros.

    Item by item, every subset of the items so far has the rest of the kernel given that its items are taken: the Schur
    complement with item i, the kernel as it was without. What is left of item i, its pivot, adds its logarithm to all
    subsets that go on with i. So level i holds 2^i matrices of n - i rows, some six numbers a subset in all. The
    gradient goes the same way back.

    `masses` are those of `branch_masses`.
    """
    n = len(L)
    levels, value = [L[None]], 0.0
    for i in range(n):
        A = levels[-1]
        pivot = pivots(A, masses[i], L[i, i])
        value += float(masses[i] @ np.log(pivot))
        rest, v = A[:, 1:, 1:], A[:, 1:, 0]
        levels.append(np.concatenate([rest, rest - v[:, :, None] * (v / pivot[:, None])[:, None, :]]))
    G = np.zeros((1 << n, 0, 0))
    for i in range(n - 1, -1, -1):
        A = levels[i]
        pivot = pivots(A, masses[i], L[i, i])
        without, with_ = G[: 1 << i], G[1 << i :]
        ratio = A[:, 1:, 0] / pivot[:, None]
        side = np.einsum("sjk,sk->sj", with_, ratio)
        G = np.empty_like(A)
        G[:, 1:, 1:] = without + with_
        G[:, 1:, 0] = G[:, 0, 1:] = -side
        G[:, 0, 0] = np.where(pivot == A[:, 0, 0], masses[i] / pivot + np.einsum("sj,sj->s", side, ratio), 0.0)
    return value, G[0]


def pivots(A: FloatArray, mass: FloatArray, full: float) -> FloatArray:
    """What is left of the first item, whose L_ii is `full`; 1 where no subset with probability needs it.

    Below EPS L_ii only rounding is left: there it is constant, so that a line search steps back.
    """
    return np.where(mass > 0.0, np.maximum(A[:, 0, 0], EPS * full), 1.0)


def branch_masses(p: FloatArray) -> list[FloatArray]:
    """For each item i: P(Y agrees with s on the items before i, and i is in Y) for the 2^i sets s of those items."""
    out = []
    while p.size > 1:  # the last item first: the upper half holds it, and is then summed out
        half = p.size // 2
        out.append(p[half:])
        p = p[:half] + p[half:]
    return out[::-1]
