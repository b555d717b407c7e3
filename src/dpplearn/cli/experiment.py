"""dpplearn experiment: Tables 1 and 2 of the paper, from a training and a test corpus."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpplearn.cli import plain_errors, plain_warnings, stoppable, usage_errors
from dpplearn.cli.bars import bars
from dpplearn.cli.corpus import read_corpus
from dpplearn.cli.evaluate import common, finish, stopped
from dpplearn.cli.options import PATH, Number, Run, run_options
from dpplearn.cli.tables import print_table_1, print_table_2

if TYPE_CHECKING:
    from dpplearn.rouge import CorpusScore
    from dpplearn.summarize.corpora.cluster import Cluster


@click.command(name="experiment")
@click.option("--train", type=PATH, required=True, help="Corpus to learn from.")
@click.option("--test", type=PATH, help="Corpus to summarize.")
@click.option("--leave-one-out", is_flag=True, help="No --test: each topic (id before the first dot) by the others.")
@click.option("--peers", type=click.Path(path_type=Path), help="Other systems' summaries: a folder or JSON Lines.")
@click.option("--systems", default="", help="Names, with commas between.  [default: all]")
@click.option("--budget", type=float, default=665, show_default=True, help="Length of the summaries.")
@click.option("--unit", type=click.Choice(["bytes", "words", "sentences"]), default="bytes", show_default=True)
@click.option("--features", type=click.Choice(["paper", "extended"]), help="[default: Summarizer's]")
@click.option("--oracle", type=click.Choice(["rouge", "paper"]), help="[default: Summarizer's]")
@click.option("--targets", type=click.Choice(["each", "all"]), help="[default: Summarizer's]")
@click.option("--bigrams", type=Number(0, 1), help="[default: Summarizer's]")
@click.option("--rho", type=Number(0), help="[default: Summarizer's]")
@click.option("--prior-variance", type=Number(0, min_open=True), help="[default: Summarizer's]")
@click.option("--tune", is_flag=True, help="Choose rho and the prior variance on held-out ROUGE-1 F of --train.")
@click.option("--train-split", help="Only clusters of this part of --train.")
@click.option("--test-split", help="Only clusters of this part of --test.")
@click.option("--language", help="Only clusters in this language.  [default: all are English]")
@run_options
def command(
    train: Path,
    test: Path | None,
    leave_one_out: bool,
    peers: Path | None,
    systems: str,
    budget: float,
    unit: str,
    tune: bool,
    train_split: str | None,
    test_split: str | None,
    language: str | None,
    run: Run,
    **chosen: Any,
) -> None:
    """Train on one corpus, summarize another with every system, and print Tables 1 and 2 beside the paper's figures.

    Table 1 is of the training corpus: the oracle's extracts, and each reference against all (itself included, as
    in the paper) and against the others. Clusters of the test corpus that hold documents of the training corpus
    are named, and Table 2 is given with and without them.
    """
    from dpplearn.summarize.experiments.evaluation import Scoring, Task, make_summaries, records, score_table
    from dpplearn.summarize.experiments.experiment import (
        PAPER_1,
        PAPER_2,
        SOURCE,
        Recipe,
        by_topic,
        shared_documents,
        table_1,
    )
    from dpplearn.summarize.experiments.peers import read_peers
    from dpplearn.summarize.experiments.resume import ResultsFolder, corpus_fingerprint
    from dpplearn.summarize.experiments.systems import check_systems
    from dpplearn.summarize.model.training import settle_language
    from dpplearn.summarize.summarizer import Summarizer
    from dpplearn.summarize.text.units import check_budget

    with usage_errors():
        names = check_systems(systems.split(","))
        check_budget(budget, unit)
        elsewhere = test is not None and test.resolve() != train.resolve()
        if (leave_one_out and elsewhere) or (not leave_one_out and test is None):
            raise ValueError("Give either --test CORPUS, or --leave-one-out to test on the topics of --train.")
    settings: dict[str, Any] = {"budget": budget, "unit": unit, "language": language}
    settings |= {name: value for name, value in chosen.items() if value is not None}
    with plain_errors(), plain_warnings():
        summarizer = Summarizer(**settings)
        ours = read(train, run, train_split, language)
        settle_language(summarizer, ours)
        settings["language"] = language = summarizer.language
        if leave_one_out or test is None:
            theirs = ours
        else:
            theirs = read(test, run, test_split, language)
            if test.resolve() == train.resolve() and train_split == test_split:
                click.echo("Warning: --train and --test are the same file: scores say how well the model remembers. "
                           "Use --leave-one-out, or --train-split and --test-split.", err=True)  # fmt: skip
        record = {
            "command": "experiment",
            "train": train.name,
            "train_hash": corpus_fingerprint(ours),
            "train_clusters": len(ours),
            "test": "leave one topic out" if leave_one_out or test is None else test.name,
            "test_hash": corpus_fingerprint(theirs),
            "test_clusters": len(theirs),
            **{name: getattr(summarizer, name) for name in ("features", "oracle", "bigrams", "rho", "prior_variance")},
            "targets": chosen["targets"] or "each for consensus, all for the other decoders",
            "tune": tune,
            **common(budget, unit, language),
        }
        folder = ResultsFolder(run.out, record)
        models: dict[str, Any] = {}
        tasks = []
        for decoder, systems_of in split_systems(names, settings).items():
            if leave_one_out:
                for topic, held_out in by_topic(ours).items():
                    models[f"{decoder} {topic}"] = Recipe({**settings, "decoder": decoder}, tuple(ours), topic, tune)
                    tasks.append(Task(f"{decoder} {topic}", held_out, systems_of))
            else:
                with bars() as show:
                    models[decoder] = Summarizer(**settings, decoder=decoder).fit(ours, tune=tune, verbose=show)
                tasks += [Task(decoder, (cluster,), systems_of) for cluster in theirs]
        with stoppable(stopped(run)), bars() as show:
            report = partial(show.stage, "Summarizing")
            made = make_summaries(models, tasks, budget, unit, folder, jobs=run.jobs, report=report)
            oracle = oracle_texts(summarizer, ours)
        others, known = {}, {}
        if peers is not None:
            others = read_peers(peers, [str(c.id) for c in theirs], run.encoding or "utf-8")
            known = read_peers(peers, [str(c.id) for c in ours], run.encoding or "utf-8", required=False)
        clash = sorted(set(others) & set(names))
        if clash:
            raise ValueError(f"A peer may not be called {clash[0]!r}, like a system of dpplearn: rename it.")
        scoring = Scoring(budget, unit, language)
        rows, best = score_table({**others, **made}, theirs, scoring)
        results, details = records(rows, best, record)
        first = table_1(ours, oracle, known, scoring)
        details["table_1"] = {name: as_percent(score) for name, score in first.items()}
        details["paper"] = {"source": SOURCE, "table_1": PAPER_1, "table_2": PAPER_2}
        shared = {} if theirs is ours else shared_documents(ours, theirs)
        details["shared_documents"] = shared
        apart = [c for c in theirs if str(c.id) not in shared]
        without = score_table({**others, **made}, apart, scoring) if shared and apart else None
        if without is not None:
            details["without_shared"] = {row.name: row.figures() for row in without[0]}
        folder.write(results, details, names)
    if shared:
        said = "; ".join(f"{name} ({', '.join(found[:3])}{', ...' if len(found) > 3 else ''})"
                         for name, found in list(shared.items())[:5])  # fmt: skip
        more = "" if len(shared) <= 5 else f"; and {len(shared) - 5} more clusters"
        click.echo(f"Warning: {len(shared)} of {len(theirs)} test clusters hold documents of the training corpus: "
                   f"{said}{more}.", err=True)  # fmt: skip
    if not run.as_json:
        print_table_1(first, PAPER_1, f"Table 1. {train.name}: {len(ours)} clusters, {budget:g} {unit}")
        print_table_2(rows, best, f"Table 2. {record['test']}: {len(theirs)} clusters, {budget:g} {unit}", PAPER_2)
        if without is not None:
            title = f"Table 2 without the {len(shared)} clusters that share documents with the training corpus"
            print_table_2(*without, title, PAPER_2)
    finish(run, results, details)


def read(corpus: Path, run: Run, split: str | None, language: str | None) -> list[Cluster]:
    """The clusters asked for, with ids that differ and with references."""
    from dpplearn.summarize.experiments.evaluation import check_clusters

    clusters = read_corpus(corpus, run.encoding, run.skip_bad, only=run.only, split=split, language=language)
    return check_clusters(clusters, str(corpus))


def split_systems(names: list[str], settings: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    """Systems by the decoder that their model is trained for: the decoders of the paper learn from its targets."""
    paper = [name for name in names if name in ("dpp-sample", "dpp-greedy")]
    if "targets" in settings or not paper:
        return {"consensus": tuple(names)}
    rest = tuple(name for name in names if name not in paper)
    return {"greedy": tuple(paper)} | ({"consensus": rest} if rest else {})


def oracle_texts(summarizer: Any, clusters: list[Cluster]) -> dict[str, str]:
    """The extracts that training aims at, by cluster."""
    if not hasattr(summarizer.features_, "idf"):
        summarizer.features_.fit(clusters)
    read = [summarizer.features_.read(cluster) for cluster in clusters]
    return {str(one.cluster.id): "\n".join(one.texts[i] for i in summarizer.oracle_items(one)) for one in read}


def as_percent(score: CorpusScore) -> dict[str, dict[str, float]]:
    from dpplearn.summarize.experiments.evaluation import Row

    return Row("", score, {}).figures()
