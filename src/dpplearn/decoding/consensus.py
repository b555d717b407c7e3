"""Minimum Bayes risk decoding: the set that agrees most, on average, with the sets of the model.

Let a be the token counts of a set, and N those of a set drawn from the model. Their agreement is an expected F1,

    2 sum over t of E min(a_t, N_t) / (sum of a_t + sum of E N_t),      E min(a, N) = sum over j <= a of P(N >= j).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from dpplearn._checks import FloatArray, IntArray, check_array
from dpplearn._holders import as_csr
from dpplearn._run.stop import check_stop
from dpplearn.decoding.agreement import Agreement, Counts
from dpplearn.decoding.candidates import Candidates, Model, read_model
from dpplearn.decoding.greedy import as_selection, greedy_run, in_order
from dpplearn.decoding.limits import BoolArray, Bound, Limits, check_limits
from dpplearn.decoding.sampled import given_limits
from dpplearn.decoding.selection import Selection
from dpplearn.decoding.tilt import tilted_kernel

Utility: TypeAlias = ArrayLike | sparse.sparray | Sequence[tuple[float, Any]]
PASSES = 100  # most rounds of swaps; a few are enough
LEAST_RISE = 1e-9  # a swap or a drop must raise the agreement by more


@dataclass(frozen=True, eq=False, repr=False)
class ConsensusSelection(Selection):
    """The set that agrees most with sets of the model.

    Attributes
    ----------
    utility : float
        Expected agreement with a set of the model; nan if nothing can be chosen.
    """

    utility: float


def consensus(
    dpp: Model,
    cost: ArrayLike | None = None,
    budget: float | None = None,
    *,
    utility: Utility | None = None,
    k: int | None = None,
    include: ArrayLike = (),
    exclude: ArrayLike = (),
    groups: ArrayLike | None = None,
    max_per_group: Bound | None = None,
    min_per_group: Bound | None = None,
    diversity: float = 0.5,
) -> ConsensusSelection:
    """Build the set that agrees most with the sets of the model, on average (minimum Bayes risk).

    If many good sets differ in detail, which of them is the most probable is an accident, but the one that agrees most
    with the others is not. The average over all sets comes from the token counts that the model expects, without
    drawing. All qualities are scaled by one factor so that sets cost the budget on average. The search adds items
    greedily, from the smallest set allowed (with gains as they are, and per cost) and from the set of `greedy_map`;
    swaps, drops and adds items until nothing helps; and returns the best of the three sets.

    Parameters
    ----------
    dpp, cost, budget, k, include, exclude, groups, max_per_group, min_per_group, diversity
        As in `greedy_map`. A budget or k is needed.
    utility : array, or list of (weight, array), optional
        How well set A agrees with set B. A token-count matrix, one row per item, dense or sparse, means the F1 of the
        clipped overlap of their summed counts a and b, 2 sum(min(a, b)) / (sum(a) + sum(b)): ROUGE-1 F, if tokens are
        words; with many sets B, 2 E sum(min(a, b)) / (sum(a) + E sum(b)). A list of weights and matrices adds several
        of them. Default: each item is its own token.

    Returns
    -------
    ConsensusSelection
        The set of `greedy_map`, with a reason that says so, if no set agrees with any other.

    Examples
    --------
    >>> from dpplearn import DPP
    >>> S = [[1, 0.9, 0.9, 0], [0.9, 1, 0.9, 0], [0.9, 0.9, 1, 0], [0, 0, 0, 1]]
    >>> dpp = DPP.from_quality([2.0, 2.0, 2.0, 0.5], S)
    >>> words = [[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 1, 0], [0, 0, 0, 1]]  # item 2 says what 0 and 1 say
    >>> consensus(dpp, k=1, utility=words).subset
    array([2])
    """
    candidates = read_model(dpp, diversity)
    limits = check_limits(candidates.n, cost, budget, k, include, exclude, groups, max_per_group, min_per_group)
    return consensus_choice(candidates, limits, utility)


def consensus_choice(candidates: Candidates, limits: Limits, utility: Utility | None = None) -> ConsensusSelection:
    """`consensus` for candidates and limits that are already checked."""
    if not limits.bounded:
        raise ValueError("consensus needs a budget or a size limit k; found neither.")
    counts, reason = check_utility(utility, candidates.n), limits.empty_reason()
    if reason:
        return ConsensusSelection.nothing(reason, candidates.log_prob, np.nan)
    candidates.check_few()
    note = ""
    if limits.free.any():
        dpp, rest = given_limits(candidates, limits)
        K = tilted_kernel(dpp, limits.cost[rest], limits.worth - limits.total(limits.include))
        spent = float(limits.cost[rest] @ K.diagonal()) + limits.total(limits.include)
        if spent <= 0.9 * limits.worth:
            note = f", which cost about {spent:.3g}: no set of positive probability costs much more"
    else:
        K, note = np.empty((0, 0)), "; nothing else may be chosen"
    run = greedy_run(candidates, limits, -np.inf)  # a start of the search, and the answer if no set agrees
    items, value = best_agreement(counts, K, limits, run.items)
    if value == 0.0:
        chosen = as_selection(candidates, limits, run)
        why = "this is the set of greedy_map" if len(chosen) else chosen.reason
        reason = f"no set agrees with any set of the model; {why}"
    else:
        chosen = in_order(candidates, limits, np.sort(items), "")
        reason = f"expected utility {value:.4g} against all sets of the model{note}"
        if chosen.gains.min(initial=0.0) == -np.inf:
            reason += "; its own probability is 0, because some of its items are linear combinations of others"
    return ConsensusSelection.of(chosen, reason, value)


def best_agreement(counts: Counts, K: FloatArray, limits: Limits, start: IntArray) -> tuple[IntArray, float]:
    """The best set of three searches: from the smallest set allowed, without and with costs, and from `start`."""
    agreement = Agreement.of(counts, K, limits)
    least = [limits.include]
    if (lacks := limits.need - limits.counts(limits.include)).any():  # add the cheapest items that groups must have
        order = np.argsort(limits.cost, kind="stable")
        order = order[limits.alive[order]]
        least += [order[limits.group[order] == c][: lacks[c]] for c in np.flatnonzero(lacks > 0)]
    base, equal, cost = np.concatenate(least), np.ones(limits.cost.size), limits.relative_cost
    starts = [(base, equal), (start, equal)] if limits.equal else [(base, equal), (base, cost), (start, equal)]
    return max((search_from(agreement, limits, *pair) for pair in starts), key=lambda run: round(run[1], 12))


def search_from(agreement: Agreement, limits: Limits, start: IntArray, price: FloatArray) -> tuple[IntArray, float]:
    """Add to `start` the items that raise agreement most for their price; then swap, drop and add while that helps."""

    def add(items: IntArray, price: FloatArray, least: float = 0.0) -> tuple[IntArray, float]:
        """Add items, the best first, while that helps; the set and its agreement."""
        while True:
            i, reached, now = agreement.best_addition(items, joining(limits, items), price)
            if i < 0 or reached <= now + least:
                return items, now
            items = np.append(items, i)

    items, value = add(start.astype(np.int64), price)
    equal = np.ones(limits.cost.size)
    for _ in range(PASSES):
        check_stop()
        before, a = value, limits.include.size
        while a < items.size:
            others, j = np.delete(items, a), items[a]
            free = joining(limits, others)
            free[j] = False
            i, reached, without = agreement.best_addition(others, free, equal)
            if i >= 0 and reached > value + LEAST_RISE:
                items[a], value = i, reached
            elif without > value + LEAST_RISE and not limits.owed(others):
                items[a] = items[-1]
                items, value = items[:-1], without
                continue
            a += 1
        items, value = add(items, equal, LEAST_RISE)
        if value <= before + LEAST_RISE:
            break
    return items, value


def joining(limits: Limits, items: IntArray) -> BoolArray:
    """Which items may join a set; if some groups still need items, only items of these."""
    free = limits.free & (limits.cost <= limits.room - limits.cost[items].sum()) & (items.size < limits.k)
    free[items] = False
    counts = limits.counts(items)
    lacks = counts < limits.need
    return np.asarray(free & (lacks if lacks.any() else counts < limits.most)[limits.group])


def check_utility(utility: Any, n: int) -> Counts:
    """Token counts with one row per item, of several kinds, each with its weight."""
    if utility is None:
        return [(1.0, sparse.eye_array(n, format="csr"))]
    pairs = [(1.0, utility)]
    if isinstance(utility, list | tuple) and utility and all(is_weighted(pair) for pair in utility):
        pairs = list(utility)
    weights = [float(w) for w, _ in pairs]
    if not all(np.isfinite(w) and w >= 0.0 for w in weights) or sum(weights) <= 0.0:
        raise ValueError(f"utility must have weights that are not negative and not all 0, found {weights}.")
    return [(w, check_counts(C, n)) for w, (_, C) in zip(weights, pairs, strict=True)]


def is_weighted(pair: Any) -> bool:
    """Whether this is a weight with a matrix, and not a row of a matrix."""
    if not (isinstance(pair, tuple) and len(pair) == 2 and np.ndim(pair[0]) == 0):
        return False
    return sparse.issparse(pair[1]) or np.ndim(pair[1]) == 2


def check_counts(C: Any, n: int) -> Any:
    """A csr_array of counts, none negative, with n rows."""
    counts = as_csr(C if sparse.issparse(C) else sparse.csr_array(check_array(C, "utility", 2)), "utility")
    counts = counts.astype(np.float64, copy=False)
    if counts.shape[0] != n:
        raise ValueError(f"utility must have one row of token counts per item ({n}), found {counts.shape[0]}.")
    if not np.isfinite(counts.data).all() or (counts.data < 0).any():
        raise ValueError("utility must hold token counts: finite numbers that are not negative.")
    return counts
