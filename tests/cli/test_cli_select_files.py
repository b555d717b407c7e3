"""`dpplearn select` on the files that people have: wide tables, TSV, arrays, groups, items that are given."""

from functools import partial

import numpy as np
import pytest

import commands
from commands import write, write_lines
from dpplearn import diversify

run, output, records, refusal = (
    partial(call, "select") for call in (commands.run, commands.output, commands.records, commands.refusal)
)


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
        return write(tmp_path / f"wide{suffix}", "".join(comma.join(map(str, row)) + "\n" for row in [names, *rows]))

    return make


def numbers(*args):
    return [record["item"] for record in records(*args)]


@pytest.mark.parametrize(("suffix", "comma"), [(".csv", ","), (".tsv", "\t")])
@pytest.mark.parametrize("pattern", ["e0:e11", "e*"])
def test_wide_tables(suffix, comma, pattern, wide, data):
    lines = output(wide(suffix, comma), "--embedding", pattern, "--k", 6).splitlines()
    assert lines[0].split(comma)[:3] == ["id", "title", "score"]
    assert [line.split(comma)[0] for line in lines[1:]] == [f"x{i}" for i in diversify(*data, k=6).subset]


def test_groups_and_titles(wide):
    path = wide(".csv", ",")
    asked = ("--embedding", "e*", "-k", 5, "--group", "source")
    lines = output(path, *asked, "--max-per-group", 3, "--min-per-group", 2).splitlines()
    assert sorted(line.split(",")[3] for line in lines[1:]) in (list("aaabb"), list("aabbb"))
    assert "--group is not used" in run(path, *asked).stderr
    said = run(path, "--embedding", "e*", "-k", 5, "--explain").stderr.splitlines()
    assert len(said) == 22  # how many, twenty lines, and how many more
    assert "(Item " in said[1]
    assert "18 items, and k is 5" in refusal(path, *asked, "--min-per-group", 9)


def test_arrays_beside_a_table(wide, data, tmp_path, monkeypatch):
    """Embeddings and scores of an .npy file, a row for each item of a table."""
    monkeypatch.chdir(tmp_path)
    E, s = data
    for name, array in {"E": E, "s": s, "short": E[:9], "before": E[:3]}.items():
        np.save(f"{name}.npy", array)
    table, both = wide(".csv", ","), ("--embedding", "E.npy", "--score", "s.npy", "-k", 6)
    for more, expected in (
        ((), diversify(E, s, k=6)),
        (("--work", "kept", "--jobs", 1), diversify(E, s, k=6)),
        (("--given", "before.npy"), diversify(E, s, k=6, given=E[:3], exclude=[0, 1, 2])),
    ):
        lines = output(table, *both, *more).splitlines()
        assert [line.split(",")[0] for line in lines[1:]] == [f"x{i}" for i in expected.subset]
    before = write_lines(tmp_path / "before.jsonl", [{"embedding": E[0].tolist()}])
    output(table, "--embedding", "e*", "-k", 2, "--given", before)  # that name begins with e, too
    short = f"short.npy must have a row for each item of {table}, 30, but has 9"
    assert short in refusal(table, "--embedding", "short.npy")
    assert "must hold an array with a number for each item, found (30, 12)" in refusal(table, "--score", "E.npy")


@pytest.mark.parametrize("mark", [";", "\t", "|"])
def test_a_csv_with_other_marks_between_cells(mark, wide, data):
    """As spreadsheets save it where the comma is in numbers, with a mark of the byte order; written as it came."""
    path = wide(".csv", mark)
    text = path.read_text(encoding="utf-8").replace("title", '"title, or name"')
    text = text.replace(".", ",") if mark == ";" else text
    lines = output(write(path, "\ufeff" + text), "--embedding", "e*", "-k", 6).splitlines()
    assert lines[0].split(mark)[0].lstrip("\ufeff") == "id"
    assert [line.split(mark)[0] for line in lines[1:]] == [f"x{i}" for i in diversify(*data, k=6).subset]
    assert set(text.splitlines()).issuperset(lines[1:])


def test_items_given_by_their_numbers(tmp_path, data):
    """As in Python: an array of numbers, or a field of them alone."""
    E, s = data
    np.save(tmp_path / "E.npy", E)
    np.save(tmp_path / "s.npy", s)
    np.save(tmp_path / "given.npy", [7, 2])
    write(tmp_path / "given.csv", "item\n7\n2\n")
    write_lines(tmp_path / "given.jsonl", [{"item": 7}, {"item": 2}])
    scored = (tmp_path / "E.npy", "--score", tmp_path / "s.npy")
    for name in ("given.npy", "given.csv", "given.jsonl"):
        found = numbers(*scored, "-k", 5, "--given", tmp_path / name)
        assert found == diversify(E, s, k=5, given=[7, 2]).subset.tolist()
    window = ("--window", 4, "--given", tmp_path / "given.npy")
    assert numbers(*scored, *window) == diversify(E, s, window=4, given=[7, 2]).subset.tolist()
    write(tmp_path / "given.csv", "item\n7\n2.5\n")
    message = "the field 'item' must be the number of an item, from 0 to 29, found"
    assert f"line 3: {message} 2.5" in refusal(tmp_path / "E.npy", *window[:3], tmp_path / "given.csv")
    np.save(tmp_path / "given.npy", [7, 99])
    assert f"row 1 (from 0): {message} 99" in refusal(tmp_path / "E.npy", *window)
    for other in ("--model", "--work", "--report"):
        assert "--window orders a list: leave" in refusal(tmp_path / "E.npy", "--window", 3, other, tmp_path / "E.npy")


@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_items_given_are_neither_repeated_nor_counted(kind, tmp_path, rng):
    """As in Python, where the given ones are excluded by number."""
    E = rng.standard_normal((40, 6)).astype(np.float32)
    path, first, given = tmp_path / "items.npy", tmp_path / f"first.{kind}", diversify(E, k=2).subset
    np.save(path, E)
    output(path, "-k", 2, "--out", first)
    chosen = numbers(path, "-k", 30, "--given", first)
    assert chosen == diversify(E, k=30, given=given).subset.tolist()
    assert len({*chosen} - {*given.tolist()}) == 30
    works = numbers(path, "-k", 3, "--given", first, "--work", tmp_path / "work")
    assert works == diversify(E, k=3, given=given).subset.tolist()
    np.save(tmp_path / "other.npy", E[:, 1:])
    wrong = refusal(path, "-k", 2, "--given", tmp_path / "other.npy")
    assert "other.npy: 'embedding' has 5 numbers, but that of ITEMS has 6" in wrong
