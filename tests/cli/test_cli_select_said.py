"""What `dpplearn select` says of sets that are smaller than asked for, and of encoders that are none."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from dpplearn import diversify
from dpplearn.cli import main


def run(*args):
    return CliRunner().invoke(main, ["select", *map(str, args)])


def test_fewer_than_asked_for_are_told(tmp_path):
    file = tmp_path / "items.jsonl"
    rows = [{"score": s, "embedding": e} for s, e in ((9, [1, 0]), (8, [1, 0.1]), (1, [0, 1]), (0, [0.1, 1]))]
    file.write_text("\n".join(map(json.dumps, rows)))
    for method in ("exact", "local"):
        result = run(file, "-k", 4, "--method", method, "--explain")
        count = len(result.stdout.splitlines())
        assert count < 4
        assert f"{count} of the 4 items asked for, though more would fit" in result.stderr
        assert "asked for" in json.loads(run(file, "-k", 4, "--method", method, "--json").stdout)["reason"]
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
    assert len(diversify(np.eye(40), np.zeros(40), k=3, method="sampled", n_samples=1000, rng=0)) == 0
    found = run(tmp_path / "items.npy", "-k", 3, "--method", "sampled", "--json")
    assert len(json.loads(found.stdout)["selected"]) == 3
    assert "tilt" not in found.stderr
