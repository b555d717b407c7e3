"""Sets that can be read by themselves: no sentence leans on one that is left out.

A sentence that leans (`dpplearn.summarize.text.leaning`) is *loose* in a set without the sentence before it. A set with
loose sentences is chosen again without them or, with context, together with what they lean on. Each time one
sentence at least is out or in for good, so that this ends, as a rule after one or two rounds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from dpplearn._checks import FloatArray, IntArray
from dpplearn.decoding.limits import fits
from dpplearn.summarize.model.choice import Choice
from dpplearn.summarize.model.prepared import Prepared
from dpplearn.summarize.model.split_cluster import SplitCluster
from dpplearn.summarize.model.worth import Mask, Worth
from dpplearn.summarize.text.units import Unit, limit

Pick: TypeAlias = Callable[[Mask, IntArray], Choice]  # from what is allowed, with what must be in
Brings: TypeAlias = Callable[[IntArray, IntArray, IntArray], bool]  # a chain into a set, beside what must be in
SHORTEST = 0.8  # of the length that a set with loose sentences has, below which they are put up with


def loose(read: SplitCluster, subset: IntArray) -> IntArray:
    """Those of a set that lean on a sentence which is not in it."""
    return subset[read.leaning[subset] & ~np.isin(read.before[subset], subset)]


def leaned_on(read: SplitCluster, i: int) -> IntArray:
    """A sentence and those before it, back to one that does not lean; empty where the candidates have no such one."""
    found = [i]
    while read.leaning[found[-1]]:
        found.append(int(read.before[found[-1]]))
        if found[-1] < 0:
            return np.empty(0, np.int64)
    return np.array(found[::-1], np.int64)


def as_likely(p: FloatArray, cost: FloatArray, bound: float) -> Brings:
    """Whether a chain fits, and is for its words as likely in a summary as the rest of the set is for theirs.

    p are probabilities of sentences in a summary of the length; what the chain displaces is a part of the rest.
    """

    def mean(items: IntArray) -> float:
        return float(cost[items] @ p[items] / cost[items].sum()) if items.size else 0.0

    def brings(chain: IntArray, subset: IntArray, inside: IntArray) -> bool:
        rest = np.setdiff1d(subset, chain)
        return bool(fits(cost[np.union1d(inside, chain)].sum(), bound) and mean(chain) >= mean(rest))

    return brings


def choose_standing(
    pick: Pick, read: SplitCluster, allowed: Mask, pinned: IntArray, cost: FloatArray, brings: Brings | None = None
) -> Choice:
    """A choice without loose sentences, but for those that must be in; where there is one.

    With `brings`, a loose sentence comes with what it leans on where that says so. Without it, loose sentences stay
    where a set without them would be much shorter, or in sentences shorter at all: the text has too few others.
    """
    start = choice = pick(allowed, pinned)
    may, allowed, inside = allowed, allowed.copy(), pinned
    while (found := np.setdiff1d(loose(read, choice.subset), pinned)).size:
        for i in found.tolist() if brings is not None else ():
            chain = leaned_on(read, i)
            if brings is not None and chain.size and allowed[chain].all() and brings(chain, choice.subset, inside):
                inside = np.union1d(inside, chain)
        beside = np.union1d(choice.subset, inside)
        allowed &= ~read.leaning | np.isin(read.before, beside) | np.isin(np.arange(len(read)), inside)
        choice = pick(allowed, inside) if allowed.any() else start
        enough = SHORTEST if np.ptp(cost) else 1.0
        if choice is start or not choice.subset.size:
            return start
        if brings is None and cost[choice.subset].sum() < enough * cost[start.subset].sum():
            return start
    return choice._replace(leaning=np.flatnonzero(may & ~allowed))


def readable(
    pick: Pick, ready: Prepared, budget: float, unit: Unit, allowed: Mask, pinned: IntArray, diversity: float,
    with_context: bool, *, as_is: bool = False,
) -> Choice:  # fmt: skip
    """A choice that can be read by itself; with `as_is`, what the decoder finds, unless context is asked for."""
    if as_is and not with_context:
        return pick(allowed, pinned)
    cost, bound = ready.read.costs(unit), limit(budget, unit)
    brings = None
    if with_context:
        worth = Worth.of(ready.kernel(diversity), cost, bound, pinned, np.flatnonzero(~allowed))
        brings = as_likely(worth.given(np.empty(0, np.int64)), cost, bound)
    return choose_standing(pick, ready.read, allowed, pinned, cost, brings)
