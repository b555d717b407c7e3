"""What `dpplearn select` says of sets that are smaller than asked for, and of encoders that are none."""

import importlib
import json
import sys

import numpy as np
import pytest
from click.testing import CliRunner

from dpplearn import diversify
from dpplearn.cli import main
from dpplearn.cli.embedded import embed, tfidf


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


@pytest.mark.parametrize(
    ("encoder", "said"),
    [
        ("json:JSONEncoder", "found the class JSONEncoder"),
        ("sys:maxsize", "found int"),
        ("json:dumps", "rows of numbers"),
    ],
)
def test_errors_name_the_option(encoder, said, tmp_path):
    file = tmp_path / "items.jsonl"
    file.write_text('{"text": "a b", "score": 1}\n{"text": "c d", "score": 2}\n')
    result = run(file, "-k", 1, "--encoder", encoder)
    assert result.exit_code == 1
    assert said in result.stderr
    if "rows" not in said:
        assert f"--encoder {encoder}" in result.stderr


def test_samples_are_drawn_smaller_where_none_is_small_enough(tmp_path):
    np.save(tmp_path / "items.npy", np.eye(40))
    assert len(diversify(np.eye(40), np.zeros(40), k=3, decoder="sampled", n_samples=1000, rng=0)) == 0
    found = run(tmp_path / "items.npy", "-k", 3, "--decoder", "sampled", "--json")
    assert len(json.loads(found.stdout)["selected"]) == 3
    assert "tilt" not in found.stderr


TEXTS = ["red apple pie", "green apple tart", "a blue sea", "the deep blue sea", "old stone wall", "!"]


def test_texts_are_made_dense_for_near_items(tmp_path):
    file = tmp_path / "items.jsonl"
    file.write_text("".join(json.dumps({"text": text, "score": 1}) + "\n" for text in TEXTS[:5] * 30))
    for options in ((), ("--dimensions", 300), ("--dimensions", 3)):
        found = run(file, "-k", 4, "--kernel", "near", *options)
        assert found.exit_code == 0, found.output
        assert len(set(found.stdout.splitlines())) == 4
    many = [f"{a}{b} {a} {b}" for a in "abcdefghijkl" for b in "nopqrstuvwxyz"]  # more than 100 words, and texts
    file.write_text("".join(json.dumps({"text": text, "score": 1}) + "\n" for text in many))
    assert "--dimensions" in run(file, "-k", 4, "--kernel", "near").stderr
    assert "--dimensions" not in run(file, "-k", 4, "--kernel", "near", "--dimensions", 20).stderr


@pytest.mark.parametrize("texts", [TEXTS, TEXTS * 4])
def test_more_dimensions_than_there_are_change_no_cosine(texts):
    dense, words = embed(texts, None, 300), tfidf(texts)
    assert isinstance(dense, np.ndarray)
    np.testing.assert_allclose(dense @ dense.T, (words @ words.T).toarray(), atol=1e-12)
    assert not dense[5].any()


def test_an_encoder_in_the_current_folder_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    file, folder = tmp_path / "items.jsonl", tmp_path / "here"
    file.write_text('{"text": "a", "score": 1}\n{"text": "bb", "score": 2}\n')
    folder.mkdir()
    monkeypatch.chdir(folder)
    refused = run(file, "-k", 1, "--encoder", "encoder_of_mine:lengths")
    assert refused.exit_code == 1
    assert str(folder) in refused.stderr
    (folder / "encoder_of_mine.py").write_text("def lengths(texts):\n    return [[len(x), 1.0] for x in texts]\n")
    (folder / "json.py").write_text("raise AssertionError('this is not the one that others mean')\n")
    (folder / "half_of_mine.py").write_text("def lengths(texts:\n")
    importlib.invalidate_caches()
    assert run(file, "-k", 1, "--encoder", "encoder_of_mine:lengths").exit_code == 0
    assert "cannot be imported" in run(file, "-k", 1, "--encoder", "half_of_mine:lengths").stderr
    assert "found the class" in run(file, "-k", 1, "--encoder", "json:JSONEncoder").stderr


def test_an_empty_group_is_an_error_in_every_format(tmp_path):
    records = [{"src": s, "score": 1, "embedding": [k, 1]} for k, s in enumerate(("x", "y", ""))]
    (tmp_path / "a.csv").write_text("src,score,embedding\nx,1,1 2\ny,1,2 1\n,1,3 1\n")
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(r | {"src": r["src"] or None}) + "\n" for r in records))
    (tmp_path / "b.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
    np.savez(tmp_path / "a.npz", src=[1.0, 2.0, np.nan], score=np.ones(3), embedding=np.eye(3))
    places = {"a.csv": "line 4", "a.jsonl": "line 3", "b.jsonl": "line 3", "a.npz": "row 2 (from 0)"}
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
    assert "(x)" in run(tmp_path / "a.csv", "-k", 3, "--title", "src", "--explain").stderr  # a title may be empty


def test_costs_without_a_budget_and_reports_nowhere_are_told(tmp_path, monkeypatch):
    file = tmp_path / "items.jsonl"
    file.write_text("".join(json.dumps({"score": k, "embedding": [k, 1], "n": 1 + k}) + "\n" for k in range(4)))
    assert "No --budget: --cost limits nothing." in run(file, "-k", 2, "--cost", "n").stderr
    assert "--group limits nothing." in run(file, "-k", 2, "--group", "n").stderr
    assert "limits nothing" not in run(file, "-k", 2, "--group", "n", "--max-per-group", 1).stderr
    assert "--budget" not in run(file, "--cost", "n", "--budget", 4).stderr
    found = run(file, "-k", 2, "--report", file / "why")
    assert found.exit_code == 1
    assert f"Cannot make the folder {file / 'why'}" in found.stderr
    assert found.stdout == ""
    monkeypatch.delitem(sys.modules, "dpplearn.plots.coverage", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)  # as where it is not installed
    found = run(file, "-k", 2, "--report", tmp_path / "why")
    assert (found.exit_code, found.stdout) == (1, "")
    assert "pip install 'dpplearn[plots]'" in found.stderr
