"""A saved ConditionalDPP applied to a file of items: what it chooses, and what each feature adds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dpplearn._checks import FloatArray, IntArray
from dpplearn.cli.items import Items
from dpplearn.decoding.candidates import Embedded
from dpplearn.decoding.limits import check_limits
from dpplearn.decoding.selection import DiverseSelection
from dpplearn.learning.columns import Column
from dpplearn.learning.itemset import ItemSet
from dpplearn.learning.relative import Reason, Relative, strongest
from dpplearn.learning.tables import Encoding

EMBEDDING = "embedding"


class Applied(NamedTuple):
    """What was chosen, what each feature adds to log q^2 of each item, and fields against the average item."""

    chosen: DiverseSelection
    items: ItemSet
    contributions: FloatArray
    relative: Relative
    scores: FloatArray  # log q^2: what the model says of each item by itself

    @property
    def names(self) -> list[str]:
        """Of the features."""
        return list(self.relative.model.quality_.names)

    def because(self, item: int) -> tuple[Reason, ...]:
        """At most three fields that speak for an item against the average one, beyond their error."""
        amounts, error = self.relative.amounts, self.relative.error
        return strongest(
            [Reason(name, self.words(name, item), float(x[item]), error(item, name)) for name, x in amounts.items()]
        )

    def words(self, name: str, item: int) -> str:
        """What an item has in a field, in words."""
        columns = () if self.items.encoding is None else self.items.encoding.features
        place = {one.name: j for j, one in enumerate(columns)}.get(name)
        if place is not None:
            return columns[place].words(float(self.items.columns[item, place]))
        return f"its {name} of {self.relative.values[item, self.relative.groups[name][0]]:.4g}"

    @property
    def usual(self) -> float:
        """The mean similarity of two different items under the model, which may have learned it."""
        assert self.chosen.candidates is not None
        rows, n = self.chosen.candidates.rows, self.items.n
        return float((rows.sum(axis=0) ** 2).sum() - (rows**2).sum()) / max(n * (n - 1), 1)

    def reasons(self, item: int) -> dict[str, float]:
        """What counts for an item, the largest first; the constant counts for all."""
        added = zip(self.names, self.contributions[item].tolist(), strict=True)
        return dict(sorted(((name, x) for name, x in added if x and name != "constant"), key=lambda one: -abs(one[1])))


def apply_model(
    path: Path,
    items: Items,
    embedding: str | None,
    costs: FloatArray | None,
    per_group: Mapping[str, Any],
    *,
    decoder: str,
    **options: Any,
) -> Applied:
    """Choose by the model in a file: numbers and categories are read as they were in training.

    `per_group` has the groups of `diversify` and their limits.
    """
    from dpplearn.learning import ConditionalDPP

    model = ConditionalDPP.load(path)
    if model.encoding_ is None:
        x = by_names(items, list(model.feature_names_in_[-model.n_features_in_ :]), embedding, costs)
    elif embedding is not None:
        raise ValueError(f"{path} says which fields make items alike: leave --embedding out.")
    else:
        x = by_table(items, model.encoding_, costs)

    rows, log_q = model.similarity_.rows(x), model.quality_.log_q(x)
    assert rows is not None  # these item sets have features
    q = np.exp(log_q)
    limits = check_limits(x.n, costs, options.get("budget"), options.get("k"), **per_group)

    selection = model.decode(x, decoder=decoder, **per_group, **options)
    embedded = Embedded(rows, np.ones(x.n), q)  # rows rows^T is what S says of two items: not their cosine
    parameters = {"decoder": decoder}
    chosen = DiverseSelection.of(selection, selection.reason, options["diversity"], parameters, limits, embedded)
    names = list(model.quality_.names)
    fields = fields_of(names, [] if model.encoding_ is None else [one.name for one in model.encoding_.features])
    return Applied(chosen, x, model.quality_.contributions(x), Relative(model, x, fields), 2.0 * log_q)


def fields_of(names: list[str], fields: list[str]) -> dict[str, IntArray]:
    """The columns of each field: those that are called as it is, or begin so ("genre=jazz", "size>=L", "x is unknown").

    Examples
    --------
    >>> {name: own.tolist() for name, own in fields_of(["constant", "genre=jazz", "genre=pop", "x"], ["genre"]).items()}
    {'genre': [1, 2], 'x': [3]}
    >>> {name: own.tolist() for name, own in fields_of(["size>=M", "size>=L"], ["size"]).items()}
    {'size': [0, 1]}
    """
    found: dict[str, list[int]] = {}
    for j, name in enumerate(names):
        own = [one for one in fields if name == one or name.startswith((f"{one}=", f"{one}>=", f"{one} "))]
        if name != "constant":
            found.setdefault(max(own, key=len, default=name), []).append(j)
    return {name: np.array(own) for name, own in found.items()}


def by_table(items: Items, encoding: Encoding, costs: FloatArray | None) -> ItemSet:
    """The items as the model's encoding reads a table."""
    columns = {one.name: one for part in (encoding.features, *encoding.phi.values()) for one in part}
    known = {name for record in items.records for name in record}
    absent = [name for name in columns if name not in known]
    if absent:
        raise ValueError(
            f"{items.name} has no field {absent[0]!r}, which the model was trained with. Fields found: "
            f"{', '.join(sorted(known))}."
        )
    table = {name: np.array([record.get(name) for record in items.records], object) for name in columns}
    for name, one in columns.items():
        check_values(items, one, table[name])
    if costs is None:
        return ItemSet.from_long(table, group=None, encoding=encoding)[0]
    table[(cost := "".join(columns) + " cost")] = costs  # no field has this name
    return ItemSet.from_long(table, group=None, cost=cost, encoding=encoding)[0]


def check_values(items: Items, column: Column, values: np.ndarray) -> None:
    """Say where a value is that the column cannot hold."""
    try:
        column.raw(values)
    except ValueError:
        for i, place in enumerate(items.places):
            try:
                column.raw(values[i : i + 1])
            except ValueError as error:
                raise ValueError(f"{place}: {error}") from None


def by_names(items: Items, names: list[str], embedding: str | None, costs: FloatArray | None) -> ItemSet:
    """Numbers under the names of the features, and embeddings; for models that were fitted to arrays."""
    field = embedding or EMBEDDING
    needed = [*(name for name in names if name != "constant"), field]
    absent = [name for name in needed if not items.has(name)]
    if absent:
        raise ValueError(
            f"{items.name} has no field {absent[0]!r}. The model was fitted to arrays: the file must have its features "
            f"({', '.join(names)}) as numbers, and similarity features as a list, in a field that --embedding names. A "
            "model that was fitted to ItemSet.from_long(...) knows its columns."
        )
    ones = np.ones(len(items.records))
    F = np.column_stack([items.numbers(name) if items.has(name) else ones for name in names])
    return ItemSet(F, phi=items.vectors(field), cost=costs, names=names)
