"""Sentences that a later document overtakes."""

from datetime import datetime
from pathlib import Path

import pytest

from dpplearn.summarize.text.states import corrected, passes, passing
from dpplearn.summarize.text.tolls import tolls

THURSDAY, FRIDAY, MONDAY = (datetime(2024, 3, day) for day in (14, 15, 18))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("At least one man was killed and several people were missing.", {"dead": 1}),
        ("The death toll rose to 1,204, the ministry said.", {"dead": 1204}),
        ("The quake left 1.5 million people homeless.", {"homeless": 1_500_000}),
        ("Three people were still missing and 12 were injured.", {"missing": 3, "hurt": 12}),
        ("Sixteen bodies have been recovered.", {"dead": 16}),
        ("The bill came to $40 dead.", {}),
        ("He was killed in 1998.", {}),
        ("The work was done in 12 days.", {}),
        ("It brought the number of people killed in the blast of March 3 to 37.", {"dead": 37}),
        ("The ministry gave the number of deaths as 74.", {"dead": 74}),
        ("The flood killed 300 cows and two fish farmers; more than 2,000 dead trout were counted.", {"dead": 2}),
        ("The car maker replaced the doors after 14 fires that killed three people.", {"dead": 3}),
    ],
)
def test_tolls(text, found):
    assert {what: toll.number for what, toll in tolls(text).items()} == found


TEXTS = [
    "At least four people died when the Brenn bridge fell on Thursday.",
    "The fall of the Brenn bridge killed nine people, officials said.",
    "Ten people are missing at the Brenn bridge.",
    "Two people are missing at the Brenn bridge.",
]


def test_the_latest_numbers_correct_those_before():
    assert corrected(TEXTS, [THURSDAY, MONDAY, THURSDAY, MONDAY], [0, 1, 0, 1]).tolist() == [True, False, True, False]
    assert not corrected(TEXTS, [FRIDAY] * 4, range(4)).any()
    texts = ["Fire broke out at a mill.", "Nine were injured.", "The mill fell.", "At least 15 others were hurt."]
    assert corrected(texts, [THURSDAY, THURSDAY, MONDAY, MONDAY], [0, 0, 1, 1]).tolist() == [False, True, False, False]


def test_without_days_the_largest_number_with_which_a_document_begins_is_the_last():
    texts = ["Nine people died at the Brenn bridge.", "Twelve people died at the Brenn bridge."]
    assert corrected(texts, [None, None], [0, 1]).tolist() == [True, False]
    assert not corrected([texts[1], "It rained.", texts[0]], [None] * 3, [0, 1, 1])[0]


@pytest.mark.parametrize(
    ("before", "after", "is_corrected"),
    [
        (
            "Four died when the Brenn bridge fell.",
            "An avalanche in Karsov killed nine climbers.",
            False,
        ),
        (
            "Nine people died at the Brenn bridge.",
            "It rained. Two died later at the Brenn bridge.",
            True,
        ),
        ("Police fined the owner after the Brenn bridge killed at least 36.", "The Brenn bridge killed 37.", False),
        ("The Brenn bridge killed 36.", "The Brenn bridge killed 37.", True),
        ("Three hostages died in the Brenn raid.", "Eleven rebels died in the Brenn raid.", False),
    ],
)
def test_which_numbers_a_later_one_corrects(before, after, is_corrected):
    assert corrected([before, after], [THURSDAY, MONDAY], [0, 1])[0] == is_corrected


def test_what_was_to_come_is_left_behind_by_another_day():
    texts = ["Obrecht is expected to live.", "Divers will search the bay.", "Obrecht died.", "It will rain."]
    assert passing(texts, [THURSDAY, THURSDAY, MONDAY, MONDAY], [0, 0, 1, 1]).tolist() == [True, True, False, False]


@pytest.mark.parametrize(
    ("text", "is_passing"),
    [
        ("The court will rule on Monday.", True),
        ("Talks are expected to resume tomorrow.", True),
        ("The maker said on Friday that it would call back all cars.", False),  # a decision
        ("Two men who were working on the line were killed by a train.", False),
        ("The bridge was closed on Monday.", False),
    ],
)
def test_what_passes(text, is_passing):
    assert passing([text, "It rained."], [THURSDAY, MONDAY], [0, 1]).tolist() == [is_passing, False]


def test_lines_labelled_by_hand():
    lines = (Path(__file__).parent / "lines" / "passing.tsv").read_text("utf-8").splitlines()
    right = [(label == "passing") == passes(text) for label, text in (line.split("\t") for line in lines)]
    assert sum(right) >= 0.95 * len(right)


def test_without_days_only_what_was_to_come_is_left_behind():
    texts = ["It rained.", "Schools will open.", "Divers are searching the bay.", "The wreck was found.", "It froze."]
    assert passing(texts, [None] * 5, [0, 0, 1, 2, 3]).tolist() == [False, True, False, False, False]
    assert not passing(texts, [None] * 5, [0, 0, 0, 1, 1]).any()  # of two documents
    assert not passing(["It will rain."] * 3, [None] * 3, [0, 1, 2]).any()  # all of it is still to come
