"""Why a sentence is not in a summary: the one reason that decided, checked by deciding again without it.

The first of these that holds, by its code:

    excluded       somebody left it out
    same-words     a chosen sentence has the same words, or one that was considered in its place
    too-long       it is longer than the whole budget
    leans          it leans on a sentence that is not there, and stayed out for that
    redundant      without the sentences `by` it would be chosen, and it says what the first of them says
    less-relevant  it is weaker than every chosen sentence only because of the question
    does-not-fit   with as much more room as it lacks it would be chosen
    outdone        without the sentence `by` it would be chosen, though they say different things
    adds-nothing   there is room, but it is not worth having beside the others
    weaker         others would come before it, those `by`, and the words say in what they are better
    better-without the same, though there is nothing in which it is behind the chosen ones

Where deciding again would take long (`dpplearn.summarize.explain.what_if`), "redundant" is what the summary covers
`REDUNDANT` of, "does-not-fit" what does not fit and is not weaker, and "outdone" is not known.
"""

from __future__ import annotations

import numpy as np

from dpplearn._checks import FloatArray, IntArray
from dpplearn.decoding.limits import fits
from dpplearn.summarize.explain.because import Because
from dpplearn.summarize.explain.explanation import NoCandidate, called, standing
from dpplearn.summarize.explain.topics import Vocabulary, quoted
from dpplearn.summarize.explain.what_if import WhatIf
from dpplearn.summarize.model.choice import Choice
from dpplearn.summarize.model.decision import Decision
from dpplearn.summarize.model.split_cluster import SplitCluster
from dpplearn.summarize.text.units import joined_length, lengths_with, measured

REDUNDANT = 0.2  # the share of a sentence that is said already, from which on that is the reason, where none is checked
ALIKE = 0.15  # a cosine from which on a sentence says what another does, in part
MOSTLY = 0.4  # of a sentence that is said already, from which on that is looked into further
CHAIN = 4  # sentences that say the same, one in place of another, at most
Why = tuple[str, str, tuple[int, ...]]  # a code, the words, and the sentences that it is out for


class Reasons:
    """What was decided about the sentences of a cluster, and what would be decided otherwise."""

    def __init__(self, decision: Decision, choice: Choice, because: Because, vocabulary: Vocabulary) -> None:
        ready, self.budget, self.unit = decision.ready, decision.budget, decision.unit
        self.decision, self.choice, self.because, self.vocabulary = decision, choice, because, vocabulary
        self.read, self.q, self.question = ready.read, ready.dpp.quality, ready.question
        read, q, subset, texts = self.read, self.q, choice.subset, ready.read.texts
        chosen = [texts[i] for i in subset]
        self.what_if = WhatIf(decision, subset)
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

    def of(self, i: int, redundancy: float) -> Why:
        """Why sentence i was left out, of which the summary covers a share."""
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
            return "leans", "leans on the sentence before it", ()
        said = self.said_already(i, redundancy) if self.choice.likeness else ()
        if said:
            shared = quoted(self.vocabulary.shared(i, said[0])[:3])
            return "redundant", f"said already by {self.where(said[0])}{f': {shared}' if shared else ''}", said
        if self.less_relevant(i):
            return "less-relevant", "less close to the question than the chosen ones", self.what_if.before(i)
        if fits(self.beside[i], self.budget):
            return (*self.with_room(i), self.what_if.before(i))
        return self.without_room(i)

    def said_already(self, i: int, redundancy: float) -> tuple[int, ...]:
        """The chosen sentence without which it would be chosen, and which says what it says; or several such, in turn.

        Where one is dropped, another may come that says the same again: that one is dropped, too.
        """
        C = self.decision.ready.likeness[i]
        near = sorted((j for j in self.subset if C[j] >= ALIKE), key=lambda j: -C[j])
        if not self.what_if.asks:
            return (max(self.choice.subset.tolist(), key=lambda j: C[j]),) if redundancy >= REDUNDANT else ()
        for j in near:
            if self.enters(i, self.what_if.without(j)):
                return (j,)
        gone = tuple(near[:1])
        while gone and redundancy >= MOSTLY and len(gone) < CHAIN:
            came = self.what_if.without(*gone)
            if self.enters(i, came):
                return gone
            more = sorted((j for j in came if C[j] >= ALIKE), key=lambda j: -C[j])[:1]
            gone = (*gone, *more) if more else ()
        return ()

    def enters(self, i: int, chosen: frozenset[int]) -> bool:
        """Whether a sentence, in any of its forms, is among those that would be chosen."""
        forms = self.read.forms
        return i in chosen if forms is None else bool(chosen) and bool((forms[[*chosen]] == forms[i]).any())

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

    def without_room(self, i: int) -> Why:
        """Why it was left out where it does not fit: for want of room, for another, or because others are better."""
        asks, weak = self.what_if.asks, self.choice.quality and self.q[i] < self.usual
        lacks, left = self.beside[i] - self.budget, max(self.budget - self.size, 0.0)
        room = f"no room: takes {measured(self.beside[i] - self.size, self.unit)}, with {left:g} left"
        if self.enters(i, self.what_if.with_more(float(lacks))) or not (asks or weak):
            return "does-not-fit", room, ()
        for j in self.choice.subset.tolist():
            if self.enters(i, self.what_if.without(j)):
                return "outdone", f"{self.where(j)} was preferred in its place", (j,)
        return (*self.others_first(i), self.what_if.before(i))

    def others_first(self, i: int) -> tuple[str, str]:
        """In what others are better, those that come before it; or that they make the better set."""
        behind = self.because.behind(i) if self.choice.quality else ""
        if behind or (self.choice.quality and self.q[i] < self.usual):
            return "weaker", f"weaker than the chosen ones{f': {behind}' if behind else ''}"
        return "better-without", "good by itself, but the others together make the better set"

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
    "repeated": "repeated from {}",
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
            else SET_ASIDE[piece.code].format("" if piece.copy_of is None else called(documents[piece.copy_of].id)),
        )
        for piece in read.set_aside
    )
