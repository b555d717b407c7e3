"""What would be decided otherwise: without a sentence, without all that come before one, or with more room."""

from __future__ import annotations

import numpy as np

from dpplearn._checks import IntArray
from dpplearn.summarize.model.decision import Decision

CHECKED = 200  # sentences up to which each reason is checked: a decision takes about the cube of their number
QUICK = ("consensus", "greedy", "local")  # decoders that are asked again; others draw many samples, or look at all sets
TRIES = 6  # rooms of another size that are looked at
ROUNDS, FAR = 4, 10  # choices in a row, each without those before; for most sentences, and for the first
FIRST = 10  # sentences that are looked for longer


class WhatIf:
    """The decision made again, each way once. Where that would take long, nothing is known: `asks` says so."""

    def __init__(self, decision: Decision, subset: IntArray) -> None:
        self.decision, self.subset = decision, subset
        self.asks = decision.ready.n <= CHECKED and decision.decoder in QUICK
        self._without: dict[tuple[int, ...], frozenset[int]] = {}
        self._with: dict[float, frozenset[int]] = {}
        self._rounds, self._asked_about = [subset], 0

    def without(self, *gone: int) -> frozenset[int]:
        """Which sentences would be chosen that are not, if these were not there."""
        if not self.asks:
            return frozenset()
        if gone not in self._without:
            self._without[gone] = self._new(self.decision.otherwise(np.array(gone)))
        return self._without[gone]

    def with_more(self, room: float) -> frozenset[int]:
        """Which would be with so much more room; after `TRIES` of different size, none is known."""
        if room not in self._with and self.asks and len(self._with) < TRIES:
            self._with[room] = self._new(self.decision.otherwise(np.empty(0, np.int64), room))
        return self._with.get(room, frozenset())

    def before(self, i: int) -> tuple[int, ...]:
        """The sentences that come before one: without them it would be chosen. None where that is not known.

        Those chosen; those that would be without these; those without both, and so on: more of them for the first that
        are asked about, which are the best ones.
        """
        self._asked_about += 1
        most = FAR if self._asked_about <= FIRST else ROUNDS
        forms, k = self.decision.ready.read.forms, 1
        while self.asks and k <= most:
            if k == len(self._rounds):
                self._rounds.append(self.decision.otherwise(np.concatenate(self._rounds)))
            chosen = self._rounds[k]
            if i in chosen if forms is None else np.isin(forms[i], forms[chosen]):
                return tuple(np.concatenate(self._rounds[:k]).tolist())
            if not chosen.size:
                break
            k += 1
        return ()

    def _new(self, chosen: IntArray) -> frozenset[int]:
        return frozenset(np.setdiff1d(chosen, self.subset).tolist())
