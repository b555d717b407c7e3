"""The order of a summary: by date where dates are known, as in the sources, or the most important first."""

from datetime import datetime

import numpy as np
import pytest

from dpplearn import DPP
from dpplearn.decoding.candidates import read_model
from dpplearn.summarize import Cluster, Document, Summarizer
from dpplearn.summarize.explain.summary import html_report
from dpplearn.summarize.model.choice import in_order
from dpplearn.summarize.model.split_cluster import document_times, split_cluster
from dpplearn.summarize.text.dates import head_date, parse_date


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("2004-10-30", "2004-10-30T00:00"), ("2004-10-30 09:15:00", "2004-10-30T09:15"),
        ("2004-10-30T09:15:00+02:00", "2004-10-30T07:15"), ("Sat, 30 Oct 2004 09:15:00 +0200", "2004-10-30T07:15"),
        ("October 30, 2004", "2004-10-30T00:00"), ("30 October 2004", "2004-10-30T00:00"),
        ("Oct. 30th, 2004, Saturday, Home Edition", "2004-10-30T00:00"), ("10/30/2004 11:05 pm", "2004-10-30T23:05"),
        ("30/10/2004", "2004-10-30T00:00"), ("30.10.2004", "2004-10-30T00:00"), ("04.10.2004", "2004-10-04T00:00"),
        ("04/10/2004", "2004-04-10T00:00"), ("30/10/98", "1998-10-30T00:00"),
        ("Samstag, 30. Oktober 2004", "2004-10-30T00:00"),
        ("samedi 30 octobre 2004", "2004-10-30T00:00"), ("30 de octubre de 2004", "2004-10-30T00:00"),
        ("Σάββατο, 30 Οκτωβρίου 2004", "2004-10-30T00:00"), ("शनिवार, अक्टूबर ३०, २००४", "2004-10-30T00:00"),
        ("السبت 30 أكتوبر 2004", "2004-10-30T00:00"), ("יום שבת, 30 באוקטובר 2004", "2004-10-30T00:00"),
        ("", None), (None, None), ("yesterday", None), ("May", None), ("2004", None), ("31/31/2004", None),
        ("February 30, 2004", None), ("x" * 10_000, None), ("9" * 79, None), ("12:61", None), ("1/2/0000", None),
        ("Thu, 99 Foo 99999 99:99:99 +9999", None), ("0001-01-01T00:00:00+23:59", "0001-01-01T00:00"),
    ],
)  # fmt: skip
def test_dates(text, found):
    assert parse_date(text) == (None if found is None else datetime.fromisoformat(found))


def test_when_a_document_was_written():
    assert document_times([Document("APW19981016.0240", "Rain.", date="October 17, 1998")]) == [datetime(1998, 10, 17)]
    assert document_times([Document("APW19981016.0240", "Rain.")]) == [datetime(1998, 10, 16)]
    assert document_times([Document("XIN_ENG_20041030.0010", "Rain.")]) == [datetime(2004, 10, 30)]
    assert document_times([Document("AP890321-0012", "Rain.", date="undated")]) == [datetime(1989, 3, 21)]
    assert document_times([Document("storm_2031-05-03.txt", "Rain.")]) == [datetime(2031, 5, 3)]
    assert document_times([Document("1", "Saturday, October 30, 2004\n\nIt rained.")]) == [datetime(2004, 10, 30)]
    assert document_times([Document("1", "On October 30, 2004 ten boats sank in the harbour of Brenn.")]) == [None]
    assert head_date([""]) is None


def test_documents_without_a_date_keep_their_place():
    dates = ["2004-10-30", None, "2004-10-28", "2004-10-30", None, "2003-01-01"]
    for given, places in ((dates, [3, 1, 2, 5, 4, 0]), ([None] * 3, [0, 1, 2])):
        documents = [Document(str(i), "It rained.", date=date) for i, date in enumerate(given)]
        assert split_cluster(Cluster(documents), keep_all=True).when.tolist() == places


def test_importance_is_the_order_of_gains_with_sentences_together_that_belong_together():
    read = split_cluster(
        Cluster.from_texts(
            ["Rain fell on Brenn. It stopped at noon. Ten boats sank in the harbour.", "Schools closed on Friday."]
        )
    )
    q = np.array([1.0, 3.0, 2.0, 2.5])
    S = np.eye(4)
    S[2, 3] = S[3, 2] = 0.9  # what 2 adds beside 3 is little
    model = read_model(DPP.from_quality(q, S), 0.5)
    assert in_order(read, np.arange(4), "importance", model).tolist() == [0, 1, 3, 2]  # 1 is the best, and leans on 0
    assert in_order(read, np.array([1, 2]), "importance", model).tolist() == [2, 1]  # nothing leans at the beginning
    assert in_order(read, np.array([1]), "importance", model).tolist() == [1]
    assert in_order(read, np.array([3, 0, 2]), "source", model).tolist() == [0, 2, 3]


def test_an_order_holds_in_every_view():
    cluster = Cluster(
        [Document("new", "Ten boats sank in the harbour on Friday.", date="2004-05-09"),
         Document("old", "Snow fell on every hill of the northern valley.", date="8 May 2004")]
    )  # fmt: skip
    model = Summarizer.load()
    for order, first in (("chronological", "Snow"), ("source", "Ten boats")):
        summary = model.summarize(cluster, 100, "words", order=order)
        assert summary.text.startswith(first)
        assert [one.text for one in summary.sentences] == summary.text.split("\n")
        assert [one.sentence for one in summary.explain().chosen] == list(summary.sentences)
        assert [summary.split.texts[i] for i in summary.order] == [one.full for one in summary.sentences]
        assert summary.subset.tolist() == [0, 1]
        assert f'data-order="1"><p class="line">{first}' in html_report(summary)
    assert model.summarize(cluster, 100, "words").text.startswith("Snow")  # by time is usual
    ordered = model.summarize(Cluster.example(), 100, "words", order="importance")
    assert model.summarize(Cluster.example(), 100, "words").subset.tolist() == ordered.subset.tolist()
    with pytest.raises(ValueError, match="order must be"):
        model.summarize(cluster, order="random")
