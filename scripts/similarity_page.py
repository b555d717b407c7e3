"""The tables of docs/learned-similarity.md, from what scripts/similarity_study.py stored.

Run it after them. A table of the page stands between the comments `study:NAME` and `/study`, and is what
`tables()[NAME]` says.
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


def against(found, base, name, digits):
    """Mean, and the difference from the first with its standard error, paired by instance."""
    x, y = np.array(found[name]), np.array(base[name])
    if found is base:
        return f"{x.mean():.{digits}f}"
    return f"{x.mean():.{digits}f} ({difference(x, y, digits)})"


def difference(x, y, digits):
    d = x - y
    return f"{d.mean():+.{digits}f} ± {d.std(ddof=1) / np.sqrt(d.size):.{digits}f}"


def base_of(one, rows, first):
    """The fixed kind that is else the same."""
    same = [name for name in first if name != "kind"]
    return next(r for r in rows if r["kind"] == "fixed" and all(r[name] == one[name] for name in same))


def long(rows, columns, first):
    """A row for each kind, a column for each of the figures; each is compared with the fixed kind."""
    head = [*first, *columns]
    cells = [
        [*(one[name] for name in first)]
        + [against(one, base_of(one, rows, first), name, digits) for name, digits in columns.values()]
        for one in rows
    ]
    return markdown(head, len(first), cells)


def wide(rows, name, digits, first):
    """A column for each kind: the mean of the fixed one, of all others the difference from it."""
    kinds = list(dict.fromkeys(one["kind"] for one in rows))
    cells = {}
    for one in rows:
        base, key = base_of(one, rows, first), tuple(one[a] for a in first)
        x, y = np.array(one[name]), np.array(base[name])
        cells.setdefault(key, list(key)).append(f"{x.mean():.{digits}f}" if one is base else difference(x, y, digits))
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


def written(page, made):
    """The page with these tables in their places."""
    for name, text in made.items():
        pattern = rf"(<!-- study:{re.escape(name)} -->\n).*?(<!-- /study -->)"
        page, count = re.subn(
            pattern, lambda found, text=text: f"{found[1]}\n{text}\n\n{found[2]}", page, flags=re.DOTALL
        )
        if count != 1:
            raise SystemExit(f"{PAGE} must have one place for the table {name!r}, and has {count}.")
    return page


def found():
    """All tables of what is stored."""
    return tables(json.loads(FIGURES.read_text(encoding="utf-8")))


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), found()), encoding="utf-8")
