"""Records of an explanation: why a sentence is in a summary or is not, and what the summary is like as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpplearn._checks import FloatArray
from dpplearn._notebook import short_repr
from dpplearn.learning.reasons import Reason
from dpplearn.summarize.corpora.candidates import SetAside
from dpplearn.summarize.corpora.cluster import Sentence, document_name, short
from dpplearn.summarize.explain.topics import Vocabulary, quoted
from dpplearn.summarize.model.choice import CHRONOLOGICAL

if TYPE_CHECKING:
    from dpplearn.summarize.explain.summary import Summary

SURE, FAIRLY = 0.6, 0.3  # the share of a summary in one drawn from the model from which on a choice is sure, or fairly
MUCH_ALIKE = 0.5  # a cosine from which on two sentences say much of the same
NAMED = 3  # number of documents that are named
FEW_SENTENCES = 5  # with fewer sentences, the share that a summary covers means little


@dataclass(frozen=True, repr=False)
class Judged:
    """A sentence, its number (for `include=`), its quality q_i, and its probability given what must be in and out."""

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
    """A sentence of the summary, and at most three reasons why, the strongest first.

    A reason has an `idea`, `words`, an `amount` relative to the average sentence of these documents (0.7: twice as
    likely) and its standard `error`. `alone` has words that no other chosen sentence has. `contributions` are the terms
    theta_j f_ij of log q_i^2 by feature, largest first.
    """

    contributions: dict[str, float]
    included: bool
    reasons: tuple[Reason, ...]
    alone: tuple[str, ...]

    @property
    def words(self) -> str:
        """The reasons in words, and what it alone speaks of."""
        alone = [f"the only one on {quoted(self.alone)}"] if self.alone else []
        return "; ".join([*(reason.words for reason in self.reasons), *alone])

    def to_dict(self) -> dict[str, Any]:
        """As data for JSON."""
        return {**super().to_dict(), "reasons": [vars(reason) for reason in self.reasons], "words": self.words}


@dataclass(frozen=True, repr=False)
class LeftOut(Judged):
    """A sentence that is not in the summary, and one reason, in words and as a `code`.

    `by` has the numbers of the chosen sentences that say it already. `redundancy` is the share of it that the
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


def running_first(pieces: tuple[SetAside, ...]) -> list[SetAside]:
    """Pieces that were set aside, running text before headings and the rest."""
    return sorted(pieces, key=lambda piece: piece.code == "kind")


def place(sentence: Sentence) -> dict[str, Any]:
    """A sentence and its place as data; if it was changed, also the whole sentence and the changes."""
    changed = ("full", "dropped", "added") if sentence.dropped or sentence.added else ()
    names = ("text", "document", "position", "start", "end", *changed)
    return {name: getattr(sentence, name) for name in names}


@dataclass(frozen=True)
class Covers:
    """The documents that a summary has sentences of, and the share that it has of the words they have in common."""

    documents: tuple[int, ...]
    of: int
    share: float
    words: str


@dataclass(frozen=True)
class LeavesOut:
    """The documents that a summary has nothing of, and topics, each of them words that it does not have."""

    documents: tuple[int, ...]
    topics: tuple[tuple[str, ...], ...]
    words: str


@dataclass(frozen=True)
class Alike:
    """The mean and the largest cosine between two of the chosen sentences."""

    mean: float
    max: float
    words: str


@dataclass(frozen=True)
class Sureness:
    """How many of the chosen sentences are in a summary that the model draws at this length, on average; of how many.

    `share` is the same as a share of their length.
    """

    kept: float
    of: int
    share: float
    words: str


@dataclass(frozen=True)
class Dated:
    """How many documents, of how many, the order by date could place."""

    documents: int
    of: int
    words: str


@dataclass(frozen=True)
class WholeSet:
    """A set of sentences as a whole.

    There is no `alikeness` of one sentence, no `sureness` without a choice, and no `order` but that by date of two
    documents or more.
    """

    __repr__ = short_repr

    covers: Covers
    leaves_out: LeavesOut
    alikeness: Alike | None
    sureness: Sureness | None
    order: Dated | None

    def lines(self) -> list[tuple[str, str]]:
        """The name of each part and its words, where there are any."""
        parts = zip(("covers", "leaves out", "alike", "sure", "order"), vars(self).values(), strict=True)
        return [(name, part.words) for name, part in parts if part is not None and part.words]


def whole_set(summary: Summary, others: list[int]) -> WholeSet:
    """All parts; `others` are the sentences that were not chosen."""
    split, Y = summary.split, summary.subset
    names, twins = [document_name(document.id) for document in split.cluster.documents], np.array(split.twins)
    said_here = np.isin(twins, twins[Y])  # the summary has the words of these sentences, chosen or not
    documents = tuple(sorted({*split.document_numbers[said_here].tolist()}))
    missing = tuple(i for i in range(len(names)) if i not in documents)
    vocabulary = Vocabulary.of(split)
    share, topics = vocabulary.covered_share(Y), vocabulary.missing_topics(Y)
    covered = [f"{len(documents)} of {len(names)} documents"] if len(names) > 1 else []
    covered += [f"{share:.0%} of what the sentences speak of"] if len(split) >= FEW_SENTENCES else []
    left = [quoted(topic) for topic in topics]
    if missing:
        more = f" and {len(missing) - NAMED} more" if len(missing) > NAMED else ""
        left.append(f"nothing from {', '.join(names[i] for i in missing[:NAMED])}{more}")
    covers = Covers(documents, len(names), share, ", and ".join(covered))
    leaves_out = LeavesOut(missing, topics, "; ".join(left))
    return WholeSet(covers, leaves_out, alikeness(split.C[np.ix_(Y, Y)]), sureness(summary, others), dated(summary))


def dated(summary: Summary) -> Dated | None:
    """How far the dates of documents gave the order; None where it does not ask for them."""
    times = summary.split.order_times
    if summary.decision.order != CHRONOLOGICAL or len(times) < 2:
        return None
    n_dated = len(times) - times.count(None)
    words = f"by date, known for {n_dated} of {len(times)} documents" if n_dated else "as given: no document has a date"
    return Dated(n_dated, len(times), words)


def alikeness(C: FloatArray) -> Alike | None:
    """How alike sentences are by their cosines; None for a single sentence."""
    if len(C) < 2:
        return None
    between = C[np.triu_indices(len(C), 1)]
    mean, most = float(between.mean()), float(between.max())
    how = "two of them say much of the same" if most >= MUCH_ALIKE else "each says something else"
    return Alike(mean, most, f"{how} (alike by {mean:.2f} on average, {most:.2f} at most; 1 is the same words)")


def sureness(summary: Summary, left_out: list[int]) -> Sureness | None:
    """How likely the chosen sentences are in a summary of this length; None where there was no choice."""
    decision, choice = summary.decision, summary.choice
    free = np.setdiff1d(summary.subset, decision.include)
    barred = decision.exclude if choice.leaning is None else np.union1d(decision.exclude, choice.leaning)
    if choice.chance is None or not free.size or not (summary.split.n_dropped or np.setdiff1d(left_out, barred).size):
        return None
    chance, cost = choice.chance[free], decision.cost[free]
    expected, share = float(chance.sum()), float(cost @ chance / cost.sum())
    verdict = "a sure choice" if share >= SURE else "a fairly sure choice" if share >= FAIRLY else "a close choice"
    often = f"a summary drawn from the model has {expected:.1f} of these {free.size} sentences on average"
    if free.size == 1:
        often = f"{share:.0%} of the summaries drawn from the model have this sentence"
    return Sureness(expected, free.size, share, f"{verdict}: {often}")
