"""docs/evidence.md from what the studies found; nothing in that page is written by hand."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from scipy.stats import t as student

HEAD = """# Evidence

What learning brings, and where it does not. Each study has its question, data, protocol and answer; then the tables.
`python -m benchmarks evidence --data FOLDER` runs all of them and writes this page; `--only NAME` runs one. The data
are not part of the project; a study whose file is missing in FOLDER says so.
± is a standard error, brackets hold 95 % intervals.
"""

GONE = """## Studies that are told in a sentence

- **Projected and scaled similarities** (maps of features, and weights of single features): on made-up data, news,
  papers and registries they gained nothing that a [mixture of named parts](learned-similarity.md) did not, at 125 and
  16 times the cost of a fixed similarity.
- **Boosted trees for quality on news**: linear weights of nine smooth features reach what trees reached (held-out
  ROUGE-1 / 2 / SU4 of 47.4 / 16.3 / 20.0, both).
- **A made-up search task** with known intents, where the learned DPP was ahead of MMR by 0.014 ± 0.002 in α-nDCG: the
  first study is of people's arguments instead.
"""


def mean_and_error(values: Sequence[float] | np.ndarray) -> tuple[float, float]:
    """The mean of independent values and its standard error."""
    x = np.asarray(values, np.float64)
    return float(x.mean()), float(x.std(ddof=1) / np.sqrt(x.size)) if x.size > 1 else float("nan")


def interval(values: Sequence[float] | np.ndarray) -> tuple[float, float, float, float]:
    """Mean, 95 % interval and p-value of a mean of 0, by Student's t."""
    mean, error = mean_and_error(values)
    if not error > 0:
        return mean, mean, mean, float("nan")
    rest = len(values) - 1
    half = student.ppf(0.975, rest) * error
    return mean, float(mean - half), float(mean + half), float(2 * student.sf(abs(mean / error), rest))


def signed(values: Sequence[float] | np.ndarray, digits: int = 3) -> str:
    """A difference as a table shows it: its mean, its interval, and a star where the interval excludes 0."""
    mean, low, high, p = interval(values)
    return f"{mean:+.{digits}f} [{low:+.{digits}f}, {high:+.{digits}f}]" + ("*" if p < 0.05 else "")


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = ["| " + " | ".join(columns) + " |", "|---|" + "--:|" * (len(columns) - 1)]
    for row in rows:
        cells = [f"{x:.3f}" if isinstance(x, float) else f"{x:,}" if isinstance(x, int) else str(x) for x in row]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def section(number: int, name: str, found: dict) -> str:
    """A study on the page, or why it is not there."""
    head = f"## {number}. {found['title']}"
    command = f"`python -m benchmarks evidence --data FOLDER --only {name}`"
    if "failed" in found:
        return f"{head}\n\nNot run here: {found['failed']} {command}"
    lines = [head, "", f"**Question.** {found['question']}", "", f"**Data.** {found['data']}", ""]
    lines += [f"**Protocol.** {found['protocol']}", "", f"**Answer.** {found['answer']}"]
    if found.get("picture"):
        file, alt = found["picture"]
        lines += ["", f"![{alt}](assets/{file})"]
    for one in found["tables"]:
        lines += ["", f"{one['title']}:", "", table(one["columns"], one["rows"])]
    lines += ["", *(f"- {note}" for note in found.get("notes", []))]
    machine = found["machine"]
    return "\n".join([*lines, f"- {command}, {machine['date']}."])


def page(results: Path, titles: dict[str, str], failed: dict[str, str]) -> str:
    """The whole page, of the results that a folder holds; `failed` says why studies without one have none."""
    parts = []
    for number, (name, title) in enumerate(titles.items(), 1):
        path = results / f"{name}.json"
        found = {"title": title, "failed": failed.get(name, "no result is stored yet.")}
        if path.exists():
            found = json.loads(path.read_text(encoding="utf-8"))
        parts.append(section(number, name, found))
    return "\n\n".join([HEAD, *parts, GONE])
