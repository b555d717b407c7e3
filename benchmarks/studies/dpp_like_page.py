"""The tables of docs/dpp-like-mrfs.md, from what benchmarks/studies/dpp_like.py and benchmarks/fields.py stored.

Run it after them: `python -m benchmarks.studies.dpp_like_page`. A section of the page stands between the comments
`study:NAME` and `/study`, and is what `SECTIONS[NAME]` makes.
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
    """Absolute, and not below what the truth itself is known to: its spread over runs, its noise of chains."""
    floor = cell["spread"] if measure == "log_z" else 0.0
    return max(abs(cell["errors"][name][measure]), floor)


def truly(cell: dict) -> bool:
    """Whether q misses at most a tenth of mean field's divergence, or 0.01 nats, by the true log Z."""
    missed = -cell["errors"]["dpp"]["log_z"]
    return missed <= 0.01 or missed <= 0.1 * -cell["errors"]["mean-field"]["log_z"]


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---", *["--:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def errors() -> str:
    """Mean absolute errors by kind and N."""
    cells, rows = read_study()["cells"], []
    for kind in KINDS:
        for n in sorted({c["n"] for c in cells}):
            some = [c for c in cells if (c["kind"], c["n"]) == (kind, n)]
            if not some:
                continue
            row = [f"{kind}, {n}", str(len(some))]
            for measure, digits in (("log_z", 3), ("marginals", 4)):
                means = [np.mean([abs(c["errors"][m][measure]) for c in some]) for m in METHODS]
                row.append(" / ".join(f"{mean:.{digits}f}" for mean in means))
            rows.append([*row, f"{np.mean([c['missed'] for c in some]):.0%}".replace("%", " %")])
    return table(["kind, $N$", "fields", "$\\log Z$", "marginals", "missed by the DPP"], rows)


def thirds() -> str:
    """Where the DPP's error is at most a third of the best of the others, among the fields called DPP-like."""
    cells, rows = [c for c in read_study()["cells"] if c["dpp_like"]], []
    for kind in KINDS:
        some = [c for c in cells if c["kind"] == kind]
        if some:
            row = [kind, f"{len(some)} of {sum(c['kind'] == kind for c in read_study()['cells'])}"]
            for rivals in (METHODS[1:], None):
                for measure in MEASURES:
                    row.append(third(some, rivals, measure))
            rows.append(row)
    head = ["kind", "called DPP-like"]
    head += [f"{label}, variational" for label in MEASURES.values()]
    head += [f"{label}, sampling" for label in MEASURES.values()]
    return table(head, rows)


def third(cells: list[dict], rivals: tuple[str, ...] | None, measure: str) -> str:
    """How many; against sampling (None) at equal time, annealing for log Z and chains for the others."""
    if rivals is None:
        rivals = ("ais",) if measure == "log_z" else ("gibbs",)
        cells = [c for c in cells if rivals[0] in c["errors"]]
    hits = sum(3 * error(c, "dpp", measure) <= min(error(c, m, measure) for m in rivals) for c in cells)
    return f"{hits} of {len(cells)}" if cells else "–"


def fresh() -> str:
    """The diagnosis on kinds of fields on which nothing was chosen."""
    cells, rows = read_study("dpp_like_fresh")["cells"], []
    for kind in [*dict.fromkeys(c["kind"] for c in cells), "all"]:
        some = [c for c in cells if kind in (c["kind"], "all")]
        called = [c for c in some if c["dpp_like"]]
        rest = [c for c in some if not c["dpp_like"]]
        row = [kind, f"{len(called)} of {len(some)}", f"{sum(map(truly, called))} of {len(called)}"]
        row.append(f"{sum(not truly(c) for c in rest)} of {len(rest)}")
        for part in (called, rest):
            found = [c["errors"]["dpp"]["marginals"] for c in part]
            row.append(f"{np.mean(found):.4f}" if found else "–")
        rows.append(row)
    head = ["kind", "called DPP-like", "rightly", "others, rightly", "marginals off, called", "others"]
    return table(head, rows)


def costs() -> str:
    """What benchmarks/fields.py stored."""
    result = json.loads((PAGE.parent.parent / "benchmarks/results/fields.json").read_text(encoding="utf-8"))
    rows = [
        [name, f"{s:.1f}", f"{e:.4f}", f"{100 * missed:.0f} %"] for name, s, e, missed in result["tables"][0]["rows"]
    ]
    return table(["field", "seconds of one core", "standard error", "missed"], rows)


SECTIONS: dict[str, Callable[[], str]] = {"errors": errors, "thirds": thirds, "fresh": fresh, "costs": costs}


def filled(page: str) -> str:
    """The page with its sections made anew."""
    return re.sub(
        r"<!-- study:(\w+) -->\n.*?<!-- /study -->",
        lambda found: f"<!-- study:{found[1]} -->\n\n{SECTIONS[found[1]]()}\n\n<!-- /study -->",
        page,
        flags=re.DOTALL,
    )


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
