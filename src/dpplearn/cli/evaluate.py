"""dpplearn evaluate: every system over a corpus, scored against its references."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import click

from dpplearn.cli import plain_errors, plain_warnings, stoppable, usage_errors
from dpplearn.cli.bars import bars
from dpplearn.cli.corpus import read_corpus, warn_of_other_languages
from dpplearn.cli.options import PATH, Run, run_options
from dpplearn.cli.tables import print_table_2

STOPPED = "Stopped. What is done is kept: run the same command with the same --out to go on."


@click.command(name="evaluate")
@click.argument("corpus", type=PATH)
@click.option("--model", type=click.Path(path_type=Path), help="A model file.  [default: the English one inside]")
@click.option("--systems", default="", help="Names, with commas between.  [default: all]")
@click.option("--budget", type=float, help="Length of the summaries.  [default: the model's]")
@click.option("--unit", type=click.Choice(["bytes", "words", "sentences"]), help="[default: the model's]")
@click.option("--split", help="Only clusters of this part of the corpus, such as test.")
@click.option("--language", help="Only clusters in this language.")
@run_options
def command(
    corpus: Path,
    model: Path | None,
    systems: str,
    budget: float | None,
    unit: str | None,
    split: str | None,
    language: str | None,
    run: Run,
) -> None:
    """Summarize CORPUS with every system and score the summaries with ROUGE, in percent.

    Prints a table like Table 2 of the paper. Sampled and consensus summaries may run 15 bytes over a budget of bytes;
    the scorer trims every summary to the limit. With --out, a run that was stopped goes on where it was.
    """
    from dpplearn.summarize.experiments.evaluation import (
        Scoring,
        Task,
        check_clusters,
        make_summaries,
        records,
        score_table,
    )
    from dpplearn.summarize.experiments.resume import ResultsFolder, corpus_fingerprint, fingerprint
    from dpplearn.summarize.experiments.systems import LEARNED, check_systems
    from dpplearn.summarize.summarizer import Summarizer
    from dpplearn.summarize.text.units import check_budget

    with usage_errors():
        names = check_systems(systems.split(","))
        if (budget is None) != (unit is None):
            raise ValueError("Give --budget and --unit together: a number means nothing without its unit.")
    with plain_errors(), plain_warnings():
        summarizer = Summarizer.load(model)
        if not systems and summarizer.logistic_ is None:
            names = [name for name in names if name not in LEARNED]
            click.echo("The model has no weights for lr-mmr and lr-dpp: these are left out. Train it again.", err=True)
        unit = str(summarizer.unit) if unit is None else unit
        budget = check_budget(summarizer.budget if budget is None else budget, unit)
        clusters = read_corpus(corpus, run.encoding, run.skip_bad, only=run.only, split=split, language=language)
        clusters = check_clusters(clusters, str(corpus))
        warn_of_other_languages(clusters, summarizer.language)
        settings = {
            "command": "evaluate",
            "corpus": corpus.name,
            "corpus_hash": corpus_fingerprint(clusters),
            "model": "bundled" if model is None else model.name,
            "model_hash": fingerprint([summarizer.theta_, summarizer.rho_, summarizer.features_.idf.counts,
                                       summarizer.features_.edges, vars_of(summarizer)]),
            "clusters": len(clusters),
            **common(budget, unit, summarizer.language),
        }  # fmt: skip
        folder = ResultsFolder(run.out, settings)
        tasks = [Task("model", (cluster,), tuple(names)) for cluster in clusters]
        with stoppable(stopped(run)), bars() as show:
            report = partial(show.stage, "Summarizing")
            made = make_summaries({"model": summarizer}, tasks, budget, unit, folder, jobs=run.jobs, report=report)
        rows, best = score_table(made, clusters, Scoring(budget, unit, summarizer.language))
        results, details = records(rows, best, settings)
        folder.write(results, details, names)
    if not run.as_json:
        print_table_2(rows, best, f"{corpus.name}: {len(clusters)} clusters, {budget:g} {unit}")
    finish(run, results, details)


def finish(run: Run, results: dict[str, Any], details: dict[str, Any]) -> None:
    """Print the results where JSON was asked for, and say where they are."""
    if run.as_json:
        click.echo(json.dumps({**results, "details": details}, indent=2, ensure_ascii=False))
    if run.out is not None:
        click.echo(f"Wrote {run.out}.", err=True)


def vars_of(summarizer: Any) -> dict[str, Any]:
    """What else than its weights a summarizer's summaries depend on."""
    from dpplearn.summarize.model.modelfile import SETTINGS

    logistic = summarizer.logistic_
    own = {name: getattr(summarizer, name) for name in SETTINGS}
    return own | {"logistic": None if logistic is None else [logistic.w, logistic.tradeoff]}


def common(budget: float, unit: str, language: str | None) -> dict[str, Any]:
    from dpplearn import __version__
    from dpplearn.summarize.experiments.systems import OVERRUN

    return {
        "budget": budget,
        "unit": unit,
        "overrun_bytes": OVERRUN if unit == "bytes" else 0.0,
        "language": language or "english",
        "rouge": "1.5.5, stemmed" if language in (None, "english") else "1.5.5 on unicode words, not stemmed",
        "dpplearn": __version__,
    }


def stopped(run: Run) -> str:
    """What to say on Ctrl-C."""
    return "Stopped." if run.out is None else STOPPED
