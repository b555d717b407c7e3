"""From a length to a set of sentences: a decoder among those that are worth having."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dpplearn._checks import FloatArray, IntArray
from dpplearn.decoding.limits import fits
from dpplearn.summarize.model.prepared import Prepared
from dpplearn.summarize.model.worth import Worth
from dpplearn.summarize.text.units import Unit, joined_length, lengths_with, limit, measured


class Choice(NamedTuple):
    """The sentences chosen; the probability of each other one beside them, and the least that is worth having.

    Both are None where the budget was to be filled.
    """

    subset: IntArray
    likely: FloatArray | None = None
    least: float | None = None


def choose(
    ready: Prepared,
    decoder: str,
    budget: float,
    unit: Unit,
    allowed: npt.NDArray[np.bool_],
    pinned: IntArray,
    *,
    fill: bool = False,
    diversity: float = 0.5,
    overrun: float = 0.0,
    **options: Any,
) -> Choice:
    """The best set within the budget, of sentences that are worth having (`dpplearn.summarize.model.worth`).

    With `fill`, the decoder chooses among all that is allowed, as it is defined. Else the most probable sets also lose
    what is not worth having beside the rest, and get what is. Consensus sets do not: that a sentence says again what
    another says is in the agreement that they maximize. In sentences the budget is a number, and there are so
    many, where so many are allowed. Empty where none fits.
    """
    cost, bound, out = ready.read.costs(unit), limit(budget, unit), np.flatnonzero(~allowed)
    if not (fits(cost[allowed], bound).any() or pinned.size):
        return Choice(pinned)

    def decoded(among: npt.NDArray[np.bool_]) -> IntArray:
        given: dict[str, Any] = {"diversity": diversity, "overrun": overrun, "include": pinned, **options}
        found = np.sort(ready.decode(decoder, cost, bound, exclude=~among, **given))
        return trimmed(ready, found, pinned, budget + overrun, unit)

    def room(subset: IntArray) -> npt.NDArray[np.bool_]:
        texts = ready.read.texts
        inside = allowed & fits(lengths_with([texts[i] for i in subset], texts, unit), budget)
        inside[subset] = False
        return np.asarray(inside)

    if fill and unit != "sentences":
        return Choice(decoded(allowed))
    worth = Worth.of(ready.kernel(diversity), cost, bound, pinned, out)
    if unit == "sentences":
        return Choice(worth.filled(decoded(allowed), room, least=0.0))
    alone = worth.given(pinned)
    good = allowed & (alone >= worth.least)
    if pinned.size or fits(cost[good], bound).any():
        good[pinned] = True
        subset = decoded(good)
        if decoder != "consensus":
            subset = worth.filled(worth.without_filler(subset, pinned), room)
    else:  # what is worth having is too long: the likeliest that is not
        subset = trimmed(ready, np.array([np.where(room(pinned), alone, -1.0).argmax()]), pinned, budget, unit)
    return Choice(subset, worth.given(subset), worth.least)


def trimmed(ready: Prepared, subset: IntArray, pinned: IntArray, budget: float, unit: Unit) -> IntArray:
    """A set without its weakest sentences, where the text is longer than their costs: in a unit that counts joints."""
    while subset.size and not fits(joined_length([ready.read.texts[i] for i in subset], unit), budget):
        loose = np.setdiff1d(subset, pinned)
        if loose.size == 0:
            raise ValueError(f"The sentences to include are longer than {measured(budget, unit)} together.")
        subset = np.setdiff1d(subset, loose[ready.dpp.quality[loose].argmin()])
    return subset
