"""From a summary to the answer that describes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpplearn._checks import IntArray
from dpplearn.summarize.corpora.cluster import Document
from dpplearn.summarize.explain.explanation import contributions, missed_first, place
from dpplearn.summarize.explain.reasons import set_aside
from dpplearn.summarize.explain.summary import Summary
from dpplearn.summarize.model.ordering import document_time
from dpplearn.summarize.model.prepared import Prepared
from dpplearn.summarize.text.units import length
from dpplearn.web import schema
from dpplearn.web.sentence_map import similarity_map


def shown(documents: Sequence[Document]) -> list[schema.Document]:
    """Documents as an answer has them."""
    return [schema.Document(id=one.id, title=one.title or "", text=one.text, date=one.date) for one in documents]


def day_of(document: Document) -> str | None:
    """When it was written, to the day."""
    time = document_time(document)
    return None if time is None else time.date().isoformat()


def described(ready: Prepared, names: tuple[str, ...]) -> list[schema.Sentence]:
    """The sentences of a cluster, with places, lengths, qualities and a map."""
    q, xy, terms = ready.dpp.quality, similarity_map(ready.read.C), ready.contributions
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


def passed_over(ready: Prepared) -> schema.SetAside:
    """What of the documents is not among the sentences."""
    pieces = set_aside(ready.read)
    return schema.SetAside(count=len(pieces), pieces=[schema.Piece(**vars(one)) for one in missed_first(pieces, None)])


def selection_answer(summary: Summary) -> schema.SelectionAnswer:
    """A summary of a cluster that is kept: sentences by number."""
    number, explanation = numbers(summary), summary.explain()
    every = explanation.best_left_out(None)
    reasons = {int(number[x.number]): x.reason for x in every}
    by = {int(number[x.number]): number[list(x.by)].tolist() for x in every if x.by}
    marginals = np.minimum(np.bincount(number, summary.marginals), 1.0)  # of a sentence in any of its forms
    return schema.SelectionAnswer(
        **head(summary),
        selected=[schema.Chosen(**one) for one in chosen(summary)],
        redundant=[schema.Redundant(**one) for one in redundant(summary)],
        left_out=[number[x.number] for x in explanation.left_out],
        reasons=[reasons.get(i, "") for i in range(marginals.size)],
        by=[by.get(i, []) for i in range(marginals.size)],
        marginals=marginals.tolist(),
    )


def numbers(summary: Summary) -> IntArray:
    """The number of the sentence that each candidate is a form of; its own where there are no shorter forms."""
    forms = summary.read.forms
    return np.arange(len(summary.read)) if forms is None else forms


def whole_answer(summary: Summary, notes: Sequence[str]) -> schema.WholeAnswer:
    """A summary of documents that are not kept: sentences with their places."""
    order = {number: k for k, number in enumerate(numbers(summary)[summary.order].tolist())}

    def placed(one: dict[str, Any]) -> dict[str, Any]:
        return {"full": one["place"].full, **one, **place(one["place"])}

    return schema.WholeAnswer(
        **head(summary),
        selected=[schema.PlacedChosen(**placed(one)) for one in chosen(summary)],
        redundant=[
            schema.PlacedRedundant(**{**placed(one), "similar_to": order[one["similar_to"]]})
            for one in redundant(summary)
        ],
        notes=list(notes),
    )


def head(summary: Summary) -> dict[str, Any]:
    """What every summary has."""
    given = {name: getattr(summary, name) for name in ("text", "length", "budget", "unit", "note")}
    whole, number = summary.explain().as_a_set.to_dict(), numbers(summary)
    for topic in whole["leaves_out"]["topics"]:
        topic["sentence"] = number[topic["sentence"]]
    return {**given, **whole, "similarity": whole["alikeness"]}


def chosen(summary: Summary) -> list[dict[str, Any]]:
    """The sentences of the summary, and why."""
    number = numbers(summary)
    return [
        {**vars(one), "place": one.sentence, "sentence": number[one.number], "order": order, "words": one.words}
        | {"dropped": one.sentence.dropped, "reasons": [vars(reason) for reason in one.reasons]}
        for order, one in enumerate(summary.explain().chosen, 1)
    ]


def redundant(summary: Summary) -> list[dict[str, Any]]:
    """Good sentences that are out because the summary says them already."""
    ids, terms = numbers(summary), summary.ready.contributions
    number = {one.sentence: ids[one.number] for one in summary.explain().chosen}
    return [
        {
            **vars(one),
            "place": one.sentence,
            "sentence": ids[one.number],
            "similar_to": number[one.similar_to],
            "contributions": contributions(summary.names, terms[one.number]),
        }
        for one in summary.explain().redundant
    ]
