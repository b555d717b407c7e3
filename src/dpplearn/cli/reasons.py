"""For `dpplearn select`: a saved ConditionalDPP that chooses, and the reasons for a choice, as lines and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from dpplearn._checks import FloatArray
from dpplearn.cli.items import Items
from dpplearn.decoding.candidates import Embedded
from dpplearn.decoding.limits import check_limits
from dpplearn.decoding.selection import DiverseSelection, Kept, Skipped
from dpplearn.learning import ConditionalDPP, ItemSet
from dpplearn.learning.reasons import GroupEffects, Reason, strongest_reasons
from dpplearn.learning.tables import Encoding, raw_columns

NOTED_FROM = 0.5  # two items that were kept get a note if their cosine is at least this


class AppliedModel:
    """A model and the items it chooses from, whose numbers and categories are encoded as in training."""

    def __init__(self, path: Path, items: Items, costs: FloatArray | None) -> None:
        self.model = model = ConditionalDPP.load(path)
        if model.encoding_ is None:
            raise ValueError(f"{path} was fitted to arrays without names of fields. Fit it to ItemSet.from_long(...).")
        columns = model.encoding_.features
        self.items, self.raw = by_table(items, model.encoding_, costs)
        self.columns = {column.name: (j, column) for j, column in enumerate(columns)}
        field_of = {name: column.name for column in columns for name in column.quality_names}
        fields: dict[str, list[int]] = {}
        for j, name in enumerate(model.quality_.names):
            if name != "constant":
                fields.setdefault(field_of.get(name, name), []).append(j)
        self.relative = GroupEffects(model, self.items, {name: np.array(own) for name, own in fields.items()})
        self.log_q = model.quality_.log_q(self.items)
        self.rows: Any = model.similarity_.rows(self.items)

    def choose(self, **options: Any) -> DiverseSelection:
        """Choose with the options of `diversify`; similarities are the model's."""
        names = ("budget", "k", "groups", "max_per_group", "min_per_group")
        limits = check_limits(self.items.n, self.items.cost, **{name: options[name] for name in names})
        chosen = self.model.decode(self.items, **options)
        # rows rows^T is the model's similarity S of two items, and not their cosine
        embedded = Embedded(self.rows, np.ones(self.items.n), np.exp(self.log_q))
        how = (options["diversity"], {"decoder": options["decoder"]}, limits, embedded)
        return DiverseSelection.of(chosen, chosen.reason, *how)

    def reasons(self, item: int) -> tuple[Reason, ...]:
        """At most three fields that make an item likelier than the average one, by more than their standard error."""
        amounts, error = self.relative.amounts, self.relative.error
        return strongest_reasons(
            [Reason(name, self.words(name, item), float(x[item]), error(item, name)) for name, x in amounts.items()]
        )

    def words(self, name: str, item: int) -> str:
        """The value that an item has in a field, in words."""
        if name in self.columns:
            j, column = self.columns[name]
            return column.words(float(self.raw[item, j]))
        return f"its {name} of {self.relative.values[item, self.relative.groups[name][0]]:.4g}"

    @property
    def usual(self) -> float:
        """The mean similarity of two different items under the model."""
        n = self.items.n
        return float((self.rows.sum(axis=0) ** 2).sum() - (self.rows**2).sum()) / max(n * (n - 1), 1)


def by_table(items: Items, encoding: Encoding, costs: FloatArray | None) -> tuple[ItemSet, FloatArray]:
    """The items in the model's encoding, and the columns of its features, as numbers."""
    table, cost = dict[str, Any](), None
    for column in chain(encoding.features, *encoding.phi.values()):
        values = items.column(column.name, missing=True)
        values = items.with_points(values) if column.kind == "number" else values
        table[column.name] = np.array(list(values), object)
    if costs is not None:
        table[(cost := "".join(table) + " cost")] = costs  # a name that no field has
    try:
        item_set = ItemSet.from_long(table, group=None, cost=cost, encoding=encoding)[0]
        return item_set, raw_columns(table, encoding.features, item_set.n, new=False)
    except ValueError as error:
        raise ValueError(f"{items.name}: {error}") from None


def explanation(items: Items, chosen: DiverseSelection, applied: AppliedModel | None) -> Iterator[str]:
    """Why items were kept, and which other each is most like; what to do if two are alike; why items were skipped."""
    usual, name = 0.0 if applied is None else applied.usual, item_names(items)
    if applied is not None:
        yield f"Similarities are the model's: {usual:.2f} on average between two of these items."
    for kept in chosen.kept:
        alike = "" if kept.nearest < 0 else "; like none of the others kept"
        if kept.similarity >= 0.005:  # printed as 0.01
            alike = f"; of the others kept, most like {name(kept.nearest)} ({kept.similarity:.2f})"
        why = why_kept(chosen, applied, kept.item)
        yield f"{items.name}, {name(kept.item)}: kept{f' for {why}' if why else ''}{alike}."
    closest = max(chosen.kept, key=lambda kept: kept.similarity, default=None)
    much = usual + NOTED_FROM * (1.0 - usual)  # if all items are alike, two alike are not worth a note
    if closest is not None and closest.similarity >= much and chosen.skipped and chosen.diversity < 1.0:
        both = f"{name(closest.item)} and {name(closest.nearest)}, of similarity {closest.similarity:.2f}"
        yield f"Note: {both}, were both kept. To avoid this, raise --diversity above {chosen.diversity:g}."
    for skipped in chosen.skipped_among(name):
        yield f"{items.name}, {name(skipped.item)}: {skipped.reason}."


def why_kept(chosen: DiverseSelection, applied: AppliedModel | None, item: int) -> str:
    """Why an item was chosen, in words."""
    return chosen.why(item) if applied is None else ", ".join(reason.words for reason in applied.reasons(item))


def item_names(items: Items) -> Callable[[int], str]:
    """The name of an item in reasons: its place in the file, with its title if it has one."""
    if "title" not in items.fields:
        return items.where
    titles = items.get("title")
    return lambda i: f"{items.where(i)} ({' '.join(str(titles[i]).split())[:60]})" if titles[i] else items.where(i)


def as_record(items: Items, chosen: DiverseSelection, explain: bool, applied: AppliedModel | None) -> dict[str, Any]:
    """The choice as JSON, with the reasons if `explain` is set."""
    gains = [float(gain) if np.isfinite(gain) else None for gain in chosen.gains]
    subset = chosen.subset.tolist()
    selected: list[dict[str, Any]] = [
        {"item": i, "place": items.place(i), "gain": gain} for i, gain in zip(subset, gains, strict=True)
    ]
    record: dict[str, Any] = {"selected": selected, "cost": chosen.cost, "reason": chosen.reason}
    if not explain:
        return record

    def likeness(item: Kept | Skipped) -> dict[str, Any]:
        return {"nearest": item.nearest if item.nearest >= 0 else None, "similarity": item.similarity}

    for entry, kept in zip(selected, chosen.kept, strict=True):
        entry |= likeness(kept) | {"why": why_kept(chosen, applied, kept.item)}
        if applied is not None:
            entry["reasons"] = [vars(reason) for reason in applied.reasons(kept.item)]
    record["skipped"] = [
        {"item": skipped.item, "place": items.place(skipped.item)} | likeness(skipped) | {"reason": skipped.reason}
        for skipped in chosen.skipped_among(items.where)
    ]
    return record
