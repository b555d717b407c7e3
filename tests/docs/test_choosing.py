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


def cell(name, table, row, column):
    found = next(t for t in results(name)["tables"] if table in t["title"])
    return next(cells for cells in found["rows"] if cells[0].startswith(row))[found["columns"].index(column)]


N15, N60 = "200 problems, N = 15, budget", "N = 60"
CLAIMS = [  # words of the page, the value they give, what was measured
    ("0.1 s at N = 1,000 |", 0.1, lambda: timed("sampling", "one single sample with set-up, N = 1000")),
    ("1 µs at N = 250 with six items", 1e-6, lambda: timed("sampling", "N = 250")),
    ("7 µs at N = 1,000 with twenty", 7e-6, lambda: timed("sampling", "N = 1000, E|Y| = 20, two threads")),
    ("0.4 ms at N = 15 and N = 250", 4e-4, lambda: timed("decoding", 'gain="auto"')),
    ("0.4 ms at N = 15 and N = 250", 0.4, lambda: cell("decoding", N15, 'greedy_map (gain="auto")', "median ms")),
    ("0.1 s to 1 s at N = 10⁶", 0.1, lambda: timed("decoding", "sigma 0.3, N = 1,000,000", "pyversity")),
    ("0.1 s to 1 s at N = 10⁶", 1.0, lambda: timed("decoding", "equal qualities, N = 1,000,000", "pyversity")),
    ("0.12 at N = 15, 0.42", 0.12, lambda: cell("decoding", N15, 'greedy_map (gain="auto")', "mean gap")),
    ("0.42 at N = 60", 0.42, lambda: cell("decoding", N60, 'greedy_map (gain="auto")', "mean gap")),
    ("0.4 ms at N = 15", 0.4, lambda: cell("decoding", N15, "greedy_map, then local", "median ms")),
    ("0.05, and 0.28", 0.05, lambda: cell("decoding", N15, "greedy_map, then local", "mean gap")),
    ("0.05, and 0.28", 0.28, lambda: cell("decoding", N60, "greedy_map, then local", "mean gap")),
    ("1 ms at N = 15, 30 ms", 1.0, lambda: cell("decoding", N15, "exact_map", "median ms")),
    ("30 ms at N = 60", 30.0, lambda: cell("decoding", N60, "exact_map", "median ms")),
    ("0.1 s for 100,000 samples", 100.0, lambda: cell("decoding", N15, "sampled_map, 100,000", "median ms")),
    ("0.01, and 2.1 at N = 60", 0.01, lambda: cell("decoding", N15, "sampled_map, 100,000", "mean gap")),
    ("0.01, and 2.1 at N = 60", 2.1, lambda: cell("decoding", N60, "sampled_map, 100,000", "mean gap")),
    ("3 ms at N = 15, 0.02 s", 3.0, lambda: cell("decoding", N15, "consensus", "median ms")),
    ("0.02 s at N = 250", 0.02, lambda: figure("decoding", "consensus, N = 250")),
    ("0.15 ms, a second", 0.15, lambda: cell("decoding", N15, 'greedy_map (gain="probability"', "median ms")),
    ("0.15 ms, a second", 1.0, lambda: timed("decoding", "sampled_map with 1,000,000")),
    ("0.63, and 1.2", 0.63, lambda: cell("decoding", N15, 'greedy_map (gain="probability"', "mean gap")),
    ("0.63, and 1.2", 1.2, lambda: cell("decoding", N60, 'greedy_map (gain="probability"', "mean gap")),
    ("0.4 s for 30 sets", 0.4, lambda: timed("learning", "whole fit")),
    ("45 s for 3,000 sets", 45.0, lambda: figure("learning", "whole fit, T = 3000")),
    ("1.8 times faster on two cores", 1.8, lambda: results("learning")["rows"][2]["ratio"]),
    ("3 s for 30 clusters", 3.0, lambda: figure("summarization", "training on 30 clusters")),
]


@pytest.mark.parametrize(("words", "said", "measured"), CLAIMS, ids=[f"{w}-{s}" for w, s, _ in CLAIMS])
def test_costs_are_measured(words, said, measured):
    assert words in PAGE
    assert said / 2.5 < measured() < said * 2.5
