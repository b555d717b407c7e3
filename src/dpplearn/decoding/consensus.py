"""Minimum Bayes risk: the set that agrees most, on average, with sets drawn from the model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from dpplearn._cached import cached_property
from dpplearn._checks import FloatArray, IntArray, Seed, check_int, check_jobs, check_rng
from dpplearn.decoding.agreement import CountUtility, best_agreement, check_utility
from dpplearn.decoding.candidates import DENSE, Candidates, Model, read_model
from dpplearn.decoding.greedy import as_selection, describe, greedy_run, in_order
from dpplearn.decoding.limits import Bound, Limits, check_budget, check_limits
from dpplearn.decoding.selection import Selection
from dpplearn.decoding.source import Source, given_limits
from dpplearn.decoding.tilt import tilted_kernel
from dpplearn.sampling import end_to_end
from dpplearn.subsets import Subsets

Utility: TypeAlias = Callable[[IntArray, IntArray], float] | ArrayLike | sparse.sparray | Sequence[tuple[float, Any]]
DRAWN = 400  # references, where they are drawn
MOST_REFERENCES = 100_000  # a table of their counts is made
EFFORT = 50  # at most so many draws for each reference asked for


@dataclass(frozen=True, eq=False, repr=False)
class ConsensusSelection(Selection):
    """The set that agrees most with sets of the model.

    Attributes
    ----------
    utility : float
        Expected agreement with a set drawn, or the mean over the references; nan where there are none.
    references : Subsets
        The samples it was compared with. Where it was compared with all sets at once, 400 of them, drawn when first
        asked for.
    """

    utility: float
    compared: Subsets | Callable[[], Subsets] = field(repr=False)

    @cached_property
    def references(self) -> Subsets:
        """The samples it was compared with, or some of all."""
        return self.compared if isinstance(self.compared, Subsets) else self.compared()

    def __getstate__(self) -> dict[str, Any]:
        """Copies and other processes get the samples, not the model that they are drawn from."""
        return super().__getstate__() | {"compared": self.references, "references": self.references}


def consensus(
    dpp: Model,
    cost: ArrayLike | None = None,
    budget: float | None = None,
    *,
    utility: Utility | None = None,
    n_samples: int | None = None,
    min_cost: float | None = None,
    max_cost: float | None = None,
    samples: Subsets | Iterable[ArrayLike] | None = None,
    k: int | None = None,
    include: ArrayLike = (),
    exclude: ArrayLike = (),
    groups: ArrayLike | None = None,
    max_per_group: Bound | None = None,
    min_per_group: Bound | None = None,
    diversity: float = 0.5,
    rng: Seed = None,
    n_jobs: int | None = None,
) -> ConsensusSelection:
    """Build the set that agrees most with the sets of the model, on average (minimum Bayes risk).

    Where many good sets differ in detail, the most probable one is an accident; the one that most others agree
    with is not. For token counts the average is over all sets at once, by the counts that the model expects
    (`dpplearn.decoding.agreement`): no seed changes it. For any other function, or where samples are asked for, it is
    over sets drawn. The search is over all sets that fit: greedy additions from as little as may be, with gains as they
    are and per cost, and from the set of `greedy_map`; then swaps, drops and additions until none helps; the best of
    the three.

    Parameters
    ----------
    dpp, cost, budget, k, include, exclude, groups, max_per_group, min_per_group, diversity
        As in `greedy_map`. A budget or k is needed.
    utility : array, list of (weight, array), or callable, optional
        How well set A agrees with set B. A token-count matrix, one row per item, dense or sparse, means the F1 of the
        clipped overlap of their summed counts a and b, 2 sum(min(a, b)) / (sum(a) + sum(b)): ROUGE-1 F, if tokens are
        words; with many sets B, 2 E sum(min(a, b)) / (sum(a) + E sum(b)). A list of weights and matrices adds several
        of them. A callable takes two sorted index arrays, neither empty, and is called for every candidate and every
        distinct reference; agreement is the mean. Default: each item is its own token.
    n_samples : int, optional
        Number of reference sets to draw and compare with. Default: none for token counts, 400 where `utility` is a
        function, `min_cost` or `max_cost` is given, or there are more than 5,000 items.
    min_cost, max_cost : float, optional
        References are drawn until n_samples cost between these, by default 0.8 and 1.2 times the budget; the
        qualities are scaled by one factor so that the mean cost of a draw is the middle of the two. Where no set
        of positive probability costs so much (few independent items), 0.8 and 1.2 times what `greedy_map` reaches.
    samples : Subsets or list of item lists, optional
        References to use instead of drawing.
    rng, n_jobs
        As in `sampled_map`; without samples they change nothing.

    Returns
    -------
    ConsensusSelection
        The set costs at most the budget, whatever the references cost. Where no reference was found, the set of
        `greedy_map`, with a reason that says so.

    Examples
    --------
    >>> from dpplearn import DPP
    >>> S = [[1, 0.9, 0.9, 0], [0.9, 1, 0.9, 0], [0.9, 0.9, 1, 0], [0, 0, 0, 1]]
    >>> dpp = DPP.from_quality([2.0, 2.0, 2.0, 0.5], S)
    >>> words = [[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 1, 0], [0, 0, 0, 1]]  # item 2 says what 0 and 1 say
    >>> consensus(dpp, k=1, utility=words, rng=0).subset
    array([2])
    """
    candidates = read_model(dpp, diversity)
    limits = check_limits(candidates.n, cost, budget, k, include, exclude, groups, max_per_group, min_per_group)
    if not limits.bounded:
        raise ValueError("consensus needs a budget or a size limit k; found neither.")
    generator, jobs = check_rng(rng), check_jobs(n_jobs)
    compare = check_utility(utility, candidates.n)
    few = candidates.n <= DENSE
    count = DRAWN if n_samples is None else check_int(n_samples, "n_samples", low=1, high=MOST_REFERENCES)
    reason, none = limits.empty_reason(), Subsets.from_lists([], candidates.n)
    if reason:
        return ConsensusSelection.nothing(reason, candidates.log_prob, np.nan, none)
    run = greedy_run(candidates, limits, -np.inf)  # where the search starts, and the answer where there is no other
    sets: Any  # to agree with: references, or the kernel K of all that may be drawn
    references: Subsets | Callable[[], Subsets]
    drawn = samples is None and limits.free.any()
    if drawn and n_samples is min_cost is max_cost is None and isinstance(compare, CountUtility) and few:
        sets, note = expected_kernel(candidates, limits)
        references = partial(draw_some, candidates, limits, int(generator.integers(2**63)), jobs)
        kind, against = "expected", "all sets of the model"
    else:
        if drawn:
            sets, note = draw_references(candidates, limits, count, min_cost, max_cost, generator, jobs)
        elif samples is None:
            sets, note = Subsets.from_lists([limits.include], candidates.n), "; nothing else may be chosen"
        else:
            sets = samples if isinstance(samples, Subsets) else Subsets.from_lists(samples, candidates.n)
            note = "" if len(sets) else "no references were given in samples"
        references, kind, against = sets, "mean", f"{len(sets)} references"
        if sets.n != candidates.n:
            raise ValueError(f"samples must be subsets of the {candidates.n} items, found subsets of {sets.n}.")
    items, value = run.items, np.nan
    if len(sets):
        items, value = best_agreement(compare.agreement(sets, limits), limits, run.items)
        reason = f"{kind} utility {value:.4g} against {against}{note}"
        note = f"no set agrees with any of {against}"
    if np.isnan(value) or value == 0.0:
        chosen = as_selection(candidates, limits, run, describe(limits, run))
        reason = f"{note}; {'this is the set of greedy_map' if len(chosen) else chosen.reason}"
    else:
        chosen = in_order(candidates, limits, np.sort(items), reason)
        if chosen.gains.min(initial=0.0) == -np.inf:
            reason += "; its own probability is 0, because some of its items are linear combinations of others"
    return ConsensusSelection.of(chosen, reason, value, references)


def expected_kernel(candidates: Candidates, limits: Limits) -> tuple[FloatArray, str]:
    """K of the items that are free, under e^s L with s such that sets cost the budget on average; and what to note."""
    dpp, rest = given_limits(candidates, limits)
    base = limits.total(limits.include)
    K = tilted_kernel(dpp, limits.cost[rest], limits.worth - base)
    spent = float(limits.cost[rest] @ K.diagonal()) + base
    short = f", which cost about {spent:.3g}: no set of positive probability costs much more"
    return K, "" if spent > 0.9 * limits.worth else short


def draw_some(candidates: Candidates, limits: Limits, seed: int, n_jobs: int) -> Subsets:
    """Some of the sets that a set was compared with."""
    return draw_references(candidates, limits, DRAWN, None, None, np.random.default_rng(seed), n_jobs)[0]


def draw_references(
    candidates: Candidates, limits: Limits, count: int, min_cost: float | None, max_cost: float | None,
    rng: np.random.Generator, n_jobs: int,
) -> tuple[Subsets, str]:  # fmt: skip
    """`count` samples of the right cost, or as many as turn up, and what to note about them."""
    low = 0.8 * limits.worth if min_cost is None else check_budget(min_cost, "min_cost")
    high = max(1.2 * limits.worth, low) if max_cost is None else check_budget(max_cost, "max_cost")
    if low > high:
        raise ValueError(f"min_cost must not be above max_cost, found {low:g} and {high:g}.")
    references, note = draw_between(candidates, limits, count, (low, high), rng, n_jobs)
    if len(references) or min_cost is not None or max_cost is not None:
        return references, note
    reached = limits.total(greedy_run(candidates, limits, -np.inf).items)
    if reached >= low:
        return references, note
    references, note = draw_between(candidates, limits, count, (0.8 * reached, 1.2 * reached), rng, n_jobs)
    if len(references):
        note = f", which cost about {reached:g}: no set of positive probability costs much more"
    return references, note


def draw_between(
    candidates: Candidates, limits: Limits, count: int, window: tuple[float, float], rng: np.random.Generator,
    n_jobs: int,
) -> tuple[Subsets, str]:  # fmt: skip
    """`count` samples in a window of costs, or as many as turn up; and what to say where none does."""
    (low, high), base = window, limits.total(limits.include)
    target = (low + high) / 2 if (low + high) / 2 > base else (base + high) / 2  # none costs less than base
    source = Source.of(candidates, limits, window, target)
    kept: list[IntArray] = []
    nearest, gap = np.nan, np.inf
    drawn, batch = 0, 2 * count
    while len(kept) < count and drawn < EFFORT * count:
        indptr, indices, totals, right = source.draw(batch, rng, n_jobs)
        away = np.maximum(low - totals, totals - high)
        for s in np.flatnonzero(right)[: count - len(kept)]:
            kept.append(np.sort(np.concatenate([source.items[indices[indptr[s] : indptr[s + 1]]], source.include])))
        if away.min() < gap:
            gap, nearest = float(away.min()), float(totals[away.argmin()])
        drawn += batch
        batch = 4 * count
    quotas = "" if limits.quota is None else " and kept the quotas of groups"
    note = (
        f"none of {drawn} samples cost between {low:g} and {high:g}{quotas}; the nearest cost {nearest:g}. "
        "Widen [min_cost, max_cost]"
    )
    return Subsets._of(*end_to_end(kept), candidates.n), "" if kept else note
