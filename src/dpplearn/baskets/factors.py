"""How a kernel is made of parameters, and how a derivative in the kernel is pulled back to them.

    L = diag(q) (w I + U U^T + X Y^T - Y X^T) diag(q),        B = [X Y]

has every principal minor >= 0. U repels; X and Y attract: for two items det(S) = 1 - (u . u')^2 + (x . y' - y . x')^2.
The parameters are a table W = [log q, U, X, Y] with a row for each item. Where items have features, W = phi A + F
with a free part F, so an item that was in no basket has the row phi A.

For a small catalogue w = 1, and the prior alpha (|U|^2 + |B|^2) / 2 draws towards independent items. A kernel of low
rank must have w = 0. There the rows of U have length 1 instead, and the prior alpha (|U^T U|^2 / 2 + |B|^2) / 2 draws
towards directions that differ, which is independence again. Without either rule q could grow, the factors shrink, and
the prior would lose its force.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from dpplearn._checks import FloatArray, check_array
from dpplearn._notebook import short_repr
from dpplearn.baskets.likelihood import KernelRows
from dpplearn.dpp import DPP
from dpplearn.lowrank import LowRankDPP
from dpplearn.nonsymmetric import NonsymmetricDPP

LARGEST = 300.0  # log q is kept within this: e^600 is a float


@dataclass(frozen=True, eq=False)
class KernelFactors:
    """A kernel and how it was made.

    Parameters
    ----------
    W : array of shape (n, 1 + symmetric_rank + skew_rank)
        log q, U and B; without features, the parameters themselves.
    symmetric_rank, skew_rank : int
        Columns of U and of B.
    identity : bool
        Whether w is 1; else it is 0.
    phi : array of shape (n, p), optional
        Features of the items.
    A : array of shape (p, columns of W), optional
        Their weights; W - phi A is the free part.
    """

    __repr__ = short_repr

    W: FloatArray
    symmetric_rank: int
    skew_rank: int
    identity: bool
    phi: FloatArray | None = None
    A: FloatArray | None = None

    @property
    def n(self) -> int:
        return len(self.W)

    @property
    def parameters(self) -> FloatArray:
        """One vector: F, and A where there are features."""
        if self.phi is None or self.A is None:
            return self.W.ravel()
        return np.concatenate([(self.W - self.phi @ self.A).ravel(), self.A.ravel()])

    def with_parameters(self, x: FloatArray) -> Self:
        """The same kind of kernel with another vector."""
        F = x[: self.W.size].reshape(self.W.shape)
        if self.phi is None:
            return replace(self, W=F)
        A = x[self.W.size :].reshape(-1, self.W.shape[1])
        return replace(self, W=F + self.phi @ A, A=A)

    def rows(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """q, the lengths that U's rows are divided by, U and B."""
        q = np.exp(np.clip(self.W[:, 0], -LARGEST, LARGEST))
        U, B = self.W[:, 1 : 1 + self.symmetric_rank], self.W[:, 1 + self.symmetric_rank :]
        lengths = np.ones(self.n) if self.identity else np.maximum(np.sqrt(np.einsum("ij,ij->i", U, U)), 1e-12)
        return q, lengths, U if self.identity else U / lengths[:, None], B

    def kernel(self) -> KernelRows:
        """Rows of both sides; of B, the second side has X and Y, the first -Y and X."""
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
        return self._chain(d_log_q, q[:, None] * dZ, U, lengths)

    def _chain(self, d_log_q: FloatArray, d_rows: FloatArray, U: FloatArray, lengths: FloatArray) -> FloatArray:
        """Derivatives in log q and in [U, B] as one vector, through the rows' lengths and the features."""
        dW = np.hstack([d_log_q[:, None], d_rows])
        if not self.identity:
            dU = dW[:, 1 : 1 + self.symmetric_rank]
            dU -= np.einsum("ij,ij->i", dU, U)[:, None] * U
            dU /= lengths[:, None]
        return dW.ravel() if self.phi is None else np.concatenate([dW.ravel(), (self.phi.T @ dW).ravel()])

    def penalty(self, alpha: float) -> tuple[float, FloatArray]:
        """The prior's part, to be subtracted, and its gradient in the parameters."""
        _, lengths, U, _ = self.rows()
        r = self.symmetric_rank
        x = self.parameters
        F = x[: self.W.size].reshape(self.W.shape)
        weights = np.full(self.W.shape[1], alpha)
        weights[0] = 0.0 if self.phi is None else 1.0  # with features, what they do not say of log q is near 0
        if not self.identity:
            weights[1 : 1 + r] = 0.0
        gradient = np.zeros(x.size)
        gradient[: F.size] = (weights * F).ravel()
        value = float(weights @ (F**2).sum(axis=0)) / 2
        if self.phi is not None and self.A is not None:
            gradient[F.size :] = alpha * self.A.ravel()
            value += alpha * float((self.A**2).sum()) / 2
        if not self.identity:
            C = U.T @ U
            value += alpha / 4 * float((C**2).sum())
            slopes = np.zeros((self.n, self.W.shape[1] - 1))
            slopes[:, :r] = alpha * (U @ C)
            gradient += self._chain(np.zeros(self.n), slopes, U, lengths)
        return value, gradient

    def distribution(self) -> DPP | LowRankDPP | NonsymmetricDPP:
        """What answers questions about the kernel."""
        q, _, U, B = self.rows()
        V = q[:, None] * U
        if self.skew_rank == 0:
            return DPP(self.kernel().L) if self.identity or self.symmetric_rank >= self.n else LowRankDPP(V)
        D = np.zeros((self.skew_rank, self.skew_rank))
        h = self.skew_rank // 2
        D[:h, h:] = np.eye(h)
        return NonsymmetricDPP(np.hstack([np.diag(q), V]) if self.identity else V, q[:, None] * B, D)

    def with_items(self, phi: FloatArray) -> Self:
        """More items, of which only features are known."""
        assert self.phi is not None
        assert self.A is not None
        return replace(self, W=np.vstack([self.W, phi @ self.A]), phi=np.vstack([self.phi, phi]))


def read_features(features: Any, items: np.ndarray) -> tuple[FloatArray | None, FloatArray | None]:
    """phi: a constant and the features in units of their deviation; and the mean and deviation of each."""
    if features is None:
        return None, None
    if isinstance(features, Mapping):
        missing = [name for name in items.tolist() if name not in features]
        if missing:
            raise ValueError(f"features must have a vector for every item; {missing[0]!r} has none ({len(missing)}).")
        features = [features[name] for name in items.tolist()]
    rows = check_array(features, "features", 2)
    if len(rows) != items.size:
        raise ValueError(f"features must have a row for each item ({items.size}), found {len(rows)}.")
    unit = np.abs(rows).max(axis=0, initial=0.0)
    unit[unit == 0.0] = 1.0
    mean, deviation = unit * (rows / unit).mean(axis=0), unit * (rows / unit).std(axis=0)  # no square overflows
    scale = np.stack([mean, np.where(deviation > 0, deviation, 1.0)])
    return standardize(rows, scale), scale


def standardize(rows: FloatArray, scale: FloatArray) -> FloatArray:
    """A constant, and the rows less their mean, in units of their deviation."""
    return np.column_stack([np.ones(len(rows)), (rows - scale[0]) / scale[1]])
