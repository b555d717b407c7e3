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
        self._rounds, self._asked_about = [self._forms_of(subset)], 0
        self._earlier: list[IntArray] = [np.empty(0, np.int64), subset]  # all that were chosen before each round

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
        (form,) = self._forms_of(np.array([i]))
        k = 1
        while self.asks and k <= most:
            if k == len(self._rounds):
                chosen = self.decision.otherwise(self._earlier[k])
                self._rounds.append(self._forms_of(chosen))
                self._earlier.append(np.concatenate([self._earlier[k], chosen]))
            if form in self._rounds[k]:
                return tuple(self._earlier[k].tolist())
            if not self._rounds[k]:
                break
            k += 1
        return ()

    def _forms_of(self, subset: IntArray) -> frozenset[int]:
        """The sentences, or where they have shorter forms, the numbers of what they are forms of."""
        forms = self.decision.ready.read.forms
        return frozenset((subset if forms is None else forms[subset]).tolist())

    def _new(self, chosen: IntArray) -> frozenset[int]:
        return frozenset(np.setdiff1d(chosen, self.subset).tolist())
