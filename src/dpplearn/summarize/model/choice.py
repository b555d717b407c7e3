"""From a length to a set of sentences: a decoder among those that are worth having."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dpplearn._checks import FloatArray, IntArray
from dpplearn.decoding.limits import fits
from dpplearn.summarize.model.prepared import Prepared
from dpplearn.summarize.model.worth import Worth
from dpplearn.summarize.text.units import Unit, joined_length, measured


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
    cost: FloatArray,
    bound: float,
    allowed: npt.NDArray[np.bool_],
    pinned: IntArray,
    *,
    number: bool = False,
    fill: bool = False,
    diversity: float = 0.5,
    **options: Any,
) -> Choice:
    """The best set within the bound, of sentences that are worth having (`dpplearn.summarize.model.worth`).

    Parameters
    ----------
    number : bool
        Whether the bound is a number of sentences: there are so many then, where so many are allowed.
    fill : bool
        Whether the decoder, as it is defined, chooses among all that is allowed, like the paper's.

    The most probable sets also lose what is not worth having beside the rest, and get what is. Consensus sets do not:
    that a sentence says again what another says is in the agreement that they maximize.
    """
    given: dict[str, Any] = {"diversity": diversity, "include": pinned, **options}
    if fill and not number:
        return Choice(np.sort(ready.decode(decoder, cost, bound, exclude=~allowed, **given)))
    out = np.flatnonzero(~allowed)
    worth = Worth.of(ready.kernel(diversity), cost, bound, pinned, out)
    if number:
        subset = np.sort(ready.decode(decoder, cost, bound, exclude=out, **given))
        return Choice(worth.filled(subset, cost, bound, out, least=-1.0))
    alone = worth.given(np.empty(0, np.int64))
    good = allowed & ((alone >= worth.least) | np.isin(np.arange(ready.n), pinned))
    if fits(cost[good], bound).any():
        subset = np.sort(ready.decode(decoder, cost, bound, exclude=~good, **given))
        if decoder != "consensus":
            subset = worth.filled(worth.without_filler(subset, pinned), cost, bound, out)
    else:  # what is worth having is too long: the likeliest that is not
        subset = np.array([np.where(allowed & fits(cost, bound), alone, -1.0).argmax()])
    return Choice(subset, worth.given(subset), worth.least)


def trimmed(ready: Prepared, subset: IntArray, pinned: IntArray, budget: float, unit: Unit) -> IntArray:
    """A set without its weakest sentences, where the text is longer than their costs: in a unit that counts joints."""
    while subset.size and not fits(joined_length([ready.read.texts[i] for i in subset], unit), budget):
        loose = np.setdiff1d(subset, pinned)
        if loose.size == 0:
            raise ValueError(f"The sentences to include are longer than {measured(budget, unit)} together.")
        subset = np.setdiff1d(subset, loose[ready.dpp.quality[loose].argmin()])
    return subset
