"""When a document was written: every form in which files say it, and dates that are not the document's."""

from datetime import datetime

import pytest

from dpplearn.summarize import Cluster, Document
from dpplearn.summarize.corpora.documents import parse_document
from dpplearn.summarize.model.split_cluster import document_times, split_cluster

BODY = "The town council of Lindau voted on Tuesday to rebuild the burned market hall.\n"
PAGE = "<html><head><title>T</title>{}</head><body><h1>T</h1>{}<p>" + BODY
DAY = datetime(2024, 3, 12)

FORMS = {
    "first line": ("a.txt", "March 12, 2024\n\n" + BODY),
    "first line, then a title": ("a.txt", "2024-03-12\n\nHall to be rebuilt\n\n" + BODY),
    "under the title": ("a.txt", "Hall to be rebuilt\n12 March 2024\n\n" + BODY),
    "with a weekday": ("a.txt", "Hall to be rebuilt\nmardi 12 mars 2024\n\n" + BODY),
    "labelled": ("a.txt", "Hall to be rebuilt\nPublished: 12 March 2024\n\n" + BODY),
    "labelled, no colon": ("a.txt", "Hall to be rebuilt\nPublished 12 March 2024\n\n" + BODY),
    "with the time": ("a.txt", "Hall to be rebuilt\n12 March 2024, 00:00\n\n" + BODY),
    "byline": ("a.txt", "Hall to be rebuilt\nBy Tom Reiter, 12 March 2024\n\n" + BODY),
    "published before it was updated": ("a.txt", "T\n\nUpdated 14 March 2024\n\nPublished 12 March 2024\n\n" + BODY),
    "printed by a browser": ("a.txt", "11/19/26, 6:42 AM\n\nHall to be rebuilt\n\nMarch 12, 2024\n\n" + BODY),
    "dateline": ("a.txt", "LINDAU, March 12, 2024 (Reuters) - " + BODY),
    "after the agency": ("a.txt", "LINDAU (dpa) 12. März 2024 - " + BODY),
    "after the agency, without a dash": ("a.txt", "(dpa) 12. März 2024 " + BODY),
    "under a byline": ("a.txt", "By Tom Reiter\nLINDAU, Germany (Reuters) 12 March 2024 - " + BODY),
    "dateline of an agency of any name": ("a.txt", "LINDAU, 12 March 2024 (NPA) - " + BODY),
    "dateline without a place": ("a.txt", "March 12, 2024 (NPA) - " + BODY),
    "dateline without a place under a title": ("a.txt", "Hall to be rebuilt\n\n12 March 2024 (NPA) " + BODY),
    "dateline without an agency": ("a.txt", "March 12, 2024 — " + BODY),
    "dateline of a place in small letters": ("a.txt", "Lindau, 12 March 2024 - " + BODY),
    "head of a letter": ("a.txt", "Lindau, den 12. März 2024\n\n" + BODY),
    "minutes": ("a.txt", "TOWN COUNCIL\nMinutes of the extraordinary meeting of 12 March 2024\n\n" + BODY),
    "day in the name": ("12.03.2024 hall.txt", BODY),
    "day in the name, in words": ("hall 12 March 2024.txt", BODY),
    "day in the name, with underscores": ("hall_March_12_2024", BODY),
    "ISO day in the name": ("2024-03-12_hall.txt", BODY),
    "ISO day in the name, with underscores": ("hall_2024_03_12.txt", BODY),
    "eight figures in the name": ("hall-20240312.txt", BODY),
    "number of an agency": ("APW20240312.1", BODY),
    "YAML": ("a.md", "---\ntitle: T\ndate: 2024-03-12\n---\n\n" + BODY),
    "TOML": ("a.md", '+++\ntitle = "T"\ndate = "2024-03-12"\n+++\n\n' + BODY),
    "settings of a text": ("a.txt", "---\ntitle: T\ndate: 2024-03-12\n---\n\n" + BODY),
    "dateline in figures": ("a.txt", "LINDAU, 12.03.2024 (Reuters) - " + BODY),
    "emphasis": ("a.md", "# T\n\n*12 March 2024*\n\n" + BODY),
    "meta": ("a.html", PAGE.format("<meta name=date content=2024-03-12>", "")),
    "meta, the value first": ("a.html", PAGE.format("<meta content='2024-03-12' name='date'/>", "")),
    "article": ("a.html", PAGE.format('<meta property="article:published_time" content="2024-03-12T00:00:00Z">', "")),
    "JSON-LD": ("a.html", PAGE.format('<script type=application/ld+json>{"datePublished": "2024-03-12"}</script>', "")),
    "time": ("a.html", PAGE.format("", '<p class="by">By Tom <time datetime="2024-03-12">12 March</time></p>')),
    "time in words alone": ("a.html", PAGE.format("", "<p>By Tom <time>12 March 2024</time></p>")),
    "time between words": ("a.html", PAGE.format("", "<p>Published <time>12 March 2024</time> by Tom</p>")),
    "time before the heading": ("a.html", PAGE.format("", "").replace("<h1>", "<b><time>12 March 2024</time></b><h1>")),
    "time without a heading": ("a.html", "<body><nav>Home</nav><p>Tom, <time datetime=2024-03-12>Tue</time><p>" + BODY),
    "byline of a page": ("a.html", PAGE.format("", "<p>By Tom Reiter, 12 March 2024</p>")),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_a_date_is_read(form):
    name, source = FORMS[form]
    (document,) = parse_document(source.encode(), name, name)
    assert document_times([document]) == [DAY]
    assert [one.text for one in Cluster([document]).sentences()] == [BODY.strip()]


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("a.txt", "On March 12, 2024 the council of Lindau voted to rebuild the hall.\n\n" + BODY),
        ("a.txt", "It rained on May 7, 2007.\n\n" + BODY),
        ("a.txt", 4 * (BODY + "\n") + "March 12, 2024\n\n" + BODY),
        ("a.txt", "May 2 (NPA)\n\n" + BODY),
        ("a.txt", "May 8, 2004 — the day of the fire — is remembered in Lindau by all who saw the hall burn.\n"),
        ("a.txt", "May 8 — VE Day — is a holiday in Lindau, and the market hall is closed.\n"),
        ("a.txt", "Council to hold a meeting on 12 March 2024\n\n" + BODY),
        ("version 1.10.31.txt", BODY),
        ("hall 99.99.2024, March 2024.txt", BODY),
        ("a.html", PAGE.format("", "<p>It opens on <time datetime=2030-01-01>New Year</time>, said the mayor.</p>")),
        ("a.md", BODY + "\n---\n\ndate: 2024-03-12\n"),
        ("a.html", PAGE.format("<meta name=viewport content=2024-03-12>", "")),
        ("a.html", PAGE.format("", "") + '</p><p>It opens on <time datetime="2030-01-01">New Year</time> at noon.'),
        ("a.html", PAGE.format('<meta name=date content="soon">', "")),
    ],
)  # fmt: skip
def test_another_date_is_not_that_of_the_document(name, source):
    (document,) = parse_document(source.encode(), name, name)
    assert document_times([document]) == [None]


def test_a_title_with_a_date_is_a_title():
    (document,) = parse_document(b"Storm of 8 May 2004\n\n" + BODY.encode(), "a.txt", "a.txt")
    assert (document.title, document.date) == ("Storm of 8 May 2004", None)


def test_a_day_without_its_year_is_of_the_year_of_the_others():
    wires = [Document("a", "LINDAU, May 2 (NPA) - " + BODY), Document("b", "OSLO, 1 May 2031 (NPA) - " + BODY)]
    assert document_times(wires) == [datetime(2031, 5, 2), datetime(2031, 5, 1)]
    assert split_cluster(Cluster(wires)).when.tolist() == [1, 0]
    assert document_times(wires[:1]) == [None]  # an order of days needs no year, even from one year to the next
    days = [Document(str(k), f"{day} (NPA) - {BODY}") for k, day in enumerate(["Jan. 2", "Dec. 30", "1 January"])]
    assert split_cluster(Cluster(days)).when.tolist() == [2, 0, 1]
    assert document_times([*wires, Document("c", BODY, date="2030-12-31")])[0] is None  # which of the two?
