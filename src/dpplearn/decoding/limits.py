"""What a chosen set must satisfy: a budget, a size, items that must be in or out, or exclude each other, groups."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpplearn._cached import cached_property
from dpplearn._checks import FloatArray, IntArray, check_disjoint, check_int, check_subset, check_vector
from dpplearn._notebook import short_repr
from dpplearn.decoding.groups import Groups

SLACK = 1e-10  # of the budget: far above the rounding of any order of summation, far below any cost that counts

LONG = 100_000  # of a budget of whole costs, up to which the sums of all sets are listed

NO_GROUP = np.empty(0, np.int64)


def roomy(budget: float) -> float:
    """The largest sum of costs that counts as within the budget: decimals such as 0.1 + 0.2 are not 0.3 in binary."""
    return budget * (1.0 + SLACK)


def at_least(cost: float) -> float:
    """The smallest sum of costs that counts as reaching this one."""
    return cost * (1.0 - SLACK)


def fits(total: Any, budget: float) -> Any:
    """Whether a sum of costs, or each of many, is within the budget, up to its rounding.

    >>> fits(0.1 + 0.2, 0.3), fits(0.31, 0.3)
    (True, False)
    """
    return total <= roomy(budget)


def reaches(total: Any, least: float) -> Any:
    """Whether a sum of costs, or each of many, is at least this much, up to its rounding."""
    return total >= at_least(least)


@dataclass(frozen=True, eq=False)
class Limits:
    """cost(Y) <= budget, |Y| <= k, include in Y, exclude not in Y, at most one item of each number in exclusive."""

    __repr__ = short_repr

    cost: FloatArray
    budget: float
    k: int
    include: IntArray
    exclude: IntArray
    bounded: bool  # whether a budget or a size was given at all
    cheapest: float  # smallest cost of all
    exclusive: IntArray | None = None  # (n,) from 0; those with the number of an item to include are excluded
    groups: Groups | None = None

    @cached_property
    def alive(self) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """1 for each candidate."""
        alive = np.ones(self.cost.size, np.uint8)
        for items in (self.include, self.exclude):
            if items.size:
                alive[items] = 0
        return alive

    @cached_property
    def equal(self) -> bool:
        """Whether all items cost the same, so that cost cannot change an order."""
        return bool(self.cost.max() == self.cheapest)

    @property
    def room(self) -> float:
        """What sums of costs are compared with, in every decoder: the budget, and a little for rounding."""
        return roomy(self.budget)

    @property
    def worth(self) -> float:
        """What a full set costs: the budget, or as many items as may be beside those to include, at their mean cost."""
        free = self.cost[self.alive == 1]
        more = min(self.k - self.include.size, free.size)
        return min(self.budget, self.total(self.include) + (more * float(free.mean()) if free.size else 0.0))

    def total(self, subset: IntArray) -> float:
        """Cost of a set; of one that fits, never above the budget by rounding."""
        cost = self.cheapest * subset.size if self.equal else float(self.cost[subset].sum())
        return min(cost, self.budget) if fits(cost, self.budget) else cost

    def fits(self, subset: IntArray) -> bool:
        """Whether a set is within the budget and the size, and no two of its items exclude each other."""
        return subset.size <= self.k and bool(fits(self.cost[subset].sum(), self.budget)) and not self.clash(subset)

    def may_cost(self, low: float, high: float) -> bool:
        """Whether whole costs of some items add up to what is from low to high; yes, where they are not whole or large.

        The sums of all sets are the bits of one number: a further item leaves them, and sets them its cost further on.
        """
        whole = np.rint(self.cost)
        base = self.total(self.include)
        least, most = math.ceil(at_least(low) - base), math.floor(min(roomy(high), float(whole.sum())) - base)
        if most > LONG or (whole != self.cost).any():
            return True
        sums, mask = 1, (1 << max(most + 1, 0)) - 1
        for cost in whole[(self.alive == 1) & (whole <= most)].astype(int).tolist():
            sums |= sums << cost & mask
        return (sums & mask) >> max(least, 0) != 0

    @property
    def group(self) -> IntArray:
        """The number in `exclusive` of each item; empty where there are none."""
        return NO_GROUP if self.exclusive is None else self.exclusive

    def clash(self, subset: IntArray) -> bool:
        """Whether two items of a set exclude each other."""
        return self.exclusive is not None and np.unique(self.exclusive[subset]).size < subset.size

    def empty_reason(self) -> str:
        """Why nothing can be chosen; empty where something can."""
        if self.k == 0:
            return "the size limit k is 0"
        if self.exclude.size == 0 and fits(self.cheapest, self.budget):
            return ""
        if not self.alive.any():
            return "no candidates: every item is excluded" if not self.include.size else ""
        cheapest = float(self.cost[self.alive == 1].min())
        if self.include.size == 0 and not fits(cheapest, self.budget):
            return f"the budget of {self.budget:g} is below the cheapest candidate, which costs {cheapest:g}"
        return ""


def check_limits(
    n: int, cost: ArrayLike | None, budget: float | None, k: int | None, include: ArrayLike, exclude: ArrayLike,
    exclusive: ArrayLike | None = None,
) -> Limits:  # fmt: skip
    """Positive costs, a budget and a size that the items to include fit in, none of which excludes another."""
    if cost is None:
        costs, cheapest = np.ones(n), 1.0
    else:
        costs = check_vector(cost, "cost", n)
        cheapest = float(costs.min())
        if cheapest <= 0.0:
            i = int(costs.argmin())
            raise ValueError(
                f"cost must be positive, but cost[{i}] is {costs[i]:g}. "
                "For an item that is free, give it a small cost or name it in include."
            )
    limit = check_budget(budget)
    size = n if k is None else min(check_int(k, "k"), n)
    A, B = check_subset(include, n, "include"), check_subset(exclude, n, "exclude")
    if A.size and B.size:
        check_disjoint(A, B, n)
    if A.size and not fits(costs[A].sum(), limit):
        raise ValueError(
            f"include must fit the budget, but its items cost {costs[A].sum():g} and the budget is {limit:g}. "
            "Raise the budget or include less."
        )
    if A.size > size:
        raise ValueError(f"include must fit the size limit, but names {A.size} items and k is {size}.")
    group = check_exclusive(exclusive, n, A)
    if group is not None and A.size:
        B = np.union1d(B, np.setdiff1d(np.flatnonzero(np.isin(group, group[A])), A))
    limits = Limits(costs, limit, size, A, B, limit < np.inf or k is not None, cheapest, group)
    if cost is None:
        limits.__dict__["equal"] = True  # known without a look at them
    return limits


def check_exclusive(exclusive: ArrayLike | None, n: int, include: IntArray) -> IntArray | None:
    """A number for each item, counted from 0; None where there are none, or all differ."""
    if exclusive is None:
        return None
    given = np.asarray(exclusive)
    if given.shape != (n,) or given.dtype.kind not in "iu":
        raise ValueError(
            f"exclusive must be an integer for each of the {n} items, the same for those that exclude each other; "
            f"found shape {given.shape} of {given.dtype}."
        )
    names, group = np.unique(given, return_inverse=True)
    if names.size == n:
        return None
    repeated = np.flatnonzero(np.bincount(group[include], minlength=1) > 1)
    if repeated.size:
        both = include[group[include] == repeated[0]]
        raise ValueError(
            f"include must hold no two items that exclude each other, but {both[0]} and {both[1]} both have the "
            f"number {names[repeated[0]]} in exclusive. Include one of them."
        )
    return np.asarray(group.ravel(), np.int64)


def check_number(x: Any, name: str) -> float:
    """A real number, which text and truth values are not."""
    if isinstance(x, np.ndarray) and x.ndim == 0:
        x = x.item()
    if isinstance(x, bool | np.bool_) or not isinstance(x, Real):
        raise TypeError(f"{name} must be a number, found {x!r:.60}.")
    return float(x)


def check_budget(budget: Any, name: str = "budget") -> float:
    """A number that is not negative; None means no limit."""
    if budget is None:
        return np.inf
    value = check_number(budget, name)
    if not value >= 0.0:
        raise ValueError(f"{name} must be a number that is not negative, found {value}.")
    return value


def check_share(share: Any) -> float:
    """A number between 0 and 1."""
    value = check_number(share, "share")
    if not 0.0 < value < 1.0:
        raise ValueError(f"share must be a number between 0 and 1, found {value}.")
    return value
