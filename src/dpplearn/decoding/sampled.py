"""The paper's brute force: draw many sets, and return the most probable of those within the limits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from dpplearn._checks import FloatArray, IntArray, Seed, check_int, check_jobs, check_rng, count_of
from dpplearn._linalg import safe_log
from dpplearn._precision import rounding
from dpplearn._run.progress import Progress, showing
from dpplearn.decoding.candidates import Candidates, Model, read_model
from dpplearn.decoding.greedy import in_order, try_quotas, why_lacking
from dpplearn.decoding.limits import SLACK, BoolArray, Bound, Limits, check_budget, check_limits, reaches
from dpplearn.decoding.selection import Selection
from dpplearn.decoding.tilt import fill_tilt, find_tilt, tilted
from dpplearn.dpp import DPP
from dpplearn.lowrank import LowRankDPP
from dpplearn.process import remaining
from dpplearn.sampling import Array, Tables
from dpplearn.sampling.spectral import draw_blocks, make_tables, settled, with_alias

PILOT = 20_000  # sets that show the usual number of items
SHARES = (0.97, 0.85, 0.0)  # of the budget: a typical set costs at least the first of these that some set reaches


@dataclass(frozen=True, eq=False, repr=False)
class SampledSelection(Selection):
    """The most probable sample that counts, and how many did.

    Attributes
    ----------
    n_samples, n_feasible : int
        Samples drawn, and those that count: their cost is in the window, and they keep all limits.
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
    k: int | None = None,
    m: int = 1,
    tilt: bool = False,
    include: ArrayLike = (),
    exclude: ArrayLike = (),
    groups: ArrayLike | None = None,
    max_per_group: Bound | None = None,
    min_per_group: Bound | None = None,
    diversity: float = 0.5,
    rng: Seed = None,
    n_jobs: int | None = None,
    progress: bool | Progress = False,
) -> SampledSelection:
    """Draw many sets and return the most probable whose cost is from min_cost to the budget.

    Samples are scored inside the sampling loop and none is stored. Since det L_Y is at most the product of its
    diagonal, most of them need no factorization.

    Parameters
    ----------
    dpp, cost, budget, k, include, exclude, groups, max_per_group, min_per_group, diversity
        As in `greedy_map`. Above diversity 0.5 a set is to fill budget or k: see `dpplearn.decoding.tilt.fill_tilt`.
    n_samples : int
        How many sets to draw.
    min_cost : float, optional
        Lowest cost of a set; default 0, which allows the empty one.
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
        Where no sample counts, `n_feasible` is 0, and the set is that of the items to include, if these by themselves
        are within the limits, else empty; `reason` names the nearest cost seen and what to change.

    Examples
    --------
    >>> from dpplearn import DPP
    >>> dpp = DPP([[3.0, 2.9, 0.0], [2.9, 4.0, 0.0], [0.0, 0.0, 2.0]])
    >>> chosen = sampled_map(dpp, cost=[1, 2, 1], budget=3, n_samples=1000, m=2, rng=0)
    >>> chosen.sorted_subset, [Y.sorted_subset.tolist() for Y in chosen.best]
    (array([1, 2]), [[1, 2], [0, 2]])
    >>> sampled_map(dpp, cost=[1, 2, 1], budget=9, min_cost=7, n_samples=1000, rng=0).reason
    'none of 1000 samples cost between 7 and 9; the nearest cost 4. All candidates together cost 4: lower min_cost'
    """
    candidates = read_model(dpp, diversity)
    limits = check_limits(candidates.n, cost, budget, k, include, exclude, groups, max_per_group, min_per_group)
    return sampled_choice(candidates, limits, n_samples, min_cost, m, tilt, rng, n_jobs, progress)


def sampled_choice(
    candidates: Candidates,
    limits: Limits,
    n_samples: int = 1_000_000,
    min_cost: float | None = None,
    m: int = 1,
    tilt: bool = False,
    rng: Seed = None,
    n_jobs: int | None = None,
    progress: bool | Progress = False,
) -> SampledSelection:
    """What `sampled_map` finds."""
    low = check_min_cost(limits, min_cost)
    if not isinstance(tilt, bool | np.bool_):
        raise TypeError(f"tilt must be True or False, found {tilt!r:.60}.")
    with showing(progress, "Sampling"):
        return best_sample(candidates, limits, low, n_samples, m, bool(tilt), rng, n_jobs)


def typical_map(
    dpp: Model,
    cost: ArrayLike | None = None,
    budget: float | None = None,
    *,
    n_samples: int = 200_000,
    min_cost: float | None = None,
    k: int | None = None,
    m: int = 1,
    include: ArrayLike = (),
    exclude: ArrayLike = (),
    groups: ArrayLike | None = None,
    max_per_group: Bound | None = None,
    min_per_group: Bound | None = None,
    diversity: float = 0.5,
    rng: Seed = None,
    n_jobs: int | None = None,
) -> SampledSelection:
    """Draw many sets of the right cost and return the most probable of those with the usual number of items.

    Where qualities are below 1, each further item lowers the probability of a set; so the most probable set of a given
    cost has few, costly items, though hardly a set that is drawn looks like it: there are many more sets of many items.
    Here the number of items is the median of the samples that count, and the set the most probable of that size.

    Parameters
    ----------
    dpp, cost, budget, k, include, exclude, groups, max_per_group, min_per_group, diversity
        As in `greedy_map`.
    n_samples, m, rng, n_jobs
        As in `sampled_map`.
    min_cost : float, optional
        Lowest cost of a set; by default 0.97 of the budget or of k items' cost (0.85 or nothing, where no sample
        costs as much). Samples are drawn from e^s L with s such that their mean cost is between it and the budget.

    Returns
    -------
    SampledSelection
        As that of `sampled_map`.

    Examples
    --------
    >>> from dpplearn import DPP
    >>> dpp, cost = DPP(0.1 * np.eye(13)), np.array([6] + [2] * 12)  # one costly item among many
    >>> typical_map(dpp, cost, 6, rng=0).cost, len(typical_map(dpp, cost, 6, rng=0))
    (6.0, 3)
    >>> sampled_map(dpp, cost, 6, min_cost=6, rng=0).subset
    array([0])
    """
    candidates = read_model(dpp, diversity)
    limits = check_limits(candidates.n, cost, budget, k, include, exclude, groups, max_per_group, min_per_group)
    return typical_choice(candidates, limits, n_samples, min_cost, m, rng, n_jobs)


def typical_choice(
    candidates: Candidates,
    limits: Limits,
    n_samples: int = 200_000,
    min_cost: float | None = None,
    m: int = 1,
    rng: Seed = None,
    n_jobs: int | None = None,
) -> SampledSelection:
    """What `typical_map` finds."""
    tilt, lowest = limits.bounded, [check_min_cost(limits, min_cost)]
    if tilt and min_cost is None:
        lowest = [share * limits.worth for share in SHARES]
    for low in lowest:
        chosen = best_sample(candidates, limits, low, n_samples, m, tilt, rng, n_jobs, typical=True)
        if len(chosen):
            break
    return chosen


def check_min_cost(limits: Limits, min_cost: float | None) -> float:
    """The lowest cost of a set."""
    low = 0.0 if min_cost is None else check_budget(min_cost, "min_cost")
    if low > limits.budget:
        raise ValueError(f"min_cost must not be above the budget, found {low:g} and {limits.budget:g}.")
    return low


def best_sample(
    candidates: Candidates, limits: Limits, low: float, n_samples: int, m: int, tilt: bool, rng: Seed,
    n_jobs: int | None, *, typical: bool = False,
) -> SampledSelection:  # fmt: skip
    """The m most probable of the samples that count; with `typical`, of those with the usual number of items."""
    n_samples, m = check_int(n_samples, "n_samples", low=1), check_int(m, "m", low=1, high=10**5)
    generator, jobs = check_rng(rng), check_jobs(n_jobs)
    reason = limits.empty_reason() if low == 0.0 else ""
    if reason:
        return SampledSelection.nothing(reason, candidates.log_prob, 0, 0, ())
    if not limits.free.any():
        reason = (
            "the groups of what is included are full" if limits.alive.any() else "include and exclude name every item"
        )
        return only_include(candidates, limits, low, reason, 0, 0)
    least = max(low, limits.total(limits.include))  # no set that counts costs less
    target = limits.worth if low == 0.0 else (least + max(limits.worth, least)) / 2
    sampler = Sampler(candidates, limits, low, target if tilt else None)
    sizes, usual = (0, limits.k), None
    if typical:
        _, counts, _ = sampler.best(min(n_samples, PILOT), sizes, 1, generator, jobs)
        if counts.any():
            usual = int(np.searchsorted(np.cumsum(counts), counts.sum() // 2, side="right")) + limits.include.size
            sizes = (usual, usual)
    sets, counts, nearest = sampler.best(n_samples, sizes, m, generator, jobs)
    feasible = int(counts.sum())
    share = f"{feasible} of {n_samples} samples were feasible"
    if not sets:
        reason = why_none(sampler, low, n_samples, nearest, tilt)
        return only_include(
            candidates, limits, low, f"{share}, but all have probability 0 to rounding" if feasible else reason,
            n_samples, feasible,
        )  # fmt: skip
    share += "" if usual is None else f" and had {count_of(usual, 'item', 'items')}, as is usual"
    best = tuple(in_order(candidates, limits, Y, f"{share}; rank {a + 1} among them") for a, Y in enumerate(sets))
    return SampledSelection.of(best[0], f"{share}, this the most probable", n_samples, feasible, best)


def only_include(
    candidates: Candidates, limits: Limits, low: float, reason: str, n_samples: int, feasible: int
) -> SampledSelection:
    """The answer where no sample is one: the items to include, if they are within the limits, else none."""
    total, enough = limits.total(limits.include), limits.meets(limits.include)
    if not limits.include.size or not enough or not reaches(total, low):
        if n_samples == 0 and enough:
            reason += f", and the only set costs {total:g}: lower min_cost"
        return SampledSelection.nothing(reason, candidates.log_prob, n_samples, feasible, ())
    only = in_order(candidates, limits, limits.include, f"{reason}: the items to include, alone")
    return SampledSelection.of(only, only.reason, n_samples, feasible, (only,))


def why_none(sampler: Sampler, low: float, n_samples: int, nearest: float, tilt: bool) -> str:
    """Why no sample counts, and what to change."""
    limits = sampler.limits
    everything, most = float(limits.cost.sum() - limits.total(limits.exclude)), sampler.most_cost()
    seen = f"the nearest cost {nearest:g}" if np.isfinite(nearest) else f"all had more than {limits.k} items"
    quotas = " and kept the quotas of groups" if limits.names else ""
    message = f"none of {n_samples} samples cost between {low:g} and {limits.budget:g}{quotas}; {seen}. "
    if everything < low:
        return message + f"All candidates together cost {everything:g}: lower min_cost"
    if most < low:
        return message + f"No set within the limits and the kernel's rank costs more than {most:g}: lower min_cost"
    if limits.need.any():
        filled = try_quotas(sampler.candidates, limits, -np.inf).items
        if lacking := why_lacking(sampler.candidates, limits, filled):
            return message + lacking.removesuffix(".")
    advice = "" if tilt else "Pass tilt=True to draw sets of the right cost, or "
    advice += "draw more samples, or use greedy_map" if limits.names else "widen the window"
    return message + advice[0].upper() + advice[1:]


def given_limits(candidates: Candidates, limits: Limits) -> tuple[DPP | LowRankDPP, IntArray]:
    """The DPP of the items that may be chosen beside those to include, given these; and which items they are."""
    rest = np.flatnonzero(limits.free)
    return candidates.conditioned(limits.include, remaining(candidates.n, limits.include, rest)), rest


def tilted_tables(dpp: DPP | LowRankDPP, cost: FloatArray, target: float | None) -> tuple[Tables, float]:
    """What sets are drawn by, and how many items they have on average: at the mean cost `target`, if there is one."""
    if target is None:
        return dpp._alias_tables, dpp.expected_size
    lam, V = dpp.eigenpairs
    p = tilted(lam, find_tilt(lam, V, cost, target))
    return with_alias(make_tables(p, settled(p, V))), float(p.sum())


class Sampler:
    """Draws sets of a model given what must be in and out, and keeps the most probable of those that count.

    Those count whose cost is in the window and that keep all limits. Where there is a target, sets cost as much on
    average.
    """

    def __init__(self, candidates: Candidates, limits: Limits, low: float, target: float | None) -> None:
        self.candidates, (self.dpp, self.items) = candidates, given_limits(candidates, limits)
        self.limits, self.include, self.base = limits, limits.include, limits.total(limits.include)
        self.cost, self.fill = limits.cost[self.items], fill_tilt(candidates, limits)
        self.tables, self.mean = tilted_tables(self.dpp, self.cost, None if target is None else target - self.base)
        self.operand = self.dpp._operand
        self.log_diag = safe_log(np.maximum(self.operand.diag, 0.0)) + 1e-12  # a bound that rounding does not break
        self.low, self.high = low * (1.0 - SLACK) - self.base, limits.room - self.base

    def most_cost(self) -> float:
        """What no set costs more than that is within the quotas and the size, and has a positive probability."""
        limits, lam = self.limits, self.dpp.eigenpairs[0]
        rank = int((lam > rounding(lam.size) * lam.max(initial=0.0)).sum())
        order, room = self.items[np.argsort(-self.cost)], limits.most - limits.counts(self.include)
        able = [order[limits.group[order] == c][: room[c]] for c in np.unique(limits.group[order])]
        costs = -np.sort(-limits.cost[np.concatenate(able)])
        return self.base + float(costs[: min(limits.k - self.include.size, rank)].sum())

    def best(
        self, count: int, sizes: tuple[int, int], m: int, rng: np.random.Generator, n_jobs: int
    ) -> tuple[list[IntArray], IntArray, float]:
        """The m most probable distinct sets of `count`; how many counted, by their items beside those to include; and
        the cost nearest to the window of those that did not."""
        within = max(sizes[0] - self.include.size, 0), max(sizes[1] - self.include.size, 0)
        score = partial(self.score, within=within, m=m)
        found = draw_blocks(self.tables, count, rng, self.mean, n_jobs, score, within)
        merged = {Y: value for sets, _, _ in found for Y, value in sets.items()}
        total = np.sum([counts for _, counts, _ in found], axis=0)
        seen = np.array([nearest for _, _, nearest in found if not np.isnan(nearest)] or [np.nan])
        nearest = float(seen[np.maximum(self.low - seen, seen - self.high).argmin()]) + self.base
        order = sorted(merged, key=lambda Y: (-merged[Y], Y))[:m]
        whole = [np.union1d(self.items[np.array(Y, np.int64)], self.include) for Y in order]
        return whole, total, nearest

    def score(
        self, lengths: Array, indices: Array, within: tuple[int, int], m: int
    ) -> tuple[dict[tuple[int, ...], float], IntArray, float]:
        """The same of sets that lie end to end, with log det; those of a length that is not `within` do not count."""
        sizes = lengths.astype(np.int64)
        sized, sizes = (within[0] <= sizes) & (sizes <= within[1]), np.maximum(sizes, 0)  # -1 of one left out
        owner = np.repeat(np.arange(sizes.size), sizes)
        cost = np.bincount(owner, self.cost[indices], sizes.size)
        away = np.maximum(self.low - cost, cost - self.high)
        these = sized & (away <= 0.0)
        if self.limits.names:
            these &= keep_quotas(self.limits, owner, self.items[indices], sizes.size)
        missed = np.flatnonzero(sized & ~these)
        nearest = float(cost[missed[away[missed].argmin()]]) if missed.size else np.nan
        # det L_Y <= product of its diagonal (Hadamard): most samples need no factorization
        bound = np.bincount(owner, self.log_diag[indices], sizes.size) + self.fill * sizes
        left, step, ends = np.flatnonzero(these), 4 * m, np.cumsum(sizes)
        left = left[np.argsort(-bound[left], kind="stable")]
        found: dict[tuple[int, ...], float] = {}
        while left.size:
            some, left, step = left[:step], left[step:], 4 * step
            sets = [indices[ends[s] - sizes[s] : ends[s]] for s in some]
            indptr = np.append(0, np.cumsum(sizes[some], dtype=np.int64))
            values = self.operand.logdets(indptr, np.concatenate(sets, dtype=np.int64))
            values += self.fill * sizes[some]
            for a in np.argsort(-values, kind="stable"):
                bar = min(found.values()) if len(found) >= m else -np.inf
                if values[a] == -np.inf or values[a] < bar:
                    break
                found[tuple(sets[a].tolist())] = float(values[a])
            found = dict(sorted(found.items(), key=lambda one: (-one[1], one[0]))[:m])
            if len(found) == m:
                left = left[bound[left] >= min(found.values())]
        return found, np.bincount(sizes[these], minlength=self.items.size + 1), nearest


def keep_quotas(limits: Limits, owner: IntArray, items: IntArray, count: int) -> BoolArray:
    """Which of `count` sets, with what is included, have as many items of each group as they may and must."""
    inside, groups = limits.counts(limits.include), limits.most.size
    most, need = limits.most - inside, np.maximum(limits.need - inside, 0)
    pairs, taken = np.unique(owner * groups + limits.group[items], return_counts=True)
    where, group = np.divmod(pairs, groups)
    over = np.bincount(where, taken > most[group], count)
    met = np.bincount(where, np.minimum(taken, need[group]), count)
    return np.asarray((over == 0) & (met == need.sum()))
