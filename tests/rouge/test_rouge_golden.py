"""Scores that the official program printed: every digit must be the same."""

import json
from pathlib import Path

import pytest

from dpplearn.rouge import Rouge, score, score_corpus

DATA = Path(__file__).parents[1] / "data"
METRICS = ("rouge-1", "rouge-2", "rouge-l", "rouge-w-1.2", "rouge-su4")
COMBINE = {"A": "average", "B": "best"}


def golden_cases():
    for name in ("golden_average", "golden_best"):
        for i, line in enumerate((DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()):
            yield pytest.param(json.loads(line), id=f"{name}-{i}")


def options(flags):
    combine = COMBINE[flags.get("formula", "A")]
    return {"bytes": flags["bytes"], "words": flags["words"], "stem": flags["stem"], "combine": combine}


CASES = list(golden_cases())
assert len(CASES) == 114 + 55


@pytest.mark.parametrize("case", CASES)
def test_scores_equal_the_official_ones(case):
    expected = {name: tuple(s[m] for m in "rpf") for name, s in case["scores"].items() if s is not None}
    found = score(case["candidate"], case["references"], tuple(expected), **options(case["flags"]))
    assert found == expected
    prepared = Rouge(case["references"], tuple(expected), **options(case["flags"]))
    assert prepared.score(case["candidate"]) == expected
    assert prepared.score_many(["other words", case["candidate"], ""])[1] == expected


@pytest.mark.parametrize("run", [0, 1])
@pytest.mark.parametrize("system", ["S1", "S2"])
def test_corpus_averages_equal_the_official_ones(run, system):
    golden = json.loads((DATA / "golden_corpus.json").read_text(encoding="utf-8"))
    topics, run = golden["topics"], golden["runs"][run]
    candidates = {e["id"]: topics[e["topic"]]["systems"][system] for e in run["evaluations"]}
    references = {e["id"]: [topics[e["topic"]]["references"][k] for k in e["references"]] for e in run["evaluations"]}
    flags = run["flags"]
    result = score_corpus(
        *(candidates, references, METRICS),
        **(options(flags) | {"level": flags["conf"] / 100, "resamples": flags["resamples"], "system": system}),
    )
    expected = run["systems"][system]
    for metric in METRICS:
        averages = expected["averages"][metric]
        assert result.averages[metric] == tuple(
            tuple(averages[m][key] for key in ("avg", "low", "high")) for m in "rpf"
        )
        for topic, scores in expected["per_evaluation"][metric].items():
            assert result.evaluations[topic][metric] == tuple(scores[m] for m in "rpf")
