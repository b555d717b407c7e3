"""Why a sentence is not in a summary: the first reason that holds, checked against what was decided."""

from __future__ import annotations

import numpy as np

from dpplearn._checks import FloatArray, IntArray
from dpplearn.decoding.limits import fits
from dpplearn.summarize.explain.explanation import REDUNDANT, NoCandidate
from dpplearn.summarize.model.about import Question
from dpplearn.summarize.model.choice import Choice
from dpplearn.summarize.model.features import Featurized
from dpplearn.summarize.model.split_cluster import SplitCluster
from dpplearn.summarize.text.units import Unit, joined_length, lengths_with, measured, unit_name


class Reasons:
    """What was decided about the sentences of a cluster: a choice of them, under a budget, by their qualities q."""

    def __init__(
        self,
        read: Featurized,
        q: FloatArray,
        choice: Choice,
        excluded: IntArray,
        budget: float,
        unit: Unit,
        pinned: IntArray | None = None,
        question: Question | None = None,
    ) -> None:
        others, subset = read.texts, choice.subset
        chosen = [others[i] for i in subset]
        longest = int(lengths_with([], chosen, unit).argmax())
        self.read, self.q, self.choice, self.budget, self.unit = read, q, choice, budget, unit
        self.subset, self.excluded = set(subset.tolist()), set(excluded.tolist())
        self.leaning, self.question = set(() if choice.leaning is None else choice.leaning.tolist()), question
        self.free = bool(self.subset.difference(() if pinned is None else pinned.tolist()))  # to choose others
        self.weakest, self.size = q[subset].min(), joined_length(chosen, unit)
        self.alone, self.beside = lengths_with([], others, unit), lengths_with(chosen, others, unit)
        self.instead = lengths_with(chosen[:longest] + chosen[longest + 1 :], others, unit)
        if read.forms is not None:  # what holds of a sentence holds of all its forms: of the shortest, of the best
            self.q = over_forms(np.maximum, q, read.forms)
            self.alone, self.beside, self.instead = (
                over_forms(np.minimum, sizes, read.forms) for sizes in (self.alone, self.beside, self.instead)
            )
        # of sentences with the same words, the one that was considered: a chosen one, or the first that may be
        self.considered = read.considered([*subset, *np.setdiff1d(np.arange(q.size), excluded)])

    def of(self, i: int, redundancy: float) -> tuple[str, str]:
        """Why sentence i was left out, of which the summary covers a share: in one word, and in a few."""
        if i in self.excluded:
            return "excluded", "excluded"
        twin = self.considered[self.read.said[i]]
        same = "same-words", f"has the words of {self.where(twin)}"
        if twin in self.subset:
            return same
        if not fits(self.alone[i], self.budget):
            return "too-long", f"longer than the budget: {self.alone[i]:g} of {measured(self.budget, self.unit)}"
        if redundancy >= REDUNDANT and self.choice.likeness:
            return "redundant", f"{redundancy:.0%} is said already"
        if twin != i:
            return same
        if i in self.leaning:
            return "leans", "leans on the sentence before it"
        if self.less_relevant(i):
            return "less-relevant", "says less about the question than the chosen ones"
        if fits(self.beside[i], self.budget):
            return self.with_room(i)
        replaces = fits(self.instead[i], self.budget)  # short enough for the place of one
        if replaces and self.choice.quality and self.q[i] < self.weakest:
            return "weaker", "weaker than every chosen sentence"
        if replaces and self.free and self.unit == "sentences":  # all are as long: it is no matter of room
            said = f"; those cover {redundancy:.0%} of it" if self.choice.likeness and redundancy >= 0.005 else ""
            return "better-without", f"the decoder preferred another in its place{said}"
        left = max(self.budget - self.size, 0.0)
        needs = f"takes {self.beside[i] - self.size:g}, with {left:g} of {self.budget:g} {unit_name(self.unit)} left"
        return "does-not-fit", f"does not fit: {needs}"

    def less_relevant(self, i: int) -> bool:
        """Whether it is weaker than every chosen sentence because of the question alone."""
        if self.question is None or not self.choice.quality or self.q[i] >= self.weakest:
            return False
        q = self.q / self.question.factor
        return bool(q[i] >= q[self.choice.subset].min())

    def with_room(self, i: int) -> tuple[str, str]:
        """Why it was left out though it would fit: not worth its words, or the decoder's set is better without it."""
        likely, least = self.choice.likely, self.choice.least
        if likely is None or least is None or likely[i] >= least:
            return "better-without", "it would fit, but the set is better without it"
        share = f"{likely[i]:.1%} likely in a summary of this length, of {least:.1%} that it takes to be worth having"
        return "adds-nothing", f"would add nothing: {share}"

    def where(self, i: int) -> str:
        """The document of a sentence, and its place there."""
        sentence = self.read.sentences[i]
        return f"{self.read.cluster.documents[sentence.document].id}, sentence {sentence.position}"


def over_forms(of_forms: np.ufunc, values: FloatArray, forms: IntArray) -> FloatArray:
    """The largest or least of the values of all forms of a sentence, for each of them.

    Examples
    --------
    >>> over_forms(np.minimum, np.array([3.0, 2.0, 5.0]), np.array([0, 0, 1]))
    array([2., 2., 5.])
    """
    order = np.argsort(forms, kind="stable")
    first = np.unique(forms[order], return_index=True)[1]
    return np.asarray(of_forms.reduceat(values[order], first)[np.unique(forms, return_inverse=True)[1]])


KINDS = {
    "heading": "a heading",
    "caption": "a caption",
    "row": "a table's row",
    "code": "code",
    "byline": "a byline or date",
    "navigation": "navigation",
    "banner": "a banner, or what a program says",
    "footnote": "a footnote",
    "formula": "a formula",
    "reference": "a reference",
}
SET_ASIDE = {
    "no-sentence": "no sentence",
    "courtesy": "a greeting, thanks, or an offer",
    "announces": "only announces what follows",
    "too-short": "too short",
    "repeated": "again, as in a paragraph of {}",
    "boilerplate": "in most documents",
}


def set_aside(read: SplitCluster) -> tuple[NoCandidate, ...]:
    """The pieces of a cluster that were no candidates, with the reason for each in a few words."""
    documents = read.cluster.documents
    return tuple(
        NoCandidate(
            *piece[:6],
            KINDS[piece.kind]
            if piece.code == "kind"
            else SET_ASIDE[piece.code].format("" if piece.copy_of is None else documents[piece.copy_of].id),
        )
        for piece in read.set_aside
    )
