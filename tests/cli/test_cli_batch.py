"""dpplearn batch: a line for each cluster in the corpus's order, errors among them, and runs that go on."""

import json

import pytest
from click.testing import CliRunner

from dpplearn.cli import main
from dpplearn.summarize import Cluster, Summarizer, batch, open_corpus

TEXTS = [document.text for document in Cluster.example().documents]


def run(*arguments):
    return CliRunner().invoke(main, [*map(str, arguments)])


def read(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def corpus(tmp_path):
    """Seventy clusters, so that there are pieces of one and of several."""
    lines = [{"id": f"c{k}", "documents": [TEXTS[k % 8][:400]], "split": "ab"[k % 2]} for k in range(70)]
    path = tmp_path / "corpus.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_a_line_for_each_cluster_in_order(corpus, tmp_path):
    out = tmp_path / "out.jsonl"
    done = run("batch", corpus, "--out", out, "--budget", 20, "--decoder", "greedy", "--jobs", 1)
    assert done.exit_code == 0, done.output
    assert f"Wrote 70 summaries to {out}." in done.stderr
    clusters = list(open_corpus(corpus))
    found, model = read(out), Summarizer.load()
    assert [line["id"] for line in found] == [one.id for one in clusters]
    for line, cluster in zip(found, clusters, strict=True):
        summary = model.summarize(cluster, 20, "words", decoder="greedy")
        assert (line["text"], line["length"], line["unit"]) == (summary.text, summary.length, "words")
        assert "explanation" not in line
    assert not list(tmp_path.glob("*.work"))


def test_errors_are_lines_and_tell_in_the_exit_code(corpus, tmp_path):
    lines = corpus.read_text().splitlines()
    lines[3], lines[66] = "{", json.dumps({"id": "c5", "documents": ["It rained."]})
    lines[4] = json.dumps({"id": "empty", "documents": ["--"]})
    lines[7] = json.dumps({"id": 7})
    corpus.write_text("\n".join(lines))
    out = tmp_path / "out.jsonl"
    done = run("batch", corpus, "--out", out, "--decoder", "greedy", "--explain", "--jobs", 1)
    assert done.exit_code == 1
    assert "Wrote 66 summaries of 70 clusters" in done.stderr
    assert "4 failed" in done.stderr
    found = read(out)
    assert len(found) == 70
    assert [k for k, line in enumerate(found) if "error" in line] == [3, 4, 7, 66]
    assert "line 4 must be a JSON object" in found[3]["error"]
    assert found[4]["id"] == "empty"
    assert found[7]["id"] == "7"
    assert found[7]["error"].endswith('field "documents": must be a list with a document, but is missing.')
    assert "already the id of line 6" in found[66]["error"]
    assert found[0]["explanation"]["chosen"]


def test_a_batch_that_was_stopped_goes_on(corpus, tmp_path, monkeypatch):
    out, arguments = tmp_path / "out.jsonl", ["--budget", 20, "--decoder", "greedy", "--jobs", 1]
    assert run("batch", corpus, "--out", tmp_path / "whole.jsonl", *arguments).exit_code == 0
    made, real = [], Summarizer.summarize

    def stops(self, cluster, *args, **options):
        made.append(cluster.id)
        if len(made) == 68:
            raise KeyboardInterrupt
        return real(self, cluster, *args, **options)

    monkeypatch.setattr(Summarizer, "summarize", stops)
    stopped = run("batch", corpus, "--out", out, *arguments)
    assert stopped.exit_code == 130
    assert "run the same command again" in stopped.stderr
    assert not out.exists()
    assert not list((tmp_path / "out.jsonl.work").rglob("*.tmp"))
    assert run("batch", corpus, "--out", out, *arguments).exit_code == 0
    assert made[68:] == [f"c{k}" for k in range(64, 70)]  # the piece that was begun, and none before
    assert out.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


def test_what_is_left_out_and_what_is_bad_are_each_told_once(tmp_path, monkeypatch):
    monkeypatch.setattr("dpplearn.summarize.corpora.source.SINGLES", 0)  # all in one piece
    good = json.dumps({"id": "x", "documents": [TEXTS[0][:400]], "references": ["Rain."]})
    lines = [good.replace('"Rain."', ""), "{", good.replace('"x"', '"y"'), "[", good.replace('"x"', '"z"')]
    path = tmp_path / "corpus.jsonl"
    path.write_text("\n".join(lines))
    out = tmp_path / "out.jsonl"
    corpus = open_corpus(path, usable=True)
    assert batch.summarize_corpus(corpus, out, budget=20, unit="words").done == 2
    said = [line["id"] or line["error"] for line in read(out)]
    wanted = ("left out cluster x", "line 2 ", "y", "line 4 ", "z")
    assert [part in one for part, one in zip(wanted, said, strict=True)] == [True] * 5, said
