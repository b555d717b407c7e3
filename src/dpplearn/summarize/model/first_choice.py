"""The first choice among many sentences: those that the exact model is then asked about.

By quality and what is new: a book is cut into parts of about a thousand sentences, and in each the model's own greedy
algorithm puts sentences in order. The gain of each is its quality, squared, less what those before it cover of it; of
all parts together the sentences of largest gain are kept, so that a part has as many as it deserves.

By coverage: the other places are for sentences with the words that summaries are likely to have, which a consensus
looks for among sentences of any quality.

What is kept has the qualities and similarities that it has in the whole book: its kernel L, restricted.
"""

from __future__ import annotations

import numpy as np

from dpplearn._checks import Features, FloatArray, IntArray
from dpplearn._run.stop import check_stop
from dpplearn.decoding.greedy import greedy_map
from dpplearn.dpp import DPP
from dpplearn.learning.itemset import ItemSet
from dpplearn.learning.predictor import ConditionalPredictor
from dpplearn.summarize.model.split_cluster import SplitCluster

PART = 1_000  # sentences compared with each other in the first choice
DEPTH = 4  # a part is put in order down to so many times its even share of the places
COVERING = 0.3  # share of the places that are given by coverage
IN_SUMMARY = 8  # sentences of a summary that the words of a likely one are taken from
EXTRA_WORDS = 5  # words that every sentence has beside its own, so that one of a word or two is not the best for that


def first_choice(
    read: SplitCluster, model: ConditionalPredictor, keep: int, part: int = PART, lift: FloatArray | float = 0.0
) -> IntArray:
    """The numbers of the sentences to keep, in order; fewer than `keep` where others only repeat them.

    `lift` is added to log q of each, where a question makes some more relevant.

    Time grows as the number of sentences does: a part takes `part`^2 steps for each frequent word in it, and
    `part` (DEPTH keep part / n)^2 for its order.
    """
    log_q = model.quality_.log_q(read.items) + lift
    distinct = np.array([*read.considered(range(len(read))).values()])
    items, gains = ordered_by_gain(read.items, log_q, model, np.array_split(distinct, -(-distinct.size // part)), keep)
    adding = items[np.argsort(-gains, kind="stable")[: keep - int(COVERING * keep)]]
    rest = np.setdiff1d(distinct, adding)
    covering = rest[np.argsort(-coverage(read.phi, log_q)[rest], kind="stable")[: keep - adding.size]]
    return np.sort(np.concatenate([adding, covering]))


def ordered_by_gain(
    items: ItemSet, log_q: FloatArray, model: ConditionalPredictor, parts: list[IntArray], keep: int
) -> tuple[IntArray, FloatArray]:
    """The best sentences of each part in their greedy order, and log of the gain of each."""
    depth = DEPTH * -(-keep // len(parts))
    found, gains = [], []
    for some in parts:
        check_stop()
        assert items.phi is not None  # sentences have rows
        own = ItemSet._with(features=items.features[some], phi=items.phi[some], similarity=None, cost=None, names=None)
        # a factor on all qualities of a part changes no order, and keeps them within what floats hold
        scale = log_q[some].max()
        dpp = DPP.from_quality(np.exp(log_q[some] - scale), model.similarity_.matrix(own))
        order = greedy_map(dpp, k=min(depth, some.size))
        found.append(some[order.subset])
        gains.append(order.gains + 2.0 * scale)
    return np.concatenate(found), np.concatenate(gains)


def coverage(phi: Features, log_q: FloatArray) -> FloatArray:
    """How likely a word of each sentence is to be in a summary: the mean over its words, short sentences less.

    In a summary of a few of very many sentences each is about as likely as q^2 says, so that a word is in it with
    probability 1 - (1 - e)^IN_SUMMARY, where e is the share of q^2 of the sentences that have the word.
    """
    has = phi.copy()
    has.data = np.ones_like(has.data)
    p = np.exp(2.0 * (log_q - log_q.max()))
    likely = 1.0 - (1.0 - np.minimum(has.T @ (p / p.sum()), 1.0)) ** IN_SUMMARY
    return np.asarray((has @ likely) / (np.diff(has.indptr) + EXTRA_WORDS))
