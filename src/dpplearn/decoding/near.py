"""The kernel of near items, for choosing more items than the embeddings have directions.

Cosines of rows of d numbers tell at most d items apart. To choose more, we compare items by what is near them:

1. A random sample of the items are *anchors*. The unit of distance h_a of an anchor is the 1 - cosine within which n/k
   items lie, as many as each of k chosen items stands for. So units are small where items are dense.
2. An item is described by the p anchors nearest to it, with the numbers

       phi_ia = exp(-2 (1 - cos(i, a)) / h_a).

3. Two items are as similar as their descriptions: L_ij = q_i q_j w_i w_j cos(phi_i, phi_j), times 1 - nugget for
   different items. Near-copies have about the same description, so the second one adds almost nothing.
4. The weight w_i^2 = (|phi_i|^2 / p)^POWER puts typical items before outliers when scores are about equal.
   (With exp(-(1 - cos(i, j)) / h) itself as the kernel, outliers come first, and often cover less than random items.)
5. If all scores are equal, we choose among the anchors alone, and then move each chosen item to the middle of the
   items nearest to it, as k-means does. That costs less, and covers more.

L is positive semidefinite. Three things are approximate: the anchors are a sample; if there are many, an item is
compared only with the anchors in cells near it, which may miss some; and small entries are left out of the directions
in `NearGains`, which makes the gains of chosen items up to 1 % wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import solve_triangular

from dpplearn._checks import FloatArray, IntArray
from dpplearn._run.blas import blas_threads
from dpplearn.decoding.engine import ArrayOps, Gains
from dpplearn.decoding.limits import Limits

NUGGET = 1e-3  # default nugget of this kernel
POWER = 0.25  # see 4. above
LOWEST_SHARE = 1e-4  # |phi|^2 / p counts as at least this
ANCHORS_PER_CHOICE, FEWEST_ANCHORS = 5, 1024  # anchors per item to be chosen, and at least
FEWEST_DESCRIBING, DESCRIBING_FACTOR = 8, 1.2  # p is at least the first, and the second times anchors / k
LEAST_UNIT_SHARE = 0.25  # of the median unit: no unit is smaller, so that near-copies in dense places are alike
SMALLEST_UNIT = 1e-5  # no unit is smaller than this: cosines of float32 rows have errors of about 1e-7
LEAST_DISTANCE = 0.05  # no item moves as near to another chosen item as this share of the median unit
CELL_ROWS, COMPARED_ROWS = 128, 1024  # rows in a cell, and in all cells that an item is compared with
SMALLEST_ENTRY = 0.01  # smaller entries of directions, whose length is at most 1, are left out
ROUNDS = (1 / 4, 1 / 4, 1 / 2, 1 / 2, 1, 1)  # the part of the sample that each round of k-means reads
PER_MIDDLE = 50  # sampled items for each middle
FEWEST_SAMPLED, MOST_SAMPLED = 2**14, 2**17  # items in the sample for k-means; also the most anchors
REFRESH_EVERY = 64  # choices between two passes over all items
ITEMS_AT_ONCE = 2**16  # items read at once
COSINES_AT_ONCE = 2**20  # cosines computed at once
SMALL_PRODUCT = 2**23  # products of fewer numbers than this run on one thread


class Cells:
    """Unit rows to search for nearest rows. Many rows are put into cells, and a search compares only near cells."""

    def __init__(self, rows: FloatArray) -> None:
        n = len(rows)
        self.rows, self.heads = rows, rows[:: CELL_ROWS if n > COMPARED_ROWS else n]
        cells = self.by_cell(rows)
        sizes = np.array([len(cell) for cell in cells])
        self.near = []  # for each cell, the rows in the cells nearest to it
        for order in np.argsort(-(self.heads @ self.heads.T), axis=1, kind="stable"):
            enough = int(np.searchsorted(np.cumsum(sizes[order]), min(COMPARED_ROWS, n))) + 1
            self.near.append(np.sort(np.concatenate([cells[c] for c in order[:enough]])))

    def by_cell(self, X: FloatArray) -> list[IntArray]:
        """The numbers of these unit rows in each cell."""
        count, cell = len(self.heads), np.zeros(len(X), np.int64)
        if count > 1:
            for part in parts(np.arange(len(X)), COSINES_AT_ONCE // count + 1):
                cell[part] = (X[part] @ self.heads.T).argmax(axis=1)
        order = np.argsort(cell, kind="stable")
        return np.split(order, np.searchsorted(cell[order], np.arange(1, count)))

    def nearest(self, X: FloatArray, p: int = 1) -> tuple[Any, Any]:
        """The p rows nearest to each of these unit rows, the nearest first, and their cosines."""
        nearest, cosine = np.empty((len(X), p), np.int32), np.empty((len(X), p), np.float32)
        with blas_threads(len(X), one=X.size < SMALL_PRODUCT):  # more threads gain little, and may cost much
            for near, same in zip(self.near, self.by_cell(X), strict=True):
                for part in parts(same, COSINES_AT_ONCE // near.size + 1):
                    cosines = X[part] @ self.rows[near].T
                    best = largest(cosines, p)
                    nearest[part], cosine[part] = near[best], np.take_along_axis(cosines, best, axis=1)
        return nearest, cosine


class Anchors(Cells):
    """Anchors with their units, by which items are described."""

    def __init__(self, rows: FloatArray, k: int) -> None:
        super().__init__(rows)
        n = len(rows)
        self.p = min(n, max(FEWEST_DESCRIBING, round(DESCRIBING_FACTOR * n / k)))
        self.of_anchors = self.nearest(rows, self.p)
        reach = 1.0 - self.of_anchors[1][:, min(max(1, n // k), n - 1)]  # the first is the anchor itself
        self.median = float(np.median(reach))
        self.unit = np.maximum(reach, max(LEAST_UNIT_SHARE * self.median, SMALLEST_UNIT))

    def describe(self, X: FloatArray) -> tuple[IntArray, FloatArray, FloatArray]:
        """The anchors that describe these unit rows, phi scaled to length 1 (0 for a zero row), and w^2."""
        at, cosine = self.of_anchors if X is self.rows else self.nearest(X, self.p)
        score = 2.0 * (cosine.astype(np.float64) - 1.0) / self.unit[at]
        top = score.max(axis=1, keepdims=True)
        value = np.exp(score - top)  # phi itself may underflow far from all anchors
        value[~np.any(X, axis=1)] = 0.0
        square = np.einsum("ij,ij->i", value, value)
        share = np.clip(square * np.exp(2.0 * top[:, 0]) / self.p, LOWEST_SHARE, 1.0)
        return at, value / np.sqrt(np.maximum(square, 1.0))[:, None], share**POWER


class NearGains(Gains):
    """Gains of the kernel of near items, for the greedy engine.

    There are n rows (dense or sparse, of any float type) with their lengths and qualities q, of which about k are to be
    chosen; `given` are rows chosen earlier. Similarities of different items are multiplied by b (1 - nugget).

    Let x_i be the description of item i, scaled so that L_ij = x_i . x_j. The gain of an item is
    L_ii - sum_t (x_i . u_t)^2, where the direction u_t is the part of the t-th chosen item that the items before it do
    not explain, divided by the square root of its gain. Within a block, each item chosen adds a row to the Cholesky
    factor C of the block's kernel, as in `KernelGains`. Its direction is made when the next block comes.
    """

    start, xp = 256, ArrayOps

    def __init__(
        self, rows: Any, lengths: FloatArray, q: FloatArray, k: int, b: float, nugget: float = NUGGET, given: Any = ()
    ) -> None:
        self.rows, self.lengths, self.n, self.ahead = rows, lengths, len(lengths), max(2 * k, FEWEST_ANCHORS)
        size = min(max(ANCHORS_PER_CHOICE * k, FEWEST_ANCHORS), max(2 * k, MOST_SAMPLED))
        some = np.random.default_rng(0).permutation(self.n)[:size]
        X = unit_rows(rows[some], lengths[some])
        self.anchors, self.before = Anchors(X, k), unit_rows(given) if np.shape(given)[0] else X[:0]
        every = self.n + len(self.before)  # the given rows come after all items
        self.at, self.value = (np.empty((every, self.anchors.p), kind) for kind in (np.int32, np.float32))
        self.described, self.diag = np.zeros(every, np.bool_), np.ones(every)
        self.diag[: self.n] = q * q  # `learn` multiplies it by w^2
        self.bound = self.diag[: self.n].copy()
        self.shared = np.append(lengths > 0.0, self.before.any(axis=1)) * b * (1.0 - nugget)
        self.learn(np.arange(self.n, every), self.before)
        self.equal_qualities = bool(np.ptp(q) <= 1e-9 * q.max())
        if self.equal_qualities:  # anchors come first, and others only if limits exclude those
            self.learn(some, X)
            self.bound[:] = 0.0
            self.bound[some] = self.diag[some]
        self.gains_of(some[:0])

    def gains_of(self, items: IntArray) -> FloatArray:
        """Start again with the given rows alone, and choose these items; the gain of each."""
        self.directions: list[tuple[Any, Any]] = []  # as rows, and as columns
        self.refreshed, self.places, gains = 0, list[int](), list[float]()
        for part in parts(np.append(np.arange(self.n, len(self.described)), items), self.start):
            g = self.block(part)
            for place, j in enumerate(part.tolist()):
                gains.append(self.take(j, place))
                g -= self.fall() if gains[-1] else 0.0
        return np.array(gains[len(self.before) :])

    def learn(self, items: IntArray, X: FloatArray) -> None:
        """Compute and keep the descriptions of these items."""
        self.at[items], self.value[items], square = self.anchors.describe(X)
        self.diag[items] *= square
        self.described[items] = True

    def features(self, items: IntArray) -> Any:
        """x_i of these items, as sparse rows over anchors."""
        new = items[~self.described[items]]
        if new.size:  # also learn those likely to be needed next: many cost hardly more than few
            bound = np.where(self.described[: self.n], -np.inf, self.bound)
            ahead = np.argpartition(-bound, min(self.ahead, self.n) - 1)[: self.ahead]
            for part in parts(np.union1d(new, ahead[bound[ahead] > -np.inf]), ITEMS_AT_ONCE):
                self.learn(part, unit_rows(self.rows[part], self.lengths[part]))
                self.bound[part] = np.minimum(self.bound[part], self.diag[part])
        x = np.sqrt(self.shared[items] * self.diag[items])[:, None] * self.value[items]
        return sparse_rows(self.at[items], x, len(self.anchors.rows))

    def gains(self, items: IntArray, X: Any) -> tuple[FloatArray, FloatArray, list[Any]]:
        """The gains L_ii - sum_t (x_i . u_t)^2, lower bounds of them, and the sparse matrices of all x_i . u_t."""
        gain, W = self.diag[items], [X @ columns for _, columns in self.directions]
        least = (1.0 - self.shared[items]) * gain
        for part in W:
            gain -= squares(part)
        return np.maximum(gain, least), least, W

    def block(self, items: IntArray) -> FloatArray:
        self.add_directions()
        self.x = self.features(items)
        self.g, self.least_gain, self.W = self.gains(items, self.x)
        self.joined = sparse.hstack([self.x, *self.W], "csr")
        self.buffer, self.C = np.zeros(self.joined.shape[1]), np.empty((16, items.size))
        return self.g

    def take(self, j: int, place: int | None = None) -> float:
        if place is None:
            self.block(np.array([j]))
            place = 0
        t, gain, room = len(self.places), float(self.g[place]), np.sqrt(np.maximum(self.g - self.least_gain, 0.0))
        if gain <= 0.0:
            return 0.0
        row = slice(*self.joined.indptr[place : place + 2])
        at, value = self.joined.indices[row], self.joined.data[row]
        self.buffer[at] = np.where(at < self.x.shape[1], value, -value)
        # e_i = (x_i . x_j - sum_t (x_i . u_t) (x_j . u_t) - <c_i, c_j>) / sqrt(g_j)
        e = (self.joined @ self.buffer - self.C[:t, place] @ self.C[:t]) * gain**-0.5
        e = np.maximum(np.minimum(e, room), -room)  # the directions leave out small entries, so e may be too large
        self.buffer[at], e[place] = 0.0, gain**0.5
        if t == len(self.C):
            self.C = np.concatenate([self.C, np.empty_like(self.C)])
        self.C[t] = e
        self.places.append(place)
        return gain

    def fall(self) -> FloatArray:
        return np.square(self.C[len(self.places) - 1])

    def add_directions(self) -> None:
        """Make the directions of the items chosen from the block: with W = X U^T, the new ones are C^-1 (X - W U)."""
        places, t = self.places, len(self.places)
        if not t:
            return
        self.places, rest = [], self.x[places]
        for W, (rows, _) in zip(self.W, self.directions, strict=True):
            rest = rest - W[places] @ rows
        inverse = solve_triangular(self.C[:t, places].T, np.eye(t), lower=True)
        U = without_small(without_small(sparse.csr_array(inverse)) @ rest)
        U.data /= np.repeat(np.sqrt(np.maximum(squares(U), 1.0)), np.diff(U.indptr))  # no longer than 1
        while self.directions and self.directions[-1][0].shape[0] <= U.shape[0]:  # merge, to keep few matrices
            U = sparse.vstack([self.directions.pop()[0], U], "csr")
        self.directions.append((U, U.T.tocsr()))

    def refresh(self, size: int) -> bool:  # noqa: ARG002
        """Lower the bounds of all described items to their gains, if many items were chosen since the last pass."""
        self.add_directions()
        chosen = sum(rows.shape[0] for rows, _ in self.directions)
        if chosen - self.refreshed < REFRESH_EVERY:
            return False
        self.refreshed = chosen
        for part in parts(np.flatnonzero(self.described[: self.n] & (self.bound > -np.inf)), ITEMS_AT_ONCE):
            self.bound[part] = self.gains(part, self.features(part))[0]
        return True

    def to_middles(self, items: IntArray, limits: Limits) -> IntArray:
        """Move each chosen item to the middle of the items nearest to it, if qualities are equal.

        A few rounds of spherical k-means find the middles. Each chosen item is then replaced by the item nearest to its
        middle that is of the same group and not more expensive, so that limits hold. Items to include stay, and so
        does an item whose middle is next to another one.
        """
        n, rows, lengths, first = self.n, self.rows, self.lengths, len(self.before)
        if not items.size or not self.equal_qualities:
            return items
        centers = np.concatenate([self.before, unit_rows(rows[items], lengths[items])])
        free = np.append(np.zeros(first, np.bool_), limits.alive[items] & (lengths[items] > 0.0))
        size = min(max(PER_MIDDLE * items.size, FEWEST_SAMPLED), MOST_SAMPLED)
        some = np.random.default_rng(1).permutation(n)[:size]
        sample = unit_rows(rows[some], lengths[some])
        for share in ROUNDS:
            X = sample[: max(1, round(share * len(sample)))]
            cell = Cells(centers).nearest(X)[0]
            sums = sparse_rows(cell, np.ones(cell.shape, np.float32), len(centers)).T @ X
            length = np.linalg.norm(sums, axis=1)
            moved = free & (length > 0.0)
            centers[moved] = sums[moved] / length[moved, None]
        cells, cell, cosine = Cells(centers), np.empty(n, np.int64), np.empty(n)
        for part in parts(np.arange(n), ITEMS_AT_ONCE):
            middles, cosines = cells.nearest(unit_rows(rows[part], lengths[part]))
            cell[part], cosine[part] = middles[:, 0], cosines[:, 0]
        mine = items[np.maximum(cell - first, 0)]  # the chosen item nearest to each item
        able = limits.alive & (lengths > 0.0)
        able[items] = False
        able = (able | (mine == np.arange(n))) & free[cell] & (limits.cost <= limits.cost[mine])
        able &= limits.group == limits.group[mine]
        order = np.flatnonzero(able)
        order = order[np.lexsort((-cosine[order], cell[order]))]
        which, at = np.unique(cell[order], return_index=True)
        moved_to = items.copy()
        moved_to[which - first] = order[at]
        X = unit_rows(rows[moved_to], lengths[moved_to])
        _, cosines = Cells(np.concatenate([self.before, X])).nearest(X, min(2, len(centers)))  # the item and the next
        return np.where(1.0 - cosines[:, -1] > LEAST_DISTANCE * self.anchors.median, moved_to, items)


def parts(items: IntArray, size: int) -> Iterator[IntArray]:
    """These items in parts of at most `size`."""
    return (items[start : start + size] for start in range(0, items.size, size))


def unit_rows(X: Any, lengths: FloatArray | None = None) -> FloatArray:
    """float32 rows of length 1, or of zeros, with the same rounding for any type of X."""
    X = X.toarray() if sparse.issparse(X) else np.asarray(X)
    lengths = np.linalg.norm(X.astype(np.float64), axis=1) if lengths is None else lengths
    divisor = np.where(lengths > 0.0, lengths, 1.0)[:, None]
    return np.divide(X, divisor, out=np.empty(X.shape, np.float32), casting="same_kind")


def sparse_rows(at: Any, x: Any, size: int) -> Any:
    """A sparse matrix with `size` columns, whose rows have the values x in the columns `at`."""
    return sparse.csr_array((x.ravel(), at.ravel(), np.arange(len(x) + 1) * x.shape[1]), (len(x), size))


def squares(S: Any) -> Any:
    """The squared length of each row of a sparse matrix."""
    n = S.shape[0]
    return np.bincount(np.repeat(np.arange(n), np.diff(S.indptr)), S.data**2, n)


def without_small(S: Any) -> Any:
    """A sparse matrix without entries below SMALLEST_ENTRY."""
    S.data[np.abs(S.data) < SMALLEST_ENTRY] = 0.0
    S.eliminate_zeros()
    return S


def largest(S: FloatArray, p: int) -> IntArray:
    """Places of the p largest numbers of each row, the largest first."""
    if p == 1:
        return S.argmax(axis=1)[:, None]
    n, width = S.shape
    groups = 8 * p  # at least p numbers, and few more, are not below the p-th largest of the groups' maxima
    if width < 2 * groups:
        return np.argsort(-S, axis=1, kind="stable")[:, :p]
    most = S[:, : width - width % groups].reshape(n, -1, groups).max(axis=1)
    least = np.partition(most, groups - p, axis=1)[:, groups - p]
    flat = np.flatnonzero(least[:, None] <= S)
    flat = flat[np.lexsort((-S.ravel()[flat], flat // width))]
    return flat[np.searchsorted(flat // width, np.arange(n))[:, None] + np.arange(p)] % width
