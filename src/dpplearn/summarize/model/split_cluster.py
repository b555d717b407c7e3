"""A cluster on its way to a summary: the sentences that one may be made of, and what follows from their words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import compress, islice, pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from dpplearn._cached import Latest, cached_property
from dpplearn._checks import Features, FloatArray, IntArray, read_only
from dpplearn.learning.itemset import ItemSet
from dpplearn.learning.similarity import SimilarityPart, cosines
from dpplearn.summarize.corpora.candidates import SetAside
from dpplearn.summarize.corpora.cluster import MAX_SENTENCES, Cluster, Document, NoSentencesError, Sentence
from dpplearn.summarize.model.tfidf import Idf, Numbered, tfidf_rows
from dpplearn.summarize.text.blocks import OUTSIDE
from dpplearn.summarize.text.dates import LEAP_YEAR, agency_date, day_in, head_date, parse_date
from dpplearn.summarize.text.introductions import Addition, annotated, undated_days, unknown_people
from dpplearn.summarize.text.matter import Matters, told_before
from dpplearn.summarize.text.standing import Lack, asks_all, why_not_alone
from dpplearn.summarize.text.states import FEWEST_DOCUMENTS, LIFT, Kind, Mask, overtaken, passing, text_kind
from dpplearn.summarize.text.units import Unit, costs
from dpplearn.summarize.text.words import listed_language, words

if TYPE_CHECKING:
    from dpplearn.summarize.model.features import SentenceFeatures

EXACT = 3_000  # sentences that a summary is chosen from by the exact model: of more, a first choice is made
MAX_COMPARED = 5_000  # sentences of which every two are compared, with arrays of a row and a column for each
_MAIL = re.compile(r"\.(?:eml|mbox)(?:#[0-9]+)?$")
FEWEST_TURNS, TURNS = 2, 0.25  # more pieces, and a larger share of them, say in a conversation who speaks
LIST_SHARE = 0.9  # share of the sentences with a line of their own, from which on a document is a list of lines


@dataclass(frozen=True, eq=False, repr=False)
class SplitCluster:
    """A cluster's sentences that have a word in them, what follows from their words, and the items that they are.

    `set_aside` are pieces of the documents that are no candidates. `features` say what F is, unless `rows` are given;
    `learned` are the documents that words are weighed by, if those are not the cluster's own sentences. `dropped` are
    the texts of sentences that a first choice left out.
    """

    cluster: Cluster
    sentences: tuple[Sentence, ...]
    set_aside: tuple[SetAside, ...] = ()
    features: SentenceFeatures | None = None
    learned: Idf | None = None
    rows: FloatArray | None = None
    dropped: tuple[str, ...] = ()
    _costs: Latest[FloatArray] = field(default_factory=Latest, init=False, repr=False)

    def __len__(self) -> int:
        return len(self.sentences)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)} sentences of {self.cluster!r}>"

    @property
    def passed(self) -> int:
        """How many sentences a first choice left out."""
        return len(self.dropped)

    @property
    def whole(self) -> tuple[str, ...]:
        """The texts of all sentences, whole, first those that are here: a budget in per cent is a part of these."""
        return (*{place_of(sentence): sentence.full for sentence in self.sentences}.values(), *self.dropped)

    @cached_property
    def words(self) -> list[list[str]]:
        """The words of each sentence."""
        return [words(text) for text in self.texts]

    @cached_property
    def numbered(self) -> tuple[Numbered, dict[str, int]]:
        """The words as numbers, and the number of each."""
        return Numbered.of(self.words)

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
    def F(self) -> FloatArray:
        """The quality features, a row for each sentence."""
        if self.rows is not None:
            return self.rows
        assert self.features is not None  # `SentenceFeatures.featurized` says which
        return self.features.matrix(self)

    @cached_property
    def items(self) -> ItemSet:
        """The sentences as items, with F, phi and, where these are not too many, cosines; none of it changes."""
        C = self.C if len(self) <= MAX_COMPARED else None
        read_only(self.F, self.phi.data, *([] if C is None else [C]))
        names = None if self.features is None else self.features.names
        return ItemSet._with(features=self.F, parts=(SimilarityPart("phi", self.phi, C),), cost=None, names=names)

    def item_set(self, unit: Unit) -> ItemSet:
        """The items with their costs in a unit, for `ConditionalDPP` to learn from and to choose among."""
        own = {name: getattr(self.items, name) for name in ("features", "parts", "names")}
        return ItemSet._with(**own, cost=self.costs(unit))

    def only(self, kept: IntArray) -> SplitCluster:
        """Some of the sentences, with the features that they have among all."""
        some = tuple(self.sentences[i] for i in kept)
        here = {place_of(sentence) for sentence in some}
        gone = {place_of(one): one.full for one in self.sentences if place_of(one) not in here}
        return replace(
            self, sentences=some, learned=self.idf, rows=self.F[kept], dropped=(*self.dropped, *gone.values())
        )

    @cached_property
    def C(self) -> FloatArray:
        """Cosines between every two sentences, where these are not too many."""
        if len(self) > MAX_COMPARED:
            raise ValueError(
                f"{self.cluster.name} must have at most {MAX_COMPARED:,} sentences for every two to be compared, but "
                f"has {len(self):,}. Summarizer.summarize takes more; for all else, give fewer or shorter documents."
            )
        return np.minimum(cosines(self.phi), 1.0)

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

    @cached_property
    def is_news(self) -> bool:
        """Whether several documents tell a story: most of three or more have three sentences at least, and no kind."""
        told = set(self.document_numbers[self.in_document[1] > 0].tolist())
        return len(told) >= max(FEWEST_DOCUMENTS, 0.7 * len(self.cluster.documents)) and not any(self.kinds)

    @cached_property
    def passing(self) -> Mask:
        """Which English sentences tell a state that other documents of a story have left behind."""
        documents = self.document_numbers.tolist()
        if not self.is_news or self.listed_language != "English":
            return np.zeros(len(self), np.bool_)
        return passing(self.texts, [self.times[k] for k in documents], documents)

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
    def twins(self) -> list[int]:
        """The first sentence that has the words of each: itself, of nearly all. A set can hold only one of these."""
        first = dict[str, int]()
        return [first.setdefault(" ".join(sorted(one)), i) for i, one in enumerate(self.words)]

    @cached_property
    def lacks(self) -> tuple[Lack | None, ...]:
        """What each sentence lacks to stand alone; what most lack is the way of these texts, and counts for none."""
        language = self.listed_language
        lacks = [
            None if i == self.question else why_not_alone(one.text, language, said, one.kind == "item")
            for i, (one, said) in enumerate(zip(self.sentences, self.words, strict=True))
        ]
        if language == "English":
            documents = self.document_numbers.tolist()
            told = [self.times[k] for k in documents]
            for lack, found in (
                (Lack.LEANS, told_before(self.texts, self.words, documents)),
                (Lack.OVERTAKEN, overtaken(self.texts, told, documents)),
                (Lack.PASSING, self.passing),
            ):
                lacks = [old or (lack if has else None) for old, has in zip(lacks, found, strict=True)]
        usual = {lack for lack, n in Counter(lacks).items() if 2 * n > len(lacks)}
        return tuple(None if lack in usual else lack for lack in lacks)

    @cached_property
    def kinds(self) -> list[Kind | None]:
        """The kind of each document that is read for something; mails, and lines that say who speaks, are talk."""
        pieces = Counter([*(one.document for one in self.sentences), *(one.document for one in self.set_aside)])
        turns = Counter(one.document for one in self.set_aside if one.kind == "byline")
        return [
            text_kind(one.text, bool(_MAIL.search(one.id)) or turns[k] > max(FEWEST_TURNS, TURNS * pieces[k]))
            for k, one in enumerate(self.cluster.documents)
        ]

    @cached_property
    def question(self) -> int | None:
        """The first question of a conversation that is asked of all, by number, if there is one."""
        talk = {k for k, kind in enumerate(self.kinds) if kind and kind.name == "talk"}
        return next((i for i, one in enumerate(self.sentences) if one.document in talk and asks_all(one.text)), None)

    @property
    def lift(self) -> FloatArray:
        """What is added to log q of sentences that say what their document is read for: all of an abstract does."""
        told = np.where(np.arange(len(self)) == self.question, 1.0, 0.0)
        for i, one in enumerate(self.sentences if self.listed_language == "English" else ()):
            kind = self.kinds[one.document]
            told[i] += 0 if kind is None else (one.start < kind.introduction) + bool(kind.says.search(one.text))
        return LIFT * told

    @cached_property
    def matters(self) -> Matters:
        """What each sentence tells, to see which tell the same."""
        return Matters(self.texts, self.words)

    @property
    def alone(self) -> npt.NDArray[np.bool_]:
        """Which sentences stand alone."""
        return np.array([lack is None for lack in self.lacks], np.bool_)

    @cached_property
    def listed_language(self) -> str | None:
        """The language whose lists of words say which sentences stand alone."""
        own = self.cluster.language
        return listed_language((self.cluster.foreign or "English") if own is None else own)

    @cached_property
    def times(self) -> list[datetime | None]:
        """When each document was written, where that is known."""
        return document_times(self.cluster.documents)

    @cached_property
    def order_times(self) -> list[datetime | None]:
        """What documents are put in order by: their times, or days of a year ("May 2") where no document says which."""
        if any(self.times):
            return self.times
        days = document_times(self.cluster.documents, LEAP_YEAR)
        known = [day for day in days if day is not None]
        if known and max(known) - min(known) > timedelta(183):  # over New Year's Eve
            days = [day.replace(LEAP_YEAR + 4) if day and day.month < 7 else day for day in days]
        return days

    @cached_property
    def when(self) -> IntArray:
        """The place in time of each sentence's document."""
        return np.asarray(np.argsort(in_time(self.order_times))[self.document_numbers], np.int64)

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
    found = SplitCluster(cluster, candidates.sentences, candidates.set_aside)
    if not any(found.words):
        ids = [document.id for document in cluster.documents]
        name = f" {cluster.id or ', '.join(ids[:3]) + (', ...' if len(ids) > 3 else '')}"
        raise NoSentencesError(f"Cluster{name} has no sentence with a word in it, so there is nothing to choose from.")
    return found if all(found.words) else replace(found, sentences=tuple(compress(found.sentences, found.words)))


def document_times(documents: Sequence[Document], year: int | None = None) -> list[datetime | None]:
    """When each document was written: by its date, the name of its file, or what its first lines say.

    A day without its year ("May 2") is of the year of the others, if they all have the same; of this one if none has.
    """
    heads = [head_date(first_lines(document)) for document in documents]
    times = [
        parse_date(one.date) or agency_date(one.id) or parse_date(head)
        for one, head in zip(documents, heads, strict=True)
    ]
    years = {time.year for time in times if time is not None}
    year = year if not years else years.pop() if len(years) == 1 else None
    if year is None:
        return times
    given = zip(times, documents, heads, strict=True)
    return [time or day_in(one.date, year) or day_in(head, year) for time, one, head in given]


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
