"""Writes the tables of docs/learned-similarity.md from the results of scripts/similarity_study.py.

Run it after that script. The table `tables()[NAME]` stands between the comments `study:NAME` and `/study`.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parent.parent
PAGE, FIGURES = ROOT / "docs/learned-similarity.md", ROOT / "docs/assets/similarity_study.json"
DECODERS, METRICS = ("consensus", "greedy"), ("rouge-1", "rouge-2")
TEXT = {"log-likelihood": ("log-likelihood", 2)} | {
    f"{metric.upper()}, {name}": (f"{name} {metric}", 2) for name in DECODERS for metric in METRICS
}
BASKETS = {"log-likelihood": ("log-likelihood", 3), "percentile of an item": ("percentile", 2)}


def against(row, base, name, digits):
    """The mean, and its difference from the base row with a standard error, paired by instance."""
    x, y = np.array(row[name]), np.array(base[name])
    if row is base:
        return f"{x.mean():.{digits}f}"
    return f"{x.mean():.{digits}f} ({difference(x, y, digits)})"


def difference(x, y, digits):
    d = x - y
    return f"{d.mean():+.{digits}f} ± {d.std(ddof=1) / np.sqrt(d.size):.{digits}f}"


def base_of(row, rows, first):
    """The row of the fixed kind with otherwise the same labels."""
    same = [name for name in first if name != "kind"]
    return next(r for r in rows if r["kind"] == "fixed" and all(r[name] == row[name] for name in same))


def long(rows, columns, first):
    """A table with a row for each kind and a column for each measure, compared with the fixed kind."""
    head = [*first, *columns]
    cells = [
        [*(row[name] for name in first)]
        + [against(row, base_of(row, rows, first), name, digits) for name, digits in columns.values()]
        for row in rows
    ]
    return markdown(head, len(first), cells)


def wide(rows, name, digits, first):
    """A table with a column for each kind: the mean of the fixed kind, and the differences of the others from it."""
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    cells = {}
    for row in rows:
        base, key = base_of(row, rows, first), tuple(row[a] for a in first)
        x, y = np.array(row[name]), np.array(base[name])
        cells.setdefault(key, list(key)).append(f"{x.mean():.{digits}f}" if row is base else difference(x, y, digits))
    return markdown([*first, *kinds], len(first), list(cells.values()))


def markdown(head, left, rows):
    lines = [head, ["---"] * left + ["--:"] * (len(head) - left), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def tables(figures):
    """A table for each part of the study, by name."""
    first = ("truth", "instances", "likelihood")
    return {
        "made-up": wide(figures["made-up"], "log-likelihood", 3, first),
        "made-up items": wide(figures["made-up"], "agreement", 1, first),
        "news": long(figures["news"], TEXT, ("features", "likelihood", "kind")),
        "papers": long(figures["papers"], TEXT, ("features", "likelihood", "kind")),
        "registries": long(figures["registries"], BASKETS, ("likelihood", "kind")),
        "commit": f"The figures are of commit `{figures['commit']}`.",
    }


def filled(page, texts):
    """The page with these tables in their places."""
    for name, text in texts.items():
        pattern = rf"(<!-- study:{re.escape(name)} -->\n).*?(<!-- /study -->)"
        page, count = re.subn(
            pattern, lambda match, text=text: f"{match[1]}\n{text}\n\n{match[2]}", page, flags=re.DOTALL
        )
        if count != 1:
            raise SystemExit(f"{PAGE}: expected one place for the table {name!r}, found {count}.")
    return page


def stored_tables():
    """All tables of the stored results."""
    return tables(json.loads(FIGURES.read_text(encoding="utf-8")))


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), stored_tables()), encoding="utf-8")
