"""Sentences told from fragments: the labelled lines, and what must never be lost."""

import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpplearn.summarize import Cluster
from dpplearn.summarize.corpora.candidates import SENTENCE, Wanted
from dpplearn.summarize.text.characters import one_line
from dpplearn.summarize.text.glance import LINE, PLAIN, glance
from dpplearn.summarize.text.standing import (
    _WORD,
    AMONG,
    LEAST,
    _heads,
    _is_furniture,
    _is_plain,
    _is_simple,
    _phrases,
    _weights,
    features,
    is_standing,
    listed,
    standing,
)

LINES = Path(__file__).parent / "lines"


def rows(name):
    found = [line.split("\t", 2) for line in (LINES / name).read_text("utf-8").splitlines() if line.strip()]
    assert len(found) >= 400
    return [(label == "sentence", kind, text) for label, kind, text in found]


def rates(found):
    both = sum(label and is_standing(text) for label, _, text in found)
    return both / sum(is_standing(text) for _, _, text in found), both / sum(label for label, _, _ in found)


@pytest.mark.parametrize(("name", "precision", "recall"), [("dev.tsv", 0.94, 0.97), ("held.tsv", 0.85, 0.9)])
def test_labelled_lines(name, precision, recall):
    found = rows(name)
    got = rates(found)
    assert got[0] >= precision
    assert got[1] >= recall


@pytest.mark.parametrize("name", ["dev.tsv", "held.tsv"])
def test_the_quick_way_says_what_the_model_says(name):
    plain = [text for _, _, text in rows(name) if _is_plain(text)]
    plain += [s.text for s in Cluster.example().sentences(keep_all=True) if _is_plain(s.text)]
    assert len(plain) > 20
    assert all(standing(text) >= LEAST for text in plain)


@pytest.mark.parametrize("frame", ["{} now", "“{}” – и всё", "o'{}", "x{}", "{}2 or not", "A. {}, é", "{}"])
def test_what_pages_say_is_told_by_its_rarest_word_as_by_all(frame):
    for phrase in listed("furniture"):
        for text in (frame.format(phrase), frame.format(phrase.upper()), frame.format(phrase.replace(" ", "  "))):
            lower = text.lower()
            begins = not _heads("furniture").isdisjoint(_WORD.findall(lower))
            assert _is_furniture(text) == (begins and _phrases("furniture").search(lower) is not None), text


@pytest.mark.parametrize(
    "text",
    ["What to expect.", "DPPs and MRFs.", "Files.", "DUC.", "hide:", "toc", "Patents.", "| Opening | 2031 |", "", "...",
     "—", "2031", "🙂🙂", "© 2031 Ostrel Courier"],
)  # fmt: skip
def test_scraps(text):
    assert not is_standing(text)


@pytest.mark.parametrize(
    "text",
    ["大桥因强风于周一关闭。", "橋は月曜日に閉鎖された。", "पुल सोमवार को बंद कर दिया गया।",
     "أُغلق الجسر يوم الاثنين بسبب الرياح القوية.",
     "הגשר נסגר ביום שני בגלל הרוחות.", "สะพานถูกปิดเมื่อวันจันทร์เพราะลมแรง", "Most byl v pondělí uzavřen kvůli větru.",
     "Η γέφυρα έκλεισε τη Δευτέρα λόγω των ανέμων.", "Le pont a été fermé lundi à cause du vent.",
     "다리는 강풍 때문에 월요일에 폐쇄되었다."],
)  # fmt: skip
def test_scripts_with_and_without_capitals(text):
    assert is_standing(text)
    assert is_standing(text + " " + text)


def test_all_sentences_of_the_example_stand():
    cluster = Cluster.example()
    assert not [x for x in cluster.candidates().set_aside if x.code == "no-sentence"]


def test_any_text_has_a_probability():
    for text in ("", " ", "a" * 100_000, ". " * 50_000, "[" * 9_000, "1 " * 3_000, "|", "\u0301", "\x00"):
        assert 0.0 <= standing(text) <= 1.0
        assert all(isinstance(value, float) for value in features(text).values())


@pytest.mark.parametrize(
    "text",
    ["Order no.", "3.2 Materials.", "Nine ways to tie a knot", "List of lost keys", "Most read: The day the sea froze"],
)
def test_what_only_looks_like_a_sentence(text):
    assert not is_standing(text)


@pytest.mark.parametrize(
    "text", ["Harbour loses its last crane", "Minister approves new pier", "Sailors refuse winter pay"]
)
def test_verbs_in_the_plain_present(text):
    assert is_standing(text)


def test_what_speaks_against_a_long_sentence_does_not_outweigh_its_length():
    weights = _weights()
    either = {"caption", "number of a list", "signs, many", "few letters"}
    either |= {"hardly a letter", "brackets around"}
    long = {name for name in weights if name.startswith("long, ")} | either
    least = weights["constant"] + weights["long"] + sum(min(weights.get(name, 0.0), 0.0) for name in long)
    assert 1 / (1 + math.exp(-least)) > 0.5 > LEAST


def test_what_speaks_against_a_simple_sentence_does_not_outweigh_its_verb():
    """Four to eight words, closed, in letters and commas, with a verb, and at most half of the other words names."""
    weights = _weights()
    against = ["begins as a clause, not asked", "begins as a clause, short", "what to", "caption", "number of a list"]
    against += ["ends with an abbreviation", "few letters", "hardly a letter"]  # and no signs
    least = weights["constant"] + weights["verb"] + min(weights[f"words {n}, closed"] for n in ("4-5", "6-8"))
    least += 0.5 * weights["capitals"] + sum(min(weights.get(name, 0.0), 0.0) for name in against)
    assert weights["subject"] + weights["subject and verb"] > 0.0  # the second is never without the first
    assert 1 / (1 + math.exp(-least)) > AMONG


WORDS = st.sampled_from(
    ["The", "the", "ferry", "was", "is", "Oslo", "It", "to", "of", "what", "Mr", "no", "a", "broken", "rain", "isn't",
     "sign in", "cookies", "thanks", "Yes,", "What", "Fig", "In", "page", "Key", "words", "So", "said,", "see all"]
)  # fmt: skip
OTHERS = st.sampled_from(
    ["-", "--", "[1]", "[x", "a)", "1.", "12", "3.5", "Quiz:", ":", "Keywords.", "é", "“Rain”", "’s", "大", "(so)",
     "\n", "", "\x07", "•", "–", '"', "No!", "Index terms -", "@", "x:y", "|", "> a"]
)  # fmt: skip
TEXTS = st.builds(
    lambda words, end: " ".join(words) + end,
    st.lists(st.one_of(WORDS, WORDS, WORDS, OTHERS), min_size=1, max_size=16),
    st.sampled_from([".", "?", '."', ".)", "", ":", ".]", " .", "…", ".  ", ".’"]),
)


@settings(max_examples=600, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=6))
def test_what_a_look_says_is_so(texts):
    """What is told at once is what the rules say one by one; and in a row of texts as in one."""
    whole = Wanted()
    joined = "\n\n".join(texts)
    starts = [joined.index(text, sum(len(t) + 2 for t in texts[:i])) for i, text in enumerate(texts)]
    looks = glance([joined, *texts], [
        *((0, a, a + len(text)) for a, text in zip(starts, texts, strict=True)),
        *((i + 1, 0, len(text)) for i, text in enumerate(texts)),
    ])  # fmt: skip
    for text, look in zip([*texts, *texts], looks, strict=True):
        assert look == glance([text], [(0, 0, len(text))])[0]
        if look & LINE:
            assert one_line(text) == text
        if look & PLAIN:
            assert {whole.rank(one_line(text), "paragraph", among) for among in (False, True)} == {(SENTENCE, "")}


@settings(max_examples=600, deadline=None)
@given(TEXTS)
def test_a_simple_sentence_stands_among_others(text):
    text = one_line(text)
    if _is_simple(text):
        assert standing(text) >= AMONG
        assert is_standing(text, True)


def test_most_sentences_are_told_by_one_look():
    cluster = Cluster.example()
    spans = [(one.document, one.start, one.end) for one in cluster.sentences()]
    looks = glance([document.text for document in cluster.documents], spans)
    assert sum(look & PLAIN > 0 for look in looks) > 0.5 * len(looks)
