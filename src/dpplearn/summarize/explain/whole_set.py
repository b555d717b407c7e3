"""What a chosen set is like as a whole: what it covers and leaves out, how alike its sentences are, how sure it is."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dpplearn._checks import FloatArray, IntArray
from dpplearn._notebook import short_repr
from dpplearn.summarize.explain.topics import Topic, Vocabulary, document_name, quoted
from dpplearn.summarize.model.choice import Choice, Decision

SURE, FAIRLY = 0.6, 0.3  # of a summary that its like has, from which on the choice is sure, and fairly so
MUCH_ALIKE = 0.5  # a cosine from which on two sentences say much of the same
NAMED = 3  # documents that are named
FEW_SENTENCES = 5  # sentences: of fewer, a share of what they speak of is all or nothing


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
    topics: tuple[Topic, ...]
    words: str


@dataclass(frozen=True)
class Alike:
    """How alike the chosen sentences are: cosines between every two of them."""

    mean: float
    max: float
    words: str


@dataclass(frozen=True)
class Sureness:
    """How sure a choice is: how many of these sentences a summary that the model draws at this length has, on average.

    `of` is how many there were to choose, and `share` that of their length.
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

    def to_dict(self) -> dict[str, Any]:
        """As data for JSON, by their names."""
        return asdict(self)


def whole_set(decision: Decision, choice: Choice, Y: IntArray) -> WholeSet:
    """All of it, of the sentences Y that were chosen."""
    read, vocabulary = decision.ready.read, Vocabulary.of(decision.ready.read)
    names, twins = [document_name(document.id) for document in read.cluster.documents], np.array(read.twins)
    same = np.flatnonzero(np.isin(twins, twins[Y]))  # the summary has the words of these too
    documents = tuple(sorted({read.sentences[i].document for i in same}))
    missing = tuple(i for i in range(len(names)) if i not in documents)
    share, topics = vocabulary.covered(Y), vocabulary.missing(Y)
    covered = [f"{len(documents)} of {len(names)} documents"] if len(names) > 1 else []
    covered += [f"{share:.0%} of what the sentences speak of"] if len(read) >= FEW_SENTENCES else []
    left = [quoted(topic.words) for topic in topics]
    if missing:
        more = f" and {len(missing) - NAMED} more" if len(missing) > NAMED else ""
        left.append(f"nothing from {', '.join(names[i] for i in missing[:NAMED])}{more}")
    return WholeSet(
        Covers(documents, len(names), share, ", and ".join(covered)),
        LeavesOut(missing, topics, "; ".join(left)),
        alikeness(decision.ready.likeness, Y),
        sureness(decision, choice, Y),
    )


def alikeness(C: FloatArray, Y: IntArray) -> Alike | None:
    """From the cosines; None for fewer than two sentences."""
    between = C[np.ix_(Y, Y)][np.triu_indices(Y.size, 1)]
    if not between.size:
        return None
    mean, most = float(between.mean()), float(between.max())
    how = "two of them say much of the same" if most >= MUCH_ALIKE else "each says something else"
    return Alike(mean, most, f"{how} (alike by {mean:.2f} on average, {most:.2f} at most; 1 is the same words)")


def sureness(decision: Decision, choice: Choice, Y: IntArray) -> Sureness | None:
    """From the probability of each sentence in a summary of this length; None where nothing was to choose."""
    read, chance, free = decision.ready.read, choice.chance, np.setdiff1d(Y, decision.pinned)
    barred = decision.excluded if choice.leaning is None else np.union1d(decision.excluded, choice.leaning)
    others = np.setdiff1d(others_than(Y, read.forms, len(read)), barred)
    if chance is None or not free.size or not (read.passed or others.size):
        return None
    cost = read.costs(decision.unit)[free]
    kept, share = float(chance[free].sum()), float(cost @ chance[free] / cost.sum())
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
