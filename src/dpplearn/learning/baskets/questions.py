"""What is asked of a kernel over a catalogue: the next item, the rest of a basket, what goes with what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dpplearn._cached import cached_property
from dpplearn._checks import FloatArray, IntArray, check_int, count_of
from dpplearn.dpp import DPP
from dpplearn.learning.baskets.counted import Baskets, Label
from dpplearn.learning.baskets.factors import Factors
from dpplearn.learning.baskets.likelihood import Kernel
from dpplearn.lowrank import LowRankDPP
from dpplearn.nonsymmetric import NonsymmetricDPP
from dpplearn.process import PointProcess


class Next(NamedTuple):
    """An item, and the probability that it is the next one."""

    item: Label
    probability: float


class Related(NamedTuple):
    """An item, and how being in a basket goes with it."""

    item: Label
    correlation: float


class Pull(NamedTuple):
    """An item of a basket, and how many times as likely it makes another one, beside the rest of the basket."""

    item: Label
    factor: float

    @property
    def words(self) -> str:
        """Whether it attracts, in words."""
        if 0.95 < self.factor < 1.05:
            return f"{self.item} hardly changes how likely it is"
        if self.factor >= 1.0:
            times = f"{self.factor:.2g}" if self.factor < 100.0 else f"{self.factor:,.0f}"
            return f"{self.item} makes it {times} times as likely"
        return f"{self.item} makes it less likely, {self.factor:.0%} of what it would be"


class BasketQuestions:
    """A fitted kernel: `factors_` and `items_` are all that is needed."""

    factors_: Factors
    items_: np.ndarray

    @cached_property
    def dpp_(self) -> DPP | LowRankDPP | NonsymmetricDPP:
        """The distribution, which answers everything else."""
        return self._fitted.distribution()

    @property
    def _fitted(self) -> Factors:
        if not hasattr(self, "factors_"):
            raise AttributeError(f"This {type(self).__name__} has learned nothing yet: call fit first, or load a file.")
        return self.factors_

    @cached_property
    def _kernel(self) -> Kernel:
        return self._fitted.kernel()

    def numbers(self, basket: Sequence[Label]) -> IntArray:
        """The numbers of items in `items_`, in the order given; an error for one that is not there."""
        self._fitted  # noqa: B018  # says that there is nothing to ask
        if isinstance(basket, str):
            raise TypeError(f"A basket must be a list of items, found the text {basket!r:.60}. Pass [{basket!r:.40}].")
        return Baskets.read([list(basket)], self.items_).indices

    def next_scores(self, basket: IntArray) -> FloatArray:
        """det L_{J + i} / det L_J of every item i, for a basket J of item numbers; -inf for those in it.

        The Schur complement L_ii - L_iJ L_J^-1 L_Ji, of all items at once.
        """
        left, right, own = self._kernel
        scores: FloatArray = self._diagonal.copy()
        if basket.size:
            block = left[basket] @ right[basket].T
            if own is not None:
                block.flat[:: len(block) + 1] += own[basket]
            down, across = left @ right[basket].T, right @ left[basket].T  # own has no part in other rows
            try:
                solved = np.linalg.solve(block, across.T)
            except np.linalg.LinAlgError:
                solved = np.linalg.pinv(block) @ across.T
            scores -= np.einsum("ij,ji->i", down, solved)
            scores = np.where(scores > 1e-13 * self._diagonal, scores, 0.0)
            scores[basket] = -np.inf
        return scores

    @cached_property
    def _diagonal(self) -> FloatArray:
        left, right, own = self._kernel
        diagonal: FloatArray = np.einsum("ij,ij->i", left, right)
        return diagonal if own is None else diagonal + own

    def recommend(self, basket: Sequence[Label] = (), k: int = 10, exclude: Sequence[Label] = ()) -> list[Next]:
        """The k items that most probably come next: each with its probability, if exactly one more item comes.

        P(i | basket) is proportional to det L_{basket + i}; `exclude` names items that cannot come.
        """
        J, out, k = self.numbers(basket), self.numbers(exclude), check_int(k, "k", low=1)
        scores = np.maximum(self.next_scores(J), 0.0)
        scores[out] = 0.0
        if not scores.sum() > 0:
            raise ValueError(
                f"Nothing can follow {count_of(J.size, 'item', 'items')} with {out.size} excluded: every larger set "
                "has probability 0 under this kernel. Give a smaller basket, or fit with a larger rank."
            )
        best = np.argsort(-scores, kind="stable")[:k]
        return [Next(self._name(i), float(scores[i] / scores.sum())) for i in best.tolist() if scores[i] > 0]

    def why(self, item: Label, basket: Sequence[Label]) -> list[Pull]:
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
        whole = self.next_scores(J)[i]
        found = []
        for j in J.tolist():
            without = self.next_scores(np.setdiff1d(J, j))[i]
            factor = float(whole / without) if without > 0 else 1.0 if whole <= 0 else np.inf
            found.append(Pull(self._name(j), factor))
        return sorted(found, key=lambda one: -one.factor)

    def complete(
        self, basket: Sequence[Label] = (), k: int | None = None, exclude: Sequence[Label] = ()
    ) -> list[Label]:
        """The items that make the basket the most probable set, or the most probable one of k more items.

        Fewer than k, where no larger set is possible. Found greedily, then improved by swaps
        (`dpplearn.decoding.local_search`).
        """
        from dpplearn.decoding import local_search

        J, out = self.numbers(basket), self.numbers(exclude)
        size = None if k is None else min(J.size + check_int(k, "k"), self.dpp_.n)
        found: Any = local_search(self.dpp_, k=size, min_cost=float(size or 0), include=J, exclude=out)
        return [self._name(i) for i in found.subset.tolist() if i not in set(J.tolist())]

    def correlations_with(self, item: Label) -> FloatArray:
        """Correlation of having the item with having each other; 1 for itself.

        (K_ii K_jj - K_ij K_ji - K_ii K_jj) over the deviations: -K_ij K_ji, which a skew part makes positive.
        """
        (i,) = self.numbers([item])
        dpp: PointProcess = self.dpp_
        every = np.arange(dpp.n)
        across, down = dpp.marginal_kernel([i], every).ravel(), dpp.marginal_kernel(every, [i]).ravel()
        p = dpp.marginals
        scale = np.sqrt(p[i] * (1 - p[i]) * p * (1 - p))
        found = np.divide(-across * down, scale, out=np.zeros_like(scale), where=scale > 0)
        found[i] = 1.0
        return np.clip(found, -1.0, 1.0)

    def alike(self, item: Label, k: int = 10) -> list[Related]:
        """What the item replaces: those that come with it least, by correlation, which is negative."""
        return self._related(item, k, -1.0)

    def together(self, item: Label, k: int = 10) -> list[Related]:
        """What the item goes with, by correlation, which is positive; none under a symmetric kernel."""
        return self._related(item, k, 1.0)

    def _related(self, item: Label, k: int, sign: float) -> list[Related]:
        found = sign * self.correlations_with(item)
        found[self.numbers([item])] = 0.0
        best = np.argsort(-found, kind="stable")[: check_int(k, "k", low=1)]
        return [Related(self._name(j), float(sign * found[j])) for j in best.tolist() if found[j] > 1e-12]

    def _name(self, i: int) -> Label:
        name: Label = self.items_[i].item()
        return name
