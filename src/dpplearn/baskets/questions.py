"""The questions that a kernel over a catalogue answers: the next item, the rest of a basket, what goes with what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, overload

import numpy as np
from sklearn.exceptions import NotFittedError

from dpplearn._cached import cached_property
from dpplearn._checks import FloatArray, IntArray, check_int, count_of
from dpplearn._precision import singular
from dpplearn.baskets.baskets import Baskets, Label
from dpplearn.baskets.factors import KernelFactors
from dpplearn.baskets.likelihood import KernelRows
from dpplearn.baskets.pairs import StrongestPairs
from dpplearn.dpp import DPP
from dpplearn.lowrank import LowRankDPP
from dpplearn.nonsymmetric import NonsymmetricDPP

LEAST = 0.0005  # correlation that is not 0 in the three digits shown
LOST = 1e-13  # share of its diagonal below which a Schur complement is rounding


class Next(NamedTuple):
    """An item, and the probability that it is the next one."""

    item: Label
    probability: float


class Related(NamedTuple):
    """An item, and how being in a basket goes with it."""

    item: Label
    correlation: float


class OddsRatio(NamedTuple):
    """An item of a basket, and what it multiplies the odds of another item by, beside the rest of the basket."""

    item: Label
    factor: float

    @property
    def words(self) -> str:
        """The same in words."""
        if 0.95 < self.factor < 1.05:
            return f"{self.item} hardly changes its odds"
        factor = f"{self.factor:.2g}" if self.factor < 100.0 else f"{self.factor:,.0f}"
        return f"{self.item} multiplies its odds by {factor}"


class BasketQuestions:
    """The questions that a fitted kernel answers."""

    factors_: KernelFactors
    items_: np.ndarray
    counts_: FloatArray
    pairs_: StrongestPairs
    n_baskets_: float

    @cached_property
    def dpp_(self) -> DPP | LowRankDPP | NonsymmetricDPP:
        """The distribution, which answers everything else."""
        return self._fitted.distribution()

    @property
    def _fitted(self) -> KernelFactors:
        if not hasattr(self, "factors_"):
            raise NotFittedError(f"This {type(self).__name__} is not fitted yet: call fit first, or load a file.")
        return self.factors_

    @cached_property
    def _kernel(self) -> KernelRows:
        return self._fitted.kernel()

    @cached_property
    def _diagonal(self) -> FloatArray:
        left, right, diagonal = self._kernel
        return np.asarray(np.einsum("ij,ij->i", left, right) + (0.0 if diagonal is None else diagonal))

    def numbers(self, basket: Sequence[Label]) -> IntArray:
        """The numbers of items in `items_`, in the order given; an error for one that is not there."""
        if isinstance(basket, str):
            raise TypeError(f"A basket must be a list of items, found the text {basket!r:.60}. Pass [{basket!r:.40}].")
        self._fitted  # noqa: B018  # raises where nothing was learned
        return Baskets.read([list(basket)], self.items_).indices

    def next_scores(self, basket: IntArray) -> FloatArray:
        """det L_{J + i} / det L_J of every item i, for a basket J of item numbers; -inf for those in it.

        The Schur complement L_ii - L_iJ L_J^-1 L_Ji, of all items at once.
        """
        left, right, diagonal = self._kernel
        down, across = left @ right[basket].T, right @ left[basket].T
        block = down[basket]
        if diagonal is not None:
            block.flat[:: len(block) + 1] += diagonal[basket]
        inverse = inverse_or_none(block)
        if inverse is None:  # the basket has probability 0, and so has every larger one
            scores = np.zeros(len(left))
        else:
            scores = self._diagonal - np.einsum("ij,ij->i", down @ inverse, across)
            scores[scores <= LOST * self._diagonal] = 0.0
        scores[basket] = -np.inf
        return np.asarray(scores)

    def recommend(self, basket: Sequence[Label] = (), k: int = 10, exclude: Sequence[Label] = ()) -> list[Next]:
        """The k items that most probably come next: each with its probability, if exactly one more item comes.

        P(i | basket) is proportional to det L_{basket + i}; `exclude` names items that cannot come.
        """
        J, out, k = self.numbers(basket), self.numbers(exclude), check_int(k, "k", low=1, high=None)
        scores = np.maximum(self.next_scores(J), 0.0)
        scores[out] = 0.0
        if not scores.sum() > 0:
            raise ValueError(
                f"Nothing can follow {count_of(J.size, 'item', 'items')} with {out.size} excluded: every larger set "
                "has probability 0 under this kernel. Give a smaller basket, or fit with a larger rank."
            )
        best = np.argsort(-scores, kind="stable")[:k]
        return [Next(self._name(i), float(scores[i] / scores.sum())) for i in best if scores[i] > 0]

    def why(self, item: Label, basket: Sequence[Label]) -> list[OddsRatio]:
        """Why an item comes next to a basket, or does not: what each item of it multiplies its odds by.

        For j in the basket J it is det L_{J + i} det L_{J - j} / (det L_J det L_{J - j + i}), a ratio of odds.
        Those that attract most come first; under a symmetric kernel none does.

        Examples
        --------
        >>> from dpplearn import KernelDPP
        >>> baskets = 30 * [["bib", "bottle"]] + 30 * [["cot"], ["pram"]] + 10 * [["bib"], []]
        >>> model = KernelDPP(nonsymmetric=True, alpha=1.0).fit(baskets)
        >>> [(one.item, one.factor > 1) for one in model.why("bottle", ["bib"])]
        [('bib', True)]
        """
        (i,), J = self.numbers([item]), self.numbers(basket)
        if i in J:
            raise ValueError(f"{item!r} is in the basket already: ask about an item that is not.")
        whole, ratios = self.next_scores(J)[i], []
        for j in J:
            without = self.next_scores(np.setdiff1d(J, j))[i]
            factor = float(whole / without) if without > 0 else 1.0 if whole <= 0 else np.inf
            ratios.append(OddsRatio(self._name(j), factor))
        return sorted(ratios, key=lambda ratio: -ratio.factor)

    def complete(
        self, basket: Sequence[Label] = (), k: int | None = None, exclude: Sequence[Label] = ()
    ) -> list[Label]:
        """The items that make the basket the most probable set, or the most probable one of k more items.

        Fewer than k, where no larger set is possible. Found greedily, then improved by swaps
        (`dpplearn.decoding.local_search`).
        """
        from dpplearn.decoding import local_search

        J, out = self.numbers(basket), self.numbers(exclude)
        size = None if k is None else min(J.size + check_int(k, "k", high=None), self.dpp_.n)
        completed: Any = local_search(self.dpp_, k=size, min_cost=float(size or 0), include=J, exclude=out)
        return [self._name(i) for i in completed.subset if i not in J]

    def correlations_with(self, item: Label) -> FloatArray:
        """Correlation of having the item with having each other; 1 for itself."""
        i, every, dpp = self.numbers([item]), np.arange(self._fitted.n), self.dpp_
        # the covariance P_ij - P_i P_j is -K_ij K_ji, which a skew part makes positive
        covariance = -dpp.marginal_kernel(i, every)[0] * dpp.marginal_kernel(every, i)[:, 0]
        deviation = np.sqrt(dpp.marginals * (1 - dpp.marginals))
        scale = deviation[i] * deviation
        correlation = np.divide(covariance, scale, out=np.zeros_like(scale), where=scale > 0)
        correlation[i] = 1.0
        return np.clip(correlation, -1.0, 1.0)

    def alike(self, item: Label, k: int = 10) -> list[Related]:
        """The items that replace it: those that come with it least, by correlation, which is negative.

        Correlations that are 0 in three digits are left out, here and in `together`.
        """
        return self._related(item, k, -1.0)

    @overload
    def together(self, item: None = None, k: int = 10) -> StrongestPairs: ...
    @overload
    def together(self, item: Label, k: int = 10) -> list[Related]: ...
    def together(self, item: Label | None = None, k: int = 10) -> StrongestPairs | list[Related]:
        """The items that come with an item most; without an item, the pairs that attract and repel each other most.

        By the model's correlation of being in a basket. Pairs have the counts and lifts of the baskets beside it;
        those whose correlation is below what chance gives, 1 / sqrt(baskets), are left out. Under a symmetric kernel
        nothing attracts. There are at most 200 of each kind, of the 1,500 most frequent items. What is strong in the
        baskets and not in the model is told too, and is in `missed`.

        Examples
        --------
        >>> from dpplearn import KernelDPP
        >>> baskets = 30 * [["bib", "bottle"]] + 30 * [["cot"], ["pram"]] + 10 * [["bib"], []]
        >>> model = KernelDPP(nonsymmetric=True, alpha=1.0).fit(baskets)
        >>> found = model.together(k=1)
        >>> found.attract[0].first, found.attract[0].second, found.attract[0].baskets, round(found.attract[0].lift, 2)
        ('bib', 'bottle', 30.0, 2.75)
        >>> [item for item, correlation in model.together("bottle", k=1)]
        ['bib']
        """
        if item is not None:
            return self._related(item, k, 1.0)
        self._fitted  # noqa: B018  # raises where nothing was learned
        return self.pairs_.first(check_int(k, "k", low=1, high=None))

    def _related(self, item: Label, k: int, sign: float) -> list[Related]:
        strength = sign * self.correlations_with(item)
        strength[self.numbers([item])] = 0.0
        best = np.argsort(-strength, kind="stable")[: check_int(k, "k", low=1, high=None)]
        return [Related(self._name(j), float(sign * strength[j])) for j in best if strength[j] >= LEAST]

    def _name(self, i: int) -> Label:
        name: Label = self.items_[i].item()
        return name


def inverse_or_none(A: FloatArray) -> FloatArray | None:
    """A^-1, or None where A is singular but for rounding: where a last pivot would be nothing beside its diagonal."""
    try:
        inverse = np.linalg.inv(A)
    except np.linalg.LinAlgError:
        return None
    regular = (np.abs(A.diagonal() * inverse.diagonal()) * singular(len(A)) < 1.0).all()
    return np.asarray(inverse, np.float64) if regular else None
