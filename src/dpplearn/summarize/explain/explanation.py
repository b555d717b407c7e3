"""Why each sentence is in a summary, and why each other one is not.

Beside the others chosen, Y', a sentence multiplies the probability of the set by q_i^2 r_i, where r_i = S_ii - S_iY'
S_Y'^-1 S_Y'i is the part of it that they do not say. The logarithm of this, less that of the average sentence, is

    sum over ideas of theta_A . (f_iA - mean f_A)  +  log (r_i / mean r),

with a term for each idea A, a group of features (`dpplearn.learning.reasons`). At another diversity than the learned
one, q_i^2a and S(b) take the place of q_i^2 and S (`dpplearn.decoding.candidates`). So at diversity 0 it is no reason
what others say, and at 1 quality is none. Consensus decoding compares sets by their words: there the share of a
sentence's words that a summary is expected to have is one more term, against that of the average sentence.

A sentence that was not chosen has one reason, the first of these that holds, with a code:

    excluded       the caller left it out
    same-words     a chosen sentence has the same words, or one that was considered in its place
    too-long       it is longer than the whole budget
    not-alone      it cannot stand alone: it leans on the sentence before it, asks, answers, greets, mostly quotes ...
    redundant      a chosen sentence, `by`, says it with its names and figures, or tells the same event
    less-relevant  it is weaker than every chosen sentence only because of the question
    adds-nothing   there is room, but it is not worth having beside the others
    weaker         it is weaker than the chosen ones on average, and the words say in what
    does-not-fit   it is as good as they are, and there is no room for it
    better-without the others together make the better set

All this is read off the choice: nothing is decided again.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dpplearn._cached import cached_property
from dpplearn._checks import FloatArray, IntArray, count_of
from dpplearn.decoding.candidates import exponents, mixed
from dpplearn.decoding.limits import fits
from dpplearn.learning.reasons import LEAST_AMOUNT, GroupEffects, Reason, strongest_reasons
from dpplearn.summarize.corpora.cluster import Sentence, document_name, short
from dpplearn.summarize.explain.records import Chosen, LeftOut, WholeSet, running_first, whole_set
from dpplearn.summarize.explain.topics import (
    ABOUT,
    ADDS,
    FAR_WORDS,
    LIKELY,
    OTHER_PLACE,
    PLACE,
    Idea,
    Vocabulary,
    ideas_of,
    level,
    level_of,
    place_in_words,
    placed,
    quoted,
)
from dpplearn.summarize.model.prepared import Prepared
from dpplearn.summarize.text.units import joined_length, lengths_with, size_in_words

if TYPE_CHECKING:
    from dpplearn.summarize.explain.summary import Summary

FEW_PIECES = 5  # number of pieces set aside that are printed
PRINTED = 76  # characters of a sentence that are printed
LISTED = 10  # number of sentences left out that are shown, unless more are asked for
NOTHING = 1e-6  # the least share of a sentence, so that its logarithm is finite
INCLUDED = Reason("included", "you asked for it", 0.0)


class Explanation:
    """Why each sentence was chosen, why each other one was not, and what the set is like.

    `str()` gives it in words and `to_dict()` as data. The HTML report, the API and the page show the same reasons.
    Each part is made when it is asked for.

    Attributes
    ----------
    chosen : tuple of Chosen
        In the order of the summary; `left_out`: the ten best of the other sentences, by quality.
    as_a_set : WholeSet
        What the summary `covers` and `leaves_out`, its `alikeness` and `sureness`, each in numbers and in `words`.
    documents : tuple of str
        Ids of the cluster's documents, in the order of their numbers.
    set_aside : tuple of SetAside
        Pieces of the documents that were no candidates, each with the reason.
    n_dropped : int
        How many sentences a first choice left out, where there were too many for the exact model.
    numbers : list of int
        The sentences left out, best first; `redundancy` is how much of each the summary covers.
    """

    def __init__(self, summary: Summary) -> None:
        self.summary, self.decision, self.choice = summary, summary.decision, summary.choice
        self.prepared, self.split, self.Y = summary.prepared, summary.split, summary.subset
        split, decision, q = self.split, self.decision, self.prepared.dpp.quality
        self.documents = tuple(document.id for document in split.cluster.documents)
        self.set_aside, self.n_dropped = split.set_aside, split.n_dropped
        self.vocabulary, self.texts = Vocabulary.of(split), [decision.texts[i] for i in self.Y]
        self.mean_quality = float(np.average(q[self.Y], weights=decision.cost[self.Y]))  # of the chosen words
        forms = np.arange(q.size) if split.forms is None else split.forms
        first = np.unique(forms, return_index=True)[1]  # a sentence comes before its shorter forms
        rest = first[~np.isin(forms[first], forms[self.Y])]
        rest = rest[np.argsort(-q[rest], kind="stable")]
        shares = covered_shares(self.prepared.dpp.similarity, rest, self.Y)
        self.numbers, self.redundancy = rest.tolist(), dict(zip(rest.tolist(), shares.tolist(), strict=True))
        best = np.zeros(q.size)  # the quality of a sentence in its best form
        np.maximum.at(best, forms, q)
        self.forms, self.q, self._left_out = forms, best[forms], dict[int, LeftOut]()
        # of sentences with the same words, the one that was considered: a chosen one, or the first that may be
        self.considered = split.considered([*self.Y, *np.setdiff1d(np.arange(q.size), decision.exclude)])
        assert split.features is not None
        self.features = split.features.features
        self.ideas = ideas_of(self.features)
        self.relative = GroupEffects(self.prepared.model, split.items, self.ideas)
        self.power, self.share = exponents(decision.diversity)  # a and b
        self.amounts: dict[Idea, FloatArray] = {idea: self.power * x for idea, x in self.relative.amounts.items()}
        self.more: dict[Idea, FloatArray] = {}  # ideas that are no features, with a number for each sentence
        if self.prepared.question is not None:
            lift = self.more[ABOUT] = self.prepared.question.lift
            self.amounts[ABOUT] = 2.0 * self.power * (lift - lift.mean())
        if decision.decoder == "consensus" and self.choice.chance is not None:
            likely = self.more[LIKELY] = likely_words(self.prepared, self.choice.chance, decision.include)
            self.amounts[LIKELY] = np.log(likely / likely.mean())

    @cached_property
    def chosen(self) -> tuple[Chosen, ...]:
        """The sentences of the summary, in its order."""
        return tuple(map(self.for_chosen, self.summary.order.tolist()))

    @cached_property
    def left_out(self) -> tuple[LeftOut, ...]:
        """The best sentences that are not in the summary, at most ten."""
        return self.best_left_out()

    def best_left_out(self, most: int | None = LISTED) -> tuple[LeftOut, ...]:
        """The sentences left out of the highest quality, best first; None for all of them."""
        return tuple(map(self.for_left_out, self.numbers[:most]))

    @cached_property
    def redundant(self) -> tuple[LeftOut, ...]:
        """Sentences of at least median quality that the summary says already, most covered first, at most ten."""
        q, least = self.prepared.dpp.quality, np.median(self.prepared.dpp.quality)
        good = [i for i in self.numbers if q[i] >= least]
        good = sorted(good, key=lambda i: -self.redundancy[i])[: 2 * LISTED]
        return tuple(x for x in map(self.for_left_out, good) if x.code in ("same-words", "redundant") and x.by)[:LISTED]

    @cached_property
    def as_a_set(self) -> WholeSet:
        """What the summary is like as a whole."""
        return whole_set(self.summary, self.numbers)

    def why(self, number: int) -> Chosen | LeftOut:
        """Why a sentence is in the summary, or why it is not, by its number or that of one of its forms."""
        if number not in self.redundancy:
            number = next(j for j in (*self.Y.tolist(), *self.numbers) if self.forms[j] == self.forms[number])
        return self.for_left_out(number) if number in self.redundancy else self.for_chosen(number)

    @property
    def first_choice(self) -> str:
        """Why a first choice left sentences out; empty if the model was asked about all of them."""
        if not self.n_dropped:
            return ""
        how = "others add more to their part of the text, or have more of the words that summaries are likely to have"
        return f"{self.n_dropped:,} more were left out in a first choice among many: {how}."

    def to_dict(self, most: int | None = LISTED) -> dict[str, Any]:
        """As data for JSON, with at most this many of the sentences left out and pieces set aside; None for all."""
        pieces = [vars(piece) for piece in running_first(self.set_aside)[:most]]
        return {
            "chosen": [c.to_dict() for c in self.chosen],
            "left_out": [x.to_dict() for x in self.best_left_out(most)],
            **asdict(self.as_a_set),
            "set_aside": {"count": len(self.set_aside), "pieces": pieces},
            **({"first_choice": {"left_out": self.n_dropped, "reason": self.first_choice}} if self.n_dropped else {}),
        }

    def __str__(self) -> str:
        lines = ["Chosen, and why"]
        for c in self.chosen:
            text, where, why = self.row(c)
            dropped = "; ".join(f"“{c.sentence.full[start:end].strip()}”" for start, end in c.sentence.dropped)
            changes = [("without", dropped), ("with", ", ".join(c.sentence.added))]
            lines += [f"  {text} ({where})", *(f"      {how} {what}" for how, what in changes if what), f"      {why}"]
        lines += ["As a set", *(f"  {name}: {words}" for name, words in self.as_a_set.lines())]
        lines += ["Left out, and why"] if self.left_out else []
        for text, where, why in map(self.row, self.left_out):
            lines += [f"  {text} ({where})", f"      {why}"]
        if self.set_aside:
            counts = Counter(piece.code if piece.code == "repeated" else piece.reason for piece in self.set_aside)
            listed = ", ".join(f"{count} {reason}" for reason, count in counts.most_common())
            lines.append(f"No candidates, unless asked for with keep_all (--keep-all): {listed}")
        for piece in running_first(self.set_aside)[:FEW_PIECES]:
            lines.append(f"  {document_name(self.documents[piece.document])}: {short(piece.text, 60)} ({piece.reason})")
        return "\n".join(filter(None, [*lines, self.first_choice]))

    def row(self, x: Chosen | LeftOut) -> tuple[str, str, str]:
        """The beginning of a sentence, its place, and why it is in or out."""
        return short(x.sentence.text, PRINTED), place_in_words(self.documents[x.sentence.document], x.sentence), x.words

    def __repr__(self) -> str:
        chosen = count_of(len(self.chosen), "chosen sentence", "chosen sentences")
        return f"<Explanation of {chosen}, {len(self.numbers)} left out, {len(self.set_aside)} set aside>"

    def judged_fields(self, i: int) -> tuple[Sentence, int, float, float]:
        """The fields of `Judged`."""
        return self.split.sentences[i], i, float(self.prepared.dpp.quality[i]), float(self.summary.marginals[i])

    # Reasons for the chosen sentences

    def for_chosen(self, i: int) -> Chosen:
        """A sentence of the summary, with at most three reasons that count, the strongest first, or a weaker one."""
        included, others = bool(np.isin(i, self.decision.include)), np.setdiff1d(self.Y, i)
        terms = [] if included else [*(self.reason_for(idea, i) for idea in self.amounts), *self.novelty(i)]
        reasons = (INCLUDED,) if included else strongest_reasons(terms) or (self.as_a_whole(i, terms),)
        unshared = self.vocabulary.words[i] - self.vocabulary.words_in(others) if others.size else ()
        words = self.vocabulary.strongest(unshared)
        chosen = Chosen(*self.judged_fields(i), self.prepared.terms(i), included, reasons, words)
        return replace(chosen, sentence=self.summary.sentences[self.summary.order.tolist().index(i)])

    def as_a_whole(self, i: int, terms: list[Reason]) -> Reason:
        """The reason where no idea counts by itself: all of them together, or the room that there was."""
        if self.prepared.n == 1:
            return Reason("only", "the only sentence", 0.0)
        total = sum(reason.amount for reason in terms)
        whole = Reason("all", "a little of everything", total, self.error(i, *self.ideas))
        return whole if whole.counts else Reason("room", "no better than others, but there was room for it", total)

    def reason_for(self, idea: Idea, i: int) -> Reason:
        """How much one idea speaks for a sentence."""
        words, question = self.words(idea, i), self.prepared.question
        if idea.name == PLACE:
            document = self.split.document_numbers
            last = int(self.split.in_document[0][document == document[i]].max())
            words = placed(self.split.sentences[i], last, len(self.documents))
        if idea is ABOUT and question is not None and not question.shares[i]:
            words = FAR_WORDS
        error = None if idea in self.more else self.error(i, idea)
        return Reason(idea.name, words, float(self.amounts[idea][i]), error)

    def words(self, idea: Idea, i: int) -> str:
        """Whether a sentence has much or little of an idea, in words."""
        return idea.low if self.levels[idea][i] < 0.5 else idea.high

    @cached_property
    def levels(self) -> dict[Idea, FloatArray]:
        """How much of each idea the sentences have, as the share of the others that have less."""
        levels = {idea: level_of(idea, self.relative.values, self.features) for idea in self.ideas}
        return levels | {idea: level([x]) for idea, x in self.more.items()}

    def error(self, i: int, *ideas: Idea) -> float | None:
        """The standard error of what ideas add for a sentence together."""
        error = self.relative.error(i, *ideas)
        return None if error is None else self.power * error

    @cached_property
    def similarity(self) -> FloatArray:
        """S(b), as it counted at this diversity."""
        return mixed(self.prepared.dpp.similarity, self.share)

    def novelty(self, i: int) -> list[Reason]:
        """How much a sentence adds to the other chosen ones, compared with the average sentence."""
        others = np.setdiff1d(self.Y, i)
        if not others.size:
            return []
        beside = np.setdiff1d(np.arange(self.prepared.n), others)
        new = 1.0 - covered_shares(self.similarity, beside, others)
        share = max(float(new[np.searchsorted(beside, i)]), NOTHING)
        amount = float(np.log(share / max(float(new.mean()), NOTHING)))
        return [Reason(ADDS, "says what no other chosen sentence does", amount)]

    # Reasons against the others

    def for_left_out(self, i: int) -> LeftOut:
        """A sentence that is not in the summary, with the reason; made once, since several lists may ask for it."""
        if i not in self._left_out:
            code, words, *by = self.reason_against(i)
            self._left_out[i] = LeftOut(*self.judged_fields(i), self.redundancy[i], code, words, tuple(by))
        return self._left_out[i]

    def reason_against(self, i: int) -> tuple[str, str] | tuple[str, str, int]:
        """The code, the words and, for some codes, the chosen sentence that a sentence is left out for."""
        split, choice, decision, unit, budget = (
            self.split, self.choice, self.decision, self.summary.unit, self.summary.budget
        )  # fmt: skip
        if i in decision.exclude:
            return "excluded", "you left it out"
        twin = self.considered[split.twins[i]]
        same = "same-words", f"has the words of {self.where(twin)}"
        if twin in self.Y:
            return *same, int(twin)
        texts = [decision.texts[k] for k in np.flatnonzero(self.forms == self.forms[i])]
        alone, beside = (min(lengths_with(some, texts, unit)) for some in ([], self.texts))
        if not fits(alone, budget):
            return "too-long", f"longer than the whole summary may be: {alone:g} of {size_in_words(budget, unit)}"
        if twin != i:
            return same
        if choice.leaning is not None and i in choice.leaning:
            return "not-alone", str(split.lacks[i] or "does not stand alone")
        if decision.likeness_counts:
            for j in self.Y[np.argsort(-split.C[i, self.Y], kind="stable")].tolist():  # most alike first
                says = split.matters.says(j, i)
                if says or split.matters.repeats(j, i):
                    shared = quoted(self.vocabulary.strongest(self.vocabulary.words[i] & self.vocabulary.words[j]))
                    how = f"{'said already by' if says else 'tells the same event as'} {self.where(j)}"
                    return "redundant", f"{how}{f': {shared}' if shared else ''}", j
        if self.prepared.question is not None and decision.quality_counts:
            plain = self.q / np.exp(self.prepared.question.lift)
            if self.q[i] < self.prepared.dpp.quality[self.Y].min() and plain[i] >= plain[self.Y].min():
                return "less-relevant", "less close to the question than the chosen ones"
        room = bool(fits(beside, budget))
        if room and choice.chance is not None and choice.least is not None and choice.chance[i] < choice.least:
            share = f"{choice.chance[i]:.1%} likely in a summary of this length, of {choice.least:.1%} that it takes"
            return "adds-nothing", f"would add nothing: {share} to be worth having"
        if decision.quality_counts and self.q[i] < self.mean_quality:
            behind = self.weaknesses(i)
            return "weaker", f"weaker than the chosen ones on average{f': {behind}' if behind else ''}"
        if room:
            return "better-without", "it would fit, but the set is better without it"
        size = joined_length(self.texts, unit)
        return (
            "does-not-fit",
            f"no room: takes {size_in_words(beside - size, unit)}, with {max(budget - size, 0.0):g} left",
        )

    @cached_property
    def chosen_amounts(self) -> dict[Idea, float]:
        """How much each idea speaks for the chosen sentences, on average."""
        return {idea: float(amounts[self.Y].mean()) for idea, amounts in self.amounts.items()}

    def weaknesses(self, i: int) -> str:
        """In what a sentence is behind the chosen ones: at most two ideas, the largest gap first."""
        gaps = {idea: self.amounts[idea][i] - mean for idea, mean in self.chosen_amounts.items()}
        largest = sorted((idea for idea in gaps if gaps[idea] <= -LEAST_AMOUNT), key=lambda idea: gaps[idea])[:2]
        position = self.split.in_document[0]
        earlier = position[i] <= max(1.0, position[self.Y].mean())  # then its place counts less for another reason
        return ", ".join(
            OTHER_PLACE if idea.name == PLACE and earlier else idea.less or self.words(idea, i) for idea in largest
        )

    def where(self, i: int) -> str:
        """The document of a sentence, and its place there."""
        return place_in_words(self.documents[self.split.sentences[i].document], self.split.sentences[i])


def likely_words(prepared: Prepared, chance: FloatArray, included: IntArray) -> FloatArray:
    """The share of each sentence's words that a summary drawn from the model is expected to have, as consensus does.

    Of words that are expected E N_t times, a sentence that has a_t of them gets min(a_t, E N_t).
    """
    counts, chance = prepared.agreement[0][1], chance.copy()
    chance[included] = 1.0
    shared = counts.copy()
    shared.data = np.minimum(counts.data, (counts.T @ chance)[counts.indices])
    share = np.asarray(shared.sum(axis=1)) / np.maximum(np.asarray(counts.sum(axis=1)), 1.0)
    return np.asarray(np.maximum(share, NOTHING))


def covered_shares(S: FloatArray, items: IntArray, Y: IntArray) -> FloatArray:
    """How much of each item the subset Y covers: S_iY S_Y^-1 S_Yi, from 0 to 1.

    Where the chosen items depend on each other, the pseudo-inverse is the inverse on the space that they span.
    """
    A = S[np.ix_(items, Y)]
    inverse = np.linalg.pinv(S[np.ix_(Y, Y)], rcond=1e-10, hermitian=True)
    return np.clip(((A @ inverse) * A).sum(axis=1), 0.0, 1.0)
