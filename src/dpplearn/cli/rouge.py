"""dpplearn rouge: scores the summaries of systems over a corpus, and compares the systems."""

from dataclasses import asdict
from itertools import combinations
from pathlib import Path
from typing import Any

import click

from dpplearn.cli import print_json, print_table, say, usage_errors
from dpplearn.cli.bars import bars
from dpplearn.cli.options import AS_JSON, PATH, Command, more
from dpplearn.rouge import CorpusScore, paired_bootstrap, score_corpus
from dpplearn.rouge.candidates import read_candidates, read_references
from dpplearn.rouge.scorer import METRICS, RougeOptions

TOKENIZER = click.Choice(["official", "unicode"])
INTERVAL = "95 % interval"
ONLY_TXT = "The id of a file is its name without .txt; another ending is part of the id."


@click.command(name="rouge", cls=Command)
@click.option("--candidates", type=PATH, required=True, help="Folder ([SYSTEM/]ID.txt) or JSON Lines.")
@click.option("--references", type=PATH, required=True, help="Folder (ID[.LABEL].txt, ID/*) or JSON Lines.")
@click.option("--bytes", type=click.IntRange(1), help="Read only this many bytes of every text.")
@click.option("--words", type=click.IntRange(1), help="Read only this many words of every text.")
@click.option("--metrics", default=",".join(METRICS), show_default=True, help="Names, separated by commas.")
@click.option("--compare", is_flag=True, help="Compare each two systems by a paired bootstrap.")
@AS_JSON
@more("--no-stem", is_flag=True, help="Compare words without stemming.")
@more("--tokenizer", type=TOKENIZER, default="official", help="unicode is for other scripts, and not official.")
def rouge_command(
    candidates: Path, references: Path, metrics: str, no_stem: bool, compare: bool, as_json: bool, **options: Any
) -> None:
    """Score summaries against references with ROUGE-1.5.5, exact to the last digit.

    Prints the averages of each system with confidence intervals. Topics without a summary or a reference are listed and
    left out.
    """
    options |= {"metrics": [name.strip() for name in metrics.lower().split(",") if name.strip()], "stem": not no_stem}
    with usage_errors():
        RougeOptions(**options, combine="average", alpha=0.5)
    systems = read_candidates(candidates)
    topics = {topic for texts in systems.values() for topic in texts}
    texts = read_references(references, topics)
    scored: dict[str, CorpusScore] = {}
    unmatched: dict[str, dict[str, list[str]]] = {"without_references": {}, "without_candidate": {}}
    with bars() as progress:
        for done, (name, summaries) in enumerate(sorted(systems.items())):
            progress.stage(f"Scoring {name}", done, len(systems))
            for what, alone in zip(unmatched, (summaries.keys() - texts, texts.keys() - summaries), strict=True):
                if alone:
                    unmatched[what][name] = sorted(alone)
            if shared := sorted(summaries.keys() & texts):
                by_topic = {topic: summaries[topic] for topic in shared}
                scored[name] = score_corpus(by_topic, {topic: texts[topic] for topic in shared}, system=name, **options)
    if not scored:
        advice = f" {ONLY_TXT}" if candidates.is_dir() or references.is_dir() else ""
        found = f"found {min(topics)!r}, for example, in the one and {min(texts)!r} in the other."
        raise ValueError(f"{candidates} and {references} have no id in common: {found}{advice}")
    for what, systems_and_ids in unmatched.items():
        for name, ids in systems_and_ids.items():
            say(f"{name}: left out, {what.replace('_', ' ')}: {', '.join(ids)}")
    if candidates.is_dir() and any("." in topic for ids in unmatched["without_references"].values() for topic in ids):
        say(ONLY_TXT)
    tests = compare_systems(scored) if compare else []
    if not as_json:
        print_scores(scored, tests)
        return
    figures = {name: {"averages": plain(x.averages), "scores": plain(x.evaluations)} for name, x in scored.items()}
    print_json({"settings": options, "systems": figures, "comparisons": tests, "unmatched": unmatched})


def compare_systems(scored: dict[str, CorpusScore]) -> list[dict[str, Any]]:
    """Compare the recall of each two systems on their common topics, by every metric; prints the topics left out."""
    if len(scored) < 2:
        raise ValueError(f"--compare needs two systems, but there is {len(scored)}: {', '.join(scored)}.")
    tests = []
    for (first, first_score), (second, second_score) in combinations(scored.items(), 2):
        a, b = first_score.evaluations.keys(), second_score.evaluations.keys()
        missing = {first: sorted(b - a), second: sorted(a - b)}
        if listed := "; ".join(f"{name} has no {', '.join(topics)}" for name, topics in missing.items() if topics):
            common = f"compared on common topics ({len(a & b)})" if a & b else "not compared, as they share no topic"
            say(f"{first} - {second}: {common}: {listed}")
        for metric in first_score.averages if a & b else ():
            test = asdict(paired_bootstrap(first_score, second_score, metric))
            tests.append({"first": first, "second": second, "metric": metric, "measure": "recall", **test})
    return tests


def plain(value: Any) -> Any:
    """A value in which dictionaries take the place of named tuples, at any depth."""
    value = value._asdict() if hasattr(value, "_asdict") else value
    return {name: plain(part) for name, part in value.items()} if isinstance(value, dict) else value


def print_scores(scored: dict[str, CorpusScore], tests: list[dict[str, Any]]) -> None:
    rows: list[tuple[str, ...]]
    for name, score in scored.items():
        rows = [
            (metric, measure, f"{mean:.5f}", f"{low:.5f} to {high:.5f}")
            for metric, average in score.averages.items()
            for measure, (mean, low, high) in average._asdict().items()
        ]
        print_table(f"{name} (evaluations: {len(score.evaluations)})", ("metric", "measure", "average", INTERVAL), rows)
    if tests:
        rows = [
            (f"{x['first']} - {x['second']}", x["metric"], f"{x['difference']:+.5f}",
             f"{x['low']:+.5f} to {x['high']:+.5f}", f"{x['p_value']:.4f}") for x in tests
        ]  # fmt: skip
        if (fewest := min(x["topics"] for x in tests)) < 20:
            say(f"With few topics ({fewest}), the interval is too narrow and p is coarse. If they disagree, go by p.")
        columns = ("systems", "metric", "difference", INTERVAL, "p")
        print_table("Differences in recall (paired bootstrap over topics)", columns, rows)
