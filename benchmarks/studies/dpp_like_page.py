"""Writes the tables of docs/dpp-like-mrfs.md from the results of dpp_like.py and benchmarks/fields.py.

Run `python -m benchmarks.studies.dpp_like_page` after them. `SECTIONS[NAME]` writes the section between the comments
`study:NAME` and `/study`.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.studies.dpp_like import KINDS, read_study

PAGE = Path(__file__).parents[2] / "docs/dpp-like-mrfs.md"
METHODS = ("dpp", "mean-field", "bp", "trw")
MEASURES = {"log_z": "log Z", "marginals": "marginals", "pairs": "pairs"}


def error(cell: dict, name: str, measure: str) -> float:
    """The absolute error, but at least the error of the true log Z itself: its spread over runs."""
    floor = cell["spread"] if measure == "log_z" else 0.0
    return max(abs(cell["errors"][name][measure]), floor)


def is_dpp_like(cell: dict) -> bool:
    """Whether, by the true log Z, the DPP misses at most 0.01 nats or a tenth of mean field's divergence."""
    missed = -cell["errors"]["dpp"]["log_z"]
    return missed <= 0.01 or missed <= 0.1 * -cell["errors"]["mean-field"]["log_z"]


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---", *["--:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def errors() -> str:
    """Mean absolute errors, by kind and N."""
    cells, rows = read_study()["cells"], []
    for kind in KINDS:
        for n in sorted({c["n"] for c in cells}):
            fields = [c for c in cells if (c["kind"], c["n"]) == (kind, n)]
            if not fields:
                continue
            row = [f"{kind}, {n}", str(len(fields))]
            for measure, digits in (("log_z", 3), ("marginals", 4)):
                means = [np.mean([abs(c["errors"][m][measure]) for c in fields]) for m in METHODS]
                row.append(" / ".join(f"{mean:.{digits}f}" for mean in means))
            rows.append([*row, f"{np.mean([c['missed'] for c in fields]):.0%}".replace("%", " %")])
    return table(["kind, $N$", "fields", "$\\log Z$", "marginals", "missed by the DPP"], rows)


def thirds() -> str:
    """How often the DPP's error is at most a third of the best other error, among the fields called DPP-like."""
    cells, rows = [c for c in read_study()["cells"] if c["dpp_like"]], []
    for kind in KINDS:
        fields = [c for c in cells if c["kind"] == kind]
        if fields:
            row = [kind, f"{len(fields)} of {sum(c['kind'] == kind for c in read_study()['cells'])}"]
            for rivals in (METHODS[1:], None):
                for measure in MEASURES:
                    row.append(third(fields, rivals, measure))
            rows.append(row)
    head = ["kind", "called DPP-like"]
    head += [f"{label}, variational" for label in MEASURES.values()]
    head += [f"{label}, sampling" for label in MEASURES.values()]
    return table(head, rows)


def third(cells: list[dict], rivals: tuple[str, ...] | None, measure: str) -> str:
    """How many fields; rivals=None is sampling in equal time: annealing for log Z, chains for the other measures."""
    if rivals is None:
        rivals = ("ais",) if measure == "log_z" else ("gibbs",)
        cells = [c for c in cells if rivals[0] in c["errors"]]
    hits = sum(3 * error(c, "dpp", measure) <= min(error(c, m, measure) for m in rivals) for c in cells)
    return f"{hits} of {len(cells)}" if cells else "–"


def fresh() -> str:
    """The diagnosis on the kinds of fields on which no choice was made."""
    cells, rows = read_study("dpp_like_fresh")["cells"], []
    for kind in [*dict.fromkeys(c["kind"] for c in cells), "all"]:
        fields = [c for c in cells if kind in (c["kind"], "all")]
        called = [c for c in fields if c["dpp_like"]]
        rest = [c for c in fields if not c["dpp_like"]]
        row = [kind, f"{len(called)} of {len(fields)}", f"{sum(map(is_dpp_like, called))} of {len(called)}"]
        row.append(f"{sum(not is_dpp_like(c) for c in rest)} of {len(rest)}")
        for part in (called, rest):
            values = [c["errors"]["dpp"]["marginals"] for c in part]
            row.append(f"{np.mean(values):.4f}" if values else "–")
        rows.append(row)
    head = ["kind", "called DPP-like", "rightly", "others, rightly", "marginals off, called", "others"]
    return table(head, rows)


def costs() -> str:
    """The table that benchmarks/fields.py stored."""
    result = json.loads((PAGE.parent.parent / "benchmarks/results/fields.json").read_text(encoding="utf-8"))
    rows = [
        [name, f"{s:.1f}", f"{e:.4f}", f"{100 * missed:.0f} %"] for name, s, e, missed in result["tables"][0]["rows"]
    ]
    return table(["field", "seconds of one core", "standard error", "missed"], rows)


SECTIONS: dict[str, Callable[[], str]] = {"errors": errors, "thirds": thirds, "fresh": fresh, "costs": costs}


def filled(page: str) -> str:
    """The page with its sections written anew."""
    return re.sub(
        r"<!-- study:(\w+) -->\n.*?<!-- /study -->",
        lambda match: f"<!-- study:{match[1]} -->\n\n{SECTIONS[match[1]]()}\n\n<!-- /study -->",
        page,
        flags=re.DOTALL,
    )


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
