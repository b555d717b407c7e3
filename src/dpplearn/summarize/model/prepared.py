"""A cluster made ready for many summaries: what does not depend on length, unit, decoder or pins.

Of very many sentences a first choice is made, which the exact model is then asked about.

By quality and what is new: a book is cut into parts of about a thousand sentences, and in each the model's own greedy
algorithm puts sentences in order. The gain of each is its quality, squared, less what those before it cover of it; of
all parts together the sentences of largest gain are kept, so that a part has as many as it deserves.

By coverage: the other places are for sentences with the words that summaries are likely to have, which a consensus
looks for among sentences of any quality.

What is kept has the qualities and similarities that it has in the whole book: its kernel L, restricted.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from dpplearn._cached import Latest, cached_property
from dpplearn._checks import Features, FloatArray, IntArray
from dpplearn._run.stop import check_stop
from dpplearn.decoding.candidates import Candidates, read_model
from dpplearn.decoding.greedy import greedy_map
from dpplearn.dpp import DPP
from dpplearn.learning.itemset import ItemSet
from dpplearn.learning.predictor import ConditionalPredictor
from dpplearn.learning.similarity import SimilarityPart
from dpplearn.process import remaining
from dpplearn.summarize.corpora.cluster import Cluster
from dpplearn.summarize.model.about import REASON, Question
from dpplearn.summarize.model.features import GENERAL, PAPER
from dpplearn.summarize.model.split_cluster import SplitCluster
from dpplearn.summarize.model.tfidf import Numbered
from dpplearn.summarize.text.words import ENGLISH, match_words

Mask: TypeAlias = npt.NDArray[np.bool_]
# share of word pairs in the agreement that consensus decoding maximizes, the rest is single words: readers like more of
# them better; those of the paper's features are what ROUGE likes best
PAIRS = {PAPER: 0.3, GENERAL: 0.6}
PART = 1_000  # sentences compared with each other in the first choice
DEPTH = 4  # a part is put in order down to so many times its even share of the places
OF_KIND = "says what such texts are read for"
COVERING = 0.3  # share of the places that are given by coverage
IN_SUMMARY = 8  # sentences of a summary that the words of a likely one are taken from
EXTRA_WORDS = 5  # words that every sentence has beside its own, so that one of a word or two is not the best for that


@dataclass(frozen=True, eq=False, repr=False)
class Prepared:
    """What `Summarizer.prepare` makes of a cluster: features, the DPP, and what consensus decoding compares sets by.

    A summary of it is the summary of the cluster, without reading the cluster again.
    """

    split: SplitCluster
    model: ConditionalPredictor
    language: str | None
    question: Question | None = None
    compressed: bool = False  # with shorter forms of sentences, where there are any
    _asked: Latest[Prepared] = field(default_factory=Latest, init=False, repr=False)
    _kernel: Latest[Candidates] = field(default_factory=Latest, init=False, repr=False)

    def __repr__(self) -> str:
        about = "" if self.question is None else f", about {self.question.text!r:.60}"
        return f"<Prepared: {self.n} sentences of {self.split.cluster!r}{about}>"

    @cached_property
    def dpp(self) -> DPP:
        """The DPP over the cluster's sentences.

        Of a sentence in k forms each has q^2 / k, so that it is in a set about as often as it would be in one.
        """
        dpp = self.model.dpp(self.split.items)
        assert isinstance(dpp, DPP)  # the items have their cosines
        forms = self.split.forms
        factor = np.exp(self.split.lift) if self.question is None else self.question.factor
        if forms is not None:
            factor = factor / np.sqrt(np.bincount(forms)[forms])
        return DPP.from_quality(dpp.quality * factor, dpp.similarity) if (factor != 1.0).any() else dpp

    def about(self, question: str | None) -> Prepared:
        """The same sentences, with qualities for a question; the latest is kept."""
        if question is None or (self.question is not None and self.question.text == question):
            return self
        return self._asked.get(question, lambda: replace(self, question=Question.of(self.split, question)))

    @cached_property
    def contributions(self) -> FloatArray:
        """What each feature adds to 2 log q of each sentence, a row for each."""
        return self.model.quality_.contributions(self.split.items)

    def terms(self, i: int) -> dict[str, float]:
        """What adds to 2 log q of a sentence: features, and the question; largest first, without what adds nothing."""
        terms = dict(zip(self.model.quality_.names, self.contributions[i].tolist(), strict=True))
        lift = float((self.split if self.question is None else self.question).lift[i])
        terms |= {OF_KIND if self.question is None else REASON: 2.0 * lift}
        return {name: x for name, x in sorted(terms.items(), key=lambda item: -abs(item[1])) if x != 0.0}

    def kernel(self, diversity: float) -> Candidates:
        """L(d), with its eigenvectors once a decoder needed them; the latest is kept, and the learned one."""
        if diversity == 0.5:
            return self._learned
        return self._kernel.get(diversity, lambda: read_model(self.dpp, diversity))

    @cached_property
    def _learned(self) -> Candidates:
        return read_model(self.dpp, 0.5)

    def marginals(self, pinned: IntArray, excluded: IntArray) -> FloatArray:
        """P(i in Y | pinned in Y, excluded not in Y) of every sentence under the learned model, equation (10)."""
        if not (pinned.size or excluded.size):
            return self.dpp.marginals
        p = np.zeros(self.n)
        p[pinned] = 1.0
        if pinned.size + excluded.size < self.n:
            given = self._learned.conditioned(pinned, excluded)
            p[given.items] = given.marginals
        return p

    @property
    def n(self) -> int:
        """Number of candidate sentences."""
        return len(self.split)

    def allowed(self, pinned: IntArray, excluded: IntArray) -> Mask:
        """Which sentences may be chosen: not the excluded, and of those with the same words only one.

        With a sentence its shorter forms are excluded, and with a form that is pinned all others of its sentence.
        """
        forms = self.split.forms
        if forms is not None:
            whole = [i for i in excluded if not self.split.sentences[i].dropped]
            out = np.setdiff1d(np.flatnonzero(np.isin(forms, forms[[*pinned, *whole]])), pinned)
            excluded = np.union1d(out, excluded)
        others = remaining(self.n, pinned, excluded)
        allowed, order = np.zeros(self.n, np.bool_), [*pinned.tolist(), *others.tolist()]
        allowed[pinned] = allowed[[*self.split.considered(order).values()]] = True
        allowed[excluded] = False
        if not allowed.any():
            raise ValueError(f"exclude leaves none of the {self.n} sentences to choose from.")
        return allowed

    @cached_property
    def agreement(self) -> list[tuple[float, Any]]:
        """What consensus decoding compares sets by: words, and pairs of words in a row."""
        said, _ = Numbered.of([match_words(text, self.language) for text in self.split.texts])
        assert self.split.features is not None
        pairs = PAIRS[self.split.features.features]
        return [(1.0 - pairs, said.counts()), (pairs, said.pairs().counts())]


def misread(cluster: Cluster, language: str | None) -> str | None:
    """What to say if a model for English is given a cluster in another language, else None."""
    own = cluster.own_language if language in (None, ENGLISH) else None
    if own in (None, ENGLISH):
        return None
    name = cluster.name[:1].upper() + cluster.name[1:]
    return (
        f"{name} seems to be in {own}, but the model is for English: its weights may not fit, and words are weighed "
        "and compared as English ones."
    )


def first_choice(
    split: SplitCluster, model: ConditionalPredictor, keep: int, part: int = PART, lift: FloatArray | float = 0.0
) -> IntArray:
    """The numbers of the sentences to keep, in order; fewer than `keep` where others only repeat them.

    `lift` is added to log q of each, where a question makes some more relevant.

    Time grows as the number of sentences does: a part takes `part`^2 steps for each frequent word in it, and
    `part` (DEPTH keep part / n)^2 for its order.
    """
    items, log_q = split.items, model.quality_.log_q(split.items) + lift
    distinct = np.array([*split.considered(range(len(split))).values()])
    parts = np.array_split(distinct, -(-distinct.size // part))
    best, gains = list[IntArray](), list[FloatArray]()
    for some in parts:  # its best sentences in their greedy order, and log of the gain of each
        check_stop()
        assert items.phi is not None  # sentences have rows
        rows = (SimilarityPart("phi", items.phi[some]),)
        own = ItemSet._with(features=items.features[some], parts=rows, cost=None, names=None)
        # a factor on all qualities of a part changes no order, and keeps them within what floats hold
        scale = log_q[some].max()
        dpp = DPP.from_quality(np.exp(log_q[some] - scale), model.similarity_.matrix(own))
        order = greedy_map(dpp, k=min(DEPTH * -(-keep // len(parts)), some.size))
        best.append(some[order.subset])
        gains.append(order.gains + 2.0 * scale)
    by_gain = np.argsort(-np.concatenate(gains), kind="stable")
    adding = np.concatenate(best)[by_gain[: keep - int(COVERING * keep)]]
    rest = np.setdiff1d(distinct, adding)
    covering = rest[np.argsort(-coverage(split.phi, log_q)[rest], kind="stable")[: keep - adding.size]]
    return np.sort(np.concatenate([adding, covering]))


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
