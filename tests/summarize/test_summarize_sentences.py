"""The sentence splitter: right on passages that we wrote; no pattern may backtrack (test_linear measures time)."""

import importlib
import pkgutil
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpplearn.summarize
from dpplearn.summarize import split_sentences
from dpplearn.summarize.text.sentences import find_pieces
from passages import boundary_counts, f1, read_passages

OPEN, HELD_OUT = (list(read_passages(name)) for name in ("sentences.txt", "sentences_heldout.txt"))


def split(text):
    return [" ".join(text[start:end].split()) for start, end in split_sentences(text)]


@pytest.mark.parametrize("passages", [OPEN, HELD_OUT], ids=["open", "held out"])
def test_boundaries(passages):
    assert f1([boundary_counts(split_sentences(text), ends) for _, text, ends in passages]) >= 0.97


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", []),
        (" \n\t\r\n ", []),
        ("...", []),
        ("* * *\n\n----", []),
        ("One", ["One"]),
        ("One.", ["One."]),
        ("\ufeffOne. Two.", ["One.", "Two."]),
        ("One.\r\n\r\nTwo", ["One.", "Two"]),
        ("One\rfish swam.", ["One fish swam."]),
        ("One.\u2029\u2029Two.", ["One.", "Two."]),
        ("a\x00b. C d.", ["a\x00b.", "C d."]),
        ("Is it 5? 6? No.", ["Is it 5?", "6?", "No."]),
        ("It ended.[12] Then it rained.", ["It ended.[12]", "Then it rained."]),
        ("He left.'' ", ["He left.''"]),
        ("Bring:\n- a lamp\n- rope\n\n1. Light it.\n2. Wait.", ["Bring:", "a lamp", "rope", "Light it.", "Wait."]),
        ("Order no. KX/2031/4 came late. It was wet.", ["Order no. KX/2031/4 came late.", "It was wet."]),
        ("He said no. Then he left.", ["He said no.", "Then he left."]),
        ('"船要用手去推。"她说。船开了。', ['"船要用手去推。"她说。', "船开了。"]),
        ('他来了。"船在哪里？"没有人回答。', ["他来了。", '"船在哪里？"', "没有人回答。"]),
    ],
)
def test_edges(text, sentences):
    assert split(text) == sentences


def test_headings_are_told_from_sentences():
    pieces = list(
        find_pieces("# Flood\n\nKey facts\n\nSaturday, May 8, 2004\n\nIt rained. It stopped.\n\nWe need:\n\n- food")
    )
    assert [piece.kind for piece in pieces] == ["heading", "heading", "byline", *["paragraph"] * 3, "item"]


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet=st.sampled_from("aB1é语।؟.!?…;|\"'“”«»()[]-_–`#* \n\r\t\x00\u200b\u2028"), max_size=120))
def test_spans_are_in_order_and_cover_every_letter(text):
    spans = split_sentences(text)
    before, outside = 0, []
    for start, end in spans:
        assert before <= start < end <= len(text)
        assert not text[start].isspace()
        assert not text[end - 1].isspace()
        outside.append(text[before:start])
        before = end
    outside.append(text[before:])
    # Nothing is lost but numbers and letters that mark list items.
    assert not any(re.search(r"[^\W_]{2}", re.sub(r"\d{1,3}[.)]", "", gap)) for gap in outside)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([text for _, text, _ in OPEN]), min_size=2, max_size=4))
def test_paragraphs_with_stops_split_alone_as_they_do_together(texts):
    texts = [text for text in texts if "\n" not in text]
    together = split("\n\n".join(texts))
    assert together == [sentence for text in texts for sentence in split(text)]


def patterns():
    for module in pkgutil.walk_packages(dpplearn.summarize.__path__, "dpplearn.summarize."):
        names = vars(importlib.import_module(module.name))
        yield from ((module.name, name, value) for name, value in names.items() if isinstance(value, re.Pattern))


def repeats(parsed, inside=False):
    """Every repetition that may run twice or more and stands in another such one, with what it stands in.

    One that is possessive gives nothing back, so that what stands in it is matched in one way.
    """
    for operation, argument in parsed:
        name = str(operation)
        if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            _, most, body = argument
            many = most > 1
            if many and inside:
                yield inside
            yield from repeats(body, body if many and name != "POSSESSIVE_REPEAT" else inside)
        elif name == "SUBPATTERN":
            yield from repeats(argument[3], inside)
        elif name == "BRANCH":
            for branch in argument[1]:
                yield from repeats(branch, inside)
        elif name in ("ASSERT", "ASSERT_NOT"):
            yield from repeats(argument[1], inside)


def test_no_pattern_backtracks_over_its_own_choices():
    """A repetition in a repetition begins with a character of its own, so that there is one way to match."""
    found = list(patterns())
    assert len(found) > 20
    for module, name, pattern in found:
        for body in repeats(re._parser.parse(pattern.pattern)):
            assert str(body[0][0]) in ("LITERAL", "IN"), f"{module}.{name}"
    assert list(repeats(re._parser.parse("(?:a+)*")))  # the check sees what it looks for
