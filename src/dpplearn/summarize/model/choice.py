"""Chooses the sentences of a summary of some length, and puts them in order.

The budget is a limit: a summary need not fill it. Let R be a summary drawn from e^s L, with s such that R costs the
budget on average: one of the model's own summaries of that length. Sentence i is in R with probability p_i = K_ii. Let
F measure how far a summary agrees with R: the cost of the sentences in both, as a share of the mean cost of the two. A
further sentence with probability p raises F if p is above F / 2, and lowers it otherwise. Two summaries that the model
draws agree by

    F = sum of c_i K_ii^2 / sum of c_i K_ii,     so sentence i is worth having     if   p_i >= F / 2.

This is a rule, not a theorem, because F is that of two draws and not that of the summary. A model that is sure of its
choice (F near 1) asks for sentences that are more often in R than not; one to which all sentences are alike excludes
none. The rule is the same for a page and for a shelf of books. The decoder, not this rule, avoids repetition.

The set Y that the decoder chooses agrees with R by 2 sum_Y c_i p_i / (sum_Y c_i + budget), which is more than F. In a
news story, a sentence with a probability below half of that is dropped again; in other texts, one clearly below it
(`Decision.drop_weak`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from dpplearn._checks import FloatArray, IntArray
from dpplearn._notebook import short_repr
from dpplearn.decoding.candidates import Candidates
from dpplearn.decoding.greedy import greedy_choice, greedy_map
from dpplearn.decoding.limits import Limits, check_limits, fits
from dpplearn.decoding.registry import decoder
from dpplearn.decoding.tilt import tilted_kernel
from dpplearn.dpp import DPP
from dpplearn.process import remaining
from dpplearn.summarize.model.prepared import Prepared
from dpplearn.summarize.model.split_cluster import SplitCluster
from dpplearn.summarize.text.standing import leans, opens
from dpplearn.summarize.text.states import Mask
from dpplearn.summarize.text.tolls import tolls
from dpplearn.summarize.text.units import Unit, joined_length, lengths_with, limit, size_in_words

WEAK = 0.7  # outside news, a sentence is dropped if its probability is below this share of half the agreement
SAMPLES = 1_000_000  # sets that the decoder "sampled" draws
CHRONOLOGICAL, SOURCE, IMPORTANCE = ORDERS = ("chronological", "source", "importance")


class Choice(NamedTuple):
    """The sentences chosen, and the numbers behind the choice.

    `chance` is the probability of each sentence in a summary of this length that the model draws, given the sentences
    to include and exclude. A sentence is worth having if its chance is at least `least`. Either is None if the choice
    did not need it. `leaning` are the sentences left out because they do not stand alone.
    """

    subset: IntArray
    least: float | None = None
    chance: FloatArray | None = None
    leaning: IntArray | None = None

    def __repr__(self) -> str:
        return short_repr(self)


@dataclass(frozen=True, eq=False, repr=False)
class Decision:
    """All that the choice of sentences depends on.

    With `fill`, the decoder chooses among all allowed sentences, and no other rule applies. Sampled and consensus sets
    may exceed the budget by `overrun`, for a scorer that cuts summaries to length. With `annotate`, the names and dates
    added in brackets count as part of a sentence.
    """

    prepared: Prepared
    decoder: str
    budget: float
    unit: Unit
    include: IntArray
    exclude: IntArray
    allowed: Mask  # which sentences may be chosen
    diversity: float = 0.5
    order: str = CHRONOLOGICAL
    fill: bool = False
    rng: int = 0
    n_samples: int = SAMPLES
    overrun: float = 0.0
    annotate: bool = False

    def __repr__(self) -> str:
        return f"<Decision by {self.decoder} on {size_in_words(self.budget, self.unit)} of {self.prepared!r}>"

    @property
    def texts(self) -> list[str]:
        """Each sentence as it would stand alone in the summary."""
        return self.prepared.split.annotated_texts if self.annotate else self.prepared.split.texts

    @property
    def cost(self) -> FloatArray:
        """What each sentence takes of the budget."""
        return self.prepared.split.costs(self.unit, self.annotate)

    @property
    def quality_counts(self) -> bool:
        """Whether the choice depends on how good a sentence is."""
        return self.diversity < 1.0

    @property
    def likeness_counts(self) -> bool:
        """Whether the choice depends on how alike sentences are."""
        return self.diversity > 0.0 or self.decoder == "consensus"

    def choose(self) -> Choice:
        """Choose among the sentences that stand alone, and take others only if these are too few."""
        allowed, included = self.allowed, self.include
        if self.fill:
            return self.choose_among(allowed)
        alone = allowed & self.prepared.split.alone
        alone[included] = allowed[included]
        choice = self.choose_among(alone if alone.any() else allowed)
        least = min(self.budget if self.unit == "sentences" else 1, allowed.sum())
        if choice.subset.size < least:  # too few stand alone
            return replace(self, include=choice.subset).choose_among(allowed)
        return choice._replace(leaning=np.flatnonzero(allowed & ~alone))

    def choose_among(self, allowed: Mask) -> Choice:
        """The best set within the budget of sentences that are worth having; the empty set if none fits."""
        prepared, unit, included, cost = self.prepared, self.unit, self.include, self.cost
        bound, forms = limit(self.budget, unit), prepared.split.forms
        if not (fits(cost[allowed], bound).any() or included.size):
            return Choice(included)
        if (unit == "sentences" or prepared.split.n_dropped) and allowed[included].all():
            every = best_forms(prepared, allowed)  # all may fit if the budget counts sentences, or some were dropped
            if self.fits_joined(every):
                return Choice(every)
        if self.fill and unit != "sentences":
            return Choice(self.decode(allowed))
        room, out = bound - float(cost[included].sum()), np.flatnonzero(~allowed)
        chance, least = worth_of(prepared.kernel(self.diversity), cost, room, included, out, forms)
        if unit == "sentences":
            return Choice(self.choose_number(allowed, chance), chance=chance)
        good = allowed & (chance >= least)
        if included.size or fits(cost[good], bound).any():
            good[included] = True
            subset = self.drop_weak(self.decode_distinct(good), chance)
            return Choice(self.add_key_sentences(subset, good, chance), least, chance)
        # every sentence worth having is too long: take the likeliest other one
        short = allowed & fits(lengths_with([], self.texts, unit), self.budget)
        return Choice(self.trim(np.array([np.where(short, chance, -1.0).argmax()])), least, chance)

    def choose_number(self, allowed: Mask, chance: FloatArray) -> IntArray:
        """As many sentences as a budget in sentences asks for, if so many are allowed."""
        subset, number = self.decode_distinct(allowed), limit(self.budget, self.unit)
        if subset.size < number:  # a decoder may find that fewer are better
            subset = replace(self, decoder="greedy", include=subset).decode(allowed)
        for i in np.argsort(-chance, kind="stable"):  # greedy takes no sentence that depends on those chosen
            if subset.size < number and allowed[i] and self.is_new_form(i, subset):
                subset = np.append(subset, i)
        return np.sort(subset)

    def decode_distinct(self, allowed: Mask) -> IntArray:
        """The set that the decoder chooses, with only the fullest of sentences that tell the same."""
        allowed, matters, included = allowed.copy(), self.prepared.split.matters, self.include.tolist()
        while True:
            subset = self.decode(allowed)
            order = [*included, *sorted(np.setdiff1d(subset, included).tolist(), key=matters.size, reverse=True)]
            repeated = [j for k, j in enumerate(order) if k >= len(included) and self.is_repeated(j, order[:k])]
            if not (repeated and self.likeness_counts):
                return subset
            allowed[repeated] = False

    def decode(self, allowed: Mask) -> IntArray:
        """The set that the decoder chooses among these sentences, or the greedy set if it finds none."""
        prepared, forms, name = self.prepared, self.prepared.split.forms, self.decoder
        model, cost, bound = prepared.kernel(self.diversity), self.cost, limit(self.budget, self.unit)
        fixed: dict[str, Any] = {"include": self.include, "exclude": ~allowed}
        if forms is not None:
            fixed |= {"groups": forms, "max_per_group": 1}
        limits = check_limits(model.n, cost, bound + self.overrun * (name in ("sampled", "consensus")), **fixed)
        if name == "sampled":
            subset = self.draw(model, limits, bound)
        else:
            options = {"utility": prepared.agreement} if name == "consensus" else {}
            subset = decoder(name)(model, limits, **options).subset
        if not subset.size:
            subset = greedy_choice(model, check_limits(model.n, cost, bound, **fixed)).subset
        return self.trim(np.sort(subset), self.overrun)

    def draw(self, model: Candidates, limits: Limits, bound: float) -> IntArray:
        """The best of many samples near the limit, as in the paper (660 to 680 bytes for 665, if `overrun` is allowed).

        The paper draws from the model itself. If no draw is near the limit, as for a length that the model was not
        trained for, the draws are tilted to it, and then shorter ones count, too.
        """
        near, n = bound - self.overrun / 3 if self.overrun else 0.97 * bound, self.n_samples
        tries: list[dict[str, Any]] = [{"min_cost": near}]
        tries += [{"min_cost": low, "tilt": True} for low in (near, 0.85 * bound, 0.0)]
        sampled = decoder(self.decoder)
        sets = (sampled(model, limits, n_samples=n, rng=self.rng, **options).subset for options in tries)
        return next((subset for subset in sets if subset.size), np.empty(0, np.int64))

    def trim(self, subset: IntArray, overrun: float = 0.0) -> IntArray:
        """A set without its weakest sentences, so that the text fits, with the characters that join sentences."""
        q = self.prepared.dpp.quality
        while subset.size and not self.fits_joined(subset, overrun):
            loose = np.setdiff1d(subset, self.include)
            if loose.size == 0:
                size = size_in_words(self.budget + overrun, self.unit)
                raise ValueError(f"The sentences to include are longer than {size} together.")
            subset = np.setdiff1d(subset, loose[q[loose].argmin()])
        return subset

    def drop_weak(self, subset: IntArray, chance: FloatArray) -> IntArray:
        """A set without sentences that lower its agreement. Their room stays empty. News must meet a higher bar."""
        cost, bound = self.cost, limit(self.budget, self.unit)
        weak = 1.0 if self.prepared.split.is_news else WEAK
        while subset.size > max(self.include.size, 1):
            agreement = 2.0 * (cost[subset] @ chance[subset]) / (cost[subset].sum() + bound)
            loose = np.setdiff1d(subset, self.include)
            weakest = loose[chance[loose].argmin()]
            if chance[weakest] >= weak * agreement / 2.0:
                break
            subset = subset[subset != weakest]
        return subset

    def add_key_sentences(self, subset: IntArray, good: Mask, chance: FloatArray) -> IntArray:
        """A set with the last number of dead and, if documents have dates, an opening before everything else.

        The likeliest sentence that gives either takes the place of the weakest ones; others fill the room left.
        """
        split, decision, original = self.prepared.split, self, subset
        if self.prepared.question is not None or split.listed_language != "English":
            return subset
        for candidates in (last_tolls, earlier_openings):
            missing = candidates(split, subset, good) & fits(self.cost, limit(self.budget, self.unit) / 2)
            included = [self.texts[i] for i in decision.include]
            missing &= fits(lengths_with(included, self.texts, self.unit), self.budget)
            if missing.any():
                key = int(np.where(missing, chance, -1.0).argmax())
                decision = replace(decision, include=np.append(decision.include, key))
                others = [j for j in subset if self.is_new(j, np.array([key]))]
                subset = decision.trim(np.union1d(others, decision.include).astype(np.int64))
        openings = subset[is_opening(split)[subset]]
        if is_dated(split) and openings.size:  # the story begins with the first of these
            good = good & (split.when >= split.when[openings].min())
            subset = np.union1d(subset[good[subset]], decision.include)
        if np.array_equal(subset, original):
            return subset
        for i in np.argsort(-chance, kind="stable"):
            if good[i] and self.is_new(i, subset) and self.fits_joined(more := np.union1d(subset, [i])):
                subset = more
        return decision.drop_weak(subset, chance)

    def fits_joined(self, subset: IntArray, overrun: float = 0.0) -> bool:
        """Whether the text of a set, with the characters between its sentences, fits the budget."""
        return bool(fits(joined_length([self.texts[i] for i in subset], self.unit), self.budget + overrun))

    def is_new_form(self, i: int, subset: IntArray) -> bool:
        """Whether neither a sentence nor another form of it is in a set."""
        forms = self.prepared.split.forms
        return i not in subset if forms is None else forms[i] not in forms[subset]

    def is_repeated(self, i: int, subset: Iterable[int]) -> bool:
        """Whether a sentence of a set tells the same as this one."""
        return any(self.prepared.split.matters.repeats(j, i) for j in subset)

    def is_new(self, i: int, subset: IntArray) -> bool:
        """Whether a set has neither a form of a sentence nor one that tells the same."""
        return self.is_new_form(i, subset) and not self.is_repeated(i, subset)


def best_forms(prepared: Prepared, allowed: Mask) -> IntArray:
    """The best form of each allowed sentence."""
    every, forms = np.flatnonzero(allowed), prepared.split.forms
    if forms is None:
        return every
    order = every[np.argsort(-prepared.dpp.quality[every], kind="stable")]
    return np.sort(order[np.unique(forms[order], return_index=True)[1]])


def is_dated(split: SplitCluster) -> bool:
    """Whether there are several documents, and at least half of them have a date."""
    times = split.order_times
    return len(times) > 1 and 2 * sum(time is not None for time in times) >= len(times)


def is_opening(split: SplitCluster) -> Mask:
    """Which sentences begin their documents, stand alone, and say what happened."""
    first = np.array([sentence.position == 1 for sentence in split.sentences])
    first &= split.alone
    first[first] = [opens(split.texts[i]) for i in np.flatnonzero(first)]
    return first


def last_tolls(split: SplitCluster, subset: IntArray, good: Mask) -> Mask:
    """Which sentences give the last number of dead, if several documents give one and the set does not."""
    dead = np.array([*map(deaths, split.texts)])
    n_documents = len({*split.document_numbers[dead > 0].tolist()})
    if dead[subset].any() or n_documents < max(2, len(split.cluster.documents) / 4):
        return np.zeros_like(good)
    return good & (dead > 0) & (dead == max(dead[split.alone], default=0))


def earlier_openings(split: SplitCluster, subset: IntArray, good: Mask) -> Mask:
    """Which openings are no later than the first sentence of a set, unless the set begins with an opening."""
    openings, first = is_opening(split), min(split.when[subset], default=-1)
    opened = openings[subset] & (split.when[subset] == first)
    return good & openings & (split.when <= first) & (is_dated(split) and not opened.any())


def in_order(split: SplitCluster, subset: IntArray, order: str, model: Candidates) -> IntArray:
    """The sentences of a set in the order in which they are to be read.

    "source" is the order of the documents and of their text. "chronological" is the same with the documents by time; if
    they have no dates, an opening that says what happened comes first. "importance" puts first what adds most to
    log det L_Y, so that the first n are the greedy choice of n among them. There a sentence that leans on the one
    before it follows that one, and other leaning sentences come last.
    """
    if order == CHRONOLOGICAL:
        ordered = subset[np.lexsort((subset, split.when[subset]))]
        if len(split.cluster.documents) == 1 or is_dated(split):
            return ordered
        first = opening(split, ordered)
        return np.append(first, ordered[ordered != first])
    if order == SOURCE:
        return np.sort(subset)
    greedy = greedy_map(DPP(model.operand.block(subset)), k=subset.size, gain="log").subset
    dependent = np.setdiff1d(np.arange(subset.size), greedy)  # greedy leaves out sentences that depend on others
    ranked = subset[[*greedy, *dependent]].tolist()
    leaning = {i: leans(split.texts[i], split.listed_language) for i in ranked}
    by_place = {(split.sentences[i].document, split.sentences[i].position): i for i in ranked}
    head = {i: i for i in ranked}
    for (document, position), i in sorted(by_place.items()):  # in this order, a chain leads to its first sentence
        if leaning[i]:
            head[i] = head[by_place.get((document, position - 1), i)]
    heads = sorted(dict.fromkeys(head[i] for i in ranked), key=leaning.__getitem__)  # leaning sentences last
    return np.array([i for first in heads for i in sorted(ranked) if head[i] == first], np.int64)


def opening(split: SplitCluster, ordered: IntArray) -> int:
    """The sentence that opens a summary of documents without dates.

    The best opening says how many died, because this explains the others. The next best begins a document and says what
    happened, and after it comes any sentence that says what happened.
    """

    def merits(i: int) -> tuple[int, bool, bool, bool]:
        alone, is_first = bool(split.alone[i]), split.sentences[i].position == 1
        is_event = alone and opens(split.texts[i])
        return is_event * deaths(split.texts[i]), is_event and is_first, is_event, alone and is_first

    return max(ordered.tolist(), key=merits)


def deaths(text: str) -> int:
    """How many died according to a sentence; 0 if it does not say."""
    return tolls(text)["dead"].number if "dead" in tolls(text) else 0


def worth_of(
    model: Candidates, cost: FloatArray, room: float, included: IntArray, out: IntArray, forms: IntArray | None = None
) -> tuple[FloatArray, float]:
    """How likely each sentence is in a summary of one length, and how likely it must be to be worth having.

    `included` and `out` are the sentences to include and exclude, and `room` is the budget left for the others. `forms`
    has the number of the sentence that each is a form of. A draw has only one form of a sentence, no matter which, so a
    form is as likely as its sentence in any form.
    """
    rest = remaining(model.n, included, out)
    p = np.zeros(model.n)
    if not rest.size or room <= 0.0:
        return p, 1.0
    p[rest] = tilted_kernel(model.conditioned(included, out), cost[rest], room, 1e-5).diagonal()
    share = cost * p
    if forms is not None:
        p = np.where(p > 0.0, np.minimum(np.bincount(forms, p)[forms], 1.0), p)
    return p, float(share @ p / share.sum()) / 2.0
