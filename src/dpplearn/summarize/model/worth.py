"""What is worth having in a summary of a given length: a budget is a limit, not a duty.

Let R be a summary drawn from e^s L, with s such that R costs the budget on average: one of the model's own summaries
of that length. Sentence i is in R with probability K_ii, and given that the sentences Y are in it, with

    p_i = P(i in R | Y in R) = K_ii - K_iY K_Y^-1 K_Yi,

which is near 0 where Y says already what i says. If a summary agrees with R by F (of what both cost, the share that
they have in common), then a sentence more raises F where its p_i is above F / 2, and lowers it where it is below: its
words cost more than they are likely to be worth. The model's own summaries agree with each other by

    F = sum of c_i K_ii^2 / sum of c_i K_ii,     so     i is worth having   where   p_i >= F / 2.

A model that is sure of its choice (F near 1) asks for sentences that are rather in than out; one that finds all
sentences alike excludes none. No other number enters, so that the rule is the same for a page and for a shelf of books.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from dpplearn._checks import FloatArray, IntArray
from dpplearn.decoding.candidates import Candidates
from dpplearn.decoding.tilt import find_tilt, tilted
from dpplearn.process import remaining

Room: TypeAlias = Callable[[IntArray], npt.NDArray[np.bool_]]
SAME = 1e-10  # added to K's diagonal: about what a sentence that depends on the others keeps of its probability


class Worth(NamedTuple):
    """The model's own summaries of one length: rows with K = rows rows^T (0 where pinned or excluded), and F / 2."""

    rows: FloatArray
    least: float

    @classmethod
    def of(cls, model: Candidates, cost: FloatArray, bound: float, pinned: IntArray, out: IntArray) -> Worth:
        """Of the model, given what must be in and out, at the length that is left for the others."""
        rest, room = remaining(model.n, pinned, out), bound - float(cost[pinned].sum())
        if not rest.size or room <= 0.0:
            return cls(np.zeros((model.n, 0)), 1.0)
        lam, V = model.given(pinned, out).eigenpairs
        rows = np.zeros((model.n, lam.size))
        rows[rest] = V * np.sqrt(tilted(lam, find_tilt(lam, V, cost[rest], room)))
        p = np.einsum("ij,ij->i", rows, rows)
        return cls(rows, float(cost @ p**2 / (cost @ p)) / 2.0)

    def given(self, subset: IntArray) -> FloatArray:
        """p_i of every sentence, given these: what is left of its row beside those that they span."""
        p = np.einsum("ij,ij->i", self.rows, self.rows)
        if subset.size and self.rows.size:
            _, sizes, span = np.linalg.svd(self.rows[subset], full_matrices=False)
            inside = self.rows @ span[sizes > 1e-8 * max(float(sizes[0]), 1e-8)].T
            p = np.maximum(p - np.einsum("ij,ij->i", inside, inside), 0.0)
        return p

    def among(self, subset: IntArray) -> FloatArray:
        """p_i of each of these, given the others: 1 over the diagonal of K_Y^-1."""
        K = self.rows[subset] @ self.rows[subset].T
        return np.asarray(1.0 / np.linalg.inv(K + SAME * np.eye(subset.size)).diagonal(), np.float64)

    def without_filler(self, subset: IntArray, pinned: IntArray) -> IntArray:
        """A set without what is not worth having beside the rest, the least likely first; one sentence stays."""
        loose = np.setdiff1d(subset, pinned)
        while loose.size > (0 if pinned.size else 1):
            p = self.among(loose)
            if p.min() >= self.least:
                break
            loose = np.delete(loose, p.argmin())
        return np.union1d(loose, pinned)

    def filled(self, subset: IntArray, room: Room, least: float | None = None) -> IntArray:
        """A set with the likeliest sentence beside it, again and again, while there is room for one worth having.

        `room` says for a set which sentences fit beside it. With another `least`, while one is as likely as that: 0 for
        any. Of those that depend on the set, whose p_i is 0, the likeliest alone.
        """
        floor = self.least if least is None else least
        alone = self.given(np.empty(0, np.int64))
        while (free := room(subset)).any():
            p = self.given(subset).round(12)
            best = int(np.lexsort((np.where(free, alone, -1.0), np.where(free, p, -1.0)))[-1])
            if p[best] < floor:
                break
            subset = np.append(subset, best)
        return np.sort(subset)
