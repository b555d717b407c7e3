"""diversify of a million: ten and a hundred thousand items, against one product E @ E[:512].T, and its memory."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np

from benchmarks.timing import alternate, compared, seconds, write
from dpplearn import diversify

CENTERS = 1000


def clustered(n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """float32 embeddings around a thousand centers, and log-normal scores."""
    rng = np.random.default_rng(seed)
    centers = rng.standard_normal((CENTERS, d), dtype=np.float32)
    E = rng.standard_normal((n, d), dtype=np.float32)
    E *= 0.7
    for low in range(0, n, 100_000):
        part = E[low : low + 100_000]
        part += centers[rng.integers(0, CENTERS, len(part))]
    return E, rng.lognormal(0.0, 0.5, n)


def row(n: int, d: int, k: int, most: float, repeats: int) -> dict:
    E, scores = clustered(n, d)
    diversify(E[:2000], scores[:2000], d + 100)  # compiles
    pairs = [(seconds(lambda: diversify(E, scores, k)), seconds(lambda: E @ E[:512].T)) for _ in range(repeats)]
    times = compared(pairs)
    case = f"N = {n:,}, D = {d}, k = {k:,}, float32"
    return {"case": case, "peer": "the product E @ E[:512].T", **times, "target": round(1 / most, 2)}


def against_pyversity(n: int, d: int, k: int, repeats: int) -> dict:
    import pyversity

    E, scores = clustered(n, d)
    times = alternate(lambda: diversify(E, scores, k), lambda: pyversity.diversify(E, scores, k, "dpp", 0.5), repeats)
    return {"case": f"N = {n:,}, D = {d}, k = {k:,}, float32", "peer": "pyversity 0.2.0 (DPP)", **times, "target": 30.0}


MEMORY = """
import json, re, numpy as np
from pathlib import Path
from benchmarks.million import clustered
from dpplearn import diversify
warm = clustered(2000, {d})
diversify(*warm, {d} + 100)
# of this process alone: ru_maxrss would start from the parent's
peak = lambda: 1024 * int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
before = peak()
E, scores = clustered({n}, {d})
diversify(E, scores, {k})
print(json.dumps((peak() - before) / E.nbytes))
"""


def memory(n: int, d: int, k: int) -> dict:
    """Peak memory, embeddings and scores included, over that of the embeddings; on Linux, else NaN."""
    value = float("nan")
    if Path("/proc/self/status").exists():
        code = MEMORY.format(n=n, d=d, k=k)
        value = json.loads(
            subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        )
    case = f"N = {n:,}, D = {d}, k = {k:,}: peak memory over the embeddings'"
    return {"case": case, "value": value, "unit": "", "target": "≤ 1.2"}


def rounds(n: int, d: int, k: int, parts: int) -> dict:
    """What two rounds on Dask lose of log det L_Y against one, in percent."""
    from tempfile import TemporaryDirectory

    from dpplearn.decoding.asked import Asked, Each
    from dpplearn.decoding.rounds import Part, in_rounds, read_array

    E, scores = clustered(n, d)
    one = diversify(E, scores, k)
    with TemporaryDirectory() as folder:
        path = str(Path(folder) / "E.npy")
        np.save(path, E)
        ends = np.linspace(0, n, parts + 1).astype(int).tolist()
        pieces = [Part(a, b, read_array, (path, a, b), f"{a}") for a, b in pairwise(ends)]
        asked = Asked(k, None, 0.5, "greedy", 1.0, None, 0.01, None, None, {})
        two = in_rounds(pieces, d, scores, asked, Each(), n_jobs=2)
    value = 100 * (one.gains.sum() - two.gains.sum()) / abs(one.gains.sum())
    case = f"N = {n:,}, D = {d}, k = {k:,}: loss of log det in two rounds on Dask, {parts} parts"
    return {"case": case, "value": float(value), "unit": "%", "target": "≤ 1"}


def run(quick: bool = False) -> dict:
    n, repeats = (100_000, 2) if quick else (1_000_000, 3)
    rows = [
        row(n, 128, n // 100, 2.0, repeats),
        row(n, 384, n // 100, 3.0, repeats),
        row(n, 128, n // 10, 20.0, repeats),
    ]
    rows.append(against_pyversity(n // 10, 128, 100 if quick else 1000, 2))
    notes = [
        "The ratio is the product's time over ours: 0.5 is twice the time of the product. Embeddings in clusters "
        "around a thousand centers, log-normal scores; the nugget is the default, 1e-6.",
    ]
    figures = [memory(n, 128, n // 100), rounds(n, 128, n // 100, 16)]
    title = "Ten thousand of a million"
    return {"name": "million", "title": title, "rows": rows, "figures": figures, "notes": notes}


if __name__ == "__main__":
    result = run(quick="--quick" in sys.argv)
    print(write(result))
    for one in result["rows"]:
        spread = f"({one['ratio_low']:.2f} to {one['ratio_high']:.2f})"
        print(f"{one['case']:42s} {one['peer']:28s} {one['ratio']:8.2f} x  {spread}")
    for figure in result["figures"]:
        print(f"{figure['case']:78s} {figure['value']:8.3f}")
