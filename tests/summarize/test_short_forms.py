"""Shorter forms of sentences: what each rule cuts and leaves, and what no rule may touch."""

import re
from pathlib import Path

import pytest

from dpplearn.summarize.text import short_forms as module
from dpplearn.summarize.text.cut_rules import english_rules
from dpplearn.summarize.text.short_forms import short_forms

LINES = (Path(__file__).parent / "cuts.txt").read_text(encoding="utf-8").splitlines()


def examples():
    """Sentences of cuts.txt, marked, by rule."""
    found, rule = {}, None
    for line in LINES:
        if line.startswith("== "):
            rule = found.setdefault(line[3:], [])
        elif line and not line.startswith("#"):
            rule.append(line)
    return found


def spans(marked):
    """A sentence without its marks, and the spans between them."""
    text, dropped = "", []
    for part in re.split(r"(\[\[.*?\]\])", marked):
        if part.startswith("[["):
            dropped.append((len(text), len(text) + len(part) - 4))
            part = part[2:-2]
        text += part
    return text, tuple(dropped)


EXAMPLES = examples()


def test_every_rule_has_examples_of_both_kinds():
    assert set(EXAMPLES) == {rule.name for rule in english_rules()}
    for name, lines in EXAMPLES.items():
        cut = sum("[[" in line for line in lines)
        assert len(lines) >= 15, name
        assert min(cut, len(lines) - cut) >= 4, name
        assert len(set(lines)) == len(lines), name


@pytest.mark.parametrize(("name", "marked"), [(name, line) for name, lines in EXAMPLES.items() for line in lines])
def test_a_rule_cuts_what_it_must_and_nothing_else(monkeypatch, name, marked):
    text, dropped = spans(marked)
    rules = tuple(rule for rule in english_rules() if rule.name == name)
    monkeypatch.setattr(module, "english_rules", lambda: rules)
    found = short_forms(text)
    assert (found[-1].dropped if found else ()) == dropped


NEVER = ("not", "no", "never", "without", "if", "unless", "until", "allegedly", "reportedly", "except", "only")


@pytest.mark.parametrize("word", NEVER)
def test_what_the_truth_hangs_on_stays(word):
    """Whatever the rules say: a span that has such a word is not dropped."""
    for text in (
        f"The old bridge (which is {word} safe) was closed to all cars and carts in May.",
        f"The old bridge, which is {word} safe, was closed to all cars and carts in May.",
        f"The old bridge was closed to all cars and carts in May, which is {word} new.",
        f"The old bridge was closed to all cars and carts in May, leaving {word} way out.",
        f"The old bridge – which is {word} safe – was closed to all cars and carts in May.",
        f"After the men were {word} found, the old bridge was closed to all cars and carts.",
    ):
        assert all(word in form.text.split() for form in short_forms(text)), text


@pytest.mark.parametrize(("opens", "closes"), ["“”", '""', "‘’", "''", "«»", ("``", "''")])
def test_quotations_stay_whole(opens, closes):
    text = f"The mayor said {opens}the bridge (built in 1931) was closed, killing trade{closes} on the far side."
    assert short_forms(text) == ()
    assert (
        short_forms(f"However, the mayor said {opens}the bridge was closed in May, which is sad.") == ()
    )  # never closed
    (form,) = short_forms("However, " + text[0].lower() + text[1:])
    assert form.text == text


def test_only_spans_are_dropped_and_the_first_letter_raised():
    text = "However, the bridge (built in 1931), which crosses the Brenn, was closed to cars on Monday, officials said."
    forms = short_forms(text)
    assert [form.text for form in forms] == [
        "However, the bridge, which crosses the Brenn, was closed to cars.",
        "The bridge was closed to cars.",
    ]
    for form in forms:
        kept = "".join(c for i, c in enumerate(text) if not any(a <= i < b for a, b in form.dropped))
        assert kept.lower() == form.text.lower()


@pytest.mark.parametrize("text", ["", "(", "It rained.", "((((" * 50, ", which " * 100, "a" * 5_000, "\u202e(x)"])
def test_nothing_breaks_on_what_is_no_sentence(text):
    assert short_forms(text) == ()
