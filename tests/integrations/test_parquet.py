"""`dpplearn select` on Parquet, which needs pyarrow."""

from functools import partial

import pytest

import commands
from commands import write

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed: make test-integrations")
parquet = pytest.importorskip("pyarrow.parquet")
run, records, refusal = (partial(call, "select") for call in (commands.run, commands.records, commands.refusal))


def test_parquet(tmp_path):
    path = tmp_path / "items.parquet"
    table = {"id": ["a", "b", "c"], "embedding": [[1.0, 0.0], [1.0, 0.1], [0.0, 1.0]], "score": [3.0, 2.9, 2.8]}
    parquet.write_table(pa.table(table), path)
    assert [one["id"] for one in records(path, "-k", 2)] == ["a", "c"]
    assert f"{path}, row 1 (from 0): 1.00 similar to row 0 (from 0)" in run(path, "-k", 2, "--explain").stderr
    for column, message in (
        ({"score": [3.0, None, 2.8]}, "row 1 (from 0): the field 'score' is empty"),
        (
            {"embedding": [[1.0, 2.0], [float("nan"), 1.0], [1.0, 1.0]]},
            "row 1 (from 0): the field 'embedding' must hold",
        ),
        ({"embedding": [[1.0, 2.0], [1.0, 2.0], [1.0]]}, "row 2 has 1 numbers"),
        ({"src": ["x", "y", None]}, "row 2 (from 0): the field 'src' is empty"),
    ):
        parquet.write_table(pa.table(table | column), path)
        more = ("--group", "src", "--max-per-group", 1) if "src" in column else ()
        assert message in refusal(path, "-k", 2, *more)
    assert "not a Parquet file" in refusal(write(path, b"PAR1 cut"), "-k", 2)
