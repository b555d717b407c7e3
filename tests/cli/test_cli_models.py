"""Saved models on the command line: `info` shows any, `select --model` applies one to a file of items."""

import csv
import io
import json
from functools import partial

import numpy as np
import pytest

from commands import output, refusal, run, write, write_lines
from dpplearn import ConditionalDPP, ItemSet, KernelDPP
from playlists import playlists

NEW = playlists(1, seed=3)
FEATURES = {"features": ["genre", "tempo", "explicit", "length"], "phi": ["genre"], "chosen": "kept"}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "m.json"
    ConditionalDPP(nugget=0.3).fit(*ItemSet.from_long(playlists(), group="playlist", **FEATURES)).save(path)
    return path


@pytest.fixture
def select(model):
    return partial(output, "select", "--model", model), partial(refusal, "select", "--model", model)


def rows_of(table):
    return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]


def write_csv(path, table):
    text = io.StringIO()
    writer = csv.DictWriter(text, list(table))
    writer.writeheader()
    writer.writerows(rows_of(table))
    return write(path, text.getvalue())


def test_info_shows_any_model(model, tmp_path):
    shown = output("info", model)
    for word in ("genre=jazz", "tempo is unknown", "standard error", "own", "cosines"):
        assert word in shown
    KernelDPP(alpha=1.0).fit(30 * [["bib", "bottle"]] + 30 * [["cot"], ["pram"]]).save(tmp_path / "k.json")
    assert "bottle" in output("info", tmp_path / "k.json")
    refused = refusal("info", write(tmp_path / "other.json", '{"format": "song"}'))
    assert "dpplearn.ConditionalDPP" in refused
    assert "found 'song'" in refused


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_select_applies_a_model(kind, model, select, tmp_path):
    """The same choice as in Python, whether the file has numbers and booleans or texts of them; its reasons."""
    fitted = ConditionalDPP.load(model)
    [x] = ItemSet.from_long(NEW, group="playlist", encoding=fitted.encoding_)
    path = tmp_path / f"new.{kind}"
    write_csv(path, NEW) if kind == "csv" else write_lines(path, rows_of(NEW))
    record = json.loads(select[0](path, "-k", 4, "--json", "--explain"))
    assert [one["item"] for one in record["selected"]] == fitted.decode(x, k=4).subset.tolist()
    added = fitted.quality_.contributions(x)
    for one in record["selected"]:
        every = fitted.quality_.names
        columns = [[j for j, name in enumerate(every) if name.startswith(reason["idea"])] for reason in one["reasons"]]
        amounts = [(added - added.mean(axis=0))[one["item"], own].sum() for own in columns]
        np.testing.assert_allclose([reason["amount"] for reason in one["reasons"]], amounts)
        assert one["why"] == ", ".join(reason["words"] for reason in one["reasons"])
        assert amounts == sorted(amounts, reverse=True)
        assert all(reason["amount"] > reason["error"] for reason in one["reasons"])
    assert len(record["skipped"]) == x.n - 4
    S = fitted.similarity_.matrix(x)
    for one in (*record["selected"], *record["skipped"]):  # S, not cosines
        assert one["similarity"] == pytest.approx(S[one["item"], one["nearest"]], abs=1e-6)


def test_select_with_a_model_budgets_and_explains(model, select, tmp_path):
    table = {**NEW, "minutes": [3.0] * 12}
    path = write_csv(tmp_path / "new.csv", table)
    found = run("select", "--model", model, path, "--budget", 7, "--cost", "minutes", "--explain")
    assert len(list(csv.DictReader(io.StringIO(found.stdout)))) == 2
    assert "kept for its tempo" in found.stderr
    assert "more than the 1 left of the budget" in found.stderr
    write_csv(path, {**table, "genre": ["zydeco", *table["genre"][1:]]})
    assert "'zydeco' is one" in run("select", "--model", model, path, "-k", 2).stderr
    write_csv(path, {**NEW, "tempo": ["fast", *NEW["tempo"][1:]]})
    assert "new.csv: Column 'tempo' holds numbers, and tempo[0] is 'fast'" in select[1](path)
    write_csv(path, {name: NEW[name] for name in ("genre", "length")})
    assert "has no field 'tempo'. Fields found: " in select[1](path)
