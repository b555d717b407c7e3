"""A summary: sentences of the sources, in their order, with the reasons for each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpplearn._cached import cached_property
from dpplearn._checks import FloatArray, IntArray
from dpplearn._linalg import schur_complement
from dpplearn.dpp import DPP
from dpplearn.summarize.corpora.cluster import Sentence
from dpplearn.summarize.explain.reasons import reason
from dpplearn.summarize.model.features import Featurized
from dpplearn.summarize.text.units import Unit, unit_name


@dataclass(frozen=True)
class Chosen:
    """A sentence of the summary and why it is there."""

    sentence: Sentence
    quality: float
    marginal: float
    contributions: dict[str, float]

    def to_dict(self) -> dict[str, Any]:
        return {
            **place(self.sentence),
            "quality": self.quality,
            "marginal": self.marginal,
            "contributions": dict(self.contributions),
        }


@dataclass(frozen=True)
class LeftOut:
    """A good sentence that is not in the summary, why, and the chosen one that it repeats most."""

    sentence: Sentence
    quality: float
    similar_to: Sentence
    similarity: float
    redundancy: float
    reason: str

    def to_dict(self) -> dict[str, Any]:
        return {
            **place(self.sentence),
            "quality": self.quality,
            "similar_to": place(self.similar_to),
            "similarity": self.similarity,
            "redundancy": self.redundancy,
            "reason": self.reason,
        }


def place(sentence: Sentence) -> dict[str, Any]:
    return {
        "text": sentence.text,
        "document": sentence.document,
        "position": sentence.position,
        "start": sentence.start,
        "end": sentence.end,
    }


@dataclass(frozen=True)
class Explanation:
    """Why each sentence was chosen, and which good ones were left out as redundant with what.

    `str()` gives a table, `to_dict()` the same as data.

    Attributes
    ----------
    chosen : tuple of Chosen
        `contributions` are the terms theta_j f_ij of log q_i^2, by feature, largest first; `quality` is q_i and
        `marginal` the probability K_ii that the model puts the sentence in a summary.
    left_out : tuple of LeftOut
        The best sentences not chosen, by quality. `similarity` is the cosine to `similar_to`, and `redundancy` the
        share of the sentence that the summary as a whole already covers: 1 - (L_ii - L_iY L_Y^-1 L_Yi) / L_ii; `reason`
        says in a few words why it was left out.
    documents : tuple of str
        Ids of the cluster's documents, which the sentences number from 0.
    """

    chosen: tuple[Chosen, ...]
    left_out: tuple[LeftOut, ...]
    documents: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        return {"chosen": [c.to_dict() for c in self.chosen], "left_out": [x.to_dict() for x in self.left_out]}

    def __str__(self) -> str:
        lines = ["Chosen: quality, probability, what the quality is made of"]
        for c in self.chosen:
            lines.append(f"  {c.quality:7.3f}  {c.marginal:4.0%}  {self.where(c.sentence)}: {shorten(c.sentence.text)}")
            top = list(c.contributions.items())[:5]
            lines.append("                 " + ", ".join(f"{name} {value:+.2f}" for name, value in top))
        if self.left_out:
            lines.append("Left out: quality, share that the summary covers, most like, why")
        for x in self.left_out:
            lines.append(
                f"  {x.quality:7.3f}  {x.redundancy:4.0%}  {self.where(x.sentence)}: {shorten(x.sentence.text)}"
            )
            lines.append(f"                 {x.similarity:.2f} similar to {self.where(x.similar_to)}; {x.reason}")
        return "\n".join(lines)

    def where(self, sentence: Sentence) -> str:
        """The sentence's document and its place there."""
        return f"{self.documents[sentence.document]}, sentence {sentence.position}"


def contributions(names: tuple[str, ...], terms: FloatArray) -> dict[str, float]:
    """The terms theta_j f_ij of log q_i^2 that are not 0, by feature, largest first."""
    given = {name: float(x) for name, x in zip(names, terms, strict=True) if x != 0.0}
    return dict(sorted(given.items(), key=lambda item: -abs(item[1])))


@dataclass(frozen=True)
class Coverage:
    """The number of a sentence left out, that of the chosen one most like it, their cosine, and the share covered."""

    item: int
    similar_to: int
    similarity: float
    redundancy: float


def shorten(text: str, width: int = 76) -> str:
    return text if len(text) <= width else text[: width - 1].rstrip() + "…"


@dataclass(frozen=True, eq=False)
class Summary:
    """Sentences taken from a cluster's documents.

    Attributes
    ----------
    text : str
        The sentences, one per line, in the order of the documents.
    sentences : tuple of Sentence
    length, budget, unit
        How long the text is, and how long it might have been.
    note : str
        What a reader should know, such as that the only sentence had to be cut; else empty.
    """

    text: str
    sentences: tuple[Sentence, ...]
    length: float
    budget: float
    unit: Unit
    note: str
    items: IntArray = field(repr=False)
    read: Featurized = field(repr=False)
    theta: FloatArray = field(repr=False)
    names: tuple[str, ...] = field(repr=False)
    dpp: DPP = field(repr=False)
    excluded: IntArray = field(repr=False)

    def __str__(self) -> str:
        return self.text

    @cached_property
    def _explanation(self) -> Explanation:
        q, marginals = self.dpp.quality, self.dpp.marginals
        chosen = tuple(
            Chosen(self.read.sentences[i], float(q[i]), float(marginals[i]), self._contributions(int(i)))
            for i in self.items
        )
        sentences = self.read.sentences
        left_out = tuple(
            LeftOut(
                sentences[x.item],
                float(q[x.item]),
                sentences[x.similar_to],
                x.similarity,
                x.redundancy,
                reason(self, x.item, x.redundancy),
            )
            for x in self.coverage(self.best_left_out())
        )
        documents = tuple(document.id for document in self.read.cluster.documents)
        return Explanation(chosen, left_out, documents)

    def best_left_out(self, most: int = 10) -> IntArray:
        """The sentences not chosen that have the highest quality, best first."""
        q = self.dpp.quality
        rest = np.setdiff1d(np.arange(q.size), self.items)
        return rest[np.argsort(-q[rest], kind="stable")][:most]

    def coverage(self, items: IntArray) -> tuple[Coverage, ...]:
        """How far the summary covers sentences that are not in it."""
        if not (self.items.size and items.size):
            return ()
        S, Y = self.dpp.similarity, self.items
        if self._spans:
            left = schur_complement(S, items, Y).diagonal()
        else:  # the chosen depend on each other: what they span is what a subset of them does
            A = S[np.ix_(items, Y)]
            left = 1.0 - np.einsum("ij,jk,ik->i", A, np.linalg.pinv(S[np.ix_(Y, Y)], rcond=1e-10, hermitian=True), A)
        nearest = self.items[self.read.C[np.ix_(items, self.items)].argmax(axis=1)]
        return tuple(
            Coverage(int(i), int(j), float(self.read.C[i, j]), float(1.0 - share))
            for i, j, share in zip(items, nearest, left, strict=True)
        )

    @property
    def _spans(self) -> bool:
        return bool(self.dpp.log_prob(self.items) > -np.inf)

    def _contributions(self, i: int) -> dict[str, float]:
        return contributions(self.names, self.theta * self.read.F[i])

    def explain(self) -> Explanation:
        """Why these sentences, and not others."""
        return self._explanation

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
