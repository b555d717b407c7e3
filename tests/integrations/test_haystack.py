"""The Haystack adapter, against haystack-ai itself; what all adapters do is in test_common.py."""

import pytest

from little_corpus import QUERY, SCORES, TEXTS, count_words, embed

pytest.importorskip("haystack", reason="haystack-ai is not installed: make test-integrations")

from haystack import Document, Pipeline, component

from dpplearn import diversify
from dpplearn.integrations.haystack import DPPRanker


@pytest.fixture
def documents():
    rows = zip(TEXTS, SCORES, embed(TEXTS), "aabbc", strict=True)
    return [
        Document(id=str(n), content=t, score=s, embedding=e, meta={"source": m}) for n, (t, s, e, m) in enumerate(rows)
    ]


def ids(ranker, documents, **more):
    return [int(document.id) for document in ranker.run(documents, **more)["documents"]]


def test_ranker_in_a_pipeline(documents):
    found = list(documents)

    @component
    class Retriever:
        @component.output_types(documents=list[Document])
        def run(self, query: str):  # noqa: ARG002  # Haystack calls it by this name
            return {"documents": found}

    pipeline = Pipeline()
    pipeline.add_component("retriever", Retriever())
    pipeline.add_component("ranker", DPPRanker(top_k=2))
    pipeline.connect("retriever.documents", "ranker.documents")
    out = pipeline.run({"retriever": {"query": QUERY}})["ranker"]
    assert [int(one.id) for one in out["documents"]] == diversify(embed(TEXTS), SCORES, k=2).subset.tolist() == [0, 3]
    assert [left["candidate"] for left in out["skipped"]] == [1, 2, 4]
    assert out["skipped"][0]["reason"] == "0.82 similar to item 0"
    assert out["documents"][0].meta["dpplearn"]["skipped"][0]["candidate"] == 1
    assert "dpplearn" not in documents[0].meta


def test_saved_and_loaded(documents):
    quota = {"groups": "source", "max_per_group": 1}
    ranker = DPPRanker(top_k=4, diversity=0.7, max_tokens=100, count_tokens=count_words, **quota)
    pipeline = Pipeline()
    pipeline.add_component("ranker", ranker)
    # Haystack loads only classes of modules that the user names
    trusted = ["dpplearn.integrations.haystack", "little_corpus"]
    restored = Pipeline.loads(pipeline.dumps(), allowed_modules=trusted).get_component("ranker")
    assert (restored.chooser.k, restored.chooser.diversity, restored.chooser.max_tokens) == (4, 0.7, 100)
    assert restored.chooser.count_tokens is count_words
    assert restored.embed is None
    assert ids(restored, documents) == ids(ranker, documents)
    assert sorted("aabbc"[i] for i in ids(restored, documents)) == ["a", "b", "c"]
