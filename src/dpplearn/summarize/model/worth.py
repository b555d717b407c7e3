"""What is worth having in a summary of a given length: a budget is a limit, not a duty.

Let R be a summary drawn from e^s L, with s such that R costs the budget on average: one of the model's own summaries
of that length. Sentence i is in R with probability K_ii, and given that the sentences Y are in it, with

    p_i = P(i in R | Y in R) = K_ii - K_iY K_Y^-1 K_Yi,

which is near 0 where Y says already what i says. If a summary agrees with R by F (of what both cost on average, the
share that they have in common), then one more sentence, in R with probability p, raises F where p is above F / 2, and
lowers it where it is below: its words cost more than they are likely to be worth. Two summaries that the model draws
agree by

    F = sum of c_i K_ii^2 / sum of c_i K_ii,     and     i is worth having   where   p_i >= F / 2.

A rule, not a theorem: F is theirs and not that of Y, and p_i takes what was chosen for right, so that repetition
counts. A model that is sure of its choice (F near 1) asks for sentences that are rather in than out; one that finds all
sentences alike excludes none. No other number enters, so that the rule is the same for a page and for a shelf of books.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from dpplearn._cached import cached_property
from dpplearn._checks import FloatArray, IntArray
from dpplearn.decoding.candidates import Candidates
from dpplearn.decoding.tilt import find_tilt, tilted, tilted_marginals
from dpplearn.process import remaining
from dpplearn.summarize.model.prepared import Mask

Room: TypeAlias = Callable[[IntArray, Mask], Mask]
JITTER = 1e-10  # added to K's diagonal: about what a sentence that depends on the others keeps of its probability


@dataclass(frozen=True, eq=False, repr=False)
class Worth:
    """The model's own summaries of one length, given what must be in and out; `room` is what is left for the others.

    `forms` says which sentence each is a form of: a form is as likely as its sentence is in any form.
    """

    model: Candidates
    cost: FloatArray
    room: float
    pinned: IntArray
    out: IntArray
    forms: IntArray | None = None

    @classmethod
    def of(
        cls, model: Candidates, cost: FloatArray, bound: float, pinned: IntArray, out: IntArray,
        forms: IntArray | None = None,
    ) -> Worth:  # fmt: skip
        """Of the model, at the length that is left beside the pinned."""
        return cls(model, cost, bound - float(cost[pinned].sum()), pinned, out, forms)

    @cached_property
    def rest(self) -> IntArray:
        """What is neither in nor out, where there is room."""
        rest = remaining(self.model.n, self.pinned, self.out)
        return rest if self.room > 0.0 else rest[:0]

    @cached_property
    def rows(self) -> FloatArray:
        """Rows with K = rows rows^T, 0 where pinned or excluded; of single sentences `alone` says the same for less."""
        rows, p = self._rows, self._chance
        scale = np.divide(self.alone, p, out=np.ones_like(p), where=p > 0.0)
        return rows if self.forms is None else rows * np.sqrt(scale)[:, None]

    @cached_property
    def _rows(self) -> FloatArray:
        if not self.rest.size:
            return np.zeros((self.model.n, 0))
        lam, V = self.model.conditioned(self.pinned, self.out).eigenpairs
        rows = np.zeros((self.model.n, lam.size))
        rows[self.rest] = V * np.sqrt(tilted(lam, find_tilt(lam, V, self.cost[self.rest], self.room)))
        return rows

    @cached_property
    def _chance(self) -> FloatArray:
        """K_ii, of each form by itself; from the rows, where these were asked for first."""
        if "_rows" in vars(self):
            return np.einsum("ij,ij->i", self._rows, self._rows)
        p = np.zeros(self.model.n)
        if self.rest.size:
            given = self.model.conditioned(self.pinned, self.out)
            p[self.rest] = tilted_marginals(given, self.cost[self.rest], self.room)
        return p

    @cached_property
    def alone(self) -> FloatArray:
        """P(i in R) of every sentence, in any form; 0 for a form that has none."""
        p = self._chance
        return (
            p if self.forms is None else np.where(p > 0.0, np.minimum(np.bincount(self.forms, p)[self.forms], 1.0), p)
        )

    @cached_property
    def least(self) -> float:
        """F / 2; of forms, a draw has one, and shares it with any other."""
        share = self.cost * self._chance
        return float(share @ self.alone / share.sum()) / 2.0 if self.rest.size else 1.0

    def given(self, subset: IntArray) -> FloatArray:
        """p_i of every sentence, given these: what is left of its row beside those that they span."""
        return self._beside(self._span(subset)) if subset.size else self.alone.copy()

    def _span(self, subset: IntArray) -> FloatArray:
        """Orthonormal rows that span those of the subset."""
        if not subset.size or not self.rows.size:
            return np.zeros((0, self.rows.shape[1]))
        _, sizes, span = np.linalg.svd(self.rows[subset], full_matrices=False)
        return np.asarray(span[sizes > 1e-8 * max(float(sizes[0]), 1e-8)])

    def _beside(self, span: FloatArray) -> FloatArray:
        inside = self.rows @ span.T
        p = np.einsum("ij,ij->i", self.rows, self.rows) - np.einsum("ij,ij->i", inside, inside)
        return np.maximum(p, 0.0)

    def precision(self, subset: IntArray) -> FloatArray:
        """K_Y^-1, whose diagonal has 1 / p_i of each of these given the others."""
        K = self.rows[subset] @ self.rows[subset].T
        return np.asarray(np.linalg.inv(K + JITTER * np.eye(subset.size)), np.float64)

    def without_filler(self, subset: IntArray, pinned: IntArray) -> IntArray:
        """A set without what is not worth having beside the rest, the least likely first; one sentence stays."""
        loose = np.setdiff1d(subset, pinned)
        P = self.precision(loose)
        while loose.size > (0 if pinned.size else 1):
            worst = int(P.diagonal().argmax())
            if self.least * P[worst, worst] <= 1.0:
                break
            # K^-1 without a row and column of K: the Schur complement of theirs
            P = P - np.outer(P[worst], P[worst]) / P[worst, worst]
            P = np.delete(np.delete(P, worst, 0), worst, 1)
            loose = np.delete(loose, worst)
        return np.union1d(loose, pinned)

    def filled(self, subset: IntArray, room: Room, least: float | None = None) -> IntArray:
        """A set with the likeliest sentence beside it, again and again, while there is room for one worth having.

        `room` says which of some sentences fit beside a set; those that do not, never will. With another `least`, while
        one is as likely as that: 0 for any. Of those that depend on the set, whose p_i is 0, the likeliest alone.
        """
        floor = self.least if least is None else least
        alone, span = self.alone, self._span(subset)
        p = self._beside(span)
        free = np.ones(p.size, np.bool_)
        while (free := room(subset, free & (p.round(12) >= floor))).any():
            best = int(np.lexsort((np.where(free, alone, -1.0), np.where(free, p.round(12), -1.0)))[-1])
            subset = np.append(subset, best)
            if p[best] > JITTER:  # what it has that the others have not: Gram and Schmidt, twice against rounding
                new = self.rows[best]
                for _ in range(2):
                    new = new - (new @ span.T) @ span
                new = new / np.linalg.norm(new)
                span, p = np.vstack([span, new]), np.maximum(p - (self.rows @ new) ** 2, 0.0)
        return np.sort(subset)
