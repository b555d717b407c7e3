"""What a summary was asked for, so that it can be decided: once, and again as it would be otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpplearn._checks import IntArray
from dpplearn._run.blas import blas_threads
from dpplearn.summarize.model.choice import Choice, choose
from dpplearn.summarize.model.prepared import Mask, Prepared
from dpplearn.summarize.text.units import Unit, measured


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
        return self._made(self.pinned, self.excluded, self.budget)

    def otherwise(self, without: IntArray, more: float = 0.0) -> IntArray:
        """The sentences that would be chosen without some, in all their forms, or with more room; maybe none.

        Of what had to be in, those that are not there do not.
        """
        forms = self.ready.read.forms
        out = without if forms is None else np.flatnonzero(np.isin(forms, forms[without]))
        excluded = np.union1d(self.excluded, out).astype(np.int64)
        pinned = np.setdiff1d(self.pinned, out)
        if self.ready.excluded(pinned, excluded).size == self.ready.n:
            return np.empty(0, np.int64)
        with blas_threads(0):  # as the decision itself: small matrices
            return self._made(pinned, excluded, self.budget + more).subset

    def _made(self, pinned: IntArray, excluded: IntArray, budget: float) -> Choice:
        given: dict[str, Any] = {"fill": self.fill, "diversity": self.diversity, **self.options}

        def pick(allowed: Mask, pinned: IntArray) -> Choice:
            return choose(self.ready, self.decoder, budget, self.unit, allowed, pinned, **given)

        allowed = self.ready.allowed(pinned, excluded)
        if self.fill:
            return pick(allowed, pinned)
        alone = allowed & self.ready.read.alone  # what leans on a sentence before it is not chosen by itself
        alone[pinned] = allowed[pinned]
        choice = pick(alone, pinned) if alone.any() else pick(allowed, pinned)
        least = min(budget if self.unit == "sentences" else 1, allowed.sum())
        if choice.subset.size < least:  # nothing else is there
            return pick(allowed, choice.subset)
        return choice._replace(leaning=np.flatnonzero(allowed & ~alone))
