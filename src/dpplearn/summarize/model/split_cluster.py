"""The sentences of a cluster that a summary may be made of, and what follows from their words, dates and kinds."""

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

from dpplearn._cached import LatestValue, cached_property
from dpplearn._checks import Features, FloatArray, IntArray, read_only
from dpplearn.learning.itemset import ItemSet
from dpplearn.learning.similarity import SimilarityPart, cosines
from dpplearn.summarize.corpora.candidates import SetAside
from dpplearn.summarize.corpora.cluster import MAX_SENTENCES, Cluster, Document, NoSentencesError, Sentence, first_few
from dpplearn.summarize.model.tfidf import MORE_SENTENCES, Idf, Numbered, unit_rows
from dpplearn.summarize.text.blocks import OUTSIDE
from dpplearn.summarize.text.dates import LEAP_YEAR, agency_date, day_in, head_date, parse_date
from dpplearn.summarize.text.introductions import Addition, annotated, spare_times, undated_times, unknown_people
from dpplearn.summarize.text.kinds import LIFT, Kind, text_kind
from dpplearn.summarize.text.matter import Matters, refers_back
from dpplearn.summarize.text.short_forms import Span, without
from dpplearn.summarize.text.standing import Lack, asks_all, is_bare, only_published, why_not_alone
from dpplearn.summarize.text.states import NEWS_DAYS, corrected, passing
from dpplearn.summarize.text.units import Unit, costs
from dpplearn.summarize.text.words import listed_language, words

if TYPE_CHECKING:
    from dpplearn.summarize.model.features import SentenceFeatures

EXACT = 3_000  # the most sentences that the exact model chooses from: of more, a first choice is made
STORIES = 0.5  # share of documents that name a day, among those that tell a story
MAX_COMPARED = 5_000  # the most sentences of which every two are compared, in arrays with a row and a column for each
_MAIL = re.compile(r"\.(?:eml|mbox)(?:#[0-9]+)?$")
_WE = re.compile(r"\b(?:I|[Ww]e|[Oo]ur|[Mm]y)\b(?!\.)")
FEWEST_TURNS, TURNS = 2, 0.25  # a document is a conversation if more pieces, and a larger share, say who speaks
LIST_SHARE = 0.9  # a document is a list if at least this share of its sentences have a line of their own


@dataclass(frozen=True, eq=False, repr=False)
class SplitCluster:
    """The candidate sentences of a cluster, all of which have a word in them.

    `set_aside` has the pieces of the documents that are no candidates. `features` make the quality features F, unless
    their `rows` are given. `learned` weighs words, by default according to the cluster's own sentences. `dropped` has
    the texts of sentences that a first choice left out.
    """

    cluster: Cluster
    sentences: tuple[Sentence, ...]
    set_aside: tuple[SetAside, ...] = ()
    features: SentenceFeatures | None = None
    learned: Idf | None = None
    rows: FloatArray | None = None
    dropped: tuple[str, ...] = ()
    _costs: LatestValue[FloatArray] = field(default_factory=LatestValue, init=False, repr=False)

    def __len__(self) -> int:
        return len(self.sentences)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)} sentences of {self.cluster!r}>"

    @property
    def n_dropped(self) -> int:
        """How many sentences a first choice left out."""
        return len(self.dropped)

    # Words and features

    @cached_property
    def texts(self) -> list[str]:
        return [sentence.text for sentence in self.sentences]

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
        """How words are weighed: by the documents of training, or by these sentences and a few more without words."""
        if self.learned is not None:
            return self.learned
        numbered, columns = self.numbered
        having = np.bincount(numbered.counts().indices, minlength=len(columns))
        return Idf(len(self) + MORE_SENTENCES, dict(zip(columns, having.tolist(), strict=True)))

    @cached_property
    def phi(self) -> Features:
        """A unit row of tf-idf for each sentence."""
        numbered, columns = self.numbered
        return unit_rows(numbered.counts(), self.idf.weights(columns))

    @cached_property
    def C(self) -> FloatArray:
        """Cosines between every two sentences; an error where there are too many."""
        if len(self) > MAX_COMPARED:
            raise ValueError(
                f"{self.cluster.name} must have at most {MAX_COMPARED:,} sentences for every two to be compared, but "
                f"has {len(self):,}. Summarizer.summarize takes more; for all else, give fewer or shorter documents."
            )
        return np.minimum(cosines(self.phi), 1.0)

    @cached_property
    def F(self) -> FloatArray:
        """The quality features, a row for each sentence."""
        if self.rows is not None:
            return self.rows
        assert self.features is not None  # `SentenceFeatures.featurized` sets them
        return self.features.matrix(self)

    @cached_property
    def items(self) -> ItemSet:
        """The sentences as items with F, phi and, unless there are too many, cosines."""
        C = self.C if len(self) <= MAX_COMPARED else None
        read_only(self.F, self.phi.data, *([] if C is None else [C]))
        names = None if self.features is None else self.features.names
        return ItemSet._with(features=self.F, parts=(SimilarityPart("phi", self.phi, C),), cost=None, names=names)

    def item_set(self, unit: Unit) -> ItemSet:
        """The items with their costs in a unit, for `ConditionalDPP` to learn from and to choose among."""
        items = self.items
        return ItemSet._with(features=items.features, parts=items.parts, names=items.names, cost=self.costs(unit))

    def only(self, numbers: IntArray) -> SplitCluster:
        """The sentences of these numbers, with the features that they have among all."""
        sentences = tuple(self.sentences[i] for i in numbers)
        origins = {sentence.origin for sentence in sentences}
        left_out = {x.origin: x.full for x in self.sentences if x.origin not in origins}
        dropped = (*self.dropped, *left_out.values())
        return replace(self, sentences=sentences, learned=self.idf, rows=self.F[numbers], dropped=dropped)

    def costs(self, unit: Unit, annotate: bool = False) -> FloatArray:
        """How much of a budget each sentence takes; with `annotate`, including the names and dates it needs."""
        return self._costs.get((unit, annotate), lambda: costs(self.annotated_texts if annotate else self.texts, unit))

    # Sentences that are the same, or forms of one sentence

    @cached_property
    def twins(self) -> list[int]:
        """For each sentence the first one that has the same words. A set can hold only one of these."""
        first = dict[str, int]()
        return [first.setdefault(" ".join(sorted(tokens)), i) for i, tokens in enumerate(self.words)]

    def considered(self, order: Iterable[int]) -> dict[int, int]:
        """Of sentences with the same words, the first in this order, by their twin."""
        considered = dict[int, int]()
        for i in order:
            considered.setdefault(self.twins[i], i)
        return considered

    @cached_property
    def forms(self) -> IntArray | None:
        """The number of the sentence that each candidate is a form of; None where each sentence has one form."""
        number = dict[tuple[int, int], int]()
        forms = [number.setdefault(sentence.origin, len(number)) for sentence in self.sentences]
        return np.array(forms) if len(number) < len(self) else None

    @property
    def full_texts(self) -> tuple[str, ...]:
        """The texts of all sentences, each in full, also those left out: a share such as "20%" is of these."""
        return (*{sentence.origin: sentence.full for sentence in self.sentences}.values(), *self.dropped)

    @cached_property
    def annotated_texts(self) -> list[str]:
        """Each sentence with the names and dates that it needs where nothing stands before it.

        "Today" and the like, which can be left out, have no date here: they get one while there is room.
        """
        if self.listed_language != "English":
            return self.texts
        several_years = len({time.year for time in self.times if time is not None}) > 1
        return [
            annotated(sentence.text, self.additions(sentence, "", several_years, spare=self.spare_times(sentence.text)))
            for sentence in self.sentences
        ]

    def without_spare_times(self, sentence: Sentence) -> Sentence:
        """A sentence without "today" and the like, where these may be left out."""
        spans = [
            (a, b) for a, b in self.spare_times(sentence.full) if not any(a < d and c < b for c, d in sentence.dropped)
        ]
        dropped = tuple(sorted([*sentence.dropped, *spans]))
        return replace(sentence, text=without(sentence.full, dropped), dropped=dropped) if spans else sentence

    def spare_times(self, text: str) -> list[Span]:
        """The spans of a sentence with "today" and the like, in stories that may be of several days.

        Days of the week stay where no document has a date: no other day in the summary has one, either.
        """
        return spare_times(text, any(self.times)) if self.has_several_days and self.is_news else []

    def additions(
        self, sentence: Sentence, before: str, with_year: bool, with_dates: bool = True, spare: Sequence[Span] = ()
    ) -> list[Addition]:
        """The names and dates that a sentence needs after a text, in their order."""
        written = self.times[sentence.document] if with_dates and self.has_several_days else None
        source = self.cluster.documents[sentence.document].text
        names = unknown_people(sentence.text, before.replace("[", "").replace("]", ""), source)
        dates = [] if written is None else undated_times(sentence.text, before, written.date(), with_year, spare)
        return sorted([*names, *dates])

    @cached_property
    def matters(self) -> Matters:
        """What each sentence tells, to see which tell the same."""
        return Matters(self.texts, self.words)

    # Places in documents, and kinds of documents

    @cached_property
    def document_numbers(self) -> IntArray:
        """The number of each sentence's document."""
        return np.array([sentence.document for sentence in self.sentences])

    @cached_property
    def in_document(self) -> tuple[FloatArray, FloatArray]:
        """The position of each sentence, and the last one in its document; 0 where position means nothing.

        It means nothing in a document of one or two sentences, and in a list of lines, such as collected reviews.
        """
        position = np.array([sentence.position for sentence in self.sentences], np.float64)
        last = np.zeros(max(len(self.cluster.documents), 1))
        np.maximum.at(last, self.document_numbers, position)
        last[last < 3] = 0.0
        return position, np.zeros_like(position) if self.is_list else last[self.document_numbers]

    @cached_property
    def is_news(self) -> bool:
        """Whether these are stories in English: several documents of no kind, most of which name a day of the week."""
        if self.listed_language != "English" or any(self.kinds):
            return False
        names_day = [not NEWS_DAYS.isdisjoint(tokens) for tokens in self.words]
        stories = np.unique(self.document_numbers[names_day])
        return len(stories) >= max(2, STORIES * len(self.cluster.documents))

    @property
    def is_list(self) -> bool:
        """Whether the cluster is one document of lines, each a sentence, without paragraphs."""
        if len(self.cluster.documents) != 1 or len(self) < 3:
            return False
        text = self.cluster.documents[0].text
        gaps = [text[a.end : b.start] for a, b in pairwise(self.sentences)]
        lines = [text[sentence.start : sentence.end] for sentence in self.sentences[1:]]
        on_own_lines = sum("\n" in gap and "\n" not in line for gap, line in zip(gaps, lines, strict=True))
        return on_own_lines >= LIST_SHARE * len(gaps) and not any(re.search(r"\n\s*\n", gap) for gap in gaps)

    @cached_property
    def listed_language(self) -> str | None:
        """The language whose lists of words say which sentences can stand alone."""
        language = self.cluster.language
        return listed_language((self.cluster.foreign_language or "English") if language is None else language)

    @cached_property
    def lacks(self) -> tuple[Lack | None, ...]:
        """Why each sentence cannot stand alone, or None; a fault that most of these sentences have is not counted."""
        language = self.listed_language
        lacks = [
            None if i == self.question else why_not_alone(sentence.text, language, tokens, sentence.kind == "item")
            for i, (sentence, tokens) in enumerate(zip(self.sentences, self.words, strict=True))
        ]
        if language == "English":
            documents, news = self.document_numbers.tolist(), self.is_news
            written = [self.times[k] for k in documents]
            mails = [bool(_MAIL.search(document.id)) for document in self.cluster.documents]
            unknown_we = [not all(mails) and mails[x.document] and bool(_WE.search(x.text)) for x in self.sentences]
            for lack, has_lack in (
                (Lack.LEANS, unknown_we),
                (Lack.LEANS, refers_back(self.texts, self.words, documents, anywhere=news)),
                (Lack.OVERTAKEN, corrected(self.texts, written, documents)),
                (Lack.BARE, news & np.array([*map(is_bare, self.texts, self.words)])),
                (Lack.PUBLISHED, [*map(only_published, self.texts)]),
                (Lack.PASSING, news & passing(self.texts, written, documents)),
            ):
                lacks = [old or (lack if lacking else None) for old, lacking in zip(lacks, has_lack, strict=True)]
        common = {lack for lack, n in Counter(lacks).items() if 2 * n > len(lacks)}
        return tuple(None if lack in common else lack for lack in lacks)

    @cached_property
    def alone(self) -> npt.NDArray[np.bool_]:
        """Which sentences can stand alone."""
        return np.array([lack is None for lack in self.lacks], np.bool_)

    @cached_property
    def kinds(self) -> list[Kind | None]:
        """The kind of each document that has one; mails, and documents that say who speaks, are conversations."""
        pieces = Counter([*(x.document for x in self.sentences), *(x.document for x in self.set_aside)])
        turns = Counter(piece.document for piece in self.set_aside if piece.kind == "byline")
        return [
            text_kind(document.text, bool(_MAIL.search(document.id)) or turns[k] > max(FEWEST_TURNS, TURNS * pieces[k]))
            for k, document in enumerate(self.cluster.documents)
        ]

    @cached_property
    def question(self) -> int | None:
        """The number of the first question that a conversation asks of everybody, if there is one."""
        for i, sentence in enumerate(self.sentences):
            kind = self.kinds[sentence.document]
            if kind and kind.name == "talk" and asks_all(sentence.text):
                return i
        return None

    @cached_property
    def lift(self) -> FloatArray:
        """What is added to log q of sentences that say what such a document is read for, as an abstract does."""
        reasons = np.where(np.arange(len(self)) == self.question, 1.0, 0.0)
        for i, sentence in enumerate(self.sentences if self.listed_language == "English" else ()):
            kind = self.kinds[sentence.document]
            if kind is not None:
                reasons[i] += (sentence.start < kind.introduction) + bool(kind.says.search(sentence.text))
        return LIFT * reasons

    # Times

    @cached_property
    def times(self) -> list[datetime | None]:
        """When each document was written, where that is known."""
        return document_times(self.cluster.documents)

    @cached_property
    def has_several_days(self) -> bool:
        """Whether there are several documents that may be of different days, so that "today" is not one day."""
        days = {None if time is None else time.date() for time in self.times}
        return len(self.times) > 1 and (len(days) > 1 or None in days)

    @cached_property
    def order_times(self) -> list[datetime | None]:
        """The times that put documents in order: days of a year ("May 2") where no document says which year."""
        if any(self.times):
            return self.times
        days = document_times(self.cluster.documents, LEAP_YEAR)
        dated = [day for day in days if day is not None]
        if dated and max(dated) - min(dated) > timedelta(183):  # over New Year's Eve
            days = [day.replace(LEAP_YEAR + 4) if day and day.month < 7 else day for day in days]
        return days

    @cached_property
    def when(self) -> IntArray:
        """The place in time of each sentence's document. A document without a time keeps the place that it has."""
        in_time = [k for _, k in sorted((time, k) for k, time in enumerate(self.order_times) if time is not None)]
        place = np.arange(len(self.order_times))
        place[in_time] = sorted(in_time)
        return np.asarray(place[self.document_numbers], np.int64)


def split_cluster(cluster: Cluster, limit: int = MAX_SENTENCES, keep_all: bool = False) -> SplitCluster:
    """Split a cluster into its sentences, at least one; options as in `Cluster.sentences`."""
    candidates = cluster.candidates(limit=limit, keep_all=keep_all)
    split = SplitCluster(cluster, candidates.sentences, candidates.set_aside)
    if not any(split.words):
        name = cluster.id or first_few([document.id for document in cluster.documents], 3)
        raise NoSentencesError(f"Cluster {name} has no sentence with a word in it, so there is nothing to choose from.")
    return split if all(split.words) else replace(split, sentences=tuple(compress(split.sentences, split.words)))


def document_times(documents: Sequence[Document], year: int | None = None) -> list[datetime | None]:
    """When each document was written: by its date, the name of its file, or its first lines.

    A day without a year ("May 2") is of the year of the others, if they all have the same; of `year` if none has.
    """
    dates, times = list[tuple[str | None, str | None]](), list[datetime | None]()
    for document in documents:
        story = (block for block in document.blocks or () if block.kind not in OUTSIDE)
        lines = [document.text[block.start : block.end] for block in islice(story, 3)]
        head = head_date(document.text[:2_000].split("\n") if document.blocks is None else lines)
        dates.append((document.date, head))
        times.append(parse_date(document.date) or agency_date(document.id) or parse_date(head))
    years = {time.year for time in times if time is not None}
    year = year if not years else years.pop() if len(years) == 1 else None
    if year is None:
        return times
    return [time or day_in(date, year) or day_in(head, year) for time, (date, head) in zip(times, dates, strict=True)]
