"""What counts as a word where words have no spaces between them, and that nothing changes where they have."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpplearn.summarize.text.units import UNITS, costs, count_words, cut, joined_length, length, lengths_with
from dpplearn.summarize.text.words import words

SPACED = st.text(st.characters(max_codepoint=0x0DFF, exclude_categories=["Cs"]))  # Latin to Sinhala
ANY = st.text(st.one_of(st.sampled_from("大桥关カなｶ々สะพ้ำျကទ្ក 。a1\n"), st.characters(exclude_categories=["Cs"])))


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("The bridge is closed.", 4),
        ("rock - paper", 3),  # as before: what stands between spaces
        ("大桥已关闭。", 5),
        ("the city of 北京 (Beijing)", 5),
        ("今天 大桥 关闭", 3),  # words set apart already
        ("大桥2024年关闭。", 6),
        ("我们用 Python 3 写的", 4),
        ("橋が閉まった。", 6),
        ("ｶﾀｶﾅｶﾅ", 6),
        ("人々は橋に", 5),
        ("스톰이 다리를 닫았다", 3),  # Korean has spaces
        ("สะพาน", 2),
        ("แม่น้ำ", 1),
        ("「」 。", 2),
        ("", 0),
    ],
)
def test_count_words(text, count):
    assert count_words(text) == length(text, "words") == count


@given(SPACED)
def test_scripts_with_spaces_count_as_ever(text):
    assert count_words(text) == len(text.split())
    for budget in (1, 3):
        said = text.split()
        if len(said) > budget:
            assert cut(text, budget, "words") == " ".join(said[:budget])


@given(ANY, ANY, st.integers(1, 12))
def test_counts_add_up_and_cuts_fit(text, other, budget):
    assert costs([text, other], "words") == pytest.approx([max(count_words(one), 1e-9) for one in (text, other)])
    assert joined_length([text, other], "words") == count_words(text) + count_words(other)
    head = cut(text, budget, "words")
    assert count_words(head) <= budget
    assert "".join(text.split()).startswith("".join(head.split()))
    if head != text:
        assert count_words(text) > budget


@pytest.mark.parametrize("unit", [*UNITS, len], ids=str)
@pytest.mark.parametrize("lines", [[], ["Rain fell."], ["大桥2024年关闭。", "สะพานปิด", "Café."]], ids=len)
def test_lengths_with_another_sentence(lines, unit):
    texts = ["It poured.", "Oh.", "桥", "The capital is 北京.", "ü" * 7, "สะพานปิด"]
    assert lengths_with(lines, texts, unit).tolist() == [joined_length([*lines, text], unit) for text in texts]


@given(st.text(st.sampled_from("abzS019.,'_- \n%(\x07")))
def test_words_are_the_same_beside_a_letter_that_is_not_ascii(text):
    assert words(f"{text} é") == [*words(text), "é"]  # read by the pattern, whatever it has in its words
