"""The most probable set within limits, with a proof: branch and bound for few items."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from dpplearn._checks import IntArray, count_of
from dpplearn._linalg import logdet, schur_complement
from dpplearn._precision import rounding
from dpplearn.decoding.candidates import Candidates, Model, read_model
from dpplearn.decoding.greedy import greedy_run, in_order
from dpplearn.decoding.limits import Bound, Limits, check_budget, check_limits
from dpplearn.decoding.local import improve
from dpplearn.decoding.selection import Selection
from dpplearn.decoding.tilt import fill_tilt
from dpplearn.process import impossible

WORK_AT_ONCE = 30_000_000  # entries touched between two looks at the clock: some ten milliseconds


@dataclass(frozen=True, eq=False, repr=False)
class ExactSelection(Selection):
    """The best set found, and how much better another could be.

    Attributes
    ----------
    gap : float
        No set within the limits has a higher log-probability by more than `gap` (at the given diversity; above 0.5 with
        s |Y| added, see `dpplearn.decoding.tilt.fill_tilt`). It is 0 if the search is complete.
    optimal : bool
        Whether the search is complete.
    nodes : int
        Number of sets searched.
    """

    gap: float
    optimal: bool
    nodes: int


def exact_map(
    dpp: Model,
    cost: ArrayLike | None = None,
    budget: float | None = None,
    *,
    k: int | None = None,
    include: ArrayLike = (),
    exclude: ArrayLike = (),
    groups: ArrayLike | None = None,
    max_per_group: Bound | None = None,
    min_per_group: Bound | None = None,
    diversity: float = 0.5,
    time_limit: float | None = 60.0,
) -> ExactSelection:
    """The most probable set whose cost is at most the budget, equation (20), by branch and bound.

    At a node where Y is chosen, the other items have the conditional kernel R, the Schur complement of L_Y. A set Z of
    them adds log det R_Z, at most the sum of log R_ii (Hadamard), which we bound by a knapsack with fractions of items.
    Items with R_ii <= 1 leave, because they cannot raise the probability. The search starts from the set of
    `greedy_map`, improved by `local_search`, and is for up to about 60 items and sets of 8.

    Parameters
    ----------
    dpp, cost, budget, k, include, exclude, groups, max_per_group, diversity
        As in `greedy_map`, but `min_per_group` is refused. Above diversity 0.5 a set is to fill budget or k: see
        `dpplearn.decoding.tilt.fill_tilt`.
    time_limit : float, optional
        Seconds; None for no limit. When the time is over, the best set so far is returned with its gap.

    Returns
    -------
    ExactSelection
        May be the empty set: if all qualities are below 1, it is the most probable one up to diversity 0.5.

    Examples
    --------
    >>> from dpplearn import DPP
    >>> found = exact_map(DPP([[3.0, 2.9, 0.0], [2.9, 4.0, 0.0], [0.0, 0.0, 2.0]]), cost=[1, 3, 1], budget=3)
    >>> found.sorted_subset, found.optimal, found.gap
    (array([0, 2]), True, 0.0)
    """
    candidates = read_model(dpp, diversity)
    limits = check_limits(candidates.n, cost, budget, k, include, exclude, groups, max_per_group, min_per_group)
    return exact_choice(candidates, limits, time_limit)


def exact_choice(candidates: Candidates, limits: Limits, time_limit: float | None = 60.0) -> ExactSelection:
    """`exact_map` for candidates and limits that are already checked."""
    if limits.need.any():
        advice = 'Use greedy_map or local_search (the decoders "greedy" and "local"), or name items in include.'
        raise ValueError(f"exact_map has no min_per_group: it takes only items that raise the probability. {advice}")
    seconds = check_budget(time_limit, "time_limit")
    if reason := limits.empty_reason():
        return ExactSelection.nothing(reason, candidates.log_prob, 0.0, True, 0)
    end = time.perf_counter() + seconds
    aim = replace(candidates, tilt=fill_tilt(candidates, limits))
    start, _ = improve(aim, limits, np.sort(greedy_run(aim, limits, 1.0).items), 0.0, end)
    Y, gap, nodes = branch_and_bound(aim, limits, start, end)
    looked = f"{count_of(nodes, 'set', 'sets')} looked at" if nodes else "no other set can be better"
    done = f"optimal: {looked}" if gap == 0.0 else f"time limit: within {gap:.3g} of the optimum"
    return ExactSelection.of(in_order(candidates, limits, Y, done), done, gap, gap == 0.0, nodes)


def branch_and_bound(
    candidates: Candidates, limits: Limits, start: IntArray, end: float
) -> tuple[IntArray, float, int]:
    """Best set, gap and number of nodes, starting from a feasible set and until the clock shows `end`."""
    from dpplearn.decoding._loops import WORTH_A_LOOK, Nodes, knapsack_bound, open_node, search

    rest = np.flatnonzero(limits.free)
    base = logdet(candidates.L[np.ix_(limits.include, limits.include)])
    if base == -np.inf:
        raise impossible(include=limits.include)
    kernel = schur_complement(candidates.L, rest, limits.include)
    costs = limits.cost[rest]
    left, slots = limits.room - float(limits.cost[limits.include].sum()), limits.k - limits.include.size
    n = rest.size
    if n == 0:
        return start, 0.0, 0
    # no set has more items; the search subtracts costs in another order, so leave room for its rounding
    most = int(np.searchsorted(np.cumsum(np.sort(costs)), left + 1e-6 * min(limits.budget, 1e300), side="right"))
    depths = min(slots, most, n) + 1
    e, gain, log_gain = (np.empty((depths, n)) for _ in range(3))
    ids, density = (np.empty((depths, n), np.int64) for _ in range(2))
    path, sizes, child, open_slots = (np.zeros(depths, np.int64) for _ in range(4))
    noise, free = rounding(depths) * candidates.diag[rest], limits.most - limits.counts(limits.include)
    branch = (path, e, gain, ids, log_gain, density, sizes, child, np.zeros(depths), open_slots, np.zeros(depths))
    nodes = Nodes(kernel, costs, noise, limits.group[rest], free, *branch)
    nodes.gain[0], nodes.ids[0], nodes.sizes[0] = kernel.diagonal(), np.arange(n), n
    nodes.left[0], nodes.slots[0] = left, slots
    open_node(nodes, 0)
    first = logdet(candidates.operand.block(start))
    best, best_set = first - base, np.zeros(depths + 1, np.int64)
    depth, looked = 0, 0
    while depth >= 0 and time.perf_counter() < end:
        depth, best, opened = search(nodes, depth, best, best_set, WORK_AT_ONCE)
        looked += opened
    Y = start if best_set[0] == 0 else np.union1d(rest[best_set[1 : best_set[0] + 1]], limits.include)
    if logdet(candidates.operand.block(Y)) - first <= WORTH_A_LOOK:  # better only by rounding: a tie
        Y = start
    gap = max((nodes.value[t] + knapsack_bound(nodes, t) for t in range(depth + 1)), default=-np.inf) - best
    return Y, float(gap) if gap > WORTH_A_LOOK else 0.0, looked
