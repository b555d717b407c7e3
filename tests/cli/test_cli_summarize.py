"""dpplearn summarize, train and info: text to stdout, everything else to stderr, no tracebacks."""

import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

import commands
from commands import output, refusal, run, write, write_lines
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


def test_files_of_other_kinds_are_named(tmp_path):
    write(tmp_path / "en.txt", "The storm closed the bridge on Monday.")
    write(tmp_path / ".DS_Store", b"\0")
    assert summary(tmp_path).stderr == ""
    for name, data in (("a.xyz", b"%PDF"), ("b.pdf", b"%PDF-1.4"), ("c.docx", b"PK\x03\x04")):
        write(tmp_path / name, data)
    left_out, *skipped = summary(tmp_path).stderr.splitlines()
    assert left_out.startswith(f"Warning: Left out 1 file of another kind ({tmp_path / 'a.xyz'}). Documents are")
    assert skipped[0].startswith(f"Warning: Skipped: {tmp_path / 'b.pdf'} is cut off")
    assert skipped[1].startswith(f"Warning: Skipped: {tmp_path / 'c.docx'} cannot be read: it is damaged")
    assert len(skipped) == 2
    alone = refused(tmp_path / "b.pdf", tmp_path / "c.docx")
    assert all(name in alone for name in ("b.pdf", "c.docx"))


def test_what_is_no_sentence_is_left_out_unless_it_is_asked_for(tmp_path):
    table = "| Opening | 2031 |\n|--|--|\n| a | b |\n"
    path = write(tmp_path / "a.md", f"---\ntoc: x\n---\n# Ferry\n\nThe ferry sails again in May.\n\n{table}")
    done = summary(path, "--budget", 50, "--explain")
    assert done.stdout == "The ferry sails again in May.\n"
    assert "No candidates, unless asked for with keep_all (--keep-all): 2 a table's row" in done.stderr
    assert as_json(path, "--budget", 50, "--keep-all")["explanation"]["set_aside"]["count"] == 0


def test_standard_input():
    text = "The bridge fell on Monday. Nobody was hurt. The mayor will speak on Tuesday."
    assert summarize("-", "--budget", 6, stdin=text).strip() in text
    refused("-", stdin="")
    assert "encoding" in refused("-", stdin=b"\xff\xfe\xff")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("summarize", "no-such-file.txt"), "no-such-file.txt"),
        (("summarize", EXAMPLE, "--budget", "-3"), "budget must be a positive number"),
        (("summarize", EXAMPLE, "--budget", "120%"), "must be"),
        (("summarize", EXAMPLE, "--budget", "ten"), "must be"),
        (("summarize", EXAMPLE, "--model", "none.json"), "There is no file none.json"),
        (("summarize", EXAMPLE, "-"), "not both"),
        (("summarize", EXAMPLE, "--html", "no/such/folder/x.html"), "no folder"),
        (("summarize", EXAMPLE, "--html", EXAMPLE), "it is a folder"),
        (("summarize", "x", "--diversity", "2"), "2.0 is not in the range 0<=x<=1"),
        (("rouge", "en.txt", "de.txt"), "--candidates"),
        (("summarise", "en.txt"), "No such command 'summarise'. Did you mean 'summarize'?"),
        (("xyz",), "No such command 'xyz'.\n"),
    ],
)
def test_bad_input(arguments, message):
    assert message in refusal(*arguments)


def test_bad_files(tmp_path):
    assert "Cluster empty.txt has no sentence" in refused(write(tmp_path / "empty.txt", ""))
    assert "binary.txt" in refused(write(tmp_path / "binary.txt", b"PK\x00\x01\x02" * 50))
    latin = write(tmp_path / "latin.txt", "Der Fluß stieg.".encode("latin-1"))
    assert "latin.txt" in refused(latin)
    assert "such as cp1252" in refused(latin)
    assert summarize(latin, "--encoding", "latin-1") == "Der Fluß stieg.\n"
    assert summarize(write(tmp_path / "heading.txt", "Only A Heading\n")) == "Only A Heading\n"


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


def test_train_bad_input(corpus, tmp_path):
    out = tmp_path / "m.json"
    assert "no folder" in refusal(*trained(corpus, tmp_path / "no" / "model.json"))
    broken = write(tmp_path / "broken.jsonl", corpus.read_text().replace('"documents"', '"docs"', 1))
    failed = refusal(*trained(broken, out))
    assert all(said in failed for said in ("broken.jsonl", "line 1", "documents"))
    skipped = run(*trained(broken, out), "--skip-bad")
    assert skipped.exit_code == 0, skipped.stderr
    assert "Read 2 clusters" in skipped.stderr
    assert "Warning: " in skipped.stderr
    bare = [{"id": "x", "documents": [{"id": "a", "text": "A b."}], "references": []}]
    assert "reference summary for every cluster" in refusal(*trained(write_lines(tmp_path / "bare.jsonl", bare), out))
    tagged = write(tmp_path / "tagged.jsonl", corpus.read_text().replace('"id": "c', '"lang": "english", "id": "c'))
    assert "No cluster" in refusal(*trained(tagged, out), "--language", "greek")


def test_a_summary_starts_no_more_than_it_needs():
    """No scikit-learn, whose import takes longer than the summary, and nothing that draws or serves."""
    code = (
        "import sys; from dpplearn.cli import main;"
        f"main(['summarize', {str(EXAMPLE)!r}, '--decoder', 'greedy'], standalone_mode=False);"
        "print([name for name in ('sklearn', 'scipy.stats', 'matplotlib', 'fastapi') if name in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.endswith("\n[]\n")


def test_lengths_on_the_command_line():
    """A share, and a number of sentences."""
    share = as_json(EXAMPLE, "--budget", "20%")
    assert (share["budget"], share["unit"]) == (252, "words")  # of 1,262
    assert 200 <= share["length"] <= 252
    for n in (1, 5, 10):
        assert len(summarize(EXAMPLE, "--unit", "sentences", "--budget", n).splitlines()) == n
