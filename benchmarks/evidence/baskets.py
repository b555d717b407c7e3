"""Compares a kernel learned from baskets with counts and rules, on held-out items and whole baskets."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse

from dpplearn import KernelDPP
from dpplearn._checks import FloatArray, IntArray
from dpplearn.baskets import Baskets, completion

FILES = {"apparel": "registries_apparel.csv", "three categories": "registries_three.csv"}
TEST, SKIPPED = 2000, 300  # sizes of the test and the validation set, the first parts of a permutation
CURVE = (300, 1000, 3000, 10_000)
LEAST = 5  # baskets that must support a rule
OURS = {"DPP, symmetric": {}, "DPP, nonsymmetric": {"nonsymmetric": True}}


class Scores(NamedTuple):
    """A baseline that scores the next item by a function of the basket."""

    items_: list
    score: Callable[[IntArray], FloatArray]

    def next_scores(self, basket: IntArray) -> FloatArray:
        return self.score(basket)


def read_split(path: Path) -> tuple[list[list[int]], list[list[int]], list[list[int]]]:
    """Training, validation and test baskets, from a permutation with seed 0."""
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = [[int(x) for x in line.replace(",", " ").split()] for line in lines]
    test = min(TEST, len(rows) // 4)
    skipped = min(SKIPPED, len(rows) // 20)
    mixed = [rows[t] for t in np.random.default_rng(0).permutation(len(rows))]
    return mixed[test + skipped :], mixed[test : test + skipped], mixed[:test]


def counts_of(train: list) -> dict[str, Scores]:
    """The baselines: popularity, item–item counts, and association rules with one or two items on the left."""
    data = Baskets.read(train)
    X = sparse.csc_array(data.subsets.to_sparse().astype(np.float64))
    counts = np.asarray(X.sum(axis=0)).ravel()
    together = (X.T @ X).toarray()
    np.fill_diagonal(together, 0.0)
    conditional = (together + counts / len(train)) / (
        counts[:, None] + 1.0
    )  # P(j | i), smoothed by one basket drawn by popularity
    confidence = np.where(together >= LEAST, together / np.maximum(counts[:, None], 1.0), 0.0)
    by_pair: dict[tuple[int, int], FloatArray] = {}
    rows = X.tocsr()

    def pair(i: int, j: int) -> FloatArray:
        """P(item | both) where enough baskets have all three, else 0."""
        if (i, j) not in by_pair:
            both = np.intersect1d(X.indices[X.indptr[i] : X.indptr[i + 1]], X.indices[X.indptr[j] : X.indptr[j + 1]])
            with_both = np.asarray(rows[both].sum(axis=0)).ravel()
            by_pair[i, j] = np.where(with_both >= LEAST, with_both / max(both.size, 1), 0.0)
        return by_pair[i, j]

    def rules(J: IntArray) -> FloatArray:
        best = counts / counts.sum() * 1e-3  # by popularity where no rule applies
        for i in J.tolist():
            best = np.maximum(best, confidence[i])
        for i, j in combinations(sorted(J.tolist()), 2) if J.size <= 12 else ():
            best = np.maximum(best, pair(i, j))
        return best

    return {
        "popularity": Scores(data.items, lambda _J: counts),
        "item–item counts": Scores(data.items, lambda J: conditional[J].sum(axis=0) if J.size else counts),
        "association rules": Scores(data.items, rules),
    }


def independent(train: list, test: list) -> float:
    """Mean log-probability of test baskets under independent items."""
    data = Baskets.read(train)
    p = data.subsets.inclusion_counts() / len(train)
    seen = Baskets.read(test, data.items, unseen="drop")
    return float(np.log1p(-p).sum() + np.mean([np.log(p / (1 - p))[Y].sum() for Y in seen.subsets]))


def rows_of(name: str, train: list, test: list) -> tuple[list[list], dict[str, KernelDPP], list[list]]:
    """The table's row for each method, our models, and the learning curve."""
    models = {method: KernelDPP(**options).fit(train) for method, options in OURS.items()}
    rows = []
    for method, model in {**counts_of(train), **models}.items():
        ranks, last = completion(model, test), completion(model, [sorted(basket) for basket in test], "last")
        likelihood: object = ranks.log_likelihood if method in models else "none"
        if method == "popularity":
            likelihood = independent(train, test)
        auc: object = ranks.auc if method in models else "none"
        mpr = [f"{result.mpr:.1f} ± {result.mpr_error:.1f}" for result in (ranks, last)]
        rows.append([name, method, *mpr, f"{100 * ranks.recall[10]:.1f}", auc, likelihood])
    curve = []
    for size in (*(n for n in CURVE if n < len(train)), len(train)):
        part = train[:size]
        models_of_part = {**counts_of(part), "DPP, nonsymmetric": KernelDPP(nonsymmetric=True, alpha=1.0).fit(part)}
        curve.append([name, size, *(completion(model, test).mpr for model in models_of_part.values())])
        print(curve[-1], flush=True)
    return rows, models, curve


def pairs_of(name: str, model: KernelDPP) -> list[list]:
    together = model.together(k=5)
    return [
        [name, kind, f"{p.first} and {p.second}", f"{p.correlation:+.3f}", int(p.baskets), f"{p.lift:.2f}"]
        for kind, pairs in (("attract", together.attract), ("repel", together.repel))
        for p in pairs
    ]


def run(data: Path, pictures: Path, _quick: bool = False) -> dict:
    rows, curves, pairs, sizes = [], [], [], []
    for name, file in FILES.items():
        train, _, test = read_split(data / file)
        part, models, curve = rows_of(name, train, test)
        rows, curves, pairs = rows + part, curves + curve, pairs + pairs_of(name, models["DPP, nonsymmetric"])
        sizes.append(f"{name}: {len(train):,} to learn from, {len(test):,} to test")
    draw(curves, pictures / "evidence_baskets.png")
    methods = ["popularity", "item–item counts", "association rules", "DPP, nonsymmetric"]
    return {
        "question": "Does a kernel learned from baskets predict the next item and whole baskets better than counts?",
        "data": "Baby registries (Gillenwater et al. 2014; copy of an MIT repository), 100 and 300 items by "
        f"number, without names; {'; '.join(sizes)}.",
        "protocol": "One item of each test basket is held out, either at random or the last in sorted order, and "
        "ranked given the others. MPR is its mean percentile rank (50 by chance) with a standard error; 'first ten' "
        "is how often it is among the first ten, in percent. AUC compares real baskets with random sets of the same "
        "sizes. The log-likelihood is per basket; for popularity it is that of independent items. The prior of a "
        "kernel is chosen within the training data. A rule has one or two items on its left and was seen in at "
        f"least {LEAST} baskets.",
        "answer": answer(rows),
        "picture": (
            "evidence_baskets.png",
            "Two panels: mean percentile rank against the number of baskets, for four methods.",
        ),
        "tables": [
            {
                "title": "Held-out items and baskets",
                "columns": ["registry", "method", "MPR, any", "MPR, last", "first ten, %", "AUC", "log-likelihood"],
                "rows": rows,
            },
            {
                "title": "MPR (any item) by the number of baskets",
                "columns": ["registry", "baskets", *methods],
                "rows": curves,
            },
            {
                "title": "Pairs that the nonsymmetric kernel finds",
                "columns": ["registry", "pairs that", "items", "correlation", "baskets with both", "lift"],
                "rows": pairs,
            },
        ],
        "notes": [
            "Published MPR of the last item, for an order and a split that we do not know: apparel 62.6 symmetric and "
            "72.2 nonsymmetric, three categories 61.0 and 74.1. On apparel the authors' own code gives 71.4 and 71.8 "
            "(with two learning rates), an AUC of 0.63 and 0.62 where 0.77 was published, and log-likelihoods of "
            "-9.59 and -9.61 on its own split ([Learning from baskets](baskets.md#how-good-it-is)).",
        ],
    }


def answer(rows: list[list]) -> str:
    """The answer in words, from the figures."""
    parts, ahead = [], 0
    for name in dict.fromkeys(row[0] for row in rows):
        mpr = {row[1]: float(row[2].split()[0]) for row in rows if row[0] == name}
        gain = {row[1]: row[6] for row in rows if row[0] == name}
        best = max(mpr, key=lambda method: mpr[method])
        parts.append(
            f"on {name}, {best} reach MPR {mpr[best]:.1f}, the nonsymmetric DPP {mpr['DPP, nonsymmetric']:.1f} and "
            f"popularity {mpr['popularity']:.1f}; the nonsymmetric DPP gains "
            f"{gain['DPP, nonsymmetric'] - gain['popularity']:.2f} in log-likelihood per basket on independent items, "
            f"the symmetric one {gain['DPP, symmetric'] - gain['popularity']:.2f}"
        )
        ahead += best in OURS
    verdict = (
        "Counts rank the next item better" if not ahead else f"A DPP ranks the next item best in {ahead} registries"
    )
    figures = ". ".join(text[0].upper() + text[1:] for text in parts)
    return f"{verdict}; only a kernel gives whole baskets a probability. {figures}."


def draw(curves: list[list], path: Path) -> None:
    from dpplearn.plots.style import BLACK, BLUE, GREY, TWO_COLUMNS, VERMILION, new_figure, style

    labels = ("popularity", "item–item counts", "association rules", "DPP, nonsymmetric")
    with style():
        figure, axes = new_figure(TWO_COLUMNS, 2.4, columns=2)
        for ax, name in zip(axes, FILES, strict=True):
            rows = [row for row in curves if row[0] == name]
            for m, (label, color) in enumerate(zip(labels, (GREY, BLACK, VERMILION, BLUE), strict=True)):
                ax.semilogx(
                    [row[1] for row in rows], [row[2 + m] for row in rows], "o-", color=color, label=label, markersize=3
                )
            ax.set(title=name, xlabel="baskets", ylabel="MPR of a held-out item" if ax is axes[0] else "")
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncol=4)
        figure.savefig(path, dpi=160)
