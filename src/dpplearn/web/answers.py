"""From clusters and summaries to the answers that describe them, and to files."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import linalg

from dpplearn._checks import FloatArray, IntArray
from dpplearn.summarize.corpora.cluster import Document
from dpplearn.summarize.explain.explanation import Chosen, LeftOut, contributions, missed_first, place
from dpplearn.summarize.explain.reasons import set_aside
from dpplearn.summarize.explain.summary import Summary
from dpplearn.summarize.model.choice import document_times
from dpplearn.summarize.text.units import length
from dpplearn.web import schema
from dpplearn.web.engine import Reading
from dpplearn.web.problems import invalid


def shown(documents: Sequence[Document]) -> list[schema.Document]:
    """Documents as an answer has them."""
    return [schema.Document(id=x.id, title=x.title or "", text=x.text, date=x.date) for x in documents]


def cluster_answer(name: str, reading: Reading, expires_in: float) -> schema.ClusterAnswer:
    """A cluster: its sentences with places, lengths, qualities and a map, and what is not among them."""
    ready, documents = reading.ready, reading.ready.read.cluster.documents
    q, xy, terms = ready.dpp.quality, similarity_map(ready.read.C), ready.contributions
    sentences = [
        schema.Sentence(
            id=i,
            **place(sentence),
            length={unit: int(length(sentence.text, unit)) for unit in schema.UNITS},
            quality=float(q[i]),
            contributions=contributions(ready.names, terms[i]),
            x=float(xy[i, 0]),
            y=float(xy[i, 1]),
        )
        for i, sentence in enumerate(ready.read.sentences)
    ]
    times, pieces = document_times(documents), set_aside(ready.read)
    return schema.ClusterAnswer(
        id=name,
        model=reading.read.model,
        expires_in=expires_in,
        documents=shown(documents),
        days=[None if time is None else time.date().isoformat() for time in times],
        sentences=sentences,
        set_aside=schema.SetAside(count=len(pieces), pieces=list(missed_first(pieces, None))),
        defaults=reading.defaults,
        notes=list(reading.read.notes),
        skipped=list(reading.read.skipped),
    )


def summary_answer(summary: Summary, notes: Sequence[str] = ()) -> schema.SummaryAnswer:
    """A summary with the reasons for its sentences and for the best of the others."""
    record, number = summary.explain(), numbers(summary)
    whole = record.as_a_set
    topics = tuple(replace(topic, sentence=int(number[topic.sentence])) for topic in whole.leaves_out.topics)
    return schema.SummaryAnswer(
        **{name: getattr(summary, name) for name in ("text", "length", "budget", "unit", "note")},
        notes=list(notes),
        covers=whole.covers,
        leaves_out=replace(whole.leaves_out, topics=topics),
        similarity=whole.alikeness,
        sureness=whole.sureness,
        selected=[chosen(x, number, order) for order, x in enumerate(record.chosen, 1)],
        left_out=[left_out(x, summary) for x in record.left_out],
        redundant=[left_out(x, summary) for x in record.redundant],
        marginals=np.minimum(np.bincount(number, summary.marginals), 1.0).tolist(),  # of a sentence in any of its forms
    )


def why_answer(summary: Summary, sentence: int) -> schema.Chosen | schema.LeftOut:
    """Why a sentence of the cluster is in the summary, or why it is not."""
    number = numbers(summary)
    if sentence > (last := int(number.max())):
        raise invalid([(("sentence",), f"there is none of this number: they are 0 to {last}.")])
    order = np.flatnonzero(number[summary.order] == sentence)
    if order.size:
        return chosen(summary.explain().chosen[order[0]], number, int(order[0]) + 1)
    answer = summary.why(int(np.flatnonzero(number == sentence)[0]))
    assert isinstance(answer, LeftOut)
    return left_out(answer, summary)


def numbers(summary: Summary) -> IntArray:
    """The number of the sentence that each candidate is a form of; its own where there are no shorter forms."""
    forms = summary.read.forms
    return np.arange(len(summary.read)) if forms is None else forms


def chosen(x: Chosen, number: IntArray, order: int) -> schema.Chosen:
    spans = {"full": x.sentence.full, "dropped": x.sentence.dropped}
    own: dict[str, Any] = {**vars(x), **place(x.sentence), **spans, "sentence": number[x.number]}
    return schema.Chosen(**own, order=order, words=x.words)


def left_out(x: LeftOut, summary: Summary) -> schema.LeftOut:
    number = numbers(summary)
    like = next(c.number for c in summary.explain().chosen if c.sentence == x.similar_to)
    own: dict[str, Any] = {**vars(x), **place(x.sentence), "sentence": number[x.number], "similar_to": number[like]}
    return schema.LeftOut(**{**own, "by": number[list(x.by)].tolist()})


def similarity_map(C: FloatArray) -> FloatArray:
    """Points in [-1, 1]^2 whose distances are near those of the sentences (Torgerson's scaling).

    With |v_i - v_j|^2 = 2 - 2 C_ij the doubly centred matrix is J C J, J = I - 1 1^T / n; the two leading
    eigenvectors, each times the root of its eigenvalue, are the coordinates. Their signs are fixed: the entry of
    largest size is positive.

    Examples
    --------
    >>> similarity_map(np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])).round(3) + 0.0
    array([[-0.5,  0. ],
           [-0.5,  0. ],
           [ 1. ,  0. ]])
    """
    n = len(C)
    points = np.zeros((n, 2))
    if n < 2:
        return points
    mean = C.mean(axis=1)
    B = C - mean[:, None] - mean + mean.mean()
    lam, V = linalg.eigh(B, subset_by_index=[n - 2, n - 1], check_finite=False)
    if lam.size < 2:  # LAPACK finds none where all are equal: no two sentences have a word in common
        lam, V = (part[..., -2:] for part in linalg.eigh(B, check_finite=False))
    for axis, j in enumerate((1, 0)):
        if lam[j] > 1e-10 * n:
            v = np.round(V[:, j] * np.sqrt(lam[j]), 9)  # ties in size stay ties: the first of them is the positive one
            points[:, axis] = v * np.sign(v[np.abs(v).argmax()])
    largest = np.abs(points).max()
    return points / largest if largest > 0 else points


def as_json(summary: Summary) -> str:
    """As `dpplearn summarize --json` prints it."""
    documents = [{"id": x.id, "title": x.title} for x in summary.read.cluster.documents]
    return json.dumps({**summary.to_dict(), "documents": documents}, indent=2, ensure_ascii=False) + "\n"


WRITERS: dict[str, Callable[[Summary], str]] = {
    "text": lambda summary: f"{summary.text}\n",
    "markdown": lambda summary: f"{summary.to_markdown()}\n",
    "html": Summary.to_html,
    "json": as_json,
}
