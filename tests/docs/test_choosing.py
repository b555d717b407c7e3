"""The costs that docs/choosing.md gives are those of benchmarks/results/, to within a factor of two and a half."""

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "choosing.md").read_text(encoding="utf-8")


def results(name):
    return json.loads((ROOT / "benchmarks" / "results" / f"{name}.json").read_text(encoding="utf-8"))


def timed(name, case, peer=""):
    return next(row["ours_s"] for row in results(name)["rows"] if case in row["case"] and peer in row["peer"])


def figure(name, case):
    return next(row["value"] for row in results(name)["figures"] if row["case"].startswith(case))


def milliseconds(title, decoder):
    table = next(table for table in results("decoding")["tables"] if title in table["title"])
    row = next(cells for cells in table["rows"] if cells[0].startswith(decoder))
    return row[table["columns"].index("median ms")]


CLAIMS = [  # words of the page, the value they give, and the value that was measured
    ("0.1 s at N = 1,000", 0.1, lambda: timed("sampling", "one single sample with set-up, N = 1000")),
    ("1 µs at N = 250 with six items", 1e-6, lambda: timed("sampling", "N = 250")),
    ("7 µs at N = 1,000 with twenty", 7e-6, lambda: timed("sampling", "N = 1000, E|Y| = 20, two threads")),
    ("0.4 ms at N = 250", 4e-4, lambda: timed("decoding", 'gain="auto"')),
    ("0.1 s to 1 s at N = 10⁶", 0.1, lambda: timed("decoding", "sigma 0.3, N = 1,000,000", "pyversity")),
    ("0.1 s to 1 s at N = 10⁶", 1.0, lambda: timed("decoding", "equal qualities, N = 1,000,000", "pyversity")),
    ("1 ms at N = 15, 30 ms", 1.0, lambda: milliseconds("N = 15, budget", "exact_map")),
    ("30 ms at N = 60", 30.0, lambda: milliseconds("N = 60", "exact_map")),
    ("0.02 s at N = 250", 0.02, lambda: figure("decoding", "consensus, N = 250")),
    ("0.4 s for 30 sets", 0.4, lambda: timed("learning", "whole fit")),
    ("45 s for 3,000 sets", 45.0, lambda: figure("learning", "whole fit, T = 3000")),
    ("3 s for 30 clusters", 3.0, lambda: figure("summarization", "training on 30 clusters")),
]


@pytest.mark.parametrize(
    ("words", "stated", "measured"), CLAIMS, ids=[f"{words}-{value}" for words, value, _ in CLAIMS]
)
def test_costs_are_measured(words, stated, measured):
    assert words in PAGE
    assert stated / 2.5 < measured() < stated * 2.5
