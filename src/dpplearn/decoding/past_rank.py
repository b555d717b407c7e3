"""Greedy choice on a device, which ends at the rank, and what comes after it: distinct items, then repeats.

Arrays have a nugget instead (`dpplearn.decoding.asked`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dpplearn._checks import IntArray
from dpplearn._loops.records import SIGNED
from dpplearn.decoding.candidates import Candidates
from dpplearn.decoding.greedy import as_selection, greedy_auto, greedy_run
from dpplearn.decoding.lazy import SAME
from dpplearn.decoding.limits import Limits, fits
from dpplearn.decoding.registry import decoder
from dpplearn.decoding.selection import Selection

FILL = 0.4995  # diversity at which every item keeps 1/1000 of its own, so that none is a combination of others


def choose(
    candidates: Candidates, limits: Limits, method: str, cost: Any, budget: float | None, k: int | None, options: Any
) -> Selection:
    """By the decoder; greedy goes on to k, where it can."""
    if method == "greedy" and not options:
        found = greedy(candidates, limits)
    else:
        found = decoder(method)(candidates, cost, budget, k=k, diversity=candidates.diversity, **options)
    if method == "greedy" and k is not None and len(found) < limits.k and limits.exclusive is None:
        found = fill(candidates, limits, found)
    return found


def greedy(candidates: Candidates, limits: Limits) -> Selection:
    """greedy_map with its defaults, on inputs that were checked before: for few items that is most of the time."""
    reason = limits.empty_reason()
    if reason:
        return Selection.nothing(reason, candidates.log_prob)
    return as_selection(candidates, limits, greedy_auto(candidates, limits, None, -np.inf if limits.bounded else 1.0))


def fill(candidates: Candidates, limits: Limits, found: Selection) -> Selection:
    """What was found, followed by items that are linear combinations of it, up to k; duplicates of others last.

    Each item keeps a little of its own (S = 0.999 S + 0.001 I), so that the rest are ranked too.
    """
    near = replace(candidates, diversity=min(candidates.diversity, FILL))
    items, cost = found.subset, limits.cost
    if limits.empty_reason():
        return found
    kinds = directions(candidates.directed)
    for distinct in (True, False):
        size = -1
        while size < items.size < limits.k:
            size = items.size
            free = limits.alive.astype(np.bool_)
            free[items] = False
            free &= fits(limits.total(items) + cost, limits.budget)
            if distinct:  # one of each direction that nothing chosen has: the best of them
                free &= ~np.isin(kinds, kinds[items])
                order = np.flatnonzero(free)[np.argsort(-candidates.diag[free], kind="stable")]
                free[:] = False
                free[order[np.unique(kinds[order], return_index=True)[1]]] = True
            if not free.any():
                break
            after = replace(limits, include=items, exclude=np.flatnonzero(~free))
            items = greedy_run(near, after, SIGNED, 0.0, -np.inf).items.copy()
    extra = items.size - found.subset.size
    if extra == 0:
        return found
    reason = f"{len(found)} items have independent embeddings; the last {extra} are linear combinations of them"
    gains = np.append(found.gains, np.full(extra, -np.inf))
    return Selection(items, limits.total(items), gains, reason, candidates.log_prob)


def directions(directed: Any) -> IntArray:
    """A number for each item: the same for two whose rows, but for rounding, have the same direction.

    By their places along two random axes. A row of zeros has a direction of its own.
    """
    axes, zero = np.random.default_rng(0).standard_normal((directed.rows.shape[1], 2)), directed.zero
    kinds = np.where(zero, np.arange(1, zero.size + 1), 0)
    for place in directed.along(axes).T:
        order = np.lexsort((place, kinds))
        new = (np.diff(kinds[order]) > 0) | (np.diff(place[order]) > SAME[directed.precision])
        kinds[order] = np.cumsum(np.append(0, new))
    return kinds
