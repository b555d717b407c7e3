"""dpplearn batch: a line for each cluster in the corpus's order, errors among them, and runs that go on."""

import json

import pytest

from commands import output, run, write, write_lines
from dpplearn.summarize import Cluster, Summarizer, open_corpus

TEXTS = [document.text for document in Cluster.example().documents]
OPTIONS = ("--budget", 20, "--decoder", "greedy", "--jobs", 1)


def read(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def corpus(tmp_path):
    """Seventy clusters, so that there are pieces of one and of several."""
    clusters = [{"id": f"c{k}", "documents": [TEXTS[k % 8][:400]], "split": "ab"[k % 2]} for k in range(70)]
    return write_lines(tmp_path / "corpus.jsonl", clusters)


def test_a_line_for_each_cluster_in_order(corpus, tmp_path):
    out, model = tmp_path / "out.jsonl", Summarizer.load()
    output("batch", corpus, "--out", out, *OPTIONS)
    for line, cluster in zip(read(out), open_corpus(corpus), strict=True):
        summary = model.summarize(cluster, 20, "words", decoder="greedy")
        assert (line["id"], line["text"], line["length"]) == (cluster.id, summary.text, summary.length)
        assert "explanation" not in line
    assert not list(tmp_path.glob("*.work"))


def test_errors_are_lines_and_tell_in_the_exit_code(corpus, tmp_path):
    lines = corpus.read_text().splitlines()
    lines[3], lines[66] = "{", json.dumps({"id": "c5", "documents": ["It rained."]})
    lines[4], lines[7] = json.dumps({"id": "empty", "documents": ["--"]}), json.dumps({"id": 7})
    out = tmp_path / "out.jsonl"
    done = run("batch", write(corpus, "\n".join(lines)), "--out", out, *OPTIONS[2:], "--explain")
    assert done.exit_code == 1
    assert "Wrote 66 summaries of 70 clusters" in done.stderr
    assert "4 failed" in done.stderr
    found = read(out)
    assert [k for k, line in enumerate(found) if "error" in line] == [3, 4, 7, 66]
    assert "line 4 must be a JSON object" in found[3]["error"]
    assert (found[4]["id"], found[7]["id"]) == ("empty", "7")
    assert found[7]["error"].endswith('field "documents": must be a list with a document, but is missing.')
    assert "already the id of line 6" in found[66]["error"]
    assert found[0]["explanation"]["chosen"]


def test_a_batch_that_was_stopped_goes_on(corpus, tmp_path, monkeypatch):
    out, whole = tmp_path / "out.jsonl", tmp_path / "whole.jsonl"
    output("batch", corpus, "--out", whole, *OPTIONS)
    made, real = [], Summarizer.summarize

    def stops(self, cluster, *args, **options):
        made.append(cluster.id)
        if len(made) == 68:
            raise KeyboardInterrupt
        return real(self, cluster, *args, **options)

    monkeypatch.setattr(Summarizer, "summarize", stops)
    stopped = run("batch", corpus, "--out", out, *OPTIONS)
    assert stopped.exit_code == 130
    assert "run the same command again" in stopped.stderr
    assert not out.exists()
    assert not list((tmp_path / "out.jsonl.work").rglob("*.tmp"))
    output("batch", corpus, "--out", out, *OPTIONS)
    assert made[68:] == [f"c{k}" for k in range(64, 70)]  # the piece that was begun, and none before
    assert out.read_bytes() == whole.read_bytes()
