"""The LangChain adapters, against langchain-core itself."""

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
    return [Document(page_content=text, metadata={"n": n}) for n, text in enumerate(TEXTS)]


def test_compressor_chooses_like_diversify(documents):
    compressor = DPPCompressor(embeddings=Counts(), k=2)
    assert isinstance(compressor, BaseDocumentCompressor)
    kept = compressor.compress_documents(documents, QUERY)
    expected = diversify(embed(TEXTS), SCORES, k=2).subset.tolist()
    assert [document.metadata["n"] for document in kept] == expected == [0, 3]
    assert asyncio.run(compressor.acompress_documents(documents, QUERY)) == kept


def test_compressor_behind_a_vector_store():
    store = InMemoryVectorStore.from_texts(TEXTS, Counts())
    retriever = store.as_retriever(search_kwargs={"k": 5})
    chain = retriever | (lambda found: DPPCompressor(embeddings=Counts(), k=2).compress_documents(found, QUERY))
    assert {document.page_content for document in chain.invoke(QUERY)} == {TEXTS[0], TEXTS[3]}


def test_notes_say_why_others_were_skipped(documents):
    kept = DPPCompressor(embeddings=Counts(), k=2).compress_documents(documents, QUERY)
    note = kept[0].metadata["dpplearn"]
    assert note["rank"] == 0
    assert note["candidate"] == 0
    first = note["skipped"][0]
    assert first["candidate"] == 1
    assert first["similarity"] == pytest.approx(4 / 24**0.5)
    assert first["reason"] == "0.82 similar to item 0"
    assert first["text"].startswith("apple pie")
    assert "dpplearn" not in documents[0].metadata  # the retriever's own documents are left alone


def test_score_key(documents):
    for document, score in zip(documents, [1, 2, 3, 4, 50], strict=True):
        document.metadata["relevance_score"] = score
    kept = DPPCompressor(embeddings=Counts(), k=1, score_key="relevance_score").compress_documents(documents, "")
    assert kept[0].metadata["n"] == 4
    with pytest.raises(ValueError, match="No document has 'other'"):
        DPPCompressor(embeddings=Counts(), score_key="other").compress_documents(documents, "")


def test_token_budget(documents):
    compressor = DPPCompressor(embeddings=Counts(), k=None, max_tokens=7, count_tokens=count_words)
    kept = compressor.compress_documents(documents, QUERY)
    assert [document.metadata["n"] for document in kept] == [0, 3]


def test_no_documents_and_too_few(documents):
    compressor = DPPCompressor(embeddings=Counts(), k=5)
    assert compressor.compress_documents([], "apple") == []
    with pytest.warns(UserWarning, match="nothing to choose from"):
        compressor.compress_documents(documents, QUERY)
    with pytest.raises(ValueError, match="diversity"):
        DPPCompressor(embeddings=Counts(), diversity=2.0)


@pytest.fixture
def examples():
    return [{"question": text, "answer": str(n)} for n, text in enumerate(TEXTS)]


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


def test_examples_can_be_added_and_fetched(examples):
    selector = DPPExampleSelector([], Counts(), k=2, input_keys=["question"], fetch_k=3)
    assert selector.select_examples({"question": "apple"}) == []
    for example in examples:
        selector.add_example(example)
    candidates, choice = selector.choose({"question": "weather in spring"})
    assert len(candidates) == 3
    assert candidates[0] == 4
    assert len(choice.skipped) == 1
    narrow = DPPExampleSelector(examples, Counts(), k=3, input_keys=["question"], fetch_k=2)
    with pytest.warns(UserWarning, match="fetch_k"):
        narrow.select_examples({"question": QUERY})


def test_groups_are_a_field_of_the_metadata(documents, examples):
    for document, source in zip(documents, "aabbc", strict=True):
        document.metadata["source"] = source
    kept = DPPCompressor(embeddings=Counts(), k=4, groups="source", max_per_group=1).compress_documents(
        documents, QUERY
    )
    assert sorted(document.metadata["source"] for document in kept) == ["a", "b", "c"]
    for example in examples:
        example["kind"] = "fruit" if "pie" in example["question"] else "other"
    quota = {"groups": "kind", "max_per_group": 1}
    selector = DPPExampleSelector(examples, Counts(), k=3, input_keys=["question"], **quota)
    assert len(selector.select_examples({"question": QUERY})) == 2
    selector = DPPExampleSelector(examples, Counts(), k=3, input_keys=["question"], **quota, backfill=True)
    assert len(selector.select_examples({"question": QUERY})) == 3
