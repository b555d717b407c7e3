"""Every reader takes a number of calls linear in its input, whatever is in it; in `make fuzz` the time is linear, too.

Calls of functions are counted, of Python's and of C's, so that a busy machine makes no difference. Time that a regular
expression or a library spends inside one call shows only on a clock, at sizes that `LINEAR_BYTES` asks for.
"""

import gc
import json
import os
import sys
from contextlib import suppress
from datetime import date, datetime
from itertools import pairwise
from time import process_time

import pytest

from dpplearn.cli.formats import read_items
from dpplearn.rouge.candidates import read_candidates
from dpplearn.summarize import Cluster, read_clusters
from dpplearn.summarize.corpora.documents import DocumentFile, read_document
from dpplearn.summarize.corpora.formats.mail import read_message
from dpplearn.summarize.corpora.formats.office import parse_rtf
from dpplearn.summarize.corpora.formats.packages import parse_package
from dpplearn.summarize.corpora.newswire import read_model
from dpplearn.summarize.corpora.source import Source
from dpplearn.summarize.text.introductions import people, undated_times, unknown_people
from dpplearn.summarize.text.sentences import split_sentences
from dpplearn.summarize.text.states import corrected, passing
from dpplearn.summarize.text.tolls import tolls
from dpplearn.summarize.text.words import words
from office_files import epub
from patterns import PATTERNS, SHAPES

LARGEST = int(os.environ.get("LINEAR_BYTES", 0))  # by the clock, up to this size, in make fuzz
MARGIN = 2.5  # times what is linear: ten times the input may take 25 times as much, and quadratic are 100 times
SLACK, DEAREST = (0.1, 150e-6) if LARGEST else (3_000, 2_000)  # seconds, or calls: in all, and for each character


def half(text):
    return text[: len(text) // 2]


def introductions(path):
    text = path.read_text("utf-8")
    people.cache_clear()
    unknown_people(text, "", text)
    undated_times(text, "", date(2024, 3, 15))


def states(path):
    text, days = path.read_text("utf-8"), [datetime(2024, 3, 14), datetime(2024, 3, 15)]
    tolls(text)
    passing([text, text], days, [0, 1])
    corrected([text, text], days, [0, 1])


READERS = {
    **dict.fromkeys(("a.txt", "a.md", "a.html", "a.sgml", "a.srt"), lambda path: read_document(path, Source(path))),
    "a.eml": lambda path: read_message(DocumentFile(path.read_bytes(), "a", "a")),
    "a.epub": lambda path: parse_package(DocumentFile(epub({"c.xhtml": path.read_text("utf-8")}), "a.epub", "a")),
    "a.rtf": lambda path: parse_rtf(DocumentFile(path.read_bytes() + b"}", "a", "a")),
    "D30001.M.100.T.A": read_model,
    "a.jsonl": read_clusters,
    "rouge.jsonl": read_candidates,
    "select.jsonl": read_items,
    "select.csv": read_items,
    "sentences": lambda path: split_sentences(path.read_text("utf-8")),
    "candidates": lambda path: Cluster.from_texts([half(path.read_text("utf-8"))] * 2).candidates(),  # all repeated
    "words": lambda path: words(path.read_text("utf-8")),
    "introductions": introductions,
    "states": states,
}
OPENINGS = {
    "a.eml": "Message-ID: <1>\n\n",
    "a.rtf": "{\\rtf1 ",
    "a.srt": "1\n00:00:01,000 --> 00:00:02,000\n",
    "a.sgml": "<DOC><DOCNO>a</DOCNO><TEXT>",
    "select.csv": "a,b\n",
}
RECORDS = {
    "a.jsonl": lambda text: {"id": "a", "documents": [text], "references": [text]},
    "rouge.jsonl": lambda text: {"id": "a", "summary": text},
    "select.jsonl": lambda text: {"text": text},
}


def calls_of(work):
    """How many functions are called, in Python and in C."""
    n = 0

    def count(*_):
        nonlocal n
        n += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return n / 2  # each returns, too


def seconds_of(work):
    gc.disable()  # a collection looks at all that other tests have left, too
    try:
        start = process_time()
        work()
        return process_time() - start
    finally:
        gc.enable()


def effort(name, text, folder):
    path = folder / name
    path.write_text(json.dumps(RECORDS[name](text)) if name in RECORDS else text, "utf-8")

    def work():
        with suppress(ValueError):  # that it is binary, or no JSON: seen in linear time as well
            READERS[name](path)

    return (seconds_of if LARGEST else calls_of)(work)


def steep_efforts(name, opening, pattern, folder, sizes):
    """The efforts of a reader for more and more of a pattern, if they grow too fast; otherwise None."""
    sizes = [*sizes, *([LARGEST] if sizes[-1] < LARGEST else [])]
    for _ in range(3 if LARGEST else 1):  # slow by the clock is what is slow every time
        efforts = [effort(name, opening + pattern * (size // len(pattern)), folder) for size in sizes]
        pairs = zip(pairwise(efforts), pairwise(sizes), strict=True)
        growing = any(late > MARGIN * large / small * early + SLACK for (early, late), (small, large) in pairs)
        if not growing and efforts[-1] <= DEAREST * sizes[-1]:
            return None
    return efforts


@pytest.mark.parametrize("name", sorted(READERS.keys() - {"a.epub"}))  # whose pages are HTML
def test_readers_are_linear(name, tmp_path):
    effort(name, "a", tmp_path)  # import what it needs
    steep = {
        pattern: steep_efforts(name, OPENINGS.get(name, ""), pattern, tmp_path, (400, 4_000)) for pattern in PATTERNS
    }
    assert not {pattern: efforts for pattern, efforts in steep.items() if efforts}


@pytest.mark.filterwarnings("ignore::dpplearn.summarize.SkippedWarning")  # of attachments
@pytest.mark.parametrize("shape", SHAPES)
def test_readers_are_linear_behind_an_opening(shape, tmp_path):
    name, opening, pattern = SHAPES[shape]
    effort(name, "a", tmp_path)
    assert steep_efforts(name, opening, pattern, tmp_path, (800, 8_000)) is None


def test_quadratic_work_is_seen():
    assert calls_of(lambda: [len("") for _ in range(1_000)]) == pytest.approx(1_000, abs=20)
