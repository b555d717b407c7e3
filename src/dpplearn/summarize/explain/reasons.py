"""Why a sentence is not in a summary: the first reason that holds."""

from __future__ import annotations

import numpy as np

from dpplearn._checks import FloatArray, IntArray
from dpplearn.summarize.explain.explanation import REDUNDANT
from dpplearn.summarize.model.features import Featurized
from dpplearn.summarize.text.units import Unit, joined_length, lengths_with, measured, unit_name


class Reasons:
    """What was decided about the sentences of a cluster: a subset of them, under a budget, by their qualities q."""

    def __init__(
        self, read: Featurized, q: FloatArray, subset: IntArray, excluded: IntArray, budget: float, unit: Unit
    ) -> None:
        others = read.texts
        chosen = [others[i] for i in subset]
        longest = int(lengths_with([], chosen, unit).argmax())
        self.read, self.q, self.budget, self.unit = read, q, budget, unit
        self.excluded, self.weakest = set(excluded.tolist()), q[subset].min()
        self.size = joined_length(chosen, unit)
        self.alone, self.beside = lengths_with([], others, unit), lengths_with(chosen, others, unit)
        self.instead = lengths_with(chosen[:longest] + chosen[longest + 1 :], others, unit)
        # of sentences with the same words, the one that was considered: a chosen one, or the first that may be
        self.said = [" ".join(sorted(words)) for words in read.words]
        self.considered: dict[str, int] = {}
        for i in [*subset.tolist(), *np.setdiff1d(np.arange(q.size), excluded).tolist()]:
            self.considered.setdefault(self.said[i], i)

    def of(self, i: int, redundancy: float) -> tuple[str, str]:
        """Why sentence i was left out, of which the summary covers a share: in one word, and in a few."""
        if i in self.excluded:
            return "excluded", "excluded"
        twin = self.considered[self.said[i]]
        if twin != i:
            sentence = self.read.sentences[twin]
            document = self.read.cluster.documents[sentence.document].id
            return "same-words", f"has the words of {document}, sentence {sentence.position}"
        if self.alone[i] > self.budget:
            return "too-long", f"longer than the budget: {self.alone[i]:g} of {measured(self.budget, self.unit)}"
        if redundancy >= REDUNDANT:
            return "redundant", f"{redundancy:.0%} is said already"
        fits = self.beside[i] <= self.budget
        if self.q[i] < self.weakest and (fits or self.instead[i] <= self.budget):  # short enough to replace one
            return "weaker", "weaker than every chosen sentence"
        if fits:
            return "better-without", "it would fit, but the set is better without it"
        left = max(self.budget - self.size, 0.0)
        needs = f"takes {self.beside[i] - self.size:g}, with {left:g} of {self.budget:g} {unit_name(self.unit)} left"
        return "does-not-fit", f"does not fit: {needs}"
