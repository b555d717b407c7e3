"""Texts with little in them, texts with much, and settings that cannot be."""

import subprocess
import sys

import pytest

from dpplearn.rouge import Rouge, counting, score, tokenize

ALL = ("rouge-1", "rouge-2", "rouge-4", "rouge-l", "rouge-su4", "rouge-s4")
ZERO = (0.0, 0.0, 0.0)


@pytest.mark.parametrize("nothing", ["", "\n\n", " ", "... --- !!!", [], [""], "中文", b"\xff\xfe"])
def test_a_text_without_tokens_scores_zero(nothing):
    assert set(score(nothing, ["a b c"], (*ALL, "rouge-w-1.2")).values()) == {ZERO}
    assert set(score("a b c", [nothing], ALL).values()) == {ZERO}
    assert set(score(nothing, [nothing], ALL).values()) == {ZERO}


def test_a_reference_without_tokens_is_zero_in_rouge_w():
    assert score("a b", [""], ["rouge-w-1.2"]) == {"rouge-w-1.2": ZERO}
    scores = score("a b", ["", "a b", "!"], ["rouge-w-1.2", "rouge-l"])
    assert scores["rouge-l"].recall == 1
    assert scores["rouge-l"].precision == 0.33333


def test_counts_by_hand():
    scores = score("a b a", ["a b c", "b a"], ("rouge-1", "rouge-2", "rouge-su4", "rouge-s1"))
    assert scores["rouge-1"] == (0.8, 0.66667, 0.72727)  # 2 + 2 of 3 + 2; of 2 times 3
    assert scores["rouge-2"] == (0.66667, 0.5, 0.57143)  # ab, and ba, of 2 + 1; of 2 times 2
    assert scores["rouge-su4"] == (0.71429, 0.5, 0.58824)  # a, b, ab; b, ba; of 5 + 2; of 2 times 5
    assert scores["rouge-s1"] == (0.5, 0.33333, 0.4)  # ab, ba of 3 + 1; of 2 times 3


def test_best_takes_the_first_reference_with_the_highest_recall():
    assert score("a b c d", ["a x", "b y", "a b"], ["rouge-1"], combine="best")["rouge-1"] == (
        1,
        0.5,
        0.66667,
    )
    assert score("a b c", ["a x", "b y z v"], ["rouge-1"], combine="best")["rouge-1"].recall == 0.5


@pytest.mark.parametrize(("alpha", "f"), [(0, 0.5), (1, 0.25), (0.5, 0.33333)])
def test_alpha_runs_from_recall_to_precision(alpha, f):
    scores = score("a x y z", ["a b"], ["rouge-1"], alpha=alpha)["rouge-1"]
    assert scores == (0.5, 0.25, f)


def test_a_text_is_a_string_or_sentences_or_bytes():
    expected = score("A cat.\nA dog.", ["The cat.\nThe dog."], ["rouge-l"])
    assert score(["A cat.", "A dog."], [["The cat.", "The dog."]], ["rouge-l"]) == expected
    assert score(b"A cat.\nA dog.", (b"The cat.\nThe dog.",), ["rouge-l"]) == expected
    assert score("A cat.\nA dog.", "The cat.\nThe dog.", "rouge-l") == expected
    assert tokenize("lone \ud800 surrogate") == ["lone", "surrog"]


def test_long_texts():
    words = [f"w{i * i % 9973}" for i in range(170_000)]
    text = "\n".join(" ".join(words[i : i + 20]) for i in range(0, len(words), 20))
    assert len(text) > 900_000
    scores = score(text, [text, text[: len(text) // 2]])
    assert scores["rouge-1"].recall == scores["rouge-su4"].recall == 1


def test_lines_too_long_to_align(monkeypatch):
    monkeypatch.setattr(counting, "MOST_CELLS", 5)
    with pytest.raises(ValueError, match="3 by 2 tokens"):
        score("a b", ["a b c"], ["rouge-l"])


def test_many_candidates_in_small_batches(monkeypatch):
    rouge = Rouge(["the cat sat on the mat", "a dog"])
    candidates = [" ".join(["the cat on dog mat sat"] * k) for k in range(8)]
    expected = [rouge.score(candidate) for candidate in candidates]
    monkeypatch.setattr("dpplearn.rouge.scorer.CELLS", 50)
    assert rouge.score_many(iter(candidates)) == expected
    assert rouge.score_many([]) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"references": []}, "at least one reference"),
        ({"bytes": 10, "words": 10}, "one limit, bytes or words"),
        ({"bytes": 0}, "bytes must be at least 1"),
        ({"combine": "max"}, "combine .*'max'"),
        ({"alpha": 2}, "alpha must lie between 0 and 1"),
        ({"metrics": ["rouge-x"]}, "No metric is called 'rouge-x'"),
        ({"metrics": ["rouge-w-0.5"]}, "No metric is called"),
        ({"metrics": []}, "at least one metric"),
        ({"tokenizer": "ascii"}, "tokenizer must be one of 'official', 'unicode'"),
        ({"stem": str.lower}, 'pass tokenizer="unicode"'),
    ],
)
def test_settings_that_cannot_be(options, message):
    with pytest.raises(ValueError, match=message):
        score(**{"candidate": "a", "references": ["a"], **options})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"candidate": None}, r"A text .* None \(NoneType\)"),
        ({"references": None}, "references must be a list of texts"),
        ({"bytes": 6.5}, "bytes must be a whole number"),
        ({"stem": "yes"}, "stem must be True, False or a function"),
        ({"metrics": [1]}, "named by a string"),
    ],
)
def test_types_that_cannot_be(options, message):
    with pytest.raises(TypeError, match=message):
        score(**{"candidate": "a", "references": ["a"], **options})


def test_import_is_light():
    code = "import sys, dpplearn.rouge; print({'numba', 'sklearn', 'matplotlib', 'click'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
