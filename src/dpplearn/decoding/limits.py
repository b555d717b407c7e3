"""The limits of a choice, for all decoders: a budget, a size, items to include or exclude, and quotas for groups."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from enum import Enum, auto
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpplearn._cached import cached_property
from dpplearn._checks import MAX_COUNT, FloatArray, IntArray, check_disjoint, check_int, check_vector
from dpplearn._notebook import short_repr

SLACK = 1e-10  # share of the budget that is forgiven: more than the rounding of any sum, less than any real cost
LEAST_NUGGET = 1e-8  # smaller nuggets are lost in rounding

Bound = int | Mapping[Any, int]  # one number for all groups, or a number for each of some groups

NO_ITEMS = np.empty(0, np.int64)
NO_CAP, NO_NEED = np.array([MAX_COUNT]), np.array([0])  # the quotas where no groups are given, and all items are of one
BoolArray = np.ndarray[Any, np.dtype[np.bool_]]


def fits(total: Any, budget: float) -> Any:
    """Whether a total cost, or each of many, is within the budget but for rounding: in binary, 0.1 + 0.2 > 0.3.

    >>> fits(0.1 + 0.2, 0.3), fits(0.31, 0.3)
    (True, False)
    """
    return total <= budget * (1.0 + SLACK)


def reaches(total: Any, least: float) -> Any:
    """Whether a total cost, or each of many, is at least this much but for rounding."""
    return total >= least * (1.0 - SLACK)


class End(Enum):
    """Why a greedy run ended."""

    SIZE = auto()  # the size limit is reached
    ROOM = auto()  # no other item fits the budget
    QUOTA = auto()  # other items fit the budget, but their groups are full
    GAIN = auto()  # no other item gains enough
    RANK = auto()  # every other item is a linear combination of those chosen
    ALONE = auto()  # no other item gains anything by itself, in a kernel that is not symmetric
    IMPOSSIBLE = auto()  # an item to include has no gain
    EVERY = auto()  # every candidate is chosen


@dataclass(eq=False)  # not frozen, because making it would take twice as long
class Limits:
    """cost(Y) <= budget, |Y| <= k, include in Y, exclude not in Y, and of each group `need` to `most` items."""

    __repr__ = short_repr

    cost: FloatArray
    budget: float
    k: int
    include: IntArray
    exclude: IntArray
    sized: bool  # whether a size was given
    equal_costs: bool  # whether all items cost the same, so that cost cannot change an order
    names: list[Any]  # of the groups; empty if no groups were given, and then all items are of one group
    group: IntArray  # (n,) the group of each item, from 0
    most: IntArray  # (groups,)
    need: IntArray  # (groups,)

    @cached_property
    def relative_cost(self) -> FloatArray:
        """Costs in units of their mean. Gains are divided by these, so that no tie depends on the unit of cost."""
        return np.asarray(self.cost / self.cost.mean())

    @property
    def bounded(self) -> bool:
        """Whether a budget or a size was given at all."""
        return self.sized or self.budget < np.inf

    @cached_property
    def alive(self) -> BoolArray:
        """Which items are neither included nor excluded."""
        alive = np.ones(self.cost.size, np.bool_)
        alive[self.include] = alive[self.exclude] = False
        return alive

    def rest(self, subset: IntArray) -> IntArray:
        """The items that are neither in a set nor included nor excluded."""
        alive = self.alive.copy()
        alive[subset] = False
        return np.flatnonzero(alive)

    @cached_property
    def free(self) -> BoolArray:
        """Which items may be chosen beside those to include: they are alive, and their group has room."""
        return self.alive & ~self.full(self.include)

    def counts(self, subset: IntArray) -> IntArray:
        """How many items of each group a set has."""
        return np.bincount(self.group[subset], minlength=self.most.size)

    def owed(self, subset: IntArray) -> int:
        """How many items a set lacks to give every group what it must have."""
        return int(np.maximum(self.need - self.counts(subset), 0).sum()) if self.names else 0

    def full(self, subset: IntArray) -> BoolArray:
        """For each item, whether a set already has as many items of its group as it may."""
        return np.asarray((self.counts(subset) >= self.most)[self.group])

    @property
    def most_items(self) -> int:
        """An upper bound on how many items can be chosen, by size and budget."""
        if self.budget == np.inf:
            return self.k
        return min(self.k, int(np.searchsorted(np.cumsum(np.sort(self.cost)), self.room, side="right")))

    @property
    def room(self) -> float:
        """The budget, and a little for rounding; every decoder compares total costs with it."""
        return self.budget * (1.0 + SLACK)

    @property
    def full_cost(self) -> float:
        """The cost of a full set: the budget, or that of the items to include and as many more of mean cost as fit."""
        free, inside = self.cost[self.free], self.counts(self.include)
        more = np.minimum(self.most - inside, self.counts(np.flatnonzero(self.free))).sum()
        more = min(self.k - self.include.size, int(more))
        return min(self.budget, self.total(self.include) + (more * float(free.mean()) if free.size else 0.0))

    def total(self, subset: IntArray) -> float:
        """Cost of a set. Rounding never takes it above the budget if the set fits."""
        cost = float(np.add.reduce(self.cost[subset]))
        return min(cost, self.budget) if self.budget < np.inf and fits(cost, self.budget) else cost

    def meets(self, subset: IntArray) -> bool:
        """Whether a set is within the budget and the size, and has as many of each group as it may and must."""
        counts = self.counts(subset)
        within = subset.size <= self.k and fits(self.cost[subset].sum(), self.budget)
        return bool(within and (counts <= self.most).all() and (counts >= self.need).all())

    def could_take(self, subset: IntArray) -> bool:
        """Whether one more item is within all limits."""
        return subset.size < self.k and bool(Remaining(self, subset).allows(self.rest(subset)).any())

    def quota_bars(self, subset: IntArray) -> bool:
        """Whether size and budget have room for an item that the limits of its group keep out."""
        if not self.names or subset.size >= self.k:
            return False
        rest, left = self.rest(subset), Remaining(self, subset)
        return bool((left.barred(rest) & left.affords(rest)).any())

    def empty_reason(self) -> str:
        """Why nothing can be chosen; an empty text if something can."""
        if self.k == 0:
            return "the size limit k is 0" if self.cost.size else "no candidates"
        if self.include.size or (self.exclude.size == 0 and self.budget == np.inf):
            return ""
        if not self.alive.any():
            return "no candidates: every item is excluded"
        cheapest = float(self.cost[self.alive].min())
        if not fits(cheapest, self.budget):
            return f"the budget of {self.budget:g} is below the cheapest candidate, which costs {cheapest:g}"
        return ""


class Remaining:
    """The part of the limits that is left while items are chosen one after the other.

    Groups that still need items have room kept for them: the cost of their cheapest items is *pledged*, and the last
    places are theirs. So an item that is no longer allowed never becomes allowed again.
    """

    def __init__(self, limits: Limits, subset: IntArray = NO_ITEMS) -> None:
        self.limits, self.taken, self.spent, self.pledged = limits, 0, 0.0, 0.0
        if limits.names:
            self.most, self.need, self.owed = limits.most.copy(), limits.need.copy(), int(limits.need.sum())
            self.price, self.mark = np.zeros((2, self.need.size))  # per group: the pledge, and its dearest item
            self.able: list[IntArray] = []  # for each group that needs items its candidates, the cheapest first
            if self.owed and limits.budget < np.inf:
                group = limits.group
                items = np.setdiff1d(np.flatnonzero(self.need[group] > 0), limits.exclude)
                items = items[np.lexsort((limits.cost[items], group[items]))]
                self.able = np.split(items, np.searchsorted(group[items], np.arange(1, self.need.size)))
                for c in np.flatnonzero(self.need).tolist():
                    self._pledge(c)
        for j in subset.tolist():
            self.take(j)

    def barred(self, items: IntArray) -> BoolArray:
        """Which of these items may not be chosen because of their group, whatever they cost. Only with groups."""
        c = self.limits.group[items]
        barred = np.asarray(self.most[c] <= 0)
        return barred | (self.need[c] <= 0) if self.taken + self.owed >= self.limits.k else barred

    def allows(self, items: IntArray) -> BoolArray:
        """Which of these items may still be chosen."""
        within = self.affords(items)
        return within & ~self.barred(items) if self.limits.names else within

    def affords(self, items: IntArray) -> BoolArray:
        """Which of these items fit what is left of the budget."""
        price = self.limits.cost[items]
        if self.pledged:  # an item replaces the dearest one that is pledged for its group
            c = self.limits.group[items]
            price = np.where(self.need[c] > 0, np.maximum(price - self.mark[c], 0.0), price)
        return np.asarray(price <= self.limits.room - self.spent - self.pledged)

    def take(self, j: int) -> None:
        """One more item is chosen."""
        self.taken += 1
        self.spent += float(self.limits.cost[j])
        if not self.limits.names:
            return
        c = int(self.limits.group[j])
        self.most[c] -= 1
        if self.need[c] > 0:
            self.owed -= 1
            self.need[c] -= 1
            if self.able:
                self.able[c] = self.able[c][self.able[c] != j]
                self._pledge(c)

    def _pledge(self, c: int) -> None:
        """Pledge the cost of the cheapest items that would give group c what it needs."""
        prices = self.limits.cost[self.able[c][: self.need[c]]]
        self.pledged -= self.price[c]
        self.price[c], self.mark[c] = prices.sum(), prices[-1] if prices.size else 0.0
        self.pledged += self.price[c]


def why_ended(limits: Limits, items: list[int], otherwise: End) -> End:
    """Why no other candidate was chosen after these items."""
    if len(items) == limits.cost.size - limits.exclude.size:
        return End.EVERY
    if len(items) == limits.k:
        return End.SIZE
    chosen = np.array(items, np.int64)
    if limits.quota_bars(chosen):
        return End.QUOTA
    return otherwise if Remaining(limits, chosen).affords(limits.rest(chosen)).all() else End.ROOM


def check_limits(
    n: int,
    cost: ArrayLike | None = None,
    budget: float | None = None,
    k: int | None = None,
    include: ArrayLike = (),
    exclude: ArrayLike = (),
    groups: ArrayLike | None = None,
    max_per_group: Bound | None = None,
    min_per_group: Bound | None = None,
) -> Limits:
    """Limits that some set can satisfy; otherwise an error says which of them cannot be met."""
    limit = np.inf if budget is None else check_budget(budget)
    costs = np.zeros(n) + 1.0 if cost is None else check_vector(cost, "cost", n)
    if cost is not None and costs.min(initial=np.inf) <= 0.0:
        advice = "Give an item that is free a small cost, or name it in include."
        raise ValueError(f"cost must be positive, but cost[{int(costs.argmin())}] is {costs.min():g}. {advice}")
    size = n if k is None else min(k if type(k) is int and k >= 0 else check_int(k, "k", high=None), n)
    default = isinstance(include, tuple) and isinstance(exclude, tuple) and not (include or exclude)  # needs no check
    A, B = (NO_ITEMS, NO_ITEMS) if default else check_disjoint(include, exclude, n)
    if A.size and not fits(costs[A].sum(), limit):
        raise ValueError(f"include must fit the budget of {limit:g}, but its items cost {costs[A].sum():g}.")
    if A.size > size:
        raise ValueError(f"include must fit the size limit, but names {A.size} items and k is {size}.")
    if groups is None and not (max_per_group is None and min_per_group is None):
        raise ValueError("max_per_group and min_per_group need groups, the group of each item.")
    alike, sized = cost is None or bool((costs == costs[:1]).all()), k is not None
    if groups is None:
        return Limits(costs, limit, size, A, B, sized, alike, [], np.zeros(n, np.int64), NO_CAP, NO_NEED)
    names, group = read_groups(groups, n)
    quotas = read_bound(max_per_group, names, "max_per_group", n), read_bound(min_per_group, names, "min_per_group", 0)
    limits = Limits(costs, limit, size, A, B, sized, alike, names, group, *quotas)
    check_possible(limits)
    return limits


def check_possible(limits: Limits) -> None:
    """An error if a quota cannot be met together with the other limits."""
    need, most, inside = limits.need, limits.most, limits.counts(limits.include)
    if need.any() and not limits.bounded:
        raise ValueError("min_per_group needs k or a budget: without, items are taken only while they add something.")
    have = limits.counts(np.flatnonzero(limits.alive)) + inside
    for c, name in enumerate(limits.names):
        if need[c] > min(have[c], most[c]):
            may = f", of which max_per_group allows {most[c]}" if most[c] < have[c] else ""
            found = f"group {name!r} has {have[c]} candidates{may}, and {need[c]} are due"
            raise ValueError(f"min_per_group cannot be met: {found}.")
        if inside[c] > most[c]:
            found = f"names {inside[c]} items of group {name!r}, of which {most[c]} may be chosen"
            raise ValueError(f"include must be within max_per_group, but {found}.")
    size, left = int(np.maximum(need, inside).sum()), Remaining(limits, limits.include)
    if size > limits.k:
        raise ValueError(f"min_per_group cannot be met: with include it asks for {size} items, and k is {limits.k}.")
    if (price := left.spent + left.pledged) > limits.room:
        found = f"the cheapest items that would do cost {price:g}, and the budget is {limits.budget:g}"
        raise ValueError(f"min_per_group cannot be met: {found}.")


def read_groups(groups: Any, n: int) -> tuple[list[Any], IntArray]:
    """The names of the groups, and the group of each of n items: labels that Python calls equal are one group.

    >>> read_groups(["b", "a", "b"], 3)
    (['a', 'b'], array([1, 0, 1]))
    """
    if isinstance(groups, list | tuple):
        labels, shape = groups, (len(groups),)
    else:
        array = groups if np.ma.isMaskedArray(groups) else np.asarray(groups)
        array = array[:, 0] if array.shape == (n, 1) else array  # a table of one column
        labels, shape = list(array) if array.dtype.kind in "mM" and array.ndim else array.tolist(), array.shape
    if shape != (n,):
        raise ValueError(f"groups must have one label for each of the {n} items, found shape {shape}.")
    try:
        plain = dict.fromkeys(labels)
    except TypeError as error:
        raise TypeError(f"groups must be labels such as texts or numbers, found an {error}.") from None
    for label in plain:
        if label is None or type(label).__name__ == "NAType" or label != label:
            where = next(i for i, other in enumerate(labels) if other is label)
            found = f"groups[{where}] is missing ({label}). Give such items a label of their own, or leave them out"
            raise ValueError(f"groups must have a label for each item, but {found}.")
        plain[label] = as_label(label)
    names = list(dict.fromkeys(plain.values()))
    with suppress(TypeError):  # names that cannot be sorted stay in the order of the items
        names.sort()
    place = {name: c for c, name in enumerate(names)}
    return names, np.fromiter((place[plain[label]] for label in labels), np.int64, n)


def as_label(x: Any) -> Any:
    """The label in a form in which equal numbers, days and times from Python, numpy and pandas are equal."""
    if isinstance(x, np.datetime64 | np.timedelta64):
        exact = x.astype(f"{x.dtype.kind}8[us]")
        return exact.item() if exact == x else x
    if isinstance(x, date) and not isinstance(x, datetime):
        return datetime(x.year, x.month, x.day)
    return x.item() if isinstance(x, np.generic) else x


def read_bound(bound: int | Mapping[Any, int] | None, names: list[Any], what: str, default: int) -> IntArray:
    """A whole number for each group; numbers above MAX_COUNT become MAX_COUNT, which limits nothing."""
    if not isinstance(bound, Mapping):
        number = default if bound is None else check_int(bound, what, high=sys.maxsize)
        return np.full(len(names), min(number, MAX_COUNT))
    place = {name: c for c, name in enumerate(names)}
    numbers = np.full(len(names), default)
    for key, number in bound.items():
        name = as_label(key)
        if name not in place:
            shown = ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "")
            raise ValueError(f"{what} names the group {name!r}, which no item has. There are {shown}.")
        numbers[place[name]] = min(check_int(number, f"{what}[{name!r}]", high=sys.maxsize), MAX_COUNT)
    return numbers


def is_number(x: Any) -> bool:
    """Whether this is a real number; text and truth values are not."""
    return isinstance(x, Real) and not isinstance(x, bool | np.bool_)


def check_number(x: Any, name: str, low: float = -np.inf) -> float:
    """A real number; with `low` 0, one that is not negative."""
    if not is_number(x):
        raise TypeError(f"{name} must be a number, found {x!r:.60}.")
    try:
        value = float(x)
    except OverflowError:
        raise ValueError(f"{name} must be a number that a float can hold, found {len(str(x))} digits.") from None
    if low == 0.0 and not value >= 0.0:
        raise ValueError(f"{name} must be a number that is not negative, found {value}.")
    return value


def check_budget(budget: Any, name: str = "budget") -> float:
    """A number that is not negative; None means no limit."""
    return np.inf if budget is None else check_number(budget, name, 0.0)


def check_nugget(nugget: Any) -> float:
    """0, or a number from LEAST_NUGGET to 1."""
    if not (is_number(nugget) and (nugget == 0.0 or LEAST_NUGGET <= nugget <= 1.0)):
        raise ValueError(f"nugget must be 0, or a number from {LEAST_NUGGET:g} to 1 (quality alone), found {nugget!r}.")
    return float(nugget)


def check_diversity(diversity: Any) -> float:
    """A number in [0, 1]."""
    if not (is_number(diversity) and 0.0 <= diversity <= 1.0):
        raise ValueError(f"diversity must be from 0 (quality alone) to 1 (similarity alone), found {diversity!r}.")
    return float(diversity)
