"""More items than directions: what a choice covers, its near-copies and its time."""

from __future__ import annotations

import sys
from time import process_time
from typing import NamedTuple

import numpy as np
from sklearn.cluster import MiniBatchKMeans
from threadpoolctl import threadpool_limits

from benchmarks.million import clustered as million
from benchmarks.timing import compared, show
from dpplearn import diversify

COPY = 0.99  # cosine of near-copies


def unit(X: np.ndarray) -> np.ndarray:
    X = X.astype(np.float32)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X


def clustered(n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Clusters with sizes by a power law; 5 % are near-copies."""
    count = max(10, n // 250)
    share = 1.0 / np.arange(1, count + 1)
    X = unit(rng.standard_normal((count, d)))[rng.choice(count, n, p=share / share.sum())]
    X = X + 0.7 * rng.standard_normal((n, d)) / d**0.5
    copies = rng.choice(n, n // 20, replace=False)
    X[copies] = X[rng.integers(0, n, copies.size)] + 0.02 * rng.standard_normal((copies.size, d)) / d**0.5
    return unit(X)


def uniform(n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    return unit(rng.standard_normal((n, d)))


def heavy(n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Student's t with two degrees of freedom, and scales that fall by a power law: few numbers make up a row."""
    return unit(rng.standard_t(2, (n, d)) * np.arange(1, d + 1) ** -0.5)


DATA = {"clustered": clustered, "uniform": uniform, "heavy": heavy}


def near(X: np.ndarray, scores: np.ndarray, k: int) -> np.ndarray:
    return diversify(X, scores, k, kernel="near").subset


def linear(X: np.ndarray, scores: np.ndarray, k: int) -> np.ndarray:
    return diversify(X, scores, k, kernel="linear", nugget=1e-6).subset


def medoids(X: np.ndarray, k: int) -> np.ndarray:
    """The items nearest to the centers of k-means; where one is nearest to several, there are fewer than k."""
    centers = unit(MiniBatchKMeans(k, n_init=1, random_state=0).fit(X).cluster_centers_)
    return np.unique(np.concatenate([(part @ X.T).argmax(axis=1) for part in np.array_split(centers, -(-k // 500))]))


class Worth(NamedTuple):
    """Largest cosine of items to a chosen one: mean, lowest percent and worst; and chosen items with a near-copy."""

    mean: float
    percent: float
    worst: float
    copies: int


def worth(X: np.ndarray, Y: np.ndarray) -> Worth:
    best = np.concatenate([(part @ X[Y].T).max(axis=1) for part in np.array_split(X, -(-len(X) // 2048))])
    copies = sum(
        int(((part @ X[Y].T > COPY).sum(axis=1) > 1).sum()) for part in np.array_split(X[Y], -(-len(Y) // 512))
    )
    return Worth(float(best.mean()), float(np.quantile(best, 0.01)), float(best.min()), copies)


def cpu(call) -> tuple[float, np.ndarray]:
    start = process_time()
    found = call()
    return process_time() - start, found


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
    """Equal scores."""
    times, table = [], []
    for name, n, d, ks in cases:
        X = DATA[name](n, d, np.random.default_rng(1))
        for k in ks:
            mine, chosen = cpu(lambda X=X, k=k: near(X, np.ones(len(X)), k))
            theirs, by_linear = cpu(lambda X=X, k=k: linear(X, np.ones(len(X)), k))
            random = [worth(X, np.random.default_rng(s).choice(n, k, replace=False)) for s in range(3)]
            found = [worth(X, chosen), Worth(*np.mean(random, axis=0)), worth(X, medoids(X, k)), worth(X, by_linear)]
            for field in Worth._fields:
                cells = [round(float(getattr(one, field)), 4) for one in found]
                table.append([name, n, d, k, field, *cells])
            case = f"{name}, N = {n:,}, D = {d}, k = {k:,}, equal scores"
            times.append({"case": case, "peer": "linear kernel", **compared([(mine, theirs)]), "target": 1.0})
            print(
                case,
                f"{mine:.2f} s, linear {theirs:.2f} s",
                *(tuple(round(float(x), 4) for x in one) for one in found),
                flush=True,
            )
    return times, table


def by_score(name: str, n: int, d: int, k: int, repeats: int) -> dict:
    """Log-normal scores, alternating."""
    X, scores = DATA[name](n, d, np.random.default_rng(1)), np.random.default_rng(0).lognormal(0.0, 0.5, n)
    pairs = [(cpu(lambda: near(X, scores, k))[0], cpu(lambda: linear(X, scores, k))[0]) for _ in range(repeats)]
    case = f"{name}, N = {n:,}, D = {d}, k = {k:,}, log-normal scores"
    return {"case": case, "peer": "linear kernel", **compared(pairs), "target": 1.0}


def of_a_million(n: int, k: int, repeats: int) -> dict:
    X, scores = million(n, 128)
    pairs = [(cpu(lambda: near(X, scores, k))[0], cpu(lambda: X @ X[:512].T)[0]) for _ in range(repeats)]
    case = f"clustered, N = {n:,}, D = 128, k = {k:,}, log-normal scores"
    return {"case": case, "peer": "the product E @ E[:512].T", **compared(pairs), "target": 0.5}


def run(quick: bool = False) -> dict:
    cases = [(name, 5000, d, (500,)) for name, _, d, _ in CASES[:5]] if quick else CASES
    with threadpool_limits(1):
        for d in {d for _, _, d, _ in cases}:
            linear(uniform(3000, d, np.random.default_rng(0)), np.ones(3000), 2 * d)  # compiles
        times, table = study(cases)
        times += [by_score(name, cases[3][1], 64, cases[3][3][-1] // 5 or 1, 3) for name in DATA]
        times.append(of_a_million(100_000 if quick else 1_000_000, 1000 if quick else 10_000, 2))
    notes = [
        "CPU seconds, one BLAS thread, alternating. The linear kernel has a nugget of 1e-6, to go past the rank.",
        "mean, percent (lowest 1 %) and worst: largest cosine of each of the N items to a chosen one. copies: chosen "
        "items with another one at a cosine above 0.99. Random: mean of three. Medoids: MiniBatchKMeans of sklearn "
        "and the item nearest to each center.",
    ]
    tables = [{"title": "Coverage and near-copies, equal scores", "columns": COLUMNS, "rows": table}]
    title = "More items than directions"
    return {"name": "near", "title": title, "rows": times, "tables": tables, "notes": notes}


if __name__ == "__main__":
    show(run(quick="--quick" in sys.argv))
