"""Runs the benchmarks, stores their results and writes README.md: `python -m benchmarks [--quick] [NAME ...]`.

`python -m benchmarks evidence --data FOLDER` runs the studies on real data instead, and writes docs/evidence.md.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from benchmarks.evidence.__main__ import main as run_evidence
from benchmarks.report import write_report

HERE = Path(__file__).parent
NAMES = sorted(path.stem for path in HERE.glob("*.py") if "\ndef run(" in path.read_text(encoding="utf-8"))


def main() -> None:
    if sys.argv[1:2] == ["evidence"]:
        run_evidence(sys.argv[2:])
        return
    parser = argparse.ArgumentParser(prog="benchmarks", description="Run the benchmarks; default: all of them.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(NAMES)}")
    parser.add_argument("--quick", action="store_true", help="small runs that are printed, but not stored")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(NAMES)
    if unknown:
        parser.error(f"no benchmark is called {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    for name in arguments.names or NAMES:  # one process each, so that no benchmark warms or slows another
        print(f"== {name}", flush=True)
        command = [sys.executable, "-m", f"benchmarks.{name}", *(["--quick"] if arguments.quick else [])]
        subprocess.run(command, cwd=HERE.parent, check=True)
    print(f"The tables are in {write_report()}.")


if __name__ == "__main__":
    main()
