"""What `dpplearn select` says of sets that are smaller than asked for, and of encoders that are none."""

import json
import sys
from functools import partial

import numpy as np
import pytest
from click.testing import CliRunner

from dpplearn import diversify
from dpplearn.cli import main


def run(*args):
    return CliRunner().invoke(main, ["select", *map(str, args)])


def test_fewer_than_asked_for_are_told(tmp_path):
    file = tmp_path / "items.jsonl"
    rows = [{"score": s, "embedding": e} for s, e in ((9, [1, 0]), (8, [1, 0.1]), (1, [0, 1]), (0, [0.1, 1]))]
    file.write_text("\n".join(map(json.dumps, rows)))
    for decoder in ("exact", "local"):
        result = run(file, "-k", 4, "--decoder", decoder, "--explain")
        count = len(result.stdout.splitlines())
        assert count < 4
        assert f"{count} of the 4 items asked for, though more would fit" in result.stderr
        assert "asked for" in json.loads(run(file, "-k", 4, "--decoder", decoder, "--json").stdout)["reason"]
    assert "asked for" not in run(file, "-k", 4).stderr


def test_samples_are_drawn_smaller_where_none_is_small_enough(tmp_path, monkeypatch):
    monkeypatch.setattr("dpplearn.cli.select.diversify", partial(diversify, n_samples=1000))  # a million take long
    np.save(tmp_path / "items.npy", np.eye(24))
    assert len(diversify(np.eye(24), np.zeros(24), k=1, decoder="sampled", n_samples=1000, rng=0)) == 0
    found = run(tmp_path / "items.npy", "-k", 1, "--decoder", "sampled", "--json")
    assert len(json.loads(found.stdout)["selected"]) == 1
    assert "tilt" not in found.stderr


def test_an_empty_group_is_an_error_in_every_format(tmp_path):
    records = [{"src": s, "score": 1, "embedding": [k, 1]} for k, s in enumerate(("x", "y", ""))]
    (tmp_path / "a.csv").write_text("src,score,embedding\nx,1,1 2\ny,1,2 1\n,1,3 1\n")
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(r | {"src": r["src"] or None}) + "\n" for r in records))
    (tmp_path / "b.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
    places = {"a.csv": "line 4", "a.jsonl": "line 3", "b.jsonl": "line 3"}
    try:
        import pyarrow
        from pyarrow import parquet

        columns = {"src": ["x", "y", None], "score": [1, 1, 1], "embedding": [[1.0, 2.0], [2.0, 1.0], [3.0, 1.0]]}
        parquet.write_table(pyarrow.table(columns), tmp_path / "a.parquet")
        places["a.parquet"] = "row 2 (from 0)"
    except ImportError:
        pass
    for name, place in places.items():
        found = run(tmp_path / name, "-k", 2, "--group", "src", "--max-per-group", 1)
        assert found.exit_code == 1
        assert f"{name}, {place}: the field 'src' is empty" in found.stderr


def test_costs_without_a_budget_and_reports_nowhere_are_told(tmp_path, monkeypatch):
    file = tmp_path / "items.jsonl"
    file.write_text("".join(json.dumps({"score": k, "embedding": [k, 1], "n": 1 + k}) + "\n" for k in range(4)))
    assert "No --budget: --cost limits nothing." in run(file, "-k", 2, "--cost", "n").stderr
    assert "--group limits nothing." in run(file, "-k", 2, "--group", "n").stderr
    assert "limits nothing" not in run(file, "-k", 2, "--group", "n", "--max-per-group", 1).stderr
    assert "--budget" not in run(file, "--cost", "n", "--budget", 4).stderr
    found = run(file, "-k", 2, "--report", tmp_path / "no" / "why.html")
    assert found.exit_code == 1
    assert f"there is no folder {tmp_path / 'no'}" in found.stderr
    assert found.stdout == ""
    monkeypatch.delitem(sys.modules, "dpplearn.plots.report", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)  # as where it is not installed
    found = run(file, "-k", 2, "--report", tmp_path / "why.html")
    assert (found.exit_code, found.stdout) == (1, "")
    assert "pip install 'dpplearn[plots]'" in found.stderr


@pytest.mark.parametrize("kind", ["jsonl", "csv", "tsv"])
def test_items_given_are_neither_repeated_nor_counted(kind, tmp_path, rng):
    """As in Python, where the given ones are excluded by number."""
    E = rng.standard_normal((40, 6)).astype(np.float32)
    np.save(tmp_path / "items.npy", E)
    first, second = diversify(E, k=2).subset, tmp_path / "second.jsonl"
    assert run(tmp_path / "items.npy", "-k", 2, "--out", tmp_path / f"first.{kind}").exit_code == 0
    found = run(tmp_path / "items.npy", "-k", 30, "--given", tmp_path / f"first.{kind}", "--out", second)
    assert found.exit_code == 0, found.output
    chosen = [json.loads(line)["item"] for line in second.read_text().splitlines()]
    assert chosen == diversify(E, k=30, given=first).subset.tolist()
    assert len({*chosen} - {*first.tolist()}) == 30
    works = run(tmp_path / "items.npy", "-k", 3, "--given", tmp_path / f"first.{kind}", "--work", tmp_path / "work")
    few = diversify(E, k=3, given=first).subset.tolist()
    assert [json.loads(line)["item"] for line in works.stdout.splitlines()] == few
    np.save(tmp_path / "other.npy", E[:, 1:])
    wrong = run(tmp_path / "items.npy", "-k", 2, "--given", tmp_path / "other.npy")
    assert wrong.exit_code == 1
    assert "other.npy: 'embedding' has 5 numbers, and that of ITEMS 6" in wrong.stderr


def test_items_given_may_be_in_another_shape(tmp_path, rng):
    """A list in JSON Lines, and a column of a table for each number, are the same numbers."""
    E = rng.standard_normal((20, 4)).round(3)
    lists, table = tmp_path / "lists.jsonl", tmp_path / "table.csv"

    def write(rows):
        lists.write_text("".join(json.dumps({"extra": 1, "embedding": row.tolist()}) + "\n" for row in rows))
        lines = ["extra,y9,e0,e1,e2,e3", *(f"1,2,{','.join(map(str, row))}" for row in rows.tolist())]
        table.write_text("\n".join(lines) + "\n")

    want = np.round(E[diversify(E, k=5, given=[3, 8]).subset], 3).tolist()
    for items, before, *options in ((lists, table), (table, lists, "--embedding", "e0:e3")):
        write(E[[3, 8]])
        given = before.rename(tmp_path / f"given{before.suffix}")
        write(E)
        found = run(items, *options, "-k", 5, "--given", given, "--out", tmp_path / "out.jsonl")
        assert found.exit_code == 0, found.output
        records = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
        chosen = [one.get("embedding") or [float(one[f"e{i}"]) for i in range(4)] for one in records]
        assert chosen == want


def test_texts_given(tmp_path):
    texts = ["red apple pie", "green apple pie", "red apple pie", "a blue sea"]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    (tmp_path / "b.csv").write_text("text\nred apple pie\n")
    found = run(tmp_path / "a.jsonl", "-k", 4, "--given", tmp_path / "b.csv")
    assert [json.loads(line)["text"] for line in found.stdout.splitlines()] == ["a blue sea", "green apple pie"]
    assert run(tmp_path / "a.jsonl", "--given", tmp_path / "b.csv", "--model", tmp_path / "b.csv").exit_code == 2
