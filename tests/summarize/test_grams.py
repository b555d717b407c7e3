"""Words and pairs that sentences share with references, and the oracles' scores, against counting in Python."""

from collections import Counter
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dpplearn.decoding.limits import fits
from dpplearn.summarize.model.oracle import Overlap, pairs_oracle, paper_oracle

WORDS, PAIRS = 0, 1

TEXTS = st.lists(st.lists(st.sampled_from("abcde"), max_size=7), min_size=1, max_size=7)
REFERENCES = st.lists(st.lists(st.sampled_from("abcxy"), max_size=9), min_size=1, max_size=3)


def grams(text, kind):
    return Counter(text if kind == WORDS else pairwise(text))


@given(TEXTS, REFERENCES, st.sampled_from([WORDS, PAIRS]))
def test_hits_are_clipped_matches(sentences, references, kind):
    shared = Overlap.of(sentences, references)[kind]
    each = [grams(text, kind) for text in sentences]
    wanted = [grams(text, kind) for text in references]
    assert shared.lengths.tolist() == [one.total() for one in wanted]
    assert shared.size.tolist() == [one.total() for one in each]
    assert shared.hits(shared.R).tolist() == [[(a & b).total() for b in each] for a in wanted]
    some = list(range(0, len(sentences), 2))
    together = sum((each[i] for i in some), Counter())
    both = np.minimum(shared.have(some), shared.R).sum(axis=1)
    assert both.tolist() == [(a & together).total() for a in wanted]


def f_of(extract, sentences, references, kind):
    """ROUGE's average: clipped matches of all references over all lengths."""
    ours = sum((grams(sentences[i], kind) for i in extract), Counter())
    theirs = [grams(text, kind) for text in references]
    hits, total = sum((ours & one).total() for one in theirs), sum(one.total() for one in theirs)
    return 2 * hits / max(total + len(references) * ours.total(), 1)


@given(TEXTS, REFERENCES, st.integers(1, 12))
def test_an_oracle_adds_what_raises_f_most(sentences, references, budget):
    kinds = [WORDS, PAIRS]
    cost, chosen = np.array([max(len(text), 1) for text in sentences], float), []
    left, free = float(budget), set(range(len(sentences)))
    while free := {i for i in free if fits(cost[i], left)}:
        f = {i: sum(f_of([*chosen, i], sentences, references, kind) for kind in kinds) for i in sorted(free)}
        best = max(f, key=f.__getitem__)
        if f[best] <= sum(f_of(chosen, sentences, references, kind) for kind in kinds) + 1e-12:
            break
        chosen.append(best)
        free.remove(best)
        left -= cost[best]
    assert pairs_oracle(sentences, references, cost, budget).tolist() == sorted(chosen)


@given(TEXTS, REFERENCES)
def test_the_papers_oracle_counts_what_is_left(sentences, references):
    """Mean unigram F to what is left of each reference, words that no sentence has among it."""
    left, chosen = [Counter(text) for text in references], []
    while True:
        f = {}
        for i in set(range(len(sentences))) - set(chosen):
            words = Counter(sentences[i])
            pairs = [(2 * (one & words).total(), one.total() + words.total()) for one in left]
            f[i] = np.mean([hits / size if size else 0.0 for hits, size in pairs])
        if not f or max(f.values()) <= 0.0:
            break
        chosen.append(min(f, key=lambda i: (-f[i], i)))
        left = [one - Counter(sentences[chosen[-1]]) for one in left]
    assert paper_oracle(sentences, references, np.ones(len(sentences)), 100).tolist() == sorted(chosen)
