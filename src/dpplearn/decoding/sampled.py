"""The brute force of the paper: draws many sets, and returns the most probable of those within the limits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from dpplearn._checks import IntArray, Seed, check_int, check_jobs, check_rng
from dpplearn._linalg import safe_log
from dpplearn._run.progress import Progress, showing
from dpplearn.decoding.candidates import Candidates, Model, read_model
from dpplearn.decoding.greedy import in_order
from dpplearn.decoding.limits import SLACK, BoolArray, Bound, Limits, check_budget, check_limits, reaches
from dpplearn.decoding.selection import Selection
from dpplearn.decoding.tilt import fill_tilt, find_tilt, tilted
from dpplearn.dpp import DPP
from dpplearn.lowrank import LowRankDPP
from dpplearn.process import remaining
from dpplearn.sampling import Array
from dpplearn.sampling.spectral import draw_blocks, make_tables, settled, with_alias


@dataclass(frozen=True, eq=False, repr=False)
class SampledSelection(Selection):
    """The most probable feasible sample, and how many were feasible.

    Attributes
    ----------
    n_samples, n_feasible : int
        Samples drawn, and feasible samples: their cost is from min_cost to the budget, and they keep all limits.
    """

    n_samples: int
    n_feasible: int


def sampled_map(
    dpp: Model,
    cost: ArrayLike | None = None,
    budget: float | None = None,
    *,
    n_samples: int = 1_000_000,
    min_cost: float | None = None,
    k: int | None = None,
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

    No sample is stored. As det L_Y is at most the product of its diagonal, most samples need no factorization.

    Parameters
    ----------
    dpp, cost, budget, k, include, exclude, groups, max_per_group, min_per_group, diversity
        As in `greedy_map`. Above diversity 0.5 a set is to fill budget or k: see `dpplearn.decoding.tilt.fill_tilt`.
    n_samples : int
        How many sets to draw.
    min_cost : float, optional
        Lowest cost of a set; default 0, which allows the empty one.
    tilt : bool
        Draw from e^s L instead of L, with s such that the expected cost, the sum of K_ii cost_i, is the budget, or the
        middle between `min_cost` and the budget. So samples have the right cost for any budget. They are ranked by L.
    rng : int, numpy.random.Generator or None
        The same seed gives the same result, whatever `n_jobs`.
    n_jobs : int, optional
        Threads; every core by default.
    progress : bool
        Whether to show a bar, on a terminal or in a notebook.

    Returns
    -------
    SampledSelection
        If no sample is feasible, `n_feasible` is 0, `reason` says what to change, and the set is that of the items to
        include, or empty if these alone are not feasible.

    Examples
    --------
    >>> from dpplearn import DPP
    >>> dpp = DPP([[3.0, 2.9, 0.0], [2.9, 4.0, 0.0], [0.0, 0.0, 2.0]])
    >>> chosen = sampled_map(dpp, cost=[1, 2, 1], budget=3, n_samples=1000, rng=0)
    >>> chosen.sorted_subset, chosen.n_feasible > 0
    (array([1, 2]), True)
    >>> sampled_map(dpp, cost=[1, 2, 1], budget=9, min_cost=7, n_samples=1000, rng=0).reason
    'none of 1000 samples cost between 7 and 9. Pass tilt=True, or widen the window'
    """
    candidates = read_model(dpp, diversity)
    limits = check_limits(candidates.n, cost, budget, k, include, exclude, groups, max_per_group, min_per_group)
    return sampled_choice(candidates, limits, n_samples, min_cost, tilt, rng, n_jobs, progress)


def sampled_choice(
    candidates: Candidates,
    limits: Limits,
    n_samples: int = 1_000_000,
    min_cost: float | None = None,
    tilt: bool = False,
    rng: Seed = None,
    n_jobs: int | None = None,
    progress: bool | Progress = False,
) -> SampledSelection:
    """`sampled_map` for candidates and limits that are already checked."""
    low = 0.0 if min_cost is None else check_budget(min_cost, "min_cost")
    if low > limits.budget:
        raise ValueError(f"min_cost must not be above the budget, found {low:g} and {limits.budget:g}.")
    if not isinstance(tilt, bool | np.bool_):
        raise TypeError(f"tilt must be True or False, found {tilt!r:.60}.")
    n_samples = check_int(n_samples, "n_samples", low=1)
    generator, jobs = check_rng(rng), check_jobs(n_jobs)
    if (reason := limits.empty_reason()) and low == 0.0:
        return SampledSelection.nothing(reason, candidates.log_prob, 0, 0)
    include, feasible = limits.include, 0
    best: IntArray | None = None
    if limits.free.any():
        least = max(low, limits.total(include))  # no feasible set costs less
        target = limits.full_cost if low == 0.0 else (least + max(limits.full_cost, least)) / 2
        sampler = Sampler(candidates, limits, low, target if tilt else None)
        with showing(progress, "Sampling"):
            best, feasible = sampler.best(n_samples, generator, jobs)
        reason = f"{feasible} of {n_samples} samples were feasible"
        if feasible and best is None:
            reason += ", but all have probability 0 to rounding"
        elif best is None:
            quotas = " and kept the quotas of groups" if limits.names else ""
            most = f" with at most {limits.k} items" if limits.sized else ""
            advice = "Widen the window, or use greedy_map" if tilt else "Pass tilt=True, or widen the window"
            reason = f"none of {n_samples} samples cost between {low:g} and {limits.budget:g}{most}{quotas}. {advice}"
    else:
        n_samples, reason = 0, "nothing may be chosen beside what is included"
    if best is None and include.size and limits.meets(include) and reaches(limits.total(include), low):
        best, reason = include, f"{reason}: the items to include, alone"
    elif best is None:
        return SampledSelection.nothing(reason, candidates.log_prob, n_samples, feasible)
    reason = f"{reason}, this the most probable"
    return SampledSelection.of(in_order(candidates, limits, best, reason), reason, n_samples, feasible)


def given_limits(candidates: Candidates, limits: Limits) -> tuple[DPP | LowRankDPP, IntArray]:
    """The DPP of the items that may be chosen beside those to include, given these; and the numbers of these items."""
    rest = np.flatnonzero(limits.free)
    return candidates.conditioned(limits.include, remaining(candidates.n, limits.include, rest)), rest


class Sampler:
    """Draws sets that have the items to include and none to exclude, and keeps the most probable feasible set.

    The sets cost `target` on average, unless that is None.
    """

    def __init__(self, candidates: Candidates, limits: Limits, low: float, target: float | None) -> None:
        self.dpp, self.items = given_limits(candidates, limits)
        self.limits, self.include, self.base = limits, limits.include, limits.total(limits.include)
        self.cost, self.fill = limits.cost[self.items], fill_tilt(candidates, limits)
        if target is None:
            self.tables, self.mean = self.dpp._alias_tables, self.dpp.expected_size
        else:
            lam, V = self.dpp.eigenpairs
            p = tilted(lam, find_tilt(lam, V, self.cost, target - self.base))
            self.tables, self.mean = with_alias(make_tables(p, settled(p, V))), float(p.sum())
        self.operand = self.dpp._operand
        self.log_diag = safe_log(np.maximum(self.operand.diag, 0.0)) + 1e-12  # above the rounding of log det
        self.low, self.high = low * (1.0 - SLACK) - self.base, limits.room - self.base

    def best(self, count: int, rng: np.random.Generator, n_jobs: int) -> tuple[IntArray | None, int]:
        """The most probable of `count` sets, None if all have probability 0, and how many were feasible."""
        most = self.limits.k - self.include.size
        scored = draw_blocks(self.tables, count, rng, self.mean, n_jobs, partial(self.score, most=most), (0, most))
        least, Y, _ = min(scored)
        best = None if least == np.inf else np.union1d(self.items[np.array(Y, np.int64)], self.include)
        return best, sum(feasible for _, _, feasible in scored)

    def score(self, lengths: Array, indices: Array, most: int) -> tuple[float, tuple[int, ...], int]:
        """The least -log det of many sets of at most `most` items, its set, and how many sets were feasible.

        The sets lie end to end in `indices`; a length of -1 stands for a set that was left out.
        """
        sizes = lengths.astype(np.int64)
        feasible, sizes = (sizes >= 0) & (sizes <= most), np.maximum(sizes, 0)
        owner = np.repeat(np.arange(sizes.size), sizes)
        cost = np.bincount(owner, self.cost[indices], sizes.size)
        feasible &= (cost >= self.low) & (cost <= self.high)
        if self.limits.names:
            feasible &= keep_quotas(self.limits, owner, self.items[indices], sizes.size)
        # det L_Y <= product of its diagonal (Hadamard): most samples need no factorization
        bound = np.bincount(owner, self.log_diag[indices], sizes.size) + self.fill * sizes
        left, step, ends = np.flatnonzero(feasible), 4, np.cumsum(sizes)
        left = left[np.argsort(-bound[left], kind="stable")]
        best: tuple[float, tuple[int, ...]] = (np.inf, ())  # -log det and its set; min takes the first set of ties
        while left.size:
            some, left, step = left[:step], left[step:], 4 * step
            sets = [indices[ends[s] - sizes[s] : ends[s]] for s in some]
            indptr = np.append(0, np.cumsum(sizes[some], dtype=np.int64))
            values = self.operand.logdets(indptr, np.concatenate(sets, dtype=np.int64))
            values += self.fill * sizes[some]
            ties = np.flatnonzero(values == values.max())
            best = min(best, *((-float(values[a]), tuple(sets[a].tolist())) for a in ties))
            left = left[bound[left] >= -best[0]]
        return *best, int(feasible.sum())


def keep_quotas(limits: Limits, owner: IntArray, items: IntArray, count: int) -> BoolArray:
    """Which of `count` sets keep the quotas, together with the items to include; set owner[i] has the item items[i]."""
    inside, groups = limits.counts(limits.include), limits.most.size
    most, need = limits.most - inside, np.maximum(limits.need - inside, 0)
    pairs, taken = np.unique(owner * groups + limits.group[items], return_counts=True)
    where, group = np.divmod(pairs, groups)
    over = np.bincount(where, taken > most[group], count)
    met = np.bincount(where, np.minimum(taken, need[group]), count)
    return np.asarray((over == 0) & (met == need.sum()))
