"""What select says of a choice, in words and as JSON; and a saved ConditionalDPP that chooses."""

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
from dpplearn.learning.relative import Reason, Relative, strongest
from dpplearn.learning.tables import Encoding, raw_columns

NOTED_FROM = 0.5  # the cosine from which two items that were kept are worth a word


class AppliedModel:
    """A model and the items that it chooses from: numbers and categories are read as they were in training."""

    def __init__(self, path: Path, items: Items, costs: FloatArray | None) -> None:
        self.model = model = ConditionalDPP.load(path)
        if model.encoding_ is None:
            raise ValueError(
                f"{path} was fitted to arrays, and knows no fields. Fit it to what ItemSet.from_long(...) returns."
            )
        columns = model.encoding_.features
        self.items, self.raw = by_table(items, model.encoding_, costs)
        self.columns = {column.name: (j, column) for j, column in enumerate(columns)}
        field_of = {name: column.name for column in columns for name in column.quality_names}
        fields: dict[str, list[int]] = {}
        for j, name in enumerate(model.quality_.names):
            if name != "constant":
                fields.setdefault(field_of.get(name, name), []).append(j)
        self.relative = Relative(model, self.items, {name: np.array(own) for name, own in fields.items()})
        self.log_q = model.quality_.log_q(self.items)
        self.rows: Any = model.similarity_.rows(self.items)

    def choose(self, **options: Any) -> DiverseSelection:
        """A choice under the options of `diversify`; the similarities are the model's."""
        names = ("budget", "k", "groups", "max_per_group", "min_per_group")
        limits = check_limits(self.items.n, self.items.cost, **{name: options[name] for name in names})
        chosen = self.model.decode(self.items, **options)
        # rows rows^T is what S says of two items: not their cosine
        embedded = Embedded(self.rows, np.ones(self.items.n), np.exp(self.log_q))
        how = (options["diversity"], {"decoder": options["decoder"]}, limits, embedded)
        return DiverseSelection.of(chosen, chosen.reason, *how)

    def reasons(self, item: int) -> tuple[Reason, ...]:
        """At most three fields that speak for an item against the average one, beyond their error."""
        amounts, error = self.relative.amounts, self.relative.error
        return strongest(
            [Reason(name, self.words(name, item), float(x[item]), error(item, name)) for name, x in amounts.items()]
        )

    def words(self, name: str, item: int) -> str:
        """What an item has in a field, in words."""
        if name in self.columns:
            j, column = self.columns[name]
            return column.words(float(self.raw[item, j]))
        return f"its {name} of {self.relative.values[item, self.relative.groups[name][0]]:.4g}"

    @property
    def usual(self) -> float:
        """The mean similarity of two different items under the model, which may have learned it."""
        n = self.items.n
        return float((self.rows.sum(axis=0) ** 2).sum() - (self.rows**2).sum()) / max(n * (n - 1), 1)


def by_table(items: Items, encoding: Encoding, costs: FloatArray | None) -> tuple[ItemSet, FloatArray]:
    """The items as the model's encoding reads a table, and the columns that it makes features of, as numbers."""
    table, cost = dict[str, Any](), None
    for column in chain(encoding.features, *encoding.phi.values()):
        values = items.column(column.name, missing=True)
        values = items.with_points(values) if column.kind == "number" else values
        table[column.name] = np.array(list(values), object)
    if costs is not None:
        table[(cost := "".join(table) + " cost")] = costs  # no field has this name
    try:
        read = ItemSet.from_long(table, group=None, cost=cost, encoding=encoding)[0]
        return read, raw_columns(table, encoding.features, read.n, new=False)
    except ValueError as error:
        raise ValueError(f"{items.name}: {error}") from None


def explanation(items: Items, chosen: DiverseSelection, applied: AppliedModel | None) -> Iterator[str]:
    """What each item that was kept is most like, what to do where two are alike, and why the others were skipped."""
    usual, name = 0.0 if applied is None else applied.usual, item_names(items)
    if applied is not None:
        yield f"Similarities are those of the model: {usual:.2f} on average between two of these items."
    for kept in chosen.kept:
        alike = "" if kept.nearest < 0 else "; like none of the others kept"
        if kept.similarity >= 0.005:  # 0.01, as it is printed
            alike = f"; of the others kept, most like {name(kept.nearest)} ({kept.similarity:.2f})"
        why = why_kept(chosen, applied, kept.item)
        yield f"{items.name}, {name(kept.item)}: kept{f' for {why}' if why else ''}{alike}."
    closest = max(chosen.kept, key=lambda kept: kept.similarity, default=None)
    much = usual + NOTED_FROM * (1.0 - usual)  # where all items are alike, two of them are no more so
    if closest is not None and closest.similarity >= much and chosen.skipped and chosen.diversity < 1.0:
        yield (
            f"Note: {name(closest.item)} and {name(closest.nearest)} were both kept, though "
            f"{closest.similarity:.2f} similar: a --diversity above {chosen.diversity:g} makes that count for more."
        )
    for skipped in chosen.skipped_among(name):
        yield f"{items.name}, {name(skipped.item)}: {skipped.reason}."


def why_kept(chosen: DiverseSelection, applied: AppliedModel | None, item: int) -> str:
    """What speaks for a chosen item, in words."""
    return chosen.why(item) if applied is None else ", ".join(reason.words for reason in applied.reasons(item))


def item_names(items: Items) -> Callable[[int], str]:
    """How an item is called in reasons: its place in the file, with its title where it has one."""
    if "title" not in items.fields:
        return items.where
    titles = items.get("title")
    return lambda i: f"{items.where(i)} ({' '.join(str(titles[i]).split())[:60]})" if titles[i] else items.where(i)


def as_record(items: Items, chosen: DiverseSelection, explain: bool, applied: AppliedModel | None) -> dict[str, Any]:
    """The choice as JSON, with the reasons where they are asked for."""
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
