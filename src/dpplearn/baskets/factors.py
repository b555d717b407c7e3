"""A kernel as a function of its parameters, with the derivatives in these.

    L = diag(q) (w I + U U^T + X Y^T - Y X^T) diag(q),        B = [X Y]

has every principal minor >= 0. U repels; X and Y attract: for two items det(S) = 1 - (u . u')^2 + (x . y' - y . x')^2.
The parameters are a table W = [log q, U, X, Y] with a row for each item.

For a small catalogue w = 1, and the prior alpha (|U|^2 + |B|^2) / 2 draws towards independent items. A kernel of low
rank must have w = 0. There the rows of U have length 1 instead, and the prior alpha (|U^T U|^2 / 2 + |B|^2) / 2 draws
towards different directions, which again means independent items. Without either rule q could grow while the factors
shrink, and the prior would have no effect.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from dpplearn._checks import FloatArray
from dpplearn._notebook import short_repr
from dpplearn.baskets.likelihood import KernelRows
from dpplearn.dpp import DPP
from dpplearn.lowrank import LowRankDPP
from dpplearn.nonsymmetric import NonsymmetricDPP

LARGEST = 300.0  # limit of |log q|: e^600 is a float


@dataclass(frozen=True, eq=False)
class KernelFactors:
    """A kernel by its parameters W, whose columns are log q, U (symmetric_rank of them) and B (skew_rank).

    `identity` says whether w is 1 or 0.
    """

    __repr__ = short_repr

    W: FloatArray
    symmetric_rank: int
    skew_rank: int
    identity: bool

    @property
    def n(self) -> int:
        return len(self.W)

    def with_parameters(self, x: FloatArray) -> Self:
        """The same kind of kernel with other parameters, as one vector."""
        return replace(self, W=x.reshape(self.W.shape))

    def rows(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """q, the lengths by which rows of U are divided, U and B."""
        q = np.exp(np.clip(self.W[:, 0], -LARGEST, LARGEST))
        U, B = self.W[:, 1 : 1 + self.symmetric_rank], self.W[:, 1 + self.symmetric_rank :]
        lengths = np.ones(self.n) if self.identity else np.maximum(np.sqrt(np.einsum("ij,ij->i", U, U)), 1e-12)
        return q, lengths, U if self.identity else U / lengths[:, None], B

    def kernel(self) -> KernelRows:
        """The rows of both sides; of B, the right side has X and Y, the left side -Y and X."""
        q, _, U, B = self.rows()
        right = q[:, None] * np.hstack([U, B])
        return KernelRows(self._turn(right), right, q**2 if self.identity else None)

    def _turn(self, Z: FloatArray, sign: float = 1.0) -> FloatArray:
        """Z times the core, which is I for U and turns X and Y; with sign -1, times its transpose."""
        r, h = self.symmetric_rank, self.skew_rank // 2
        return np.hstack([Z[:, :r], -sign * Z[:, r + h :], sign * Z[:, r : r + h]])

    def pull_back(
        self, kernel: KernelRows, G_left: FloatArray, G_right: FloatArray, G_diagonal: FloatArray | None
    ) -> FloatArray:
        """The gradient in the parameters, from derivatives in the rows and in w q^2."""
        q, lengths, U, _ = self.rows()
        dZ = G_right + self._turn(G_left, -1.0)  # left = right C, so that d right gets (d left) C^T
        d_log_q = np.einsum("ij,ij->i", dZ, kernel.right)
        if G_diagonal is not None and kernel.diagonal is not None:
            d_log_q = d_log_q + 2 * kernel.diagonal * G_diagonal
        dZ = q[:, None] * dZ
        dU, dB = dZ[:, : self.symmetric_rank], dZ[:, self.symmetric_rank :]
        return np.hstack([d_log_q[:, None], dU if self.identity else along(U, lengths, dU), dB]).ravel()

    def penalty(self, alpha: float) -> tuple[float, FloatArray]:
        """What the prior subtracts, and its gradient in the parameters."""
        _, lengths, U, _ = self.rows()
        of_U = slice(1, 1 + self.symmetric_rank)
        gradient = alpha * self.W
        gradient[:, 0] = 0.0
        if self.identity:
            return float((gradient * self.W).sum()) / 2, gradient.ravel()
        gradient[:, of_U] = 0.0
        C = U.T @ U
        value = float((gradient * self.W).sum()) / 2 + alpha / 4 * float((C**2).sum())
        gradient[:, of_U] = along(U, lengths, alpha * (U @ C))
        return value, gradient.ravel()

    def distribution(self) -> DPP | LowRankDPP | NonsymmetricDPP:
        """The distribution that has this kernel."""
        q, _, U, B = self.rows()
        V = q[:, None] * U
        if self.skew_rank == 0:
            return DPP(self.kernel().L) if self.identity or self.symmetric_rank >= self.n else LowRankDPP(V)
        D = np.zeros((self.skew_rank, self.skew_rank))
        h = self.skew_rank // 2
        D[:h, h:] = np.eye(h)
        return NonsymmetricDPP(np.hstack([np.diag(q), V]) if self.identity else V, q[:, None] * B, D)


def along(U: FloatArray, lengths: FloatArray, dU: FloatArray) -> FloatArray:
    """The derivative in rows, from the derivative in U, the rows divided by their lengths."""
    return np.asarray((dU - np.einsum("ij,ij->i", dU, U)[:, None] * U) / lengths[:, None])
