"""dpplearn evaluate, experiment and figures: score systems on a corpus, and make the paper's tables and figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from dpplearn._run.workers import open_workers
from dpplearn.cli import options, print_json, print_table, say, usage_errors
from dpplearn.cli.bars import bars
from dpplearn.cli.options import CORPUS, FILE, Command
from dpplearn.plots import figures, import_plots
from dpplearn.rouge import CorpusScore
from dpplearn.summarize.corpora.cluster import Cluster
from dpplearn.summarize.corpora.reading import open_corpus
from dpplearn.summarize.experiments import evaluation
from dpplearn.summarize.experiments.evaluation import PAPER_1, PAPER_2, SystemComparison, run_experiment
from dpplearn.summarize.experiments.systems import LEARNED, SYSTEMS, check_systems
from dpplearn.summarize.model.training import common_language
from dpplearn.summarize.summarizer import Summarizer
from dpplearn.summarize.text.units import check_budget
from dpplearn.summarize.text.words import ANY, ENGLISH, normal_language

FAULTS = "leaning / opening leans / twice / unknown names"  # faults of a summary, on average
COLUMNS = (("rouge-1", "f"), ("rouge-1", "p"), ("rouge-1", "r"), ("rouge-2", "f"), ("rouge-su4", "f"))

run_options = options.several(
    click.option("--systems", default="", metavar="NAMES", help="Separated by commas.  [default: all]"),
    click.option("--out", type=FILE, help="Folder to write results.json and the summaries to."),
    options.LANGUAGE,
    options.JOBS,
)


@click.command(name="evaluate", cls=Command)
@click.argument("corpus", type=CORPUS)
@options.MODEL
@click.option("--budget", type=float, help="Length of the summaries.  [default: the model's]")
@click.option("--unit", type=options.UNIT, metavar="UNIT", help=f"{options.UNIT_NAMES}.  [default: the model's]")
@options.AS_JSON
@run_options
@options.SKIP_BAD
def evaluate_command(
    corpus: Path, model: Path | None, as_json: bool, systems: str, out: Path | None, jobs: int, **settings: Any
) -> None:
    """Summarize CORPUS with every system and score the summaries with ROUGE, in percent.

    Prints a table like Table 2 of the paper. Sampled and consensus summaries may be up to 15 bytes over a budget in
    bytes; the scorer cuts every summary to the budget.
    """
    budget, unit, skip_bad = (settings[name] for name in ("budget", "unit", "skip_bad"))
    with usage_errors():
        names = check_systems(systems.split(","))
        if (budget is None) != (unit is None):
            raise ValueError("Give --budget and --unit together, because a number alone has no meaning.")
        if systems and not set(LEARNED).isdisjoint(names):
            raise ValueError("lr-mmr and lr-dpp must be trained. Use: dpplearn experiment --train CORPUS")
    names = [name for name in names if name not in LEARNED]
    summarizer = Summarizer.load(model)
    unit = str(summarizer.unit) if unit is None else unit
    budget = check_budget(summarizer.budget if budget is None else budget, unit)
    whole = open_corpus(corpus, skip_bad=skip_bad, language=settings["language"], usable=skip_bad)
    clusters = evaluation.clusters_to_score(whole, str(corpus))
    scoring = evaluation.Scoring(budget, unit, scored_language(clusters, summarizer.language_))
    files = {"corpus": corpus.name, "model": "bundled" if model is None else model.name}
    with bars() as progress, open_workers(None, jobs) as workers:
        comparison = evaluation.evaluate_systems(
            summarizer, clusters, names, scoring, workers, names=files, out=out, progress=progress
        )
    if as_json:
        print_json({**comparison.results, "details": comparison.details})
    else:
        print_table_2(comparison, f"{corpus.name}: {len(clusters)} clusters, {budget:g} {unit}")
    if out is not None:
        say(f"Wrote {out}.")


def scored_language(clusters: list[Cluster], language: str | None) -> str | None:
    """The language to score in: the model's, or the clusters' own if the model is for any.

    Warns if the model is for one language, and clusters are in others.
    """
    if language == ANY:
        spoken = {cluster.own_language or ENGLISH for cluster in clusters}
        if len(spoken) > 1:
            listed = ", ".join(sorted(spoken))
            raise ValueError(f"All clusters must be in one language, found {listed}. Choose one with --language.")
        return spoken.pop() if spoken else None
    model_language = language or ENGLISH
    other_languages = {
        c.own_language if model_language == ENGLISH else normal_language(c.language) for c in clusters
    } - {None, model_language}
    if other_languages:
        listed = ", ".join(sorted(map(str, other_languages)))
        say(
            f"Warning: the model is for {model_language}, but there are clusters in {listed}. "
            "Give --language or --model."
        )
    return language


@click.command(name="experiment", cls=Command)
@click.option("--train", type=CORPUS, required=True, help="Corpus to learn from.")
@click.option("--test", type=CORPUS, help="Corpus to summarize.")
@click.option("--leave-one-out", is_flag=True, help="Test on each topic (id up to the first dot) by the others.")
@click.option("--peers", type=FILE, help="Summaries of other systems: a folder or JSON Lines.")
@options.length_options
@run_options
def experiment_command(
    train: Path, test: Path | None, peers: Path | None, systems: str, out: Path | None, jobs: int, **settings: Any
) -> None:
    """Train on one corpus, summarize another with every system, and print Tables 1 and 2 beside the paper's figures.

    Table 1 is about the training corpus: it scores the oracle's extracts, and each reference against all (with itself,
    as in the paper) and against the others. A warning names test clusters with documents of the training corpus.
    """
    leave_one_out = settings.pop("leave_one_out")
    with usage_errors():
        names = check_systems(systems.split(","))
        summarizer = Summarizer(features="paper", **settings)
        budget, unit, language = (getattr(summarizer.settings, name) for name in ("budget", "unit", "language"))
        same_file = test is not None and test.resolve() == train.resolve()
        if (test is None and not leave_one_out) or (leave_one_out and test is not None and not same_file):
            raise ValueError("Give --test CORPUS, or --leave-one-out to test on the topics of --train.")
    train_clusters = evaluation.clusters_to_score(open_corpus(train, language=language), str(train))
    spoken = {str(normal_language(cluster.language)) for cluster in train_clusters if cluster.language}
    texts = (document.text for cluster in train_clusters for document in cluster.documents)
    language = common_language(language, spoken, texts)
    test_clusters = None
    if test is not None and not leave_one_out:
        test_clusters = evaluation.clusters_to_score(open_corpus(test, language=language), str(test))
        if same_file:
            say("Warning: --train and --test are the same file, so the model has seen the test. Use --leave-one-out.")
    files = {"train": train.name} | ({} if test is None else {"test": test.name})
    summarizer.set_params(language=language)
    with bars() as progress:
        tables = run_experiment(
            summarizer,
            names,
            train_clusters,
            test_clusters,
            names=files,
            out=out,
            peers=peers,
            jobs=jobs,
            progress=progress,
        )
    tested = train_clusters if test_clusters is None else test_clusters
    if tables.shared:
        listed = "; ".join(f"{name} ({', '.join(ids[:3])})" for name, ids in list(tables.shared.items())[:5])
        count = f"{len(tables.shared)} of {len(tested)} test clusters"
        say(f"Warning: {count} have documents of the training corpus, for example {listed}.")
    size = f"clusters, {budget:g} {unit}"
    print_table_1(tables.table_1, PAPER_1, f"Table 1. {train.name}: {len(train_clusters)} {size}")
    title = f"Table 2. {tables.table_2.results['settings']['test']}: {len(tested)} {size}"
    print_table_2(tables.table_2, title, PAPER_2)
    if out is not None:
        say(f"Wrote {out}.")


def print_table_1(scores: Mapping[str, CorpusScore], paper: Mapping[str, Sequence[float]], title: str) -> None:
    rows = [
        [name.capitalize(), *(f"{100 * x.f.average:.2f}" for x in score.averages.values()), in_the_paper(paper, name)]
        for name, score in scores.items()
    ]
    print_table(title, ("System", "R-1F", "R-2F", "R-SU4F", "paper, DUC 2003: R-1F / 2F / SU4F"), rows)


def print_table_2(comparison: SystemComparison, title: str, paper: Mapping[str, Sequence[float]] | None = None) -> None:
    """Print the scores of each system, with p for ROUGE-1F against the best, by a paired bootstrap."""
    best, rows = comparison.details["best"], []
    for name, scores in comparison.results["systems"].items():
        details = comparison.details["systems"][name]
        (low, high), tests = details["intervals"]["rouge-1"]["f"], details["against_best"]
        cells = [SYSTEMS[name][0] if name in SYSTEMS else f"Peer {name}"]
        cells += [f"{scores[metric][measure]:.2f}" for metric, measure in COLUMNS]
        cells += [
            f"{low:.2f} to {high:.2f}",
            f"{tests['rouge-1']['p']:.3f}" if tests else "best" if name == best else "",
            " / ".join(f"{x:.1f}" for x in comparison.results["faults"][name].values()),
        ]
        rows.append([*cells, *([] if paper is None else [in_the_paper(paper, name)])])
    heads = [f"{metric.upper()}{measure.upper()}".replace("ROUGE-", "R-") for metric, measure in COLUMNS]
    beside = [] if paper is None else ["paper, DUC 2004: R-1F / 1P / 1R / 2F / SU4F"]
    print_table(title, ("System", *heads, "R-1F 95 %", "p against the best", FAULTS, *beside), rows)


def in_the_paper(paper: Mapping[str, Sequence[float]], name: str) -> str:
    """A system's row of the paper's table; empty if it has none."""
    return " / ".join(f"{x:.2f}" for x in paper.get(name, ()))


FIGURES_HELP = "Draw the paper's figures NAMES, or all of them, as PDF, SVG and PNG."
ROWS = "\n".join(f"{number} or {name:10}  {what}" for number, (name, what) in enumerate(figures.FIGURES.items(), 1))


@click.command(name="figures", cls=Command, help=f"{FIGURES_HELP}\n\n\b\nNAMES are\n{ROWS}")
@click.argument("names", nargs=-1)
@click.option(
    "--out", type=click.Path(file_okay=False), default="figures", show_default=True, help="Folder to write to."
)
def figures_command(names: tuple[str, ...], out: str) -> None:
    with usage_errors():
        names = tuple(figures.figure_names(names))
    import_plots("dpplearn.plots.style")  # before the work: its error says what to install
    written: list[Path] = []
    try:
        with bars() as progress:
            for done, name in enumerate(names):
                progress.stage("Drawing", done, len(names))
                written += figures.save(figures.draw(name), name, out)
    finally:  # after the bar, whose line would overwrite the paths
        for path in written:
            click.echo(path)
