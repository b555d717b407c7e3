"""Times the search for the best DPP of a pairwise field, to an error of 0.01 in its bound, as the items grow."""

from __future__ import annotations

from time import process_time

import numpy as np

from benchmarks.timing import main
from dpplearn.mrf import PairwiseMRF, approximate


def points(n: int) -> PairwiseMRF:
    """Points in the plane that repel their neighbours, some five each: DPP-like."""
    rng = np.random.default_rng(n)
    X = rng.random((n, 2))
    S = 0.95 * np.exp(-((X[:, None] - X) ** 2).sum(axis=2) * n) * (1 - np.eye(n))
    return PairwiseMRF(0.5 * rng.standard_normal(n), np.where(S > 1e-3, np.log1p(-(S**2)), 0.0))


def grid(n: int) -> PairwiseMRF:
    """Neighbours on a grid repel with weight -1: not DPP-like."""
    x, y = np.divmod(np.arange(n), int(np.ceil(np.sqrt(n))))
    near = np.abs(x[:, None] - x) + np.abs(y[:, None] - y) == 1
    return PairwiseMRF(0.5 * np.random.default_rng(n).standard_normal(n), -1.0 * near)


def run(quick: bool = False) -> dict:
    sizes = (20, 40) if quick else (50, 100, 200, 400)
    approximate(points(16))  # compiles the loops
    figures, rows = [], []
    for make in (points, grid):
        for n in sizes:
            start = process_time()
            approximation = approximate(make(n))
            used = process_time() - start
            error = approximation.log_normalizer.standard_error
            name = f"{make.__name__}, N = {n}"
            target = {"target": "≤ 60"} if n == 200 else {}
            figures.append({"case": f"{name}: seconds of one core", "value": used, "unit": "s", **target})
            print(f"{name}: {used:.1f} s", flush=True)
            rows.append([name, used, float(error), float(approximation.missed)])
    table = {
        "title": "Error of the bound, and share of the dependence that the DPP misses",
        "columns": ["field", "seconds", "standard error", "missed"],
        "rows": rows,
    }
    notes = ["CPU seconds of one core, with one BLAS thread, because the machine is shared."]
    title = "The best DPP of a pairwise field"
    return {"name": "fields", "title": title, "rows": [], "figures": figures, "tables": [table], "notes": notes}


if __name__ == "__main__":
    main(run)
