"""`dpplearn select` on Parquet, which needs pyarrow."""

import json

import pytest
from click.testing import CliRunner

from dpplearn import diversify
from dpplearn.cli import main

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed: make test-integrations")
parquet = pytest.importorskip("pyarrow.parquet")


def test_parquet(tmp_path):
    path = tmp_path / "items.parquet"
    table = {"id": ["a", "b", "c"], "embedding": [[1.0, 0.0], [1.0, 0.1], [0.0, 1.0]], "score": [3.0, 2.9, 2.8]}
    parquet.write_table(pa.table(table), path)
    result = CliRunner().invoke(main, ["select", str(path), "-k", "2", "--explain"])
    assert [json.loads(line)["id"] for line in result.stdout.splitlines()] == ["a", "c"]
    assert f"{path}, row 1 (from 0): 1.00 similar to row 0 (from 0)" in result.stderr
    parquet.write_table(pa.table(table | {"score": [3.0, None, 2.8]}), path)
    result = CliRunner().invoke(main, ["select", str(path), "-k", "2"])
    assert result.exit_code == 1
    assert f"{path}, row 1 (from 0): the field 'score' is empty" in result.stderr
    path.write_bytes(b"PAR1 cut")
    assert "not a Parquet file" in CliRunner().invoke(main, ["select", str(path), "-k", "2"]).stderr


def test_large_parquet_is_read_in_pieces(tmp_path, rng, monkeypatch):
    """Row groups and batches of their own sizes; only chosen rows become records."""
    from dpplearn.cli import items as reader

    monkeypatch.setattr(reader, "BATCH", 37)
    E = rng.standard_normal((300, 4)).astype("float32")
    s = rng.standard_normal(300)
    column = pa.FixedSizeListArray.from_arrays(pa.array(E.ravel()), 4)
    wide = {f"v{c}": E[:, c] for c in range(4)}
    path, out = tmp_path / "items.parquet", tmp_path / "chosen.jsonl"
    table = pa.table(
        {"id": [f"n{i}" for i in range(300)], "embedding": column, "score": s, "kind": ["x", "y"] * 150, **wide}
    )
    parquet.write_table(table, path, row_group_size=50)
    expected = diversify(E, s, k=20).subset
    for more in ([], ["--embedding", "v0:v3"], ["--embedding", "v*"], ["--group", "kind", "--max-per-group", "300"]):
        result = CliRunner().invoke(main, ["select", str(path), "-k", "20", "--out", str(out), *more])
        assert result.exit_code == 0, result.stderr
        assert [json.loads(line)["id"] for line in out.read_text().splitlines()] == [f"n{i}" for i in expected]
    ragged = pa.array([[1.0, 2.0]] * 40 + [[1.0]])
    parquet.write_table(pa.table({"embedding": ragged}), path)
    result = CliRunner().invoke(main, ["select", str(path), "-k", "2"])
    assert result.exit_code == 1
    assert "row 40 has 1 numbers" in result.stderr
    parquet.write_table(pa.table({"embedding": [[1.0, 2.0], [float("nan"), 1.0]]}), path)
    assert (
        "row 1 (from 0): the field 'embedding' must hold finite"
        in CliRunner().invoke(main, ["select", str(path), "-k", "2"]).stderr
    )
    for more in (["--embedding", "id"], ["--embedding", "i*"]):
        parquet.write_table(table, path)
        result = CliRunner().invoke(main, ["select", str(path), "-k", "2", *more])
        assert result.exit_code == 1
        assert "number" in result.stderr
