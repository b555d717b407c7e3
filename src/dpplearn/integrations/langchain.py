"""LangChain: a document compressor and an example selector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpplearn._checks import check_int
from dpplearn.integrations._common import Chooser, ChosenCandidates, cosines, framework, given_scores

with framework("langchain-core", __name__):
    from langchain_core.documents import BaseDocumentCompressor, Document
    from langchain_core.example_selectors import BaseExampleSelector
    from pydantic import ConfigDict


class DPPCompressor(BaseDocumentCompressor):
    """Keep those documents of a retriever that are relevant and differ from each other.

    Retrieved documents carry no embeddings, so the model that makes them is passed. Relevance is the cosine with the
    query, or what a reranker wrote under `score_key`. Let the retriever fetch several times as many documents as you
    keep (`search_kwargs={"k": 40}`), so that there is a choice.

    Each document that is kept has a note in `metadata["dpplearn"]`, of its rank and of the skipped documents nearest to
    it, with their cosines and reasons.

    Parameters
    ----------
    embeddings : langchain_core.embeddings.Embeddings
    k, max_tokens : int, optional
        Largest number of documents, and largest total number of tokens.
    count_tokens : callable, optional
        From text to int; by default one token for every four bytes, which are four characters of English.
    groups : str, optional
        A field of the documents' metadata, such as the source.
    diversity, max_per_group, min_per_group, backfill
        As in `dpplearn.diversify`.
    score_key : str, optional
        Metadata field that holds the relevance.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    embeddings: Any
    k: int | None = 4
    max_tokens: int | None = None
    count_tokens: Any = None
    diversity: float = 0.5
    groups: str | None = None
    max_per_group: Any = None
    backfill: bool = False
    min_per_group: Any = None
    score_key: str | None = None

    def model_post_init(self, context: Any, /) -> None:  # noqa: ARG002  # pydantic's signature
        Chooser.of(self)

    def choose(self, documents: Sequence[Document], query: str) -> ChosenCandidates:
        """Choose the documents to keep."""
        texts = [document.page_content for document in documents]
        if not texts:
            return Chooser.of(self)(texts, [], [], [])
        vectors, metadata = self.embeddings.embed_documents(texts), [document.metadata for document in documents]
        if self.score_key is None:
            return Chooser.of(self)(texts, vectors, cosines(vectors, self.embeddings.embed_query(query)), metadata)
        scores = given_scores([fields.get(self.score_key) for fields in metadata], "Document")
        if scores is None:
            raise ValueError(f"No document has {self.score_key!r} in its metadata. Leave score_key out.")
        return Chooser.of(self)(texts, vectors, scores, metadata)

    def compress_documents(self, documents: Sequence[Document], query: str, callbacks: Any = None) -> list[Document]:  # noqa: ARG002
        """The documents to keep, best first, each with its note."""
        choice = self.choose(documents, query)
        return choice.kept(documents, lambda doc, note: doc.model_copy(update={"metadata": doc.metadata | note}))


class DPPExampleSelector(BaseExampleSelector):
    """Few-shot examples that are close to the input and differ from each other.

    Parameters
    ----------
    examples : list of dict
    embeddings : langchain_core.embeddings.Embeddings
    k : int or None
        Largest number of examples.
    fetch_k : int, optional
        Candidates are the `fetch_k` examples closest to the input; by default all. It should be larger than k.
    input_keys : list of str, optional
        Fields of an example and of the input that are compared; by default all.
    max_tokens, count_tokens, diversity, groups, max_per_group, min_per_group, backfill
        As in `DPPCompressor`; `groups` is a field of the examples.
    """

    def __init__(
        self,
        examples: Sequence[dict[str, str]],
        embeddings: Any,
        k: int | None = 4,
        *,
        fetch_k: int | None = None,
        input_keys: Sequence[str] | None = None,
        **settings: Any,
    ) -> None:
        self.embeddings, self.input_keys = embeddings, input_keys
        self.fetch_k = None if fetch_k is None else check_int(fetch_k, "fetch_k", low=1)
        self.chooser = Chooser(k, **settings)
        self.examples = list(examples)
        texts = [self._text(example) for example in self.examples]
        self.vectors: list[Any] = list(embeddings.embed_documents(texts)) if texts else []

    def _text(self, values: dict[str, str]) -> str:
        keys = sorted(values) if self.input_keys is None else self.input_keys
        return " ".join(str(values[key]) for key in keys)

    def add_example(self, example: dict[str, str]) -> None:
        """Add an example to choose from."""
        self.vectors.extend(self.embeddings.embed_documents([self._text(example)]))
        self.examples.append(dict(example))

    def choose(self, input_variables: dict[str, str]) -> tuple[list[int], ChosenCandidates]:
        """Numbers of the candidates among the examples, and which of the candidates are chosen."""
        if not self.examples:
            return [], self.chooser([], [], [], [])
        scores = cosines(self.vectors, self.embeddings.embed_query(self._text(input_variables)))
        candidates = np.argsort(-scores, kind="stable")[: self.fetch_k]
        # all fields of an example count as tokens of the prompt, not only those that are compared
        texts = [" ".join(str(value) for value in self.examples[i].values()) for i in candidates]
        vectors = np.asarray(self.vectors)[candidates]
        examples = [self.examples[i] for i in candidates]
        return candidates.tolist(), self.chooser(texts, vectors, scores[candidates], examples)

    def select_examples(self, input_variables: dict[str, str]) -> list[dict[str, Any]]:
        """The examples for this input, best first."""
        candidates, choice = self.choose(input_variables)
        return [self.examples[candidates[i]] for i in choice.order]
