"""dpplearn evaluate: every system over a corpus, scored against its references."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpplearn.cli import print_json, say, stoppable, usage_errors
from dpplearn.cli.bars import bars
from dpplearn.cli.corpus import read_for_scoring, scored_language
from dpplearn.cli.options import COMPRESS, CORPUS, ENCODER, MODEL, UNIT, Run, named_encoder, run_options
from dpplearn.cli.tables import print_table_2

if TYPE_CHECKING:
    from dpplearn.summarize.experiments.evaluation import Comparison


@click.command(name="evaluate")
@click.argument("corpus", type=CORPUS)
@MODEL
@ENCODER
@click.option("--systems", default="", help="Names, with commas between.  [default: all]")
@click.option("--train", type=CORPUS, help="Corpus that lr-mmr and lr-dpp learn from.  [default: they are left out]")
@COMPRESS
@click.option("--budget", type=float, help="Length of the summaries.  [default: the model's]")
@click.option("--unit", type=UNIT, help="[default: the model's]")
@click.option("--split", help="Only clusters of this part of the corpus, such as test.")
@click.option("--language", help="Only clusters in this language.")
@run_options
def command(
    corpus: Path,
    model: Path | None,
    encoder: str | None,
    systems: str,
    train: Path | None,
    compress: bool,
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
    from dpplearn._run.workers import open_workers, scheduler_client
    from dpplearn.summarize.experiments.baselines import train_logistic
    from dpplearn.summarize.experiments.evaluation import Scoring, evaluate_systems, evaluation_record
    from dpplearn.summarize.experiments.results_folder import ResultsFolder
    from dpplearn.summarize.experiments.systems import LEARNED, Models, check_systems
    from dpplearn.summarize.summarizer import Summarizer
    from dpplearn.summarize.text.units import check_budget

    with usage_errors():
        names = check_systems(systems.split(","))
        if (budget is None) != (unit is None):
            raise ValueError("Give --budget and --unit together: a number means nothing without its unit.")
    summarizer = Summarizer.load(model, encoder=named_encoder(encoder))
    logistic = None
    if train is None and not systems:
        names = [name for name in names if name not in LEARNED]
        say("Left out lr-mmr and lr-dpp: name the corpus that they learn from with --train.")
    unit = str(summarizer.unit) if unit is None else unit
    budget = check_budget(summarizer.budget if budget is None else budget, unit)
    with stoppable(lambda: stopped(run)), scheduler_client(run.scheduler, run.backend) as backend:
        clusters = read_for_scoring(corpus, run, split, language)
        spoken = scored_language(clusters, summarizer.language_)
        if train is not None and not set(LEARNED).isdisjoint(names):
            logistic = train_logistic(summarizer, read_for_scoring(train, run, None, language))
        models, scoring = Models(summarizer, logistic, compress), Scoring(budget, unit, spoken)
        called = {"corpus": corpus.name, "model": "bundled" if model is None else model.name}
        folder = ResultsFolder(run.out, evaluation_record(models, clusters, scoring, called))
        with bars() as show, open_workers(backend, run.jobs) as workers:
            found = evaluate_systems(models, clusters, names, scoring, folder, workers, progress=show)
    if not run.as_json:
        print_table_2(found, f"{corpus.name}: {len(clusters)} clusters, {budget:g} {unit}")
    finish(run, found)


def finish(run: Run, found: Comparison) -> None:
    """Print the results where JSON was asked for, and say where they are."""
    if run.as_json:
        print_json({**found.results, "details": found.details})
    if run.out is not None:
        say(f"Wrote {run.out}.")


def stopped(run: Run) -> str:
    """What to say on Ctrl-C: what is kept, and how to go on."""
    from dpplearn.summarize.experiments.results_folder import kept_in

    if run.out is None:
        return "Stopped. Nothing is kept: with --out FOLDER, a run that was stopped goes on where it was."
    kept = kept_in(run.out)
    if not kept:
        return f"Stopped. {run.out} has no summary yet: run the same command again."
    return f"Stopped. {run.out} keeps what is done ({kept}): run the same command with the same --out to go on."
