"""Every reader takes time linear in its input, whatever is in it: shown at 10 KB, 100 KB, and in `make fuzz` at 1 MB.

Processor time, because most of it is spent inside Python's libraries, where no steps can be counted; in margins that
are wide (linear is 10, quadratic 100), so that a busy machine makes no difference.
"""

import gc
import json
import os
from contextlib import suppress
from itertools import pairwise
from time import process_time

import pytest

from dpplearn.cli.formats import read_items
from dpplearn.rouge.candidates import read_candidates
from dpplearn.summarize import Cluster, read_clusters
from dpplearn.summarize.corpora.documents import DocumentFile, read_document
from dpplearn.summarize.corpora.duc import read_model
from dpplearn.summarize.corpora.formats.mail import read_message
from dpplearn.summarize.corpora.formats.rtf import parse_rtf
from dpplearn.summarize.text.sentences import split_sentences
from dpplearn.summarize.text.words import words
from patterns import PATTERNS

LARGEST = int(os.environ.get("LINEAR_BYTES", 100_000))
ONCE_SLOW = ['<a ">"', "<text></x>"]  # always at 1 MB
SLACK, MARGIN = 0.1, 35  # seconds; times
DEAREST = 100e-6  # seconds a character: three times what the dearest pattern takes (brackets in Markdown)

READERS = {
    "a.txt": read_document,
    "a.md": read_document,
    "a.html": read_document,
    "a.sgml": read_document,
    "a.srt": read_document,
    "a.eml": lambda path: read_message(path.read_bytes(), "a", "a"),
    "a.rtf": lambda path: parse_rtf(DocumentFile(path.read_bytes() + b"}", "a", "a")),
    "D30001.M.100.T.A": read_model,
    "raw.jsonl": read_clusters,
    "a.jsonl": read_clusters,
    "rouge.jsonl": read_candidates,
    "select.jsonl": read_items,
    "select.csv": read_items,
    "sentences": lambda path: split_sentences(path.read_text("utf-8")),
    "candidates": lambda path: Cluster.from_texts([path.read_text("utf-8")] * 2).candidates(),  # all of it repeated
    "words": lambda path: words(path.read_text("utf-8")),
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


def seconds(name, text, folder):
    path = folder / name
    content = json.dumps(RECORDS[name](text)) if name in RECORDS else OPENINGS.get(name, "") + text
    path.write_text(content, "utf-8")
    gc.disable()  # a collection looks at all that other tests have left, too
    try:
        start = process_time()
        with suppress(ValueError):  # that it is binary, or no JSON: told in linear time as well
            READERS[name](path)
        return process_time() - start
    finally:
        gc.enable()


@pytest.mark.parametrize("name", READERS)
def test_readers_are_linear(name, tmp_path):
    seconds(name, "a", tmp_path)  # import what it needs
    slow = []
    for pattern in PATTERNS:
        sizes = [5_000, 50_000, *([1_000_000] if pattern in ONCE_SLOW or LARGEST > 100_000 else [])]
        tries = 3  # threads of other tests spend processor time, too: what is slow is so every time
        while tries:
            times = [seconds(name, pattern * (size // len(pattern)), tmp_path) for size in sizes]
            growing = any(large > MARGIN * small + SLACK for small, large in pairwise(times))
            tries = tries - 1 if growing or times[-1] > DEAREST * sizes[-1] else 0
            if tries == 0 and (growing or times[-1] > DEAREST * sizes[-1]):
                slow.append((pattern, times))
    assert not slow
