"""`python -m benchmarks evidence --data FOLDER [--only NAME ...]`: run the studies and write docs/evidence.md."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from benchmarks.evidence.page import page
from benchmarks.timing import write

ROOT = Path(__file__).parents[2]
STUDIES = {
    "diversification": "Learned diversification",
    "people": "Summaries and people",
    "baskets": "Baskets",
    "choice": "Data selection",
    "speed": "Speed",
    "coverage": "Standard errors",
}


def run_study(name: str, data: Path, results: Path, pictures: Path, quick: bool) -> dict:
    """What a study found, stored; or why it failed, which replaces nothing that was stored before."""
    try:
        found = import_module(f"benchmarks.evidence.{name}").run(data, pictures, quick)
    except Exception as error:  # whatever is missing here, the other studies go on
        if not isinstance(error, FileNotFoundError | ImportError):
            traceback.print_exc()
        reason = f"{type(error).__name__}: {error}".replace(str(data), "FOLDER").splitlines()[0]
        return {"title": STUDIES[name], "failed": reason}
    found |= {"name": name, "title": STUDIES[name]}
    write(found, results)
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="benchmarks evidence", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the corpora, with a README of their own")
    parser.add_argument("--only", nargs="+", choices=STUDIES, help="run these again, and no other")
    parser.add_argument("--quick", action="store_true", help="small runs, to see that everything works")
    parser.add_argument("--results", type=Path, default=ROOT / "benchmarks/results/evidence")
    parser.add_argument("--out", type=Path, default=ROOT / "docs/evidence.md")
    asked = parser.parse_args(arguments)
    pictures = asked.out.parent / "assets"
    pictures.mkdir(parents=True, exist_ok=True)
    failed: dict[str, str] = {}
    for name in asked.only or STUDIES:
        path = asked.results / f"{name}.json"
        if path.exists() and not asked.only:
            print(f"== {name}: kept, as {path} has it")
            continue
        print(f"== {name}", flush=True)
        found = run_study(name, asked.data, asked.results, pictures, asked.quick)
        if "failed" in found:
            failed[name] = found["failed"]
        print(f"   {found.get('answer') or 'failed: ' + found['failed']}", flush=True)
    asked.out.write_text(page(asked.results, STUDIES, failed), encoding="utf-8")
    print(f"The page is {asked.out}.")


if __name__ == "__main__":
    os.environ.setdefault("DPPLEARN_COMPILE", "always")
    main(sys.argv[1:])
