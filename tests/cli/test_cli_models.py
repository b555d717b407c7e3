"""Saved models on the command line: `info` shows any, `select --model` applies one to a file of items."""

import csv
import io
import json
import re

import numpy as np
import pytest
from click.testing import CliRunner

from dpplearn import ConditionalDPP, ItemSet, KernelDPP
from dpplearn.cli import main
from playlists import playlists

NEW = playlists(1, seed=3)


def run(*args):
    return CliRunner().invoke(main, [*map(str, args)])


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    features = ["genre", "tempo", "explicit", "length"]
    X, y = ItemSet.from_long(playlists(), group="playlist", features=features, phi=["genre"], chosen="kept")
    path = tmp_path_factory.mktemp("models") / "m.json"
    ConditionalDPP(nugget=0.3).fit(X, y).save(path)
    return path


def write(path, table, kind):
    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    if kind == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(table))
            writer.writeheader()
            writer.writerows(rows)
    return path


def test_info_shows_any_model(model, tmp_path):
    shown = run("info", model)
    assert shown.exit_code == 0, shown.output
    for word in ("genre=jazz", "tempo is unknown", "standard error", "own", "cosines"):
        assert word in shown.stdout
    KernelDPP(alpha=1.0).fit(30 * [["bib", "bottle"]] + 30 * [["cot"], ["pram"]]).save(tmp_path / "k.json")
    assert "bottle" in run("info", tmp_path / "k.json").stdout
    assert run("info").stdout.startswith("Summarizer\n")
    (tmp_path / "other.json").write_text('{"format": "song"}')
    refused = run("info", tmp_path / "other.json")
    assert refused.exit_code == 1
    assert "dpplearn.ConditionalDPP" in refused.stderr
    assert "found 'song'" in refused.stderr


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_select_applies_a_model(kind, model, tmp_path):
    """The same choice as in Python, whether the file has numbers and booleans or texts of them."""
    fitted = ConditionalDPP.load(model)
    [x] = ItemSet.from_long(NEW, group="playlist", encoding=fitted.encoding_)
    found = run("select", "--model", model, write(tmp_path / f"new.{kind}", NEW, kind), "-k", 4, "--json", "--explain")
    assert found.exit_code == 0, found.output
    record = json.loads(found.stdout)
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


def test_select_with_a_model_budgets_and_explains(model, tmp_path):
    table = {**NEW, "minutes": [3.0] * 12}
    path = write(tmp_path / "new.csv", table, "csv")
    found = run("select", "--model", model, path, "--budget", 7, "--cost", "minutes", "--explain")
    assert found.exit_code == 0, found.output
    assert len(list(csv.DictReader(io.StringIO(found.stdout)))) == 2
    assert "kept for its tempo" in found.stderr
    assert "more than the 1 left of the budget" in found.stderr
    path = write(tmp_path / "new.csv", {**table, "genre": ["zydeco", *table["genre"][1:]]}, "csv")
    assert "'zydeco' is the first" in run("select", "--model", model, path, "-k", 2).stderr


def test_reasons_and_similarities_are_the_model_s(model, tmp_path):
    """Words for what a field holds; S, not cosines."""
    path = write(tmp_path / "new.jsonl", NEW, "jsonl")
    found = run("select", "--model", model, path, "-k", 8, "--explain")
    lines = {int(re.search(r"line (\d+)", line)[1]): line for line in found.stderr.splitlines() if ": kept" in line}
    for number, line in lines.items():
        row = {name: column[number - 1] for name, column in NEW.items()}
        said = re.search("kept for (.*?);", line)[1].split(", ")
        values = {"genre": row["genre"], "length": row["length"], "explicit": str(row["explicit"]).lower()}
        expected = {f"{name} being {value or 'unknown'}" for name, value in values.items()}
        expected.add("tempo being unknown" if row["tempo"] is None else f"its tempo of {row['tempo']:.4g}")
        assert {*said} <= expected
    fitted = ConditionalDPP.load(model)
    [x] = ItemSet.from_long(NEW, group="playlist", encoding=fitted.encoding_)
    S = fitted.similarity_.matrix(x)
    assert S[~np.eye(x.n, dtype=bool)].max() == pytest.approx(0.7)  # equal genres: the nugget is what is their own
    record = json.loads(run("select", "--model", model, path, "-k", 8, "--explain", "--json").stdout)
    for one in (*record["selected"], *record["skipped"]):
        assert one["similarity"] == pytest.approx(S[one["item"], one["nearest"]], abs=1e-6)
    mean = (S.sum() - x.n) / (x.n * (x.n - 1))
    assert f"Similarities are those of the model: {mean:.2f} on average" in found.stderr
    assert re.search(r"Note: line (\d+) and line (\d+) were both kept, .* a --diversity above 0.5", found.stderr)


def test_where_all_items_are_alike_no_two_are_a_pair(tmp_path):
    features = ["genre", "tempo", "explicit", "length"]
    X, y = ItemSet.from_long(playlists(20), group="playlist", features=features, phi=["genre"], chosen="kept")
    ConditionalDPP(rho=6.0, nugget=0.01).fit(X, y).save(tmp_path / "m.json")
    path = write(tmp_path / "new.jsonl", NEW, "jsonl")
    found = run("select", "--model", tmp_path / "m.json", path, "-k", 4, "--explain").stderr
    genres = [NEW["genre"][int(n) - 1] for n in re.findall(r"line (\d+): kept", found)]
    assert len({*genres}) == 4
    assert "Note:" not in found
    assert "(0.96)" in found


def chosen_by(model, path, *more):
    found = run("select", "--model", model, path, "--json", *more)
    assert found.exit_code == 0, found.output
    return [one["item"] for one in json.loads(found.stdout)["selected"]]


def test_select_with_a_model_within_limits_of_groups(model, tmp_path):
    path = write(tmp_path / "new.csv", NEW, "csv")
    plain = chosen_by(model, path, "-k", 6)
    for diversity in (0.2, 0.5, 0.8):  # a limit that nobody reaches changes nothing
        asked = ("-k", 6, "--diversity", diversity)
        unlimited = chosen_by(model, path, *asked, "--group", "genre", "--max-per-group", 99)
        assert unlimited == chosen_by(model, path, *asked)
    genres = [NEW["genre"][i] for i in plain]
    assert max(map(genres.count, genres)) > 1
    one_each = ("--group", "genre", "--max-per-group", 1)
    limited = [NEW["genre"][i] for i in chosen_by(model, path, "-k", 6, *one_each)]
    assert max(map(limited.count, limited)) == 1
    assert chosen_by(model, path, "-k", 6, "--group", "genre") == plain
    exact = [NEW["genre"][i] for i in chosen_by(model, path, "-k", 3, *one_each, "--decoder", "exact")]
    assert max(map(exact.count, exact)) == 1
    at_least = ("-k", 6, "--group", "genre", "--min-per-group", 1, "--decoder", "exact")
    assert "min_per_group must be left out of exact_map" in run("select", "--model", model, path, *at_least).stderr
    assert "need --group FIELD" in run("select", "--model", model, path, "--max-per-group", 1).stderr
    assert "leave --model" in run("select", "--model", model, path, "--work", tmp_path / "kept").stderr
    assert "leave -k auto out" in run("select", "--model", model, path, "-k", "auto").stderr


def test_select_with_a_model_says_what_is_wrong(model, tmp_path):
    path = write(tmp_path / "new.csv", {**NEW, "tempo": ["fast", *NEW["tempo"][1:]]}, "csv")
    refused = run("select", "--model", model, path)
    assert refused.exit_code == 1
    assert "new.csv: Column 'tempo' holds numbers, and tempo[0] is 'fast'" in refused.stderr
    path = write(tmp_path / "new.csv", {name: NEW[name] for name in ("genre", "length")}, "csv")
    assert "has no field 'tempo'. Fields found: " in run("select", "--model", model, path).stderr
    assert run("select", "--model", model, path, "--score", "x").exit_code == 2
    assert "leave --score, --embedding" in run("select", "--model", model, path, "--embedding", "x").stderr


def test_select_with_a_model_of_arrays(tmp_path):
    ConditionalDPP.from_weights([-1.0, 2.0], names=["constant", "score"]).save(tmp_path / "m.json")
    (tmp_path / "items.jsonl").write_text('{"score": 1.0, "v": [1, 0]}\n')
    refused = run("select", "--model", tmp_path / "m.json", tmp_path / "items.jsonl", "-k", 1)
    assert "was fitted to arrays" in refused.stderr
    assert "ItemSet.from_long" in refused.stderr
