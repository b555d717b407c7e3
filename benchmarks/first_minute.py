"""Times the first minute on a machine: repeated calls in new processes that find no compiled loops."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from time import perf_counter

import numpy as np

import dpplearn
from benchmarks.timing import CLI, main

EXAMPLE = Path(dpplearn.__file__).parent / "summarize" / "data" / "example"
CALLS = 201  # the first, and 200 more
# For each case, the set-up and the call. The time of the first call includes imports and the set-up.
CASES = {
    "`diversify`, 1,000 × 64 float32, k = 10": (
        "E, q = rng.standard_normal((1000, 64)).astype(np.float32), rng.random(1000)",
        "from dpplearn import diversify; diversify(E, q, k=10)",
    ),
    "the same, pyversity 0.2.0 (DPP)": (
        "E, q = rng.standard_normal((1000, 64)).astype(np.float32), rng.random(1000)",
        "from pyversity import diversify; diversify(E, q, 10, 'dpp', 0.5)",
    ),
    "`DPP.sample`, 300 items": (
        "from dpplearn import DPP; X = rng.standard_normal((300, 40)); dpp = DPP(X @ X.T / 40)",
        "dpp.sample(rng=0)",
    ),
    "`KDPP.sample`, k = 10 of 300 items": (
        "from dpplearn import DPP, KDPP; X = rng.standard_normal((300, 40)); dpp = KDPP(DPP(X @ X.T / 40), 10)",
        "dpp.sample(rng=0)",
    ),
    "`LowRankDPP.sample`, 300 items": (
        "from dpplearn import LowRankDPP; dpp = LowRankDPP(rng.standard_normal((300, 40)) / 6)",
        "dpp.sample(rng=0)",
    ),
    "`NonsymmetricDPP.sample`, 300 items": (
        "from dpplearn import NonsymmetricDPP; V = rng.standard_normal((300, 6)) / 4; "
        "dpp = NonsymmetricDPP(V, V[::-1].copy(), rng.standard_normal((6, 6)))",
        "dpp.sample(rng=0)",
    ),
    "`summarize` of the example": (
        "from dpplearn.summarize import Cluster; cluster = Cluster.example()",
        "from dpplearn.summarize import Summarizer; Summarizer.load().summarize(cluster, 100)",
    ),
    "`ConditionalDPP().fit`, 30 sets of 40 items": (
        "from dpplearn import ItemSet; F, P = rng.standard_normal((30, 40, 5)), rng.standard_normal((30, 40, 8)); "
        "items = [ItemSet(f, phi=p) for f, p in zip(F, P)]; chosen = [np.argsort(-f[:, 0])[:5] for f in F]",
        "from dpplearn import ConditionalDPP; ConditionalDPP().fit(items, chosen)",
    ),
}
PROGRAM = """
import json, sys
from time import perf_counter
import numpy as np
rng = np.random.default_rng(0)
setup, call, count = json.loads(sys.argv[1])
code, seconds, start = compile(call, "call", "exec"), [], perf_counter()
exec(setup)
for _ in range(count):
    exec(code)
    seconds.append(perf_counter() - start)
    start = perf_counter()
print(json.dumps(seconds))
"""


def environment(cache: str) -> dict[str, str]:
    """The user's environment with an empty folder for compiled loops, and without the order to compile all loops."""
    inherited = {name: value for name, value in os.environ.items() if name != "DPPLEARN_COMPILE"}
    return {**inherited, "NUMBA_CACHE_DIR": cache, "OPENBLAS_NUM_THREADS": "1"}


def figures(name: str, setup: str, call: str, count: int) -> list[dict]:
    """The first call of a new process, and the median and the largest of the calls after it."""
    with tempfile.TemporaryDirectory() as cache:
        command = [sys.executable, "-c", PROGRAM, json.dumps([setup, call, count])]
        run = subprocess.run(command, check=True, capture_output=True, text=True, env=environment(cache))
    first, *others = json.loads(run.stdout)
    return [
        {"case": f"{name}: first call", "value": first, "unit": "s", **({} if "pyv" in name else {"target": 2.0})},
        {"case": f"{name}: median of {count - 1} more", "value": float(np.median(others)), "unit": "s"},
        {"case": f"{name}: largest of these", "value": max(others), "unit": "s"},
    ]


def seconds_until_ready() -> float:
    """Seconds until `dpplearn serve` answers; the server is then ended, before it compiles anything."""
    with tempfile.TemporaryDirectory() as cache:
        command, start = [*CLI, "serve", "--port", "0"], perf_counter()
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment(cache)) as server:
            assert server.stderr is not None
            with closing(server.stderr) as messages:
                line = messages.readline()
                spent = perf_counter() - start
                server.terminate()
                server.wait()
            if not re.match("Ready at", line):
                raise RuntimeError(f"dpplearn serve printed {line!r} where 'Ready at' was expected.")
        return spent


def command_seconds() -> float:
    """Seconds of `dpplearn summarize` on the example, from the start of Python to its end."""
    with tempfile.TemporaryDirectory() as cache:
        start = perf_counter()
        subprocess.run([*CLI, "summarize", str(EXAMPLE)], check=True, capture_output=True, env=environment(cache))
        return perf_counter() - start


def run(quick: bool = False) -> dict:
    count = 21 if quick else CALLS
    results = [figure for name, (setup, call) in CASES.items() for figure in figures(name, setup, call, count)]
    results += [
        {"case": "`dpplearn summarize` of the example, the whole command", "value": command_seconds(), "unit": "s"},
        {"case": "`dpplearn serve` until it answers", "value": seconds_until_ready(), "unit": "s"},
    ]
    return {
        "name": "first_minute",
        "title": "The first minute: nothing compiled on disk",
        "rows": [],
        "figures": results,
        "notes": [
            "Times by the clock. Each case is a new process whose folder of compiled loops is empty. The first call "
            "includes imports, except numpy's, and making the model.",
            "Loops of few steps run as Python, and a thread compiles those that take long (`dpplearn/_numba.py`); the "
            "answers are the same (`pytest tests/run/test_first_minute.py`).",
        ],
    }


if __name__ == "__main__":
    main(run)
