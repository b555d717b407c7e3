"""`dpplearn select` with reports in files, and on Dask."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from dpplearn import diversify
from dpplearn.cli import items, main

pytest.importorskip("matplotlib")


def run(*arguments):
    return CliRunner().invoke(main, ["select", *map(str, arguments)])


@pytest.fixture
def problem(tmp_path, rng):
    E = rng.standard_normal((300, 6)).astype(np.float32)
    np.save(tmp_path / "items.npy", E)
    return E


def test_groups_with_dollars_are_no_formulas(problem, tmp_path):
    """What stands in a file is text: two dollars in the name of a group would else be read as mathematics."""
    with (tmp_path / "items.jsonl").open("w") as file:
        for row, kind in zip(problem[:20].tolist(), ["costs $5_{ and $7", "free"] * 10, strict=True):
            file.write(json.dumps({"embedding": row, "kind": kind}) + "\n")
    result = run(tmp_path / "items.jsonl", "-k", 5, "--group", "kind", "--report", tmp_path / "why.html")
    assert result.exit_code == 0, result.output
    assert "<path" in (tmp_path / "why.html").read_text()


def test_dask(problem, tmp_path, monkeypatch):
    dd = pytest.importorskip("distributed")
    monkeypatch.setattr(items, "SMALLEST", 40)
    with (
        dd.LocalCluster(n_workers=1, processes=False, dashboard_address=":0", silence_logs=50) as cluster,
        dd.Client(cluster),
    ):
        kept = ("-k", 20, "--work", tmp_path / "kept")
        result = run(tmp_path / "items.npy", *kept, "--out", tmp_path / "o.jsonl")
        bad = problem.copy()
        bad[123] = np.nan
        np.save(tmp_path / "bad.npy", bad)
        wrong = run(tmp_path / "bad.npy", "-k", 20, "--work", tmp_path / "bad")
    assert wrong.exit_code == 1
    assert f"{tmp_path / 'bad.npy'}: embeddings must be finite" in wrong.stderr
    assert "row 123 is not" in wrong.stderr
    assert result.exit_code == 0, result.output
    assert "20 of 300 items: the size limit of 20 items is reached" in result.stderr
    assert len(list((tmp_path / "kept").iterdir())) == 8
    u = problem / np.linalg.norm(problem, axis=1, keepdims=True)
    one, two = (
        np.linalg.slogdet(1e-6 * np.eye(20) + u[Y] @ u[Y].T)[1] - 20 * np.log(1e-6)
        for Y in (
            diversify(problem, np.zeros(300), k=20).subset,
            [json.loads(line)["item"] for line in (tmp_path / "o.jsonl").read_text().splitlines()],
        )
    )
    assert two > 0.99 * one
    (tmp_path / "items.jsonl").write_text('{"embedding": [1, 2]}\n')
    result = run(tmp_path / "items.jsonl", *kept)
    assert result.exit_code == 1
    assert "reads .parquet and .npy files" in result.stderr
