"""Texts with little in them, texts with much, and settings that cannot be."""

import pytest

from dpplearn.rouge import counting, score, tokenize

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


def test_a_text_is_a_string_or_sentences_or_bytes():
    expected = score("A cat.\nA dog.", ["The cat.\nThe dog."], ["rouge-l"])
    assert score(["A cat.", "A dog."], [["The cat.", "The dog."]], ["rouge-l"]) == expected
    assert score(b"A cat.\nA dog.", (b"The cat.\nThe dog.",), ["rouge-l"]) == expected
    assert score("A cat.\nA dog.", "The cat.\nThe dog.", "rouge-l") == expected
    assert tokenize("lone \ud800 surrogate") == ["lone", "surrog"]


def test_lines_too_long_to_align(monkeypatch):
    monkeypatch.setattr(counting, "MOST_CELLS", 5)
    with pytest.raises(ValueError, match="3 by 2 tokens"):
        score("a b", ["a b c"], ["rouge-l"])
