"""Marginal kernels as functions of free parameters, and the starts of the search for the closest DPP."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy import linalg

from dpplearn._checks import FloatArray
from dpplearn.mrf.enumeration import inclusion_probs, items_in, pair_positions

EDGE = 1e-3  # distance of the eigenvalues of a start from 0 and 1
Spectrum = tuple[FloatArray, FloatArray]  # eigenvalues of M, and eigenvectors


@dataclass(frozen=True)
class Sine:
    """K = sin(M)^2 for a symmetric matrix M with the upper triangle x.

    For every M the eigenvalues sin(m)^2 are in [0, 1], and they reach both ends, where the best DPP often is, at a
    finite M. For one item, the Fisher information in m is the same everywhere (4).
    """

    n: int
    edge: float = 1e-10  # distance of the eigenvalues of K from 0 and 1, so that L exists and no subset is excluded

    def start(self, K: FloatArray) -> FloatArray:
        """The x of a symmetric K, with its eigenvalues clipped to [0, 1]."""
        p, V = linalg.eigh((K + K.T) / 2)
        p = np.clip((p - self.edge) / (1 - 2 * self.edge), 0.0, 1.0)
        return np.asarray(((V * np.arcsin(np.sqrt(p))) @ V.T)[np.triu_indices(self.n)])

    def at(self, x: FloatArray) -> tuple[FloatArray, Spectrum]:
        """K, and the eigenpairs of M, which `pull_back` needs."""
        M = np.zeros((self.n, self.n))
        M[np.triu_indices(self.n)] = x
        m, V = linalg.eigh(M.T, lower=True)
        p = self.edge + (1 - 2 * self.edge) * np.sin(m) ** 2
        return (V * p) @ V.T, (m, V)

    def pull_back(self, spectrum: Spectrum, G: FloatArray) -> FloatArray:
        """The gradient in x, from the gradient G in K."""
        m, V = spectrum
        # dK = V (D o (V^T dM V)) V^T with D_ij = (sin(a)^2 - sin(b)^2) / (a - b) = sin(a + b) sin(a - b) / (a - b)
        D = (1 - 2 * self.edge) * np.sin(m[:, None] + m) * np.sinc((m[:, None] - m) / np.pi)
        H = V @ (D * (V.T @ G @ V)) @ V.T
        H = H + H.T - np.diag(H.diagonal())  # an entry off the diagonal counts twice
        return np.asarray(H[np.triu_indices(self.n)])


def with_signs(K: FloatArray) -> FloatArray:
    """K with signs of the items such that the row of the item most like the others is >= 0; no minor changes."""
    q = np.sqrt(K.diagonal())  # positive, because the eigenvalues of K are
    row = K[np.abs(K / q[:, None] / q).sum(axis=1).argmax()]
    signs = np.where(row < 0.0, -1.0, 1.0)
    return signs[:, None] * K * signs


def dpp_starts(p: FloatArray, count: int, rng: np.random.Generator) -> list[FloatArray]:
    """`count` marginal kernels from which to look for the DPP closest to a target with probabilities p.

    The first has the target's marginals of at most three items, as far as possible: K_ii = P_i and K_ij^2 = P_i P_j -
    P_ij, with signs from P_ijk. In the others, some signs and all entries are changed at random.
    """
    K = inside(from_minors(inclusion_probs(p)))
    starts = [K]
    for _ in range(count - 1):
        signs = np.where(np.triu(rng.random(K.shape) < 0.3, 1), -1.0, 1.0)
        noise = 0.1 * rng.standard_normal(K.shape)
        starts.append(inside(K * signs * signs.T + noise + noise.T))
    return starts


def from_minors(minor: FloatArray) -> FloatArray:
    """The symmetric matrix with these principal minors of one and two rows, and by its signs of three rows."""
    n = items_in(minor)
    pairs = pair_positions(n)
    d = minor[pairs.diagonal()]
    A = np.sqrt(np.maximum(np.outer(d, d) - minor[pairs], 0.0))  # absolute values of the entries
    np.fill_diagonal(A, 0.0)
    three = minor[pairs[:, :, None] | pairs.diagonal()]
    squares = d[:, None, None] * A**2
    # det of three rows = d_i d_j d_k + 2 A_ij A_jk A_ik - d_i A_jk^2 - d_j A_ik^2 - d_k A_ij^2
    product = three - np.einsum("i,j,k->ijk", d, d, d)
    product += squares + squares.transpose(1, 0, 2) + squares.transpose(2, 1, 0)
    signs = np.zeros((n, n))
    # from the largest entry on: each takes the sign on which triangles with two known signs agree, or else +
    for i, j in sorted(combinations(range(n), 2), key=lambda pair: -A[pair]):
        vote = float((product[i, j] * signs[i] * signs[j]).sum())
        signs[i, j] = signs[j, i] = -1.0 if vote < 0.0 else 1.0
    out = signs * A
    np.fill_diagonal(out, d)
    return out


def inside(K: FloatArray, edge: float = EDGE) -> FloatArray:
    """K with its eigenvalues kept away from 0 and 1."""
    p, V = linalg.eigh((K + K.T) / 2)
    return np.asarray((V * np.clip(p, edge, 1 - edge)) @ V.T)
