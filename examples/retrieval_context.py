"""Retrieval context under a token budget: fill a prompt with passages that do not repeat one another.

Eight articles, each with two shortened reprints, are cut into overlapping windows of two sentences, scored for a
question by tf-idf. A budget filled by score holds the same facts three times over, and MMR and a DPP avoid that.
Of the facts that answer four questions the DPP's consensus finds most, then MMR, then greedy, then score alone.
"""

import re
from itertools import pairwise, product

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from dpplearn import diversify
from dpplearn.plots.style import BLUE, GREY, ORANGE, SKY, new_figure, style
from dpplearn.summarize import Cluster
from mmr import mmr
from options import read_options

FACTS = {  # a question, and a pattern for each fact that its answer should have
    "Who warned of cracks in the spillway, and what did Brennwater and the ministry do?":
        ["in 2019", "2021", "patched", "14 million", "looking for its copy"],
    "Where did the families of Ostrel and Mirren go when the sirens sounded, and when could they return?":
        ["St. Anselm|sports hall", "eleven minutes", "schools and churches", "on Monday", "Red Lantern|340"],
    "What did the army, engineers and divers do at the dam, and what will replace the spillway?":
        ["sandbags", "bottom gates", "temporary dike", "3.1 meters", "four other dams|Inspectors"],
    "Who will lead the inquiry, and what do the chief executive and the insurers of Brennwater say?":
        ["Calloran", "end of September", "resign", "80 million", "220 million"],
}  # fmt: skip
BUDGETS, WAYS = [100, 200, 300, 400], ["by score", "MMR", "DPP, greedy", "DPP, consensus"]


def passages(rng):
    """Every two sentences in a row of each article, and twice more with every eighth word or so left out."""
    sentences = Cluster.example().sentences()
    words = [f"{a.text} {b.text}".split() for a, b in pairwise(sentences) if a.document == b.document]
    return [" ".join(text) for text in words + [[w for w in text if rng.random() > 0.12] for text in words * 2]]


def main(save=None, seeds=2):
    found = np.zeros((len(WAYS), len(BUDGETS)))
    for seed in range(seeds):
        texts = passages(np.random.default_rng(seed))
        tokens = np.array([len(text) // 4 + 1 for text in texts])  # about four characters to a token
        tfidf = TfidfVectorizer(stop_words="english", sublinear_tf=True)
        E = tfidf.fit_transform(texts)
        S, consensus = (E @ E.T).toarray(), {"decoder": "consensus", "utility": (E > 0).astype(float)}
        for (question, facts), (b, budget) in product(FACTS.items(), enumerate(BUDGETS)):
            scores = (E @ tfidf.transform([question]).T).toarray()[:, 0]
            chosen = [mmr(scores, S, lam, cost=tokens, budget=budget) for lam in (1.0, 0.5)]
            chosen += [diversify(E, scores, budget=budget, cost=tokens, **way).subset for way in ({}, consensus)]
            contexts = ["\n".join(texts[i] for i in items) for items in chosen]
            found[:, b] += [sum(re.search(fact, text) is not None for fact in facts) / seeds for text in contexts]
    print("facts of 20, in tokens" + "".join(f"{budget:6d}" for budget in BUDGETS))
    for name, counts in zip(WAYS, found, strict=True):
        print(f"{name:22s}" + "".join(f"{count:6.1f}" for count in counts))
    if save:
        with style():
            figure, ax = new_figure(5.0, 2.8)
            for name, counts, color in zip(WAYS, found, (GREY, ORANGE, SKY, BLUE), strict=True):
                ax.plot(BUDGETS, counts, "o-", color=color, label=name)
            ax.set(xlabel="budget (tokens)", ylabel="facts in the context, of 20", ylim=(0, 20), xticks=BUDGETS)
            ax.legend(loc="upper left")
            figure.savefig(save, dpi=160)
    return dict(zip(WAYS, found, strict=True))


if __name__ == "__main__":
    main(**read_options(__doc__))
