"""What a kernel says about items: which one comes next, and which pairs go together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dpplearn._checks import FloatArray, IntArray
from dpplearn._notebook import short_repr
from dpplearn.baskets.baskets import Baskets, Label
from dpplearn.baskets.likelihood import MAX_DENSE_ITEMS
from dpplearn.learning.summary import ModelSummary, Table

MAX_PAIRS = 200  # pairs of each kind
COLUMNS = ("model's correlation", "baskets with both", "lift in the data")


class NextItem(NamedTuple):
    """An item, and the probability that it is the next one."""

    item: Label
    probability: float


class RelatedItem(NamedTuple):
    """An item, and the correlation of being in a basket with another."""

    item: Label
    correlation: float


class ItemPair(NamedTuple):
    """Two items, the model's correlation of being in a basket, and what the data have.

    `baskets` is how many baskets have both items. `lift` is that number divided by the one expected of independent
    items; it is nan if one of them is in no basket.
    """

    first: Label
    second: Label
    correlation: float
    baskets: float
    lift: float


@dataclass(frozen=True, eq=False)
class StrongestPairs:
    """The pairs that attract each other most, and those that repel each other most, strongest first; `print` it.

    Examples
    --------
    >>> print(StrongestPairs((ItemPair("bib", "bottle", 0.61, 30, 2.5),), ()))
    Pairs of items
    <BLANKLINE>
    attract       model's correlation  baskets with both  lift in the data
    ------------  -------------------  -----------------  ----------------
    bib + bottle               +0.610                 30              2.50
    """

    attract: tuple[ItemPair, ...]
    repel: tuple[ItemPair, ...]

    def report(self) -> ModelSummary:
        """A table of each kind, if there are such pairs."""
        tables = []
        for kind, pairs in (("attract", self.attract), ("repel", self.repel)):
            rows = tuple((f"{a} + {b}", f"{c:+.3f}", f"{both:g}", f"{lift:.2f}") for a, b, c, both, lift in pairs)
            tables += [Table(kind, COLUMNS, rows)] if rows else []
        return ModelSummary("Pairs of items", {}, tuple(tables))

    def __str__(self) -> str:
        return str(self.report())

    __repr__ = short_repr

    def _repr_html_(self) -> str:
        return self.report()._repr_html_()


def most_frequent(counts: FloatArray, most: int) -> IntArray:
    """The numbers of the items in most baskets, ascending."""
    return np.sort(np.argsort(-counts, kind="stable")[:most])


def strongest_pairs(dpp: Any, baskets: Baskets) -> StrongestPairs:
    """The strongest pairs of each kind among the 1,500 most frequent items.

    Correlations below 1 / sqrt(baskets), which chance gives to independent items too, are left out.
    """
    counts, items, n_baskets = baskets.subsets.inclusion_counts().astype(np.float64), baskets.items, len(baskets)
    frequent, chance = most_frequent(counts, MAX_DENSE_ITEMS), 1 / np.sqrt(n_baskets)
    i, j = np.triu_indices(frequent.size, 1)
    correlation = dpp.correlations(frequent)[i, j]
    X = baskets.subsets.to_sparse()[:, frequent].astype(np.float64)
    both = (X.T @ X).toarray()[i, j]
    alone = counts[frequent[i]] * counts[frequent[j]]
    lift = np.divide(both * n_baskets, alone, out=np.full(both.size, np.nan), where=alone > 0)

    def best(values: FloatArray) -> tuple[ItemPair, ...]:
        first = np.argsort(-values, kind="stable")[:MAX_PAIRS]
        first = first[values[first] > chance]
        names = items[frequent[i[first]]].tolist(), items[frequent[j[first]]].tolist()
        rows = zip(*names, *(x[first].tolist() for x in (correlation, both, lift)), strict=True)
        return tuple(ItemPair(*row) for row in rows)

    return StrongestPairs(best(correlation), best(-correlation))
