"""Sets that can be read by themselves: no sentence leans on one that is left out, or at least not the first.

A sentence that leans (`dpplearn.summarize.text.leaning`) is *loose* in a set without the sentence before it. A set that
opens with a loose sentence is chosen again without such ones. With context, no sentence is loose: what leans comes
together with what it leans on, or stays out. Each time one sentence at least is out or in for good, so that this
ends, as a rule after one or two rounds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from dpplearn._checks import FloatArray, IntArray
from dpplearn.decoding.limits import fits
from dpplearn.summarize.model.choice import Choice
from dpplearn.summarize.model.ordering import IMPORTANCE, in_order
from dpplearn.summarize.model.prepared import Prepared
from dpplearn.summarize.model.split_cluster import SplitCluster
from dpplearn.summarize.model.worth import Mask, Worth
from dpplearn.summarize.text.units import Unit, limit

Pick: TypeAlias = Callable[[Mask, IntArray], Choice]  # from what is allowed, with what must be in
Brings: TypeAlias = Callable[[IntArray, IntArray, IntArray], bool]  # a chain into a set, beside what must be in
SHORTEST = 0.8  # of the length that a set has which opens loose, below which that is put up with


def loose(read: SplitCluster, subset: IntArray) -> IntArray:
    """Those of a set that lean on a sentence which is not in it."""
    apart = ~np.isin(read.places[subset] - 1, read.places[subset])
    return subset[apart & np.array([read.leans(i) for i in subset.tolist()], np.bool_)]


def leaned_on(read: SplitCluster, i: int) -> IntArray:
    """A sentence and those before it, back to one that does not lean; empty where the candidates have no such one."""
    found = [i]
    while read.leans(found[-1]):
        found.append(read.before(found[-1]))
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
    pick: Pick, read: SplitCluster, allowed: Mask, pinned: IntArray, cost: FloatArray, place: IntArray,
    brings: Brings | None = None,
) -> Choice:  # fmt: skip
    """A choice that does not open with a loose sentence or, with `brings`, has none; where there is one.

    `place` is that of each sentence in the order in which they are read. With `brings`, a loose sentence comes with
    what it leans on where that says so. Without it, the sentences that would open the summary loose stay out, unless
    what is left is much shorter, or in sentences shorter at all. What must be in is in.
    """
    start = choice = pick(allowed, pinned)
    if np.array_equal(start.subset, np.flatnonzero(allowed)):
        return start  # there are no others
    may, allowed, inside = allowed, allowed.copy(), pinned
    while (found := np.setdiff1d(loose(read, choice.subset), pinned)).size:
        if brings is not None:
            out = read.leaning_without(choice.subset, allowed)
            for i in found.tolist():
                chain = leaned_on(read, i)
                if read.has_two_forms(np.union1d(inside, chain)):
                    continue
                if chain.size and allowed[chain].all() and brings(chain, choice.subset, inside):
                    inside = np.union1d(inside, chain)
            out[inside] = False
        else:
            if choice.subset[place[choice.subset].argmin()] not in found:
                break
            stand = np.setdiff1d(choice.subset, found)
            first = place < (place[stand].min() if stand.size else len(read))
            out = read.leaning_without(choice.subset, allowed & first)
        out[pinned] = False
        allowed &= ~out
        choice = pick(allowed, inside) if allowed.any() else start
        enough = cost[start.subset].sum() * (1.0 if not np.ptp(cost) else SHORTEST if brings is None else 0.0)
        if choice is start or not choice.subset.size or cost[choice.subset].sum() < enough:
            return start
    return choice._replace(leaning=np.flatnonzero(may & ~allowed))


def readable(
    pick: Pick, ready: Prepared, budget: float, unit: Unit, allowed: Mask, pinned: IntArray, diversity: float,
    order: str, with_context: bool, *, as_is: bool = False,
) -> Choice:  # fmt: skip
    """A choice that opens well or, with context, has no loose sentence; else with `as_is` what the decoder finds.

    By importance a sentence that stands comes first anyway.
    """
    if not with_context and (as_is or order == IMPORTANCE):
        return pick(allowed, pinned)
    read, cost, bound = ready.read, ready.read.costs(unit), limit(budget, unit)
    brings = None
    if with_context:
        worth = Worth.of(ready.kernel(diversity), cost, bound, pinned, np.flatnonzero(~allowed), read.forms)
        brings = as_likely(worth.alone, cost, bound)
    every = np.arange(len(read))
    place = np.argsort(every if order == IMPORTANCE else in_order(read, every, order, ready.kernel(diversity)))
    return choose_standing(pick, read, allowed, pinned, cost, place, brings)
