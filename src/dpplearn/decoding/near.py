"""Gains under the kernel of near items, for choosing more items than the embeddings have directions.

A linear kernel of d features has d directions, so among more than d chosen items it cannot tell near ones apart. Here
an item is described by what it stands for instead. A sample of the items are anchors a, each with its own unit h_a: the
distance 1 - cos within which it has n/k items, as many as each of k chosen ones stands for. Item i stands for anchor a
by

    phi_ia = exp(-2 (1 - cos(i, a)) / h_a),

of which the p largest values are kept. The kernel is L_ij = q_i q_j w_i w_j cos(phi_i, phi_j): positive semidefinite
by construction, even without the dropped values. Near-copies stand for the same anchors, so the second adds almost
nothing.
w_i^2 = (|phi_i|^2 / p)^POWER, a small power, lets typical items come before outliers where qualities are about equal.
(With exp(-(1 - cos(i, j)) / h) itself as the kernel, outliers come first: often less is covered than at random.)

If all qualities are equal, items are chosen from a sample, and each then moves to the middle of the items nearest to
it, as in k-means: that costs less, and covers more.

The gain of item i is L_ii - sum_t (x_i . u_t)^2, where x_i is its row and u_t what the t-th chosen row has beyond those
before it, scaled: the Cholesky factorization of L. Of each u_t only the largest entries are kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from scipy import sparse

from dpplearn._checks import FloatArray, IntArray
from dpplearn._run.blas import blas_threads
from dpplearn.decoding.engine import ArrayOps, Gains
from dpplearn.decoding.limits import Limits

NUGGET = 1e-3  # the part of each item that is its own
POWER = 0.25  # of w^2, from the share of anchors that an item stands for
LOWEST_SHARE = 1e-4  # the least that counts as this share
ANCHORS_PER_CHOICE, FEWEST_ANCHORS = 10, 2048  # anchors for each item to be chosen, and in all
FEWEST_SAMPLED, MOST_SAMPLED = 2**14, 2**17  # items by which middles are found; MOST_SAMPLED anchors, too
CELL = 128  # anchors in a cell
COMPARED = 2048  # anchors in the cells that an item is compared with
FEWEST_DESCRIBING = 8  # anchors that describe an item
DESCRIBING = 1.2  # the same for each anchor that a chosen item stands for
FINEST = 0.25  # of the median unit: no anchor has a smaller one, so that near-copies in dense places are alike
CLOSEST = 1e-5  # the smallest unit at all: cosines of float32 rows are known to about 1e-7
BATCH = 2**16  # items that are described at once
PART = 1024  # items in one product
PRODUCT = 2**22  # cosines computed at once
SMALL = 2**23  # numbers in rows up to which one thread computes their products
PER_MIDDLE = 50  # sampled items for each middle
ROUNDS = 6  # of k-means
CHUNK = 1024  # directions in one sparse matrix
REFRESH = 64  # choices between two passes over all items


class Anchors:
    """A sample of unit rows in cells, so that an item is compared only with those near it; and their units."""

    def __init__(self, rows: FloatArray, k: int) -> None:
        n = len(rows)
        self.rows, self.heads = rows, rows[: max(1, n // CELL)]  # any may be heads of cells: the order is random
        self.p = min(n, max(FEWEST_DESCRIBING, round(DESCRIBING * n / k)))  # anchors that an item is described by
        cells = grouped(nearest(rows, self.heads), len(self.heads))
        sizes = np.array([len(cell) for cell in cells])
        self.near = []  # for each cell the anchors in the cells nearest to it
        for closest in np.argsort(-(self.heads @ self.heads.T), axis=1, kind="stable"):
            enough = int(np.searchsorted(np.cumsum(sizes[closest]), min(COMPARED, n))) + 1
            self.near.append(np.sort(np.concatenate([cells[c] for c in closest[:enough]])))
        unit = np.empty(n)
        for part, _, cosines in self.compare(rows):
            most = largest(cosines, min(max(1, n // k), n - 1) + 1)  # the first is the anchor itself
            unit[part] = 1.0 - np.take_along_axis(cosines, most[:, -1:], axis=1)[:, 0]
        self.unit = np.maximum(unit, max(FINEST * float(np.median(unit)), CLOSEST)).astype(np.float32)

    def compare(self, X: FloatArray) -> Iterator[tuple[IntArray, IntArray, FloatArray]]:
        """Compare unit rows with the anchors near them: places of rows and of anchors, and their cosines."""
        for near, same in zip(self.near, grouped(nearest(X, self.heads), len(self.heads)), strict=True):
            for start in range(0, same.size, PART):
                part = same[start : start + PART]
                yield part, near, X[part] @ self.rows[near].T

    def describe(self, X: FloatArray) -> tuple[Any, FloatArray, FloatArray]:
        """phi of these unit rows (0 for a zero row): the anchors, values scaled to length 1, and w^2."""
        at, value = np.empty((len(X), self.p), np.int32), np.empty((len(X), self.p))
        for part, near, score in self.compare(X):
            score -= 1.0
            score *= 2.0 / self.unit[near]
            best = largest(score, self.p)
            at[part], value[part] = near[best], np.take_along_axis(score, best, axis=1)
        top = value[:, :1].copy()
        value = np.exp(value - top)  # far from all anchors, phi itself may be 0
        value[~np.any(X, axis=1)] = 0.0
        square = np.einsum("ij,ij->i", value, value)
        part = np.clip(square * np.exp(2.0 * top[:, 0]) / self.p, LOWEST_SHARE, 1.0)
        return at, value / np.sqrt(np.maximum(square, 1.0))[:, None], part**POWER


class Directions:
    """u_1, u_2, ...: sparse vectors over anchors."""

    def __init__(self, size: int, kept: int) -> None:
        self.at, self.u = np.zeros((64, kept), np.int32), np.zeros((64, kept))
        self.t, self.buffer = 0, np.zeros(size)
        self.chunks: list[Any] = []

    def columns(self, first: int) -> Any:
        """At most CHUNK directions, as a sparse matrix."""
        part = slice(first, min(first + CHUNK, self.t))
        return sparse_rows(self.at[part], self.u[part], self.buffer.size).T.tocsr()

    def project(self, at: Any, x: FloatArray) -> Any:
        """x_i . u_t for all t, as a sparse matrix, for rows with values x at some anchors."""
        while len(self.chunks) < self.t // CHUNK:
            self.chunks.append(self.columns(len(self.chunks) * CHUNK))
        columns = [*self.chunks, self.columns(len(self.chunks) * CHUNK)]
        return sparse.hstack([sparse_rows(at, x, self.buffer.size) @ part for part in columns], "csr")

    def add(self, at: Any, x: FloatArray, t: IntArray, c: FloatArray, gain: float) -> tuple[Any, FloatArray]:
        """u = (x - sum_t c_t u_t) / sqrt(gain): its anchors, and its values.

        Entries dropped from earlier directions could make it longer than 1; then it is shortened to 1.
        """
        touched = np.unique(np.append(self.at[t], at))
        np.add.at(self.buffer, at, x)
        np.subtract.at(self.buffer, self.at[t].ravel(), (c[:, None] * self.u[t]).ravel())
        u = self.buffer[touched]
        self.buffer[touched] = 0.0
        u /= np.sqrt(max(gain, float(u @ u)) or 1.0)  # the row of an item without quality is 0
        if u.size > self.u.shape[1]:
            most = np.argsort(-np.abs(u))[: self.u.shape[1]]
            touched, u = touched[most], u[most]
        if self.t == len(self.u):
            self.at, self.u = (np.concatenate([old, np.zeros_like(old)]) for old in (self.at, self.u))
        self.at[self.t, : u.size], self.u[self.t, : u.size] = touched, u
        self.t += 1
        return touched, u


class NearGains(Gains):
    """What each item adds to those chosen, for the blocked greedy loop, which keeps `bound` above all gains.

    There are n rows (dense or sparse, of any float type) with their lengths and qualities q, of which k are to be
    chosen; `given` are rows chosen earlier. Similarities of different items count b (1 - nugget) times.
    """

    start, xp = 256, ArrayOps

    def __init__(
        self, rows: Any, lengths: FloatArray, q: FloatArray, k: int, b: float, nugget: float = NUGGET, given: Any = ()
    ) -> None:
        self.rows, self.lengths, self.n = rows, lengths, len(lengths)
        size = min(max(ANCHORS_PER_CHOICE * k, FEWEST_ANCHORS), max(2 * k, MOST_SAMPLED))
        some = np.random.default_rng(0).permutation(self.n)[:size]
        X = unit_rows(rows[some], lengths[some])
        with one_blas_thread(X):
            self.anchors = Anchors(X, k)
        self.at = np.empty((self.n, self.anchors.p), np.int32)
        self.value = np.empty(self.at.shape, np.float32)
        self.known, self.ahead = np.zeros(self.n, np.bool_), max(2 * k, PART)
        shared = b * (1.0 - nugget)
        self.diag = q * q  # times w^2, once that is known
        self.own = np.where(lengths > 0.0, 1.0 - shared, 1.0) * self.diag  # no gain is smaller
        self.bound = self.diag.copy()
        self.equal = bool(np.ptp(q) <= 1e-9 * q.max())
        if self.equal:  # any items are as good: the sample comes first, others only where limits exclude those
            self.describe(some)
            self.bound[~self.known] = 0.0
        self.shared = shared
        self.before = unit_rows(given) if np.shape(given)[0] else X[:0]
        self.given = self.anchors.describe(self.before)[:2]
        self.begin()

    def begin(self) -> None:
        """Start with nothing chosen but the given rows."""
        self.directions, self.refreshed = Directions(len(self.anchors.rows), 4 * self.anchors.p), 0
        self.block(np.empty(0, np.int64))
        for at, value in zip(*self.given, strict=True):
            if value.any():
                self.join(at, self.shared**0.5 * value, 1.0, 1.0 - self.shared)

    def gains_of(self, items: IntArray) -> FloatArray:
        """What each of these items adds to those before it."""
        self.begin()
        gains = []
        for part in np.split(items, range(self.start, items.size, self.start)):
            self.block(np.sort(part))
            gains += [self.take(j) for j in part.tolist()]
        return np.array(gains)

    def to_middles(self, items: IntArray, limits: Limits) -> IntArray:
        """Move each chosen item to the middle of the items nearest to it, where qualities are equal.

        The items were chosen from a sample, and others may represent the rest better. A few rounds of spherical k-means
        find the middles; then the item nearest to each is taken, of the same group and not more expensive, so that
        limits hold. Items to include, and those given, stay.
        """
        n, rows, lengths, first = self.n, self.rows, self.lengths, len(self.before)
        if not items.size or not self.equal or len(self.anchors.rows) == n:
            return items
        centers = np.concatenate([self.before, unit_rows(rows[items], lengths[items])])
        free = np.append(np.zeros(first, np.bool_), limits.alive[items] & (lengths[items] > 0.0))
        some = np.random.default_rng(1).permutation(n)[
            : min(max(PER_MIDDLE * items.size, FEWEST_SAMPLED), MOST_SAMPLED)
        ]
        X = unit_rows(rows[some], lengths[some])
        for _ in range(ROUNDS):
            sums = sparse_rows(nearest(X, centers)[:, None], np.ones((len(X), 1), np.float32), len(centers)).T @ X
            size = np.linalg.norm(sums, axis=1)
            moved = free & (size > 0.0)
            centers[moved] = sums[moved] / size[moved, None]
        cell, cosine = np.empty(n, np.int64), np.empty(n)
        for part in np.split(np.arange(n), range(BATCH, n, BATCH)):
            X = unit_rows(rows[part], lengths[part])
            cell[part] = nearest(X, centers)
            cosine[part] = np.einsum("ij,ij->i", X, centers[cell[part]])
        mine = items[np.maximum(cell - first, 0)]  # the chosen item nearest to each item
        able = limits.alive & (lengths > 0.0)
        able[items] = False
        able = (able | (mine == np.arange(n))) & free[cell] & (limits.cost <= limits.cost[mine])
        able &= limits.group == limits.group[mine]
        order = np.flatnonzero(able)
        order = order[np.lexsort((-cosine[order], cell[order]))]
        which, at = np.unique(cell[order], return_index=True)
        found = items.copy()
        found[which - first] = order[at]
        return found

    def describe(self, items: IntArray) -> None:
        """Find phi of items that are not known yet."""
        for part in np.split(items, range(BATCH, items.size, BATCH)):
            X = unit_rows(self.rows[part], self.lengths[part])
            with one_blas_thread(X):
                self.at[part], self.value[part], square = self.anchors.describe(X)
            self.diag[part], self.own[part] = square * self.diag[part], square * self.own[part]
        self.known[items] = True
        self.bound[items] = np.minimum(self.bound[items], self.diag[items])

    def features(self, items: IntArray) -> FloatArray:
        """Values of rows x_i at their anchors: x_i . x_j = L_ij for different items."""
        new = items[~self.known[items]]
        if new.size:  # together with those likely to be needed next: many cost hardly more than few
            bound = np.where(self.known, -np.inf, self.bound)
            ahead = np.argpartition(-bound, min(self.ahead, self.n) - 1)[: self.ahead]
            self.describe(np.union1d(new, ahead[bound[ahead] > -np.inf]))
        return np.sqrt(self.diag[items] - self.own[items])[:, None] * self.value[items]

    def gains(self, items: IntArray, x: FloatArray) -> tuple[FloatArray, Any]:
        """L_ii - sum_t (x_i . u_t)^2, and the sparse matrix of the x_i . u_t."""
        W = self.directions.project(self.at[items], x)
        square = np.bincount(np.repeat(np.arange(items.size), np.diff(W.indptr)), W.data * W.data, items.size)
        return np.maximum(self.diag[items] - square, self.own[items]), W

    def block(self, items: IntArray) -> FloatArray:
        """Make these items, in order, the active block; their gains now."""
        self.items, self.x, self.x_at = items, self.features(items), self.at[items]
        self.g, self.W = self.gains(items, self.x)
        self.late = np.empty((16, items.size))  # x_i . u_t for all t from now on
        return self.g.copy()

    def take(self, j: int, place: int | None = None) -> float:  # noqa: ARG002  # found by its number
        """Choose item j; its gain."""
        p = int(np.searchsorted(self.items, j))
        if p == self.items.size or self.items[p] != j:
            x = self.features(np.array([j]))[0]
            return self.join(self.at[j], x, self.diag[j], self.own[j])
        row, before = slice(*self.W.indptr[p : p + 2]), self.W.shape[1]
        late = self.late[: self.directions.t - before, p]
        new = np.flatnonzero(late)
        known = np.append(self.W.indices[row], before + new), np.append(self.W.data[row], late[new])
        return self.join(self.at[j], self.x[p], self.diag[j], self.own[j], known)

    def join(self, at: Any, x: FloatArray, diag: float, own: float, known: Any = None) -> float:
        """Add the part of a row beyond those chosen; its gain. `known`: the t with x . u_t not 0, and these numbers."""
        if known is None:
            W = self.directions.project(at[None], x[None])
            known = W.indices, W.data
        t, c = known
        gain = max(float(diag - c @ c), float(own))
        where, u = self.directions.add(at, x, t, c, gain)
        buffer, now = self.directions.buffer, self.directions.t - 1 - self.W.shape[1]
        buffer[where] = u
        w = np.einsum("ij,ij->i", self.x, buffer[self.x_at])
        buffer[where] = 0.0
        if now == len(self.late):
            self.late = np.concatenate([self.late, np.empty_like(self.late)])
        self.late[now] = w
        self.fallen = np.minimum(w * w, np.maximum(self.g - self.own[self.items], 0.0))
        self.g -= self.fallen
        return gain

    def refresh(self, size: int) -> bool:  # noqa: ARG002  # a pass costs the same whatever the block is
        """Lower the bounds of all described items to their gains, if many items were chosen since the last time."""
        if self.directions.t - self.refreshed < REFRESH:
            return False
        self.refreshed = self.directions.t
        items = np.flatnonzero(self.known & (self.bound > -np.inf))
        for part in np.split(items, range(BATCH, items.size, BATCH)):
            self.bound[part] = self.gains(part, self.features(part))[0]
        return True


def nearest(X: FloatArray, centers: FloatArray) -> IntArray:
    """Which center has the largest cosine with each of these unit rows."""
    step, found = max(1, PRODUCT // len(centers)), np.empty(len(X), np.int64)
    with one_blas_thread(X):
        for low in range(0, len(X), step):
            found[low : low + step] = (X[low : low + step] @ centers.T).argmax(axis=1)
    return found


def one_blas_thread(X: FloatArray) -> AbstractContextManager[Any]:
    """One BLAS thread for small products, where a second one gains little and on a busy machine costs much."""
    return blas_threads(len(X), one=X.size < SMALL)


def grouped(cell: IntArray, count: int) -> list[IntArray]:
    """The items of each cell."""
    order = np.argsort(cell, kind="stable")
    return np.split(order, np.searchsorted(cell[order], np.arange(1, count)))


def unit_rows(X: Any, lengths: FloatArray | None = None) -> FloatArray:
    """float32 rows of length 1, or 0, rounded the same for any type of X."""
    X = (X.toarray() if sparse.issparse(X) else np.asarray(X)).astype(np.float64)
    lengths = np.linalg.norm(X, axis=1) if lengths is None else lengths
    return (X / np.where(lengths > 0.0, lengths, 1.0)[:, None]).astype(np.float32)


def sparse_rows(at: Any, x: FloatArray, size: int) -> Any:
    """A sparse matrix of rows with values x at some of `size` places."""
    return sparse.csr_array((x.ravel(), at.ravel(), np.arange(len(x) + 1) * x.shape[1]), (len(x), size))


def largest(S: FloatArray, p: int) -> IntArray:
    """Places of the p largest numbers of each row, the largest first."""
    n, width = S.shape
    groups = 8 * p  # the p-th largest of the groups' maxima is at most the p-th of all, and few numbers lie between
    if width < 2 * groups:
        return np.argsort(-S, axis=1, kind="stable")[:, :p]
    most = S[:, : width - width % groups].reshape(n, -1, groups).max(axis=1)
    least = np.partition(most, groups - p, axis=1)[:, groups - p]
    flat = np.flatnonzero(least[:, None] <= S)
    flat = flat[np.lexsort((-S.ravel()[flat], flat // width))]
    return flat[np.searchsorted(flat // width, np.arange(n))[:, None] + np.arange(p)] % width
