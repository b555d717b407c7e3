"""Writes README.md from results/*.json; nothing on that page is written by hand."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.timing import RESULTS

HEAD = """# Benchmarks

`make bench` writes this page from `results/*.json`; do not edit it. dpplearn ("ours") and its peer run in the same
process, in turns. The ratio is the peer's time divided by ours: the median over the repeats, with its quartiles. The
machine is shared, so that ratios mean more than times.
"""


def duration(s: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if s * factor >= 1:
            return f"{s * factor:.3g} {unit}"
    return f"{s * 1e9:.3g} ns"


def number(x: float) -> str:
    return f"{x:,.0f}" if abs(x) >= 1000 else f"{x:.3g}"


def ratio(x: float) -> str:
    return f"{x:.0f}" if x >= 100 else f"{x:.1f}" if x >= 10 else f"{x:.2f}"


def section(result: dict) -> str:
    machine = result["machine"]
    lines = [f"## {result['title']}", ""]
    if result["rows"]:
        lines.append("| case | ours | peer | peer's time | ratio | quartiles | target |")
        lines.append("|---|--:|---|--:|--:|--:|--:|")
    for row in result["rows"]:
        target = f"≥ {row['target']:g}" if row.get("target") is not None else ""
        spread = f"{ratio(row['ratio_low'])} – {ratio(row['ratio_high'])}"
        lines.append(
            f"| {row['case'].replace('|', chr(92) + '|')} | {duration(row['ours_s'])} | {row['peer']} | "
            f"{duration(row['peer_s'])} | **{ratio(row['ratio'])}** | {spread} | {target} |"
        )
    if result.get("figures"):
        lines += [""] * bool(result["rows"]) + ["| figure | value | target |", "|---|--:|--:|"]
        for figure in result["figures"]:
            case = figure["case"].replace("|", "\\|")
            lines.append(f"| {case} | {number(figure['value'])} {figure['unit']} | {figure.get('target') or ''} |")
    for table in result.get("tables", []):
        lines += ["", f"**{table['title']}**", "", "| " + " | ".join(table["columns"]) + " |"]
        lines.append("|" + "---|" * len(table["columns"]))
        for row in table["rows"]:
            cells = [f"{x:.4g}" if isinstance(x, float) else str(x) for x in row]
            lines.append("| " + " | ".join(cells) + " |")
    lines += ["", *(f"- {note}" for note in result.get("notes", []))]
    lines.append(
        f"- Measured {machine['date']} on {machine['cores']} cores ({machine['processor']}), "
        f"Python {machine['python']}, numpy {machine['numpy']}, scipy {machine['scipy']}."
    )
    return "\n".join(lines)


def page() -> str:
    """The whole page, which docs/benchmarks.md includes; a test compares it with the file."""
    results = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(RESULTS.glob("*.json"))]
    return HEAD + "\n" + "\n\n".join(section(result) for result in results) + "\n"


def write_report() -> Path:
    path = RESULTS.parent / "README.md"
    path.write_text(page(), encoding="utf-8")
    return path


if __name__ == "__main__":
    print(write_report())
