"""dpplearn summarize, train and info: text to stdout, everything else to stderr, no tracebacks."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from dpplearn.cli import main
from dpplearn.summarize import Cluster

EXAMPLE = Path(__file__).parents[2] / "src" / "dpplearn" / "summarize" / "data" / "example"


def run(*arguments, stdin=None):
    return CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin)


def train(*arguments):
    return run("train", *arguments, "--jobs", 1)


def corpus(path, clusters=3):
    example = Cluster.example()
    lines = [
        {
            "id": f"c{k}",
            "documents": [{"id": d.id, "title": d.title, "text": d.text} for d in example.documents[k : k + 4]],
            "references": list(example.references[:2]),
        }
        for k in range(clusters)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def test_files_are_one_cluster(tmp_path):
    result = run("summarize", EXAMPLE, "--budget", 60, "--no-annotate", "--html", tmp_path / "page.html")
    assert result.exit_code == 0
    sentences = {s.text for s in Cluster.example().sentences()}
    lines = result.stdout.strip().split("\n")
    assert set(lines) <= sentences
    assert 0 < len(result.stdout.split()) <= 60
    assert "Wrote" in result.stderr
    assert 'class="badge"' in (tmp_path / "page.html").read_text()
    files = sorted(EXAMPLE.glob("*.txt"))
    assert run("summarize", *files, "--budget", 60, "--no-annotate").stdout == result.stdout
    told = run("summarize", EXAMPLE, "--budget", 60, "--json")
    summary = json.loads(told.stdout)
    assert {one.get("full", one["text"]) for one in summary["sentences"]} <= sentences
    assert len(summary["text"].split()) <= 60
    added = [words for one in summary["sentences"] for words in one.get("added", ())]
    assert added
    assert all(words in summary["text"] for words in added)


def test_files_of_other_kinds_are_named(tmp_path):
    (tmp_path / "en.txt").write_text("The storm closed the bridge on Monday.")
    (tmp_path / ".DS_Store").write_bytes(b"\0")
    assert run("summarize", tmp_path).stderr == ""
    (tmp_path / "a.xyz").write_bytes(b"%PDF")
    (tmp_path / "b.pdf").write_bytes(b"%PDF-1.4")
    (tmp_path / "c.docx").write_bytes(b"PK\x03\x04")
    result = run("summarize", tmp_path)
    assert result.exit_code == 0
    left_out, *skipped = result.stderr.splitlines()
    assert left_out.startswith(f"Warning: Left out 1 file of another kind ({tmp_path / 'a.xyz'}). Documents are")
    assert skipped[0].startswith(f"Warning: Skipped: {tmp_path / 'b.pdf'} is cut off")
    assert skipped[1].startswith(f"Warning: Skipped: {tmp_path / 'c.docx'} cannot be read: it is damaged")
    alone = run("summarize", tmp_path / "b.pdf", tmp_path / "c.docx")
    assert alone.exit_code == 1
    assert all(name in alone.stderr for name in ("b.pdf", "c.docx"))
    assert len(result.stderr.splitlines()) == 3


def test_what_is_no_sentence_is_left_out_unless_it_is_asked_for(tmp_path):
    path = tmp_path / "a.md"
    table = "| Opening | 2031 |\n|--|--|\n| a | b |\n"
    path.write_text(f"---\ntoc: x\n---\n# Ferry\n\nThe ferry sails again in May.\n\n{table}")
    result = run("summarize", path, "--budget", 50, "--explain")
    assert result.stdout == "The ferry sails again in May.\n"
    assert "No candidates, unless asked for with keep_all (--keep-all): 2 a table's row" in result.stderr
    kept = run("summarize", path, "--budget", 50, "--keep-all", "--json")
    assert "set_aside" in json.loads(kept.stdout)["explanation"]
    assert json.loads(kept.stdout)["explanation"]["set_aside"]["count"] == 0


def test_standard_input():
    text = "The bridge fell on Monday. Nobody was hurt. The mayor will speak on Tuesday."
    result = run("summarize", "-", "--budget", 6, stdin=text)
    assert result.exit_code == 0
    assert result.stdout.strip() in text
    assert run("summarize", "-", stdin="").exit_code == 1
    assert "encoding" in run("summarize", "-", stdin=b"\xff\xfe\xff").stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no-such-file.txt"], "no-such-file.txt"),
        ([EXAMPLE, "--budget", "0"], "budget must be a positive number"),
        ([EXAMPLE, "--budget", "-3"], "budget must be a positive number"),
        ([EXAMPLE, "--model", "none.json"], "There is no file none.json"),
        ([EXAMPLE, "-"], "not both"),
        ([EXAMPLE, "--html", "no/such/folder/x.html"], "no folder"),
    ],
)
def test_bad_input(arguments, message):
    result = run("summarize", *arguments)
    assert result.exit_code == 1
    assert message in result.stderr
    assert result.stdout == ""


def test_bad_files(tmp_path):
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "binary.txt").write_bytes(b"PK\x00\x01\x02" * 50)
    (tmp_path / "latin.txt").write_bytes("Der Fluß stieg.".encode("latin-1"))
    (tmp_path / "heading.txt").write_text("Only A Heading\n")
    assert "Cluster empty.txt has no sentence" in run("summarize", tmp_path / "empty.txt").stderr
    assert "binary.txt" in run("summarize", tmp_path / "binary.txt").stderr
    bad = run("summarize", tmp_path / "latin.txt").stderr
    assert "latin.txt" in bad
    assert "such as cp1252" in bad
    assert run("summarize", tmp_path / "latin.txt", "--encoding", "latin-1").stdout == "Der Fluß stieg.\n"
    assert run("summarize", tmp_path / "heading.txt").stdout == "Only A Heading\n"


def test_train_info_and_use(tmp_path):
    model = tmp_path / "model.json"
    result = run(
        "train", corpus(tmp_path / "corpus.jsonl"), "--jobs", 1, "--out", model, "--budget", 60, "--unit", "words"
    )
    assert result.exit_code == 0, result.stderr
    assert "Read 3 clusters" in result.stderr
    assert "Learned 10 weights" in result.stderr
    assert result.stdout == ""
    info = run("info", model)
    assert "60 words" in info.stdout
    assert "toward the beginning" in info.stdout
    assert run("summarize", EXAMPLE, "--model", model, "--budget", 40).exit_code == 0
    own = json.loads(run("summarize", EXAMPLE, "--model", model, "--json").stdout)
    assert (own["budget"], own["unit"]) == (60, "words")  # what it was trained for
    suits = [json.loads(run("summarize", EXAMPLE, *more, "--json").stdout) for more in ((), ("--budget", "auto"))]
    assert suits[0]["budget"] == suits[1]["budget"] != 60
    assert json.loads(run("summarize", EXAMPLE, "--model", model, "--unit", "bytes", "--json").stdout)["budget"] > 300
    nothing = run("train", tmp_path / "corpus.jsonl", "--out", model, "--budget", 2, "--unit", "words")
    assert nothing.exit_code == 1
    assert "nothing to learn" in nothing.stderr
    assert "it is a folder" in run("summarize", EXAMPLE, "--html", tmp_path).stderr
    bundled = run("info")
    assert bundled.exit_code == 0
    assert "{" not in bundled.stdout
    assert "corpus of news: clusters 70" in bundled.stdout


def test_train_bad_input(tmp_path):
    good = corpus(tmp_path / "corpus.jsonl")
    nowhere = train(good, "--out", tmp_path / "no" / "model.json")
    assert nowhere.exit_code == 1
    assert "no folder" in nowhere.stderr
    broken = tmp_path / "broken.jsonl"
    broken.write_text(good.read_text().replace('"documents"', '"docs"', 1))
    failed = train(broken, "--out", tmp_path / "m.json", "--budget", 60, "--unit", "words")
    assert failed.exit_code == 1
    assert "broken.jsonl" in failed.stderr
    assert "line 1" in failed.stderr
    assert "documents" in failed.stderr
    skipped = run(
        "train", broken, "--jobs", 1, "--out", tmp_path / "m.json", "--budget", 60, "--unit", "words", "--skip-bad"
    )
    assert skipped.exit_code == 0, skipped.stderr
    assert "Read 2 clusters" in skipped.stderr
    assert "Warning: " in skipped.stderr
    bare = tmp_path / "bare.jsonl"
    bare.write_text(json.dumps({"id": "x", "documents": [{"id": "a", "text": "A b."}], "references": []}) + "\n")
    assert "reference summary for every cluster" in run("train", bare, "--out", tmp_path / "m.json").stderr
    tagged = tmp_path / "tagged.jsonl"
    tagged.write_text(good.read_text().replace('"id": "c', '"lang": "english", "id": "c'))
    other = run("train", tagged, "--out", tmp_path / "m.json", "--language", "greek")
    assert other.exit_code == 1
    assert "No cluster" in other.stderr


def test_a_summary_starts_no_more_than_it_needs():
    """No scikit-learn, whose import takes longer than the summary, and nothing that draws or serves."""
    code = (
        "import sys; from dpplearn.cli import main;"
        f"main(['summarize', {str(EXAMPLE)!r}, '--decoder', 'greedy'], standalone_mode=False);"
        "print([name for name in ('sklearn', 'scipy.stats', 'matplotlib', 'fastapi') if name in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.endswith("\n[]\n")


def test_the_nearest_command_is_named():
    result = run("summarise", "en.txt")
    assert result.exit_code == 2
    assert "No such command 'summarise'. Did you mean 'summarize'?" in result.stderr
    result = run("xyz")
    assert result.exit_code == 2
    assert "No such command 'xyz'" in result.stderr
    assert "mean" not in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("serve", "--port", "abc"), "'abc' is not a valid integer range"),
        (("summarize", "x", "--diversity", "2"), "2.0 is not in the range 0<=x<=1"),
        (("rouge", "--words", "no"), "'no' is not a valid integer range"),
        (("rouge", "en.txt", "de.txt"), "--candidates"),
    ],
)
def test_what_an_option_must_be(arguments, message):
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_lengths_on_the_command_line(tmp_path):
    """A share, a number of sentences, what suits the text, and what is none of these."""
    share = json.loads(run("summarize", EXAMPLE, "--budget", "20%", "--json").stdout)
    assert (share["budget"], share["unit"]) == (252, "words")  # of 1,262
    assert 200 <= share["length"] <= 252
    for n in (1, 5, 8, 10):
        assert len(run("summarize", EXAMPLE, "--unit", "sentences", "--budget", n).stdout.splitlines()) == n
    assert json.loads(run("summarize", EXAMPLE, "--json").stdout)["budget"] == 79  # suits 1,262 words
    for wrong in ("ten", "0%", "120%", "20 percent"):
        result = run("summarize", EXAMPLE, "--budget", wrong)
        assert result.exit_code == 2
        assert "must be" in result.stderr
    assert run("summarize", EXAMPLE, "--budget", 0).exit_code == 1
    model = tmp_path / "tokens.json"
    result = run(
        "train", corpus(tmp_path / "corpus.jsonl"), "--jobs", 1, "--out", model, "--budget", 80, "--unit", "tokens"
    )
    assert result.exit_code == 0, result.stderr
    assert "80 tokens" in run("info", model).stdout
