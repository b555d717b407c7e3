"""The command `dpplearn select`."""

import csv
import io
import json
import sys

import pytest
from click.testing import CliRunner

from dpplearn import diversify
from dpplearn.cli import main

RECORDS = [
    {"id": "a", "text": "the cat sat on the mat", "score": 3.0, "words": 6, "vector": [1.0, 0.0]},
    {"id": "b", "text": "the cat sat on a mat", "score": 2.9, "words": 6, "vector": [1.0, 0.1]},
    {"id": "c", "text": "stocks fell on Monday", "score": 2.8, "words": 4, "vector": [0.0, 1.0]},
    {"id": "d", "text": "", "score": -5.0, "words": 1, "vector": [0.0, 0.0]},
]


def run(*args, stdin=None):
    return CliRunner().invoke(main, ["select", *map(str, args)], input=stdin)


def write_lines(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


@pytest.fixture
def jsonl(tmp_path):
    return write_lines(tmp_path / "items.jsonl", RECORDS)


def ids(result):
    assert result.exit_code == 0, result.output
    return [json.loads(line)["id"] for line in result.stdout.splitlines()]


def test_texts_by_tfidf(jsonl):
    result = run(jsonl, "-k", 2)
    assert ids(result) == ["a", "c"]
    assert result.stderr == "2 of 4 items: the size limit of 2 items is reached.\n"
    assert [json.loads(line) for line in result.stdout.splitlines()] == [RECORDS[0], RECORDS[2]]


def test_embeddings_scores_and_the_knob(jsonl):
    E, s = [r["vector"] for r in RECORDS], [r["score"] for r in RECORDS]
    for diversity in (0, 0.5, 1):
        expected = [RECORDS[i]["id"] for i in diversify(E, s, k=3, diversity=diversity).subset]
        assert ids(run(jsonl, "--embedding", "vector", "-k", 3, "--diversity", diversity)) == expected
    assert ids(run(jsonl, "--embedding", "vector", "--score", "words", "-k", 1)) == ["a"]


def test_budget(jsonl):
    assert ids(run(jsonl, "--budget", 10, "--cost", "words")) == ["a", "c"]
    result = run(jsonl, "--budget", 0.5, "--cost", "words")
    assert ids(result) == []
    assert "below the cheapest candidate, which costs 1" in result.stderr
    result = run(jsonl, "--budget", 10)
    assert result.exit_code == 2
    assert "--budget needs --cost FIELD" in result.stderr


def test_explain(jsonl):
    result = run(jsonl, "-k", 2, "--explain")
    assert ids(result) == ["a", "c"]
    assert f"{jsonl}, line 2: 0.82 similar to line 1." in result.stderr
    assert f"{jsonl}, line 4: the others added more" in result.stderr


def test_explain_says_what_the_kept_are_like(tmp_path):
    """Two near-duplicates of high score are right to keep at the default knob: that is said, with the knob."""
    texts = ["growing apples in cold climates", "growing apples in a cold climate", "apple stock rises", "apple floods"]
    records = [
        {"id": i, "score": s, "text": t} for i, (s, t) in enumerate(zip([3.0, 2.9, 1.0, 0.5], texts, strict=True))
    ]
    path = write_lines(tmp_path / "r.jsonl", records)
    result = run(path, "-k", 2, "--explain")
    assert ids(result) == [0, 1]
    assert f"{path}, line 1: kept for the best score; of the others kept, most like line 2 (0.63).\n" in result.stderr
    assert "Note: line 1 and line 2 were both kept, though 0.63 similar: a --diversity above 0.5" in result.stderr
    kept = json.loads(run(path, "-k", 2, "--explain", "--json").stdout)["selected"]
    assert [(one["nearest"], round(one["similarity"], 2)) for one in kept] == [(1, 0.63), (0, 0.63)]
    spread = run(path, "-k", 2, "--explain", "--diversity", 0.9)
    assert ids(spread) == [0, 2]  # "apple" is not "apples": words are not stemmed
    assert f"{path}, line 1: kept for the best score; like none of the others kept.\n" in spread.stderr
    assert "Note" not in spread.stderr
    assert "Note" not in run(path, "-k", 4, "--explain").stderr  # nothing was skipped: no knob changes that
    assert f"{path}, line 1: kept for the best score.\n" in run(path, "-k", 1, "--explain").stderr


def test_json(jsonl):
    record = json.loads(run(jsonl, "-k", 2, "--explain", "--json").stdout)
    assert [chosen["item"] for chosen in record["selected"]] == [0, 2]
    first = record["skipped"][0]
    assert (first["item"], first["nearest"], first["place"]) == (1, 0, f"{jsonl}, line 2")
    assert first["similarity"] == pytest.approx(0.8167, abs=1e-3)
    assert "skipped" not in json.loads(run(jsonl, "-k", 2, "--json").stdout)
    every = json.loads(run(jsonl, "--embedding", "vector", "-k", 4, "--json").stdout)
    assert len(every["selected"]) == 4  # one of which is a row of zeros
    assert "by near items, because the embeddings have 3 directions" in every["reason"]


def test_csv_as_it_came(tmp_path):
    path = tmp_path / "items.csv"
    path.write_text('id,score,vector\n"x, y",1,"[1, 0]"\nq,0.9,1 0.1\nz,0.8,0;1\n', encoding="utf-8")
    result = run(path, "--embedding", "vector", "-k", 2)
    assert list(csv.reader(io.StringIO(result.stdout))) == [
        ["id", "score", "vector"], ["x, y", "1", "[1, 0]"], ["z", "0.8", "0;1"],
    ]  # fmt: skip
    assert "line 3: 1.00 similar to line 2" in run(path, "--embedding", "vector", "-k", 2, "--explain").stderr


def test_out_is_written_at_once(jsonl, tmp_path):
    out = tmp_path / "chosen.jsonl"
    result = run(jsonl, "-k", 2, "--out", out)
    assert result.stdout == ""
    assert [json.loads(line)["id"] for line in out.read_text(encoding="utf-8").splitlines()] == ["a", "c"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["chosen.jsonl", "items.jsonl"]
    result = run(jsonl, "-k", 2, "--out", tmp_path / "nowhere" / "x.jsonl")
    assert result.exit_code == 1
    assert "there is no folder" in result.stderr


@pytest.mark.parametrize("source", ["jsonl", "csv"])
@pytest.mark.parametrize("target", ["jsonl", "csv", "TSV"])
def test_the_name_of_the_file_says_its_format(source, target, jsonl, tmp_path):
    """What is written can be read again, and gives the same choice."""
    if source != "jsonl":
        assert run(jsonl, "-k", 4, "--out", tmp_path / f"items.{source}").exit_code == 0
    given, out = tmp_path / f"items.{source}", tmp_path / f"chosen.{target}"
    result = run(given, "--embedding", "vector", "-k", 2, "--out", out)
    assert (result.exit_code, result.stdout) == (0, ""), result.stderr
    if target == "csv":
        rows = list(csv.DictReader(io.StringIO(out.read_text(encoding="utf-8"))))
        assert [row["id"] for row in rows] == ["a", "c"]
        assert json.loads(rows[1]["vector"]) == [0.0, 1.0]
    assert ids(run(jsonl, "-k", 2)) == ["a", "c"]
    again = json.loads(run(out, "--embedding", "vector", "-k", 2, "--json").stdout)
    assert [chosen["item"] for chosen in again["selected"]] == [0, 1]


def test_what_cannot_be_written_is_said_before_the_work(jsonl, tmp_path, monkeypatch):
    monkeypatch.setattr("dpplearn.cli.select.read_items", lambda *_: pytest.fail("read before the check"))
    for name, options, message in [
        ("chosen.txt", [], "must end in one of .jsonl, .csv, .tsv, so"),
        ("chosen", [], "must end in one of"),
        ("chosen.json", [], "one JSON object (--json)"),
        ("chosen.jsonl", ["--json"], "one JSON object (--json)"),
        ("nowhere/chosen.csv", [], "there is no folder"),
    ]:
        result = run(jsonl, "-k", 2, "--out", tmp_path / name, *options)
        assert result.exit_code in (1, 2)
        assert message in result.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["items.jsonl"]


def test_standard_input(jsonl, tmp_path):
    given = jsonl.read_text(encoding="utf-8")
    result = run("-", "-k", 2, "--explain", stdin=given)
    assert ids(result) == ["a", "c"]
    assert "standard input, line 2: 0.82 similar to line 1." in result.stderr
    table = "id,text,score\na,cats sat,3\nb,stocks fell,2\n"
    result = run("-", "-k", 1, stdin=table)
    assert result.exit_code == 1
    assert "standard input, line 1 must be a JSON object" in result.stderr
    assert "folder" not in result.stderr  # there is none to give
    assert run("-", "-k", 1, "--json", "--out", tmp_path / "x.json", stdin=given).exit_code == 0
    assert json.loads((tmp_path / "x.json").read_text(encoding="utf-8"))["selected"][0]["item"] == 0


def test_no_scores_and_no_items(tmp_path):
    path = write_lines(tmp_path / "items.jsonl", [{"text": "a b"}, {"text": "a b"}, {"text": "c"}])
    result = run(path, "-k", 2)
    assert "all items count the same" in result.stderr
    assert len(result.stdout.splitlines()) == 2
    none = write_lines(tmp_path / "none.jsonl", [])
    result = run(none, "-k", 2)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"Error: {none} holds no items: there is nothing to select from.\n"
    result = run("-", "-k", 2, stdin="")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "Error: standard input holds no items: there is nothing to select from.\n"
    wordless = write_lines(tmp_path / "wordless.jsonl", [{"text": "", "score": 1}, {"text": "...", "score": 2}])
    assert run(wordless, "-k", 1).stdout == '{"text": "...", "score": 2}\n'


def replaced(**changes):
    """The records with the third one changed; None takes a field away."""
    third = {key: value for key, value in (RECORDS[2] | changes).items() if value is not None}
    return [*RECORDS[:2], third, RECORDS[3]]


@pytest.mark.parametrize(
    ("changes", "options", "message"),
    [
        ({"score": None}, [], "line 3: the field 'score' is empty or missing."),
        ({"text": None}, ["--text", "text"], "line 3: the field 'text' is empty or missing."),
        ({"words": None}, ["--cost", "words", "--budget", "9"], "line 3: the field 'words' is empty or missing."),
        ({"vector": None}, ["--embedding", "vector"], "line 3: the field 'vector' is empty or missing."),
        ({"score": "high"}, [], "line 3: the field 'score' must be a finite number, found 'high'."),
        ({"score": float("nan")}, [], "line 3: the field 'score' must be a finite number, found nan."),
        ({"score": True}, [], "line 3: the field 'score' must be a finite number, found True."),
        ({"words": 0}, ["--cost", "words", "--budget", "9"], "line 3: the field 'words' must be positive, found 0."),
        ({"text": 5}, [], "line 3: the field 'text' must be a text, found 5."),
        ({"vector": [1]}, ["--embedding", "vector"], "line 3: the field 'vector' has 1 numbers, and that of the first"),
        ({"vector": [1, "x"]}, ["--embedding", "vector"], "line 3: the field 'vector' must be a list of finite"),
        ({"vector": [1, float("nan")]}, ["--embedding", "vector"], "line 3: the field 'vector' must hold finite"),
        ({"vector": "rose in 2019"}, ["--embedding", "vector"], "line 3: the field 'vector' must be a list of "
         "finite numbers, found 'rose in 2019'. To compare texts by their words, give --text vector."),
        ({"vector": 7}, ["--embedding", "vector"], "line 3: the field 'vector' must be a list of finite"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_line(changes, options, message, tmp_path):
    path = write_lines(tmp_path / "items.jsonl", replaced(**changes))
    result = run(path, "-k", 2, *options)
    assert result.exit_code == 1
    assert f"Error: {path}, {message}" in result.stderr
    assert result.stdout == ""


def test_what_is_wrong_with_a_file(jsonl, tmp_path, monkeypatch):
    def error(*args):
        result = run(*args)
        assert result.exit_code in (1, 2)
        return result.stderr

    assert "must end in one of .jsonl, .csv" in error(write_lines(tmp_path / "items.txt", RECORDS))
    assert "Name one by --embedding or --text" in error(write_lines(tmp_path / "x.jsonl", [{"a": 1, "score": 2}]))
    assert "not both" in error(jsonl, "--text", "text", "--embedding", "vector")
    assert "has no field 'missing'. Fields found: id, text" in error(jsonl, "--score", "missing")
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"a": 1}\n{"a": \n', encoding="utf-8")
    assert "bad.jsonl, line 2 must be a JSON object" in error(bad)
    short = tmp_path / "short.csv"
    short.write_text("text,score\na,1\nb\n", encoding="utf-8")
    assert "short.csv, line 3: found 1 cells, and 2 names in line 1" in error(short)
    short.write_text("text,score\na,1\nb,\n", encoding="utf-8")
    assert "short.csv, line 3: the field 'score' must be a finite number, found ''" in error(short)
    short.write_text("text,score,score\na,1,2\n", encoding="utf-8")
    assert "short.csv, line 1: the name 'score' occurs twice" in error(short)
    short.write_text("id;score\n1;14\n", "utf-8")
    assert "Fields found: id, score." in error(short)
    assert "'five' is not a valid whole number or \"auto\"" in error(jsonl, "-k", "five")
    assert "--min-per-group need --group FIELD" in error(jsonl, "--max-per-group", 1)
    exact = error(jsonl, "-k", 4, "--group", "id", "--min-per-group", 1, "--decoder", "exact")
    assert "min_per_group must be left out of exact_map" in exact
    assert "min_per_group needs k or a budget" in error(jsonl, "--group", "id", "--min-per-group", 1)
    options = ("--group", "id", "--min-per-group", 2, "--max-per-group", 1, "-k", 3)
    assert "min_per_group cannot be met" in error(jsonl, *options)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "x.parquet").write_bytes(b"PAR1")
    assert "needs pyarrow" in error(tmp_path / "x.parquet")
