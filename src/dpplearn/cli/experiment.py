"""dpplearn experiment: Tables 1 and 2 of the paper, from a training and a test corpus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table

from dpplearn.cli import print_table, say, stoppable, usage_errors, visible
from dpplearn.cli.bars import bars
from dpplearn.cli.evaluate import print_table_2, run_options, stopped, wrote
from dpplearn.cli.options import CORPUS, FILE, Command, length_options

if TYPE_CHECKING:
    from dpplearn.rouge import CorpusScore


@click.command(name="experiment", cls=Command)
@click.option("--train", type=CORPUS, required=True, help="Corpus to learn from.")
@click.option("--test", type=CORPUS, help="Corpus to summarize.")
@click.option("--leave-one-out", is_flag=True, help="No --test: each topic (id before the first dot) by the others.")
@click.option("--peers", type=FILE, help="Other systems' summaries: a folder or JSON Lines.")
@length_options
@run_options
def command(
    train: Path,
    test: Path | None,
    leave_one_out: bool,
    peers: Path | None,
    systems: str,
    out: Path | None,
    jobs: int,
    **settings: Any,
) -> None:
    """Train on one corpus, summarize another with every system, and print Tables 1 and 2 beside the paper's figures.

    Table 1 is of the training corpus: the oracle's extracts, and each reference against all (itself included, as
    in the paper) and against the others. Clusters of the test corpus that hold documents of the training corpus
    are named, and Table 2 is given with and without them. With --out, a run that was stopped goes on where it was.
    """
    from dpplearn.summarize.corpora.reading import open_corpus
    from dpplearn.summarize.experiments.evaluation import clusters_to_score
    from dpplearn.summarize.experiments.held_out import Experiment
    from dpplearn.summarize.experiments.paper_tables import PAPER_1, PAPER_2
    from dpplearn.summarize.experiments.results_folder import ResultsFolder
    from dpplearn.summarize.experiments.systems import check_systems
    from dpplearn.summarize.model.training import settle
    from dpplearn.summarize.summarizer import Summarizer
    from dpplearn.summarize.text.words import normal_language

    with usage_errors():
        names = check_systems(systems.split(","))
        summarizer = Summarizer(features="paper", **settings)
        budget, unit, language = (getattr(summarizer.settings, name) for name in ("budget", "unit", "language"))
        same = test is not None and test.resolve() == train.resolve()
        if (test is None and not leave_one_out) or (leave_one_out and test is not None and not same):
            raise ValueError("Give either --test CORPUS, or --leave-one-out to test on the topics of --train.")
    with stoppable(lambda: stopped(out)):
        ours = clusters_to_score(open_corpus(train, language=language), str(train))
        spoken = {str(normal_language(one.language)) for one in ours if one.language}
        texts = (document.text for cluster in ours for document in cluster.documents)
        language = settle(language, spoken, islice(texts, 30))
        theirs = None
        if test is not None and not leave_one_out:
            theirs = clusters_to_score(open_corpus(test, language=language), str(test))
            if same:
                say(
                    "Warning: --train and --test are the same file: scores say how well the model remembers. "
                    "Use --leave-one-out."
                )
        called = {"train": train.name} | ({} if test is None else {"test": test.name})
        experiment = Experiment(summarizer.set_params(language=language), names, ours, theirs, names=called)
        with bars() as show:
            found = experiment.run(ResultsFolder(out, experiment.record), peers, jobs=jobs, progress=show)
    if found.shared:
        said = "; ".join(f"{name} ({', '.join(ids[:3])}{', ...' if len(ids) > 3 else ''})"
                         for name, ids in list(found.shared.items())[:5])  # fmt: skip
        more = "" if len(found.shared) <= 5 else f"; and {len(found.shared) - 5} more clusters"
        say(
            f"Warning: {len(found.shared)} of {len(experiment.tested)} test clusters hold documents of the "
            f"training corpus: {said}{more}."
        )
    size = f"clusters, {budget:g} {unit}"
    print_table_1(found.table_1, PAPER_1, f"Table 1. {train.name}: {len(ours)} {size}")
    tested = f"Table 2. {experiment.record['test']}: {len(experiment.tested)} {size}"
    print_table_2(found.table_2, tested, PAPER_2)
    if found.without_shared is not None:
        title = f"Table 2 without the {len(found.shared)} clusters that share documents with the training corpus"
        print_table_2(found.without_shared, title, PAPER_2)
    wrote(out)


def print_table_1(scores: Mapping[str, CorpusScore], paper: Mapping[str, Sequence[float]], title: str) -> None:
    table = Table("System", title=visible(title))
    for name in ("R-1F", "R-2F", "R-SU4F", "paper, DUC 2003: R-1F / 2F / SU4F"):
        table.add_column(name, justify="right")
    for name, score in scores.items():
        cells = [f"{100 * average.f.average:.2f}" for average in score.averages.values()]
        theirs = " / ".join(f"{x:.2f}" for x in paper[name]) if name in paper else ""
        table.add_row(name.capitalize(), *cells, theirs)
    print_table(table)
