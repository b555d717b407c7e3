"""A cluster made ready for many summaries: what does not depend on length, unit, decoder or pins."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from dpplearn._cached import Latest, cached_property
from dpplearn._checks import FloatArray, IntArray
from dpplearn.decoding.candidates import Candidates, read_model
from dpplearn.dpp import DPP
from dpplearn.learning.predictor import ConditionalPredictor
from dpplearn.process import remaining
from dpplearn.summarize.corpora.cluster import Cluster
from dpplearn.summarize.model.about import REASON, Question
from dpplearn.summarize.model.quality_features import GENERAL, PAPER
from dpplearn.summarize.model.split_cluster import SplitCluster
from dpplearn.summarize.model.tfidf import Numbered
from dpplearn.summarize.text.words import ENGLISH, match_words

Mask: TypeAlias = npt.NDArray[np.bool_]
# share of word pairs in the agreement that consensus decoding maximizes, the rest is single words: readers like more of
# them better; those of the paper's features are what ROUGE likes best
PAIRS = {PAPER: 0.3, GENERAL: 0.6}


@dataclass(frozen=True, eq=False, repr=False)
class Prepared:
    """What `Summarizer.prepare` makes of a cluster: features, the DPP, and what consensus decoding compares sets by.

    A summary of it is the summary of the cluster, without reading the cluster again.
    """

    read: SplitCluster
    model: ConditionalPredictor
    language: str | None
    question: Question | None = None
    compressed: bool = False  # with shorter forms of sentences, where there are any
    pairs: float = PAIRS[GENERAL]
    _asked: Latest[Prepared] = field(default_factory=Latest, init=False, repr=False)
    _kernel: Latest[Candidates] = field(default_factory=Latest, init=False, repr=False)

    def __repr__(self) -> str:
        about = "" if self.question is None else f", about {self.question.text!r:.60}"
        return f"<Prepared: {self.n} sentences of {self.read.cluster!r}{about}>"

    @cached_property
    def dpp(self) -> DPP:
        """The DPP over the cluster's sentences.

        Of a sentence in k forms each has q^2 / k, so that it is in a set about as often as it would be in one.
        """
        dpp = self.model.dpp(self.read.items)
        assert isinstance(dpp, DPP)  # the items have their cosines
        forms, factor = self.read.forms, 1.0 if self.question is None else self.question.factor
        if forms is not None:
            factor = factor / np.sqrt(np.bincount(forms)[forms])
        return dpp if np.ndim(factor) == 0 else DPP.from_quality(dpp.quality * factor, dpp.similarity)

    def about(self, question: str | None) -> Prepared:
        """The same sentences, with qualities for a question; the latest is kept."""
        if question is None or (self.question is not None and self.question.text == question):
            return self
        return self._asked.get(question, lambda: replace(self, question=Question.of(self.read, question)))

    @cached_property
    def contributions(self) -> FloatArray:
        """What each feature, and the question, adds to 2 log q of each sentence, a row for each."""
        terms = self.model.quality_.contributions(self.read.items)
        return terms if self.question is None else np.column_stack([terms, 2.0 * self.question.lift])

    @property
    def names(self) -> tuple[str, ...]:
        """What these are called."""
        names = self.model.quality_.names
        return names if self.question is None else (*names, REASON)

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
        return len(self.read)

    def allowed(self, pinned: IntArray, excluded: IntArray) -> Mask:
        """Which sentences may be chosen: not the excluded, and of those with the same words only one.

        With a sentence its shorter forms are excluded, and with a form that is pinned all others of its sentence.
        """
        forms = self.read.forms
        if forms is not None:
            whole = [i for i in excluded if not self.read.sentences[i].dropped]
            out = np.setdiff1d(np.flatnonzero(np.isin(forms, forms[[*pinned, *whole]])), pinned)
            excluded = np.union1d(out, excluded)
        others = remaining(self.n, pinned, excluded)
        allowed, order = np.zeros(self.n, np.bool_), [*pinned.tolist(), *others.tolist()]
        allowed[pinned] = allowed[[*self.read.considered(order).values()]] = True
        allowed[excluded] = False
        if not allowed.any():
            raise ValueError(f"exclude leaves none of the {self.n} sentences to choose from.")
        return allowed

    @cached_property
    def agreement(self) -> list[tuple[float, Any]]:
        """What consensus decoding compares sets by: words, and pairs of words in a row."""
        said, _ = Numbered.of([match_words(text, self.language) for text in self.read.texts])
        return [(1.0 - self.pairs, said.counts()), (self.pairs, said.pairs().counts())]


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
