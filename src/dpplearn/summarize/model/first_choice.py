"""The first choice among many sentences: those that the exact model is then asked about.

A book is cut into parts of about a thousand sentences. In each, the model's own greedy algorithm puts sentences in
order: the gain of each is its quality, squared, less what those before it cover of it. Of all parts together the
sentences of largest gain are kept, so that a part has as many as it deserves. The kept ones have the qualities and
similarities that they have in the whole book: its kernel L, restricted to them.
"""

from __future__ import annotations

import numpy as np

from dpplearn._checks import IntArray
from dpplearn._run.stop import check_stop
from dpplearn.decoding.greedy import greedy_map
from dpplearn.dpp import DPP
from dpplearn.learning.itemset import ItemSet
from dpplearn.learning.predictor import ConditionalPredictor
from dpplearn.summarize.model.features import Featurized
from dpplearn.summarize.model.split_cluster import EXACT

PART = 1_000  # sentences compared with each other in the first choice
DEPTH = 4  # a part is put in order down to so many times its even share of the places


def finalists(read: Featurized, model: ConditionalPredictor, keep: int = EXACT, part: int = PART) -> Featurized:
    """The sentences to choose a summary from: all of a few, and of many the first choice."""
    return read if len(read) <= keep else read.only(first_choice(read, model, keep, part))


def first_choice(read: Featurized, model: ConditionalPredictor, keep: int, part: int = PART) -> IntArray:
    """The numbers of the `keep` sentences that add most to their parts of the cluster, or of fewer, in order.

    Time grows as the number of sentences: a part takes `part`^2 steps for each frequent word in it, and
    `part` (DEPTH keep part / n)^2 for its order.
    """
    items = read.items
    names, log_q = items.names, model.quality_.log_q(items)
    distinct = np.array([*read.considered(range(len(read))).values()])
    parts = np.array_split(distinct, -(-distinct.size // part))
    depth = DEPTH * -(-keep // len(parts))
    found, gains = [], []
    for some in parts:
        check_stop()
        own = ItemSet._of(features=items.features[some], similarity=None, phi=items.phi[some], cost=None, names=names)
        # a factor on all qualities of a part changes no order, and keeps them within what floats hold
        scale = log_q[some].max()
        dpp = DPP.from_quality(np.exp(log_q[some] - scale), model.similarity_.matrix(own))
        order = greedy_map(dpp, k=min(depth, some.size))
        found.append(some[order.subset])
        gains.append(order.gains + 2.0 * scale)
    best = np.argsort(-np.concatenate(gains), kind="stable")[:keep]
    return np.sort(np.concatenate(found)[best])
