"""Sets of fewer items than were asked for, though others would fit: what their reason says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from dpplearn._checks import IntArray
from dpplearn.decoding.limits import Limits, fits
from dpplearn.decoding.selection import Selection

Found = TypeVar("Found", bound=Selection)


def could_take(limits: Limits, subset: Any) -> bool:
    """Whether one more item is within the size, the budget and what excludes what."""
    alive = limits.alive.astype(bool)
    alive[subset] = False
    if limits.exclusive is not None:
        alive &= ~np.isin(limits.exclusive, limits.exclusive[subset])
    with_one = limits.cost[subset].sum() + limits.cost[alive]
    return subset.size < limits.k and bool(fits(with_one, limits.budget).any())


def told_if_fewer(found: Found, limits: Limits, method: str, further: Callable[[IntArray], int]) -> Found:
    """The same set; where it is smaller than `k`, and not for want of room, its reason says so and what to do.

    Only "greedy" takes as many items as it may. Others look for the best set of at most k, which may be a smaller one:
    for the most probable one, each further item has a gain below 1. `further` says how many items greedy choice has in
    the end that goes on from a set: no more, where the rank of the kernel is reached.

    Examples
    --------
    >>> from dpplearn import DPP
    >>> from dpplearn.decoding import exact_map
    >>> from dpplearn.decoding.limits import check_limits
    >>> found = exact_map(DPP([[3.0, 0.0], [0.0, 0.5]]), k=2)
    >>> told_if_fewer(found, check_limits(2, None, None, 2, (), ()), "exact", lambda _: 2).reason
    'optimal: ...; 1 of the 2 items asked for, though more would fit: "exact" prefers this set to larger ones; ...'
    """
    drew_none = getattr(found, "n_feasible", None) == 0  # then it prefers nothing, and its reason says so
    if method == "greedy" or drew_none or not could_take(limits, found.subset):
        return found
    short = f"{len(found)} of the {limits.k} items asked for"
    if np.isfinite(found.gains).all() and further(found.subset) <= len(found):
        short += ": every other is a linear combination of these, and adds nothing unless the model has a nugget"
    else:
        short += (
            f', though more would fit: "{method}" prefers this set to larger ones; "greedy" takes as many as it may'
        )
    return replace(found, reason=f"{found.reason}; {short}")
