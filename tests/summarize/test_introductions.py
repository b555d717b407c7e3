"""Names and dates that a chosen sentence takes as known."""

from datetime import date

import pytest

from dpplearn.summarize import Cluster, Document, Summarizer
from dpplearn.summarize.text.introductions import annotated, people, spare_times, undated_times, unknown_people
from dpplearn.summarize.text.short_forms import without
from dpplearn.summarize.text.standing import only_published

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
        ("It fell yesterday morning.", "It fell yesterday morning [14 March]."),
        ("It fell on Monday night.", "It fell on Monday night [11 March]."),
        ("Today's rain was heavy.", "Today's [15 March] rain was heavy."),
        ("Monday's rain was heavy.", "Monday's [11 March] rain was heavy."),
        ("They trained for Sunday's final.", "They trained for Sunday's [17 March] final."),
        ("It rained last week and last month.", "It rained last week [early March] and last month [February]."),
        ("It rained over the last week.", "It rained over the last week."),
        ("Last year's flood was two weeks ago.", "Last year's [2023] flood was two weeks ago [early March]."),
        ("Eleven days ago it fell.", "Eleven days ago [4 March] it fell."),
        ("Last Saturday it fell.", "Last Saturday [9 March] it fell."),
        ("Last Monday it fell.", "Last Monday [early March] it fell."),  # of this week or the one before
        ("It fell on Tuesday, and on Tuesday it rose.", "It fell on Tuesday [12 March], and on Tuesday it rose."),
        ("On Saturday, Mar. 16, USA Today said no.", "On Saturday, Mar. 16, USA Today said no."),
        ("On Good Friday the Sunday Times said no.", "On Good Friday the Sunday Times said no."),
    ],
)
def test_a_time_word_gets_its_date(text, whole):
    assert annotated(text, undated_times(text, "", date(2024, 3, 15))) == whole


def test_dates_have_the_year_where_it_is_asked_for_and_none_stands_twice():
    text = "It fell last month and on Friday."
    whole = "It fell last month [December 2023] and on Friday [5 January 2024]."
    assert annotated(text, undated_times(text, "", date(2024, 1, 5), with_year=True)) == whole
    assert undated_times("It rose on Friday.", whole, date(2024, 1, 5), with_year=True) == []


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("The firm announced today that it was sold.", "The firm announced that it was sold."),
        ("Today, the bridge fell.", "The bridge fell."),
        ("It fell on Monday night, police said Tuesday.", "It fell, police said."),
        ("It fell on Monday, and it burned today, the 5th time.", "It fell, and it burned today, the 5th time."),
        ("It has today been closed.", "It has been closed."),
        ("It fell earlier on Wednesday in the north.", "It fell in the north."),
        *(
            (text, text)
            for text in (
                "Today is a holiday.",
                "Today's rain was heavy.",
                "It was open until today.",
                "It will open on Monday.",
                "The vote was on Monday.",
                "It fell on Monday and Tuesday.",
                "It fell on Friday, May 2.",
                "“I resign today”, he said.",
                "In a talk given today, she said no.",
                "The study, published on Tuesday, was wrong.",
                "The Tuesday meeting was short.",
            )
        ),
    ],
)
def test_a_time_word_goes_where_the_sentence_reads_well_without_it(text, left):
    assert without(text, tuple(spare_times(text))) == left


def reports(*dates):
    texts = (
        "The Brenn dam broke today after three days of rain, and four people drowned in Oslund, Mayor Ada Lee said.",
        "Mayor Ada Lee of Oslund resigned on Thursday over the dam that broke at Brenn, which was built in 1931.",
        "The Brenn dam was inspected last year, and the Ministry of Water had warned Oslund of cracks on Monday.",
    )
    return Cluster([Document(str(k), text, date=day) for k, (text, day) in enumerate(zip(texts, dates, strict=True))])


def test_all_time_words_of_a_summary_get_a_date_or_none_does():
    dated, days = Summarizer.load(), ("2024-03-15", "2024-03-22", "2025-04-02")
    assert dated.summarize(reports(*days), 3, "sentences").text.count("2024]") == 3  # 15 and 21 March, last year
    one_day = dated.summarize(reports(*days[:1] * 3), 3, "sentences")
    assert "[" not in one_day.text
    assert "today" in one_day.text
    mixed = dated.summarize(reports("2024-03-15", "2024-03-22", None), 3, "sentences")
    assert "[" not in mixed.text
    assert "today" not in mixed.text
    assert "without “today”" in str(mixed.explain())


@pytest.mark.parametrize(
    ("text", "announces"),
    [
        ("Profiles of the suspects in the July 7, 2005 bombings have been released.", True),
        ("A statement was issued.", True),
        ("The ministry published a new report on the flood on Monday.", True),
        ("The ministry published a report on Monday that blames the council.", False),
        ("A report published on Monday blames the council.", False),
        ("The report, which was published on Monday, is wrong.", False),
        ("The report on the men who were released is wrong.", False),
    ],
)
def test_a_sentence_that_only_says_that_a_text_was_published(text, announces):
    assert only_published(text) is announces
