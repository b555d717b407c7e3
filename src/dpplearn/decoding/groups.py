"""Groups of items (sources, classes, languages), and how many of each may and must be chosen."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpplearn._checks import MANY, FloatArray, IntArray, check_int
from dpplearn._loops.records import Quota

Bound = int | Mapping[Any, int]
"""One number for all groups, or one for each of some."""


@dataclass(frozen=True, eq=False)
class Groups:
    """The names of the groups, and their limits as the loop of `_loops/lazy.py` reads them."""

    names: list[Any]
    quota: Quota

    def counts(self, subset: IntArray) -> IntArray:
        """How many items of each group a set has."""
        return np.bincount(self.quota.group[subset], minlength=len(self.names))

    def unmet(self, subset: IntArray) -> list[Any]:
        """The groups of which a set has too few."""
        return [self.names[c] for c in np.flatnonzero(self.counts(subset) < self.quota.need)]

    def owed(self, subset: IntArray) -> int:
        """How many items a set lacks."""
        return int(np.maximum(self.quota.need - self.counts(subset), 0).sum())

    def full(self, subset: IntArray) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """For each item, whether a set has all that its group may have."""
        return np.asarray((self.counts(subset) >= self.quota.most)[self.quota.group])


def read_groups(groups: ArrayLike, max_per_group: Bound | None, min_per_group: Bound | None, limits: Any) -> Groups:
    """Groups with limits that can be met within those of the whole set; else which cannot."""
    labels = np.asarray(groups)
    n = limits.cost.size
    if labels.shape != (n,):
        raise ValueError(
            f"groups must have one label for each of the {n} items, found shape {labels.shape}. "
            "Pass a list or an array as long as scores."
        )
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        row = int(np.flatnonzero(np.isnan(labels))[0])
        raise ValueError(f"groups must have a label for each item, but groups[{row}] is missing (nan).")
    try:
        found, group = np.unique(labels, return_inverse=True)
    except TypeError:
        raise TypeError("groups must be labels of one kind, such as texts or numbers, and none missing.") from None
    names = found.tolist()
    most = read_bound(max_per_group, names, "max_per_group", n)
    need = read_bound(min_per_group, names, "min_per_group", 0)
    candidates = limits.alive.astype(np.bool_)
    candidates[limits.include] = True
    order = np.lexsort((limits.cost, group))
    order = order[candidates[order]]
    starts = np.searchsorted(group[order], np.arange(len(names) + 1))
    quota = Quota(group.astype(np.int64), most, need, np.zeros(len(names)), order, starts)
    check_possible(Groups(names, quota), limits)
    return Groups(names, quota)


def read_bound(bound: Bound | None, names: list[Any], what: str, default: int) -> IntArray:
    """A number for each group."""
    if bound is None:
        return np.full(len(names), default)
    if not isinstance(bound, Mapping):
        return np.full(len(names), check_bound(bound, what))
    unknown = [name for name in bound if name not in set(names)]
    if unknown:
        shown = ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "")
        raise ValueError(f"{what} names the group {unknown[0]!r}, which no item has. There are {shown}.")
    return np.array([check_bound(bound.get(name, default), f"{what}[{name!r}]") for name in names])


def check_bound(bound: Any, what: str) -> int:
    """A whole number, of which more than any group can have is as good as none."""
    return min(check_int(bound, what, high=sys.maxsize), MANY)


def check_possible(groups: Groups, limits: Any) -> None:
    """An error that says which limit cannot be met."""
    names, quota = groups.names, groups.quota
    have, inside = np.diff(quota.starts), groups.counts(limits.include)
    for c, name in enumerate(names):
        if quota.need[c] > quota.most[c]:
            raise ValueError(
                f"min_per_group must not exceed max_per_group, but for group {name!r} they are {quota.need[c]} "
                f"and {quota.most[c]}."
            )
        if quota.need[c] > have[c]:
            raise ValueError(
                f"min_per_group cannot be met: group {name!r} has {have[c]} candidates, and {quota.need[c]} are "
                "asked for."
            )
        if inside[c] > quota.most[c]:
            raise ValueError(
                f"include must be within max_per_group, but names {inside[c]} items of group {name!r}, of which "
                f"{quota.most[c]} may be chosen."
            )
    size = int(np.maximum(quota.need, inside).sum())
    if size > limits.k:
        raise ValueError(
            f"min_per_group cannot be met: with what must be included it asks for {size} items, and k is {limits.k}."
        )
    cost = least_cost(groups, limits.cost, limits.include)
    if cost > limits.room:
        raise ValueError(
            f"min_per_group cannot be met: the cheapest items that would do cost {cost:g}, and the budget is "
            f"{limits.budget:g}."
        )


def least_cost(groups: Groups, cost: FloatArray, include: IntArray) -> float:
    """What the items to include cost, with the cheapest others that meet what is asked for."""
    quota, inside = groups.quota, groups.counts(include)
    total = float(cost[include].sum())
    for c in np.flatnonzero(quota.need > inside):
        others = np.setdiff1d(quota.order[quota.starts[c] : quota.starts[c + 1]], include)
        total += float(np.sort(cost[others])[: quota.need[c] - inside[c]].sum())
    return total
