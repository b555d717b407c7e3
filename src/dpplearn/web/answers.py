"""From a summary to the answer that describes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpplearn._checks import FloatArray
from dpplearn.summarize.corpora.cluster import Document
from dpplearn.summarize.explain.reasons import reason
from dpplearn.summarize.explain.summary import Summary, contributions, place
from dpplearn.summarize.model.prepared import Prepared
from dpplearn.summarize.text.units import length
from dpplearn.web import schema
from dpplearn.web.pins import Pins
from dpplearn.web.sentence_map import similarity_map

REDUNDANT = 10  # left-out sentences that an answer explains at most, as many as Summary.explain()
COVERED = 0.15  # share of a sentence that the summary must cover for it to count as redundant


@dataclass(frozen=True, eq=False)
class Found:
    """A summary, the pins it was made under, and the marginals given those."""

    summary: Summary
    pins: Pins
    marginals: FloatArray


def shown(documents: Sequence[Document]) -> list[schema.Document]:
    """Documents as an answer has them."""
    return [schema.Document(id=one.id, title=one.title or "", text=one.text) for one in documents]


def described(ready: Prepared, names: tuple[str, ...]) -> list[schema.Sentence]:
    """The sentences of a cluster, with places, lengths, qualities and a map."""
    q, xy, terms = ready.dpp.quality, similarity_map(ready.read.C), ready.theta * ready.read.F
    return [
        schema.Sentence(
            id=i,
            **place(sentence),
            length={unit: int(length(sentence.text, unit)) for unit in schema.UNITS},
            quality=float(q[i]),
            contributions=contributions(names, terms[i]),
            x=float(xy[i, 0]),
            y=float(xy[i, 1]),
        )
        for i, sentence in enumerate(ready.read.sentences)
    ]


def selection_answer(found: Found) -> schema.SelectionAnswer:
    """A summary of a cluster that is kept: sentences by number."""
    return schema.SelectionAnswer(
        **head(found.summary), selected=chosen(found), redundant=left_out(found), marginals=found.marginals.tolist()
    )


def whole_answer(found: Found, notes: Sequence[str]) -> schema.WholeAnswer:
    """A summary of documents that are not kept: sentences with their places."""
    selected, sentences = chosen(found), found.summary.read.sentences
    order = {one.sentence: i for i, one in enumerate(selected)}
    return schema.WholeAnswer(
        **head(found.summary),
        selected=[schema.PlacedChosen(**dict(one), **place(sentences[one.sentence])) for one in selected],
        redundant=[
            schema.PlacedLeftOut(**{**dict(one), **place(sentences[one.sentence]), "similar_to": order[one.similar_to]})
            for one in left_out(found)
        ],
        notes=list(notes),
    )


def head(summary: Summary) -> dict[str, Any]:
    """What every summary has; of how alike it is, the mean and largest cosine between two of its sentences."""
    given = {name: getattr(summary, name) for name in ("text", "length", "budget", "unit", "note")}
    Y = summary.items
    between = summary.read.C[np.ix_(Y, Y)][np.triu_indices(Y.size, 1)]  # what the diversity changes
    alike = schema.Alike(mean=float(between.mean()), max=float(between.max())) if between.size else None
    return {**given, "similarity": alike}


def chosen(found: Found) -> list[schema.Chosen]:
    """The sentences of the summary, and why."""
    pinned = set(found.pins.include.tolist())
    return [
        schema.Chosen(order=order, pinned=int(i) in pinned, **judged(found, int(i)))
        for order, i in enumerate(found.summary.items, 1)
    ]


def left_out(found: Found) -> list[schema.LeftOut]:
    """Sentences of at least median quality that are out because the summary covers them, most covered first."""
    summary, q = found.summary, found.summary.dpp.quality
    good = np.flatnonzero(q >= np.median(q))
    rest = np.setdiff1d(good, np.concatenate([summary.items, found.pins.exclude]))  # the banned are out by wish
    covered = sorted(summary.coverage(rest), key=lambda one: -one.redundancy)
    return [
        schema.LeftOut(
            similar_to=one.similar_to,
            similarity=one.similarity,
            redundancy=one.redundancy,
            reason=reason(summary, one.item, one.redundancy),
            **judged(found, one.item),
        )
        for one in covered[:REDUNDANT]
        if one.redundancy >= COVERED
    ]


def judged(found: Found, i: int) -> dict[str, Any]:
    """A sentence, and what the model thinks of it."""
    summary = found.summary
    return {
        "sentence": i,
        "quality": float(summary.dpp.quality[i]),
        "marginal": float(found.marginals[i]),
        "contributions": contributions(summary.names, summary.theta * summary.read.F[i]),
    }
