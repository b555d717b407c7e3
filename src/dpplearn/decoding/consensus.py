"""Minimum Bayes risk: the set that agrees most, on average, with sets drawn from the model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from dpplearn._cached import cached_property
from dpplearn._checks import IntArray, Seed, check_int, check_jobs, check_rng
from dpplearn.decoding.agreement import CountUtility, check_utility
from dpplearn.decoding.candidates import DENSE, Candidates, Model, read_model
from dpplearn.decoding.greedy import as_selection, gains_in_order, greedy_auto
from dpplearn.decoding.limits import Limits, check_budget, check_limits
from dpplearn.decoding.sampled import Source
from dpplearn.decoding.selection import Selection
from dpplearn.decoding.tilt import tilted_kernel
from dpplearn.process import remaining
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
    exclusive: ArrayLike | None = None,
    diversity: float = 0.5,
    rng: Seed = None,
    n_jobs: int | None = None,
) -> ConsensusSelection:
    """Build the set that agrees most with the sets of the model, on average (minimum Bayes risk).

    Where many good sets differ in detail, the most probable one is an accident; the one that most others agree
    with is not. For token counts the average is over all sets at once, by the counts that the model expects
    (`dpplearn.decoding.expected`): no seed changes it. For any other function, or where samples are asked for, it is
    over sets drawn. The search is over all sets that fit: greedy additions from nothing, with gains as they are and
    per cost, and from the set of `greedy_map`, or the sample that agrees most with the others; then swaps, additions
    and drops until none helps; the best of the three.

    Parameters
    ----------
    dpp, cost, budget, k, include, exclude, exclusive, diversity
        As in `greedy_map`. A budget or k is needed.
    utility : array, list of (weight, array), or callable, optional
        How well set A agrees with set B. A token-count matrix, one row per item, dense or sparse, means the F1 of the
        clipped overlap of their summed counts a and b, 2 sum(min(a, b)) / (sum(a) + sum(b)): ROUGE-1 F, if tokens are
        words; over all sets at once, of their expectations. A list of weights and matrices adds several of them. A
        callable takes two sorted index arrays, neither empty, and is called for every candidate and every distinct
        reference. Default: each item is its own token.
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
    limits = check_limits(candidates.n, cost, budget, k, include, exclude, exclusive)
    if not limits.bounded:
        raise ValueError("consensus needs a budget or a size limit k; found neither.")
    generator, jobs = check_rng(rng), check_jobs(n_jobs)
    agreement = check_utility(utility, candidates.n)
    reason = limits.empty_reason()
    references, note = Subsets.from_lists([], candidates.n), ""
    if reason:
        return ConsensusSelection.nothing(reason, candidates.log_prob, np.nan, references)
    if not limits.alive.any():
        greedy_auto(candidates, limits, None, -np.inf)  # an error where include has probability 0
        references, note = Subsets.from_lists([limits.include], candidates.n), "; include and exclude name every item"
    if samples is not None:
        references = samples if isinstance(samples, Subsets) else Subsets.from_lists(samples, candidates.n)
        note = "" if len(references) else "no references were given in samples"
        if references.n != candidates.n:
            raise ValueError(f"samples must be subsets of the {candidates.n} items, found subsets of {references.n}.")
    elif limits.alive.any():
        if n_samples is not None:
            n_samples = check_int(n_samples, "n_samples", low=1, high=MOST_REFERENCES)
        elif isinstance(agreement, CountUtility) and min_cost is max_cost is None and candidates.n <= DENSE:
            return expected(candidates, limits, agreement, generator, jobs)
        references, note = draw_references(candidates, limits, n_samples or DRAWN, min_cost, max_cost, generator, jobs)
    if len(references) == 0:
        return as_greedy(candidates, limits, references, np.nan, note)
    items, value = agreement.maximize(limits, references)
    if items.size == 0:
        return as_greedy(candidates, limits, references, 0.0, f"no set agrees with any of {len(references)} references")
    reason = f"mean utility {value:.4g} against {len(references)} references{note}"
    gains = gains_in_order(candidates, items)
    return ConsensusSelection(items, limits.total(items), gains, reason, candidates.log_prob, value, references)


def expected(
    candidates: Candidates, limits: Limits, agreement: CountUtility, rng: np.random.Generator, n_jobs: int
) -> ConsensusSelection:
    """The set that agrees most with what is drawn from e^s L, with s such that it costs the budget on average."""
    start = greedy_auto(candidates, limits, None, -np.inf).items
    dpp, rest = (
        candidates.given(limits.include, limits.exclude),
        remaining(candidates.n, limits.include, limits.exclude),
    )
    cost, base, target = limits.cost[rest], limits.total(limits.include), limits.worth
    K = tilted_kernel(dpp, cost, target - base)
    spent = float(cost @ K.diagonal()) + base
    seed = int(rng.integers(2**63))

    def draw() -> Subsets:
        return draw_references(candidates, limits, DRAWN, None, None, np.random.default_rng(seed), n_jobs)[0]

    some = spent > base or limits.include.size > 0
    items, value = agreement.expect(limits, K, rest, start) if some else (limits.include, 0.0)
    if items.size == 0:
        return as_greedy(candidates, limits, draw, 0.0, "no set agrees with any that may be drawn")
    note = (
        ""
        if spent > 0.9 * target
        else f", which cost about {spent:.3g}: no set of positive probability costs much more"
    )
    reason = f"expected utility {value:.4g} against all sets of the model{note}"
    return ConsensusSelection(
        items, limits.total(items), gains_in_order(candidates, items), reason, candidates.log_prob, value, draw
    )


def draw_references(
    candidates: Candidates, limits: Limits, count: int, min_cost: float | None, max_cost: float | None,
    rng: np.random.Generator, n_jobs: int,
) -> tuple[Subsets, str]:  # fmt: skip
    """`count` samples of the right cost, or as many as turn up, and what there is to say about them."""
    budget = limits.worth
    low = 0.8 * budget if min_cost is None else check_budget(min_cost, "min_cost")
    high = max(1.2 * budget, low) if max_cost is None else check_budget(max_cost, "max_cost")
    if low > high:
        raise ValueError(f"min_cost must not be above max_cost, found {low:g} and {high:g}.")
    references, note = draw_between(candidates, limits, count, low, high, rng, n_jobs)
    if len(references) or min_cost is not None or max_cost is not None:
        return references, note
    reached = limits.total(greedy_auto(candidates, limits, None, -np.inf).items)
    if reached >= low:
        return references, note
    references, again = draw_between(candidates, limits, count, 0.8 * reached, 1.2 * reached, rng, n_jobs)
    if not len(references):
        return references, again
    return references, f", which cost about {reached:g}: no set of positive probability costs much more"


def draw_between(
    candidates: Candidates, limits: Limits, count: int, low: float, high: float, rng: np.random.Generator, n_jobs: int
) -> tuple[Subsets, str]:
    """`count` samples that cost between low and high, or as many as turn up; and what to say where none does."""
    base, target = limits.total(limits.include), (low + high) / 2
    source = Source.of(candidates, limits, target if target > base else (base + high) / 2)  # none costs less than base
    kept: list[IntArray] = []
    nearest, gap = np.nan, np.inf
    drawn, batch = 0, 2 * count
    while len(kept) < count and drawn < EFFORT * count:
        indptr, indices, totals, right = source.draw(batch, low, high, rng, n_jobs)
        away = np.maximum(low - totals, totals - high)
        for s in np.flatnonzero(right)[: count - len(kept)]:
            kept.append(np.sort(np.concatenate([source.items[indices[indptr[s] : indptr[s + 1]]], source.include])))
        if away.min() < gap:
            gap, nearest = float(away.min()), float(totals[away.argmin()])
        drawn += batch
        batch = 4 * count
    note = (
        f"none of {drawn} samples cost between {low:g} and {high:g}; the nearest cost {nearest:g}. "
        "Widen [min_cost, max_cost]"
    )
    return Subsets._of(*end_to_end(kept), candidates.n), "" if kept else note


def as_greedy(
    candidates: Candidates, limits: Limits, references: Subsets | Callable[[], Subsets], value: float, why: str
) -> ConsensusSelection:
    """What `greedy_map` chooses, where there is nothing to agree with."""
    found = as_selection(candidates, limits, greedy_auto(candidates, limits, None, -np.inf))
    reason = f"{why}; {'this is the set of greedy_map' if len(found) else found.reason}"
    return ConsensusSelection.of(found, reason, value, references)
