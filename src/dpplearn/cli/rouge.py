"""dpplearn rouge: score systems over a corpus."""

from dataclasses import asdict
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from dpplearn.cli import print_json, print_table, say, usage_errors, visible
from dpplearn.cli.bars import bars
from dpplearn.cli.options import AS_JSON, PATH, Command, more
from dpplearn.rouge import CorpusScore, paired_bootstrap, score_corpus
from dpplearn.rouge.candidates import Candidates, References, read_candidates, read_references
from dpplearn.rouge.metrics import parse_metrics
from dpplearn.rouge.reading import Limit
from dpplearn.rouge.scorer import METRICS

Unmatched = dict[str, dict[str, list[str]]]  # what is lacking -> system -> ids
BOUNDS = "95 % interval"
ONLY_TXT = "The id of a file is its name without .txt; any other ending stays a part of the id."


@click.command(name="rouge", cls=Command)
@click.option("--candidates", type=PATH, required=True, help="Folder ([SYSTEM/]ID.txt) or JSON Lines.")
@click.option("--references", type=PATH, required=True, help="Folder (ID[.LABEL].txt, ID/*) or JSON Lines.")
@click.option("--bytes", type=click.IntRange(1), help="Read so many bytes of every text.")
@click.option("--words", type=click.IntRange(1), help="Read so many words of every text.")
@click.option("--metrics", default=",".join(METRICS), show_default=True, help="Names, with commas between.")
@click.option("--compare", is_flag=True, help="Test every two systems against each other (paired bootstrap).")
@AS_JSON
@more("--no-stem", is_flag=True, help="Compare words as they are.")
@more(
    "--tokenizer",
    type=click.Choice(["official", "unicode"]),
    default="official",
    help="unicode: words of any script, not the official ROUGE.",
)
def command(
    candidates: Path, references: Path, metrics: str, no_stem: bool, compare: bool, as_json: bool, **options: Any
) -> None:
    """Score summaries against references with ROUGE-1.5.5, in every digit.

    Prints the averages of each system with their confidence bounds. Topics that only one side has are left
    out and listed.
    """
    names = [name.strip() for name in metrics.lower().split(",") if name.strip()]
    options |= {"metrics": names, "stem": not no_stem}
    with usage_errors():
        parse_metrics(names)
        Limit(options["bytes"], options["words"])
    systems = read_candidates(candidates)
    topics = {topic for texts in systems.values() for topic in texts}
    texts = read_references(references, topics)
    scored, unmatched = score_systems(systems, texts, options)
    if not scored:
        raise ValueError(
            f"No id of {candidates} is in {references}: found, for example, {min(topics)!r} in the one "
            f"and {min(texts)!r} in the other." + (f" {ONLY_TXT}" if candidates.is_dir() or references.is_dir() else "")
        )
    for what, found in unmatched.items():
        for name, ids in found.items():
            say(f"{name}: left out, {what.replace('_', ' ')}: {', '.join(ids)}")
    if candidates.is_dir() and any("." in topic for ids in unmatched["without_references"].values() for topic in ids):
        say(ONLY_TXT)
    tests = compare_systems(scored) if compare else []
    if as_json:
        figures = {
            name: {
                "evaluations": len(one.evaluations),
                "averages": plain(one.averages),
                "scores": plain(one.evaluations),
            }
            for name, one in scored.items()
        }
        print_json({"settings": options, "systems": figures, "comparisons": tests, "unmatched": unmatched})
    else:
        print_tables(scored, tests)


def score_systems(
    systems: Candidates, references: References, options: dict[str, Any]
) -> tuple[dict[str, CorpusScore], Unmatched]:
    """Score each system on the topics that have references; name the topics that only one side has."""
    scored = {}
    unmatched: Unmatched = {"without_references": {}, "without_candidate": {}}
    with bars() as show:
        for name, texts in sorted(systems.items()):
            for what, alone in zip(unmatched, (texts.keys() - references, references.keys() - texts), strict=True):
                if alone:
                    unmatched[what][name] = sorted(alone)
            if shared := sorted(texts.keys() & references):
                ours, theirs = {topic: texts[topic] for topic in shared}, {topic: references[topic] for topic in shared}
                report = partial(show.stage, f"Scoring {name}")
                scored[name] = score_corpus(ours, theirs, system=name, report=report, **options)
    return scored, unmatched


def compare_systems(scored: dict[str, CorpusScore]) -> list[dict[str, Any]]:
    """Test the recall of every two systems on the topics they share, by every metric; name the topics left out."""
    if len(scored) < 2:
        raise ValueError(f"--compare needs two systems, but there is {len(scored)}: {', '.join(scored)}.")
    tests = []
    for (first, ours), (second, theirs) in combinations(scored.items(), 2):
        mine, its = set(ours.topics.values()), set(theirs.topics.values())
        lacking = {first: sorted(its - mine), second: sorted(mine - its)}
        if said := "; ".join(f"{name} lacks {', '.join(topics)}" for name, topics in lacking.items() if topics):
            number = len(mine & its)
            what = f"compared on the topics they share ({number})" if number else "not compared, as no topic is shared"
            say(f"{first} - {second}: {what}: {said}")
        for metric in ours.averages if mine & its else ():
            test = asdict(paired_bootstrap(ours, theirs, metric, shared=True))
            tests.append({"first": first, "second": second, "metric": metric, "measure": "recall", **test})
    return tests


def plain(value: Any) -> Any:
    """Named tuples as dictionaries, whatever they lie in."""
    value = value._asdict() if hasattr(value, "_asdict") else value
    return {name: plain(part) for name, part in value.items()} if isinstance(value, dict) else value


def print_tables(scored: dict[str, CorpusScore], tests: list[dict[str, Any]]) -> None:
    for name, result in scored.items():
        title = f"{visible(name)} (evaluations: {len(result.evaluations)})"
        table = Table("metric", "measure", "average", BOUNDS, title=title)
        for metric, average in result.averages.items():
            for measure, (mean, low, high) in average._asdict().items():
                table.add_row(metric, measure, f"{mean:.5f}", f"{low:.5f} to {high:.5f}")
            table.add_section()
        print_table(table)
    if tests:
        what = "Differences in recall (paired bootstrap over topics)"
        table = Table("systems", "metric", "difference", BOUNDS, "p", title=what)
        for one in tests:
            interval = f"{one['low']:+.5f} to {one['high']:+.5f}"
            figures = (f"{one['difference']:+.5f}", interval, f"{one['p_value']:.4f}")
            table.add_row(visible(f"{one['first']} - {one['second']}"), one["metric"], *figures)
        print_table(table)
