"""Compares ways to choose k items to label, by the accuracy of a classifier trained on them."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.cluster import MiniBatchKMeans
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score

from benchmarks.evidence.arguments import FILE
from benchmarks.evidence.page import mean_and_error, signed
from dpplearn import diversify
from dpplearn._checks import FloatArray, IntArray

SIZES = (20, 50, 150)
FIRST = 10  # items labelled at random, from which the entropy is estimated
SEEDS = 6
MOST = 1000  # items to choose from, before copies are added


class Pool(NamedTuple):
    """Items to choose from: rows of length 1, entropies as scores, and the first items, which have labels."""

    E: FloatArray
    scores: FloatArray
    first: IntArray


def texts(data: Path) -> tuple[FloatArray, IntArray]:
    """Arguments about 24 topics as LSA directions of their words; the class is the topic."""
    records = [json.loads(line) for line in (data / FILE).read_text(encoding="utf-8").strip().split("\n")]
    pairs = [(item["text"], record["topic"]) for record in records for item in record["items"]]
    rows = TfidfVectorizer(sublinear_tf=True, stop_words="english", min_df=2).fit_transform([text for text, _ in pairs])
    directions = min(64, rows.shape[1] - 1)
    X = TruncatedSVD(directions, random_state=0).fit_transform(rows)
    return X, np.unique([topic for _, topic in pairs], return_inverse=True)[1]


def with_copies(X: FloatArray, y: IntArray, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
    """Add one near-copy per item, three quarters of them of a tenth of the items, as in a repetitive collection."""
    n = len(y)
    repeated = rng.permutation(n)[: n // 10]
    source = np.where(rng.random(n) < 0.75, rng.choice(repeated, n), rng.integers(0, n, n))
    return np.vstack([X, X[source] + 0.02 * X.std() * rng.standard_normal(X.shape)]), np.append(y, y[source])


def k_center(pool: Pool, k: int, rng: np.random.Generator) -> IntArray:
    chosen = [int(rng.integers(len(pool.E)))]
    distance = 1 - pool.E @ pool.E[chosen[0]]
    while len(chosen) < k:
        chosen.append(int(distance.argmax()))
        np.minimum(distance, 1 - pool.E @ pool.E[chosen[-1]], out=distance)
    return np.array(chosen)


def k_medoids(pool: Pool, k: int, rng: np.random.Generator) -> IntArray:
    centers = MiniBatchKMeans(k, random_state=int(rng.integers(2**31)), n_init=1).fit(pool.E).cluster_centers_
    medoids = np.unique((centers @ pool.E.T).argmax(axis=1))
    rest = rng.permutation(np.setdiff1d(np.arange(len(pool.E)), medoids))
    return np.append(medoids, rest[: k - medoids.size])


def facility(pool: Pool, k: int, _rng: np.random.Generator) -> IntArray:
    from apricot import FacilityLocationSelection

    chooser = FacilityLocationSelection(k, metric="precomputed", optimizer="lazy")
    return np.asarray(chooser.fit(np.maximum(pool.E @ pool.E.T, 0)).ranking)


def entropy(pool: Pool, k: int, _rng: np.random.Generator) -> IntArray:
    rest = np.setdiff1d(np.argsort(-pool.scores, kind="stable"), pool.first, assume_unique=True)
    return np.append(pool.first, rest[: k - pool.first.size])


def by_dpp(scores: bool = False, kernel: str = "auto") -> Callable[[Pool, int, np.random.Generator], IntArray]:
    def choose(pool: Pool, k: int, _rng: np.random.Generator) -> IntArray:
        if scores:
            return diversify(pool.E, pool.scores, k, include=pool.first, kernel=kernel).subset
        return diversify(pool.E, k=k, kernel=kernel).subset

    return choose


WAYS: dict[str, Callable[[Pool, int, np.random.Generator], IntArray]] = {
    "random": lambda pool, k, rng: rng.permutation(len(pool.E))[:k],
    "k-means medoids": k_medoids,
    "k-center": k_center,
    "facility location (apricot)": facility,
    "entropy": entropy,
    "`diversify`": by_dpp(),
    '`diversify`, kernel="near"': by_dpp(kernel="near"),
    "`diversify`, entropy as scores": by_dpp(scores=True),
}


def accuracy(X: FloatArray, y: IntArray, chosen: IntArray, test: IntArray) -> float:
    """Balanced accuracy, on the test items, of a logistic regression trained on the chosen items."""
    guess = np.full(test.size, y[chosen[0]])
    if np.unique(y[chosen]).size > 1:
        guess = LogisticRegression(C=10, max_iter=200).fit(X[chosen], y[chosen]).predict(X[test])
    return float(balanced_accuracy_score(y[test], guess))


def measure(
    X: FloatArray, y: IntArray, copies: bool, seed: int, sizes: tuple[int, ...]
) -> dict[tuple[int, str], float]:
    """Accuracies in one split, by size and way."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    test, rest = order[: len(y) // 4], order[len(y) // 4 :][:MOST]
    X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 0.1 * X.std())
    P, labels = with_copies(X[rest], y[rest], rng) if copies else (X[rest], y[rest])
    E = (P / np.maximum(np.linalg.norm(P, axis=1, keepdims=True), 1e-12)).astype(np.float32)
    first = rng.permutation(len(P))[:FIRST]
    p = np.ones((len(P), 1))
    if np.unique(labels[first]).size > 1:  # with one class, every item is equally uncertain
        p = LogisticRegression(C=10, max_iter=200).fit(P[first], labels[first]).predict_proba(P)
    pool = Pool(E, -(p * np.log(np.maximum(p, 1e-12))).sum(axis=1), first)
    rows, classes = np.vstack([P, X[test]]), np.append(labels, y[test])
    test_rows = len(P) + np.arange(test.size)
    accuracies = {}
    for k in sizes:
        for way, choose in WAYS.items():
            if way.startswith("facility") and find_spec("apricot") is None:
                continue
            chosen = choose(pool, k, np.random.default_rng([seed, k]))
            accuracies[k, way] = accuracy(rows, classes, chosen, test_rows)
    return accuracies


def run(data: Path, pictures: Path, quick: bool = False) -> dict:
    sources = {"digits": load_digits(return_X_y=True), "breast cancer": load_breast_cancer(return_X_y=True)}
    missing = ""
    if (data / FILE).exists():
        sources["texts"] = texts(data)
    else:
        missing = f" {FILE} is not there, so that there are no texts."
    cases = {name: (*source, False) for name, source in sources.items()}
    cases |= {f"{name}, half of it near-copies": (*source, True) for name, source in sources.items()}
    seeds, sizes = (2, SIZES[:1]) if quick else (SEEDS, SIZES)
    rows, gains = [], {}
    for name, (X, y, copies) in cases.items():
        runs = Parallel(n_jobs=2)(delayed(measure)(X, y, copies, seed, sizes) for seed in range(seeds))
        for k in sizes:
            for way in dict.fromkeys(way for _, way in runs[0]):
                values = np.array([split[k, way] for split in runs])
                gains[name, k, way] = values - [split[k, "random"] for split in runs]
        for way in dict.fromkeys(way for _, way in runs[0]):
            row: list[object] = [name, way]
            for k in sizes:
                mean, error = mean_and_error([split[k, way] for split in runs])
                row += [f"{mean:.3f} ± {error:.3f}", "" if way == "random" else signed(gains[name, k, way])]
            rows.append(row)
        print(name, flush=True)
    draw(gains, list(cases), sizes, pictures / "evidence_choice.png")
    columns = ["data", "way", *(cell for k in sizes for cell in (f"k = {k}", "less random"))]
    return {
        "question": "Which k of N items should be labelled to train a classifier, and does a DPP find them?",
        "data": "Digits and breast cancer from scikit-learn (BSD), and arguments of ArgKP 2021 (Apache 2.0) as 64 "
        "directions of their words, whose class is the topic. Each is used as it is, and again with as many "
        f"near-copies added, most of them of one tenth of the items.{missing}",
        "protocol": f"Three quarters of the items, at most {MOST:,}, may be chosen; the others are the test set. The "
        f"table shows the balanced accuracy of a logistic regression trained on the k chosen items, over {seeds} "
        "splits, and its difference from a random choice, paired by split. Entropy is a noisy score: it comes from a "
        f"classifier of {FIRST} items drawn at random, which count among the k.",
        "answer": answer(gains, list(cases), sizes),
        "picture": (
            "evidence_choice.png",
            "Six panels: balanced accuracy above a random choice, by k and way to choose.",
        ),
        "tables": [{"title": "Balanced accuracy", "columns": columns, "rows": rows}],
        "notes": [] if find_spec("apricot") else ["apricot is not installed: facility location is left out."],
    }


def cases_by_k(cases: list[tuple[str, int]]) -> str:
    """Cases in words: each data set once, with its sizes."""
    sizes = {name: [str(k) for other, k in cases if other == name] for name, _ in cases}
    return "; ".join(f"{name} at k = {', '.join(ks)}" for name, ks in sizes.items())


def answer(gains: dict, cases: list[str], sizes: tuple[int, ...]) -> str:
    """The answer in words, from the figures."""
    ours = "`diversify`"
    better, worse = [], []
    for name in cases:
        for k in sizes:
            mean, error = mean_and_error(gains[name, k, ours])
            if abs(mean) > 2 * error:
                (better if mean > 0 else worse).append((name, k))
    best = [
        max((way for n, s, way in gains if (n, s) == (name, k)), key=lambda way: gains[name, k, way].mean())
        for name in cases
        for k in sizes
    ]
    count = {way: best.count(way) for way in sorted(set(best), key=best.count, reverse=True)}
    places = "; ".join(f"{way} {n}" for way, n in count.items())
    ahead = f"{len(better)} of {len(best)} cases" + (f" ({cases_by_k(better)})" if better else "")
    behind = f"in {len(worse)} ({cases_by_k(worse)})" if worse else "in none"
    return (
        f"`diversify` alone is better than a random choice in {ahead}, and worse {behind}. How often each way was "
        f"best: {places}."
    )


def draw(gains: dict, cases: list[str], sizes: tuple[int, ...], path: Path) -> None:
    from dpplearn.plots.style import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, TWO_COLUMNS, VERMILION, new_figure, style

    ways = [way for way in WAYS if way != "random" and any(way == w for _, _, w in gains)]
    colors = dict(zip(ways, (GREEN, ORANGE, PURPLE, GREY, BLUE, SKY, VERMILION), strict=False))
    with style():
        figure, axes = new_figure(TWO_COLUMNS, 4.2, rows=2, columns=(len(cases) + 1) // 2)
        for ax, name in zip(np.ravel(axes), cases, strict=False):
            for way in ways:
                means = [gains[name, k, way].mean() for k in sizes]
                ax.semilogx(
                    sizes, means, "o-", color=colors[way], markersize=3, linewidth=1, label=way.replace("`", "")
                )
            ax.axhline(0, color="black", linewidth=0.6)
            ax.set(title=name.replace("half of it ", ""), xticks=sizes, xticklabels=sizes)
            ax.minorticks_off()
        figure.supylabel("balanced accuracy above a random choice", fontsize=9)
        figure.legend(*np.ravel(axes)[0].get_legend_handles_labels(), loc="outside lower center", ncol=3)
        figure.savefig(path, dpi=160)
