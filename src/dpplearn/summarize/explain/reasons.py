"""Why a sentence is not in a summary: one reason, the first of these that holds, by its code.

    excluded       somebody left it out
    same-words     a chosen sentence has the same words, or one that was considered in its place
    too-long       it is longer than the whole budget
    not-alone      it does not stand alone: it leans on the sentence before it, asks, answers, greets, mostly quotes ...
    redundant      a chosen sentence, `by`, says it: the same matter, with its names and figures
    less-relevant  it is weaker than every chosen sentence only because of the question
    adds-nothing   there is room, but it is not worth having beside the others
    weaker         it is weaker than the chosen ones on average, and the words say in what
    does-not-fit   it is as good as they are, and there is no room for it
    better-without the others together make the better set

All are read off the choice as it was made: nothing is decided again.
"""

from __future__ import annotations

import numpy as np

from dpplearn._checks import FloatArray, IntArray
from dpplearn.decoding.limits import fits
from dpplearn.summarize.explain.because import Because
from dpplearn.summarize.explain.explanation import NoCandidate, called, standing
from dpplearn.summarize.explain.topics import Vocabulary, quoted
from dpplearn.summarize.model.choice import Choice, Decision
from dpplearn.summarize.model.split_cluster import SplitCluster
from dpplearn.summarize.text.standing import LEAST, Lack
from dpplearn.summarize.text.units import joined_length, lengths_with, measured

Why = tuple[str, str, tuple[int, ...]]  # a code, the words, and the sentences that it is out for


class Reasons:
    """What was decided about the sentences of a cluster."""

    def __init__(self, decision: Decision, choice: Choice, because: Because, vocabulary: Vocabulary) -> None:
        ready, self.budget, self.unit = decision.ready, decision.budget, decision.unit
        self.choice, self.because, self.vocabulary = choice, because, vocabulary
        self.read, self.q, self.question, self.likeness = ready.read, ready.dpp.quality, ready.question, ready.likeness
        read, q, subset, texts = self.read, self.q, choice.subset, ready.read.texts
        chosen = [texts[i] for i in subset]
        self.subset, self.excluded = set(subset.tolist()), set(decision.excluded.tolist())
        self.leaning = set(() if choice.leaning is None else choice.leaning.tolist())
        self.weakest, self.size = q[subset].min(), joined_length(chosen, self.unit)
        self.usual = float(np.average(q[subset], weights=read.costs(self.unit)[subset]))  # of a word of the summary
        self.alone, self.beside = lengths_with([], texts, self.unit), lengths_with(chosen, texts, self.unit)
        if read.forms is not None:  # what holds of a sentence holds of all its forms: of the shortest, of the best
            self.q = over_forms(np.maximum, q, read.forms)
            self.alone, self.beside = (over_forms(np.minimum, sizes, read.forms) for sizes in (self.alone, self.beside))
        # of sentences with the same words, the one that was considered: a chosen one, or the first that may be
        self.considered = read.considered([*subset, *np.setdiff1d(np.arange(q.size), decision.excluded)])

    def of(self, i: int) -> Why:
        """Why sentence i was left out."""
        if i in self.excluded:
            return "excluded", "you left it out", ()
        twin = self.considered[self.read.twins[i]]
        same = "same-words", f"has the words of {self.where(twin)}"
        if twin in self.subset:
            return (*same, (int(twin),))
        if not fits(self.alone[i], self.budget):
            longer = f"longer than the whole summary may be: {self.alone[i]:g} of {measured(self.budget, self.unit)}"
            return "too-long", longer, ()
        if twin != i:
            return (*same, ())
        if i in self.leaning:
            lack = self.read.lacks[i]
            return "not-alone", LACKS[lack] if lack else "does not stand alone", ()
        said = self.said_by(i) if self.choice.likeness else None
        if said is not None:
            shared = quoted(self.vocabulary.shared(i, said)[:3])
            return "redundant", f"said already by {self.where(said)}{f': {shared}' if shared else ''}", (said,)
        if self.less_relevant(i):
            return "less-relevant", "less close to the question than the chosen ones", ()
        return (*self.not_worth(i), ())

    def said_by(self, i: int) -> int | None:
        """The chosen sentence that says what this one says, the one most like it first."""
        for j in sorted(self.subset, key=lambda j: -self.likeness[i, j]):
            if self.vocabulary.says(j, i):
                return j
        return None

    def less_relevant(self, i: int) -> bool:
        """Whether it is weaker than every chosen sentence because of the question alone."""
        if self.question is None or not self.choice.quality or self.q[i] >= self.weakest:
            return False
        q = self.q / self.question.factor
        return bool(q[i] >= q[self.choice.subset].min())

    def not_worth(self, i: int) -> tuple[str, str]:
        """Why a sentence that nobody ruled out and that nothing repeats was left out."""
        likely, least, room = self.choice.likely, self.choice.least, bool(fits(self.beside[i], self.budget))
        if room and likely is not None and least is not None and likely[i] < least:
            share = f"{likely[i]:.1%} likely in a summary of this length, of {least:.1%} that it takes"
            return "adds-nothing", f"would add nothing: {share} to be worth having"
        if self.choice.quality and self.q[i] < self.usual:
            behind = self.because.behind(i)
            return "weaker", f"weaker than the chosen ones on average{f': {behind}' if behind else ''}"
        if room:
            return "better-without", "it would fit, but the set is better without it"
        needs, left = measured(self.beside[i] - self.size, self.unit), max(self.budget - self.size, 0.0)
        return "does-not-fit", f"no room: takes {needs}, with {left:g} left"

    def where(self, i: int) -> str:
        """The document of a sentence, and its place there."""
        sentence = self.read.sentences[i]
        return standing(self.read.cluster.documents[sentence.document].id, sentence)


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


LACKS = {
    Lack.SHORT: f"has fewer than {LEAST} words",
    Lack.QUESTION: "is a question",
    Lack.ANSWER: "is an answer, or polite",
    Lack.INSTRUCTION: "tells its reader what to do",
    Lack.ANNOUNCES: "only announces what follows",
    Lack.QUOTATION: "is mostly a quotation, half of one, or of somebody without a full name",
    Lack.NO_VERB: "has no verb",
    Lack.LEANS: "leans on the sentence before it",
}
KIND_WORDS = {
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
    "repeated": "repeated from {}",
    "boilerplate": "in most documents",
}


def set_aside(read: SplitCluster) -> tuple[NoCandidate, ...]:
    """The pieces of a cluster that were no candidates, with the reason for each in a few words."""
    documents = read.cluster.documents
    return tuple(
        NoCandidate(
            *piece[:6],
            KIND_WORDS[piece.kind]
            if piece.code == "kind"
            else SET_ASIDE[piece.code].format("" if piece.copy_of is None else called(documents[piece.copy_of].id)),
        )
        for piece in read.set_aside
    )
