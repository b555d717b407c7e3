"""Why each item was kept or skipped: the chosen item most like it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from dpplearn._cached import cached_property
from dpplearn._checks import FloatArray, IntArray, read_only
from dpplearn._linalg import to_dense
from dpplearn.decoding.candidates import Directed, single
from dpplearn.decoding.limits import Limits
from dpplearn.decoding.selection import Selection

BLOCK = 2**24  # cosines computed at once, at most
TOP = 0.9  # of all items below it: one of the best scores
MORE = "the others added more, for score and variety together"
ALONE = {0.0: "the others added more, by score alone", 1.0: "the others added more, by variety alone"}  # by diversity
CLOSE = 0.5  # cosine from which being like a chosen item is the reason


class Nearest(NamedTuple):
    """For every item asked about, the chosen one most similar to it (-1 where there is none) and their cosine."""

    items: IntArray
    similarity: FloatArray


class Kept(NamedTuple):
    """A chosen item: the other chosen one most similar to it (-1 where it is alone), and their cosine."""

    item: int
    nearest: int
    similarity: float


class Skipped(NamedTuple):
    """A candidate that was not chosen: the chosen item most similar to it, their cosine, and the reason in words."""

    item: int
    nearest: int
    similarity: float
    reason: str


@dataclass(frozen=True, eq=False, repr=False)
class DiverseSelection(Selection):
    """The chosen items, and why the others were not.

    Attributes
    ----------
    indices : int array
        The items in the order of selection: another name of `subset`, as pyversity has it.
    selection_scores : float array
        What each item, when it was added, multiplied det(L_Y) by: exp(gains).
    shares : float array
        What each item added, as a share of the most that one did: where it is small, the rest could be left out.
    strategy, diversity, parameters
        What was asked for, as pyversity has it.
    nearest : Nearest
        For every candidate, the chosen item most similar to it and their cosine. Computed when first asked for.
    kept : list of Kept
        For every chosen item, in their order, the other chosen one most similar to it and their cosine.
    skipped : list of Skipped
        One record for every candidate that was not chosen, with the reason.

    Examples
    --------
    >>> from dpplearn import diversify
    >>> found = diversify([[1, 0], [0.9, 0.1], [0, 1]], [0.9, 0.8, 0.5], k=2)
    >>> found.indices
    array([0, 2])
    >>> print(found.skipped[0].reason)
    0.99 similar to item 0
    >>> found.kept
    [Kept(item=0, nearest=2, similarity=0.0), Kept(item=2, nearest=0, similarity=0.0)]
    """

    diversity: float
    parameters: dict[str, Any]
    limits: Limits = field(repr=False)
    candidates: Directed | None = field(repr=False)

    @property
    def indices(self) -> IntArray:
        """The items in the order of selection."""
        return self.subset

    @property
    def selection_scores(self) -> FloatArray:
        """exp(gains)."""
        return np.exp(self.gains)

    @property
    def shares(self) -> FloatArray:
        """exp(gains), as a share of the largest."""
        return np.exp(self.gains - self.gains.max(initial=-np.inf))

    @property
    def strategy(self) -> str:
        """Always "dpp"."""
        return "dpp"

    @cached_property
    def nearest(self) -> Nearest:
        """The chosen item most similar to each candidate."""
        assert self.candidates is not None  # a copy, which has none, has what was found
        return nearest(self.candidates, self.subset)

    @cached_property
    def kept(self) -> list[Kept]:
        """Every chosen item, with the other chosen one most similar to it."""
        assert self.candidates is not None
        items, similarity = nearest(self.candidates, self.subset, themselves=True)
        return [Kept(*one) for one in zip(self.subset.tolist(), items.tolist(), similarity.tolist(), strict=True)]

    def why(self, item: int) -> str:
        """What speaks for a chosen item, in words: its score among all, or that it had to be in; maybe nothing.

        Examples
        --------
        >>> from dpplearn import diversify
        >>> diversify([[1, 0], [0.9, 0.1], [0, 1]], [0.9, 0.8, 0.5], k=2).why(0)
        'the best score'
        """
        if item not in self.subset:
            raise ValueError(f"item must be one of those chosen, such as {self.subset[:1].tolist()}, found {item!r}.")
        if item in self.limits.include:
            return "being asked for"
        q = None if self.candidates is None else self.candidates.q
        if q is None or q.size != self.limits.cost.size or q.min() == q.max():
            return ""
        below = float((q < q[item]).mean())
        if q[item] == q.max():
            return "the best score"
        return "one of the best scores" if below >= TOP else "a good score" if below >= 0.5 else "being different"

    @cached_property
    def skipped(self) -> list[Skipped]:
        """Every candidate that was not chosen, with the reason."""
        left, spare = self.limits.budget - self.cost, len(self) < self.limits.k
        items, similarity = self.nearest
        barred = set(self.limits.exclude.tolist())
        chosen = set(self.subset.tolist())
        full = None if self.limits.groups is None else self.limits.groups.full(self.subset)
        found = []
        for i in range(self.limits.cost.size):
            if i not in chosen:
                j, s = int(items[i]), float(similarity[i])
                close = f"{s:.2f} similar to item {j}"
                alike = j >= 0 and f"{s:.2f}" != "0.00"
                near = f"; {close}" if alike else ""
                if i in barred:
                    reason = "excluded"
                elif full is not None and full[i]:
                    reason = f"as many as may be of its group were chosen{near}"
                elif self.limits.cost[i] > left:
                    reason = f"costs {self.limits.cost[i]:g}, more than the {left:g} left of the budget{near}"
                elif j < 0:
                    reason = self.reason
                elif s >= CLOSE and self.diversity > 0.0:  # by score alone nobody asks what it is like
                    reason = close
                else:
                    why = "the set is preferred without it" if spare else ALONE.get(self.diversity, MORE)
                    reason = f"{why}; most similar is item {j} ({s:.2f})"
                found.append(Skipped(i, j, s, reason))
        return found

    def __getstate__(self) -> dict[str, Any]:
        """Copies and other processes get what was found, not the embeddings."""
        return super().__getstate__() | {"nearest": self.nearest, "kept": self.kept, "candidates": None}


def nearest(candidates: Directed, subset: IntArray, *, themselves: bool = False) -> Nearest:
    """The chosen item most similar to each candidate, by blocks; of equals, the one chosen first.

    With `themselves`, for each chosen item, in their order, the most similar of the others that were chosen.
    """
    lengths = np.where(candidates.lengths > 0.0, candidates.lengths, 1.0)
    rows, scale = (candidates.rows[subset], lengths[subset]) if themselves else (candidates.rows, lengths)
    items, similarity = np.full(scale.size, -1), np.zeros(scale.size)
    if subset.size > themselves:
        chosen = to_dense(single(candidates.rows[subset]))
        chosen = chosen / lengths[subset, None].astype(chosen.dtype)
        step = min(16384, max(1, BLOCK // subset.size))
        for low in range(0, scale.size, step):
            part = slice(low, min(low + step, scale.size))
            cosines = np.asarray(single(rows[part]) @ chosen.T)
            if themselves:
                cosines[subset[part, None] == subset] = -np.inf
            best = cosines.argmax(axis=1)
            items[part] = subset[best]
            similarity[part] = cosines[np.arange(best.size), best] / scale[part]
        np.clip(similarity, -1.0, 1.0, out=similarity)
    read_only(items, similarity)
    return Nearest(items, similarity)
