"""The one record of why: for each chosen sentence, for each one left out, and what the set is like as a whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpplearn._cached import cached_property
from dpplearn._checks import FloatArray, IntArray, count_of
from dpplearn._notebook import short_repr
from dpplearn.learning.relative import Reason
from dpplearn.summarize.corpora.cluster import Sentence, short
from dpplearn.summarize.explain.topics import document_name, place_in_words, quoted

if TYPE_CHECKING:
    from dpplearn.summarize.explain.reasons import Reasons

FEW_PIECES = 5  # pieces that were no candidates that are printed
PRINTED = 76  # characters of a sentence that are printed
LISTED = 10  # sentences left out that are shown, unless more are asked for

SURE, FAIRLY = 0.6, 0.3  # of a summary that its like has, from which on the choice is sure, and fairly so
MUCH_ALIKE = 0.5  # a cosine from which on two sentences say much of the same
NAMED = 3  # documents that are named
FEW_SENTENCES = 5  # sentences: of fewer, a share of what they speak of is all or nothing


@dataclass(frozen=True, repr=False)
class Judged:
    """A sentence, its number, as `include=` has it, its quality q_i, and its probability in a set, given the pins."""

    sentence: Sentence
    number: int
    quality: float
    marginal: float

    @property
    def words(self) -> str:
        """Why it is in the summary, or is not."""
        return ""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.number}, {short(self.sentence.text, 60)!r}: {short(self.words, 80)}>"

    def to_dict(self) -> dict[str, Any]:
        """As data for JSON, with the place of the sentence."""
        return {**place(self.sentence), **{key: x for key, x in vars(self).items() if key != "sentence"}}


@dataclass(frozen=True, repr=False)
class Chosen(Judged):
    """A sentence of the summary and why it is there: at most three reasons, the strongest first.

    A reason has an `idea`, `words`, an `amount` relative to the average sentence of these documents (0.7: twice as
    likely) and its standard `error`. `alone` are words that no other chosen sentence has. `contributions` are the terms
    theta_j f_ij of log q_i^2 by feature, largest first.
    """

    contributions: dict[str, float]
    pinned: bool
    reasons: tuple[Reason, ...]
    alone: tuple[str, ...]

    @property
    def words(self) -> str:
        """The reasons in words, and what it alone speaks of."""
        said = "; ".join(reason.words for reason in self.reasons)
        return f"{said}; the only one on {quoted(self.alone)}" if self.alone else said

    def to_dict(self) -> dict[str, Any]:
        """As data for JSON."""
        return {**super().to_dict(), "reasons": [vars(reason) for reason in self.reasons], "words": self.words}


@dataclass(frozen=True, repr=False)
class LeftOut(Judged):
    """A sentence that is not in the summary, and one reason, in words and as a `code`.

    `by` are the numbers of the chosen sentences that say it already, and `redundancy` is the share of it that the
    summary as a whole covers: 1 - (L_ii - L_iY L_Y^-1 L_Yi) / L_ii.
    """

    redundancy: float
    code: str
    reason: str
    by: tuple[int, ...]

    @property
    def words(self) -> str:
        """The reason."""
        return self.reason


@dataclass(frozen=True)
class NoCandidate:
    """A piece of a document that was never to choose from: its place, the kind of its block, and why.

    `code` is "kind" (no running text), "no-sentence", "announces", "repeated" or "boilerplate".
    """

    text: str
    document: int
    start: int
    end: int
    kind: str
    code: str
    reason: str


@dataclass(frozen=True)
class Covers:
    """What a summary has of its documents: which of them, and the share of the words that they have in common."""

    documents: tuple[int, ...]
    of: int
    share: float
    words: str


@dataclass(frozen=True)
class LeavesOut:
    """What a summary has nothing of: documents, and topics, each some words that it does not have."""

    documents: tuple[int, ...]
    topics: tuple[tuple[str, ...], ...]
    words: str


@dataclass(frozen=True)
class Alike:
    """How alike the chosen sentences are: cosines between every two of them."""

    mean: float
    max: float
    words: str


@dataclass(frozen=True)
class Sureness:
    """How many of the chosen sentences a summary has that the model draws at this length, on average; of how many.

    `share` is that of their length.
    """

    kept: float
    of: int
    share: float
    words: str


@dataclass(frozen=True)
class WholeSet:
    """What there is to say of a set of sentences as a whole."""

    __repr__ = short_repr

    covers: Covers
    leaves_out: LeavesOut
    alikeness: Alike | None
    sureness: Sureness | None

    def lines(self) -> list[tuple[str, str]]:
        """What each is called, and its words, where there are any."""
        parts = zip(("covers", "leaves out", "alike", "sure"), vars(self).values(), strict=True)
        return [(name, part.words) for name, part in parts if part is not None and part.words]


class Explanation:
    """Why each sentence was chosen, why each other one was not, and what the set is like.

    The only telling of it: `str()` gives it in words, `to_dict()` as data, and the HTML report, the API and the page
    show what is here. Each part is made when it is asked for.

    Attributes
    ----------
    chosen : tuple of Chosen
        In the order of the summary; `left_out`: the ten best of the other sentences, by quality.
    as_a_set : WholeSet
        What the summary `covers` and `leaves_out`, its `alikeness` and `sureness`, each in numbers and in `words`.
    documents : tuple of str
        Ids of the cluster's documents, which the sentences number from 0.
    set_aside : tuple of NoCandidate
        Pieces of the documents that were no candidates.
    passed : int
        How many sentences a first choice left out, where there were too many for the exact model.
    """

    def __init__(self, reasons: Reasons, order: IntArray, set_aside: tuple[NoCandidate, ...]) -> None:
        self.reasons, self.order, self.set_aside = reasons, order, set_aside
        self.documents = tuple(document.id for document in reasons.read.cluster.documents)
        self.passed = reasons.read.passed

    @cached_property
    def chosen(self) -> tuple[Chosen, ...]:
        """The sentences of the summary, in its order."""
        return tuple(map(self.reasons.chosen, self.order.tolist()))

    @cached_property
    def left_out(self) -> tuple[LeftOut, ...]:
        """The best sentences that are not in the summary, at most ten."""
        return self.best_left_out()

    def best_left_out(self, most: int | None = LISTED) -> tuple[LeftOut, ...]:
        """The sentences left out of the highest quality, best first; None for all of them."""
        return tuple(map(self.reasons.left_out, self.reasons.numbers[:most]))

    @cached_property
    def redundant(self) -> tuple[LeftOut, ...]:
        """Good sentences that the summary says already, most covered first, at most ten.

        Good is a quality of at least the median of all sentences.
        """
        shares, q = self.reasons.redundancy, self.reasons.ready.dpp.quality
        good = [i for i in sorted(shares, key=lambda i: -shares[i]) if q[i] >= np.median(q)]
        found = map(self.reasons.left_out, good[: 2 * LISTED])
        return tuple(x for x in found if x.code in ("same-words", "redundant") and x.by)[:LISTED]

    @cached_property
    def as_a_set(self) -> WholeSet:
        """What the summary is like as a whole."""
        return whole_set(self.reasons)

    def why(self, number: int) -> Chosen | LeftOut:
        """Why a sentence is in the summary, or why it is not, by its number; a form of one speaks of that."""
        return self.reasons.why(number)

    @property
    def first_choice(self) -> str:
        """Why sentences were left out before the model was asked about the others; empty where it was of all."""
        if not self.passed:
            return ""
        how = "others add more to their part of the text, or have more of the words that summaries are likely to have"
        return f"{self.passed:,} more were left out in a first choice among many: {how}."

    def to_dict(self, most: int | None = LISTED) -> dict[str, Any]:
        """As data for JSON, with so many of the best sentences left out; None for all."""
        pieces = [vars(one) for one in missed_first(self.set_aside, most)]
        return {
            "chosen": [c.to_dict() for c in self.chosen],
            "left_out": [x.to_dict() for x in self.best_left_out(most)],
            **asdict(self.as_a_set),
            "set_aside": {"count": len(self.set_aside), "pieces": pieces},
            **({"first_choice": {"left_out": self.passed, "reason": self.first_choice}} if self.passed else {}),
        }

    def __str__(self) -> str:
        lines = ["Chosen, and why"]
        for c in self.chosen:
            text, where, why = self.row(c)
            dropped = "; ".join(f"“{c.sentence.full[start:end].strip()}”" for start, end in c.sentence.dropped)
            lines += [f"  {text} ({where})", *([f"      without {dropped}"] if dropped else [])]
            lines += [*([f"      with {', '.join(c.sentence.added)}"] if c.sentence.added else []), f"      {why}"]
        lines += ["As a set", *(f"  {name}: {words}" for name, words in self.as_a_set.lines())]
        lines += ["Left out, and why"] if self.left_out else []
        for text, where, why in map(self.row, self.left_out):
            lines += [f"  {text} ({where})", f"      {why}"]
        if self.set_aside:
            counts = Counter(one.code if one.code == "repeated" else one.reason for one in self.set_aside)
            listed = ", ".join(f"{count} {reason}" for reason, count in counts.most_common())
            lines.append(f"No candidates, unless asked for with keep_all (--keep-all): {listed}")
        for one in missed_first(self.set_aside, FEW_PIECES):
            lines.append(f"  {document_name(self.documents[one.document])}: {short(one.text, 60)} ({one.reason})")
        return "\n".join(filter(None, [*lines, self.first_choice]))

    def row(self, x: Chosen | LeftOut) -> tuple[str, str, str]:
        """The beginning of a sentence, where it stands, and why it is in or out."""
        return short(x.sentence.text, PRINTED), place_in_words(self.documents[x.sentence.document], x.sentence), x.words

    def __repr__(self) -> str:
        chosen = count_of(len(self.chosen), "chosen sentence", "chosen sentences")
        return f"<Explanation of {chosen}, {len(self.reasons.numbers)} left out, {len(self.set_aside)} set aside>"


def missed_first(set_aside: tuple[NoCandidate, ...], most: int | None = LISTED) -> tuple[NoCandidate, ...]:
    """Some of the pieces that were no candidates: running text, then headings and the rest."""
    return tuple(sorted(set_aside, key=lambda one: one.code == "kind"))[:most]


def place(sentence: Sentence) -> dict[str, Any]:
    """A sentence and where it stands, as data; of one that was changed also the whole sentence, and the changes."""
    changed = ("full", "dropped", "added") if sentence.dropped or sentence.added else ()
    names = ("text", "document", "position", "start", "end", *changed)
    return {name: getattr(sentence, name) for name in names}


def contributions(names: Sequence[str], terms: FloatArray) -> dict[str, float]:
    """The terms theta_j f_ij of log q_i^2 that are not 0, by feature, largest first."""
    given = {name: float(x) for name, x in zip(names, terms, strict=True) if x != 0.0}
    return dict(sorted(given.items(), key=lambda item: -abs(item[1])))


def whole_set(reasons: Reasons) -> WholeSet:
    """All of it, of the sentences that were chosen."""
    read, vocabulary, Y = reasons.read, reasons.vocabulary, reasons.Y
    names, twins = [document_name(document.id) for document in read.cluster.documents], np.array(read.twins)
    same = np.flatnonzero(np.isin(twins, twins[Y]))  # the summary has the words of these too
    documents = tuple(sorted({read.sentences[i].document for i in same}))
    missing = tuple(i for i in range(len(names)) if i not in documents)
    share, topics = vocabulary.covered(Y), vocabulary.missing(Y)
    covered = [f"{len(documents)} of {len(names)} documents"] if len(names) > 1 else []
    covered += [f"{share:.0%} of what the sentences speak of"] if len(read) >= FEW_SENTENCES else []
    left = [quoted(topic) for topic in topics]
    if missing:
        more = f" and {len(missing) - NAMED} more" if len(missing) > NAMED else ""
        left.append(f"nothing from {', '.join(names[i] for i in missing[:NAMED])}{more}")
    return WholeSet(
        Covers(documents, len(names), share, ", and ".join(covered)),
        LeavesOut(missing, topics, "; ".join(left)),
        alikeness(read.C, Y),
        sureness(reasons),
    )


def alikeness(C: FloatArray, Y: IntArray) -> Alike | None:
    """From the cosines; None for fewer than two sentences."""
    if Y.size < 2:
        return None
    between = C[np.ix_(Y, Y)][np.triu_indices(Y.size, 1)]
    mean, most = float(between.mean()), float(between.max())
    how = "two of them say much of the same" if most >= MUCH_ALIKE else "each says something else"
    return Alike(mean, most, f"{how} (alike by {mean:.2f} on average, {most:.2f} at most; 1 is the same words)")


def sureness(reasons: Reasons) -> Sureness | None:
    """From the probability of each sentence in a summary of this length; None where nothing was to choose."""
    decision, choice, read = reasons.decision, reasons.choice, reasons.read
    free = np.setdiff1d(reasons.Y, decision.pinned)
    barred = decision.excluded if choice.leaning is None else np.union1d(decision.excluded, choice.leaning)
    if choice.chance is None or not free.size or not (read.passed or np.setdiff1d(reasons.numbers, barred).size):
        return None
    chance, cost = choice.chance[free], decision.cost[free]
    kept, share = float(chance.sum()), float(cost @ chance / cost.sum())
    how = "a sure choice" if share >= SURE else "a fairly sure choice" if share >= FAIRLY else "a close choice"
    often = f"a summary drawn from the model has {kept:.1f} of these {free.size} sentences on average"
    if free.size == 1:
        often = f"{share:.0%} of the summaries drawn from the model have this sentence"
    return Sureness(kept, free.size, share, f"{how}: {often}")


def others_than(Y: IntArray, forms: IntArray | None, n: int) -> IntArray:
    """The sentences that are not in Y; where they have shorter forms, those of which no form is.

    Examples
    --------
    >>> others_than(np.array([4]), np.array([0, 0, 1, 2, 2, 2]), 6)
    array([0, 2])
    """
    own = np.arange(n) if forms is None else forms
    first = np.unique(own, return_index=True)[1]
    return np.asarray(first[~np.isin(own[first], own[Y])])
