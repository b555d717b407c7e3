"""Marginal kernels as functions of free parameters, with the pull-back of a gradient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import linalg

from dpplearn._checks import FloatArray
from dpplearn.dpp import DPP
from dpplearn.lowrank import LowRankDPP
from dpplearn.mrf.starts import likelihood_kernel, tree_signs
from dpplearn.nonsymmetric import NonsymmetricDPP

LARGEST = 1e3  # entry of B and C: L keeps its digits
EDGE = 1e-10  # eigenvalues of K stay this far from 0 and 1, so that L exists and no subset is excluded


class Point(NamedTuple):
    """K at some parameters, and what the pull-back needs there."""

    K: FloatArray
    parts: tuple[FloatArray, ...]


@dataclass(frozen=True)
class Sine:
    """K = sin(M)^2 for a symmetric M, of which x is the upper triangle.

    The eigenvalues sin(m)^2 are in [0, 1] for every M and reach both ends, where the best DPP often lies, at a finite
    M. For one item sin(m)^2 is also the scale on which the Fisher information is the same everywhere (4).
    """

    n: int
    edge: float = EDGE

    def start(self, K: FloatArray) -> FloatArray:
        """x of a symmetric K, its eigenvalues forced into [0, 1]."""
        p, V = linalg.eigh((K + K.T) / 2)
        p = np.clip((p - self.edge) / (1 - 2 * self.edge), 0.0, 1.0)
        return np.asarray(((V * np.arcsin(np.sqrt(p))) @ V.T)[np.triu_indices(self.n)])

    def at(self, x: FloatArray) -> Point:
        M = np.zeros((self.n, self.n))
        M[np.triu_indices(self.n)] = x
        m, V = linalg.eigh(M.T, lower=True)
        p = self.edge + (1 - 2 * self.edge) * np.sin(m) ** 2
        return Point((V * p) @ V.T, (m, V, p))

    def pull_back(self, point: Point, G: FloatArray) -> FloatArray:
        """The gradient with respect to x, from G = d / dK."""
        m, V, _ = point.parts
        # dK = V (D o (V^T dM V)) V^T with D_ij = (sin(a)^2 - sin(b)^2) / (a - b) = sin(a + b) sin(a - b) / (a - b)
        D = (1 - 2 * self.edge) * np.sin(m[:, None] + m) * np.sinc((m[:, None] - m) / np.pi)
        H = V @ (D * (V.T @ G @ V)) @ V.T
        H = H + H.T - np.diag(H.diagonal())  # an entry off the diagonal is there twice
        return np.asarray(H[np.triu_indices(self.n)])

    def process(self, x: FloatArray) -> DPP:
        """The DPP, its kernel with positive entries between the items most alike."""
        _, V, p = self.at(x).parts
        L = (V * (p / (1 - p))) @ V.T
        signs = tree_signs(L)
        return DPP(signs[:, None] * (L + L.T) / 2 * signs)


@dataclass(frozen=True)
class Factors:
    """L = B B^T + (C - C^T): B with `rank` columns, C strictly upper triangular where `skew`, else 0.

    K = I - (I + L)^-1. The skew part lets pairs attract; L + L^T is positive semidefinite, so every minor is >= 0.
    """

    n: int
    rank: int
    skew: bool = False

    def start(self, K: FloatArray) -> FloatArray:
        """x of the marginal kernel K: the largest eigenvalues of the symmetric part of its L, and the skew part."""
        L = likelihood_kernel(K)
        lam, V = linalg.eigh((L + L.T) / 2)
        B = V[:, -self.rank :] * np.sqrt(np.maximum(lam[-self.rank :], 1e-4))
        return np.clip(self._vector(B, (L - L.T) / 2), -LARGEST, LARGEST)

    def split(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """B and C."""
        B, C = x[: self.n * self.rank].reshape(self.n, self.rank), np.zeros((self.n, self.n))
        if self.skew:
            C[np.triu_indices(self.n, 1)] = x[self.n * self.rank :]
        return B, C

    def at(self, x: FloatArray) -> Point:
        B, C = self.split(x)
        R = linalg.inv((1 + EDGE) * np.eye(self.n) + B @ B.T + C - C.T)
        return Point(np.eye(self.n) - R, (R, B))

    def pull_back(self, point: Point, G: FloatArray) -> FloatArray:
        """The gradient with respect to x, from G = d / dK."""
        R, B = point.parts
        H = R.T @ G @ R.T  # dK = R dL R
        return self._vector((H + H.T) @ B, H - H.T)

    def process(self, x: FloatArray) -> LowRankDPP | NonsymmetricDPP:
        B, C = self.split(x)
        return NonsymmetricDPP.from_kernel(B @ B.T + C - C.T) if self.skew else LowRankDPP(B)

    def _vector(self, B: FloatArray, C: FloatArray) -> FloatArray:
        return np.concatenate([B.ravel(), C[np.triu_indices(self.n, 1)]]) if self.skew else B.ravel()
