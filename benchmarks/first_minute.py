"""The first minute on a machine: nothing compiled is on disk, and each thing is done in a new process."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import psutil

import dpplearn
from benchmarks.timing import compared, write

CLI = [sys.executable, "-c", "from dpplearn.cli import main; main()"]
EXAMPLE = Path(dpplearn.__file__).parent / "summarize" / "data" / "example"
DIVERSIFY = """
import numpy as np
from dpplearn import diversify
rng = np.random.default_rng(0)
diversify(rng.standard_normal((100, 384)), rng.random(100), k=10)
"""


def environment(cache: str) -> dict[str, str]:
    """The user's, without what tells loops to be compiled, and with a folder for compiled loops."""
    kept = {name: value for name, value in os.environ.items() if name != "DPPLEARN_COMPILE"}
    return {**kept, "NUMBA_CACHE_DIR": cache, "OPENBLAS_NUM_THREADS": "1"}


def first(command: list[str]) -> float:
    """Seconds of work of a command that finds nothing compiled."""
    with tempfile.TemporaryDirectory() as cache:
        return work(command, environment(cache))


def work(command: list[str], env: dict[str, str] | None = None) -> float:
    """Processor time of a command: one thread, which waits for nothing, on a machine where others work too."""
    before = os.times()
    subprocess.run(command, check=True, capture_output=True, env=env)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def ready() -> float:
    """Processor time until `dpplearn serve` answers; it is ended before it has compiled anything."""
    with tempfile.TemporaryDirectory() as cache:
        command = [*CLI, "serve", "--port", "0"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment(cache)) as server:
            assert server.stderr is not None
            with closing(server.stderr) as said:
                line = said.readline()
                spent = psutil.Process(server.pid).cpu_times()
                server.terminate()
                server.wait()
            if not re.match("Ready at", line):
                raise RuntimeError(f"dpplearn serve said {line!r}")
        return spent.user + spent.system


def row(case: str, ours: Callable[[], float], most: float, repeats: int) -> dict:
    """A row, beside an import of scikit-learn; `most` is what was asked for, in seconds."""

    def peer() -> float:
        return work([sys.executable, "-c", "import sklearn.linear_model"])

    pairs = [(ours(), peer()) for _ in range(repeats)]
    return {"case": f"{case} (asked for: {most:g} s)", "peer": "import sklearn.linear_model", **compared(pairs)}


def run(quick: bool = False) -> dict:
    repeats = 1 if quick else 3
    summarize = [*CLI, "summarize", str(EXAMPLE)]
    return {
        "name": "first_minute",
        "title": "The first minute: nothing compiled on disk",
        "rows": [
            row("`dpplearn summarize` of the example", lambda: first(summarize), 4.0, repeats),
            row("the same, `--decoder greedy`", lambda: first([*summarize, "--decoder", "greedy"]), 4.0, repeats),
            row("`diversify`, 100 × 384 numbers", lambda: first([sys.executable, "-c", DIVERSIFY]), 1.5, repeats),
            row("`dpplearn serve` until it answers", ready, 3.0, repeats),
        ],
        "notes": [
            "Processor time of a new process, imports included; the folder of compiled loops is empty.",
            "Loops of few steps run uncompiled (`dpplearn/_numba.py`), with the same answers "
            "(`pytest tests/run/test_first_minute.py`).",
        ],
    }


if __name__ == "__main__":
    result = run(quick="--quick" in sys.argv)
    print(write(result))
    for one in result["rows"]:
        print(f"{one['case']:70s} {one['ours_s']:6.2f} s  {one['ratio']:6.2f} x")
