"""From a summary to the answer that describes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpplearn._checks import FloatArray
from dpplearn.summarize.corpora.cluster import Document
from dpplearn.summarize.corpora.cluster import Sentence as Located
from dpplearn.summarize.explain.reasons import reason
from dpplearn.summarize.explain.summary import Summary, contributions, place
from dpplearn.summarize.model.prepared import Prepared
from dpplearn.summarize.text.units import UNITS, length
from dpplearn.web import schema
from dpplearn.web.layout import similarity_map
from dpplearn.web.pins import Pins

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
    q, xy = ready.dpp.quality, similarity_map(ready.read.C)
    terms = ready.theta * ready.read.F

    def one(i: int, sentence: Located) -> schema.Sentence:
        return schema.Sentence(
            id=i,
            **place(sentence),
            length=schema.Length(**{unit: int(length(sentence.text, unit)) for unit in UNITS}),
            quality=float(q[i]),
            contributions=contributions(names, terms[i]),
            x=float(xy[i, 0]),
            y=float(xy[i, 1]),
        )

    return [one(i, sentence) for i, sentence in enumerate(ready.read.sentences)]


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
    """What every summary has."""
    given = {name: getattr(summary, name) for name in ("text", "length", "budget", "unit", "note")}
    return {**given, "similarity": alike(summary)}


def alike(summary: Summary) -> schema.Alike | None:
    """Mean and largest cosine between two chosen sentences: what the diversity changes."""
    Y = summary.items
    between = summary.read.C[np.ix_(Y, Y)][np.triu_indices(Y.size, 1)]
    return schema.Alike(mean=float(between.mean()), max=float(between.max())) if between.size else None


def chosen(found: Found) -> list[schema.Chosen]:
    """The sentences of the summary, and why."""
    pinned = set(found.pins.include.tolist())
    return [
        schema.Chosen(sentence=int(i), order=order, pinned=int(i) in pinned, **reasons(found, int(i)))
        for order, i in enumerate(found.summary.items, 1)
    ]


def left_out(found: Found) -> list[schema.LeftOut]:
    """Sentences of at least median quality that are out because the summary covers them, most covered first."""
    summary, q = found.summary, found.summary.dpp.quality
    good = np.flatnonzero(q >= np.median(q))
    rest = np.setdiff1d(good, np.concatenate([summary.items, found.pins.exclude]))  # the banned are out by wish
    covered = [one for one in summary.coverage(rest) if one.redundancy >= COVERED]
    covered.sort(key=lambda one: -one.redundancy)
    return [
        schema.LeftOut(
            sentence=one.item,
            similar_to=one.similar_to,
            similarity=one.similarity,
            redundancy=one.redundancy,
            reason=reason(summary, one.item, one.redundancy),
            **reasons(found, one.item),
        )
        for one in covered[:REDUNDANT]
    ]


def reasons(found: Found, i: int) -> dict[str, Any]:
    """What the model thinks of a sentence."""
    summary = found.summary
    return {
        "quality": float(summary.dpp.quality[i]),
        "marginal": float(found.marginals[i]),
        "contributions": contributions(summary.names, summary.theta * summary.read.F[i]),
    }
