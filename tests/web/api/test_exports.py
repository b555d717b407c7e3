"""A summary of a cluster as a file, and the words of the record in the answers."""

import json

import pytest

from dpplearn.summarize import Cluster, Summarizer
from dpplearn.web import Settings

ASKED = {"budget": 120, "unit": "words", "exclude": [3]}


@pytest.fixture(scope="module")
def summary():
    return Summarizer.load().summarize(Cluster.example(), 120, "words", exclude=[3])


@pytest.fixture
def export(client, example):
    return lambda **asked: client.post(f"/api/v1/clusters/{example['id']}/export", json=asked)


def test_a_file_is_what_the_library_makes_of_the_summary(export, summary):
    documents = [{"id": one.id, "title": one.title} for one in Cluster.example().documents]
    whole = json.loads(json.dumps({**summary.to_dict(), "documents": documents}))  # tuples are lists there
    expected = {"text": f"{summary.text}\n", "markdown": f"{summary.to_markdown()}\n", "html": summary.to_html()}
    kinds = {"text": "text/plain", "markdown": "text/markdown", "html": "text/html"}
    for kind, text in expected.items():
        answer = export(**ASKED, format=kind)
        assert answer.headers["content-type"] == f"{kinds[kind]}; charset=utf-8"
        assert answer.text == text
    answer = export(**ASKED, format="json")
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["text"] == whole["text"]
    assert answer.json()["sentences"] == whole["sentences"]
    assert answer.json()["documents"] == documents


def test_a_file_of_no_kind(export, is_problem):
    assert "/format" in is_problem(export(**ASKED), 422, "invalid")["detail"]
    assert "/format" in is_problem(export(**ASKED, format="docx"), 422, "invalid")["detail"]


def test_the_answer_has_the_words_of_the_record(select, summary):
    answer, record = select(**ASKED).json(), summary.explain()
    assert [one["words"] for one in answer["selected"]] == [one.words for one in record.chosen]
    assert [[x["words"] for x in one["reasons"]] for one in answer["selected"]] == [
        [x.words for x in one.reasons] for one in record.chosen
    ]
    for name, words in record.as_a_set.lines():
        key = {"leaves out": "leaves_out", "alike": "similarity", "sure": "sureness"}.get(name, name)
        assert answer[key]["words"] == words
    expected = [(one.number, one.reason, list(one.by)) for one in record.left_out]
    assert [(one["sentence"], one["reason"], one["by"]) for one in answer["left_out"]] == expected


def test_why_is_told_of_any_sentence(client, example, summary, is_problem):
    path = f"/api/v1/clusters/{example['id']}/why"
    for number in (int(summary.order[0]), int(summary.explain().numbers[-1])):
        answer, record = client.get(f"{path}/{number}", params=ASKED).json(), summary.why(number)
        assert (answer["sentence"], answer["text"]) == (number, record.sentence.text)
        assert (answer.get("words") or answer["reason"]) == record.words
    assert client.get(f"{path}/0").status_code == 200  # of what is chosen by default
    found = is_problem(client.get(f"{path}/10000"), 422, "invalid")
    assert found["errors"][0]["pointer"] == "/sentence"
    is_problem(client.get(f"{path}/0", params={"budget": "much"}), 422, "invalid")
    is_problem(client.get(f"{path}/0", params={"budgets": 3}), 422, "invalid")


def test_a_cluster_says_when_its_documents_were_written(client, example):
    assert example["days"][0] == "2024-03-14"
    given = {"documents": [{"text": "It rained.", "date": "8 May 2004"}, {"text": "It poured."}]}
    assert client.post("/api/v1/clusters", json=given).json()["days"] == ["2004-05-08", None]


def test_of_a_book_a_first_choice_is_made(serving):
    text = " ".join(
        f"In chapter {i} the {noun} of house {i % 7} burned." for i in range(20) for noun in ("roof", "barn")
    )
    with serving(Settings(workers=1, exact_sentences=12)) as client:
        cluster = client.post("/api/v1/clusters", json={"documents": [{"text": text}]}).json()
        assert 2 <= len(cluster["sentences"]) <= 12
        kept = len(cluster["sentences"])
        assert cluster["notes"][0].startswith(f"Of 40 sentences, a first choice kept the {kept} that promise most")
        asked = {"budget": 2, "unit": "sentences"}
        answer = client.post(f"/api/v1/clusters/{cluster['id']}/select", json=asked).json()
        assert len(answer["selected"]) == 2
        assert len(answer["marginals"]) == kept
