"""dpplearn summarize, train and info: text to stdout, everything else to stderr, no tracebacks."""

import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

import commands
from commands import output, refusal, run, write_lines
from dpplearn.summarize import Cluster

EXAMPLE = Path(__file__).parents[2] / "src" / "dpplearn" / "summarize" / "data" / "example"
summary, summarize = partial(run, "summarize"), partial(output, "summarize")
refused = partial(commands.refusal, "summarize")


def as_json(*arguments):
    return json.loads(summarize(*arguments, "--json"))


@pytest.fixture
def corpus(tmp_path):
    """Three clusters, and options that suit them."""
    example = Cluster.example()
    lines = [
        {
            "id": f"c{k}",
            "documents": [{"id": d.id, "title": d.title, "text": d.text} for d in example.documents[k : k + 4]],
            "references": list(example.references[:2]),
        }
        for k in range(3)
    ]
    return write_lines(tmp_path / "corpus.jsonl", lines)


def trained(corpus, out, *more):
    return "train", corpus, "--jobs", 1, "--out", out, *(more or ("--budget", 60, "--unit", "words"))


def test_files_are_one_cluster(tmp_path):
    asked = ("--budget", 60, "--no-annotate")
    done = summary(EXAMPLE, *asked, "--html", tmp_path / "page.html")
    sentences = {s.text for s in Cluster.example().sentences()}
    assert set(done.stdout.strip().split("\n")) <= sentences
    assert 0 < len(done.stdout.split()) <= 60
    assert "Wrote" in done.stderr
    assert 'class="badge"' in (tmp_path / "page.html").read_text()
    assert summarize(*sorted(EXAMPLE.glob("*.txt")), *asked) == done.stdout
    told = as_json(EXAMPLE, "--budget", 60)
    assert {one.get("full", one["text"]) for one in told["sentences"]} <= sentences
    assert len(told["text"].split()) <= 60
    added = [words for one in told["sentences"] for words in one.get("added", ())]
    assert added
    assert all(words in told["text"] for words in added)


def test_standard_input():
    text = "The bridge fell on Monday. Nobody was hurt. The mayor will speak on Tuesday."
    assert summarize("-", "--budget", 6, stdin=text).strip() in text
    refused("-", stdin="")
    assert "encoding" in refused("-", stdin=b"\xff\xfe\xff")


def test_train_info_and_use(corpus, tmp_path):
    model = tmp_path / "model.json"
    done = run(*trained(corpus, model))
    assert (done.exit_code, done.stdout) == (0, ""), done.stderr
    assert "Read 3 clusters" in done.stderr
    assert "Learned 10 weights" in done.stderr
    assert all(said in output("info", model) for said in ("60 words", "toward the beginning"))
    own = as_json(EXAMPLE, "--model", model)
    assert (own["budget"], own["unit"]) == (60, "words")  # what it was trained for
    assert as_json(EXAMPLE)["budget"] == as_json(EXAMPLE, "--budget", "auto")["budget"] == 79  # suits 1,262 words
    assert as_json(EXAMPLE, "--model", model, "--unit", "bytes")["budget"] > 300
    assert "nothing to learn" in refusal(*trained(corpus, model, "--budget", 2, "--unit", "words"))
    assert "corpus of news: clusters 70" in output("info")
    output(*trained(corpus, model, "--budget", 80, "--unit", "tokens"))
    assert "80 tokens" in output("info", model)


def test_a_summary_starts_no_more_than_it_needs():
    """No scikit-learn, whose import takes longer than the summary, and nothing that draws or serves."""
    code = (
        "import sys; from dpplearn.cli import main;"
        f"main(['summarize', {str(EXAMPLE)!r}, '--decoder', 'greedy'], standalone_mode=False);"
        "print([name for name in ('sklearn', 'scipy.stats', 'matplotlib', 'fastapi') if name in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.endswith("\n[]\n")
