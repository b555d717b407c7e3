"""Sentences that a later document overtakes."""

from datetime import datetime

import pytest

from dpplearn.summarize.text.states import forecast_day, looks_ahead, overtaken, tolls

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
    ],
)
def test_tolls(text, found):
    assert tolls(text) == found


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("The result will be announced on Monday.", 18),
        ("Talks are expected to resume tomorrow.", 15),
        ("More rain was forecast for Sunday.", 17),
        ("The court is to rule next Friday.", None),  # "is to" alone is no forecast
        ("The court will rule next Friday.", 22),
        ("The result was announced on Monday.", None),
        ("It will rain.", None),
    ],
)
def test_the_day_of_a_forecast(text, day):
    found = forecast_day(text, THURSDAY)
    assert (None if found is None else found.day) == day


def test_what_was_is_not_ahead():
    assert not looks_ahead("The bridge was closed.")
    assert looks_ahead("The bridge is expected to close.")


TEXTS = [
    "At least four people died when the Brenn bridge fell on Thursday.",
    "Results of the tests will be published on Friday.",
    "The fall of the Brenn bridge killed nine people, officials said.",
    "Ten people are missing at the Brenn bridge.",
    "Two people are missing at the Brenn bridge.",
]


def test_the_latest_state_overtakes_those_before():
    told = [THURSDAY, THURSDAY, MONDAY, THURSDAY, MONDAY]
    assert overtaken(TEXTS, told).tolist() == [True, True, False, True, False]


def test_a_document_of_the_day_itself_overtakes_the_forecast():
    texts = ["The court will rule on Monday.", "The court ruled on Monday.", "The mayor will speak tonight."]
    assert overtaken(texts, [THURSDAY, MONDAY, MONDAY]).tolist() == [True, False, False]


def test_nothing_is_overtaken_without_days_or_on_one_day():
    assert not overtaken(TEXTS, [None] * 5).any()
    assert not overtaken(TEXTS, [FRIDAY] * 5).any()
    assert not overtaken(TEXTS, [FRIDAY, None, None, None, None]).any()


def test_another_event_overtakes_nothing():
    texts = ["Four died when the Brenn bridge fell.", "An avalanche in Karsov killed nine climbers."]
    assert not overtaken(texts, [THURSDAY, MONDAY]).any()


def test_a_smaller_later_number_may_be_a_part():
    texts = [
        "Nine people died at the Brenn bridge.",
        "Two of the dead of the Brenn bridge were children, two people died later.",
    ]
    assert not overtaken(texts, [THURSDAY, MONDAY])[0]


def test_how_a_state_ended_overtakes_it():
    texts = [
        "The president, Jonas Obrecht, is in a coma, doctors said.",
        "On Thursday Jonas Obrecht died.",
        "The pilot, Ada Quill, is in a coma, doctors said.",
    ]
    assert overtaken(texts, [THURSDAY, MONDAY, THURSDAY]).tolist() == [True, False, False]
