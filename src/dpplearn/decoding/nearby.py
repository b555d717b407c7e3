"""Kernels that tell near items apart beyond the span of d directions, and greedy choice under them.

S_ij = phi(r_ij / h), with the distance r_ij = sqrt(2 - 2 cos_ij) of unit rows, phi(x) = exp(-x^2 / 2) ("rbf") or
Wendland's (1 - x/2)^4 (2 x + 1) up to x = 2 and 0 beyond ("local"). That is positive definite in up to three
dimensions; in more, eigenvalues below the nugget count as it. The conditional variance of an item is taken given the
nearest of those chosen (Vecchia, 1988), and what an item adds is never more than it was: so old gains are upper bounds,
and only the front of a heap is brought up to date, by the items chosen since. A sweep now and then does so for more of
it than is needed at once: many items are compared with many in one product for hardly more than a few of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse

from dpplearn._checks import FloatArray, IntArray
from dpplearn._loops.records import (
    BLOCK,
    DISTINCT,
    EVALUATE,
    HEAP,
    KNOWN,
    TAKEN,
    WORK,
    FeatureRows,
    Lazy,
    Run,
)
from dpplearn._run.stop import check_stop
from dpplearn.decoding.candidates import Candidates, as_unit
from dpplearn.decoding.diversity import exponents
from dpplearn.decoding.greedy import as_wanted, quota_of
from dpplearn.decoding.lazy import NO_HALVES, NO_ITEMS, NO_TIES, begin_limits
from dpplearn.decoding.limits import Limits
from dpplearn.decoding.neighbours import Neighbours
from dpplearn.decoding.selection import Unknown
from dpplearn.operand import Rows

KERNELS = ("linear", "rbf", "local")
NEAREST = 12  # chosen items that a conditional variance is given
FIRST, MOST = 16, 1024  # items that are brought up to date at once
SWEEP, SWEPT = 1024, 4096  # choices between two sweeps, and items of the front that one brings up to date
SAMPLE, AMONG = 256, 20_000  # items whose distances to how many others tell the bandwidth
NO_ROWS = np.empty((0, 0))


def check_kernel_name(kernel: Any, bandwidth: Any) -> None:
    """One of the kernels, and a positive bandwidth or none."""
    if kernel not in KERNELS:
        raise ValueError(f"kernel must be one of {', '.join(map(repr, KERNELS))}; found {kernel!r}.")
    if bandwidth is None:
        return
    if kernel == "linear":
        raise ValueError('bandwidth is for kernel="rbf" and kernel="local".')
    if isinstance(bandwidth, bool) or not isinstance(bandwidth, Real) or not 0.0 < float(bandwidth) < np.inf:
        raise ValueError(f"bandwidth must be a positive number, found {bandwidth!r}.")


def check_dense(rows: Any, kernel: str) -> None:
    """Distances are computed of dense rows."""
    if sparse.issparse(rows):
        raise TypeError(f'kernel="{kernel}" needs dense embeddings. Reduce sparse ones, such as by TruncatedSVD.')


def similarity(cosines: FloatArray, kernel: str, bandwidth: float) -> FloatArray:
    """phi(r / h) of pairs of items with these cosines."""
    square = np.maximum(2.0 - 2.0 * cosines.astype(np.float64), 0.0) / bandwidth**2
    if kernel == "rbf":
        return np.exp(-0.5 * square)
    x = np.sqrt(square)
    return np.where(x < 2.0, (1.0 - 0.5 * np.minimum(x, 2.0)) ** 4 * (2.0 * x + 1.0), 0.0)


def sample(n: int) -> tuple[IntArray, IntArray]:
    """Some items, and others to compare them with: the same for the same n."""
    rng = np.random.default_rng(0)
    some, others = (np.sort(rng.choice(n, min(n, size), replace=False)) for size in (SAMPLE, AMONG))
    return some, others


def find_bandwidth(some: np.ndarray, others: np.ndarray, k: int) -> float:
    """The distance within which an item has n/k others, as the median of a sample of unit rows says: then k items
    cover all. Items at distance 0 of one another are taken for one.
    """
    distance = np.sqrt(np.maximum(2.0 - 2.0 * (some @ others.T).astype(np.float64), 0.0))
    place = min(max(1, round(len(others) / max(k, 1))), len(others) - 1)  # place 0 is the item itself
    found = float(np.median(np.partition(distance, place, axis=1)[:, place]))
    return max(found, float(distance[distance > 1e-3].min(initial=1.0)))


@dataclass(frozen=True, eq=False)
class NearCandidates(Candidates):
    """Items under such a kernel, with unit rows chosen earlier; greedy_run is what `greedy_auto` asks for."""

    kernel: str = "rbf"
    bandwidth: float = 1.0
    earlier: Any = None
    index: bool = False
    here = False

    log_prob = Unknown("log_prob under a kernel of near items is not computed: conditional variances are approximate.")

    def greedy_run(self, limits: Limits, rule: int, power: float, floor: float) -> Run:
        """Items with the largest gains for their cost, one after the other; those to include first."""
        return Nearby(self, limits.k).choose(limits, rule, power, floor)


class Nearby:
    """A greedy run under such a kernel."""

    def __init__(self, items: NearCandidates, k: int) -> None:
        assert isinstance(items.operand, Rows)
        self.directed, self.kernel, self.bandwidth = items.directed, items.kernel, items.bandwidth
        self.operand = items.operand
        self.b = exponents(items.diversity)[1] * (1.0 - items.nugget)  # of similarities; the rest is an item's own
        n, d = self.directed.rows.shape
        self.known = np.zeros(n, np.int64)  # how many of the chosen each item knows of
        self.near = np.empty((n, NEAREST), np.int32)  # the nearest of them; written when an item is first looked at
        self.cosine = np.empty((n, NEAREST), np.float32)
        earlier = np.empty((0, d)) if items.earlier is None else items.earlier
        kind = np.float64 if self.directed.rows.dtype == np.float64 else np.float32
        self.chosen = Neighbours(len(earlier) + min(k, n), d, kind, NEAREST, items.index)
        self.chosen.add(earlier)

    def choose(self, limits: Limits, rule: int, power: float, floor: float) -> Run:
        """Go on until the loop says why it ended."""
        from dpplearn._loops import lazy, nearby

        wanted, alive = as_wanted(limits, rule, power, floor), limits.alive.copy()
        rows = self.operand
        features = FeatureRows(NO_ROWS, NO_HALVES, NO_ITEMS, NO_ITEMS, NO_HALVES, rows.scale, rows.diag, rows.own, 0.0)
        run = self.begin(limits, -wanted.cost if not limits.equal else NO_TIES)
        quota = begin_limits(wanted, quota_of(limits), run, alive)
        added = swept = 0
        while True:
            check_stop()
            code = nearby.choose(features, wanted, quota, run, alive, FIRST)
            taken = int(run.at[TAKEN])
            if code != EVALUATE:
                return Run(run.items[:taken], run.gains[:taken], code, 0)
            new = run.items[added:taken]
            new, added = new[rows.scale[new] > 0.0], taken
            self.chosen.add(self.unit(new))
            block = run.block[: run.at[BLOCK]]
            self.update(block, run.g)
            lazy.put_back(features, wanted, quota, run, alive)
            if taken - swept >= SWEEP and run.at[HEAP] >= 0:  # there is none while items that are included come first
                swept = taken
                self.sweep(run)
                lazy.put(features, wanted, quota, run, alive, run.idx[:0], True)
                run.at[WORK] = min(FIRST, run.block.size)

    def begin(self, limits: Limits, tie: FloatArray) -> Lazy:
        """Nothing chosen yet, but what was earlier."""
        n, k = limits.cost.size, limits.k
        at = np.zeros(DISTINCT + 1, np.int64)
        at[HEAP], at[DISTINCT], at[WORK], at[KNOWN] = -1, -1, FIRST, self.chosen.count
        work = np.empty(n), np.empty(n, np.int32), tie, np.empty(k, np.int64), np.empty(k)
        block = np.empty(min(MOST, n), np.int64)
        spent = np.array([0.0, 0.0, np.inf])
        none = np.empty(0)
        done = np.zeros(n, np.int32)
        return Lazy(self.operand.diag.copy(), done, *work, NO_ROWS, NO_ROWS, NO_ROWS, none, none, block, at, spent)

    def unit(self, items: IntArray) -> np.ndarray:
        """Unit rows of some items."""
        return as_unit(self.directed.rows[items], self.directed.lengths[items])

    def update(self, items: IntArray, gain: FloatArray) -> None:
        """Bring the gains of some items up to date by what was chosen since they last were."""
        self.chosen.update(items, self.unit(items), self.known, self.near, self.cosine)
        left = self.operand.diag[items] * self.variance(items, self.cosine[items], self.near[items])
        gain[items] = np.minimum(gain[items], left)

    def sweep(self, run: Lazy) -> None:
        """Bring the front of the heap up to date, which those farthest behind begin."""
        key, idx = run.key[: run.at[HEAP]], run.idx[: run.at[HEAP]].astype(np.int64)
        best = idx[np.argpartition(-key, SWEPT)[:SWEPT]] if idx.size > SWEPT else idx
        best = best[np.argsort(self.known[best], kind="stable")]
        for low in range(0, best.size, MOST):
            check_stop()
            self.update(best[low : low + MOST], run.g)
        run.done[best] = run.at[KNOWN]

    def variance(self, items: IntArray, cosine: FloatArray, near: IntArray) -> FloatArray:
        """1 - s^T S^-1 s of each item, given its nearest chosen ones."""
        there = (near >= 0) & (self.directed.lengths[items] > 0.0)[:, None]
        s = np.where(there, similarity(np.where(there, cosine, 0.0), self.kernel, self.bandwidth), 0.0) * self.b
        rows = self.chosen.rows[np.maximum(near, 0)]
        S = similarity(rows @ rows.transpose(0, 2, 1), self.kernel, self.bandwidth) * self.b
        S *= there[:, :, None] & there[:, None, :]
        diagonal = np.arange(NEAREST)
        S[:, diagonal, diagonal] = 1.0
        lam, V = np.linalg.eigh(S)
        along = np.einsum("nij,ni->nj", V, s)
        # where S is not positive definite, what is below an item's own is rounding
        own = 1.0 - self.b
        return np.maximum(1.0 - (along**2 / np.maximum(lam, own)).sum(axis=1), own)
