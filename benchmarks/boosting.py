"""Trees for a quality: a fit beside the log-linear one, and what trees learn."""

from __future__ import annotations

import sys
from time import process_time

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.timing import write
from dpplearn import DPP, ConditionalDPP, ItemSet

NUGGET = 0.1


def instances(T: int, n: int, kind: str, seed: int = 0) -> tuple[list[ItemSet], list[np.ndarray]]:
    """Ten features, of which two or three count: as a linear score, with a bend, or by the sign of a product."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(T):
        F = np.column_stack([np.ones(n), rng.standard_normal((n, 9))])
        score = {
            "linear": F[:, 1] + F[:, 2],
            "bent": F[:, 1] + np.abs(F[:, 2]),
            "product": 2 * np.sign(F[:, 1] * F[:, 2]),
        }
        X.append(ItemSet(F, phi=rng.random((n, 30))))
        q = np.exp((score[kind] - 2) / 2)
        y.append(DPP.from_quality(q, X[-1].similarity_matrix(nugget=NUGGET)).sample(1, rng=rng)[0])
    return X, y


def model(**options: object) -> ConditionalDPP:
    return ConditionalDPP(nugget=NUGGET, **options)


def ratio_of_fits(T: int, repeats: int) -> tuple[float, float, float]:
    """CPU time of a boosted fit over that of a linear one, and seconds of each."""
    X, y = instances(T, 80, "bent")
    times = []
    for _ in range(repeats + 1):
        start = process_time()
        model().fit(X, y)
        middle = process_time()
        model(quality="boosted").fit(X, y)
        times.append((middle - start, process_time() - middle))
    linear, boosted = np.array(times[1:]).T  # the first compiles
    return float(np.median(boosted / linear)), float(np.median(linear)), float(np.median(boosted))


def held_out(quick: bool) -> list[list[object]]:
    """Mean log-likelihood of 200 held-out instances of 20 items."""
    rows = []
    for kind in ("linear", "bent", "product"):
        test = instances(200, 20, kind, seed=1)
        for T in (50,) if quick else (50, 250, 1000):
            train = instances(T, 20, kind, seed=2)
            linear, boosted = model().fit(*train), model(quality="boosted").fit(*train)
            rows.append([kind, T, linear.score(*test), boosted.score(*test), boosted.n_iter_])
    return rows


def run(quick: bool = False) -> dict:
    repeats = 1 if quick else 3
    with threadpool_limits(1):
        ratio, linear, boosted = ratio_of_fits(50 if quick else 250, repeats)
        table = held_out(quick)
    return {
        "name": "boosting",
        "title": "Trees for a quality, one thread",
        "rows": [],
        "figures": [
            {
                "case": "boosted fit over linear fit, 250 instances of 80 items, 100 trees at most",
                "value": ratio,
                "unit": "x",
                "target": "<= 20",
            },
            {"case": "the linear fit", "value": linear, "unit": "s"},
            {"case": "the boosted fit", "value": boosted, "unit": "s"},
        ],
        "tables": [
            {
                "title": "Log-likelihood of a held-out instance: 20 items, ten features, of which two count",
                "columns": ["score", "instances to learn from", "log-linear", "boosted", "trees"],
                "rows": table,
            }
        ],
        "notes": [
            "Scores: f1 + f2; f1 + |f2|; 2 sign(f1 f2). Processor time, alternating; the same machine does other work."
        ],
    }


if __name__ == "__main__":
    result = run(quick="--quick" in sys.argv)
    print(write(result))
    for figure in result["figures"]:
        print(f"{figure['case']:60s} {figure['value']:8.2f} {figure['unit']}")
    for line in result["tables"][0]["rows"]:
        print(line)
