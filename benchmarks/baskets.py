"""Times kernels learned from baskets beside the published method, and measures their growth and memory.

The registries are not in the repository: `BASKETS_DATA` names the folder that holds registries_apparel.csv. Without it,
the row that needs it stays as the last run stored it. benchmarks/evidence/baskets.py measures how good the kernels are.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import numpy as np
from scipy import sparse

from benchmarks.evidence.baskets import FILES, read_split
from benchmarks.timing import RESULTS, compare_pairs, in_new_process, main, peak_memory
from dpplearn import KernelDPP
from dpplearn.baskets import Baskets


def made_up(n: int, size: int, seed: int = 0) -> sparse.csr_array:
    """Baskets of about four items, mostly from one topic of 20 items, whose first items are bought most often."""
    rng = np.random.default_rng(seed)
    sizes = 2 + rng.poisson(2.0, size)
    topic = np.repeat(rng.integers(0, max(n // 20, 1), size), sizes)
    items = np.minimum(20 * topic + np.minimum(rng.exponential(6.0, topic.size), 19).astype(np.int64), n - 1)
    stray = rng.random(items.size) < 0.1
    items[stray] = rng.integers(0, n, int(stray.sum()))
    X = sparse.csr_array((np.ones(items.size), items, np.append(0, np.cumsum(sizes))), shape=(size, n))
    X.sum_duplicates()
    X.data[:] = 1.0
    return X


def adam(
    train: list, held: Baskets, aim: float, limit: float, rank: int = 100, batch: int = 200
) -> tuple[float, float]:
    """Learn L = V V^T + B (D - D^T) B^T by Adam on batches; return the seconds and the log-likelihood reached.

    This is the method of Gartrell et al. (2019) in plain numpy, with their penalty on rows divided by counts. It stops
    when it reaches the aim, or at the limit in seconds.
    """
    from dpplearn import NonsymmetricDPP

    data = Baskets.read(train)
    rng, n, T = np.random.default_rng(0), data.n, len(train)
    x = [rng.uniform(0, 1, (n, rank)) / rank, rng.uniform(0, 1, (n, rank)) / rank, rng.normal(size=(rank, rank))]
    means, squares = [np.zeros_like(a) for a in x], [np.zeros_like(a) for a in x]
    baskets, penalty = [Y for Y in data.subsets if Y.size], 0.01 / data.subsets.inclusion_counts()[:, None]
    start, best, t = time.perf_counter(), -np.inf, 0
    while time.perf_counter() - start < limit:
        for low in range(0, T - batch + 1, batch):
            if low == 0:
                order = rng.permutation(len(baskets))
            V, B, D = x
            W = D - D.T
            L = V @ V.T + B @ W @ B.T + 1e-5 * np.eye(n)
            G = np.zeros((n, n))
            for k in order[low : low + batch]:
                Y = np.ix_(baskets[k], baskets[k])
                G[Y] += np.linalg.inv(L[Y]).T
            G = G / batch - np.linalg.inv(L + np.eye(n)).T
            inner = B.T @ G @ B
            gradients = [
                (G + G.T) @ V - penalty * V,
                G @ B @ W.T + G.T @ B @ W - penalty * B,
                inner - inner.T,
            ]
            t += 1
            for a, g, m, s in zip(x, gradients, means, squares, strict=True):
                m += 0.1 * (g - m)
                s += 0.001 * (g**2 - s)
                a += 0.01 * (m / (1 - 0.9**t)) / (np.sqrt(s / (1 - 0.999**t)) + 1e-8)
        V, B, D = x
        best = max(best, float(np.mean(NonsymmetricDPP(V, B, D).log_prob(held.subsets))))
        if best >= aim:
            break
    return time.perf_counter() - start, best


def against_adam(folder: Path, limit: float) -> dict:
    """The published method, until it reaches our held-out likelihood, or until the limit in seconds."""
    train, validation, _ = read_split(folder / FILES["apparel"])
    KernelDPP(nonsymmetric=True, alpha=1.0, max_iter=11, tol=1.0).fit(train)  # compiles the loops
    start = time.perf_counter()
    model = KernelDPP(nonsymmetric=True, alpha=1.0).fit(train)
    ours, aim = time.perf_counter() - start, model.score(validation)
    peer, reached = adam(train, Baskets.read(validation, model.items_), aim, limit)
    case = f"apparel, 12,670 baskets: to {aim:.2f} per validation basket (Adam reached {reached:.2f})"
    name = "Adam on batches of 200 in numpy, rank 100"
    return {"case": case, "peer": name, **compare_pairs([(ours, peer)]), "target": 10.0}


def growth(quick: bool) -> list[list]:
    """Seconds of one evaluation of the objective, where one size varies at a time."""
    from dpplearn.baskets.fit import objective, start_factors

    rows = []
    base = {"items": 1000, "rank": 30, "baskets": 20_000}
    grid = {"items": (100, 300, 1000, 3000, 10_000, 30_000), "rank": (10, 30, 100), "baskets": (2000, 20_000, 200_000)}
    for name, values in grid.items():
        for value in values[:2] if quick else values:
            n, r, size = ({**base, name: value}[key] for key in base)
            baskets = Baskets.read(made_up(n, size))
            shard = baskets.distinct
            factors = start_factors(baskets, r, 2 * (r // 2), False, 0)
            best = np.inf
            for _ in range(3):
                start = time.perf_counter()
                objective(shard, factors, 1.0, float(size))
                best = min(best, time.perf_counter() - start)
            rows.append([name, value, best])
            print(rows[-1], flush=True)
    return rows


def draw_growth(rows: list[list], path: Path) -> None:
    """Seconds of an evaluation against the number of items, the rank, and the number of baskets."""
    from dpplearn.plots.style import BLUE, TWO_COLUMNS, new_figure, style

    with style():
        figure, axes = new_figure(TWO_COLUMNS, 2.2, columns=3)
        for name, ax in zip(dict.fromkeys(row[0] for row in rows), axes, strict=True):
            ax.loglog(*zip(*[row[1:] for row in rows if row[0] == name], strict=True), "o-", color=BLUE)
            ax.set(xlabel=name, ylabel="s an evaluation" if name == "items" else "")
        figure.savefig(path, dpi=160)


def memory(n: int, size: int, rank: int, passes: int) -> None:
    """Fit made-up baskets in this process; print the seconds, the GB, and the gain over independent items as JSON."""
    X, held = made_up(n, size), made_up(n, 2000, seed=1)
    start = time.perf_counter()
    model = KernelDPP(rank, True, 1.0, max_iter=passes).fit(X)
    seconds = time.perf_counter() - start
    p = np.clip(np.asarray(X.sum(axis=0)).ravel() / size, 0.1 / size, 1)
    independent = float(np.log1p(-p).sum() + (held @ np.log(p / (1 - p))).mean())
    print(json.dumps({"seconds": seconds, "gigabytes": peak_memory() / 1e9, "gain": model.score(held) - independent}))


def run(quick: bool = False) -> dict:
    path = RESULTS / "baskets.json"
    result = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"rows": [], "tables": []}
    tables = {table["title"]: table for table in result["tables"]}
    folder = Path(os.environ["BASKETS_DATA"]) if "BASKETS_DATA" in os.environ else None
    if folder is not None:
        result["rows"] = [against_adam(folder, 10.0 if quick else 240.0)]
    title = "One evaluation on one core, made-up baskets (1,000 items, rank 30, 20,000 baskets unless stated)"
    tables[title] = {"title": title, "columns": ["varied", "value", "seconds"], "rows": growth(quick)}
    if not quick:
        draw_growth(tables[title]["rows"], RESULTS.parents[1] / "docs" / "assets" / "baskets_growth.png")
    n, size = (2000, 20_000) if quick else (100_000, 1_000_000)
    cost = in_new_process(f"from benchmarks.baskets import memory; memory({n}, {size}, 50, 1)")
    case = f"{n:,} items, rank 50, {size:,} made-up baskets, one pass:"
    figures = [
        {"case": f"{case} memory", "value": cost["gigabytes"], "unit": "GB", "target": "≤ 4"},
        {"case": f"{case} time", "value": cost["seconds"], "unit": "s"},
        {"case": f"{case} held-out log-likelihood above independent items", "value": cost["gain"], "unit": ""},
    ]
    notes = [
        "Adam's learning rate and penalty were not tuned. If it did not reach our likelihood, its time is its limit.",
        "docs/evidence.md has a study of how good the kernels are on the registries.",
    ]
    head = {"name": "baskets", "title": "Kernels from baskets"}
    return {**head, "rows": result["rows"], "figures": figures, "tables": list(tables.values()), "notes": notes}


if __name__ == "__main__":
    main(run)
