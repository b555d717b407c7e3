"""What was chosen and why, in files: chosen items, what covers the others, and a picture."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dpplearn._io.atomic import replace_file
from dpplearn.cli import visible
from dpplearn.cli.items import Items
from dpplearn.decoding.selection import DiverseSelection
from dpplearn.plots import import_plots

CHOSEN = ("rank", "item", "place", "score", "gain", "share", "nearest", "similarity")
LEFT_OUT = ("item", "place", "score", "covered_by", "similarity")


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
    covered, similarity = chosen.nearest
    gains, shares = chosen.gains.tolist(), chosen.shares.tolist()
    kept = (
        (rank, one.item, items.places[one.item], scores[one.item], gain, share, name(one.nearest), one.similarity)
        for rank, (one, gain, share) in enumerate(zip(chosen.kept, gains, shares, strict=True), 1)
    )
    rest = np.ones(covered.size, np.bool_)
    rest[chosen.subset] = False
    order = np.flatnonzero(rest)
    order = order[np.argsort(-similarity[order], kind="stable")].tolist()
    left = ((i, items.places[i], scores[i], name(covered[i]), similarity[i]) for i in order)
    files = [folder / "chosen.csv", folder / "left-out.csv", folder / "selection.svg"]
    write_table(files[0], CHOSEN, kept)
    write_table(files[1], LEFT_OUT, left)
    draw = import_plots("dpplearn.plots.coverage").draw_coverage
    shown = None if groups is None else [visible(group) for group in groups]  # no font draws half of a character
    with replace_file(files[2], "wb") as file:
        draw(chosen, shown).savefig(file, format="svg")
    return files


def name(item: int) -> str:
    """An item's number, or nothing."""
    return "" if item < 0 else str(int(item))


def write_table(path: Path, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    with replace_file(path, "w") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(names)
        out.writerows([f"{x:.6g}" if isinstance(x, float) else x for x in row] for row in rows)
