"""Why a sentence is in a summary: what it has more of than the average sentence of these documents.

Beside the others chosen, Y', a sentence multiplies the probability of the set by q_i^2 r_i, where r_i = S_ii - S_iY'
S_Y'^-1 S_Y'i is the part of it that they do not say. Its logarithm, less that of the average sentence, is a sum,

    sum over ideas of theta_A . (f_iA - mean f_A)  +  log (r_i / mean r),

a term for each idea A, which is some columns of the features together (`dpplearn.learning.relative`). At another
diversity than the learned one it is q_i^2a and S(b) that count (`dpplearn.decoding.candidates`): at 0 nobody asks what
others say already, at 1 nobody asks how good a sentence is, and neither is then a reason. Where sets are
compared by their words (consensus), the share of a sentence's words that a summary is expected to have counts, too,
against that of the average sentence.
"""

from __future__ import annotations

import numpy as np

from dpplearn._cached import cached_property
from dpplearn._checks import FloatArray, IntArray
from dpplearn.decoding.candidates import exponents, mixed
from dpplearn.learning.relative import LEAST, Reason, Relative, strongest
from dpplearn.summarize.explain.ideas import (
    ABOUT,
    ADDS,
    LESS,
    LIKELY,
    NEAR,
    OTHER_PLACE,
    PLACE,
    Idea,
    ideas_of,
    levels,
    placed,
)
from dpplearn.summarize.explain.topics import Vocabulary
from dpplearn.summarize.model.prepared import Prepared

NOTHING = 1e-6  # of a sentence at least, for a logarithm
ASKED = Reason("pinned", "you asked for it", 0.0)


class Because:
    """What speaks for each sentence of a cluster, beside those that were chosen."""

    def __init__(
        self,
        ready: Prepared,
        Y: IntArray,
        vocabulary: Vocabulary,
        likely: FloatArray | None = None,
        diversity: float = 0.5,
    ) -> None:
        self.ready, self.Y, self.vocabulary, read = ready, Y, vocabulary, ready.read
        self.ideas = ideas_of(ready.model.quality_.names)
        self.relative = Relative(ready.model, read.items, self.ideas)
        self.power, self.share = exponents(diversity)  # a and b
        self.amounts: dict[Idea, FloatArray] = {
            idea: self.power * amounts for idea, amounts in self.relative.amounts.items()
        }
        self.more: dict[Idea, FloatArray] = {}  # what is no feature: a number for each sentence
        if ready.question is not None:
            lift = self.more[ABOUT] = ready.question.lift
            self.amounts[ABOUT] = 2.0 * self.power * (lift - lift.mean())
        if likely is not None:
            self.more[LIKELY], self.amounts[LIKELY] = likely, np.log(likely / likely.mean())
        self.last = np.zeros(len(read.cluster.documents), np.int64)
        for sentence in read.sentences:
            self.last[sentence.document] = max(self.last[sentence.document], sentence.position)

    @cached_property
    def levels(self) -> dict[Idea, FloatArray]:
        """How much of each idea each sentence has, as a share of the others."""
        names, values = self.ready.model.quality_.names, np.nan_to_num(self.relative.values)
        found = {idea: levels(values[:, own], [names[j] for j in own]) for idea, own in self.ideas.items()}
        return found | {idea: levels(x[:, None], [idea.name]) for idea, x in self.more.items()}

    def reasons(self, i: int) -> tuple[Reason, ...]:
        """At most three that count for a chosen sentence, the strongest first; where none does, what else holds."""
        every = [*(self.by(idea, i) for idea in self.amounts), *self.adds(i)]
        return strongest(every) or (self.as_a_whole(i, every),)

    def as_a_whole(self, i: int, every: list[Reason]) -> Reason:
        """Where no idea counts by itself: all of them together, or the room that there was."""
        if self.ready.n == 1:
            return Reason("only", "the only sentence", 0.0)
        total = sum(reason.amount for reason in every)
        whole = Reason("all", "a little of everything", total, self.error(i, *self.ideas))
        return whole if whole.counts else Reason("room", "no better than others, but there was room for it", total)

    def by(self, idea: Idea, i: int) -> Reason:
        """What one idea says of a sentence."""
        words = idea.words(float(self.levels[idea][i]))
        sentence = self.ready.read.sentences[i]
        if idea.name == PLACE:
            words = placed(sentence, int(self.last[sentence.document]), len(self.last))
        if idea is ABOUT and self.ready.question is not None and not self.ready.question.shares[i]:
            words = NEAR
        error = None if idea in self.more else self.error(i, idea)
        return Reason(idea.name, words, float(self.amounts[idea][i]), error)

    def error(self, i: int, *ideas: Idea) -> float | None:
        """The standard error of what ideas add for a sentence together."""
        found = self.relative.error(i, *ideas)
        return None if found is None else self.power * found

    @cached_property
    def gaps(self) -> dict[Idea, list[float]]:
        """What each idea adds for each sentence, less what it does for those that were chosen, on average."""
        return {idea: (amounts - amounts[self.Y].mean()).tolist() for idea, amounts in self.amounts.items()}

    def behind(self, i: int) -> str:
        """In what a sentence is behind those that were chosen: at most two ideas, the largest gap first."""
        gaps = {idea: gap[i] for idea, gap in self.gaps.items() if gap[i] <= -LEAST}
        found = sorted(gaps, key=lambda idea: gaps[idea])[:2]
        return ", ".join(self.less(idea, i) for idea in found)

    def less(self, idea: Idea, i: int) -> str:
        """That a sentence has less of an idea than those that were chosen, or of what it has instead."""
        if idea.name == PLACE and not self.is_later(i):
            return OTHER_PLACE
        return LESS.get(idea.name) or idea.words(float(self.levels[idea][i]))

    def is_later(self, i: int) -> bool:
        """Whether it stands later than the chosen ones do on average: by sentences, or as a share of its document.

        Of what opens a document that is never true, though it may be worth less there than elsewhere: each of ten
        documents of one sentence opens one.
        """
        position, part = self.places
        return bool(position[i] > 1 and (position[i] > position[self.Y].mean() or part[i] > part[self.Y].mean()))

    @cached_property
    def places(self) -> tuple[FloatArray, FloatArray]:
        """The position of each sentence in its document, as a number from 1 and as a share of its last."""
        sentences = self.ready.read.sentences
        position = np.array([one.position for one in sentences], np.float64)
        return position, position / self.last[[one.document for one in sentences]]

    def adds(self, i: int) -> list[Reason]:
        """That it says what no other chosen sentence does, against what the average sentence would beside them."""
        others = np.setdiff1d(self.Y, i)
        if not others.size:
            return []
        S = mixed(self.ready.dpp.similarity, self.share)
        beside = np.setdiff1d(np.arange(len(S)), others)
        own = 1.0 - covered_shares(S, beside, others)
        mine = max(float(own[np.searchsorted(beside, i)]), NOTHING)
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


def covered_shares(S: FloatArray, items: IntArray, Y: IntArray) -> FloatArray:
    """How much of each item the subset Y covers: S_iY S_Y^-1 S_Yi, from 0 to 1.

    The inverse is that on what Y spans: where the chosen depend on each other, it is what a subset of them spans.
    """
    A = S[np.ix_(items, Y)]
    inverse = np.linalg.pinv(S[np.ix_(Y, Y)], rcond=1e-10, hermitian=True)
    return np.clip(((A @ inverse) * A).sum(axis=1), 0.0, 1.0)
