"""What select says of a choice: what each item that was kept is like, and why the others were skipped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dpplearn.cli.applied import Applied
from dpplearn.cli.items import Items
from dpplearn.decoding.selection import DiverseSelection, Kept, Skipped

ALIKE = 0.5  # the cosine from which two items that were kept are worth a word


def explanation(items: Items, chosen: DiverseSelection, applied: Applied | None) -> Iterator[str]:
    """What each item that was kept is most like, what to do where two are alike, and why the others were skipped."""
    usual, name = 0.0 if applied is None else applied.usual, names_of(items)
    if applied is not None:
        yield f"Similarities are those of the model: {usual:.2f} on average between two of these items."
    for kept in chosen.kept:
        alike = "" if kept.nearest < 0 else "; like none of the others kept"
        if kept.similarity >= 0.005:  # 0.01, as it is printed
            alike = f"; of the others kept, most like {name(kept.nearest)} ({kept.similarity:.2f})"
        why = chosen.why(kept.item) if applied is None else ", ".join(x.words for x in applied.because(kept.item))
        yield f"{items.name}, {name(kept.item)}: kept{f' for {why}' if why else ''}{alike}."
    closest = max(chosen.kept, key=lambda kept: kept.similarity, default=None)
    much = usual + ALIKE * (1.0 - usual)  # where all items are alike, two of them are no more so
    if closest is not None and closest.similarity >= much and chosen.skipped and chosen.diversity < 1.0:
        yield (
            f"Note: {name(closest.item)} and {name(closest.nearest)} were both kept, though "
            f"{closest.similarity:.2f} similar: a --diversity above {chosen.diversity:g} makes that count for more."
        )
    for skipped in chosen.skipped_among(name):
        yield f"{items.name}, {name(skipped.item)}: {skipped.reason}."


def names_of(items: Items) -> Callable[[int], str]:
    """How an item is called in reasons: its place in the file, with its title where it has one."""
    if not items.has("title"):
        return items.where
    titles = items.get("title")
    return lambda i: f"{items.where(i)} ({' '.join(str(titles[i]).split())[:60]})" if titles[i] else items.where(i)


def as_record(items: Items, chosen: DiverseSelection, explain: bool, applied: Applied | None) -> dict[str, Any]:
    selected: list[dict[str, Any]] = [
        {"item": int(i), "place": items.places[i], "gain": float(g) if np.isfinite(g) else None}
        for i, g in zip(chosen.subset, chosen.gains, strict=True)
    ]
    record: dict[str, Any] = {"selected": selected, "cost": chosen.cost, "reason": chosen.reason}
    if explain:
        for one, kept in zip(selected, chosen.kept, strict=True):
            one |= likeness(kept) | {"why": chosen.why(kept.item)}
            if applied is not None:
                because = applied.because(kept.item)
                one |= {"contributions": applied.reasons(kept.item), "reasons": [vars(reason) for reason in because]}
                one["why"] = ", ".join(reason.words for reason in because)
        record["skipped"] = [
            {"item": skipped.item, "place": items.places[skipped.item]} | likeness(skipped) | {"reason": skipped.reason}
            for skipped in chosen.skipped_among(items.where)
        ]
    return record


def likeness(item: Kept | Skipped) -> dict[str, Any]:
    """The nearest item that was kept, if there is one, and how similar the two are."""
    return {"nearest": item.nearest if item.nearest >= 0 else None, "similarity": item.similarity}
