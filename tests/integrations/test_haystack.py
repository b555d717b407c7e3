"""The Haystack adapter, against haystack-ai itself."""

import pytest

from little_corpus import QUERY, SCORES, TEXTS, count_words, embed

pytest.importorskip("haystack", reason="haystack-ai is not installed: make test-integrations")

from haystack import Document, Pipeline, component

from dpplearn import diversify
from dpplearn.integrations.haystack import DPPRanker


@pytest.fixture
def documents():
    rows = zip(TEXTS, SCORES, embed(TEXTS), strict=True)
    return [Document(id=str(n), content=t, score=s, embedding=e) for n, (t, s, e) in enumerate(rows)]


def ids(documents):
    return [int(document.id) for document in documents]


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
    assert ids(out["documents"]) == diversify(embed(TEXTS), SCORES, k=2).subset.tolist() == [0, 3]
    assert [left["candidate"] for left in out["skipped"]] == [1, 2, 4]
    assert out["skipped"][0]["nearest"] == 0
    assert out["skipped"][0]["reason"] == "0.82 similar to item 0"
    assert out["documents"][0].meta["dpplearn"]["skipped"][0]["candidate"] == 1
    assert "dpplearn" not in documents[0].meta


def test_embed_and_missing_embeddings():
    bare = [Document(id=str(n), content=t, score=s) for n, (t, s) in enumerate(zip(TEXTS, SCORES, strict=True))]
    assert ids(DPPRanker(top_k=2, embed=embed).run(bare)["documents"]) == [0, 3]
    with pytest.raises(ValueError, match=r"Document 0 has no embedding \(5 without"):
        DPPRanker(top_k=2).run(bare)


def test_without_scores_the_first_count_more():
    documents = [
        Document(id=str(n), content=t, embedding=e) for n, (t, e) in enumerate(zip(TEXTS, embed(TEXTS), strict=True))
    ]
    assert ids(DPPRanker(top_k=2, diversity=0.0).run(documents)["documents"]) == [0, 1]
    assert ids(DPPRanker(top_k=1).run(documents[::-1])["documents"]) == [4]


def test_limits(documents):
    assert ids(DPPRanker(top_k=None, max_tokens=7, count_tokens=count_words).run(documents)["documents"]) == [0, 3]
    assert ids(DPPRanker().run(documents, top_k=1)["documents"]) == [0]
    assert DPPRanker().run([]) == {"documents": [], "skipped": []}
    with pytest.warns(UserWarning, match="nothing to choose from"):
        DPPRanker(top_k=5).run(documents)
    with pytest.raises(ValueError, match="k must be at least 1"):
        DPPRanker(top_k=0)


def test_saved_and_loaded(documents):
    pipeline = Pipeline()
    pipeline.add_component("ranker", DPPRanker(top_k=2, diversity=0.7, max_tokens=100, count_tokens=count_words))
    # Haystack loads only classes of modules that the user names
    trusted = ["dpplearn.integrations.haystack", "little_corpus"]
    restored = Pipeline.loads(pipeline.dumps(), allowed_modules=trusted).get_component("ranker")
    assert (restored.chooser.k, restored.chooser.diversity, restored.chooser.max_tokens) == (2, 0.7, 100)
    assert restored.chooser.count_tokens is count_words
    assert restored.embed is None
    assert ids(restored.run(documents)["documents"]) == ids(
        DPPRanker(top_k=2, diversity=0.7).run(documents)["documents"]
    )


def test_groups_are_a_field_of_the_metadata(documents):
    for document, source in zip(documents, "aabbc", strict=True):
        document.meta["source"] = source
    ranker = DPPRanker(top_k=4, groups="source", max_per_group=1)
    assert sorted(document.meta["source"] for document in ranker.run(documents)["documents"]) == ["a", "b", "c"]
    assert DPPRanker.from_dict(ranker.to_dict()).chooser.max_per_group == 1
