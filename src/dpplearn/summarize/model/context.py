"""Sets that open well: the first sentence of a summary leans on none that is left out, where that can be avoided.

A sentence that leans (`dpplearn.summarize.text.leaning`) is *loose* in a set without the sentence before it. A set that
opens with a loose sentence is chosen again without such ones. Each time one sentence at least is out for good, so that
this ends, as a rule after one or two rounds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from dpplearn._checks import FloatArray, IntArray
from dpplearn.summarize.model.choice import Choice
from dpplearn.summarize.model.split_cluster import SplitCluster
from dpplearn.summarize.model.worth import Mask

Pick: TypeAlias = Callable[[Mask, IntArray], Choice]  # from what is allowed, with what must be in
SHORTEST = 0.8  # of the length that a set has which opens loose, below which that is put up with


def loose(read: SplitCluster, subset: IntArray) -> IntArray:
    """Those of a set that lean on a sentence which is not in it."""
    apart = ~np.isin(read.places[subset] - 1, read.places[subset])
    return subset[apart & np.array([read.leans(i) for i in subset.tolist()], np.bool_)]


def choose_standing(
    pick: Pick, read: SplitCluster, allowed: Mask, pinned: IntArray, cost: FloatArray, place: IntArray
) -> Choice:
    """A choice that does not open with a loose sentence, where there is one that is not much shorter.

    `place` is that of each sentence in the order in which they are read. In sentences it may not be shorter at all.
    What must be in is in.
    """
    start = choice = pick(allowed, pinned)
    if np.array_equal(start.subset, np.flatnonzero(allowed)):
        return start  # there are no others
    may, allowed = allowed, allowed.copy()
    while (found := np.setdiff1d(loose(read, choice.subset), pinned)).size:
        if choice.subset[place[choice.subset].argmin()] not in found:
            break
        stand = np.setdiff1d(choice.subset, found)
        first = place < (place[stand].min() if stand.size else len(read))
        out = read.leaning_without(choice.subset, allowed & first)
        out[pinned] = False
        allowed &= ~out
        choice = pick(allowed, pinned) if allowed.any() else start
        enough = cost[start.subset].sum() * (SHORTEST if np.ptp(cost) else 1.0)
        if choice is start or not choice.subset.size or cost[choice.subset].sum() < enough:
            return start
    return choice._replace(leaning=np.flatnonzero(may & ~allowed))
