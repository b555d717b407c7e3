"""Why a sentence is in a summary: what it has more of than the average sentence of these documents.

Beside the others chosen, Y', a sentence multiplies the probability of the set by q_i^2 r_i, where r_i = S_ii - S_iY'
S_Y'^-1 S_Y'i is the part of it that they do not say. Its logarithm, less that of the average sentence, is a sum,

    sum over ideas of theta_A . (f_iA - mean f_A)  +  log (r_i / mean r),

a term for each idea A, which is some columns of the features together. A term of 0.7 makes a sentence twice as likely
as the average one. Its standard error is that of the sum, the root of x_A^T Sigma_AA x_A with x = f_i - mean f and the
covariance Sigma of the weights; where a model knows only the error of each, |x_A| . sigma_A, the most that it can be.
Where sets are compared by their words (consensus), the share of a sentence's words that a summary is expected to have
counts, too, against that of the average sentence.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpplearn._cached import cached_property
from dpplearn._checks import FloatArray, IntArray
from dpplearn.learning.quality import LogLinear
from dpplearn.summarize.explain.ideas import ABOUT, ADDS, EXPECTED, LESS, PLACE, Idea, ideas_of, levels, placed
from dpplearn.summarize.explain.topics import Vocabulary
from dpplearn.summarize.model.prepared import Prepared

MOST = 3  # reasons that are given
LEAST = 0.1  # a term that is less is no reason: a tenth more likely than the average sentence
NOTHING = 1e-6  # of a sentence at least, for a logarithm


@dataclass(frozen=True)
class Reason:
    """A reason for a sentence: an idea, in words, and how much more likely it makes it, as a logarithm.

    `amount` is relative to the average sentence of the documents; `error` is its standard error, None where there is
    none to know: trees, what a question asks for, and similarity as it was given.
    """

    idea: str
    words: str
    amount: float
    error: float | None = None

    @property
    def counts(self) -> bool:
        """Whether it speaks for the sentence, beyond its error."""
        return self.amount >= LEAST and not self.amount <= (self.error or 0.0)


ASKED = Reason("pinned", "you asked for it", 0.0)


class Because:
    """What speaks for each sentence of a cluster, beside those that were chosen."""

    def __init__(
        self, ready: Prepared, Y: IntArray, vocabulary: Vocabulary, likely: FloatArray | None = None
    ) -> None:  # fmt: skip
        self.ready, self.Y, self.vocabulary, self.likely = ready, Y, vocabulary, likely
        read = ready.read
        self.ideas = ideas_of(ready.names)
        quality = ready.model.quality_
        self.values = read.items.features if isinstance(quality, LogLinear) else with_ones(read.items.columns)
        if ready.question is not None:
            self.values = np.column_stack([self.values, ready.question.lift])
        terms = ready.contributions - ready.contributions.mean(axis=0)
        self.amounts = {idea: terms[:, columns].sum(axis=1) for idea, columns in self.ideas.items()}
        if likely is not None:
            self.amounts[EXPECTED] = np.log(likely / likely.mean())
        self.last = np.zeros(len(read.cluster.documents), np.int64)
        for sentence in read.sentences:
            self.last[sentence.document] = max(self.last[sentence.document], sentence.position)

    @cached_property
    def levels(self) -> dict[Idea, FloatArray]:
        """How much of each idea each sentence has, as a share of the others."""
        found = {
            idea: levels(self.values[:, columns], [self.ready.names[j] for j in columns])
            for idea, columns in self.ideas.items()
        }
        return found if self.likely is None else found | {EXPECTED: levels(self.likely[:, None], [EXPECTED.name])}

    def reasons(self, i: int) -> tuple[Reason, ...]:
        """At most three that count for a chosen sentence, the strongest first; where none does, what else holds."""
        every = [*(self.by(idea, i) for idea in self.amounts), *self.adds(i)]
        strongest = sorted(every, key=lambda reason: -reason.amount)
        found = tuple(reason for reason in strongest if reason.counts)[:MOST]
        return found or (self.as_a_whole(i, every),)

    def as_a_whole(self, i: int, every: list[Reason]) -> Reason:
        """Where no idea counts by itself: all of them together, or the room that there was."""
        total, errors = sum(reason.amount for reason in every), [reason.error or 0.0 for reason in every]
        whole = Reason("all", "a little of everything", total, self.error(i, None, float(sum(errors))))
        return whole if whole.counts else Reason("room", "no better than others, but there was room for it", total)

    def by(self, idea: Idea, i: int) -> Reason:
        """What one idea says of a sentence."""
        words = idea.words(float(self.levels[idea][i]))
        sentence, documents = self.ready.read.sentences[i], len(self.last)
        if idea.name == PLACE:
            words = placed(sentence, int(self.last[sentence.document]), documents)
        known = idea.name not in (ABOUT, EXPECTED.name) and isinstance(self.ready.model.quality_, LogLinear)
        return Reason(idea.name, words, float(self.amounts[idea][i]), self.error(i, idea) if known else None)

    def behind(self, i: int) -> str:
        """In what a sentence is behind those that were chosen: at most two ideas, the largest gap first."""
        gaps = {idea: amounts[i] - amounts[self.Y].mean() for idea, amounts in self.amounts.items()}
        found = sorted((idea for idea in self.amounts if gaps[idea] <= -LEAST), key=lambda idea: gaps[idea])[:2]
        return ", ".join(LESS.get(idea.name) or idea.words(float(self.levels[idea][i])) for idea in found)

    def error(self, i: int, idea: Idea | None, otherwise: float = np.nan) -> float | None:
        """The standard error of what an idea adds, or all of them; None where the model does not know it."""
        model = self.ready.model
        if not isinstance(model.quality_, LogLinear):
            return None
        m = model.quality_.n_features
        x = self.values[i, :m] - self.values[:, :m].mean(axis=0)
        if idea is not None:
            x = np.where(np.isin(np.arange(m), self.ideas[idea]), x, 0.0)
        used = x != 0.0
        sigma, covariance = model.theta_std_[used], getattr(model, "covariance_", None)
        if covariance is not None:
            found = float(np.sqrt(max(x[used] @ covariance[np.ix_(used, used)] @ x[used], 0.0)))
        else:
            found = float(np.abs(x[used]) @ sigma) if idea is not None else otherwise
        return None if np.isnan(found) else found

    def adds(self, i: int) -> list[Reason]:
        """That it says what no other chosen sentence does, against what the average sentence would beside them."""
        others = np.setdiff1d(self.Y, i)
        if not others.size:
            return []
        S = self.ready.dpp.similarity
        own = 1.0 - covered_shares(S, np.setdiff1d(np.arange(len(S)), others), others)
        mine = max(1.0 - float(covered_shares(S, np.array([i]), others)[0]), NOTHING)
        amount = float(np.log(mine / max(float(own.mean()), NOTHING)))
        return [Reason(ADDS, "says what no other chosen sentence does", amount)]

    def alone(self, i: int) -> tuple[str, ...]:
        """What a chosen sentence speaks of and no other chosen one does."""
        others = np.setdiff1d(self.Y, i)
        return self.vocabulary.only(i, others) if others.size else ()


def likely_words(ready: Prepared, chance: FloatArray, pinned: IntArray) -> FloatArray:
    """The share of each sentence's words that a summary drawn from the model is expected to have: consensus counts it.

    Of words that are expected E N_t times, a sentence that has a_t of them gets min(a_t, E N_t).
    """
    counts, chance = ready.agreement[0][1], chance.copy()
    chance[pinned] = 1.0
    shared = counts.copy()
    shared.data = np.minimum(counts.data, (counts.T @ chance)[counts.indices])
    found = np.asarray(shared.sum(axis=1)) / np.maximum(np.asarray(counts.sum(axis=1)), 1.0)
    return np.asarray(np.maximum(found, NOTHING))


def with_ones(columns: FloatArray) -> FloatArray:
    """A constant and the columns that trees split."""
    return np.column_stack([np.ones(len(columns)), np.nan_to_num(columns)])


def covered_shares(S: FloatArray, items: IntArray, Y: IntArray) -> FloatArray:
    """How much of each item the subset Y covers: S_iY S_Y^-1 S_Yi, from 0 to 1.

    The inverse is that on what Y spans: where the chosen depend on each other, it is what a subset of them spans.
    """
    A = S[np.ix_(items, Y)]
    inverse = np.linalg.pinv(S[np.ix_(Y, Y)], rcond=1e-10, hermitian=True)
    return np.clip(((A @ inverse) * A).sum(axis=1), 0.0, 1.0)
