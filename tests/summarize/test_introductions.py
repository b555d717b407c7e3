"""Names and dates that a chosen sentence takes as known."""

from datetime import date

import pytest

from dpplearn.summarize.text.introductions import annotated, people, undated_days, unknown_people

SOURCE = (
    "Gov. Elena Tavish named Ruth Calloran, a retired judge, to lead the inquiry. Martin Sayle, the chief executive of "
    "Brennwater, resigned. Air France said it would help. The air was cold. Judge Calloran will report in May, said "
    "Tomas Reyle. Jan Holt, 36, and Ida Holt, 40, disagreed. Hao Li said no. Li said yes."
)


def introduced(text, before=""):
    return annotated(text, unknown_people(text, before, SOURCE))


def test_people_are_those_that_a_text_introduces():
    assert people(SOURCE) == {
        "Tavish": "Elena",
        "Calloran": "Ruth",
        "Sayle": "Martin",
        "Reyle": "Tomas",
        "Li": "Hao",
    }


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("Calloran will report in May.", "[Ruth] Calloran will report in May."),
        ("Judge Calloran will report in May.", "Judge [Ruth] Calloran will report in May."),
        ("The board asked Sayle's deputy.", "The board asked [Martin] Sayle's deputy."),
        ("Ruth Calloran will report in May.", "Ruth Calloran will report in May."),
        ("The Calloran inquiry begins.", "The Calloran inquiry begins."),
        ("France paid.", "France paid."),  # Air France is nobody
        ("Holt disagreed.", "Holt disagreed."),  # which of the two?
        ("Anna Sayle agreed.", "Anna Sayle agreed."),
        ("Saylestone fell.", "Saylestone fell."),
    ],
)
def test_a_surname_alone_gets_the_first_name_of_its_document(text, whole):
    assert introduced(text) == whole


def test_whom_the_text_before_names_is_known():
    assert introduced("Sayle left.", "Martin Sayle, the chief executive, offered to go.") == "Sayle left."


def test_nothing_is_added_that_the_source_does_not_say():
    for text in ("Calloran, Tavish and Sayle met Reyle.", "Li met Holt."):
        for _, added in unknown_people(text, "", SOURCE):
            assert added.strip("[] ") in SOURCE


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("It broke on Thursday.", "It broke on Thursday [14 March]."),
        ("It broke on Friday.", "It broke on Friday [15 March]."),
        ("It broke on Saturday.", "It broke on Saturday [9 March]."),
        ("It will open on Monday.", "It will open on Monday [18 March]."),
        ("It could open by Monday.", "It could open by Monday [18 March]."),
        (
            "Since Thursday it rained, and it rains every Monday.",
            "Since Thursday [14 March] it rained, and it rains every Monday.",
        ),
        ("It broke on Thursday, March 14.", "It broke on Thursday, March 14."),
        ("It broke on Thursday 14 March.", "It broke on Thursday 14 March."),
        ("The bridge fell today.", "The bridge fell today [15 March]."),
        ("It fell yesterday morning.", "It fell yesterday [14 March] morning."),
        ("Today's rain was heavy.", "Today's rain was heavy."),
        ("Monday's rain was heavy.", "Monday's rain was heavy."),
    ],
)
def test_a_weekday_gets_its_date(text, whole):
    assert annotated(text, undated_days(text, "", date(2024, 3, 15))) == whole
