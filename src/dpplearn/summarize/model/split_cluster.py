"""A cluster on its way to a summary: the sentences that one may be made of, and what follows from their words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import compress, islice, pairwise

import numpy as np
import numpy.typing as npt

from dpplearn._cached import Latest, cached_property
from dpplearn._checks import Features, FloatArray, IntArray
from dpplearn.learning.similarity import gram_of
from dpplearn.summarize.corpora.candidates import SetAside
from dpplearn.summarize.corpora.cluster import MAX_SENTENCES, Cluster, Document, NoSentencesError, Sentence
from dpplearn.summarize.model.tfidf import Idf, Numbered, tfidf_rows
from dpplearn.summarize.text.blocks import OUTSIDE
from dpplearn.summarize.text.dates import agency_date, day_in, head_date, parse_date
from dpplearn.summarize.text.introductions import Addition, annotated, undated_days, unknown_people
from dpplearn.summarize.text.standing import Lack, why_not_alone
from dpplearn.summarize.text.states import overtaken
from dpplearn.summarize.text.units import Unit, costs
from dpplearn.summarize.text.words import listed_language, words

EXACT = 3_000  # sentences that a summary is chosen from by the exact model: of more, a first choice is made
MAX_COMPARED = 5_000  # sentences of which every two are compared, with arrays of a row and a column for each
LIST_SHARE = 0.9  # share of the sentences with a line of their own, from which on a document is a list of lines


@dataclass(frozen=True, eq=False, repr=False)
class SplitCluster:
    """A cluster's sentences that have a word in them, with these words, also as numbers, and the number of each.

    `set_aside` are pieces of the documents that are no candidates; `learned` are the documents that words are weighed
    by, if those are not the cluster's own sentences.
    """

    cluster: Cluster
    sentences: tuple[Sentence, ...]
    set_aside: tuple[SetAside, ...]
    words: list[list[str]]
    numbered: tuple[Numbered, dict[str, int]]
    learned: Idf | None
    _costs: Latest[FloatArray] = field(default_factory=Latest, init=False, repr=False)

    def __len__(self) -> int:
        return len(self.sentences)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)} sentences of {self.cluster!r}>"

    @classmethod
    def of(
        cls,
        cluster: Cluster,
        sentences: Sequence[Sentence],
        set_aside: tuple[SetAside, ...] = (),
        learned: Idf | None = None,
    ) -> SplitCluster:
        """Read the words of the sentences."""
        said = [words(sentence.text) for sentence in sentences]
        return SplitCluster(cluster, tuple(sentences), set_aside, said, Numbered.of(said), learned)

    @cached_property
    def idf(self) -> Idf:
        """What words weigh."""
        return Idf.of_sentences(*self.numbered) if self.learned is None else self.learned

    @cached_property
    def weights(self) -> FloatArray:
        """The idf of each word that occurs, by number."""
        return self.idf.weights(self.numbered[1])

    @cached_property
    def phi(self) -> Features:
        """A unit row of tf-idf for each sentence."""
        return tfidf_rows(self.numbered[0].counts(), self.weights)

    @cached_property
    def C(self) -> FloatArray:
        """Cosines between every two sentences, where these are not too many."""
        if len(self) > MAX_COMPARED:
            raise ValueError(
                f"{self.cluster.name} must have at most {MAX_COMPARED:,} sentences for every two to be compared, but "
                f"has {len(self):,}. Summarizer.summarize takes more; for all else, give fewer or shorter documents."
            )
        return np.minimum(gram_of(self.phi), 1.0)

    @property
    def lengths(self) -> IntArray:
        """How many words each sentence has."""
        return np.diff(self.numbered[0].ends)

    @cached_property
    def document_numbers(self) -> IntArray:
        """The document of each sentence."""
        return np.array([sentence.document for sentence in self.sentences])

    @cached_property
    def in_document(self) -> tuple[FloatArray, FloatArray]:
        """The position of each sentence, and the last one in its document; 0 where position means nothing.

        It means nothing in a document of one or two sentences, nor where all there is are lines of a sentence each, as
        where reviews are collected.
        """
        position = np.array([sentence.position for sentence in self.sentences], np.float64)
        last = np.zeros(max(len(self.cluster.documents), 1))
        np.maximum.at(last, self.document_numbers, position)
        last[last < 3] = 0.0
        return position, np.zeros_like(position) if self.is_list else last[self.document_numbers]

    @property
    def is_list(self) -> bool:
        """Whether the cluster is one document of lines, each a sentence, without paragraphs."""
        if len(self.cluster.documents) != 1 or len(self) < 3:
            return False
        text = self.cluster.documents[0].text
        gaps = [text[a.end : b.start] for a, b in pairwise(self.sentences)]
        lines = [text[one.start : one.end] for one in self.sentences[1:]]
        alone = sum("\n" in gap and "\n" not in line for gap, line in zip(gaps, lines, strict=True))
        return alone >= LIST_SHARE * len(gaps) and not any(re.search(r"\n\s*\n", gap) for gap in gaps)

    @cached_property
    def texts(self) -> list[str]:
        return [sentence.text for sentence in self.sentences]

    @cached_property
    def said(self) -> tuple[str, ...]:
        """The words of each sentence in one order: equal for sentences of which a set can hold only one."""
        return tuple(" ".join(sorted(one)) for one in self.words)

    @cached_property
    def twins(self) -> list[int]:
        """The first sentence that has the words of each: itself, of nearly all."""
        first = dict[str, int]()
        return [first.setdefault(said, i) for i, said in enumerate(self.said)]

    @cached_property
    def lacks(self) -> tuple[Lack | None, ...]:
        """What each sentence lacks to stand alone; what most lack is the way of these texts, and counts for none."""
        lacks = [why_not_alone(text, self.listed_language) for text in self.texts]
        if self.listed_language == "English":
            late = overtaken(self.texts, [self.times[k] for k in self.document_numbers])
            lacks = [lack or (Lack.OVERTAKEN if gone else None) for lack, gone in zip(lacks, late, strict=True)]
        usual = {lack for lack, n in Counter(lacks).items() if 2 * n > len(lacks)}
        return tuple(None if lack in usual else lack for lack in lacks)

    @property
    def alone(self) -> npt.NDArray[np.bool_]:
        """Which sentences stand alone."""
        return np.array([lack is None for lack in self.lacks], np.bool_)

    @property
    def listed_language(self) -> str | None:
        """The language whose lists of words say which sentences stand alone."""
        own = self.cluster.language
        return listed_language((self.cluster.foreign or "English") if own is None else own)

    @cached_property
    def times(self) -> list[datetime | None]:
        """When each document was written, where that is known."""
        return document_times(self.cluster.documents)

    @cached_property
    def when(self) -> IntArray:
        """The place in time of each sentence's document."""
        return np.asarray(np.argsort(in_time(self.times))[self.document_numbers], np.int64)

    def names_for(self, i: int, before: str = "") -> list[Addition]:
        """The first names that a sentence needs in brackets after these lines."""
        if self.listed_language != "English":
            return []
        return unknown_people(self.texts[i], before, self.cluster.documents[self.sentences[i].document].text)

    def dates_for(self, i: int, before: str = "") -> list[Addition]:
        """The dates that a sentence needs in brackets after these lines, where documents are of several days."""
        told = self.times[self.sentences[i].document]
        several = len({time.date() for time in self.times if time is not None}) > 1
        if told is None or not several or self.listed_language != "English":
            return []
        return undated_days(self.texts[i], before, told.date())

    @cached_property
    def named(self) -> list[str]:
        """Each sentence with the first names that it needs after lines that introduce nobody."""
        return [annotated(text, self.names_for(i)) for i, text in enumerate(self.texts)]

    def considered(self, order: Iterable[int]) -> dict[int, int]:
        """Of sentences with the same words, the first in this order, by their twin."""
        twins, found = self.twins, dict[int, int]()
        for i in order:
            found.setdefault(twins[i], i)
        return found

    @cached_property
    def forms(self) -> IntArray | None:
        """Which sentence each is a form of, by number; None where each has only one."""
        number: dict[tuple[int, int], int] = {}
        found = np.array([number.setdefault(place_of(one), len(number)) for one in self.sentences], np.int64)
        return found if len(number) < len(self) else None

    def costs(self, unit: Unit, annotate: bool = False) -> FloatArray:
        """What each sentence takes of a budget, perhaps with the names that it needs in brackets."""
        return self._costs.get((unit, annotate), lambda: costs(self.named if annotate else self.texts, unit))


def place_of(sentence: Sentence) -> tuple[int, int]:
    """Where it begins: the same for all forms of a sentence, and for no other."""
    return sentence.document, sentence.start


def split_cluster(cluster: Cluster, limit: int = MAX_SENTENCES, keep_all: bool = False) -> SplitCluster:
    """Split a cluster into its sentences, of which there must be one; options as in `Cluster.sentences`."""
    candidates = cluster.candidates(limit=limit, keep_all=keep_all)
    found = SplitCluster.of(cluster, candidates.sentences, candidates.set_aside)
    with_words = [*compress(found.sentences, found.words)]
    if not with_words:
        ids = [document.id for document in cluster.documents]
        name = f" {cluster.id or ', '.join(ids[:3]) + (', ...' if len(ids) > 3 else '')}"
        raise NoSentencesError(f"Cluster{name} has no sentence with a word in it, so there is nothing to choose from.")
    return found if len(with_words) == len(found) else SplitCluster.of(cluster, with_words, candidates.set_aside)


def document_times(documents: Sequence[Document]) -> list[datetime | None]:
    """When each document was written: by its date, the number that an agency gave it, or what its first lines say.

    A day without its year ("May 2") is of the year of the others, if they all have the same.
    """
    heads = [head_date(first_lines(document)) for document in documents]
    times = [
        parse_date(one.date) or agency_date(one.id) or parse_date(head)
        for one, head in zip(documents, heads, strict=True)
    ]
    years = {time.year for time in times if time is not None}
    if len(years) == 1:
        (year,) = years
        given = zip(times, documents, heads, strict=True)
        return [time or day_in(one.date, year) or day_in(head, year) for time, one, head in given]
    return times


def first_lines(document: Document) -> list[str]:
    """The first lines of a document, without what stands around its story."""
    if document.blocks is None:
        return document.text[:2_000].split("\n")
    inside = (block for block in document.blocks if block.kind not in OUTSIDE)
    return [document.text[block.start : block.end] for block in islice(inside, 3)]


def in_time(times: Sequence[datetime | None]) -> list[int]:
    """The numbers of documents, the earliest first. Those without a known time keep their place, as those of one do.

    Examples
    --------
    >>> in_time([datetime(2004, 5, 9), None, datetime(2004, 5, 8)])
    [2, 1, 0]
    """
    dated = [(time, i) for i, time in enumerate(times) if time is not None]
    earliest = iter(sorted(dated))
    return [i if time is None else next(earliest)[1] for i, time in enumerate(times)]
