"""dpplearn rouge: score systems over a corpus."""

import json
import warnings
from dataclasses import asdict
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text as Styled

from dpplearn._io.encoding import check_encoding
from dpplearn._run.progress import Progress
from dpplearn.cli import plain_errors, usage_errors
from dpplearn.cli.bars import bars
from dpplearn.cli.numbers import Number, WholeNumber
from dpplearn.rouge import CorpusScore, PairedTest, paired_bootstrap, score_corpus
from dpplearn.rouge.bootstrap import check_confidence
from dpplearn.rouge.candidates import Candidates, References, read_candidates, read_references
from dpplearn.rouge.metrics import parse_metrics
from dpplearn.rouge.reading import Limit
from dpplearn.rouge.scoring import METRICS

PATH = click.Path(exists=True, path_type=Path)
ONLY_TXT = "The id of a file is its name without .txt; any other ending stays a part of the id."


class RougeCommand(click.Command):
    """A command that says where files go when they are given without an option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        given = list(args)  # click empties its own
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            if given and not any(one.startswith("-") for one in given):
                raise click.UsageError(
                    "Files and folders go with options: --candidates PATH --references PATH.", ctx
                ) from error
            raise


@click.command(name="rouge", cls=RougeCommand)
@click.option("--candidates", type=PATH, required=True, help="Folder ([SYSTEM/]ID.txt) or JSON Lines.")
@click.option("--references", type=PATH, required=True, help="Folder (ID[.LABEL].txt, ID/*) or JSON Lines.")
@click.option("--bytes", "n_bytes", type=WholeNumber(1), help="Read so many bytes of every text.")
@click.option("--words", "n_words", type=WholeNumber(1), help="Read so many words of every text.")
@click.option("--no-stem", is_flag=True, help="Compare words as they are.")
@click.option("--metrics", multiple=True, help=f"Names, with commas between.  [default: {','.join(METRICS)}]")
@click.option("--combine", type=click.Choice(["average", "best"]), default="average", show_default=True)
@click.option("--alpha", type=Number(0, 1), default=0.5, show_default=True, help="F is R at 0, P at 1.")
@click.option("--confidence", type=float, default=95, show_default=True, help="Of the bounds, in percent.")
@click.option("--resamples", type=WholeNumber(2), default=1000, show_default=True)
@click.option("--jackknife", is_flag=True, help="Leave out each reference in turn.")
@click.option(
    "--tokenizer",
    type=click.Choice(["official", "unicode"]),
    default="official",
    show_default=True,
    help="unicode: words of any script, not the official ROUGE.",
)
@click.option("--compare", is_flag=True, help="Test every two systems against each other (paired bootstrap).")
@click.option("--encoding", default="utf-8", show_default=True, help="Of the files.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    candidates: Path,
    references: Path,
    n_bytes: int | None,
    n_words: int | None,
    no_stem: bool,
    metrics: tuple[str, ...],
    confidence: float,
    compare: bool,
    encoding: str,
    as_json: bool,
    **options: Any,
) -> None:
    """Score summaries against references with ROUGE-1.5.5, in every digit.

    Prints the averages of each system with their confidence bounds. Topics that only one side has are left
    out and listed.
    """
    names = [name.strip() for given in metrics or METRICS for name in given.lower().split(",") if name.strip()]
    with usage_errors():
        parse_metrics(names)
        Limit(n_bytes, n_words)
        check_confidence(confidence)
        check_encoding(encoding)
    options |= {
        "metrics": names,
        "bytes": n_bytes,
        "words": n_words,
        "stem": not no_stem,
        "confidence": confidence,
    }
    with plain_errors(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        systems = read_candidates(candidates, encoding)
        topics = {topic for texts in systems.values() for topic in texts}
        texts = read_references(references, topics, encoding)
        unmatched = find_unmatched(systems, texts)
        with bars() as show:
            scored = score_systems(systems, texts, options, show)
        if not scored:
            raise ValueError(
                f"No id of {candidates} is in {references}: found, for example, {min(topics)!r} in the one "
                f"and {min(texts)!r} in the other."
                + (f" {ONLY_TXT}" if candidates.is_dir() or references.is_dir() else "")
            )
        tests = compare_systems(scored, confidence) if compare else []
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        click.echo(f"Warning: {message}", err=True)
    report(unmatched, files=candidates.is_dir())
    if compare:
        report_uneven(scored)
    if as_json:
        click.echo(json.dumps(as_record(options, scored, unmatched, tests), indent=2, ensure_ascii=False))
    else:
        print_tables(scored, tests, confidence)


def find_unmatched(systems: Candidates, references: References) -> dict[str, dict[str, list[str]]]:
    """Return, for each system, the ids that have no references and those that have no candidate."""
    without_references = {name: sorted(texts.keys() - references.keys()) for name, texts in systems.items()}
    without_candidate = {name: sorted(references.keys() - texts.keys()) for name, texts in systems.items()}
    return {
        "without_references": {name: ids for name, ids in without_references.items() if ids},
        "without_candidate": {name: ids for name, ids in without_candidate.items() if ids},
    }


def report(unmatched: dict[str, dict[str, list[str]]], files: bool) -> None:
    for what, found in unmatched.items():
        for name, ids in found.items():
            click.echo(f"{name}: left out, {what.replace('_', ' ')}: {', '.join(ids)}", err=True)
    if files and any("." in topic for ids in unmatched["without_references"].values() for topic in ids):
        click.echo(ONLY_TXT, err=True)


def report_uneven(scored: dict[str, CorpusScore]) -> None:
    """Name the topics that a comparison of two systems leaves out, and the system that lacks them."""
    for first, second in combinations(scored, 2):
        ours, theirs = (set(scored[name].topics.values()) for name in (first, second))
        lacking = {first: sorted(theirs - ours), second: sorted(ours - theirs)}
        said = "; ".join(f"{name} lacks {', '.join(topics)}" for name, topics in lacking.items() if topics)
        if said:
            number = len(ours & theirs)
            what = f"compared on the topics they share ({number})" if number else "not compared, as no topic is shared"
            click.echo(f"{first} - {second}: {what}: {said}", err=True)


def score_systems(
    systems: Candidates, references: References, options: dict[str, Any], show: Progress
) -> dict[str, CorpusScore]:
    scored = {}
    for name, texts in sorted(systems.items()):
        shared = sorted(texts.keys() & references.keys())
        if shared:
            ours = {topic: texts[topic] for topic in shared}
            theirs = {topic: references[topic] for topic in shared}
            scored[name] = score_corpus(
                ours, theirs, system=name, report=partial(show.stage, f"Scoring {name}"), **options
            )
    return scored


def compare_systems(scored: dict[str, CorpusScore], confidence: float) -> list[tuple[str, str, str, PairedTest]]:
    """Return the test of recall for every two systems, on the topics they share, and every metric."""
    if len(scored) < 2:
        raise ValueError(f"--compare needs two systems, but there is {len(scored)}: {', '.join(scored)}.")
    return [
        (first, second, metric, paired_bootstrap(ours, theirs, metric, confidence=confidence, shared=True))
        for (first, ours), (second, theirs) in combinations(scored.items(), 2)
        if set(ours.topics.values()) & set(theirs.topics.values())
        for metric in ours.averages
    ]


def as_record(
    options: dict[str, Any],
    scored: dict[str, CorpusScore],
    unmatched: dict[str, dict[str, list[str]]],
    tests: list[tuple[str, str, str, PairedTest]],
) -> dict[str, Any]:
    systems = {
        name: {
            "evaluations": len(result.evaluations),
            "averages": {
                metric: {measure: interval._asdict() for measure, interval in average._asdict().items()}
                for metric, average in result.averages.items()
            },
            "scores": {
                topic: {metric: score._asdict() for metric, score in scores.items()}
                for topic, scores in result.evaluations.items()
            },
        }
        for name, result in scored.items()
    }
    comparisons = [
        {"first": first, "second": second, "metric": metric, "measure": "recall", **asdict(test)}
        for first, second, metric, test in tests
    ]
    return {"settings": options, "systems": systems, "comparisons": comparisons, "unmatched": unmatched}


def print_tables(
    scored: dict[str, CorpusScore], tests: list[tuple[str, str, str, PairedTest]], confidence: float
) -> None:
    console = Console()
    bounds = f"{confidence:g} % interval"
    for name, result in scored.items():
        table = Table(title=Styled(f"{name} (evaluations: {len(result.evaluations)})"))
        for column in ("metric", "measure", "average", bounds):
            table.add_column(column)
        for metric, average in result.averages.items():
            for measure, (mean, low, high) in average._asdict().items():
                table.add_row(metric, measure, f"{mean:.5f}", f"{low:.5f} to {high:.5f}")
            table.add_section()
        console.print(table)
    if tests:
        table = Table(title="Differences in recall (paired bootstrap over topics)")
        for column in ("systems", "metric", "difference", bounds, "p"):
            table.add_column(column)
        for first, second, metric, test in tests:
            pair = Styled(f"{first} - {second}")
            interval = f"{test.low:+.5f} to {test.high:+.5f}"
            table.add_row(pair, metric, f"{test.difference:+.5f}", interval, f"{test.p_value:.4f}")
        console.print(table)
