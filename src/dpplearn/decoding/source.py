"""Samples of a model given its limits: what is drawn, which of it counts, and the most probable of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from dpplearn._checks import FloatArray, IntArray, view
from dpplearn._linalg import safe_log
from dpplearn._precision import PARALLEL
from dpplearn._run.threads import map_threads
from dpplearn.decoding.candidates import DENSE, Candidates
from dpplearn.decoding.limits import Limits, Quota, at_least, fits, reaches, with_slack
from dpplearn.decoding.tilt import find_tilt, tilted
from dpplearn.dpp import DPP
from dpplearn.lowrank import LowRankDPP
from dpplearn.process import remaining
from dpplearn.sampling.records import Tables
from dpplearn.sampling.spectral import block_starts, make_tables, sample_spectral, settled, stream_states


def nearly_parallel(L: FloatArray) -> bool:
    """Whether two items are so alike that L has lost what they differ in; their rows may know it."""
    r = np.sqrt(L.diagonal())
    for low in range(0, len(L), 512):
        block = np.abs(L[low : low + 512])
        block[np.arange(len(block)), np.arange(low, low + len(block))] = 0.0
        if (block > (1.0 - PARALLEL / 2) * np.outer(r[low : low + 512], r)).any():  # then 1 - S_ij^2 < PARALLEL
            return True
    return False


def given_limits(candidates: Candidates, limits: Limits) -> tuple[DPP | LowRankDPP, IntArray]:
    """The DPP of the items that may be chosen beside those to include, given these, and which items they are."""
    rest = np.flatnonzero(limits.free)
    return candidates.conditioned(limits.include, remaining(candidates.n, limits.include, rest)), rest


class Drawn(NamedTuple):
    """The best sets of many samples, as sorted item numbers; how many samples counted; the nearest cost of others."""

    sets: list[IntArray]
    feasible: int
    nearest: float


@dataclass(frozen=True, eq=False)
class Source:
    """A distribution over the items that may be chosen beside those to include, ready to be drawn from."""

    tables: Tables
    expected_size: float
    items: IntArray  # what each is called in the whole ground set
    include: IntArray
    cost: FloatArray
    entries: FloatArray  # L of these items given include, or B with L = B B^T
    gram: bool
    base: float  # cost of the items to include
    low: float  # what a set that counts costs, with those to include, at least and at most
    high: float
    quota: Quota  # what include leaves of it

    @classmethod
    def of(
        cls,
        candidates: Candidates,
        limits: Limits,
        window: tuple[float, float],
        target: float | None,
        fill: float = 0.0,
    ) -> Source:
        """The model given what must be in and out, tilted to cost `target` on average where that is given.

        Sets that cost what the window says count, and are scored under e^fill L.
        """
        dpp, items = given_limits(candidates, limits)
        base, cost = limits.total(limits.include), limits.cost[items]
        if target is None:
            tables, size = dpp._alias_tables, dpp.expected_size
        else:
            lam, V = dpp.eigenpairs
            p = tilted(lam, find_tilt(lam, V, cost, target - base))
            tables, size = make_tables(p, settled(lam, V), alias=True), float(p.sum())
        few = isinstance(dpp, DPP) or dpp.n <= min(DENSE, 4 * dpp.B.shape[1])
        entries, gram = (np.ascontiguousarray(dpp.L), False) if few else dpp._need_L().entries()
        if isinstance(dpp, LowRankDPP) and few and nearly_parallel(entries):
            entries, gram = dpp._need_L().entries()
        if fill:
            entries = entries * np.exp(fill / 2 if gram else fill)
        n = candidates.n
        quota = limits.quota or Quota(["all"], np.zeros(n, np.int64), np.array([n]), np.array([0]))
        inside = quota.counts(limits.include)
        left = Quota(quota.names, quota.group[items], quota.most - inside, np.maximum(quota.need - inside, 0))
        return cls(tables, size, items, limits.include, cost, view(entries), gram, base, *window, left)

    def draw(self, count: int, rng: np.random.Generator, n_jobs: int) -> tuple[IntArray, IntArray, Any, Any]:
        """Samples end to end (starts and items), what each costs, and which are in the window and keep the quotas."""
        indptr, indices = sample_spectral(self.tables, count, rng, expected_size=self.expected_size, n_jobs=n_jobs)
        sample = np.repeat(np.arange(count), np.diff(indptr))
        totals = np.bincount(sample, self.cost[indices], minlength=count) + self.base
        right = reaches(totals, self.low) & fits(totals, self.high)
        group, most, need = self.quota.group, self.quota.most, self.quota.need
        each = sparse.coo_array((np.ones(indices.size, np.int64), (sample, group[indices])), (count, most.size)).tocsr()
        sample = np.repeat(np.arange(count), np.diff(each.indptr))
        over = np.bincount(sample, each.data > most[each.indices], count)
        met = np.bincount(sample, np.minimum(each.data, need[each.indices]), count)
        return indptr, indices, totals, right & (over == 0) & (met == need.sum())

    def usual_size(self, count: int, k: int, rng: np.random.Generator, n_jobs: int) -> int | None:
        """The median number of items of the samples that count, which some of them have; None where none counts."""
        indptr, _, _, right = self.draw(count, rng, n_jobs)
        sizes = np.diff(indptr)[right] + self.include.size
        sizes = np.sort(sizes[sizes <= k])
        return int(sizes[sizes.size // 2]) if sizes.size else None

    def best(self, size: int, sizes: tuple[int, int], m: int, rng: np.random.Generator, n_jobs: int) -> Drawn:
        """The m most probable distinct sets of `size` samples; block by block, so that threads change nothing."""
        from dpplearn.decoding._sampled_loops import Window, best_of_block

        starts = block_starts(size, self.expected_size)
        states = stream_states(len(starts) - 1, rng)
        diag = np.einsum("ij,ij->i", self.entries, self.entries) if self.gram else self.entries.diagonal()
        log_diag = safe_log(np.maximum(diag, 0.0)) + 1e-12  # a bound that rounding does not break
        bottom, top = at_least(self.low) - self.base, with_slack(self.high) - self.base
        least, most = (max(count - self.include.size, 0) for count in sizes)
        quota = self.quota.group, self.quota.most, self.quota.need
        window = Window(self.entries, self.gram, log_diag, self.cost, bottom, top, least, most, *quota, m)

        def task(b: int) -> tuple[dict[tuple[int, ...], float], int, float]:
            count = int(starts[b + 1] - starts[b])
            values, lengths, kept, feasible, nearest = best_of_block(self.tables, states[b], count, window)
            sets = {tuple(kept[a, : lengths[a]].tolist()): float(values[a]) for a in range(values.size)}
            return sets, int(feasible), float(nearest)

        merged: dict[tuple[int, ...], float] = {}
        feasible, nearest, gap = 0, np.nan, np.inf
        for sets, count, seen in map_threads(task, len(starts) - 1, n_jobs):
            merged.update(sets)
            feasible += count
            away = max(bottom - seen, seen - top)
            if away < gap:
                gap, nearest = away, seen + self.base
        order = sorted(merged, key=lambda Y: (-merged[Y], Y))[:m]
        whole = [np.union1d(self.items[np.array(Y, np.int64)], self.include) for Y in order]
        return Drawn(whole, feasible, nearest)
