"""What select says of a choice: why items were kept and skipped, in words and as JSON, and in files with a picture."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dpplearn._io.atomic import replace_file
from dpplearn.cli import visible
from dpplearn.cli.applied import Applied
from dpplearn.cli.items import Items
from dpplearn.decoding.selection import DiverseSelection, Kept, Skipped
from dpplearn.plots import import_plots

ALIKE = 0.5  # the cosine from which two items that were kept are worth a word
CHOSEN = ("rank", "item", "place", "score", "gain", "share", "nearest", "similarity")
LEFT_OUT = ("item", "place", "score", "covered_by", "similarity")


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
    if "title" not in items.fields:
        return items.where
    titles = items.get("title")
    return lambda i: f"{items.where(i)} ({' '.join(str(titles[i]).split())[:60]})" if titles[i] else items.where(i)


def as_record(items: Items, chosen: DiverseSelection, explain: bool, applied: Applied | None) -> dict[str, Any]:
    selected: list[dict[str, Any]] = [
        {"item": int(i), "place": items.place(i), "gain": float(g) if np.isfinite(g) else None}
        for i, g in zip(chosen.subset, chosen.gains, strict=True)
    ]
    record: dict[str, Any] = {"selected": selected, "cost": chosen.cost, "reason": chosen.reason}

    def likeness(item: Kept | Skipped) -> dict[str, Any]:
        return {"nearest": item.nearest if item.nearest >= 0 else None, "similarity": item.similarity}

    if explain:
        for one, kept in zip(selected, chosen.kept, strict=True):
            one |= likeness(kept) | {"why": chosen.why(kept.item)}
            if applied is not None:
                because = applied.because(kept.item)
                one |= {"contributions": applied.reasons(kept.item), "reasons": [vars(reason) for reason in because]}
                one["why"] = ", ".join(reason.words for reason in because)
        record["skipped"] = [
            {"item": skipped.item, "place": items.place(skipped.item)} | likeness(skipped) | {"reason": skipped.reason}
            for skipped in chosen.skipped_among(items.where)
        ]
    return record


# Files


def check_report(folder: Path | None) -> None:
    """Files can be written in the folder, which is made, and the picture drawn: said before the work, not after it."""
    if folder is None:
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"Cannot make the folder {folder}: {error.strerror}. Give another --report.") from None
    if not os.access(folder, os.W_OK):
        raise ValueError(f"Cannot write in the folder {folder}. Give another --report.")
    try:
        import_plots("dpplearn.plots.coverage")
    except ImportError as error:
        raise ValueError(f"--report draws a picture. {error}.") from None


def write_report(
    folder: Path, items: Items, chosen: DiverseSelection, scores: Any, groups: Sequence[str] | None = None
) -> list[Path]:
    """chosen.csv, left-out.csv (the nearest to a chosen item first) and selection.svg in a folder that is there."""
    files = [folder / "chosen.csv", folder / "left-out.csv", folder / "selection.svg"]
    added = zip(chosen.kept, chosen.gains.tolist(), chosen.shares.tolist(), strict=True)
    kept = (
        (rank, i, items.place(i), scores[i], gain, share, j if j >= 0 else "", similarity)
        for rank, ((i, j, similarity), gain, share) in enumerate(added, 1)
    )
    write_table(files[0], CHOSEN, kept)
    covered, similarity = chosen.nearest
    order = np.argsort(-similarity, kind="stable")
    rest = order[~np.isin(order, chosen.subset)].tolist()
    left = ((i, items.place(i), scores[i], covered[i] if covered[i] >= 0 else "", similarity[i]) for i in rest)
    write_table(files[1], LEFT_OUT, left)
    draw = import_plots("dpplearn.plots.coverage").draw_coverage
    shown = None if groups is None else [visible(group) for group in groups]  # no font draws half of a character
    with replace_file(files[2], "wb") as file:
        draw(chosen, shown).savefig(file, format="svg")
    return files


def write_table(path: Path, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    with replace_file(path, "w") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(names)
        out.writerows([f"{x:.6g}" if isinstance(x, float) else x for x in row] for row in rows)
