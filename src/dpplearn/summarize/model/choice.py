"""From a length to a set of sentences: a decoder among those that are worth having."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dpplearn._checks import FloatArray, IntArray
from dpplearn._notebook import short_repr
from dpplearn.decoding.candidates import check_diversity
from dpplearn.decoding.limits import fits
from dpplearn.summarize.model.prepared import Mask, Prepared
from dpplearn.summarize.model.worth import Worth
from dpplearn.summarize.text.units import Unit, joined_length, lengths_with, limit, measured


class Choice(NamedTuple):
    """The sentences chosen; what the others were measured by, and the least of it that is worth having.

    That is their probability beside those chosen, and for a consensus beside what had to be in. Both are None where the
    budget was to be filled. Whether quality counted, and whether likeness to others did, depends on the diversity.
    `leaning` are sentences that stayed out because they lean on others; `chance` is the probability of each in a
    summary of this length that the model draws, given what must be in and out.
    """

    subset: IntArray
    likely: FloatArray | None = None
    least: float | None = None
    quality: bool = True
    likeness: bool = True
    leaning: IntArray | None = None
    chance: FloatArray | None = None

    def __repr__(self) -> str:
        return short_repr(self)


def choose(
    ready: Prepared,
    decoder: str,
    budget: float,
    unit: Unit,
    allowed: Mask,
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
    found = partial(
        Choice, quality=check_diversity(diversity) < 1.0, likeness=diversity > 0.0 or decoder == "consensus"
    )
    texts, cost, bound, out = ready.read.texts, ready.read.costs(unit), limit(budget, unit), np.flatnonzero(~allowed)
    forms = ready.read.forms
    if not (fits(cost[allowed], bound).any() or pinned.size):
        return found(pinned)
    if (unit == "sentences" or ready.read.passed) and allowed[pinned].all():
        every = best_forms(ready, allowed)  # so many are asked for; or more than a first choice kept
        if fits(joined_length([texts[i] for i in every], unit), budget):
            return found(every)

    def decoded(among: Mask) -> IntArray:
        given: dict[str, Any] = {"diversity": diversity, "overrun": overrun, "include": pinned, **options}
        subset = np.sort(ready.decode(decoder, cost, bound, exclude=~among, **given))
        return trimmed(ready, subset, pinned, budget + overrun, unit)

    def room(subset: IntArray, among: Mask) -> Mask:
        free = among & allowed
        free[subset] = False
        if forms is not None:
            free &= ~np.isin(forms, forms[subset])
        asked = np.flatnonzero(free)
        free[asked] = fits(lengths_with([texts[i] for i in subset], [texts[i] for i in asked], unit), budget)
        return np.asarray(free)

    if fill and unit != "sentences":
        return found(decoded(allowed))
    worth = Worth.of(ready.kernel(diversity), cost, bound, pinned, out, forms)
    if decoder != "consensus" or unit == "sentences":
        _ = worth.rows  # asked for below; probabilities of single sentences then come with them
    found, alone = partial(found, chance=worth.alone), worth.alone
    if unit == "sentences":
        return found(worth.filled(decoded(allowed), room, least=0.0))
    good = allowed & (alone >= worth.least)
    if pinned.size or fits(cost[good], bound).any():
        good[pinned] = True
        subset = decoded(good)
        if decoder != "consensus":
            subset = worth.filled(worth.without_filler(subset, pinned), room)
    else:  # what is worth having is too long: the likeliest that is not
        subset = trimmed(ready, np.array([np.where(room(pinned, allowed), alone, -1.0).argmax()]), pinned, budget, unit)
    return found(subset, alone if decoder == "consensus" else worth.given(subset), worth.least)


def best_forms(ready: Prepared, allowed: Mask) -> IntArray:
    """Of all that is allowed, each sentence in its best form."""
    every, forms = np.flatnonzero(allowed), ready.read.forms
    if forms is None:
        return every
    order = every[np.argsort(-ready.dpp.quality[every], kind="stable")]
    return np.sort(order[np.unique(forms[order], return_index=True)[1]])


def trimmed(ready: Prepared, subset: IntArray, pinned: IntArray, budget: float, unit: Unit) -> IntArray:
    """A set without its weakest sentences, where the text is longer than their costs: in a unit that counts joints."""
    while subset.size and not fits(joined_length([ready.read.texts[i] for i in subset], unit), budget):
        loose = np.setdiff1d(subset, pinned)
        if loose.size == 0:
            raise ValueError(f"The sentences to include are longer than {measured(budget, unit)} together.")
        subset = np.setdiff1d(subset, loose[ready.dpp.quality[loose].argmin()])
    return subset


@dataclass(frozen=True, eq=False, repr=False)
class Decision:
    """All that the choice of sentences depends on; `options` are the decoder's."""

    ready: Prepared
    decoder: str
    budget: float
    unit: Unit
    pinned: IntArray
    excluded: IntArray
    diversity: float
    order: str
    fill: bool
    options: dict[str, Any]

    def __repr__(self) -> str:
        return f"<Decision by {self.decoder} on {measured(self.budget, self.unit)} of {self.ready!r}>"

    @property
    def allowed(self) -> Mask:
        """Which sentences may be chosen."""
        return self.ready.allowed(self.pinned, self.excluded)

    def made(self) -> Choice:
        """The choice."""
        given: dict[str, Any] = {"fill": self.fill, "diversity": self.diversity, **self.options}

        def pick(allowed: Mask, pinned: IntArray) -> Choice:
            return choose(self.ready, self.decoder, self.budget, self.unit, allowed, pinned, **given)

        allowed, pinned = self.allowed, self.pinned
        if self.fill:
            return pick(allowed, pinned)
        alone = allowed & self.ready.read.alone  # what leans on a sentence before it is not chosen by itself
        alone[pinned] = allowed[pinned]
        choice = pick(alone, pinned) if alone.any() else pick(allowed, pinned)
        least = min(self.budget if self.unit == "sentences" else 1, allowed.sum())
        if choice.subset.size < least:  # nothing else is there
            return pick(allowed, choice.subset)
        return choice._replace(leaning=np.flatnonzero(allowed & ~alone))
