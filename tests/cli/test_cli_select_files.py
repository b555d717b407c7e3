"""`dpplearn select` on the files that people have: wide tables, TSV, JSON lists, arrays, texts with an encoder."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from dpplearn import diversify
from dpplearn.cli import main


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
    assert "'e3' is one number, and an embedding is several" in result.stderr
    assert "FIRST:LAST or 'e*'" in result.stderr
    assert "has no fields 'f*'" in run(path, "--embedding", "f*", "-k", 3).stderr
    assert "has no fields 'e0:e99'" in run(path, "--embedding", "e0:e99", "-k", 3).stderr


def test_groups_and_titles(wide):
    path = wide(".csv", ",")
    result = run(path, "--embedding", "e*", "-k", 5, "--group", "source", "--max-per-group", 3, "--min-per-group", 2)
    assert sorted(line.split(",")[3] for line in result.stdout.splitlines()[1:]) in (list("aaabb"), list("aabbb"))
    result = run(path, "--embedding", "e*", "-k", 5, "--explain")
    said = result.stderr.splitlines()
    assert len(said) == 22  # how many, twenty lines, and how many more
    assert "(Item " in said[1]
    assert "10 more lines" in said[-1]
    result = run(path, "--embedding", "e*", "-k", 5, "--group", "source", "--min-per-group", 9)
    assert "asks for 18 items, and k is 5" in result.stderr


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
    assert "items.npy, row 0 (from 0): the field 'embedding' must be a list of finite numbers, found" in result.stderr


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


def test_arrays_beside_a_table(wide, data, tmp_path, monkeypatch):
    """Embeddings and scores of an .npy file, a row for each item of a table."""
    monkeypatch.chdir(tmp_path)
    E, s = data
    np.save("E.npy", E)
    np.save("s.npy", s)
    np.save("short.npy", E[:9])
    table, both = wide(".csv", ","), ("--embedding", "E.npy", "--score", "s.npy", "-k", 6)
    expected = [f"x{i}" for i in diversify(E, s, k=6).subset]
    assert [line.split(",")[0] for line in run(table, *both).stdout.splitlines()[1:]] == expected
    parts = run(table, *both, "--work", "kept", "--jobs", 1)
    assert [line.split(",")[0] for line in parts.stdout.splitlines()[1:]] == expected
    np.save("before.npy", E[:3])
    given = run(table, *both, "--given", "before.npy")
    kept = [f"x{i}" for i in diversify(E, s, k=6, given=E[:3], exclude=[0, 1, 2]).subset]
    assert [line.split(",")[0] for line in given.stdout.splitlines()[1:]] == kept
    assert (
        f"short.npy must have a row for each item of {table}, 30, but has 9"
        in run(table, "--embedding", "short.npy").stderr
    )
    assert (
        "E.npy must hold one array with a number for each item, found (30, 12)" in run(table, "--score", "E.npy").stderr
    )
    assert "absent.npy" in run(table, "--embedding", "absent.npy").stderr


def test_labels_of_groups_are_texts_or_numbers(tmp_path):
    def chosen(*labels):
        path = tmp_path / "groups.jsonl"
        rows = [{"embedding": np.eye(len(labels))[i].tolist(), "g": label} for i, label in enumerate(labels)]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return run(path, "-k", 4, "--group", "g", "--max-per-group", 1)

    assert len(chosen(1, 1.0, True, 2).stdout.splitlines()) == 2
    assert len(chosen("1", "1.0", "a", "a").stdout.splitlines()) == 3
    message = "line 2: the field 'g' is '1', but that of the first item is no text. Write texts in all, or in none."
    assert message in chosen(1, "1").stderr
    assert "line 2: the field 'g' is 1, but that of the first item is a text." in chosen("1", 1).stderr
    assert "line 1: the field 'g' must be one label, found [1]" in chosen([1], [1]).stderr


@pytest.mark.parametrize("mark", [";", "\t", "|"])
def test_a_csv_with_other_marks_between_cells(mark, wide, data):
    """As spreadsheets save it where the comma is in numbers, with a mark of the byte order; written as it came."""
    path = wide(".csv", mark)
    text = path.read_text(encoding="utf-8").replace("title", '"title, or name"')
    path.write_text("\ufeff" + (text.replace(".", ",") if mark == ";" else text), encoding="utf-8")
    result = run(path, "--embedding", "e*", "-k", 6)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0].split(mark)[0].lstrip("\ufeff") == "id"
    assert [line.split(mark)[0] for line in lines[1:]] == [f"x{i}" for i in diversify(*data, k=6).subset]
    written = set(text.replace(".", ",").splitlines() if mark == ";" else text.splitlines())
    assert written.issuperset(lines[1:])


def test_a_comma_in_a_number_stays_an_error_between_commas(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('text,score\napple,"1,5"\n')
    assert "a.csv, line 2: the field 'score' must be a finite number, found '1,5'" in run(path, "-k", 1).stderr


def test_items_given_by_their_numbers(tmp_path, data):
    """As in Python: an array of numbers, or a field of them alone."""
    E, s = data
    np.save(tmp_path / "E.npy", E)
    np.save(tmp_path / "s.npy", s)
    np.save(tmp_path / "given.npy", [7, 2])
    (tmp_path / "given.csv").write_text("item\n7\n2\n")
    (tmp_path / "given.jsonl").write_text('{"item": 7}\n{"item": 2}\n')
    expected = diversify(E, s, k=5, given=[7, 2]).subset.tolist()
    for name in ("given.npy", "given.csv", "given.jsonl"):
        found = run(tmp_path / "E.npy", "--score", tmp_path / "s.npy", "-k", 5, "--given", tmp_path / name)
        assert found.exit_code == 0, found.output
        assert [json.loads(line)["item"] for line in found.stdout.splitlines()] == expected
    window = ("--window", 4, "--given", tmp_path / "given.npy")
    found = run(tmp_path / "E.npy", "--score", tmp_path / "s.npy", *window)
    order = diversify(E, s, window=4, given=[7, 2]).subset.tolist()
    assert [json.loads(line)["item"] for line in found.stdout.splitlines()] == order
    (tmp_path / "given.csv").write_text("item\n7\n2.5\n")
    message = "the field 'item' must be the number of an item, from 0 to 29, found"
    assert f"line 3: {message} 2.5" in run(tmp_path / "E.npy", *window[:3], tmp_path / "given.csv").stderr
    np.save(tmp_path / "given.npy", [7, 99])
    assert f"row 1 (from 0): {message} 99" in run(tmp_path / "E.npy", *window).stderr
    texts = tmp_path / "t.jsonl"
    texts.write_text("".join(json.dumps({"text": text}) + "\n" for text in ("red apple", "green apple", "blue sea")))
    (tmp_path / "given.jsonl").write_text('{"item": 0}\n')
    found = run(texts, "-k", 1, "--given", tmp_path / "given.jsonl")
    assert json.loads(found.stdout)["text"] == "blue sea"
    for other in ("--model", "--work", "--report"):
        assert "--window orders a list: leave" in run(texts, "--window", 3, other, tmp_path / "E.npy").stderr
