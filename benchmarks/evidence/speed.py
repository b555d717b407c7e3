"""Collects the stored benchmark results against peers into one table. Nothing is timed here."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.timing import RESULTS

PEERS = (
    "DPPy",
    "pyversity",
    "LangChain",
    "submodlib",
    "apricot",
    "Algorithm 1",
    "rouge-score",
    "rouge-metric",
    "py-rouge",
)
SHOWN = ("sampling", "decoding", "selection", "learning", "rouge")


def run(_data: Path, _pictures: Path, _quick: bool = False) -> dict:
    found = {name: json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8")) for name in SHOWN}
    rows, machines = [], dict[str, None]()
    for name, result in found.items():
        machine = result["machine"]
        machines[f"{machine['processor']}, {machine['cores']} cores, {machine['date']} (`{name}`)"] = None
        for row in result["rows"]:
            if not any(peer in row["peer"] for peer in PEERS):
                continue  # a bound, such as the time of one product
            quartiles = f"{row['ratio_low']:.3g} to {row['ratio_high']:.3g}"
            rows.append([name, row["case"].replace("|", "\\|"), row["peer"], f"{row['ratio']:.3g}", quartiles])
    slower = [row for row in rows if float(row[3]) < 1]
    return {
        "question": "How fast are sampling, decoding, selection, learning and ROUGE beside what people use today?",
        "data": "Stored results of `make bench`: "
        + "; ".join(machines)
        + ". All rows of one benchmark were measured on one day, on one commit and one machine.",
        "protocol": "Ours and the peer ran in the same process, alternating. The ratio is the peer's time divided by "
        "ours; the table shows its median over the repeats and its quartiles. Nothing is timed when this page is "
        "written.",
        "answer": f"Ours is faster in {len(rows) - len(slower)} of {len(rows)} comparisons"
        + (
            f". It is slower in {'; '.join(f'{row[1]} against {row[2]} ({row[3]} times as fast)' for row in slower)}."
            if slower
            else "."
        ),
        "tables": [
            {"title": "Times faster", "columns": ["benchmark", "case", "peer", "ratio", "quartiles"], "rows": rows}
        ],
        "notes": ["[Benchmarks](benchmarks.md) has the times themselves, and how they grow with the problem."],
    }
