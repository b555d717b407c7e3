"""dpplearn rouge: score systems over a corpus."""

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
@more("--tokenizer", type=TOKENIZER, default="official", help="unicode: words of any script, not the official ROUGE.")
def rouge_command(
    candidates: Path, references: Path, metrics: str, no_stem: bool, compare: bool, as_json: bool, **options: Any
) -> None:
    """Score summaries against references with ROUGE-1.5.5, in every digit.

    Prints the averages of each system with their confidence bounds. Topics that only one side has are left
    out and listed.
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
                ours, theirs = {topic: summaries[topic] for topic in shared}, {topic: texts[topic] for topic in shared}
                scored[name] = score_corpus(ours, theirs, system=name, **options)
    if not scored:
        raise ValueError(
            f"No id of {candidates} is in {references}: found, for example, {min(topics)!r} in the one "
            f"and {min(texts)!r} in the other." + (f" {ONLY_TXT}" if candidates.is_dir() or references.is_dir() else "")
        )
    for what, systems_and_ids in unmatched.items():
        for name, ids in systems_and_ids.items():
            say(f"{name}: left out, {what.replace('_', ' ')}: {', '.join(ids)}")
    if candidates.is_dir() and any("." in topic for ids in unmatched["without_references"].values() for topic in ids):
        say(ONLY_TXT)
    tests = compare_systems(scored) if compare else []
    if not as_json:
        print_scores(scored, tests)
        return
    figures = {
        name: {
            "evaluations": len(score.evaluations),
            "averages": plain(score.averages),
            "scores": plain(score.evaluations),
        }
        for name, score in scored.items()
    }
    print_json({"settings": options, "systems": figures, "comparisons": tests, "unmatched": unmatched})


def compare_systems(scored: dict[str, CorpusScore]) -> list[dict[str, Any]]:
    """Test the recall of every two systems on the topics they share, by every metric; name the topics left out."""
    if len(scored) < 2:
        raise ValueError(f"--compare needs two systems, but there is {len(scored)}: {', '.join(scored)}.")
    tests = []
    for (first, ours), (second, theirs) in combinations(scored.items(), 2):
        mine, its = ours.evaluations.keys(), theirs.evaluations.keys()
        lacking = {first: sorted(its - mine), second: sorted(mine - its)}
        if said := "; ".join(f"{name} lacks {', '.join(topics)}" for name, topics in lacking.items() if topics):
            number = len(mine & its)
            what = f"compared on the topics they share ({number})" if number else "not compared, as no topic is shared"
            say(f"{first} - {second}: {what}: {said}")
        for metric in ours.averages if mine & its else ():
            test = asdict(paired_bootstrap(ours, theirs, metric))
            tests.append({"first": first, "second": second, "metric": metric, "measure": "recall", **test})
    return tests


def plain(value: Any) -> Any:
    """Named tuples as dictionaries, whatever they lie in."""
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
        print_table(f"{name} (evaluations: {len(score.evaluations)})", ("metric", "measure", "average", BOUNDS), rows)
    if tests:
        rows = [
            (f"{x['first']} - {x['second']}", x["metric"], f"{x['difference']:+.5f}",
             f"{x['low']:+.5f} to {x['high']:+.5f}", f"{x['p_value']:.4f}") for x in tests
        ]  # fmt: skip
        columns = ("systems", "metric", "difference", BOUNDS, "p")
        print_table("Differences in recall (paired bootstrap over topics)", columns, rows)
