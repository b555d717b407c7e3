"""The LangChain adapters, against langchain-core itself; what all adapters do is in test_common.py."""

import asyncio

import pytest

from little_corpus import QUERY, SCORES, TEXTS, count_words, embed

pytest.importorskip("langchain_core", reason="langchain-core is not installed: make test-integrations")

from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.embeddings import Embeddings
from langchain_core.example_selectors import BaseExampleSelector
from langchain_core.prompts import FewShotPromptTemplate, PromptTemplate
from langchain_core.vectorstores import InMemoryVectorStore

from dpplearn import diversify
from dpplearn.integrations.langchain import DPPCompressor, DPPExampleSelector


class Counts(Embeddings):
    def embed_documents(self, texts):
        return embed(texts)

    def embed_query(self, text):
        return embed([text])[0]


@pytest.fixture
def documents():
    metadata = [{"n": n, "source": "aabbc"[n], "rank": (1, 2, 3, 4, 50)[n]} for n in range(5)]
    return [Document(page_content=text, metadata=one) for text, one in zip(TEXTS, metadata, strict=True)]


@pytest.fixture
def compress(documents):
    def numbers(query=QUERY, **options):
        kept = DPPCompressor(embeddings=Counts(), **options).compress_documents(documents, query)
        return [document.metadata["n"] for document in kept]

    return numbers


def test_compressor_chooses_like_diversify(documents, compress):
    compressor = DPPCompressor(embeddings=Counts(), k=2)
    assert isinstance(compressor, BaseDocumentCompressor)
    kept = compressor.compress_documents(documents, QUERY)
    assert compress(k=2) == diversify(embed(TEXTS), SCORES, k=2).subset.tolist() == [0, 3]
    assert asyncio.run(compressor.acompress_documents(documents, QUERY)) == kept
    first = kept[0].metadata["dpplearn"]["skipped"][0]
    assert (first["candidate"], first["reason"]) == (1, "0.82 similar to item 0")
    assert first["similarity"] == pytest.approx(4 / 24**0.5)
    assert "dpplearn" not in documents[0].metadata  # the retriever's own documents are left alone
    retriever = InMemoryVectorStore.from_texts(TEXTS, Counts()).as_retriever(search_kwargs={"k": 5})
    chain = retriever | (lambda found: compressor.compress_documents(found, QUERY))
    assert {document.page_content for document in chain.invoke(QUERY)} == {TEXTS[0], TEXTS[3]}


def test_scores_limits_and_groups(compress):
    assert compress("", k=1, score_key="rank") == [4]
    with pytest.raises(ValueError, match="No document has 'other'"):
        compress("", score_key="other")
    assert compress(k=None, max_tokens=7, count_tokens=count_words) == [0, 3]
    assert sorted("aabbc"[n] for n in compress(k=4, groups="source", max_per_group=1)) == ["a", "b", "c"]
    assert DPPCompressor(embeddings=Counts(), k=5).compress_documents([], "apple") == []


@pytest.fixture
def examples():
    kinds = ["fruit" if "pie" in text else "other" for text in TEXTS]
    return [{"question": text, "answer": str(n), "kind": kinds[n]} for n, text in enumerate(TEXTS)]


def test_example_selector_in_a_prompt(examples):
    selector = DPPExampleSelector(examples[:4], Counts(), k=2, input_keys=["question"])
    assert isinstance(selector, BaseExampleSelector)
    assert selector.select_examples({"question": QUERY}) == [examples[0], examples[3]]
    prompt = FewShotPromptTemplate(
        example_selector=selector,
        example_prompt=PromptTemplate.from_template("{question}: {answer}"),
        suffix="{question}:",
        input_variables=["question"],
    )
    text = prompt.format(question=QUERY)
    assert "apple pie with cinnamon: 0" in text
    assert "laptop review: 3" in text
    assert "sugar" not in text
