"""Search results for an ambiguous query: show each of its meanings, not the most common one ten times.

A search for "apple" finds forty documents on the company, the fruit, the record label and the river, most of them on
one of these; each has a relevance score and an embedding. The first ten by score leave meanings out, and MMR and
`diversify` trade some score for them, with a knob that is set on 60 queries and tested on 240 others. We count the
meanings with a relevant document in the first ten: MMR and the DPP are level, far above the scores alone.
"""

import numpy as np

from dpplearn import diversify
from dpplearn.kernels import cosine_similarity
from dpplearn.plots.style import BLUE, GREY, ORANGE, PALETTE, TWO_COLUMNS, new_figure, style
from mmr import mmr
from options import read_options

N, K, KNOBS = 40, 10, np.linspace(0.0, 0.95, 20)
COLORS = dict(zip(("by score", "MMR", "DPP"), (GREY, ORANGE, BLUE), strict=True))


def draw_query(rng):
    """Meanings, embeddings, scores and which documents are relevant; scores tell relevance with much noise."""
    share = rng.dirichlet(np.ones(rng.integers(3, 7)))
    meaning = rng.choice(share.size, N, p=share)
    E = rng.standard_normal((share.size, 16))[meaning] + 0.7 * rng.standard_normal((N, 16))
    relevant = rng.random(N) < 0.5
    scores = relevant + share[meaning] + 0.5 * rng.standard_normal(N)  # common meanings score higher
    return meaning, E, scores, relevant


def rank(query, knob):
    """The first ten, three ways; the knob is diversity, and 1 - lambda for MMR."""
    _, E, scores, _ = query
    S = cosine_similarity(E)
    return np.argsort(-scores)[:K], mmr(scores, S, 1 - knob, k=K), diversify(E, scores, k=K, diversity=knob).subset


def covered(query, chosen):
    """Share of the meanings with a relevant document that have one among the chosen."""
    meaning, _, _, relevant = query
    shown = meaning[np.intersect1d(chosen, np.flatnonzero(relevant))]
    return np.unique(shown).size / np.unique(meaning[relevant]).size


def main(save=None):
    rng = np.random.default_rng(0)
    queries = [draw_query(rng) for _ in range(300)]
    table = np.array([[[covered(q, Y) for Y in rank(q, knob)] for knob in KNOBS] for q in queries[:60]])
    best = table.mean(axis=0).argmax(axis=0)  # each way's own knob
    values = np.array([[covered(q, rank(q, KNOBS[b])[way]) for way, b in enumerate(best)] for q in queries[60:]])
    for name, b, mean, error in zip(COLORS, best, values.mean(axis=0), values.std(axis=0) / 240**0.5, strict=True):
        print(f"{name:9s} {mean:.1%} ± {error:.1%} of the meanings in the first ten (knob at {KNOBS[b]:.2f})")
    if save:
        plot(save, table.mean(axis=0), queries, best)
    return dict(zip(COLORS, values.mean(axis=0), strict=True))


@style()
def plot(save, curves, queries, best):
    figure, (left, right) = new_figure(TWO_COLUMNS, 2.7, columns=2, width_ratios=(1.25, 1))
    query = max(queries, key=lambda q: covered(q, rank(q, KNOBS[best[2]])[2]) - covered(q, rank(q, 0.5)[0]))
    for row, b in enumerate(best):
        for place, i in enumerate(rank(query, KNOBS[b])[row]):
            color = PALETTE[query[0][i]]
            left.scatter(place + 1, row, s=110, color=color if query[3][i] else "none", edgecolor=color)
    left.set(yticks=range(3), yticklabels=COLORS, ylim=(2.6, -0.6), xticks=range(1, 11), xlabel="place in the list",
             title="one query: a colour for each meaning, full if relevant")  # fmt: skip
    for values, (name, color) in zip(curves.T, COLORS.items(), strict=True):
        right.plot(KNOBS, 100 * values, color=color, label=name)
    right.set(xlabel="knob (diversity, 1 − λ)", ylabel="meanings in the first ten (%)")
    right.legend(loc=(0.6, 0.12))
    figure.savefig(save, dpi=160)


if __name__ == "__main__":
    main(**read_options(__doc__))
