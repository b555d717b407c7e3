"""A summary: sentences of the sources, in their order, with the reasons for each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpplearn._cached import cached_property
from dpplearn._checks import FloatArray, IntArray
from dpplearn.decoding.limits import fits
from dpplearn.dpp import DPP
from dpplearn.summarize.corpora.cluster import Sentence
from dpplearn.summarize.explain.explanation import Alike, Chosen, Explanation, LeftOut, contributions, place
from dpplearn.summarize.explain.reasons import Reasons, set_aside
from dpplearn.summarize.model.choice import Choice
from dpplearn.summarize.model.features import Featurized
from dpplearn.summarize.model.ordering import in_order
from dpplearn.summarize.model.prepared import Prepared
from dpplearn.summarize.model.split_cluster import EXACT
from dpplearn.summarize.model.worth import Mask
from dpplearn.summarize.text.units import Unit, cut, joined_length, lengths_with, measured, unit_name


@dataclass(frozen=True, eq=False)
class Summary:
    """Sentences taken from a cluster's documents.

    Attributes
    ----------
    text : str
        The sentences, one per line, in the order that was asked for.
    sentences : tuple of Sentence
        In the same order. Where sentences were to be compressed, `text` of each is what the summary has of it, `full`
        the sentence, and `dropped` the spans of it that were left out.
    length, budget, unit
        How long the text is, and how long it might have been.
    note : str
        What a reader should know, such as that the only sentence had to be cut; else empty.
    order : array of int
        The numbers of the sentences, as the text has them; as `include=` and `exclude=` give them: places in
        `read.sentences`. `subset` has them sorted.
    """

    text: str
    sentences: tuple[Sentence, ...]
    length: float
    budget: float
    unit: Unit
    note: str
    order: IntArray = field(repr=False)
    ready: Prepared = field(repr=False)
    pinned: IntArray = field(repr=False)
    excluded: IntArray = field(repr=False)
    worth: Choice = field(repr=False)

    @classmethod
    def of(
        cls, ready: Prepared, choice: Choice, allowed: Mask, budget: float, unit: Unit, order: str, diversity: float,
        **pins: IntArray,
    ) -> Summary:  # fmt: skip
        """The sentences chosen, in their order; where none fits the budget, the best that may be chosen, cut."""
        read, q, texts, note = ready.read, ready.dpp.quality, ready.read.texts, ""
        subset = choice.subset
        if not subset.size:  # none fits; or one does, but not the one chosen, in a unit that rounds up
            whole = allowed & fits(lengths_with([], texts, unit), budget)
            subset = np.array([np.where(whole if whole.any() else allowed, q, -1.0).argmax()])
            note = "" if whole.any() else f"No sentence fits {measured(budget, unit)}: the best one was cut."
        ordered = in_order(read, subset, order, ready.kernel(diversity))
        lines = [cut(texts[i], budget, unit) if note else texts[i] for i in ordered]
        if read.passed and subset.size == EXACT:  # fewer were kept only where all others are copies
            note = f"All {EXACT:,} sentences are in it that a first choice kept of {EXACT + read.passed:,}."
        notes = " ".join(filter(None, [note, "" if ready.question is None else ready.question.note]))
        sentences, length = tuple(read.sentences[i] for i in ordered), joined_length(lines, unit)
        worth = choice._replace(subset=np.sort(subset))
        return cls("\n".join(lines), sentences, length, budget, unit, notes, ordered, ready, worth=worth, **pins)

    def __str__(self) -> str:
        return self.text

    @property
    def subset(self) -> IntArray:
        """The numbers of the sentences, sorted."""
        return np.sort(self.order)

    @property
    def names(self) -> tuple[str, ...]:
        """The terms that qualities are made of."""
        return self.ready.names

    @property
    def read(self) -> Featurized:
        """The cluster as it was read; of a very large one, the sentences that a first choice kept."""
        return self.ready.read

    @property
    def dpp(self) -> DPP:
        """The model of its sentences."""
        return self.ready.dpp

    @cached_property
    def marginals(self) -> FloatArray:
        """Probability of every sentence given what is pinned and excluded; budget and diversity do not change it."""
        return self.ready.marginals(self.pinned, self.excluded)

    def explain(self) -> Explanation:
        """Why these sentences, and not others."""
        return self._explanation

    @cached_property
    def _explanation(self) -> Explanation:
        read, q, p, Y = self.read, self.dpp.quality, self.marginals, self.subset
        C = self.ready.likeness
        terms = self.ready.contributions[self.order]
        pinned = set(self.pinned.tolist())
        chosen = [
            Chosen(read.sentences[i], i, float(q[i]), float(p[i]), contributions(self.names, terms[k]), i in pinned)
            for k, i in enumerate(self.order.tolist())
        ]
        rest = left_out(read.forms, q.size, Y)
        rest = rest[np.argsort(-q[rest], kind="stable")]
        covered = covered_shares(self.dpp.similarity, rest, Y).tolist()
        nearest = Y[C[np.ix_(rest, Y)].argmax(axis=1)]
        why = Reasons(read, q, self.worth, self.excluded, self.budget, self.unit, self.pinned, self.ready.question)
        others = [
            LeftOut(read.sentences[i], i, float(q[i]), float(p[i]), read.sentences[j], float(C[i, j]), share,
                    *why.of(i, share))
            for i, j, share in zip(rest.tolist(), nearest.tolist(), covered, strict=True)
        ]  # fmt: skip
        between = C[np.ix_(Y, Y)][np.triu_indices(Y.size, 1)]
        alike = Alike(float(between.mean()), float(between.max())) if between.size else None
        documents = tuple(document.id for document in read.cluster.documents)
        return Explanation(tuple(chosen), tuple(others), alike, documents, set_aside(read), read.passed)

    def to_dict(self) -> dict[str, Any]:
        """Everything, as data for JSON."""
        return {
            "text": self.text,
            "length": self.length,
            "budget": self.budget,
            "unit": unit_name(self.unit),
            "note": self.note,
            "sentences": [place(sentence) for sentence in self.sentences],
            "explanation": self.explain().to_dict(),
        }


def left_out(forms: IntArray | None, n: int, Y: IntArray) -> IntArray:
    """The items that are not in Y; where sentences have shorter forms, the sentences of which no form is."""
    if forms is None:
        return np.setdiff1d(np.arange(n), Y)
    first = np.unique(forms, return_index=True)[1]
    return first[~np.isin(forms[first], forms[Y])]


def covered_shares(S: FloatArray, items: IntArray, Y: IntArray) -> FloatArray:
    """How much of each item the subset Y covers: S_iY S_Y^-1 S_Yi, from 0 to 1.

    The inverse is that on what Y spans: where the chosen depend on each other, it is what a subset of them spans.
    """
    A = S[np.ix_(items, Y)]
    inverse = np.linalg.pinv(S[np.ix_(Y, Y)], rcond=1e-10, hermitian=True)
    return np.clip(((A @ inverse) * A).sum(axis=1), 0.0, 1.0)
