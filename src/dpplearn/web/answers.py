"""Turns clusters and summaries into the JSON answers that describe them, and into files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from pydantic_core import to_json
from scipy import linalg

from dpplearn._checks import FloatArray, IntArray
from dpplearn.summarize.corpora.cluster import Document
from dpplearn.summarize.explain.records import Chosen, LeftOut, place, running_first
from dpplearn.summarize.explain.summary import Summary
from dpplearn.summarize.explain.topics import Vocabulary
from dpplearn.summarize.text.units import length
from dpplearn.web.engine import ServedCluster
from dpplearn.web.problems import invalid
from dpplearn.web.schema import BUDGETS, JSON

MATTER = 60  # words that say what a cluster is about
Answer = dict[str, Any]  # described in `schema`


def json_bytes(answer: Any, indent: int | None = None) -> bytes:
    """An answer as JSON, with null for nan and infinity."""
    return to_json(answer, indent=indent, inf_nan_mode="null", fallback=lambda number: number.item())


def document_answer(document: Document) -> Answer:
    return {"id": document.id, "title": document.title or "", "text": document.text, "date": document.date}


def cluster_answer(name: str, reading: ServedCluster, expires_in: float) -> bytes:
    """A cluster: its sentences with places, lengths, qualities and a map, and the pieces that are not candidates."""
    read, prepared, documents = reading.read, reading.prepared, reading.prepared.split.cluster.documents
    xy, sentences = similarity_map(prepared.split.C).tolist(), list[Answer]()
    for i, sentence in enumerate(prepared.split.sentences):
        sizes = {unit: int(length(sentence.text, unit)) for unit in BUDGETS}
        judged = {"quality": prepared.dpp.quality[i], "contributions": prepared.terms(i), "x": xy[i][0], "y": xy[i][1]}
        sentences.append({"id": i, **place(sentence), "length": sizes, **judged})
    days = [None if time is None else time.date().isoformat() for time in prepared.split.times]
    answer = {"id": name, "model": read.model, "expires_in": expires_in, "notes": read.notes, "skipped": read.skipped}
    answer |= {"documents": [*map(document_answer, documents)], "days": days, "sentences": sentences}
    defaults, aside = reading.defaults.model_dump(exclude_unset=True), running_first(prepared.split.set_aside)
    vocabulary = Vocabulary.of(prepared.split) if len(sentences) > 2 else None  # two make no map
    answer["words"] = vocabulary.strongest(vocabulary.worths, MATTER) if vocabulary else []
    return json_bytes(answer | {"defaults": defaults, "set_aside": aside})


def summary_answer(summary: Summary, notes: Sequence[str] = ()) -> bytes:
    """A summary with the reasons for its sentences and for the best of the others."""
    record, number = summary.explain(), numbers(summary)
    whole = record.as_a_set
    answer = {name: getattr(summary, name) for name in ("text", "length", "budget", "unit", "note")}
    answer |= {
        "notes": notes,
        "covers": whole.covers,
        "leaves_out": whole.leaves_out,
        "similarity": whole.alikeness,
        "sureness": whole.sureness,
        "order": whole.order,
        "selected": [chosen_answer(x, number, order) for order, x in enumerate(record.chosen, 1)],
        "left_out": [left_out_answer(x, summary) for x in record.left_out],
        "redundant": [left_out_answer(x, summary) for x in record.redundant],
        # a sentence has the sum over its forms
        "marginals": np.minimum(np.bincount(number, summary.marginals), 1.0).tolist(),
    }
    return json_bytes(answer)


def why_answer(summary: Summary, sentence: int) -> bytes:
    """Why a sentence of the cluster is in the summary, or why it is not."""
    number = numbers(summary)
    if sentence > (last := int(number.max())):
        raise invalid((("sentence",), f"there is no sentence with this number: they are 0 to {last}."))
    x = summary.why(int(np.searchsorted(number, sentence)))  # in any of its forms
    if isinstance(x, LeftOut):
        return json_bytes(left_out_answer(x, summary))
    return json_bytes(chosen_answer(x, number, summary.order.tolist().index(x.number) + 1))


def numbers(summary: Summary) -> IntArray:
    """The number of the sentence of which each candidate is a form; its own number if there are no shorter forms."""
    forms = summary.split.forms
    return np.arange(len(summary.split)) if forms is None else forms


def chosen_answer(x: Chosen, number: IntArray, order: int) -> Answer:
    changes = {name: getattr(x.sentence, name) for name in ("full", "dropped", "added")}
    return {**x.to_dict(), **changes, "sentence": int(number[x.number]), "order": order}


def left_out_answer(x: LeftOut, summary: Summary) -> Answer:
    number = numbers(summary)
    return {**x.to_dict(), "sentence": int(number[x.number]), "by": number[list(x.by)].tolist()}


def similarity_map(C: FloatArray) -> FloatArray:
    """Points in [-1, 1]^2 whose distances are close to those of the sentences (Torgerson's scaling).

    With |v_i - v_j|^2 = 2 - 2 C_ij, the doubly centred matrix is J C J, J = I - 1 1^T / n. The coordinates are its two
    leading eigenvectors, each times the root of its eigenvalue, with signs that make the largest entry positive.

    >>> similarity_map(np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])).round(3) + 0.0
    array([[-0.5,  0. ],
           [-0.5,  0. ],
           [ 1. ,  0. ]])
    """
    mean, points = C.mean(axis=1), np.zeros((len(C), 2))
    lam, V = linalg.eigh(C - mean[:, None] - mean + mean.mean(), driver="evd", check_finite=False)
    for axis, j in enumerate(range(len(C))[:-3:-1]):
        if lam[j] > 1e-10 * len(C):
            v = np.round(V[:, j] * np.sqrt(lam[j]), 9)  # so that of equal entries the first is positive
            points[:, axis] = v * np.sign(v[np.abs(v).argmax()])
    largest = np.abs(points).max()
    return points / largest if largest > 0 else points


def json_file(summary: Summary) -> bytes:
    """As `dpplearn summarize --json` prints it."""
    documents = [{"id": x.id, "title": x.title} for x in summary.split.cluster.documents]
    return json_bytes(summary.to_dict() | {"documents": documents}, indent=2)


FILES: dict[str, tuple[str, Callable[[Summary], str | bytes]]] = {  # media type, and function that writes the file
    "text": ("text/plain", lambda summary: f"{summary.text}\n"),
    "markdown": ("text/markdown", lambda summary: f"{summary.to_markdown()}\n"),
    "html": ("text/html", Summary.to_html),
    "json": (JSON, json_file),
}
