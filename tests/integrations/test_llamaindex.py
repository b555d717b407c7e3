"""The LlamaIndex adapter, against llama-index-core itself; what all adapters do is in test_common.py."""

import asyncio

import pytest

from little_corpus import QUERY, SCORES, TEXTS, embed

pytest.importorskip("llama_index.core", reason="llama-index-core is not installed: make test-integrations")

from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle, TextNode

from dpplearn import diversify
from dpplearn.integrations.llamaindex import DPPPostprocessor


class Counts(BaseEmbedding):
    def _get_text_embedding(self, text):
        return embed([text])[0]

    def _get_query_embedding(self, query):
        return embed([query])[0]

    async def _aget_query_embedding(self, query):
        return embed([query])[0]


@pytest.fixture
def nodes():
    rows = zip(TEXTS, SCORES, "aabbc", strict=True)
    return [
        NodeWithScore(node=TextNode(text=t, id_=str(n), metadata={"source": m}), score=s)
        for n, (t, s, m) in enumerate(rows)
    ]


def ids(kept):
    return [int(one.node.id_) for one in kept]


def test_chooses_like_diversify(nodes):
    processor = DPPPostprocessor(embed_model=Counts(), k=2)
    assert isinstance(processor, BaseNodePostprocessor)
    kept = processor.postprocess_nodes(nodes, query_str=QUERY)
    assert ids(kept) == diversify(embed(TEXTS), SCORES, k=2).subset.tolist() == [0, 3]
    assert [node.score for node in kept] == [SCORES[0], SCORES[3]]
    assert ids(asyncio.run(processor.apostprocess_nodes(nodes, query_str=QUERY))) == [0, 3]
    for node, vector in zip(nodes, embed(TEXTS), strict=True):
        node.node.embedding = vector
    assert ids(DPPPostprocessor(k=2).postprocess_nodes(nodes)) == [0, 3]
    quota = {"k": 4, "groups": "source", "max_per_group": 1}
    assert sorted("aabbc"[i] for i in ids(DPPPostprocessor(**quota).postprocess_nodes(nodes))) == ["a", "b", "c"]


def test_notes_stay_out_of_prompts(nodes):
    kept = DPPPostprocessor(embed_model=Counts(), k=2).postprocess_nodes(nodes)
    assert kept[0].node.metadata["dpplearn"]["skipped"][0]["reason"] == "0.82 similar to item 0"
    for mode in (MetadataMode.LLM, MetadataMode.EMBED):
        assert "similar" not in kept[0].node.get_content(metadata_mode=mode)
    assert "dpplearn" not in nodes[0].node.metadata


def test_without_scores_the_query_is_compared(nodes):
    for node in nodes:
        node.score = None
    processor = DPPPostprocessor(embed_model=Counts(), k=2)
    assert ids(processor.postprocess_nodes(nodes, QueryBundle(QUERY))) == [0, 3]
    with pytest.raises(ValueError, match="no scores"):
        processor.postprocess_nodes(nodes)
    nodes[1].score = 1.0
    with pytest.raises(ValueError, match="Node 0 has no score"):
        processor.postprocess_nodes(nodes)
