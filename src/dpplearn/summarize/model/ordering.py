"""In which order the sentences of a summary stand: by time, as in the sources, or the most important first."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import numpy as np

from dpplearn._checks import IntArray, check_choice
from dpplearn.decoding.candidates import Candidates
from dpplearn.decoding.greedy import greedy_map
from dpplearn.dpp import DPP
from dpplearn.summarize.corpora.document import Document
from dpplearn.summarize.model.split_cluster import SplitCluster
from dpplearn.summarize.text.dates import agency_date, heading_date, parse_date

CHRONOLOGICAL, SOURCE, IMPORTANCE = ORDERS = ("chronological", "source", "importance")


def check_order(order: str) -> str:
    """One of the orders."""
    return check_choice(order, "order", ORDERS)


def document_time(document: Document) -> datetime | None:
    """When a document was written: by its date, the number that an agency gave it, or the date that heads its text."""
    return parse_date(document.date) or agency_date(document.id) or heading_date(document.text)


def by_time(documents: Sequence[Document]) -> list[int]:
    """The numbers of documents, the earliest first. Those without a known time keep their place, as those of one do.

    Examples
    --------
    >>> new, old = Document("a", "New.", date="2004-05-09"), Document("c", "Old.", date="8 May 2004")
    >>> by_time([new, Document("b", "Ever."), old])
    [2, 1, 0]
    """
    times = [document_time(one) for one in documents]
    dated = [(time, i) for i, time in enumerate(times) if time is not None]
    earliest = iter(sorted(dated))
    return [i if time is None else next(earliest)[1] for i, time in enumerate(times)]


def _when(read: SplitCluster) -> IntArray:
    """The place in time of each sentence's document."""
    place = np.argsort(by_time(read.cluster.documents))
    return np.asarray(place[[sentence.document for sentence in read.sentences]], np.int64)


def in_order(read: SplitCluster, subset: IntArray, order: str, model: Candidates) -> IntArray:
    """The sentences of a set as they are to be read.

    "source": as in the documents, one after the other. "chronological": the same, the documents by time. "importance":
    by what each adds to those before it, log det L_Y, so that the first n are the greedy choice of n among them; a
    sentence that leans on the one before it follows that, and the first is one that does not lean, if there is any.
    """
    if order == CHRONOLOGICAL:
        when = read._when.get(CHRONOLOGICAL, lambda: _when(read))
        return subset[np.lexsort((subset, when[subset]))]
    if order == SOURCE:
        return np.sort(subset)
    found = greedy_map(DPP(model.block(subset)), k=subset.size, gain="log").subset
    best = subset[[*found, *np.setdiff1d(np.arange(subset.size), found)]].tolist()  # what depends on others comes last
    head = {i: i for i in best}
    at = {int(read.places[i]): i for i in best}
    for i in sorted(best):  # in their documents' order, so that chains are followed to their heads
        if read.leaning[i]:
            head[i] = head[at.get(int(read.places[i]) - 1, i)]
    heads = list(dict.fromkeys(head[i] for i in best))
    heads = sorted(heads, key=lambda i: bool(read.leaning[i]))  # leaning ones last, in the same order
    return np.array([i for first in heads for i in sorted(best) if head[i] == first], np.int64)
