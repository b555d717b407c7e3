"""A saved ConditionalDPP applied to a file of items: what it chooses, and what each feature adds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from dpplearn._checks import FloatArray
from dpplearn.cli.formats import beside
from dpplearn.cli.items import Items
from dpplearn.decoding.candidates import Embedded
from dpplearn.decoding.limits import check_limits
from dpplearn.decoding.selection import DiverseSelection
from dpplearn.learning import ConditionalDPP, ItemSet
from dpplearn.learning.relative import Reason, Relative, strongest
from dpplearn.learning.tables import Encoding


class Applied:
    """A model and the items that it chooses from: numbers and categories are read as they were in training."""

    def __init__(self, path: Path, items: Items, embedding: str | None, costs: FloatArray | None) -> None:
        self.model = model = ConditionalDPP.load(path)
        if model.encoding_ is None:
            names = list(model.feature_names_in_[-model.n_features_in_ :])
            self.items = by_names(items, names, embedding or "embedding", costs)
        elif embedding is not None:
            raise ValueError(f"{path} says which fields make items alike: leave --embedding out.")
        else:
            self.items = by_table(items, model.encoding_, costs)
        features = () if model.encoding_ is None else model.encoding_.features
        self.columns = {one.name: one for one in features}
        field_of = {name: one.name for one in features for name in one.quality_names}
        self.names = list(model.quality_.names)
        fields: dict[str, list[int]] = {}
        for j, name in enumerate(self.names):
            if name != "constant":
                fields.setdefault(field_of.get(name, name), []).append(j)
        self.relative = Relative(model, self.items, {name: np.array(own) for name, own in fields.items()})
        self.contributions = model.quality_.contributions(self.items)
        self.log_q = model.quality_.log_q(self.items)
        self.rows: Any = model.similarity_.rows(self.items)

    def choose(self, **options: Any) -> DiverseSelection:
        """A choice under the options of `diversify`; the similarities are the model's."""
        names = ("budget", "k", "groups", "max_per_group", "min_per_group")
        limits = check_limits(self.items.n, self.items.cost, **{name: options[name] for name in names})
        found = self.model.decode(self.items, **options)
        # rows rows^T is what S says of two items: not their cosine
        embedded = Embedded(self.rows, np.ones(self.items.n), np.exp(self.log_q))
        how = (options["diversity"], {"decoder": options["decoder"]}, limits, embedded)
        return DiverseSelection.of(found, found.reason, *how)

    def because(self, item: int) -> tuple[Reason, ...]:
        """At most three fields that speak for an item against the average one, beyond their error."""
        amounts, error = self.relative.amounts, self.relative.error
        return strongest(
            [Reason(name, self.words(name, item), float(x[item]), error(item, name)) for name, x in amounts.items()]
        )

    def words(self, name: str, item: int) -> str:
        """What an item has in a field, in words."""
        if name in self.columns:
            return self.columns[name].words(float(self.items.columns[item, list(self.columns).index(name)]))
        return f"its {name} of {self.relative.values[item, self.relative.groups[name][0]]:.4g}"

    @property
    def usual(self) -> float:
        """The mean similarity of two different items under the model, which may have learned it."""
        n = self.items.n
        return float((self.rows.sum(axis=0) ** 2).sum() - (self.rows**2).sum()) / max(n * (n - 1), 1)

    def reasons(self, item: int) -> dict[str, float]:
        """What counts for an item, the largest first; the constant counts for all."""
        added = zip(self.names, self.contributions[item].tolist(), strict=True)
        return dict(sorted(((name, x) for name, x in added if x and name != "constant"), key=lambda one: -abs(one[1])))


def by_table(items: Items, encoding: Encoding, costs: FloatArray | None) -> ItemSet:
    """The items as the model's encoding reads a table; an error says where a value is that a column cannot hold."""
    columns = {one.name: one for part in (encoding.features, *encoding.phi.values()) for one in part}
    if absent := [name for name in columns if name not in items.fields]:
        raise ValueError(
            f"{items.name} has no field {absent[0]!r}, which the model was trained with. Fields found: "
            f"{', '.join(sorted(items.fields))}."
        )
    table = {name: np.array(list(items.get(name)), object) for name in columns}
    for name, values in table.items():
        try:
            columns[name].raw(values)
        except ValueError:
            for i in range(items.n):
                try:
                    columns[name].raw(values[i : i + 1])
                except ValueError as error:
                    raise ValueError(f"{items.place(i)}: {error}") from None
    cost = None
    if costs is not None:
        table[(cost := "".join(columns) + " cost")] = costs  # no field has this name
    return ItemSet.from_long(table, group=None, cost=cost, encoding=encoding)[0]


def by_names(items: Items, names: list[str], embedding: str, costs: FloatArray | None) -> ItemSet:
    """Numbers under the names of the features, and embeddings; for models that were fitted to arrays."""
    rows, embedding = beside(items, embedding, "embedding", 2)
    absent = [name for name in names if name != "constant" and name not in items.fields]
    absent += [name for name in (embedding,) if name not in rows.fields]
    if absent:
        raise ValueError(
            f"{items.name} has no field {absent[0]!r}. The model was fitted to arrays: the file must have its features "
            f"({', '.join(names)}) as numbers, and similarity features as a list, in a field that --embedding names. A "
            "model that was fitted to ItemSet.from_long(...) knows its columns."
        )
    F = np.column_stack([items.numbers(name) if name in items.fields else np.ones(items.n) for name in names])
    return ItemSet(F, phi=rows.vectors(embedding), cost=costs, names=names)
