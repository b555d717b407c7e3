"""What each candidate would add to the items chosen so far, for the one greedy engine of `dpplearn.decoding.greedy`.

Adding item i multiplies the probability by its gain g_i = L_ii - L_iY L_Y^-1 L_Yi, which only falls as Y grows: an old
gain is an upper bound. So a *block* of items has exact gains, and all others have bounds. The steps are products that
numpy and torch both do: with arrays on the CPU and with tensors on a device it is the same code.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from scipy import sparse

from dpplearn._checks import FloatArray, IntArray
from dpplearn._precision import AGAIN, EPS, EPS32, ROUNDING

PASS = 2**16  # rows that one product reads in a pass over all
ROOM = 64  # directions that are made room for at a time
GATHER = 8  # times as long to gather a row and make it float64 as to read it in a pass over all


class Gains(Protocol):
    """What the engine asks. A block and its gains are arrays, or tensors on a device."""

    n: int
    start: int  # items in the first block
    bound: Any  # (n,) upper bounds of the gains of all items
    xp: Any  # ArrayOps, or the same for tensors

    def block(self, items: Any) -> Any:
        """The exact gains of some items, which are the block from now on."""

    def take(self, j: int, place: int | None = None) -> float:
        """The gain of an item that is chosen now, which stands at this place of the block; 0 where it has none."""

    def fall(self) -> Any:
        """By how much the gains of the block fell with the item taken last."""

    def least(self, items: Any) -> Any:
        """What rounding may leave of gains that are 0."""

    def refresh(self) -> bool:
        """Bring all bounds down by a pass over all items; False where they are up to date, or a pass is no use."""

    def passes(self, size: int) -> bool:
        """Whether a pass over all items costs less than the gains of a block of this size."""


class ArrayOps:
    """The few operations that numpy and torch spell differently."""

    start = 256  # items in a block: more cost more at each step, fewer are asked for again sooner

    @staticmethod
    def double(x: Any) -> Any:
        return x.astype(np.float64)

    @staticmethod
    def host(x: Any) -> IntArray:
        return np.asarray(x)

    @staticmethod
    def put(x: Any, like: Any) -> Any:  # noqa: ARG004  # tensors go to its device
        return x

    @staticmethod
    def all_items(n: int, like: Any) -> Any:  # noqa: ARG004
        return np.arange(n)

    @staticmethod
    def first(mask: Any) -> Any:
        """The place of the first True."""
        return mask.argmax()

    @staticmethod
    def at(x: Any, place: Any) -> Any:
        """One of them, for which no device is waited for."""
        return x[place]

    @staticmethod
    def numbers(*x: Any) -> tuple[float, ...]:
        """Python's numbers, for which a device is waited for once."""
        return tuple(map(float, x))

    @staticmethod
    def where(mask: Any) -> Any:
        """The places of True."""
        return np.flatnonzero(mask)

    @staticmethod
    def largest(x: Any, m: int) -> float:
        """The m-th largest number."""
        return float(np.partition(x, x.size - m)[x.size - m])

    @staticmethod
    def order(x: Any) -> Any:
        """The places of numbers in ascending order; of equals, the first comes first."""
        return np.argsort(x, kind="stable")

    smaller = staticmethod(np.minimum)
    log = staticmethod(np.log)
    choose = staticmethod(np.where)

    @staticmethod
    def explained(rows: Any, U: Any) -> FloatArray:
        """The length of the part of each row along orthonormal directions, or near it, in the rows' own type."""
        kind = np.float64 if rows.dtype == np.float64 else np.float32
        x = np.asarray(rows.astype(kind, copy=False) @ U.astype(kind).T)
        x *= x
        return np.sqrt(x.sum(axis=1, dtype=np.float64))

    @staticmethod
    def precision(rows: Any) -> float:
        """Of products with rows in their own type."""
        return EPS if rows.dtype == np.float64 else EPS32


class RowGains:
    """Gains of items with L_ij = scale_i scale_j <rows_i, rows_j> off the diagonal, and L_ii = diag_i.

    Each item taken adds a direction u = P b_j / sqrt(g_j), where b_j = scale_j rows_j and P = I - (the sum of u u^T so
    far). Then g_i = L_ii - sum of <b_i, u>^2. Where nothing is an item's own, these directions are orthonormal, and end
    at the rank. For more items than there are columns P itself is kept: g_i = own_i + b_i^T P b_i.
    """

    def __init__(self, rows: Any, scale: Any, diag: Any, own: Any, k: int, P: Any = None, xp: Any = ArrayOps) -> None:
        self.rows, self.scale, self.diag, self.own, self.xp = rows, scale, diag, own, xp
        self.n, self.d = rows.shape
        self.start = xp.start
        self.sparse = sparse.issparse(rows)
        self.shared = not bool((own > 0.0).any())  # nothing is an item's own but where it has no row
        self.dual = P is not None or (k > self.d and not self.shared)
        self.P: Any = None
        if self.dual:
            self.P = xp.put(np.eye(self.d) if P is None else P.copy(), diag)
        self.U = xp.put(np.empty((ROOM, 1 if self.dual else self.d)), diag)
        self.u: Any = None  # the last direction; None where the last item has none
        self.noise = (self.d + 8 * min(k, self.d)) * EPS
        self.t, self.known = 0, 0  # directions, and those that `base` knows
        self.bound = diag + 0.0
        self.base: Any = None  # bounds by the last pass over all

    def block(self, items: Any) -> Any:
        X = self._scaled(items)
        self.X = X
        if self.dual:
            return self.own[items] + rowsums(X, X @ self.P)
        if self.t == 0:
            return self.diag[items] + 0.0
        W = X @ self.U[: self.t].T
        W *= W
        return self.diag[items] - W.sum(1)

    def _scaled(self, items: Any) -> Any:
        """Rows b_i in float64, dense or sparse as they are held."""
        rows, scale = self.rows[items], self.scale[items]
        if self.sparse:
            return sparse.csr_array(sparse.diags_array(scale) @ rows.astype(np.float64))
        X = self.xp.double(rows)
        X *= scale[:, None]
        return X

    def take(self, j: int, place: int | None = None) -> float:
        if place is not None and not self.sparse:
            b = self.X[place]
        elif self.sparse:
            b = self.scale[j] * self.rows[[j]].toarray()[0].astype(np.float64)
        else:
            b = self.scale[j] * self.xp.double(self.rows[j])
        U = self.U[: self.t]
        v = self.P @ b if self.dual else b - (U @ b) @ U if self.t else b + 0.0
        orthonormal = self.shared and not self.dual
        before, left, own, diag = self.xp.numbers(b @ b, v @ v if orthonormal else b @ v, self.own[j], self.diag[j])
        if not (own or self.dual or self.shared):
            left = float(v @ v)
        while not (own or self.dual) and 0.0 < left < AGAIN * before:  # digits were lost: once more (Kahan)
            before = left
            v = v - (U @ v) @ U
            left = float(v @ v)
        gain = own + max(left, 0.0)
        self.u = None
        if gain <= (0.0 if own else self.noise * diag):
            return 0.0
        if left > 0.0:  # a row of zeros has no direction
            self.u = v * gain**-0.5
            self._add(self.u)
        return gain

    def _add(self, u: Any) -> None:
        if self.dual:
            self.P -= u[:, None] * u
        else:
            if self.t == len(self.U):
                before, self.U = self.U, self.xp.put(np.empty((2 * len(self.U), self.d)), self.diag)
                self.U[: self.t] = before
            self.U[self.t] = u
        self.t += 1

    def fall(self) -> Any:
        if self.u is None:
            return 0.0
        w = self.X @ self.u
        w *= w
        return w

    def least(self, items: Any) -> Any:
        return self.xp.choose(self.own[items] > 0.0, 0.0, self.noise * self.diag[items])

    def passes(self, size: int) -> bool:
        return not self.dual and GATHER * size * self.t > self.n * (self.t - self.known)

    def refresh(self) -> bool:
        """Bounds by one product with all rows, in their own type, which may be wrong by its rounding.

        Each <row, u> may be off by some EPS of the row's length; what is subtracted is less by that.
        """
        if self.dual or self.known == self.t:
            return False
        if self.base is None:
            self.base = self.diag + 0.0
        U = self.U[self.known : self.t]
        rough = 64 * len(U) ** 0.5 * self.xp.precision(self.rows)
        for low in range(0, self.n, PASS):
            part = slice(low, low + PASS)
            lengths = (self.diag[part] - self.own[part]) ** 0.5  # of b_i
            x = (self.scale[part] * self.xp.explained(self.rows[part], U) - rough * lengths).clip(min=0.0)
            self.base[part] -= x * x
        self.known = self.t
        self.bound = self.xp.smaller(self.bound, self.base)
        return True


def rowsums(X: Any, Y: Any) -> Any:
    """The sums of X * Y over rows; X may be sparse."""
    if sparse.issparse(X):
        return np.asarray(X.multiply(Y).sum(axis=1)).ravel()
    Y *= X
    return Y.sum(1)


class KernelGains:
    """Gains of items with a kernel L: one row of its Cholesky factor for each item taken; all items are one block."""

    def __init__(self, L: Any, k: int, xp: Any = ArrayOps) -> None:
        self.L, self.xp = L, xp
        self.n = self.start = len(L)
        self.diag = L.diagonal() + 0.0
        self.bound = self.diag + 0.0
        self.C = xp.put(np.empty((max(min(k, self.n), 1), self.n)), L)
        self.t = 0

    def block(self, items: Any) -> Any:
        self.items = items
        return (self.diag - (self.C[: self.t] ** 2).sum(0))[items]

    def take(self, j: int, place: int | None = None) -> float:  # noqa: ARG002  # rows of L are at hand
        c = self.C[: self.t, j]
        gain = float(self.diag[j] - c @ c)
        if gain <= (self.t + 1) * ROUNDING * float(self.diag[j]):
            return 0.0
        # e_i = (L_ij - <c_i, c_j>) / sqrt(g_j)
        e = self.L[j] - c @ self.C[: self.t]
        e *= gain**-0.5
        self.C[self.t] = e
        self.t += 1
        return gain

    def fall(self) -> Any:
        e = self.C[self.t - 1]
        return e * e if len(self.items) == self.n else e[self.items] ** 2

    def least(self, items: Any) -> Any:
        return (self.t + 1) * ROUNDING * self.diag[items]

    def passes(self, size: int) -> bool:  # noqa: ARG002
        return False

    def refresh(self) -> bool:
        return False
