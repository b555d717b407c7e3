"""Search for "apple": learn from labelled result lists to cover what the user may have meant.

Every query has several intents (fruit, computers, records ...), some with many more documents than others. Editors
saw the documents' true relevance and intents, and chose a few of each. Four systems, which see features and
embeddings only, are trained on such lists and compared on new queries:

- relevance: logistic regression of being chosen, best first;
- MMR: the same scores as relevance, with its lambda;
- LR+DPP: the same weights as qualities of a DPP, q_i^2 = p_i / (1 - p_i), with its diversity;
- learned DPP: the weights of the DPP by maximum likelihood (ConditionalDPP), with its diversity.

The knob of each of the last three is set to what gives the best alpha-nDCG@10 on the training queries.

Prints the table of docs/search.md and writes its figure.

    python scripts/search_study.py --out search.png
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.stats import t as student
from sklearn.linear_model import LogisticRegression

from dpplearn import DPP, ConditionalDPP, ItemSet
from dpplearn.decoding import greedy_map

NAMES = ["constant", "text match", "popularity", "freshness", "spam", "length"]
USEFUL = np.array([0.0, 1.5, 1.0, 0.5, -1.5, 0.0])  # what makes a document relevant; the systems do not see it
N_DOCUMENTS, N_DIMENSIONS, DEPTH, ALPHA = 40, 32, 10, 0.5
GRID = np.linspace(0, 1, 21)  # of lambda and of diversity
SYSTEMS = ["relevance", "MMR", "LR+DPP", "learned DPP"]


class Query(NamedTuple):
    """What systems see (items), and what only editors and judges do (intents, relevance)."""

    items: ItemSet
    intents: np.ndarray
    relevant: np.ndarray
    chosen: np.ndarray


def draw_query(rng: np.random.Generator) -> Query:
    """Three to six intents; the first may have most of the documents, and popular ones."""
    n_intents = int(rng.integers(3, 7))
    share = np.sort(rng.dirichlet(np.ones(n_intents)))[::-1]
    intents = rng.choice(n_intents, N_DOCUMENTS, p=share)
    F = np.column_stack([np.ones(N_DOCUMENTS), rng.standard_normal((N_DOCUMENTS, len(NAMES) - 1))])
    F[:, 2] += 1.5 * (share[intents] - share.mean())  # a document of a popular intent is popular
    relevant = rng.random(N_DOCUMENTS) < 1 / (1 + np.exp(1.0 - F @ USEFUL))
    centers = rng.standard_normal((n_intents, N_DIMENSIONS))
    phi = centers[intents] + 0.7 * rng.standard_normal((N_DOCUMENTS, N_DIMENSIONS))
    chosen = edit(F @ USEFUL, intents, relevant, rng)
    return Query(ItemSet(F, phi=phi, names=NAMES), intents, relevant, chosen)


def edit(quality: np.ndarray, intents: np.ndarray, relevant: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """An editor's list: each time a relevant document whose intent has least so far, good ones first, with some noise.

    No DPP is used: the second of an intent is worth half of the first, and below a quarter the editor stops.
    """
    taste = quality + rng.standard_normal(quality.size)
    worth = np.where(relevant, 1.0, 0.0) * (0.75 + 0.25 / (1 + np.exp(-taste)))
    chosen: list[int] = []
    while len(chosen) < DEPTH and worth.max() > 0.25:
        i = int(worth.argmax())
        chosen.append(i)
        worth[intents == intents[i]] *= 1 - ALPHA
        worth[i] = 0.0
    return np.sort(np.array(chosen, np.int64))


def alpha_ndcg(ranking: np.ndarray, query: Query) -> float:
    """alpha-nDCG@10 (Clarke et al., 2008): gains halve with each document of an intent already shown."""
    return discounted(ranking[:DEPTH], query) / max(discounted(ideal(query), query), 1e-12)


def discounted(ranking: np.ndarray, query: Query) -> float:
    seen = np.zeros(query.intents.max() + 1)
    total = 0.0
    for rank, i in enumerate(ranking):
        if query.relevant[i]:
            total += (1 - ALPHA) ** seen[query.intents[i]] / np.log2(rank + 2)
            seen[query.intents[i]] += 1
    return total


def ideal(query: Query) -> np.ndarray:
    """With one intent to a document, greedy is the best order: round after round through the intents."""
    relevant, intents = query.relevant, query.intents
    ranks = [np.sum(relevant[:i] & (intents[:i] == intents[i])) for i in range(intents.size)]
    return np.argsort(np.where(relevant, ranks, intents.size), kind="stable")[:DEPTH]


def coverage(ranking: np.ndarray, query: Query) -> float:
    """Share of the intents with a relevant document that have one in the first ten."""
    possible = np.unique(query.intents[query.relevant])
    shown = ranking[:DEPTH][query.relevant[ranking[:DEPTH]]]
    return np.unique(query.intents[shown]).size / max(possible.size, 1)


def mmr(p: np.ndarray, S: np.ndarray, lam: float) -> np.ndarray:
    """Maximal marginal relevance (Carbonell and Goldstein, 1998)."""
    chosen = [int(p.argmax())]
    nearest = S[chosen[0]].copy()
    while len(chosen) < DEPTH:
        value = lam * p - (1 - lam) * nearest
        value[chosen] = -np.inf
        chosen.append(int(value.argmax()))
        nearest = np.maximum(nearest, S[chosen[-1]])
    return np.array(chosen)


class Systems(NamedTuple):
    """Weights of the regression, the learned model, and the knobs of MMR, LR+DPP and the learned DPP."""

    weights: np.ndarray
    model: ConditionalDPP
    knobs: tuple[float, ...] = (0.5, 0.5, 0.5)

    def rank(self, query: Query) -> list[Callable[[float], np.ndarray]]:
        """How MMR, LR+DPP and the learned DPP rank at a value of their knob."""
        p, S = self.probability(query), query.items.similarity_matrix()
        both, learned = self.independent(query, S), self.model.dpp(query.items)
        return [
            lambda lam: mmr(p, S, lam),
            lambda diversity: greedy_map(both, k=DEPTH, diversity=diversity).subset,
            lambda diversity: greedy_map(learned, k=DEPTH, diversity=diversity).subset,
        ]

    def probability(self, query: Query) -> np.ndarray:
        return 1 / (1 + np.exp(-query.items.features @ self.weights))

    def independent(self, query: Query, S: np.ndarray) -> DPP:
        """The regression as a DPP, q^2 = p / (1 - p): with S = I each item is chosen with probability p by itself."""
        return DPP.from_quality(np.exp(query.items.features @ self.weights / 2), S)


def train(queries: list[Query]) -> Systems:
    F = np.concatenate([query.items.features for query in queries])
    y = np.concatenate([np.isin(np.arange(N_DOCUMENTS), query.chosen) for query in queries])
    weights = LogisticRegression(C=1.0, fit_intercept=False).fit(F, y).coef_[0]
    model = ConditionalDPP(prior_variance=1.0, similarity="mixture", on_impossible="drop")
    model.fit([query.items for query in queries], [query.chosen for query in queries])
    systems = Systems(weights, model)
    values = np.zeros((3, GRID.size))
    for query in queries:
        values += [[alpha_ndcg(rank(x), query) for x in GRID] for rank in systems.rank(query)]
    return systems._replace(knobs=tuple(GRID[values.argmax(axis=1)].tolist()))


def evaluate(systems: Systems, queries: list[Query]) -> np.ndarray:
    """Mean alpha-nDCG@10, intent coverage and log-likelihood of each system, of shape (4, 3)."""
    values = np.zeros((len(SYSTEMS), 3))
    for query in queries:
        rankings = [np.argsort(-systems.probability(query), kind="stable")[:DEPTH]]
        rankings += [rank(x) for rank, x in zip(systems.rank(query), systems.knobs, strict=True)]
        likelihoods = [
            systems.independent(query, np.eye(N_DOCUMENTS)).log_prob(query.chosen),
            np.nan,  # MMR is a rule for ranking: it gives no set a probability
            systems.independent(query, query.items.similarity_matrix()).log_prob(query.chosen),
            systems.model.dpp(query.items).log_prob(query.chosen),
        ]
        pairs = zip(rankings, likelihoods, strict=True)
        values += [(alpha_ndcg(Y, query), coverage(Y, query), likelihood) for Y, likelihood in pairs]
    return values / len(queries)


def interval(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean over seeds, and half the width of its 95 % interval by Student's t."""
    half = student.ppf(0.975, len(values) - 1) * values.std(axis=0, ddof=1) / np.sqrt(len(values))
    return values.mean(axis=0), half


def experiment(seeds: int, n_train: int, n_test: int) -> np.ndarray:
    """Values of shape (seeds, systems, measures)."""
    found = []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        systems = train([draw_query(rng) for _ in range(n_train)])
        found.append(evaluate(systems, [draw_query(rng) for _ in range(n_test)]))
    return np.array(found)


def plot(values: np.ndarray, path: str) -> None:
    import matplotlib.pyplot as plt

    mean, half = interval(values)
    colors = ["0.55", "#c99b38", "#7fa8c9", "#1f5f8b"]
    titles = ["α-nDCG@10", "intents covered by the first ten", "log-likelihood of a held-out list"]
    figure, panels = plt.subplots(1, 3, figsize=(9.5, 2.6), layout="constrained", sharey=True)
    rows = np.arange(len(SYSTEMS))
    for m, (axes, title) in enumerate(zip(panels, titles, strict=True)):
        axes.errorbar(mean[:, m], rows, xerr=half[:, m], fmt="none", ecolor="0.3", elinewidth=1.2, capsize=3)
        axes.scatter(mean[:, m], rows, c=colors, s=55, zorder=3)
        for row in rows:
            text = "none" if np.isnan(mean[row, m]) else f"{mean[row, m]:.3f}" if m < 2 else f"{mean[row, m]:.2f}"
            x = np.nanmin(mean[:, m]) if np.isnan(mean[row, m]) else mean[row, m]
            axes.annotate(text, (x, row), (0, 8), textcoords="offset points", ha="center", fontsize=8)
        axes.set(title=title, yticks=rows, yticklabels=SYSTEMS, ylim=(len(SYSTEMS) - 0.5, -0.7))
        axes.title.set_fontsize(10)
        axes.margins(x=0.15)
        axes.grid(axis="x", color="0.92")
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(axis="y", length=0)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description='Learn to diversify the results of queries like "apple".')
    parser.add_argument("--out", default="search.png", help="where to write the figure")
    parser.add_argument("--seeds", type=int, default=20, help="data sets, each drawn and trained anew")
    parser.add_argument("--train", type=int, default=100, help="labelled lists")
    parser.add_argument("--test", type=int, default=200, help="new queries")
    arguments = parser.parse_args()
    values = experiment(arguments.seeds, arguments.train, arguments.test)
    mean, half = interval(values)
    print("| system | α-nDCG@10 | intents covered | log-likelihood |\n|---|--:|--:|--:|")
    for name, m, h in zip(SYSTEMS, mean, half, strict=True):
        cells = ["—" if np.isnan(x) else f"{x:.3f} ± {w:.3f}" for x, w in zip(m, h, strict=True)]
        print(f"| {name} | {' | '.join(cells)} |")
    for other in range(len(SYSTEMS) - 1):
        gain, width = interval(values[:, -1] - values[:, other])
        print(f"learned DPP minus {SYSTEMS[other]}: α-nDCG@10 {gain[0]:+.3f} ± {width[0]:.3f}, "
              f"intents {gain[1]:+.3f} ± {width[1]:.3f}")  # fmt: skip
    plot(values, arguments.out)
    print(f"The figure is in {arguments.out}.")


if __name__ == "__main__":
    main()
