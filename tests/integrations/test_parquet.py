"""`dpplearn select` on Parquet, which needs pyarrow."""

import json

import pytest
from click.testing import CliRunner

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
    assert f"{path}, row 1 (from 0): the field 'score' is missing" in result.stderr
    path.write_bytes(b"PAR1 cut")
    assert "not a Parquet file" in CliRunner().invoke(main, ["select", str(path), "-k", "2"]).stderr


def test_parquet_is_written(tmp_path):
    path, out, lines = tmp_path / "items.parquet", tmp_path / "chosen.parquet", tmp_path / "chosen.jsonl"
    vectors = pa.array([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0]], pa.list_(pa.float32()))
    parquet.write_table(pa.table({"id": ["a", "b", "c"], "embedding": vectors}), path)
    for target in (out, lines):
        assert CliRunner().invoke(main, ["select", str(path), "-k", "2", "--out", str(target)]).exit_code == 0
    table = parquet.read_table(out)
    assert table.schema.field("embedding").type == pa.list_(pa.float32())
    assert table.column("id").to_pylist() == ["a", "c"]
    assert CliRunner().invoke(main, ["select", str(lines), "-k", "2", "--out", str(out)]).exit_code == 0
    assert parquet.read_table(out).column("id").to_pylist() == ["a", "c"]
    lines.write_text('{"text": "a", "x": 1}\n{"text": "b", "x": "one"}\n', encoding="utf-8")
    result = CliRunner().invoke(main, ["select", str(lines), "-k", "2", "--out", str(out)])
    assert result.exit_code == 1
    assert "cannot be a Parquet table" in result.stderr
