"""A cluster prepared for many summaries: everything that does not depend on length, unit, decoder or forced sentences.

Of very many sentences a first choice is made, and the exact model chooses from these.

Most places go to sentences of high quality that add something new. A book is cut into parts of about a thousand
sentences, and the model's own greedy algorithm puts each part in order. The gain of a sentence is its squared quality
less what those before it cover of it. The sentences of largest gain over all parts are kept, so that a better part
keeps more of them.

The other places go to sentences with the words that summaries are likely to have, because consensus decoding looks for
such sentences whatever their quality.

A sentence that is kept has the quality and the similarities that it has in the whole book: the kernel is L, restricted.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dpplearn._cached import LatestValue, cached_property
from dpplearn._checks import Features, FloatArray, IntArray
from dpplearn._run.stop import check_stop
from dpplearn.decoding.candidates import Candidates, read_model
from dpplearn.decoding.greedy import greedy_map
from dpplearn.dpp import DPP
from dpplearn.learning.itemset import ItemSet
from dpplearn.learning.likelihood import MAX_ETA_KERNEL, check_eta
from dpplearn.learning.predictor import ConditionalPredictor
from dpplearn.learning.similarity import SimilarityPart
from dpplearn.process import remaining
from dpplearn.summarize.corpora.cluster import Cluster
from dpplearn.summarize.model.about import REASON, Question
from dpplearn.summarize.model.features import GENERAL, PAPER
from dpplearn.summarize.model.split_cluster import SplitCluster
from dpplearn.summarize.model.tfidf import Numbered
from dpplearn.summarize.text.states import Mask
from dpplearn.summarize.text.words import ENGLISH, match_words

# The weight of word pairs in the agreement that consensus decoding maximizes; the rest is that of single words.
# For the paper's features it is what ROUGE likes best; for the general ones it is more, which readers like better.
PAIRS = {PAPER: 0.3, GENERAL: 0.6}
PART = 1_000  # sentences that are compared with each other in the first choice
DEPTH = 4  # a part is put in order down to this many times its even share of the places
OF_KIND = "says what such texts are read for"
COVERING = 0.3  # the share of the places that are given by coverage
IN_SUMMARY = 8  # the number of sentences that a summary is taken to have where likely words are estimated
EXTRA_WORDS = 5  # words added to each sentence where likely words are averaged, so that very short ones do not win


@dataclass(frozen=True, eq=False, repr=False)
class Prepared:
    """A prepared cluster: the DPP over its sentences, and how consensus decoding compares sets of them.

    A summary of it is the summary of the cluster, without splitting the cluster again. `compressed` says whether
    shorter forms of sentences are among them, where there are any.
    """

    split: SplitCluster
    model: ConditionalPredictor
    language: str | None
    question: Question | None = None
    compressed: bool = False
    _asked: LatestValue[Prepared] = field(default_factory=LatestValue, init=False, repr=False)
    _learned: LatestValue[Candidates] = field(default_factory=LatestValue, init=False, repr=False)
    _other: LatestValue[Candidates] = field(default_factory=LatestValue, init=False, repr=False)

    def __repr__(self) -> str:
        about = "" if self.question is None else f", about {self.question.text!r:.60}"
        return f"<Prepared: {self.n} sentences of {self.split.cluster!r}{about}>"

    @property
    def n(self) -> int:
        """Number of candidate sentences."""
        return len(self.split)

    @property
    def lift(self) -> FloatArray:
        """What is added to the model's log q: for a question, or for what such texts are read for."""
        return self.split.lift if self.question is None else self.question.lift

    @cached_property
    def dpp(self) -> DPP:
        """The DPP over the cluster's sentences.

        Each of the k forms of a sentence has q^2 / k, so that together they are chosen about as often as one would be.
        """
        items, forms = self.split.items, self.split.forms
        q = np.exp(check_eta(self.model.quality_.eta(items), MAX_ETA_KERNEL) / 2 + self.lift)
        if forms is not None:
            q /= np.sqrt(np.bincount(forms)[forms])
        return DPP._of_quality(q, self.model.similarity_.matrix(items))

    def about(self, question: str | None) -> Prepared:
        """The same sentences, with qualities for a question; the latest is kept."""
        if question is None or (self.question is not None and self.question.text == question):
            return self
        return self._asked.get(question, lambda: replace(self, question=Question.of(self.split, question)))

    def terms(self, i: int) -> dict[str, float]:
        """What adds to 2 log q of a sentence: features, and the lift; largest first, without zeros."""
        terms = dict(zip(self.model.quality_.names, (self.split.F[i] * self.model.theta_).tolist(), strict=True))
        terms[OF_KIND if self.question is None else REASON] = 2.0 * float(self.lift[i])
        return {name: x for name, x in sorted(terms.items(), key=lambda item: -abs(item[1])) if x != 0.0}

    def kernel(self, diversity: float) -> Candidates:
        """L(d), with its eigenvectors once a decoder needed them. The learned one and the latest other are kept."""
        latest = self._learned if diversity == 0.5 else self._other
        return latest.get(diversity, lambda: read_model(self.dpp, diversity))

    def marginals(self, included: IntArray, excluded: IntArray) -> FloatArray:
        """P(i in Y | included in Y, excluded not in Y) of every sentence under the learned model, equation (10)."""
        if not (included.size or excluded.size):
            return self.dpp.marginals
        p = np.zeros(self.n)
        p[included] = 1.0
        if included.size + excluded.size < self.n:
            conditioned = self.kernel(0.5).conditioned(included, excluded)
            p[conditioned.items] = conditioned.marginals
        return p

    def allowed(self, included: IntArray, excluded: IntArray) -> Mask:
        """Which sentences may be chosen: none that is excluded, and only one of those with the same words.

        Excluding a sentence excludes its shorter forms, and including a form excludes the others of its sentence.
        """
        forms = self.split.forms
        if forms is not None:
            whole = [i for i in excluded if not self.split.sentences[i].dropped]
            out = np.setdiff1d(np.flatnonzero(np.isin(forms, forms[[*included, *whole]])), included)
            excluded = np.union1d(out, excluded)
        others = remaining(self.n, included, excluded)
        allowed, order = np.zeros(self.n, np.bool_), [*included.tolist(), *others.tolist()]
        allowed[included] = allowed[[*self.split.considered(order).values()]] = True
        allowed[excluded] = False
        if not allowed.any():
            raise ValueError(f"exclude leaves none of the {self.n} sentences to choose from.")
        return allowed

    @cached_property
    def agreement(self) -> list[tuple[float, Any]]:
        """What consensus decoding compares sets by: counts of words, and of two words in a row, with their weights."""
        numbered, _ = Numbered.of([match_words(text, self.language) for text in self.split.texts])
        assert self.split.features is not None
        pairs = PAIRS.get(self.split.features.features, PAIRS[GENERAL])
        return [(1.0 - pairs, numbered.counts()), (pairs, numbered.pairs().counts())]


def language_note(cluster: Cluster, language: str | None) -> str | None:
    """A sentence that warns if a model for English is given a cluster in another language, else None."""
    spoken = cluster.own_language if language in (None, ENGLISH) else None
    if spoken in (None, ENGLISH):
        return None
    name = cluster.name[:1].upper() + cluster.name[1:]
    return (
        f"{name} seems to be in {spoken}, but the model is for English: its weights may not fit, and words are weighed "
        "and compared as English ones."
    )


def first_choice(
    split: SplitCluster, model: ConditionalPredictor, most: int, part: int = PART, lift: FloatArray | float = 0.0
) -> IntArray:
    """The numbers of the sentences to keep, in order; fewer than `keep` where the others only repeat them.

    `lift` is added to log q of each, where a question makes some more relevant.

    Time grows as the number of sentences does: a part takes `part`^2 steps for each frequent word in it, and
    `part` (DEPTH keep part / n)^2 for its order.
    """
    items, log_q = split.items, model.quality_.log_q(split.items) + lift
    distinct = np.array([*split.considered(range(len(split))).values()])
    parts = np.array_split(distinct, -(-distinct.size // part))
    best, gains = list[IntArray](), list[FloatArray]()
    for part_numbers in parts:  # its best sentences in their greedy order, and the log of the gain of each
        check_stop()
        assert items.phi is not None  # sentences have rows
        rows = (SimilarityPart("phi", items.phi[part_numbers]),)
        part_items = ItemSet._with(features=items.features[part_numbers], parts=rows, cost=None, names=None)
        # dividing all qualities of a part by the largest changes no order, and keeps them within what floats hold
        scale = log_q[part_numbers].max()
        dpp = DPP.from_quality(np.exp(log_q[part_numbers] - scale), model.similarity_.matrix(part_items))
        order = greedy_map(dpp, k=min(DEPTH * -(-most // len(parts)), part_numbers.size))
        best.append(part_numbers[order.subset])
        gains.append(order.gains + 2.0 * scale)
    by_gain = np.argsort(-np.concatenate(gains), kind="stable")
    adding = np.concatenate(best)[by_gain[: most - int(COVERING * most)]]
    rest = np.setdiff1d(distinct, adding)
    covering = rest[np.argsort(-coverage(split.phi, log_q)[rest], kind="stable")[: most - adding.size]]
    return np.sort(np.concatenate([adding, covering]))


def coverage(phi: Features, log_q: FloatArray) -> FloatArray:
    """How likely the words of each sentence are to be in a summary: their mean, lower for short sentences.

    In a summary of a few of very many sentences each sentence is about as likely as q^2 says. So a word is in it with
    probability 1 - (1 - e)^IN_SUMMARY, where e is the share of q^2 that the sentences with this word have.
    """
    has = phi.copy()
    has.data = np.ones_like(has.data)
    p = np.exp(2.0 * (log_q - log_q.max()))
    likely = 1.0 - (1.0 - np.minimum(has.T @ (p / p.sum()), 1.0)) ** IN_SUMMARY
    return np.asarray((has @ likely) / (np.diff(has.indptr) + EXTRA_WORDS))
