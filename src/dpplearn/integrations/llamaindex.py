"""LlamaIndex: a node postprocessor."""

from __future__ import annotations

from typing import Any

from dpplearn.integrations._common import Chooser, ChosenCandidates, cosines, framework, given_scores, given_vectors

with framework("llama-index-core", __name__):
    from llama_index.core.bridge.pydantic import Field
    from llama_index.core.postprocessor.types import BaseNodePostprocessor
    from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle


class DPPPostprocessor(BaseNodePostprocessor):
    """Keep those nodes of a retriever that are relevant and differ from each other.

    Embeddings are those of the nodes, if all have one, or made by `embed_model`. Relevance is the nodes' score or, if
    no node has one, the cosine with the query. Let the retriever fetch several times as many nodes as you keep
    (`similarity_top_k=40`), so that there is a choice.

    Each node that is kept has a note in `metadata["dpplearn"]`, of its rank and of the skipped nodes nearest to it,
    with their cosines and reasons. Neither language models nor embeddings see the note.

    Parameters
    ----------
    embed_model : BaseEmbedding, optional
    k, max_tokens : int, optional
        Largest number of nodes, and largest total number of tokens.
    count_tokens : callable, optional
        From text to int; by default one token for every four bytes, which are four characters of English.
    groups : str, optional
        A field of the nodes' metadata, such as the source.
    diversity, max_per_group, min_per_group, backfill
        As in `dpplearn.diversify`.
    """

    embed_model: Any = Field(default=None, exclude=True)
    k: int | None = 4
    max_tokens: int | None = None
    count_tokens: Any = Field(default=None, exclude=True)
    diversity: float = 0.5
    groups: str | None = None
    max_per_group: Any = None
    backfill: bool = False
    min_per_group: Any = None

    def model_post_init(self, context: Any, /) -> None:
        super().model_post_init(context)
        Chooser.of(self)

    @classmethod
    def class_name(cls) -> str:
        return "DPPPostprocessor"

    def choose(self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None) -> ChosenCandidates:
        """Choose the nodes to keep."""
        texts = [node.node.get_content(metadata_mode=MetadataMode.NONE) for node in nodes]
        if not texts:
            return Chooser.of(self)(texts, [], [], [])
        shown = [node.node.get_content(metadata_mode=MetadataMode.EMBED) for node in nodes]
        model = self.embed_model
        embed = None if model is None else lambda: model.get_text_embedding_batch(shown)
        carried = [node.node.embedding for node in nodes]
        vectors = given_vectors(carried, embed, "Node", "Pass embed_model=, the one of the index.")
        scores = given_scores([node.score for node in nodes], "Node")
        if scores is None:  # cosines with the query
            query = None if query_bundle is None else query_bundle.embedding
            if query is None and query_bundle is not None and model is not None:
                query = model.get_query_embedding(query_bundle.query_str)
            if query is None:
                raise ValueError("The nodes have no scores. Pass the query, and embed_model= to compare them with it.")
            scores = cosines(vectors, query)
        return Chooser.of(self)(texts, vectors, scores, [node.node.metadata for node in nodes])

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        return self.choose(nodes, query_bundle).kept(nodes, annotated)


def annotated(node: NodeWithScore, note: dict[str, Any]) -> NodeWithScore:
    """A copy of the node with the note, which is kept out of prompts and embeddings."""
    inner = node.node.model_copy()
    inner.metadata = inner.metadata | note
    for keys in ("excluded_llm_metadata_keys", "excluded_embed_metadata_keys"):
        setattr(inner, keys, [*(key for key in getattr(inner, keys) if key not in note), *note])
    return NodeWithScore(node=inner, score=node.score)
