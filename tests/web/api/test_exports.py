"""A summary of a cluster as a file, and the words of the record in the answers."""

import json

import pytest

from dpplearn.summarize import Cluster, Summarizer

ASKED = {"budget": 120, "unit": "words", "exclude": [3]}


@pytest.fixture(scope="module")
def summary():
    return Summarizer.load().summarize(Cluster.example(), 120, "words", exclude=[3])


def test_a_file_is_what_the_library_makes_of_the_summary(client, example, summary, is_problem):
    def export(**asked):
        return client.post(f"/api/v1/clusters/{example['id']}/export", json=asked)

    expected = {"text": f"{summary.text}\n", "markdown": f"{summary.to_markdown()}\n", "html": summary.to_html()}
    kinds = {"text": "text/plain", "markdown": "text/markdown", "html": "text/html"}
    for kind, text in expected.items():
        answer = export(**ASKED, format=kind)
        assert answer.headers["content-type"] == f"{kinds[kind]}; charset=utf-8"
        assert answer.text == text
    answer = export(**ASKED, format="json").json()
    whole = json.loads(json.dumps(summary.to_dict()))  # tuples are lists there
    assert (answer["text"], answer["sentences"]) == (whole["text"], whole["sentences"])
    assert answer["documents"] == [{"id": one.id, "title": one.title} for one in Cluster.example().documents]
    assert "/format" in is_problem(export(**ASKED, format="docx"), 422, "invalid")["detail"]


def test_why_is_told_of_any_sentence(client, example, summary, is_problem):
    path = f"/api/v1/clusters/{example['id']}/why"
    for number in (int(summary.order[0]), int(summary.explain().numbers[-1])):
        answer, record = client.get(f"{path}/{number}", params=ASKED).json(), summary.why(number)
        assert (answer["sentence"], answer["text"]) == (number, record.sentence.text)
        assert (answer.get("words") or answer["reason"]) == record.words
    assert client.get(f"{path}/0").status_code == 200  # of what is chosen by default
    assert is_problem(client.get(f"{path}/10000"), 422, "invalid")["errors"][0]["pointer"] == "/sentence"
    for wrong in ({"budget": "much"}, {"budgets": 3}):
        is_problem(client.get(f"{path}/0", params=wrong), 422, "invalid")
