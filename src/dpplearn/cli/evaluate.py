"""dpplearn evaluate: every system over a corpus, scored against its references."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.table import Table

from dpplearn.cli import print_json, print_table, say, stoppable, usage_errors, visible
from dpplearn.cli.bars import bars
from dpplearn.cli.options import AS_JSON, CORPUS, FILE, JOBS, LANGUAGE, MODEL, SKIP_BAD, UNIT, Command, several

if TYPE_CHECKING:
    from dpplearn.summarize.corpora.cluster import Cluster
    from dpplearn.summarize.experiments.evaluation import SystemComparison

COLUMNS = (("rouge-1", "f"), ("rouge-1", "p"), ("rouge-1", "r"), ("rouge-2", "f"), ("rouge-su4", "f"))

run_options = several(
    click.option("--systems", default="", metavar="NAMES", help="With commas between.  [default: all]"),
    click.option("--out", type=FILE, help="Folder for results.json and all summaries."),
    LANGUAGE,
    JOBS,
)


@click.command(name="evaluate", cls=Command)
@click.argument("corpus", type=CORPUS)
@MODEL
@click.option("--budget", type=float, help="Length of the summaries.  [default: the model's]")
@click.option("--unit", type=UNIT, help="Of the budget.  [default: the model's]")
@AS_JSON
@run_options
@SKIP_BAD
def command(
    corpus: Path,
    model: Path | None,
    budget: float | None,
    unit: str | None,
    as_json: bool,
    systems: str,
    out: Path | None,
    language: str | None,
    jobs: int,
    skip_bad: bool,
) -> None:
    """Summarize CORPUS with every system and score the summaries with ROUGE, in percent.

    Prints a table like Table 2 of the paper. Sampled and consensus summaries may run 15 bytes over a budget of bytes;
    the scorer trims every summary to the limit. With --out, a run that was stopped goes on where it was.
    """
    from dpplearn._run.workers import open_workers
    from dpplearn.summarize.corpora.reading import open_corpus
    from dpplearn.summarize.experiments.evaluation import (
        Scoring,
        clusters_to_score,
        evaluate_systems,
        evaluation_record,
    )
    from dpplearn.summarize.experiments.results_folder import ResultsFolder
    from dpplearn.summarize.experiments.systems import LEARNED, SystemModels, check_systems
    from dpplearn.summarize.summarizer import Summarizer
    from dpplearn.summarize.text.units import check_budget

    with usage_errors():
        names = check_systems(systems.split(","))
        if (budget is None) != (unit is None):
            raise ValueError("Give --budget and --unit together: a number means nothing without its unit.")
        if systems and not set(LEARNED).isdisjoint(names):
            raise ValueError("lr-mmr and lr-dpp learn from a corpus: dpplearn experiment --train CORPUS has them.")
    names = [name for name in names if name not in LEARNED]
    summarizer = Summarizer.load(model)
    unit = str(summarizer.unit) if unit is None else unit
    budget = check_budget(summarizer.budget if budget is None else budget, unit)
    with stoppable(lambda: stopped(out)):
        whole = open_corpus(corpus, skip_bad=skip_bad, language=language, usable=skip_bad)
        clusters = clusters_to_score(whole, str(corpus))
        scoring = Scoring(budget, unit, scored_language(clusters, summarizer.language_))
        called = {"corpus": corpus.name, "model": "bundled" if model is None else model.name}
        folder = ResultsFolder(out, evaluation_record(summarizer, clusters, scoring, called))
        with bars() as show, open_workers(None, jobs) as workers:
            found = evaluate_systems(SystemModels(summarizer), clusters, names, scoring, folder, workers, progress=show)
    if as_json:
        print_json({**found.results, "details": found.details})
    else:
        print_table_2(found, f"{corpus.name}: {len(clusters)} clusters, {budget:g} {unit}")
    wrote(out)


def scored_language(clusters: list[Cluster], language: str | None) -> str | None:
    """The language that summaries are scored in: the model's, or the clusters' own if that may be any.

    A warning where a model for one language is given clusters in others.
    """
    from dpplearn.summarize.corpora.mismatch import language_of
    from dpplearn.summarize.text.words import ANY, ENGLISH, normal_language

    if language == ANY:
        with usage_errors():
            found = {language_of(cluster) or ENGLISH for cluster in clusters}
            if len(found) > 1:
                raise ValueError(
                    f"The clusters must be in one language to be scored together, found {', '.join(sorted(found))}. "
                    "Choose with --language."
                )
        return found.pop() if found else None
    ours = language or ENGLISH
    others = {language_of(c) if ours == ENGLISH else normal_language(c.language) for c in clusters} - {None, ours}
    if others:
        say(
            f"Warning: the model is for {ours}, but there are clusters in {', '.join(sorted(map(str, others)))}. "
            "Choose clusters with --language, and a model for theirs with --model."
        )
    return language


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
    print_table(table)


def wrote(out: Path | None) -> None:
    if out is not None:
        say(f"Wrote {out}.")


def stopped(out: Path | None) -> str:
    """What to say on Ctrl-C: what is kept, and how to go on."""
    if out is None:
        return "Stopped. Nothing is kept: with --out FOLDER, a run that was stopped goes on where it was."
    return f"Stopped. {out} keeps what is done: run the same command with the same --out to go on."
