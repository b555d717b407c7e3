"""Pairs of items: how often baskets had both, and how the model says that they go together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dpplearn._checks import FloatArray, IntArray
from dpplearn.baskets.baskets import Label
from dpplearn.baskets.likelihood import DENSE, BasketShard
from dpplearn.baskets.start import count_pairs
from dpplearn.learning.summary import ModelSummary, Table

KEPT = 200  # pairs of each kind


class ItemPair(NamedTuple):
    """Two items, the model's correlation of being in a basket, and what the baskets had.

    So many `baskets` had both; that is `lift` times as many as if the two were independent (nan where one has no
    basket).
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
    attract       correlation  baskets  lift
    ------------  -----------  -------  ----
    bib + bottle       +0.610       30  2.50
    """

    attract: tuple[ItemPair, ...]
    repel: tuple[ItemPair, ...]

    def first(self, k: int) -> StrongestPairs:
        """The k strongest of each kind."""
        return StrongestPairs(self.attract[:k], self.repel[:k])

    def tables(self) -> tuple[Table, ...]:
        """One table for each kind of which there are pairs."""
        shown = {
            kind: tuple((f"{a} + {b}", f"{c:+.3f}", f"{baskets:g}", f"{lift:.2f}") for a, b, c, baskets, lift in pairs)
            for kind, pairs in vars(self).items()
        }
        return tuple(Table(kind, ("correlation", "baskets", "lift"), rows) for kind, rows in shown.items() if rows)

    def __str__(self) -> str:
        return str(ModelSummary("Pairs of items", {}, self.tables()))

    def __repr__(self) -> str:
        return f"<StrongestPairs: {len(self.attract)} that attract, {len(self.repel)} that repel; print it to see them>"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return ModelSummary("Pairs of items", {}, self.tables())._repr_html_()


def correlation_block(dpp: Any, rows: IntArray, columns: IntArray) -> FloatArray:
    """Correlations of being in Y between two lists of items; 1 for an item with itself.

    The covariance of two items is P_ij - P_i P_j = -K_ij K_ji, which a skew part makes positive.
    """
    covariance = -dpp.marginal_kernel(rows, columns) * dpp.marginal_kernel(columns, rows).T
    deviation = np.sqrt(dpp.marginals * (1 - dpp.marginals))
    scale = np.outer(deviation[rows], deviation[columns])
    found = np.divide(covariance, scale, out=np.zeros_like(scale), where=scale > 0)
    found[rows[:, None] == columns] = 1.0
    return np.clip(found, -1.0, 1.0)


def most_frequent(counts: FloatArray, most: int) -> IntArray:
    """The numbers of the items that were in most baskets, ascending."""
    return np.sort(np.argsort(-counts, kind="stable")[:most])


def strongest_pairs(
    dpp: Any, items: np.ndarray, counts: FloatArray, n_baskets: float, shard: BasketShard
) -> StrongestPairs:
    """The strongest pairs of each kind among the 1,500 most frequent items.

    Correlations below 1 / sqrt(baskets), which chance gives to independent items too, are left out.
    """
    some, least = most_frequent(counts, DENSE), 1 / np.sqrt(n_baskets)
    i, j = np.triu_indices(some.size, 1)
    correlation, pair_counts = correlation_block(dpp, some, some)[i, j], count_pairs(shard, items.size, some)
    kinds = []
    for sign in (1.0, -1.0):
        best = np.argsort(-sign * correlation, kind="stable")[:KEPT]
        best = best[sign * correlation[best] > least]
        a, b = some[i[best]], some[j[best]]
        both = np.asarray(pair_counts[a, b]).ravel() if best.size else np.empty(0)
        alone = counts[a] * counts[b]
        lift = np.divide(both * n_baskets, alone, out=np.full(best.size, np.nan), where=alone > 0)
        columns = items[a].tolist(), items[b].tolist(), correlation[best].tolist(), both.tolist(), lift.tolist()
        kinds.append(tuple(ItemPair(*row) for row in zip(*columns, strict=True)))
    return StrongestPairs(*kinds)
