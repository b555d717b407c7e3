"""Tables 1 and 2 on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from dpplearn.cli import visible

if TYPE_CHECKING:
    from dpplearn.rouge import CorpusScore
    from dpplearn.summarize.experiments.evaluation import SystemComparison

COLUMNS = (("rouge-1", "f"), ("rouge-1", "p"), ("rouge-1", "r"), ("rouge-2", "f"), ("rouge-su4", "f"))


def console() -> Console:
    """Standard output; wide enough for the table where it is not a terminal. Names in brackets are no markup."""
    return Console(markup=False, width=None if sys.stdout.isatty() else 140)


def print_table_2(found: SystemComparison, title: str, paper: Mapping[str, Sequence[float]] | None = None) -> None:
    from dpplearn.summarize.experiments.systems import SYSTEM_TITLES

    best = found.details["best"]
    best_name = visible(SYSTEM_TITLES.get(best, best))
    table = Table(title=visible(title), caption=f"p: paired bootstrap of ROUGE-1F against {best_name}, the best.")
    table.add_column("System")
    for metric, measure in COLUMNS:
        table.add_column(f"{metric.upper()}{measure.upper()}".replace("ROUGE-", "R-"), justify="right")
    table.add_column("R-1F 95 %", justify="right")
    table.add_column("p", justify="right")
    if paper is not None:
        table.add_column("paper, DUC 2004: R-1F / 1P / 1R / 2F / SU4F", justify="right")
    for name, figures in found.results["systems"].items():
        details = found.details["systems"][name]
        (low, high), tests = details["intervals"]["rouge-1"]["f"], details["against_best"]
        cells = [visible(SYSTEM_TITLES.get(name, f"Peer {name}"))]
        cells += [f"{figures[metric][measure]:.2f}" for metric, measure in COLUMNS]
        cells += [f"{low:.2f} to {high:.2f}", f"{tests['rouge-1']['p']:.3f}" if tests else ""]
        if paper is not None:
            cells.append(" / ".join(f"{x:.2f}" for x in paper[name]) if name in paper else "")
        table.add_row(*cells, style="bold" if name == best else None)
    console().print(table)


def print_table_1(scores: Mapping[str, CorpusScore], paper: Mapping[str, Sequence[float]], title: str) -> None:
    table = Table("System", title=visible(title))
    for name in ("R-1F", "R-2F", "R-SU4F", "paper, DUC 2003: R-1F / 2F / SU4F"):
        table.add_column(name, justify="right")
    for name, score in scores.items():
        cells = [f"{100 * average.f.average:.2f}" for average in score.averages.values()]
        theirs = " / ".join(f"{x:.2f}" for x in paper[name]) if name in paper else ""
        table.add_row(name.capitalize(), *cells, theirs)
    console().print(table)
