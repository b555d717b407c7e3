"""What a choice is worth: a classifier trained on k chosen items, and what the choice covers, against simpler ways.

`python -m benchmarks.worth [CORPUS.jsonl]`: with a corpus of clusters, also sentences, whose class is their cluster.
"""

# ruff: noqa: ARG001, ARG005  # ways and data sets have one signature each
from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.timing import write
from dpplearn import diversify

SHARES = (0.01, 0.05, 0.2)
SEEDS = 3


def unit(X: np.ndarray) -> np.ndarray:
    X = X - X.mean(axis=0)
    return (X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)).astype(np.float32)


def digits(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return X, y, np.zeros(len(y))


def mixture(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Twenty classes, the rarest 200 times rarer than the commonest, and 30 % near-duplicates of others; the score says
    little of what is worth."""
    rng = np.random.default_rng(seed)
    n, d, classes = 6000, 32, 20
    size = np.geomspace(1.0, 1 / 200, classes)
    y = rng.choice(classes, n, p=size / size.sum())
    X = 1.4 * rng.standard_normal((classes, d))[y] + rng.standard_normal((n, d))
    copies = rng.random(n) < 0.3
    source = rng.integers(0, n, n)
    X[copies] = X[source[copies]] + 0.02 * rng.standard_normal((copies.sum(), d))
    y[copies] = y[source[copies]]
    return X, y, rng.standard_normal(n)


def sentences(path: Path) -> Callable[[int], tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Sentences of clusters by tf-idf and an SVD; the class is the cluster."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts, label = [], []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
        for document in json.loads(line)["documents"]:
            found = [part.strip() for part in document["text"].splitlines() if len(part.split()) > 5]
            texts += found
            label += [number] * len(found)
    rows = TfidfVectorizer(sublinear_tf=True, min_df=2).fit_transform(texts)
    X = TruncatedSVD(64, random_state=0).fit_transform(rows)
    y = np.array(label)
    return lambda seed: (X, y, np.zeros(len(y)))


def k_center(E: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
    chosen = [int(rng.integers(len(E)))]
    distance = 1 - E @ E[chosen[0]]
    while len(chosen) < k:
        chosen.append(int(distance.argmax()))
        np.minimum(distance, 1 - E @ E[chosen[-1]], out=distance)
    return np.array(chosen)


def k_medoids(E: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
    from sklearn.cluster import MiniBatchKMeans

    centers = MiniBatchKMeans(k, random_state=int(rng.integers(2**31)), n_init=1).fit(E).cluster_centers_
    return fill(np.unique((centers.astype(np.float32) @ E.T).argmax(axis=1)), k, len(E), rng)


def facility(E: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
    S = np.maximum(E @ E.T, 0)
    best, chosen = np.zeros(len(E), np.float32), []
    gain = S.sum(axis=0)
    while len(chosen) < k:
        while True:  # lazy: gains only shrink
            j = int(gain.argmax())
            now = float(np.maximum(S[j] - best, 0).sum())
            if now >= gain[j] - 1e-4:
                break
            gain[j] = now
        chosen.append(j)
        np.maximum(best, S[j], out=best)
        gain[j] = -1
    return np.array(chosen)


def threshold(E: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
    """Deduplication: items in random order, none nearer than a threshold to one that was kept; that which leaves k."""
    order = rng.permutation(len(E))
    low, high, found = -1.0, 1.0, order[:k]
    for _ in range(12):
        middle, kept = (low + high) / 2, []
        near = np.full(len(E), -2.0, np.float32)
        for i in order:
            if near[i] < middle:
                kept.append(i)
                np.maximum(near, E @ E[i], out=near)
                if len(kept) > k:
                    break
        if len(kept) >= k:
            found, high = np.array(kept[:k]), middle
        else:
            low = middle
    return found


def fill(chosen: np.ndarray, k: int, n: int, rng: np.random.Generator) -> np.ndarray:
    rest = rng.permutation(np.setdiff1d(np.arange(n), chosen))
    return np.append(chosen, rest[: k - chosen.size])


WAYS: dict[str, Callable[..., np.ndarray]] = {
    "diversify": lambda E, s, k, rng: diversify(E, s, k).subset,
    'diversify, kernel="linear"': lambda E, s, k, rng: diversify(E, s, k, kernel="linear", nugget=1e-6).subset,
    'diversify, kernel="near"': lambda E, s, k, rng: diversify(E, s, k, kernel="near").subset,
    "random": lambda E, s, k, rng: rng.permutation(len(E))[:k],
    "top score": lambda E, s, k, rng: np.argsort(-s, kind="stable")[:k],
    "k-center": lambda E, s, k, rng: k_center(E, k, rng),
    "k-means medoids": lambda E, s, k, rng: k_medoids(E, k, rng),
    "facility location": lambda E, s, k, rng: facility(E, k, rng),
    "threshold": lambda E, s, k, rng: threshold(E, k, rng),
}


def measure(E: np.ndarray, X: np.ndarray, y: np.ndarray, chosen: np.ndarray, test: np.ndarray) -> tuple[float, ...]:
    """Accuracy and balanced accuracy on items not to choose from, classes found, largest gap, mean redundancy."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import balanced_accuracy_score

    found = np.unique(y[chosen])
    guess = np.full(test.size, found[0])
    if found.size > 1:
        guess = LogisticRegression(C=10, max_iter=300).fit(X[chosen], y[chosen]).predict(X[test])
    cosines = E[chosen] @ E[chosen].T
    np.fill_diagonal(cosines, -1)
    gap = 1 - max_cosine(E, E[chosen]).min()
    balanced = balanced_accuracy_score(y[test], guess)
    return float((guess == y[test]).mean()), float(balanced), found.size, float(gap), float(cosines.max(axis=1).mean())


def max_cosine(E: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    return np.concatenate([(E[a : a + 4096] @ chosen.T).max(axis=1) for a in range(0, len(E), 4096)])


def study(name: str, data: Callable[[int], tuple[np.ndarray, np.ndarray, np.ndarray]], seeds: int) -> list[dict]:
    found: dict[tuple[float, str], list[tuple[float, ...]]] = {}
    for seed in range(seeds):
        X, y, s = data(seed)
        rng = np.random.default_rng(seed)
        order = rng.permutation(len(y))
        test, pool = order[: len(y) // 4], order[len(y) // 4 :]
        X = (X - X.mean(axis=0)) / (X.std() + 1e-12)
        E = unit(X)[pool]
        for share in SHARES:
            k = max(2, round(share * pool.size))
            for way, choose in WAYS.items():
                start = time.process_time()
                chosen = choose(E, s[pool], k, np.random.default_rng(seed))
                seconds = time.process_time() - start
                every = np.append(pool, test)  # items numbered as in the pool, then those to test on
                values = measure(E, X[every], y[every], chosen, pool.size + np.arange(test.size))
                found.setdefault((share, way), []).append((*values, seconds))
                print(name, seed, share, way, np.round(found[share, way][-1], 3), flush=True)
    names = ("accuracy", "balanced", "classes", "gap", "redundancy", "seconds")
    return [
        {"data": name, "share": share, "way": way}
        | {key: float(value) for key, value in zip(names, np.mean(values, axis=0), strict=True)}
        | {"spread": float(np.std([one[1] for one in values]))}
        for (share, way), values in found.items()
    ]


COLUMNS = ("way", "accuracy", "balanced", "classes", "largest gap", "redundancy", "seconds")


def tables(rows: list[dict]) -> list[dict]:
    """A table for each data set and share of it."""
    keys = ("accuracy", "balanced", "classes", "gap", "redundancy", "seconds")
    cases = dict.fromkeys((row["data"], row["share"]) for row in rows)
    return [
        {
            "title": f"{data}, k = {100 * share:g} %",
            "columns": list(COLUMNS),
            "rows": [
                [row["way"], *(round(row[key], 3) for key in keys)]
                for row in rows
                if (row["data"], row["share"]) == (data, share)
            ],
        }
        for data, share in cases
    ]


def run(quick: bool = False, corpus: Path | None = None) -> dict:
    seeds = 1 if quick else SEEDS
    rows = study("digits", digits, seeds) + study("mixture", mixture, seeds)
    if corpus is not None:
        rows += study("sentences", sentences(corpus), seeds)
    notes = [
        "Items to choose from are three quarters of each data set; a logistic regression is trained on the chosen k "
        "and tested on the last quarter. Balanced accuracy counts each class the same. The scores of the mixture are "
        "noise, which diversify and top score follow; those of digits and sentences are equal.",
    ]
    return {"name": "worth", "title": "What a choice is worth", "rows": [], "tables": tables(rows), "notes": notes}


if __name__ == "__main__":
    paths = [Path(one) for one in sys.argv[1:] if not one.startswith("--")]
    print(write(run("--quick" in sys.argv, paths[0] if paths else None)))
