"""Times dpplearn and a peer in turns, measures memory, and runs, stores and prints a benchmark."""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import scipy

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
CLI = [sys.executable, "-c", "from dpplearn.cli import main; main()"]


def alternate(
    ours: Callable[[], object],
    peer: Callable[[], object],
    repeats: int = 7,
    *,
    ours_count: int = 1,
    peer_count: int = 1,
) -> dict[str, float]:
    """Time both in turns; a row has the medians, and the median and quartiles of peer / ours.

    The counts say how many units of work one call does: times are per unit. The first call of each is not measured,
    because it compiles and warms up.
    """
    ours()
    peer()
    return compare_pairs([(seconds(ours) / ours_count, seconds(peer) / peer_count) for _ in range(repeats)])


def compare_pairs(pairs: Sequence[tuple[float, float]]) -> dict[str, float]:
    """The figures of a row from pairs of times, ours and the peer's."""
    times = np.array(pairs)
    low, middle, high = np.quantile(times[:, 1] / times[:, 0], [0.25, 0.5, 0.75])
    ours, peer = np.median(times, axis=0)
    return {
        "ours_s": float(ours),
        "peer_s": float(peer),
        "ratio": float(middle),
        "ratio_low": float(low),
        "ratio_high": float(high),
    }


def seconds(call: Callable[[], object]) -> float:
    start = perf_counter()
    call()
    return perf_counter() - start


def median_seconds(call: Callable[[], object], repeats: int) -> float:
    """The median time of a call; two unmeasured calls come first."""
    call(), call()
    return float(np.median([seconds(call) for _ in range(repeats)]))


def in_new_process(code: str, timeout: float | None = None) -> Any:
    """Run Python code in a new process, and return the JSON on the last line that it prints."""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True, timeout=timeout)
    return json.loads(done.stdout.splitlines()[-1])


class Cost(NamedTuple):
    """What a command took: seconds by the clock, CPU seconds, and its peak memory in GB."""

    seconds: float
    cpu: float
    memory: float


def command_cost(*arguments: str) -> Cost:
    """The cost of `dpplearn ARGUMENTS` in a new process, with one BLAS thread."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    start = perf_counter()
    process = subprocess.Popen([*CLI, *arguments], stdout=subprocess.DEVNULL, env=environment)
    _, status, used = os.wait4(process.pid, 0)
    elapsed = perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"dpplearn {arguments[0]} failed with exit status {process.returncode}.")
    return Cost(elapsed, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e9)


def peak_memory() -> int:
    """Peak memory of this process in bytes, on Linux (ru_maxrss would start at the parent's)."""
    field = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())
    assert field is not None
    return 1024 * int(field[1])


def main(run: Callable[[bool], dict], draw: Callable[[dict], object] | None = None) -> None:
    """Run a benchmark from the command line; store the result and draw its figure unless the run is quick."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="a small run that is printed, but not stored")
    quick = parser.parse_args().quick
    result = run(quick)
    if not quick:
        print(write(result))
        if draw is not None:
            draw(result)
    show(result)


def write(result: dict, folder: Path = RESULTS) -> Path:
    """Store a result as FOLDER/NAME.json, with the machine it was measured on."""
    folder.mkdir(parents=True, exist_ok=True)
    result["machine"] = {
        "date": date.today().isoformat(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "processor": processor(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
    }
    path = folder / f"{result['name']}.json"
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    temporary.replace(path)
    return path


def show(result: dict) -> None:
    """Print the rows, figures and tables of a result."""
    for row in result["rows"]:
        spread = f"({row['ratio_low']:.2f} to {row['ratio_high']:.2f})"
        print(f"{row['case']:78s} {row['peer']:42s} {row['ratio']:8.2f} x  {spread}")
    for figure in result.get("figures", []):
        print(f"{figure['case']:78s} {figure['value']:12.4g} {figure['unit']}")
    for table in result.get("tables", []):
        print(table["title"], "  ".join(table["columns"]), sep="\n  ")
        for row in table["rows"]:
            print(" ", *(f"{x:.4g}" if isinstance(x, float) else x for x in row), sep="  ")


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
