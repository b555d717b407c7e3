"""The paper's brute force: many samples, and the most probable of those that fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dpplearn._checks import FloatArray, IntArray, Seed, check_int, check_jobs, check_rng, count_of, view
from dpplearn._linalg import safe_log
from dpplearn._loops.records import Tables, Window
from dpplearn._precision import PARALLEL
from dpplearn._run.progress import Progress, showing
from dpplearn._run.threads import map_threads
from dpplearn.decoding.candidates import DENSE, Candidates, Model, read_model
from dpplearn.decoding.greedy import as_found
from dpplearn.decoding.limits import Limits, at_least, check_budget, check_limits, fits, reaches, roomy
from dpplearn.decoding.selection import Selection
from dpplearn.decoding.tilt import fill_tilt, find_tilt, tilted
from dpplearn.dpp import DPP
from dpplearn.lowrank import LowRankDPP
from dpplearn.process import remaining
from dpplearn.sampling.spectral import block_starts, make_tables, sample_spectral, settled, stream_states

PILOT = 20_000  # samples that tell the usual number of items, or what is near where none is right


@dataclass(frozen=True, eq=False, repr=False)
class SampledSelection(Selection):
    """The most probable feasible sample, with what the others were like.

    Attributes
    ----------
    n_samples, n_feasible : int
        Samples drawn, and those that count: their cost is in the window, and no two items exclude each other.
    best : tuple of Selection
        The best distinct sets, most probable first; the first is this one.
    """

    n_samples: int
    n_feasible: int
    best: tuple[Selection, ...]


def sampled_map(
    dpp: Model,
    cost: ArrayLike | None = None,
    budget: float | None = None,
    *,
    n_samples: int = 1_000_000,
    min_cost: float | None = None,
    max_cost: float | None = None,
    k: int | None = None,
    m: int = 1,
    tilt: bool = False,
    include: ArrayLike = (),
    exclude: ArrayLike = (),
    exclusive: ArrayLike | None = None,
    diversity: float = 0.5,
    rng: Seed = None,
    n_jobs: int | None = None,
    progress: bool | Progress = False,
) -> SampledSelection:
    """Draw many sets and return the most probable whose cost is in [min_cost, max_cost].

    Samples are scored inside the sampling loop and none is stored. Since det L_Y is at most the product of its
    diagonal, most of them need no factorization.

    Parameters
    ----------
    dpp, cost, budget, k, include, exclude, exclusive, diversity
        As in `greedy_map`. Above diversity 0.5 a set is to fill budget or k: see `dpplearn.decoding.tilt.fill_tilt`.
    n_samples : int
        How many sets to draw.
    min_cost, max_cost : float
        The window; `max_cost` is the budget by default, `min_cost` 0, which allows the empty set.
    m : int
        How many distinct sets to keep, in `best` of the result.
    tilt : bool
        Draw from e^s L instead of L, with s such that the expected cost, the sum of K_ii cost_i, is the budget (or
        the middle of the window where `min_cost` is given): then samples have the right cost for any budget.
        The ranking still uses L.
    rng : int, numpy.random.Generator or None
        The same seed gives the same result, whatever `n_jobs`.
    n_jobs : int, optional
        Threads; every core by default.
    progress : bool
        Whether to show a bar, on a terminal or in a notebook.

    Returns
    -------
    SampledSelection
        Where no sample was in the window, `n_feasible` is 0, and the set that of the items to include, if that is in
        it, else empty; its `reason` names the nearest cost seen and what to change.

    Examples
    --------
    >>> from dpplearn import DPP
    >>> dpp = DPP([[3.0, 2.9, 0.0], [2.9, 4.0, 0.0], [0.0, 0.0, 2.0]])
    >>> found = sampled_map(dpp, cost=[1, 2, 1], budget=3, n_samples=1000, m=2, rng=0)
    >>> found.sorted_subset, [Y.sorted_subset.tolist() for Y in found.best]
    (array([1, 2]), [[1, 2], [0, 2]])
    >>> sampled_map(dpp, cost=[1, 2, 1], budget=9, min_cost=7, n_samples=1000, rng=0).reason
    'none of 1000 samples cost between 7 and 9; the nearest cost 4. All candidates together cost 4: lower min_cost'
    """
    candidates = read_model(dpp, diversity)
    limits = check_limits(candidates.n, cost, budget, k, include, exclude, exclusive)
    low, high = check_window(limits, min_cost, max_cost)
    if not isinstance(tilt, bool | np.bool_):
        raise TypeError(f"tilt must be True or False, found {tilt!r:.60}.")
    with showing(progress, "Sampling"):
        return best_sample(candidates, limits, low, high, n_samples, m, bool(tilt), rng, n_jobs)


def best_sample(
    candidates: Candidates, limits: Limits, low: float, high: float, n_samples: int, m: int, tilt: bool, rng: Seed,
    n_jobs: int | None, *, typical: bool = False,
) -> SampledSelection:  # fmt: skip
    """The m most probable of the samples in the window; with `typical`, of those with the usual number of items."""
    n_samples, m = check_int(n_samples, "n_samples", low=1), check_int(m, "m", low=1)
    generator, jobs = check_rng(rng), check_jobs(n_jobs)
    reason = limits.empty_reason() if low == 0.0 else ""
    if reason:
        return SampledSelection.nothing(reason, candidates.log_prob, 0, 0, ())
    top_cost = min(high, limits.worth)
    least = max(low, limits.total(limits.include))  # no set that counts costs less
    target = top_cost if low == 0.0 else (least + max(top_cost, least)) / 2
    if not limits.alive.any():
        return only_include(candidates, limits, low, "include and exclude name every item", 0, 0)
    possible = low == 0.0 or limits.may_cost(low, high)
    if not possible:
        n_samples = min(n_samples, PILOT)  # enough to say what is near
    source = Source.of(candidates, limits, target if tilt else None, fill_tilt(candidates, limits))
    usual = source.usual_size(min(n_samples, PILOT), low, high, limits.k, generator, jobs) if typical else None
    sizes = (0, limits.k) if usual is None else (usual, usual)
    found = source.best(n_samples, low, high, sizes, m, generator, jobs)
    if not found.sets:
        reason = nothing_fits(limits, low, high, n_samples, found.nearest, tilt, possible)
        if found.feasible:
            reason = f"{found.feasible} of {n_samples} samples were feasible, but all have probability 0 to rounding"
        return only_include(candidates, limits, low, reason, n_samples, found.feasible)
    share = f"{found.feasible} of {n_samples} samples were feasible"
    share += "" if usual is None else f" and had {count_of(usual, 'item', 'items')}, as is usual"
    best = tuple(as_found(candidates, limits, Y, f"{share}; rank {a + 1} among them") for a, Y in enumerate(found.sets))
    return SampledSelection.of(best[0], f"{share}, this the most probable", n_samples, found.feasible, best)


def only_include(
    candidates: Candidates, limits: Limits, low: float, reason: str, n_samples: int, feasible: int
) -> SampledSelection:
    """The answer where no sample is one: the items to include, if they cost enough, else none."""
    total = limits.total(limits.include)
    if not limits.include.size or not reaches(total, low):
        if n_samples == 0:
            reason += f", and the only set costs {total:g}: lower min_cost"
        return SampledSelection.nothing(reason, candidates.log_prob, n_samples, feasible, ())
    only = as_found(candidates, limits, limits.include, f"{reason}: the items to include, alone")
    return SampledSelection.of(only, only.reason, n_samples, feasible, (only,))


def nearly_parallel(L: FloatArray) -> bool:
    """Whether two items are so alike that L has lost what they differ in; their rows may know it."""
    r = np.sqrt(L.diagonal())
    for low in range(0, len(L), 512):
        block = np.abs(L[low : low + 512])
        block[np.arange(len(block)), np.arange(low, low + len(block))] = 0.0
        if (block > (1.0 - PARALLEL / 2) * np.outer(r[low : low + 512], r)).any():  # then 1 - S_ij^2 < PARALLEL
            return True
    return False


def check_window(limits: Limits, min_cost: float | None, max_cost: float | None) -> tuple[float, float]:
    """Lowest and highest cost of a set."""
    low = 0.0 if min_cost is None else check_budget(min_cost, "min_cost")
    high = min(check_budget(max_cost, "max_cost"), limits.budget)
    if low > high:
        raise ValueError(f"min_cost must not be above max_cost or the budget, found {low:g} and {high:g}.")
    if not fits(limits.total(limits.include), high):
        raise ValueError(
            f"include must fit max_cost, but its items cost {limits.total(limits.include):g} and max_cost is {high:g}."
        )
    return low, high


def nothing_fits(
    limits: Limits, low: float, high: float, n_samples: int, nearest: float, tilt: bool, possible: bool
) -> str:
    """Why no sample counts, and what to change."""
    everything = float(limits.cost.sum() - limits.total(limits.exclude))
    seen = f"the nearest cost {nearest:g}" if np.isfinite(nearest) else f"all had more than {limits.k} items"
    message = f"none of {n_samples} samples cost between {low:g} and {high:g}; {seen}. "
    if everything < low:
        return message + f"All candidates together cost {everything:g}: lower min_cost"
    if not possible:
        return message + "No set of them costs that: widen the window"
    advice = "widen the window" if tilt else "pass tilt=True to draw sets of the right cost, or widen the window"
    return message + advice[0].upper() + advice[1:]


def twice(sample_of: IntArray, group: IntArray) -> IntArray:
    """The samples with two items that exclude each other."""
    order = np.lexsort((group, sample_of))
    sample_of, group = sample_of[order], group[order]
    return np.asarray(sample_of[1:][(np.diff(sample_of) == 0) & (np.diff(group) == 0)])


class Found(NamedTuple):
    """The best sets of many samples, as sorted item numbers."""

    sets: list[IntArray]
    feasible: int
    nearest: float


@dataclass(frozen=True, eq=False)
class Source:
    """A distribution over the items that may be chosen, ready to be drawn from."""

    tables: Tables
    expected_size: float
    items: IntArray  # what each is called in the whole ground set
    include: IntArray
    cost: FloatArray
    entries: FloatArray  # L of these items given include, or B with L = B B^T
    gram: bool
    base: float  # cost of the items to include
    group: IntArray  # items of the same number exclude each other; empty where none does

    @classmethod
    def of(cls, candidates: Candidates, limits: Limits, target: float | None, fill: float = 0.0) -> Source:
        """The model given what must be in and out, tilted to cost `target` on average where that is given.

        Sets are scored under e^fill L.
        """
        dpp = candidates.given(limits.include, limits.exclude)
        base = limits.total(limits.include)
        items = remaining(candidates.n, limits.include, limits.exclude)
        cost = limits.cost[items]
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
        group = limits.group  # numbered again, so that none is past the number of items
        if limits.exclusive is not None:
            group = np.unique(limits.exclusive[items], return_inverse=True)[1].astype(np.int64)
        return cls(tables, size, items, limits.include, cost, view(entries), gram, base, group)

    def draw(
        self, count: int, low: float, high: float, rng: np.random.Generator, n_jobs: int
    ) -> tuple[IntArray, IntArray, Any, Any]:
        """Samples end to end (starts and items), what each costs, and which count: of the right cost, none clashing."""
        indptr, indices = sample_spectral(self.tables, count, rng, expected_size=self.expected_size, n_jobs=n_jobs)
        sample_of = np.repeat(np.arange(count), np.diff(indptr))
        totals = np.bincount(sample_of, self.cost[indices], minlength=count) + self.base
        right = reaches(totals, low) & fits(totals, high)
        if self.group.size:
            right[twice(sample_of, self.group[indices])] = False
        return indptr, indices, totals, right

    def usual_size(
        self, count: int, low: float, high: float, k: int, rng: np.random.Generator, n_jobs: int
    ) -> int | None:
        """The median number of items of the samples that count, which some of them have; None where none counts."""
        indptr, _, _, right = self.draw(count, low, high, rng, n_jobs)
        sizes = np.diff(indptr)[right] + self.include.size
        sizes = np.sort(sizes[sizes <= k])
        return int(sizes[sizes.size // 2]) if sizes.size else None

    def best(
        self, size: int, low: float, high: float, sizes: tuple[int, int], m: int, rng: np.random.Generator, n_jobs: int
    ) -> Found:
        """The m most probable distinct sets of `size` samples; block by block, so that threads change nothing."""
        from dpplearn._loops.scoring import best_of_block

        starts = block_starts(size, self.expected_size)
        states = stream_states(len(starts) - 1, rng)
        diag = np.einsum("ij,ij->i", self.entries, self.entries) if self.gram else self.entries.diagonal()
        log_diag = safe_log(np.maximum(diag, 0.0)) + 1e-12  # a bound that rounding does not break
        bottom, top = at_least(low) - self.base, roomy(high) - self.base
        least, most = (count - self.include.size for count in sizes)
        window = Window(self.entries, self.gram, log_diag, self.cost, bottom, top, least, most, m, self.group)

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
        return Found(whole, feasible, nearest)
