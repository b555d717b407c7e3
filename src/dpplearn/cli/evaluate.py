"""dpplearn evaluate: every system over a corpus, scored against its references."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpplearn.cli import plain_errors, plain_warnings, stoppable, usage_errors
from dpplearn.cli.tables import print_table_2, progress

if TYPE_CHECKING:
    from dpplearn.summarize.document import Cluster

PATH = click.Path(exists=True, path_type=Path)
STOPPED = "Stopped. What is done is kept: run the same command with the same --out to go on."


def corpus_options(command: Any) -> Any:
    """Which clusters and references of a corpus count, and how files are read."""
    for option in (
        click.option("--skip-bad", is_flag=True, help="Go on past clusters that cannot be read."),
        click.option("--encoding", help="Of the files.  [default: utf-8]"),
        click.option("--references", "only", metavar="PART", help="Only references with this in their reference_ids."),
        click.option("--jobs", type=int, default=-1, show_default=True, help="Processes; -1 for all cores."),
        click.option("--out", type=click.Path(path_type=Path), help="Folder for results.json and all summaries."),
        click.option("--json", "as_json", is_flag=True, help="Print JSON."),
    ):
        command = option(command)
    return command


@click.command(name="evaluate")
@click.argument("corpus", type=PATH)
@click.option("--model", type=click.Path(path_type=Path), help="A model file.  [default: the English one inside]")
@click.option("--systems", default="", help="Names, with commas between.  [default: all]")
@click.option("--budget", type=float, help="Length of the summaries.  [default: the model's]")
@click.option("--unit", type=click.Choice(["bytes", "words", "sentences"]), help="[default: the model's]")
@click.option("--split", help="Only clusters of this part of the corpus, such as test.")
@click.option("--language", help="Only clusters in this language.")
@corpus_options
def command(
    corpus: Path,
    model: Path | None,
    systems: str,
    budget: float | None,
    unit: str | None,
    split: str | None,
    language: str | None,
    only: str | None,
    jobs: int,
    out: Path | None,
    as_json: bool,
    encoding: str | None,
    skip_bad: bool,
) -> None:
    """Summarize CORPUS with every system and score the summaries with ROUGE, in percent.

    Prints a table like Table 2 of the paper. Sampled and consensus summaries may run 15 bytes over a budget of bytes;
    the scorer trims every summary to the limit. With --out, a run that was stopped goes on where it was.
    """
    from dpplearn.summarize.evaluation import Scoring, Task, make_summaries, records, score_table
    from dpplearn.summarize.resume import ResultsFolder, corpus_fingerprint, fingerprint
    from dpplearn.summarize.summarizer import Summarizer
    from dpplearn.summarize.systems import LEARNED, check_systems
    from dpplearn.summarize.units import check_budget

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
        clusters = read(corpus, encoding, skip_bad, only, split, language)
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
        folder = ResultsFolder(out, settings)
        tasks = [Task("model", (cluster,), tuple(names)) for cluster in clusters]
        with stoppable(STOPPED), progress("Summarizing") as report:
            made = make_summaries({"model": summarizer}, tasks, budget, unit, folder, jobs=jobs, report=report)
        rows, best = score_table(made, clusters, Scoring(budget, unit, summarizer.language))
        results, details = records(rows, best, settings)
        folder.write(results, details, names)
    if as_json:
        click.echo(json.dumps({**results, "details": details}, indent=2, ensure_ascii=False))
    else:
        print_table_2(rows, best, f"{corpus.name}: {len(clusters)} clusters, {budget:g} {unit}")
    if out is not None:
        click.echo(f"Wrote {out}.", err=True)


def vars_of(summarizer: Any) -> dict[str, Any]:
    """What else than its weights a summarizer's summaries depend on."""
    from dpplearn.summarize.modelfile import SETTINGS

    logistic = summarizer.logistic_
    own = {name: getattr(summarizer, name) for name in SETTINGS}
    return own | {"logistic": None if logistic is None else [logistic.w, logistic.tradeoff]}


def common(budget: float, unit: str, language: str | None) -> dict[str, Any]:
    from dpplearn import __version__
    from dpplearn.summarize.systems import OVERRUN

    return {
        "budget": budget,
        "unit": unit,
        "overrun_bytes": OVERRUN if unit == "bytes" else 0.0,
        "language": language or "english",
        "rouge": "1.5.5, stemmed" if language in (None, "english") else "1.5.5 on unicode words, not stemmed",
        "dpplearn": __version__,
    }


def read(
    corpus: Path, encoding: str | None, skip_bad: bool, only: str | None, split: str | None, language: str | None
) -> list[Cluster]:
    """The clusters asked for, with ids that differ and with references."""
    from dataclasses import replace

    from dpplearn.summarize.corpora import read_clusters
    from dpplearn.summarize.evaluation import check_clusters
    from dpplearn.summarize.matching import normal_language

    clusters = read_clusters(corpus, encoding=encoding, skip_bad=skip_bad)
    for what, wanted in (("split", split), ("language", language)):
        if wanted is not None:
            there = sorted({str(getattr(c, what)) for c in clusters})
            if what == "split":
                clusters = [c for c in clusters if c.split == wanted]
            else:  # as in `train`: a cluster that names no language is in the one asked for
                ours = (None, normal_language(wanted))
                clusters = [c for c in clusters if normal_language(c.language) in ours]
            if not clusters:
                raise ValueError(f"No cluster of {corpus} has the {what} {wanted!r}. Found {', '.join(there)}.")
    if only is not None:
        clusters = [
            replace(c, references=[c.references[k] for k in kept], reference_ids=[c.reference_ids[k] for k in kept])
            for c in clusters
            for kept in [[k for k, name in enumerate(c.reference_ids) if only in name]]
        ]
    return check_clusters(clusters, str(corpus))


def warn_of_other_languages(clusters: list[Cluster], language: str | None) -> None:
    """A model reads all text in one language."""
    from dpplearn.summarize.matching import ENGLISH, normal_language

    ours = (None, language or ENGLISH)
    others = sorted({str(c.language) for c in clusters if normal_language(c.language) not in ours})
    if others:
        click.echo(
            f"Warning: the model is for {language or 'english'}, but there are clusters in {', '.join(others)}. "
            "Choose clusters with --language.",
            err=True,
        )
