"""What diversify is asked for, and the choice among items that were read: here, or of one part of the data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from dpplearn._checks import FloatArray, IntArray
from dpplearn._loops.records import DEPENDENT, NO_GAIN, NO_ROOM, QUOTA
from dpplearn.decoding.candidates import Candidates, Directed, as_unit, check_nugget
from dpplearn.decoding.diversity import check_diversity
from dpplearn.decoding.embeddings import WIDEST
from dpplearn.decoding.fewer import told_if_fewer
from dpplearn.decoding.given import Earlier, prior, read_earlier, read_given
from dpplearn.decoding.greedy import EVERY, as_selection, greedy_auto
from dpplearn.decoding.groups import Bound, Groups, read_groups
from dpplearn.decoding.lazy import Prior
from dpplearn.decoding.limits import Limits, check_limits, check_share
from dpplearn.decoding.nearby import (
    NearCandidates,
    check_dense,
    check_kernel_name,
    find_bandwidth,
    sample,
)
from dpplearn.decoding.neighbours import check_index, needs_index
from dpplearn.decoding.owed import cheapest_owed
from dpplearn.decoding.registry import decoder, normal_name
from dpplearn.decoding.selection import Known, Selection
from dpplearn.decoding.skipped import DiverseSelection

HIGHEST = 300.0  # of |log q|, to which scores of too large a scale are brought down: q^2 is a float
NUGGET = 1e-6  # of its own, for each item, where fewer than k are independent: so little that the first are the same


class Asked(NamedTuple):
    """What is asked for, whatever the items; `diversify` says what each means."""

    k: int | str | None
    budget: float | None
    diversity: float
    method: str
    scale: float
    nugget: float | None
    share: float
    max_per_group: Bound | None
    min_per_group: Bound | None
    options: dict[str, Any]
    kernel: str = "linear"
    bandwidth: float | None = None

    @property
    def auto(self) -> bool:
        return isinstance(self.k, str)

    @property
    def size(self) -> int | None:
        return None if isinstance(self.k, str) else self.k


class Each(NamedTuple):
    """What is asked of each item."""

    cost: Any = None
    include: Any = ()
    exclude: Any = ()
    groups: Any = None


def check_asked(asked: Asked) -> Asked:
    """The same, with its numbers and names as they are to be; or what is wrong with them."""
    if asked.auto and asked.k != "auto":
        raise ValueError(f'k must be a whole number or "auto", found {asked.k!r}.')
    strength = float(asked.scale)
    if not 0.0 <= strength < np.inf:
        raise ValueError(f"scale must be a number that is not negative, found {asked.scale!r}.")
    if asked.nugget is not None:
        check_nugget(asked.nugget)
    if asked.kernel != "linear" or asked.bandwidth is not None:
        check_kernel_name(asked.kernel, asked.bandwidth)
    d, method = check_diversity(asked.diversity), normal_name(asked.method, "method")
    if d is asked.diversity and method is asked.method:
        return asked
    return asked._replace(diversity=d, method=method)


def qualities(z: FloatArray, asked: Asked) -> FloatArray:
    """q_i = sqrt(2) exp(min(1/2, 1 - d) scale z_i), in place of the standardized scores."""
    z *= factor_of(z, float(asked.scale), asked.diversity)
    q = np.exp(z, out=z)
    q *= 2.0**0.5
    return q


def factor_of(z: Any, strength: float, diversity: float) -> float:
    """What standardized scores are multiplied by: log q, but for the constant."""
    factor = strength * min(0.5, 1.0 - diversity)
    if factor * WIDEST <= HIGHEST or len(z) == 0:
        return factor
    return min(factor, HIGHEST / max(1.0, float(abs(z).max())))


def choose(directed: Directed, asked: Asked, each: Each, given: Any = None) -> DiverseSelection:
    """The choice among items of known quality; `given` may be a Prior that was made before."""
    d, size, q = asked.diversity, asked.size, directed.q
    own = 0.0 if asked.nugget is None else float(asked.nugget)
    parameters = {"scale": asked.scale, "method": asked.method, "nugget": own}
    if q.size == 0:
        limits = Limits(q, np.inf, 0, np.empty(0, np.int64), np.empty(0, np.int64), True, 0.0)
        nothing = Directed(np.empty((0, 1)), q, q)
        return DiverseSelection.nothing("no candidates", Known(0.0), d, parameters, limits, nothing)
    if asked.kernel != "linear":
        return choose_near(directed, asked, each, given)
    knob, exclude = min(d, 0.5), each.exclude  # above 1/2 the knob is in q, else in S
    candidates = Candidates(directed, knob, nugget=own, distinct=own > 0.0 and d >= 0.5)
    if given is not None:
        if asked.nugget is None:
            candidates = with_nugget(candidates)
        if not isinstance(given, Prior):
            rows, lengths, known = read_given(given, directed)
            exclude = np.union1d(exclude, known) if np.size(exclude) else known
            given = prior(rows, lengths, share_of_similarity(candidates))
        candidates = replace(candidates, prior=given)
    limits = limits_of(q.size, asked, each, exclude)
    if asked.method == "greedy" and not asked.options:
        fallible = asked.nugget is None and given is None and size is not None and d >= 0.5  # below 1/2 S is regular
        more = fallible and limits.k - directed.rows.shape[1]  # than there are directions
        if more > 0 and more > np.count_nonzero(directed.lengths == 0.0):
            candidates, fallible = with_nugget(candidates), False
        share = check_share(asked.share) if asked.auto else None
        found, candidates = greedy(candidates, limits, share, fallible)
        plain = asked.nugget is None and candidates.nugget == 0.0 and d >= 0.5
        found, candidates = with_owed(found, candidates, limits, share, with_nugget if plain else None)
        parameters["nugget"] = candidates.nugget
    elif asked.auto or limits.groups is not None or given is not None:
        what = 'k="auto"' if asked.auto else "groups" if limits.groups is not None else "given"
        raise ValueError(
            f'{what} is for method="greedy" without other options, found {asked.method!r}, {sorted(asked.options)}.'
        )
    else:
        call = {"k": size, "include": each.include, "exclude": exclude, "diversity": knob}
        found = decoder(asked.method)(candidates, each.cost, asked.budget, **call, **asked.options)
        if size is not None:

            def further(Y: IntArray) -> int:
                from_it = replace(limits, include=np.sort(Y))
                return len(greedy(candidates, from_it, None, asked.nugget is None and d >= 0.5)[0])

            found = told_if_fewer(found, limits, asked.method, further)
    return DiverseSelection.of(found, found.reason, d, parameters, limits, directed)


def choose_near(directed: Directed, asked: Asked, each: Each, given: Any) -> DiverseSelection:
    """The choice under a kernel of near items."""
    if asked.method != "greedy":
        raise ValueError(f'kernel="{asked.kernel}" is for method="greedy", found {asked.method!r}.')
    unknown = sorted(set(asked.options) - {"index"})
    if unknown:
        raise TypeError(f'kernel="{asked.kernel}" takes the option index, found {unknown[0]!r}.')
    check_dense(directed.rows, asked.kernel)
    index = check_index(asked.options.get("index"))
    exclude = each.exclude
    if given is not None and not isinstance(given, Earlier):
        given, known = read_earlier(given, directed)
        exclude = np.union1d(exclude, known) if np.size(exclude) else known
    limits = limits_of(directed.q.size, asked, each, exclude)
    bandwidth = asked.bandwidth
    if bandwidth is None:
        some, others = (as_unit(directed.rows[part], directed.lengths[part]) for part in sample(directed.q.size))
        bandwidth = find_bandwidth(some, others, expected_size(asked, limits))
    own = NUGGET if not asked.nugget else float(asked.nugget)
    earlier = None if given is None else given.rows
    near = NearCandidates(directed, min(asked.diversity, 0.5), nugget=own, kernel=asked.kernel, bandwidth=bandwidth,
                          earlier=earlier, index=index)  # fmt: skip
    share = check_share(asked.share) if asked.auto else None
    found, _ = greedy(near, limits, share, False)
    found, _ = with_owed(found, near, limits, share)
    parameters = {"scale": asked.scale, "method": asked.method, "nugget": own}
    parameters |= {"kernel": asked.kernel, "bandwidth": bandwidth}
    parameters |= {"neighbours": "index" if index and needs_index(earlier, limits.k) else "exact"}
    return DiverseSelection.of(found, found.reason, asked.diversity, parameters, limits, directed)


def expected_size(asked: Asked, limits: Limits) -> int:
    """About how many items will be chosen, for the bandwidth."""
    if asked.size is not None:
        return limits.k
    if limits.budget < np.inf:
        return max(1, int(np.searchsorted(np.cumsum(np.sort(limits.cost)), limits.room)))
    return int(np.sqrt(limits.cost.size))


def limits_of(n: int, asked: Asked, each: Each, exclude: Any) -> Limits:
    """What the chosen set must satisfy, groups and all."""
    limits = check_limits(n, each.cost, asked.budget, asked.size, each.include, exclude)
    if each.groups is None and asked.max_per_group is None and asked.min_per_group is None:
        return limits
    return replace(limits, groups=check_groups(each.groups, asked.max_per_group, asked.min_per_group, limits))


def share_of_similarity(candidates: Candidates) -> float:
    """What similarities are multiplied by: 2 d below 1/2, and 1 - nugget."""
    return min(1.0, 2.0 * candidates.diversity) * (1.0 - candidates.nugget)


def check_groups(groups: Any, most: Bound | None, least: Bound | None, limits: Limits) -> Groups:
    """Groups with their limits, in a call that says how many items there are to be."""
    if groups is None:
        raise ValueError("max_per_group and min_per_group need groups, the group of each item (--group FIELD).")
    if least is not None and not limits.bounded:
        raise ValueError("min_per_group needs k or a budget: without, items are taken only while they add something.")
    return read_groups(groups, most, least, limits)


def with_nugget(candidates: Candidates) -> Candidates:
    """The same items, each with a little of its own; those that repeat another come last."""
    return replace(candidates, nugget=NUGGET, distinct=candidates.diversity >= 0.5)


def with_owed(
    found: Selection, candidates: Candidates, limits: Limits, share: float | None = None,
    more: Callable[[Candidates], Candidates] | None = None,
) -> tuple[Selection, Candidates]:  # fmt: skip
    """What was chosen, and after it what is still owed to groups, be it below the share or, after `more`, the rank.

    Where that is not possible, because others have used up the rank, the choice begins with what is owed.
    """
    short = limits.groups.owed(found.subset) if limits.groups else 0
    if not short:
        return found, candidates
    again = candidates if more is None else more(candidates)
    fixed = replace(limits, include=found.subset, k=len(found) + short)
    filled, again = greedy(again, fixed, None, False)
    if limits.groups is not None and limits.groups.owed(filled.subset):
        first = cheapest_owed(candidates.directed, limits)
        begun = replace(limits, include=np.concatenate([limits.include, first]))
        filled, again = greedy(candidates, begun, share, False)
        reason = f"{filled.reason}; {first.size} for min_per_group were chosen first"
        return Selection.of(filled, reason), again
    reason = f"{found.reason}; then {short} for min_per_group"
    return Selection.of(filled, reason), again


def greedy(candidates: Candidates, limits: Limits, share: float | None, fallible: bool) -> tuple[Selection, Candidates]:
    """greedy_map with its defaults, on inputs that were checked before: for few items that is most of the time.

    With `share`, until no gain is above that share of the largest. Where it is `fallible` and fewer items than asked
    for are independent, once more with a nugget.
    """
    reason = limits.empty_reason()
    if reason:
        return Selection.nothing(reason, candidates.log_prob), candidates
    floor = -np.inf if limits.bounded else 1.0
    if share is not None:
        floor = share * float(candidates.diag.max())
    run = greedy_auto(candidates, limits, None, floor)
    short = limits.groups.unmet(run.items) if limits.groups else []
    if fallible and (run.end == DEPENDENT or short):
        return greedy(with_nugget(candidates), limits, share, False)
    found = as_selection(candidates, limits, run)
    reason = found.reason
    if share is not None and run.end == NO_GAIN:
        reason = f"every other candidate would add less than {share:g} of what the first added"
    elif share is not None and reason == EVERY:
        reason += f"; a larger share than {share:g} takes fewer"
    elif share is not None and run.end in (NO_ROOM, QUOTA):
        reason += f" and would add {share:g} of what the first added"
    return Selection.of(found, reason) if reason is not found.reason else found, candidates
