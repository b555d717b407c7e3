"""KL divergence between distributions over subsets, and its gradient with respect to the kernel of a DPP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg

from dpplearn._checks import FloatArray
from dpplearn.mrf.branches import chances
from dpplearn.mrf.enumeration import SetDistribution, items_in, probabilities_of
from dpplearn.mrf.parameters import Sine


def kl_divergence(target: SetDistribution | ArrayLike, model: SetDistribution | ArrayLike) -> float:
    """KL(target || model) = sum of P(Y) log(P(Y) / Q(Y)) over all subsets Y, in nats.

    Infinite where the model excludes a subset that the target does not. Both are distributions on the same items, or
    arrays of 2^n probabilities (bit i of a position says whether item i is in the subset).

    Examples
    --------
    >>> fair, biased = [0.5, 0.5], [0.25, 0.75]  # one item: P(out), P(in)
    >>> round(kl_divergence(fair, biased), 4)
    0.1438
    >>> kl_divergence(fair, [1.0, 0.0])
    inf
    """
    p, q = probabilities_of(target), probabilities_of(model, "model")
    if p.size != q.size:
        found = f"{items_in(p)} and {items_in(q)}"
        raise ValueError(f"target and model must be on the same number of items, found {found}.")
    seen = p > 0.0
    if (q[seen] == 0.0).any():
        return np.inf
    return max(float(p[seen] @ np.log(p[seen] / q[seen])), 0.0)


def expected_log_prob(K: FloatArray, masses: list[tuple[FloatArray, FloatArray]]) -> tuple[float, FloatArray]:
    """Sum of P(Y) log P_K(Y) over all subsets Y, and its gradient with respect to the symmetric K.

    Item by item, down both branches: given the choices on the items before, the first entry a of what K has become is
    the chance that item i is in, and 1 - a that it is out. The rest of K loses v v^T / a with the item and gains
    v v^T / (1 - a) without it. So level i holds 2^i matrices of n - i rows, some six numbers a subset in all; the
    gradient goes the same way back.
    """
    n = len(K)
    levels, value = [K[None]], 0.0
    for taken, left in masses:
        A = levels[-1]
        chance, rest, v = chances(A), A[:, 1:, 1:], A[:, 1:, 0]
        value += float(taken @ np.log(chance) + left @ np.log1p(-chance))
        outer = v[:, :, None] * v[:, None, :]
        levels.append(
            np.concatenate([rest + outer / (1 - chance)[:, None, None], rest - outer / chance[:, None, None]])
        )
    G = np.zeros((1 << n, 0, 0))
    for i in range(n - 1, -1, -1):
        A, (taken, left) = levels[i], masses[i]
        chance, v = chances(A), A[:, 1:, 0]
        without, within = G[: 1 << i], G[1 << i :]
        r_in, r_out = v / chance[:, None], v / (1 - chance)[:, None]
        to_in, to_out = np.einsum("sjk,sk->sj", within, r_in), np.einsum("sjk,sk->sj", without, r_out)
        slope = taken / chance - left / (1 - chance)
        slope += np.einsum("sj,sj->s", to_in, r_in) + np.einsum("sj,sj->s", to_out, r_out)
        G = np.empty_like(A)
        G[:, 1:, 1:] = without + within
        G[:, 1:, 0] = G[:, 0, 1:] = to_out - to_in
        G[:, 0, 0] = np.where(chance == A[:, 0, 0], slope, 0.0)
    return value, G[0]


def branch_masses(p: FloatArray) -> list[tuple[FloatArray, FloatArray]]:
    """For each item i, and each of the 2^i choices on the items before: P(these, and i in Y), P(these, and i not)."""
    out = []
    while p.size > 1:  # the last item first: the upper half has it, and is then added to the lower
        half = p.size // 2
        out.append((p[half:], p[:half]))
        p = p[:half] + p[half:]
    return out[::-1]


@dataclass(frozen=True)
class Divergence:
    """KL(target || DPP) and its gradient, as a function of the parameters x of K = sin(M)^2.

    Eigenvalues of K are kept off 0 and 1, so that no subset is excluded: see `Sine`.
    """

    masses: list[tuple[FloatArray, FloatArray]]
    negative_entropy: float
    kernels: Sine

    @classmethod
    def to(cls, p: FloatArray) -> Self:
        """That of the target with these probabilities."""
        seen = p[p > 0.0]
        return cls(branch_masses(p), float(seen @ np.log(seen)), Sine(items_in(p)))

    def parameters(self, L: FloatArray) -> FloatArray:
        """x of the DPP with likelihood kernel L."""
        lam, V = linalg.eigh(L)
        return self.kernels.start((V * (lam / (1 + lam))) @ V.T)

    def __call__(self, x: FloatArray) -> tuple[float, FloatArray]:
        point = self.kernels.at(x)
        value, G = expected_log_prob(point.K, self.masses)
        return self.negative_entropy - value, -self.kernels.pull_back(point, G)
