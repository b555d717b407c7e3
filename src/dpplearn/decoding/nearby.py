"""Kernels that tell near items apart beyond the span of d directions, and greedy choice under them.

S_ij = phi(r_ij / h), with the distance r_ij = sqrt(2 - 2 cos_ij) of unit rows, phi(x) = exp(-x^2 / 2) ("rbf") or
Wendland's (1 - x/2)^4 (2 x + 1) up to x = 2 and 0 beyond ("local"). That is positive definite in up to three
dimensions; in more, eigenvalues below the nugget count as it. The conditional variance of an item is taken given the
nearest of those chosen (Vecchia, 1988), and what an item adds is never more than it was: so old gains are upper bounds,
and only the front of a heap is brought up to date, by the items chosen since.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpplearn._checks import FloatArray, IntArray, count_of
from dpplearn._loops.records import FULL, NO_GAIN, SIZE, Run
from dpplearn._run.stop import check_stop
from dpplearn.decoding.candidates import Directed, single
from dpplearn.decoding.limits import Limits
from dpplearn.decoding.selection import Selection

KERNELS = ("linear", "rbf", "local")
NEAREST = 12  # chosen items that a conditional variance is given
FIRST, MOST = 16, 1024  # items that are brought up to date at once
SAMPLE, AMONG = 256, 20_000  # items whose distances to how many others tell the bandwidth


def check_kernel_name(kernel: Any, bandwidth: Any) -> None:
    """One of the kernels, and a positive bandwidth or none."""
    if kernel not in KERNELS:
        raise ValueError(f"kernel must be one of {', '.join(map(repr, KERNELS))}; found {kernel!r}.")
    if bandwidth is None:
        return
    if kernel == "linear":
        raise ValueError('bandwidth is for kernel="rbf" and kernel="local".')
    if isinstance(bandwidth, bool) or not isinstance(bandwidth, int | float) or not 0.0 < bandwidth < np.inf:
        raise ValueError(f"bandwidth must be a positive number, found {bandwidth!r}.")


def unit_rows(directed: Directed, items: Any) -> np.ndarray:
    """Rows of length 1 in single or double precision; a row of zeros stays one."""
    rows = single(directed.rows[items])
    lengths = directed.lengths[items]
    return np.asarray(rows / np.where(lengths > 0.0, lengths, 1.0).astype(rows.dtype)[:, None])


def similarity(cosines: FloatArray, kernel: str, bandwidth: float) -> FloatArray:
    """phi(r / h) of pairs of items with these cosines."""
    square = np.maximum(2.0 - 2.0 * cosines.astype(np.float64), 0.0) / bandwidth**2
    if kernel == "rbf":
        return np.exp(-0.5 * square)
    x = np.sqrt(square)
    return np.where(x < 2.0, (1.0 - 0.5 * np.minimum(x, 2.0)) ** 4 * (2.0 * x + 1.0), 0.0)


def find_bandwidth(directed: Directed, k: int) -> float:
    """The distance within which an item has n/k others, as the median of a sample says: then k items cover all.

    Items at distance 0 of one another are taken for one.
    """
    n = directed.q.size
    rng = np.random.default_rng(0)
    some, others = (np.sort(rng.choice(n, min(n, size), replace=False)) for size in (SAMPLE, AMONG))
    cosines = unit_rows(directed, some) @ unit_rows(directed, others).T
    distance = np.sort(np.sqrt(np.maximum(2.0 - 2.0 * cosines.astype(np.float64), 0.0)), axis=1)
    place = min(max(1, round(others.size / max(k, 1))), others.size - 1)  # place 0 is the item itself
    found = float(np.median(distance[:, place]))
    positive = distance[distance > 1e-3]
    return max(found, float(positive.min(initial=1.0)))


class Nearby:
    """A greedy run under such a kernel."""

    def __init__(self, directed: Directed, kernel: str, bandwidth: float, nugget: float, k: int) -> None:
        n, d = directed.rows.shape
        self.directed, self.kernel, self.bandwidth, self.nugget = directed, kernel, bandwidth, nugget
        self.gain = directed.q**2
        self.known = np.zeros(n, np.int64)  # how many of the chosen each gain knows of
        self.near = np.full((n, NEAREST), -1, np.int32)  # the nearest of them, as places in `items`
        self.cosine = np.full((n, NEAREST), -np.inf, np.float32)
        self.items = np.empty(k, np.int64)
        self.rows = np.empty((k, d), np.float32 if directed.rows.dtype != np.float64 else np.float64)
        self.count = 0

    def take(self, item: int) -> None:
        """Choose an item, whose gain is up to date."""
        self.items[self.count] = item
        self.rows[self.count] = unit_rows(self.directed, np.array([item]))[0]
        self.count += 1

    def update(self, items: IntArray) -> None:
        """Bring the gains of some items up to date by what was chosen since they last were."""
        t, low = self.count, int(self.known[items].min())
        cosines = (unit_rows(self.directed, items) @ self.rows[low:t].T).astype(np.float32)
        places = np.arange(low, t)
        cosines[places[None, :] < self.known[items][:, None]] = -np.inf  # known before
        every = np.concatenate([self.cosine[items], cosines], axis=1)
        whose = np.concatenate([self.near[items], np.broadcast_to(places.astype(np.int32), cosines.shape)], axis=1)
        best = np.argsort(-every, axis=1, kind="stable")[:, :NEAREST]
        cosine, near = np.take_along_axis(every, best, 1), np.take_along_axis(whose, best, 1)
        self.cosine[items], self.near[items], self.known[items] = cosine, near, t
        self.gain[items] = np.minimum(
            self.gain[items], self.directed.q[items] ** 2 * self.variance(items, cosine, near)
        )

    def variance(self, items: IntArray, cosine: FloatArray, near: IntArray) -> FloatArray:
        """1 - s^T S^-1 s of each item, given its nearest chosen ones."""
        there = np.isfinite(cosine) & (self.directed.lengths[items] > 0.0)[:, None]
        s = np.where(there, similarity(np.where(there, cosine, 0.0), self.kernel, self.bandwidth), 0.0)
        s *= 1.0 - self.nugget
        rows = self.rows[np.maximum(near, 0)]
        S = similarity(rows @ rows.transpose(0, 2, 1), self.kernel, self.bandwidth) * (1.0 - self.nugget)
        S *= there[:, :, None] & there[:, None, :]
        diagonal = np.arange(NEAREST)
        S[:, diagonal, diagonal] = 1.0
        lam, V = np.linalg.eigh(S)
        along = np.einsum("nij,ni->nj", V, s)
        # where S is not positive definite, what is below the nugget is rounding
        return np.maximum(1.0 - (along**2 / np.maximum(lam, self.nugget)).sum(axis=1), self.nugget)


def greedy_nearby(
    directed: Directed, limits: Limits, kernel: str, bandwidth: float, nugget: float, floor: float
) -> Run:
    """Items with the largest gains, one after the other; those to include first."""
    from dpplearn._loops.heap import pop, rise, sift

    run = Nearby(directed, kernel, bandwidth, nugget, limits.k)
    gains: list[float] = []
    for item in limits.include.tolist():
        if run.count:
            run.update(np.array([item]))
        gains.append(float(run.gain[item]))
        run.take(item)
    alive = np.flatnonzero((limits.alive == 1) & (run.gain > 0.0))
    key, idx, tie = run.gain[alive].copy(), alive.astype(np.int32), np.empty(0)
    size = alive.size
    for a in range(size // 2 - 1, -1, -1):
        sift(key, idx, tie, size, a)
    block = FIRST
    while run.count < limits.k and size:
        check_stop()
        item = int(idx[0])
        if run.known[item] == run.count:
            if run.gain[item] <= floor:
                return finish(run, gains, NO_GAIN)
            pop(key, idx, tie, size)
            size -= 1
            gains.append(float(run.gain[item]))
            run.take(item)
            block = FIRST
            continue
        stale: list[int] = []
        while size and len(stale) < block and run.known[idx[0]] < run.count:
            stale.append(int(idx[0]))
            pop(key, idx, tie, size)
            size -= 1
        run.update(np.array(stale))
        block = min(2 * block, MOST)  # the front keeps growing
        for i in stale:
            key[size], idx[size] = run.gain[i], i
            rise(key, idx, tie, size)
            size += 1
    return finish(run, gains, SIZE if size else FULL)


def finish(run: Nearby, gains: list[float], end: int) -> Run:
    return Run(run.items[: run.count], np.array(gains), end, 0)


def choose_nearby(
    directed: Directed, limits: Limits, kernel: str, bandwidth: float, nugget: float, share: float | None
) -> Selection:
    """The greedy choice under such a kernel, and why it ended."""
    reason = limits.empty_reason()
    if reason:
        return Selection.nothing(reason, unknown)
    floor = -np.inf if limits.bounded else 1.0
    if share is not None:
        floor = share * float(directed.q.max() ** 2)
    run = greedy_nearby(directed, limits, kernel, bandwidth, nugget, floor)
    if run.end == SIZE:
        reason = f"the size limit of {count_of(limits.k, 'item', 'items')} is reached"
    elif run.end == NO_GAIN and share is not None:
        reason = f"every other candidate would add less than {share:g} of what the first added"
    else:
        reason = "no other candidate has a gain" if run.end == NO_GAIN else "every candidate is chosen"
    return Selection(run.items.copy(), limits.total(run.items), np.log(run.gains), reason, unknown)


def unknown(subset: IntArray) -> float:  # noqa: ARG001  # as other models have it
    raise RuntimeError("log_prob under a kernel of near items is not computed: conditional variances are approximate.")
