"""Ours and the peer, alternating, and the ratio of their times with its spread."""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from time import perf_counter

import numpy as np
import scipy

RESULTS = Path(__file__).parent / "results"


def alternate(
    ours: Callable[[], object],
    peer: Callable[[], object],
    repeats: int = 7,
    *,
    ours_count: int = 1,
    peer_count: int = 1,
) -> dict[str, float]:
    """Time both in turn; medians, and the median and quartiles of peer / ours over the repeats.

    The counts say how many units of work one call does; times are per unit. One call of each goes
    first, unmeasured: it compiles and warms.
    """
    ours()
    peer()
    return compared([(seconds(ours) / ours_count, seconds(peer) / peer_count) for _ in range(repeats)])


def compared(pairs: Sequence[tuple[float, float]]) -> dict[str, float]:
    """What a row says of pairs of times, ours and the peer's."""
    times = np.array(pairs)
    low, middle, high = np.quantile(times[:, 1] / times[:, 0], [0.25, 0.5, 0.75])
    mine, theirs = np.median(times, axis=0)
    return {
        "ours_s": float(mine),
        "peer_s": float(theirs),
        "ratio": float(middle),
        "ratio_low": float(low),
        "ratio_high": float(high),
    }


def seconds(call: Callable[[], object]) -> float:
    start = perf_counter()
    call()
    return perf_counter() - start


def write(result: dict, folder: Path = RESULTS) -> Path:
    """results/<name>.json, with the machine it was measured on."""
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
    """Write what was measured, and print it."""
    print(write(result))
    for row in result["rows"]:
        spread = f"({row['ratio_low']:.2f} to {row['ratio_high']:.2f})"
        print(f"{row['case']:42s} {row['peer']:42s} {row['ratio']:8.2f} x  {spread}")
    for figure in result.get("figures", []):
        print(f"{figure['case']:78s} {figure['value']:8.3f} {figure['unit']}")


def peak_memory() -> int:
    """Bytes that this process had in memory at its peak; on Linux. ru_maxrss would start from the parent's."""
    found = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())
    assert found is not None
    return 1024 * int(found[1])


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
