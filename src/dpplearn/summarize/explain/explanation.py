"""The one record of why: for each chosen sentence, for each one left out, and for the set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dpplearn._cached import cached_property
from dpplearn._checks import FloatArray, count_of
from dpplearn._notebook import card, table
from dpplearn.learning.relative import Reason
from dpplearn.summarize.corpora.cluster import Sentence, short
from dpplearn.summarize.explain.topics import document_name, place_in_words, quoted
from dpplearn.summarize.explain.whole_set import WholeSet

if TYPE_CHECKING:
    from dpplearn.summarize.explain.reasons import Reasons

FEW_PIECES = 5  # pieces that were no candidates that are printed
PRINTED = 76  # characters of a sentence that are printed
LISTED = 10  # sentences left out that are shown, unless more are asked for


@dataclass(frozen=True, repr=False)
class Judged:
    """A sentence, its number among the candidates, and what the model thinks of it."""

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
        """As data for JSON, places of sentences instead of these."""
        data = {key: place(x) if isinstance(x, Sentence) else x for key, x in vars(self).items() if key != "sentence"}
        return {**place(self.sentence), **data}


@dataclass(frozen=True, repr=False)
class Chosen(Judged):
    """A sentence of the summary and why it is there: at most three reasons, the strongest first."""

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
    """A sentence that is not in the summary, why, and the chosen one that it is most like."""

    similar_to: Sentence
    similarity: float
    shared: tuple[str, ...]
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
    """A piece of a document that was never to choose from: its place, the kind of its block, and why."""

    text: str
    document: int
    start: int
    end: int
    kind: str
    code: str
    reason: str


@dataclass(frozen=True, repr=False)
class Explanation:
    """Why each sentence was chosen, why each other one was not, and what the set is like.

    The only telling of it: `str()` gives it in words, `to_dict()` as data, and the HTML report, the API and the page
    show what is here.

    Attributes
    ----------
    chosen : tuple of Chosen
        `reasons` are at most three, strongest first, relative to the average sentence of these documents
        (`dpplearn.summarize.explain.reasons`): each has an `idea`, `words`, an `amount` (0.7: twice as likely) and its
        standard `error`. `alone` are words that no other chosen sentence has, and `words` says all of this.
        `contributions` are the terms theta_j f_ij of log q_i^2 by feature, largest first; `quality` is q_i, `marginal`
        the probability that the model puts the sentence in a summary, given what is pinned and excluded, and `number`
        that by which `include=` and `exclude=` know it.
    left_out : tuple of LeftOut
        The ten best of the other sentences, by quality; `why(number)` tells of any. Each has one reason: `reason`
        in words and `code` in one (`dpplearn.summarize.explain.reasons` has them all). `by` are the numbers of the
        chosen sentences that say it already. `similarity` is the cosine to `similar_to`, the
        chosen sentence that is most like it, `shared` the words that both have, and `redundancy` the share of the
        sentence that the summary as a whole already covers: 1 - (L_ii - L_iY L_Y^-1 L_Yi) / L_ii.
    as_a_set : WholeSet
        What the summary `covers` and `leaves_out`, its `alikeness` and `sureness`, each in numbers and in `words`.
    documents : tuple of str
        Ids of the cluster's documents, which the sentences number from 0.
    set_aside : tuple of NoCandidate
        Pieces of the documents that were no candidates: `code` is "kind" (no running text), "no-sentence", "courtesy",
        "announces", "repeated" or "boilerplate".
    passed : int
        How many sentences a first choice left out, where there were too many for the exact model; `first_choice` says
        why, of all of them.
    """

    chosen: tuple[Chosen, ...]
    others: Reasons
    as_a_set: WholeSet
    documents: tuple[str, ...]
    set_aside: tuple[NoCandidate, ...] = ()
    passed: int = 0

    @property
    def first_choice(self) -> str:
        """Why sentences were left out before the model was asked about the others; empty where it was of all."""
        if not self.passed:
            return ""
        what = "sentence was" if self.passed == 1 else "sentences were"
        return (
            f"{self.passed:,} more {what} left out in a first choice among many: other sentences were kept that add "
            "more to their part of the text, by quality and by what is new in them, or have more of the words that "
            "summaries are likely to have; or that have the same words."
        )

    @cached_property
    def left_out(self) -> tuple[LeftOut, ...]:
        """The best sentences that are not in the summary, at most ten."""
        return self.best_left_out()

    def best_left_out(self, most: int | None = LISTED) -> tuple[LeftOut, ...]:
        """The sentences left out of the highest quality, best first; None for all of them."""
        return tuple(map(self.others.left_out, self.others.numbers[:most]))

    @cached_property
    def redundant(self) -> tuple[LeftOut, ...]:
        """Good sentences that the summary says already, most covered first, at most ten.

        Good is a quality of at least the median of all sentences.
        """
        found = map(self.others.left_out, self.others.covered[: 2 * LISTED])
        return tuple(x for x in found if x.code in ("same-words", "redundant") and x.by)[:LISTED]

    def why(self, number: int) -> Chosen | LeftOut:
        """Why a sentence is in the summary, or why it is not, by its number; a form of one speaks of that."""
        return self.others.why(number)

    def to_dict(self, most: int | None = LISTED) -> dict[str, Any]:
        """As data for JSON, with so many of the best sentences left out; None for all."""
        return {
            "chosen": [c.to_dict() for c in self.chosen],
            "left_out": [x.to_dict() for x in self.best_left_out(most)],
            **self.as_a_set.to_dict(),
            "set_aside": {
                "count": len(self.set_aside),
                "pieces": [vars(one) for one in missed_first(self.set_aside, most)],
            },
            **({"first_choice": {"left_out": self.passed, "reason": self.first_choice}} if self.passed else {}),
        }

    def __str__(self) -> str:
        lines = ["Chosen, and why"]
        for c in self.chosen:
            text, where, why = self.row(c)
            dropped = "; ".join(f"“{c.sentence.full[start:end].strip()}”" for start, end in c.sentence.dropped)
            lines += [f"  {text} ({where})", *[f"      without {dropped}"][: len(dropped)], f"      {why}"]
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
        return "\n".join([*lines, self.first_choice] if self.passed else lines)

    def row(self, x: Chosen | LeftOut) -> tuple[str, str, str]:
        """The beginning of a sentence, where it stands, and why it is in or out."""
        return short(x.sentence.text, PRINTED), place_in_words(self.documents[x.sentence.document], x.sentence), x.words

    def __repr__(self) -> str:
        aside = f", {len(self.set_aside)} set aside" if self.set_aside else ""
        chosen = count_of(len(self.chosen), "chosen sentence", "chosen sentences")
        return f"<Explanation of {chosen}, {len(self.others.numbers)} left out{aside}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: the words of `str()`, in tables."""
        return card(
            "Why these sentences",
            table(("chosen", "from", "why"), map(self.row, self.chosen), len(self.chosen)),
            table(("as a set", ""), self.as_a_set.lines()),
            table(("left out", "from", "why"), map(self.row, self.left_out), len(self.others.numbers)),
        )


def missed_first(set_aside: tuple[NoCandidate, ...], most: int | None = LISTED) -> tuple[NoCandidate, ...]:
    """Some of the pieces that were no candidates: running text, then headings and the rest."""
    return tuple(sorted(set_aside, key=lambda one: one.code == "kind"))[:most]


def place(sentence: Sentence) -> dict[str, Any]:
    """A sentence and where it stands, as data; of a shorter form also the sentence, and the spans left out of it."""
    names = ("text", "document", "position", "start", "end") + (("full", "dropped") if sentence.dropped else ())
    return {name: getattr(sentence, name) for name in names}


def contributions(names: Sequence[str], terms: FloatArray) -> dict[str, float]:
    """The terms theta_j f_ij of log q_i^2 that are not 0, by feature, largest first."""
    given = {name: float(x) for name, x in zip(names, terms, strict=True) if x != 0.0}
    return dict(sorted(given.items(), key=lambda item: -abs(item[1])))
