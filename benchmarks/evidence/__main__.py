"""Runs the studies and writes docs/evidence.md: `python -m benchmarks evidence --data FOLDER [--only NAME ...]`."""

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
    """Run a study and store its result. If it fails, return the reason, and leave the stored result as it is."""
    try:
        study = import_module(f"benchmarks.evidence.{name}").run(data, pictures, quick)
    except Exception as error:  # the other studies go on
        if not isinstance(error, FileNotFoundError | ImportError):
            traceback.print_exc()
        reason = f"{type(error).__name__}: {error}".replace(str(data), "FOLDER").splitlines()[0]
        return {"title": STUDIES[name], "failed": reason}
    study |= {"name": name, "title": STUDIES[name]}
    write(study, results)
    return study


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="benchmarks evidence", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the corpora")
    parser.add_argument("--only", nargs="+", choices=STUDIES, help="run only these, even if they have a result")
    parser.add_argument("--quick", action="store_true", help="small runs, to see that everything works")
    parser.add_argument("--results", type=Path, default=ROOT / "benchmarks/results/evidence")
    parser.add_argument("--out", type=Path, default=ROOT / "docs/evidence.md")
    options = parser.parse_args(arguments)
    pictures = options.out.parent / "assets"
    pictures.mkdir(parents=True, exist_ok=True)
    failed: dict[str, str] = {}
    for name in options.only or STUDIES:
        path = options.results / f"{name}.json"
        if path.exists() and not options.only:
            print(f"== {name}: {path} has a result, which is kept")
            continue
        print(f"== {name}", flush=True)
        study = run_study(name, options.data, options.results, pictures, options.quick)
        if "failed" in study:
            failed[name] = study["failed"]
        print(f"   {study.get('answer') or 'failed: ' + study['failed']}", flush=True)
    options.out.write_text(page(options.results, STUDIES, failed), encoding="utf-8")
    print(f"The page is {options.out}.")


if __name__ == "__main__":
    os.environ.setdefault("DPPLEARN_COMPILE", "always")
    main(sys.argv[1:])
