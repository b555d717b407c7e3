"""Compares the time and memory of a fit with a learned similarity to those with a fixed one."""

from __future__ import annotations

import tracemalloc
import warnings
from time import process_time

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.timing import compare_pairs, main
from dpplearn import DPP, ConditionalDPP, ItemSet
from dpplearn.learning.similarity import Similarity

WEIGHTS = np.array([0.1, 0.2, 0.4, 0.15, 0.1, 0.05])  # of I, 11^T and four parts
MATRICES, MANY, FEW = "matrices", "40 features each", "5 features each"


def instances(
    T: int, n: int, widths: tuple[int, ...], weights: np.ndarray, theta: np.ndarray, seed: int, matrices: bool = False
) -> tuple[list[ItemSet], list[np.ndarray]]:
    """Sets drawn from a known mixture, whose parts are features, or their cosines as matrices."""
    rng = np.random.default_rng(seed)
    X, y, S = [], [], Similarity(tuple(f"part {j}" for j in range(len(widths))), weights)
    for _ in range(T):
        F = np.column_stack([np.ones(n), rng.standard_normal((n, theta.size - 1))])
        phi = {name: rng.standard_normal((n, d)) for name, d in zip(S.names, widths, strict=True)}
        x = ItemSet(F, phi=phi)
        y.append(DPP.from_quality(np.exp(F @ theta / 2), S.matrix(x)).sample(1, rng=rng)[0])
        X.append(ItemSet(F, S={p.name: p.cosines() for p in x.parts} if matrices else None,
                         phi=None if matrices else phi))  # fmt: skip
    return X, y


def problem(T: int, parts: str) -> tuple[list[ItemSet], list[np.ndarray]]:
    rng = np.random.default_rng(1)
    theta = np.concatenate([[-4.0], 0.7 * rng.standard_normal(7)])
    width = 5 if parts == FEW else 40
    return instances(T, 250, (width,) * 4, WEIGHTS, theta, 0, parts == MATRICES)


def fit(X: list[ItemSet], y: list[np.ndarray], **options: object) -> ConditionalDPP:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of weights at a bound, and of starts that disagree
        return ConditionalDPP(**options).fit(X, y)


def row(kind: str, parts: str, T: int, repeats: int) -> dict:
    """CPU seconds of a learned and a fixed fit, in turns; the first of each is not counted."""
    X, y = problem(T, parts)
    pairs = []
    for _ in range(repeats + 1):
        start = process_time()
        fit(X, y, similarity=kind)
        middle = process_time()
        fit(X, y, nugget=0.1)
        pairs.append((middle - start, process_time() - middle))
    return {
        "case": f"{kind}, {T} instances of 250 items, 4 parts ({parts})",
        "peer": "fixed",
        **compare_pairs(pairs[1:]),
    }


def peak(kind: str, parts: str, T: int) -> float:
    """Peak memory of the data and a fit, in MB."""
    tracemalloc.start()
    fit(*problem(T, parts), **({"nugget": 0.1} if kind == "fixed" else {"similarity": kind}))
    size = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return size / 1e6


def run(quick: bool = False) -> dict:
    T, repeats = (4, 1) if quick else (30, 3)
    cases = [("mixture", MATRICES), ("mixture", MANY), ("mixture", FEW)]
    with threadpool_limits(1):
        rows = [row(kind, parts, T, repeats) for kind, parts in cases]
        fixed = {parts: peak("fixed", parts, T) for parts in (MATRICES, MANY, FEW)}
        ratios = [(kind, parts, peak(kind, parts, T) / fixed[parts]) for kind, parts in cases]
    return {
        "name": "similarity",
        "title": "Learned similarities, one thread",
        "rows": rows,
        "figures": [
            {
                "case": f"{kind} over fixed: peak memory of data and fit, 4 parts ({parts})",
                "value": value,
                "unit": "x",
                "target": "<= 1.5",
            }
            for kind, parts, value in ratios
        ],
        "notes": [
            "CPU seconds, in turns, while the machine did other work. The ratio is the time of the fixed fit over that "
            "of the learned one. A mixture may take six times as long, a ratio of 0.17."
        ],
    }


if __name__ == "__main__":
    main(run)
