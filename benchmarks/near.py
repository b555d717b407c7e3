"""Compares kernels where k exceeds the dimensions: what a choice covers, its near-copies and its time."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import NamedTuple

import numpy as np
from sklearn.cluster import MiniBatchKMeans
from threadpoolctl import threadpool_limits

from benchmarks.million import clustered as million
from benchmarks.timing import compare_pairs, main
from dpplearn import diversify

COPY = 0.99  # cosine of near-copies


def unit(X: np.ndarray) -> np.ndarray:
    X = X.astype(np.float32)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X


def clustered(n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Clusters whose sizes follow a power law; 5 % of the items are near-copies."""
    count = max(10, n // 250)
    sizes = 1.0 / np.arange(1, count + 1)
    X = unit(rng.standard_normal((count, d)))[rng.choice(count, n, p=sizes / sizes.sum())]
    X = X + 0.7 * rng.standard_normal((n, d)) / d**0.5
    copies = rng.choice(n, n // 20, replace=False)
    X[copies] = X[rng.integers(0, n, copies.size)] + 0.02 * rng.standard_normal((copies.size, d)) / d**0.5
    return unit(X)


def uniform(n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    return unit(rng.standard_normal((n, d)))


def heavy(n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Student's t with two degrees of freedom and falling scales: a few large numbers dominate each row."""
    return unit(rng.standard_t(2, (n, d)) * np.arange(1, d + 1) ** -0.5)


DATA = {"clustered": clustered, "uniform": uniform, "heavy": heavy}


def near(X: np.ndarray, scores: np.ndarray, k: int) -> np.ndarray:
    return diversify(X, scores, k, kernel="near").subset


def linear(X: np.ndarray, scores: np.ndarray, k: int) -> np.ndarray:
    return diversify(X, scores, k, kernel="linear", nugget=1e-6).subset


def medoids(X: np.ndarray, k: int) -> np.ndarray:
    """The items nearest to the centers of k-means; fewer than k if an item is nearest to several centers."""
    centers = unit(MiniBatchKMeans(k, n_init=1, random_state=0).fit(X).cluster_centers_)
    return np.unique(np.concatenate([(part @ X.T).argmax(axis=1) for part in np.array_split(centers, -(-k // 500))]))


class Coverage(NamedTuple):
    """Largest cosine of each item to a chosen item (mean, lowest percent, worst), and chosen items with a near-copy."""

    mean: float
    percent: float
    worst: float
    copies: int


def coverage(X: np.ndarray, Y: np.ndarray) -> Coverage:
    best = np.concatenate([(part @ X[Y].T).max(axis=1) for part in np.array_split(X, -(-len(X) // 2048))])
    copies = sum(
        int(((part @ X[Y].T > COPY).sum(axis=1) > 1).sum()) for part in np.array_split(X[Y], -(-len(Y) // 512))
    )
    return Coverage(float(best.mean()), float(np.quantile(best, 0.01)), float(best.min()), copies)


def cpu_time(call: Callable[[], np.ndarray]) -> tuple[float, np.ndarray]:
    start = process_time()
    result = call()
    return process_time() - start, result


CASES = [
    ("clustered", 20_000, 8, (50, 2000)),
    ("uniform", 20_000, 8, (50, 2000)),
    ("heavy", 20_000, 8, (50, 2000)),
    ("clustered", 50_000, 64, (32, 100, 1000, 5000)),
    ("uniform", 50_000, 64, (100, 1000, 5000)),
    ("heavy", 50_000, 64, (32, 100, 1000, 5000)),
    ("clustered", 20_000, 768, (400, 1000, 2000)),
    ("uniform", 20_000, 768, (1000,)),
    ("heavy", 20_000, 768, (400, 1000, 2000)),
    ("clustered", 200_000, 64, (2000,)),
]
COLUMNS = ["data", "N", "D", "k", "measure", "near", "random", "k-means medoids", "linear"]


def study(cases: list) -> tuple[list[dict], list[list]]:
    """Times, and the table of coverage, for equal scores."""
    times, table = [], []
    for name, n, d, ks in cases:
        X = DATA[name](n, d, np.random.default_rng(1))
        for k in ks:
            near_s, by_near = cpu_time(lambda X=X, k=k: near(X, np.ones(len(X)), k))
            linear_s, by_linear = cpu_time(lambda X=X, k=k: linear(X, np.ones(len(X)), k))
            random = [coverage(X, np.random.default_rng(s).choice(n, k, replace=False)) for s in range(3)]
            by_random = Coverage(*np.mean(random, axis=0))
            results = [coverage(X, by_near), by_random, coverage(X, medoids(X, k)), coverage(X, by_linear)]
            for field in Coverage._fields:
                cells = [round(float(getattr(result, field)), 4) for result in results]
                table.append([name, n, d, k, field, *cells])
            case = f"{name}, N = {n:,}, D = {d}, k = {k:,}, equal scores"
            times.append({"case": case, "peer": "linear kernel", **compare_pairs([(near_s, linear_s)]), "target": 1.0})
            print(f"{case}: {near_s:.2f} s, linear {linear_s:.2f} s", flush=True)
    return times, table


def by_score(name: str, n: int, d: int, k: int, repeats: int) -> dict:
    """The row for log-normal scores, in turns."""
    X, scores = DATA[name](n, d, np.random.default_rng(1)), np.random.default_rng(0).lognormal(0.0, 0.5, n)
    pairs = [
        (cpu_time(lambda: near(X, scores, k))[0], cpu_time(lambda: linear(X, scores, k))[0]) for _ in range(repeats)
    ]
    case = f"{name}, N = {n:,}, D = {d}, k = {k:,}, log-normal scores"
    return {"case": case, "peer": "linear kernel", **compare_pairs(pairs), "target": 1.0}


def of_a_million(n: int, k: int, repeats: int) -> dict:
    X, scores = million(n, 128)
    pairs = [(cpu_time(lambda: near(X, scores, k))[0], cpu_time(lambda: X @ X[:512].T)[0]) for _ in range(repeats)]
    case = f"clustered, N = {n:,}, D = 128, k = {k:,}, log-normal scores"
    return {"case": case, "peer": "the product E @ E[:512].T", **compare_pairs(pairs), "target": 0.5}


def run(quick: bool = False) -> dict:
    cases = [(name, 5000, d, (500,)) for name, _, d, _ in CASES[:5]] if quick else CASES
    with threadpool_limits(1):
        for d in {d for _, _, d, _ in cases}:
            linear(uniform(3000, d, np.random.default_rng(0)), np.ones(3000), 2 * d)  # compiles
        times, table = study(cases)
        times += [by_score(name, cases[3][1], 64, cases[3][3][-1] // 5 or 1, 3) for name in DATA]
        times.append(of_a_million(100_000 if quick else 1_000_000, 1000 if quick else 10_000, 2))
    notes = [
        "CPU seconds with one BLAS thread, in turns. The linear kernel has a nugget of 1e-6, to go past its rank.",
        "For each of the N items, take the largest cosine to a chosen item: mean, percent (the lowest 1 %) and worst "
        "summarize these. copies counts the chosen items that have another chosen item at a cosine above 0.99. Random "
        "is the mean of three choices. Medoids are the items nearest to the centers of sklearn's MiniBatchKMeans.",
    ]
    tables = [{"title": "Coverage and near-copies, equal scores", "columns": COLUMNS, "rows": table}]
    title = "More items than directions"
    return {"name": "near", "title": title, "rows": times, "tables": tables, "notes": notes}


if __name__ == "__main__":
    main(run)
