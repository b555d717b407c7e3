"""Sentences that must be in or out: whether that can be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpplearn._checks import IntArray
from dpplearn.summarize.model.prepared import Prepared
from dpplearn.summarize.text.units import Unit, joined_length, measured
from dpplearn.web.problems import Problem, invalid


@dataclass(frozen=True, eq=False)
class Pins:
    """Pinned and banned sentences that some summary satisfies."""

    include: IntArray
    exclude: IntArray

    @classmethod
    def of(cls, ready: Prepared, include: Sequence[int], exclude: Sequence[int], budget: float, unit: Unit) -> Pins:
        """Sentences that exist, do not contradict each other, and fit; or a problem that says what to change."""
        n = ready.n
        unknown = [
            ((name, place), f"there is no sentence {i}: the cluster's are numbered 0 to {n - 1}.")
            for name, given in (("include", include), ("exclude", exclude))
            for place, i in enumerate(given)
            if i >= n
        ]
        if unknown:
            raise invalid(unknown)
        A, B = np.unique(np.array(include, np.int64)), np.unique(np.array(exclude, np.int64))
        both = np.intersect1d(A, B)
        if both.size:
            raise Problem("infeasible", f"{numbered(both)} cannot be both pinned and banned. Undo one of the two.")
        if B.size == n:
            raise Problem("infeasible", f"All {n} sentences are banned: none is left to choose. Allow some of them.")
        if A.size:
            check_pins(ready, A, budget, unit)
        return cls(A, B)

    def among(self, ready: Prepared) -> Pins:
        """The same sentences where each stands before its shorter forms; these are banned with it."""
        if ready.read.forms is None:
            return self
        first = np.unique(ready.read.forms, return_index=True)[1]
        return Pins(first[self.include], first[self.exclude])


def check_pins(ready: Prepared, A: IntArray, budget: float, unit: Unit) -> None:
    """Whether the pinned sentences fit together: by length, and by the model."""
    texts = ready.read.texts
    size = joined_length([texts[i] for i in A], unit)
    if size > budget:
        what = f"The {A.size} pinned sentences take" if A.size > 1 else "The pinned sentence takes"
        raise Problem(
            "infeasible",
            f"{what} {measured(size, unit)}, more than the budget of {budget:g}. "
            f"Raise the budget to {size:g} or unpin some.",
        )
    seen: dict[str, int] = {}
    for i in A.tolist():
        if seen.setdefault(ready.said[i], i) != i:
            twin = seen[ready.said[i]]
            raise Problem("infeasible", f"Sentences {twin} and {i}, both pinned, have the same words. Unpin one.")
    if ready.dpp.log_prob(A) == -np.inf:
        raise Problem(
            "infeasible",
            f"{numbered(A)}, all pinned, have probability 0 together: the words of some are a mixture of the others'. "
            "Unpin one of them.",
        )


def numbered(items: IntArray, most: int = 8) -> str:
    """A few sentences by their numbers."""
    some = ", ".join(map(str, items[:most].tolist())) + (", ..." if items.size > most else "")
    return f"Sentence {some}" if items.size == 1 else f"Sentences {some}"
