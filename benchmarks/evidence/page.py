"""Writes docs/evidence.md from the stored results of the studies; nothing on that page is written by hand."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from scipy.stats import t as student

HEAD = """# Evidence

This page shows where learning helps and where it does not. Each study states its question, its data, its protocol and
its answer, and then shows its tables. `python -m benchmarks evidence --data FOLDER` runs all the studies and writes
this page; `--only NAME` runs one of them. The data are not part of the project. If a file is missing in FOLDER, its
study says so. Numbers after ± are standard errors; brackets hold 95 % intervals; a star marks an interval without 0.

## In short
"""

GONE = """## Studies that we no longer run

- **Projected and scaled similarities** (maps of features, and weights of single features): on made-up data, news,
  papers and registries they gained nothing beyond a [mixture of named parts](learned-similarity.md), and they cost 125
  and 16 times as much as a fixed similarity.
- **Boosted trees for quality on news**: linear weights of nine smooth features do as well as trees (both reach
  47.4 / 16.3 / 20.0 in ROUGE-1 / 2 / SU4 on held-out news).
- **A made-up search task** with known intents: the learned DPP was ahead of MMR by 0.014 ± 0.002 in α-nDCG. The first
  study above uses people's arguments instead.
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


def section(number: int, name: str, study: dict) -> str:
    """One study on the page, or the reason why it is missing."""
    head = f"## {number}. {study['title']}"
    command = f"`python -m benchmarks evidence --data FOLDER --only {name}`"
    if "failed" in study:
        return f"{head}\n\nNot run here: {study['failed']} {command}"
    lines = [head, "", f"**Question.** {study['question']}", "", f"**Data.** {study['data']}", ""]
    lines += [f"**Protocol.** {study['protocol']}", "", f"**Answer.** {study['answer']}"]
    if study.get("picture"):
        file, alt = study["picture"]
        lines += ["", f"![{alt}](assets/{file})"]
    for content in study["tables"]:
        lines += ["", f"{content['title']}:", "", table(content["columns"], content["rows"])]
    lines += ["", *(f"- {note}" for note in study.get("notes", []))]
    return "\n".join([*lines, f"- Run on {study['machine']['date']} by {command}."])


def page(results: Path, titles: dict[str, str], failed: dict[str, str]) -> str:
    """The whole page from the results in a folder; `failed` has the reason for each study without a result."""
    studies = {}
    for name, title in titles.items():
        path = results / f"{name}.json"
        studies[name] = {"title": title, "failed": failed.get(name, "no result is stored yet.")}
        if path.exists():
            studies[name] = json.loads(path.read_text(encoding="utf-8"))
    short = [f"- **{study['title']}.** {study.get('answer', 'Not run here.')}" for study in studies.values()]
    sections = [section(number, name, study) for number, (name, study) in enumerate(studies.items(), 1)]
    return "\n\n".join([HEAD + "\n" + "\n".join(short), *sections, GONE])
