"""`dpplearn select` on the files that people have: wide tables, TSV, JSON lists, arrays, texts with an encoder."""

import json
import sys

import numpy as np
import pytest
from click.testing import CliRunner

from dpplearn import diversify
from dpplearn.cli import main
from dpplearn.cli.embedded import embed


def run(*args, stdin=None):
    return CliRunner().invoke(main, ["select", *map(str, args)], input=stdin)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return rng.standard_normal((30, 12)).round(3), rng.random(30).round(3)


@pytest.fixture
def wide(tmp_path, data):
    def make(suffix, comma):
        E, s = data
        names = ["id", "title", "score", "source", *(f"e{c}" for c in range(12))]
        rows = [[f"x{i}", f"Item {i}", s[i], "ab"[i % 2], *E[i]] for i in range(30)]
        path = tmp_path / f"wide{suffix}"
        path.write_text("".join(comma.join(map(str, row)) + "\n" for row in [names, *rows]), encoding="utf-8")
        return path

    return make


@pytest.mark.parametrize(("suffix", "comma"), [(".csv", ","), (".tsv", "\t")])
@pytest.mark.parametrize("pattern", ["e0:e11", "e*"])
def test_wide_tables(suffix, comma, pattern, wide, data):
    pattern_result = run(wide(suffix, comma), "--embedding", pattern, "--k", 6)
    assert pattern_result.exit_code == 0, pattern_result.output
    lines = pattern_result.stdout.splitlines()
    assert lines[0].split(comma)[:3] == ["id", "title", "score"]
    assert [line.split(comma)[0] for line in lines[1:]] == [f"x{i}" for i in diversify(*data, k=6).subset]


def test_one_column_of_many_is_an_error(wide):
    path = wide(".csv", ",")
    result = run(path, "--embedding", "e3", "-k", 3)
    assert result.exit_code == 1
    assert "'e3' is one number, and plainly one of 12" in result.stderr
    assert "e0:e11 or 'e*'" in result.stderr
    assert "has no fields 'f*'" in run(path, "--embedding", "f*", "-k", 3).stderr
    assert "has no fields 'e0:e99'" in run(path, "--embedding", "e0:e99", "-k", 3).stderr


def test_groups_ids_and_titles(wide):
    path = wide(".csv", ",")
    result = run(path, "--embedding", "e*", "-k", 5, "--group", "source", "--max-per-group", 3, "--min-per-group", 2)
    assert sorted(line.split(",")[3] for line in result.stdout.splitlines()[1:]) in (list("aaabb"), list("aabbb"))
    result = run(path, "--embedding", "e*", "-k", 5, "--explain", "--id", "id", "--title", "title")
    said = result.stderr.splitlines()
    assert len(said) == 22  # how many, twenty lines, and how many more
    assert "(x" in said[1]
    assert "Item" in said[1]
    assert "--lines 0" in said[-1]
    assert len(run(path, "--embedding", "e*", "-k", 5, "--explain", "--lines", 0).stderr.splitlines()) == 31
    result = run(path, "--embedding", "e*", "-k", 5, "--id", "source")
    assert result.exit_code == 1
    assert "line 4: the 'source' 'a' occurs before" in result.stderr
    result = run(path, "--embedding", "e*", "-k", 5, "--group", "source", "--min-per-group", 9)
    assert "asks for 18 items, and k is 5" in result.stderr


def test_json_lists(tmp_path, data):
    E, s = data
    path = tmp_path / "items.json"
    path.write_text(json.dumps([{"n": i, "embedding": E[i].tolist(), "score": s[i]} for i in range(30)]))
    found = [json.loads(line)["n"] for line in run(path, "-k", 4).stdout.splitlines()]
    assert found == diversify(E, s, k=4).subset.tolist()
    path.write_text('{"a": 1}')
    assert "must be a JSON list of objects, found dict" in run(path, "-k", 4).stderr
    path.write_text("[1]")
    assert "entry 0 (from 0) must be an object, found 1" in run(path, "-k", 4).stderr
    path.write_text("[")
    assert "must be JSON, but at column 2: Expecting value. For an object in each line" in run(path, "-k", 4).stderr


@pytest.mark.parametrize("dtype", [">f8", ">i4", "i8", "?", "g", ">f2"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_an_array_of_another_machine(dtype, order, tmp_path, data):
    E, path = np.round(data[0]).astype(dtype), tmp_path / "items.npy"
    np.save(path, np.asarray(E, order=order))
    result = run(path, "-k", 10)
    assert result.exit_code == 0, result.stderr
    found = [json.loads(line)["item"] for line in result.stdout.splitlines()]
    assert found == diversify(E.astype(float), np.zeros(30), k=10).subset.tolist()


def test_an_array_of_complex_numbers(tmp_path, data):
    np.save(tmp_path / "items.npy", data[0] + 0j)
    result = run(tmp_path / "items.npy", "-k", 10)
    assert result.exit_code == 1
    assert "items.npy, row 0 (from 0): the field 'embedding' must hold finite numbers, found" in result.stderr


@pytest.mark.parametrize("dtype", [np.float16, np.float32, ">f4"])
def test_one_array(dtype, tmp_path, data):
    E, path = data[0].astype(dtype), tmp_path / "items.npy"
    np.save(path, E)
    found = [json.loads(line)["item"] for line in run(path, "-k", 20).stdout.splitlines()]
    assert found == diversify(E, np.zeros(30), k=20).subset.tolist()
    E[7, 2] = np.nan
    np.save(path, E)
    assert "items.npy, row 7 (from 0): the field 'embedding' must hold finite numbers" in run(path, "-k", 3).stderr
    assert "but number 2 of it is nan." in run(path, "-k", 3).stderr
    np.save(path, E[0])
    assert "one array with a row of numbers" in run(path, "-k", 3).stderr
    path.write_bytes(b"no array")
    assert "is not a NumPy array" in run(path, "-k", 3).stderr


def test_texts_by_an_encoder_and_by_an_svd(tmp_path, monkeypatch):
    (tmp_path / "made_up_encoder.py").write_text("def lengths(texts):\n    return [[len(t), 1.0] for t in texts]\n")
    monkeypatch.syspath_prepend(tmp_path)
    texts = ["a", "b" * 9, "one two", "two three four", "four five"]
    path = tmp_path / "texts.jsonl"
    path.write_text("".join(json.dumps({"text": t}) + "\n" for t in texts))
    expected = [texts[i] for i in diversify([[len(t), 1.0] for t in texts], np.zeros(5), k=2).subset]
    result = run(path, "-k", 2, "--encoder", "made_up_encoder:lengths")
    assert [json.loads(line)["text"] for line in result.stdout.splitlines()] == expected
    assert "cannot be imported" in run(path, "-k", 2, "--encoder", "made_up_encoder:none").stderr
    assert len(run(path, "-k", 4, "--dimensions", 2).stdout.splitlines()) == 4
    one = embed(texts, "made_up_encoder:lengths", 1)
    truth = np.linalg.svd([[len(t), 1.0] for t in texts])
    assert one.shape == (5, 1)
    np.testing.assert_allclose(np.abs(one[:, 0]), np.abs(truth.U[:, 0]) * truth.S[0])
    assert embed(texts, "made_up_encoder:lengths", 7).shape == (5, 2)
    alone = run(path, "-k", 2, "--encoder", "made_up_encoder:lengths", "--dimensions", 1, "--nugget", 0)
    assert "1 of 5 items" in alone.stderr  # in one direction, a second adds nothing
    sys.modules.pop("made_up_encoder", None)


def test_a_memory_map_that_shrank(tmp_path, data):
    path = tmp_path / "E.npy"
    np.save(path, np.repeat(data[0], 1000, axis=0))
    E = np.load(path, mmap_mode="r")
    assert len(diversify(E, np.arange(30_000), k=3)) == 3
    assert len(diversify(E[1000:2000], np.arange(1000), k=3)) == 3
    with path.open("r+b") as file:
        file.truncate(10_000)
    with pytest.raises(ValueError, match="which has only 10000 now"):
        diversify(E, np.arange(30_000), k=3)


def test_an_encoder_is_for_texts(tmp_path, monkeypatch):
    """It counts though the file has embeddings too, and is not asked for beside --embedding."""
    code = "def first(texts):\n    return [[1.0, 0.0] if text == 'a' else [0.0, 1.0] for text in texts]\n"
    code += "def one(texts):\n    return [[1.0]]\n"
    (tmp_path / "another_encoder.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / "both.jsonl"
    rows = [("b", [1.0, 0.0]), ("b", [0.0, 1.0]), ("a", [1.0, 0.0])]
    path.write_text("".join(json.dumps({"text": t, "embedding": e}) + "\n" for t, e in rows))
    assert [json.loads(line)["text"] for line in run(path, "-k", 2).stdout.splitlines()] == ["b", "b"]
    by_text = run(path, "-k", 2, "--encoder", "another_encoder:first")
    assert by_text.exit_code == 0, by_text.output
    assert sorted(json.loads(line)["text"] for line in by_text.stdout.splitlines()) == ["a", "b"]
    for option in (["--encoder", "another_encoder:first"], ["--dimensions", 2]):
        both = run(path, "-k", 2, "--embedding", "embedding", *option)
        assert both.exit_code == 2
        assert "leave --embedding out" in both.stderr
    wrong = run(path, "-k", 2, "--encoder", "another_encoder:one")
    assert wrong.exit_code == 1
    assert "found an array of shape (1, 1)" in wrong.stderr
