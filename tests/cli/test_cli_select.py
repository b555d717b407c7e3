"""The command `dpplearn select`: what it chooses, writes, explains and refuses."""

import json
import sys
from functools import partial

import pytest

import commands
from commands import write, write_lines
from dpplearn import diversify

run, output, records, refusal = (
    partial(call, "select") for call in (commands.run, commands.output, commands.records, commands.refusal)
)

RECORDS = [
    {"id": "a", "text": "the cat sat on the mat", "score": 3.0, "words": 6, "vector": [1.0, 0.0]},
    {"id": "b", "text": "the cat sat on a mat", "score": 2.9, "words": 6, "vector": [1.0, 0.1]},
    {"id": "c", "text": "stocks fell on Monday", "score": 2.8, "words": 4, "vector": [0.0, 1.0]},
    {"id": "d", "text": "", "score": -5.0, "words": 1, "vector": [0.0, 0.0]},
]


@pytest.fixture
def jsonl(tmp_path):
    return write_lines(tmp_path / "items.jsonl", RECORDS)


def ids(*args, stdin=None):
    return [record["id"] for record in records(*args, stdin=stdin)]


def test_texts_embeddings_scores_and_the_knob(jsonl):
    assert records(jsonl, "-k", 2) == [RECORDS[0], RECORDS[2]]
    assert run(jsonl, "-k", 2).stderr == "2 of 4 items: the size limit of 2 items is reached.\n"
    E, s = [r["vector"] for r in RECORDS], [r["score"] for r in RECORDS]
    for diversity in (0, 0.5, 1):
        expected = [RECORDS[i]["id"] for i in diversify(E, s, k=3, diversity=diversity).subset]
        assert ids(jsonl, "--embedding", "vector", "-k", 3, "--diversity", diversity) == expected
    assert ids(jsonl, "--embedding", "vector", "--score", "words", "-k", 1) == ["a"]


def test_budget(jsonl):
    assert ids(jsonl, "--budget", 10, "--cost", "words") == ["a", "c"]
    found = run(jsonl, "--budget", 0.5, "--cost", "words")
    assert (found.exit_code, found.stdout) == (0, "")
    assert "below the cheapest candidate, which costs 1" in found.stderr
    assert "--cost is not used" in run(jsonl, "-k", 2, "--cost", "words").stderr


def test_explain_says_what_the_kept_and_the_others_are_like(tmp_path):
    """Two near-duplicates of high score are right to keep at the default knob: that is said, with the knob."""
    texts = ["growing apples in cold climates", "growing apples in a cold climate", "apple stock rises", "apple floods"]
    rows = [{"id": i, "score": s, "text": t} for i, s, t in zip(range(4), [3.0, 2.9, 1.0, 0.5], texts, strict=True)]
    path = write_lines(tmp_path / "r.jsonl", rows)
    said = run(path, "-k", 2, "--explain").stderr
    assert f"{path}, line 1: kept for the best score; of the others kept, most like line 2 (0.63).\n" in said
    assert "Note: line 1 and line 2, of similarity 0.63, were both kept" in said
    kept = json.loads(output(path, "-k", 2, "--explain", "--json"))["selected"]
    assert [(one["nearest"], round(one["similarity"], 2)) for one in kept] == [(1, 0.63), (0, 0.63)]
    spread = ("-k", 2, "--explain", "--diversity", 0.9)
    assert ids(path, *spread) == [0, 2]  # "apple" is not "apples": words are not stemmed
    assert "Note" not in run(path, *spread).stderr
    assert "Note" not in run(path, "-k", 4, "--explain").stderr  # nothing was skipped: no knob changes that


def test_json(jsonl):
    record = json.loads(output(jsonl, "-k", 2, "--explain", "--json"))
    assert [chosen["item"] for chosen in record["selected"]] == [0, 2]
    first = record["skipped"][0]
    assert (first["item"], first["nearest"], first["place"]) == (1, 0, f"{jsonl}, line 2")
    assert first["similarity"] == pytest.approx(0.8167, abs=1e-3)
    every = json.loads(output(jsonl, "--embedding", "vector", "-k", 4, "--json"))
    assert len(every["selected"]) == 4  # one of which is a row of zeros
    assert "by near items, because the embeddings have 2 directions" in every["reason"]


@pytest.mark.parametrize("source", ["jsonl", "csv"])
@pytest.mark.parametrize("target", ["jsonl", "csv", "TSV"])
def test_what_is_written_can_be_read_again_and_gives_the_same_choice(source, target, jsonl, tmp_path):
    given, out = tmp_path / f"items.{source}", tmp_path / f"chosen.{target}"
    if source != "jsonl":
        output(jsonl, "-k", 4, "--out", given)
    assert output(given, "--embedding", "vector", "-k", 2, "--out", out) == ""
    again = json.loads(output(out, "--embedding", "vector", "-k", 2, "--json"))
    assert [chosen["item"] for chosen in again["selected"]] == [0, 1]
    assert ids(out, "--embedding", "vector", "-k", 2, "--out", tmp_path / "x.jsonl") == []
    assert [json.loads(line)["id"] for line in (tmp_path / "x.jsonl").read_text().splitlines()] == ["a", "c"]
    assert {path.name for path in tmp_path.iterdir()} == {"items.jsonl", given.name, out.name, "x.jsonl"}


def test_what_cannot_be_written_is_said_before_the_work(jsonl, tmp_path, monkeypatch):
    monkeypatch.setattr("dpplearn.cli.select.read_items", lambda *_: pytest.fail("read before the check"))
    for name, options, message in [
        ("chosen.txt", [], "must end in one of .jsonl, .csv, .tsv, so"),
        ("chosen.json", [], "with --json, give a file"),
        ("chosen.jsonl", ["--json"], "with --json, give a file"),
        ("nowhere/chosen.csv", [], "there is no folder"),
    ]:
        assert message in refusal(jsonl, "-k", 2, "--out", tmp_path / name, *options)
    assert f"there is no folder {tmp_path / 'no'}" in refusal(jsonl, "-k", 2, "--report", tmp_path / "no" / "why.html")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["items.jsonl"]


def test_standard_input(jsonl):
    given = jsonl.read_text(encoding="utf-8")
    assert ids("-", "-k", 2, stdin=given) == ["a", "c"]
    assert "standard input, line 2: 0.82 similar to line 1." in run("-", "-k", 2, "--explain", stdin=given).stderr
    wrong = refusal("-", "-k", 1, stdin="id,text,score\na,cats sat,3\nb,stocks fell,2\n")
    assert "standard input, line 1 must be a JSON object" in wrong
    assert refusal("-", "-k", 2, stdin="") == "Error: standard input holds no items: there is nothing to select from.\n"


@pytest.mark.parametrize(
    ("changes", "options", "message"),
    [
        ({"score": None}, [], "line 3: the field 'score' is empty or missing."),
        ({"words": None}, ["--cost", "words", "--budget", "9"], "line 3: the field 'words' is empty or missing."),
        ({"score": "high"}, [], "line 3: the field 'score' must be a finite number, found 'high'."),
        ({"score": float("nan")}, [], "line 3: the field 'score' must be a finite number, found nan."),
        ({"score": True}, [], "line 3: the field 'score' must be a finite number, found True."),
        ({"words": 0}, ["--cost", "words", "--budget", "9"], "line 3: the field 'words' must be positive, found 0."),
        ({"text": 5}, [], "line 3: the field 'text' must be a text, found 5."),
        ({"vector": [1]}, ["--embedding", "vector"], "line 3: the field 'vector' has 1 numbers"),
        ({"vector": [1, float("nan")]}, ["--embedding", "vector"], "line 3: the field 'vector' must hold finite"),
        ({"vector": "rose in 2019"}, ["--embedding", "vector"], "found 'rose in 2019'. To compare texts by their"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_line(changes, options, message, tmp_path):
    """None takes a field away."""
    third = {key: value for key, value in (RECORDS[2] | changes).items() if value is not None}
    path = write_lines(tmp_path / "items.jsonl", [*RECORDS[:2], third, RECORDS[3]])
    said = refusal(path, "-k", 2, *options)
    assert said.startswith(f"Error: {path}, line 3: ")
    assert message in said


def test_what_is_wrong_with_a_file(jsonl, tmp_path, monkeypatch):
    assert "must end in one of .jsonl, .csv" in refusal(write_lines(tmp_path / "items.txt", RECORDS))
    assert "give --embedding FIELD or" in refusal(write_lines(tmp_path / "x.jsonl", [{"a": 1, "score": 2}]))
    assert "bad.jsonl, line 2 must be a JSON object" in refusal(write(tmp_path / "bad.jsonl", '{"a": 1}\n{"a": \n'))
    for rows, message in [
        ("a,1\nb\n", "line 3: found 1 cells, but 2 names in line 1"),
        ("a,1\nb,\n", "line 3: the field 'score' must be a finite number, found ''"),
        ('a,"1,5"\n', "line 2: the field 'score' must be a finite number, found '1,5'"),
    ]:
        assert f"short.csv, {message}" in refusal(write(tmp_path / "short.csv", f"text,score\n{rows}"))
    assert "Fields found: id, score." in refusal(write(tmp_path / "short.csv", "id;score\n1;14\n"))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert "needs pyarrow" in refusal(write(tmp_path / "x.parquet", b"PAR1"))
    assert "pickle" not in refusal(write(tmp_path / "x.npy", b"no array"))
    monkeypatch.delitem(sys.modules, "dpplearn.plots.report", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)  # as where it is not installed
    assert "pip install 'dpplearn[plots]'" in refusal(jsonl, "-k", 2, "--report", tmp_path / "why.html")
