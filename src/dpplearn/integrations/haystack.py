"""Haystack: a ranker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from dpplearn.integrations._common import Chooser, ChosenCandidates, framework, given_scores, given_vectors

with framework("haystack-ai", __name__):
    from haystack import Document, component, default_from_dict, default_to_dict
    from haystack.utils import deserialize_callable, serialize_callable

CALLABLES = ("embed", "count_tokens")


@component
class DPPRanker:
    """Keep those documents of a retriever that are relevant and differ from each other.

    Embeddings are those of the documents (`return_embedding=True` of the document store), or made by `embed`.
    Relevance is the documents' score; if no document has one, earlier documents count more. Let the retriever fetch
    several times as many documents as you keep (`top_k=40`), so that there is a choice.

    Outputs: `documents`, best first, each with a note in `meta["dpplearn"]`, of its rank and of the skipped documents
    nearest to it; and `skipped`, all skipped documents with their cosines and reasons.

    Parameters
    ----------
    top_k, max_tokens : int, optional
        Largest number of documents, and largest total number of tokens.
    count_tokens : callable, optional
        From text to int; by default one token for every four bytes, which are four characters of English.
    groups : str, optional
        A field of the documents' meta, such as the source.
    diversity, max_per_group, min_per_group, backfill
        As in `dpplearn.diversify`.
    embed : callable, optional
        From a list of texts to a list of vectors.
    """

    def __init__(
        self, top_k: int | None = 10, *, embed: Callable[[list[str]], Any] | None = None, **settings: Any
    ) -> None:
        self.embed, self.chooser = embed, Chooser(top_k, **settings)

    def choose(self, documents: list[Document], top_k: int | None = None) -> ChosenCandidates:
        """Choose the documents to keep."""
        texts = [document.content or "" for document in documents]
        embed = None if self.embed is None else partial(self.embed, texts)
        carried = [document.embedding for document in documents]
        vectors = given_vectors(carried, embed, "Document", "Retrieve with return_embedding=True, or pass embed=.")
        scores = given_scores([document.score for document in documents], "Document")
        if scores is None:
            scores = -np.arange(float(len(texts)))
        chooser = self.chooser if top_k is None else replace(self.chooser, k=top_k)
        return chooser(texts, vectors, scores, [document.meta for document in documents])

    @component.output_types(documents=list[Document], skipped=list[dict[str, Any]])
    def run(self, documents: list[Document], top_k: int | None = None) -> dict[str, Any]:
        """Choose among the documents."""
        choice = self.choose(documents, top_k)
        kept = choice.kept(documents, lambda document, note: replace(document, meta=document.meta | note))
        return {"documents": kept, "skipped": choice.skipped}

    def to_dict(self) -> dict[str, Any]:
        """For saving a pipeline; functions are saved by the name they are imported by."""
        saved = {**vars(self.chooser), "embed": self.embed, "top_k": self.chooser.k}
        del saved["k"]
        functions = {name: serialize_callable(saved[name]) for name in CALLABLES if saved[name] is not None}
        return default_to_dict(self, **saved | functions)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> DPPRanker:
        """The ranker that `to_dict` described."""
        given = data.get("init_parameters", {})
        restored = {name: deserialize_callable(given[name]) for name in CALLABLES if given.get(name) is not None}
        return default_from_dict(cls, data | {"init_parameters": given | restored})
