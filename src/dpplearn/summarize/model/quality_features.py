"""The quality features of sentences, each one entry of FEATURES: section 7.2's, and those that "extended" adds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from dpplearn._cached import cached_property
from dpplearn._checks import Features, FloatArray
from dpplearn._loops.gram import gram
from dpplearn.learning.parts import shared_columns
from dpplearn.summarize.model.bins import global_bins, local_bins, one_hot
from dpplearn.summarize.model.centrality import lexrank, lexrank_of_rows, mean_similarity, mean_similarity_of_rows
from dpplearn.summarize.model.split_cluster import EXACT, MAX_COMPARED, SplitCluster
from dpplearn.summarize.model.tfidf import Idf
from dpplearn.summarize.text.words import words

PAPER, EXTENDED = "paper", "extended"
FEATURE_SETS = (PAPER, EXTENDED)
RANKS = 1000  # a rank is the middle of one of so many local bins
PRONOUNS = frozenset(
    {"he", "she", "it", "they", "this", "that", "these", "those", "but", "and", "also", "however"}
    | {"his", "her", "their", "its", "we", "i", "you"}
)


@dataclass(frozen=True, eq=False)
class Reading(SplitCluster):
    """Sentences with what the features are made of: idf, tf-idf rows, their cosines, and counts in the cluster."""

    idf: Idf
    phi: Features

    @cached_property
    def C(self) -> FloatArray:
        """Cosines between every two sentences, where these are not too many."""
        if len(self) > MAX_COMPARED:
            raise ValueError(
                f"{self.cluster.name} must have at most {MAX_COMPARED:,} sentences for every two to be compared, but "
                f"has {len(self):,}. Summarizer.summarize takes more; for all else, give fewer or shorter documents."
            )
        C = gram(*shared_columns(self.phi), len(self))
        np.minimum(C, 1.0, out=C)
        np.fill_diagonal(C, 1.0)
        return C

    @property
    def mean_similarity(self) -> FloatArray:
        """Mean cosine of each sentence to the others; rounded, so that equal sentences are equal."""
        values = mean_similarity(self.C) if len(self) <= EXACT else mean_similarity_of_rows(self.phi)
        return np.round(values, 10)

    @property
    def lexrank(self) -> FloatArray:
        """LexRank of each sentence, rounded too."""
        return np.round(lexrank(self.C) if len(self) <= EXACT else lexrank_of_rows(self.phi), 10)

    @cached_property
    def weights(self) -> list[FloatArray]:
        """The idf of the words of each sentence."""
        return [self.idf.weights(tokens) for tokens in self.words]

    @cached_property
    def by_document(self) -> dict[int, list[tuple[str, ...]]]:
        """The words of the sentences of each document."""
        found: dict[int, list[tuple[str, ...]]] = {}
        for sentence, tokens in zip(self.sentences, self.words, strict=True):
            found.setdefault(sentence.document, []).append(tokens)
        return found

    @property
    def others(self) -> int:
        """Documents beside a sentence's own; 1 where there is none."""
        return max(len(self.by_document) - 1, 1)

    def share(self, holds: Callable[[str], float]) -> FloatArray:
        """The share of each sentence's words, weighed by idf, for which something holds."""
        both = zip(self.weights, self.words, strict=True)
        return np.array([weight @ [holds(word) for word in tokens] / weight.sum() for weight, tokens in both])


@dataclass(frozen=True)
class Feature:
    """A number for each sentence, and the columns of F that are made of it.

    Parameters
    ----------
    name : str
        What its columns are called, or begin with.
    values : callable
        From a `Reading` of a cluster to one number per sentence.
    raw, rank : bool
        A column with the number itself; one with its rank in the cluster, from 0 to 1.
    bins, local_bins : int
        So many columns for the quantiles of all sentences in training; so many for those of the cluster.
    levels : collection of str
        A column for each of the numbers 0, 1, ..., named so.
    sets : collection of str
        The feature sets that it belongs to.

    Examples
    --------
    >>> Feature("length", len, bins=2).columns
    ('length 1/2', 'length 2/2')
    >>> Feature("length", len, raw=True, rank=True).columns
    ('length', 'length rank')
    """

    name: str
    values: Callable[[Reading], Any]
    raw: bool = False
    rank: bool = False
    bins: int = 0
    local_bins: int = 0
    levels: Collection[str] = ()
    sets: Collection[str] = FEATURE_SETS

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of its columns of F."""
        return (
            *[self.name] * self.raw,
            *[f"{self.name} rank" if self.raw else self.name] * self.rank,
            *(f"{self.name} {b + 1}/{self.bins}" for b in range(self.bins)),
            *(f"{self.name} {b + 1}/{self.local_bins} of cluster" for b in range(self.local_bins)),
            *(f"{self.name} {level}" for level in self.levels),
        )

    def blocks(self, values: FloatArray, edges: FloatArray | None) -> list[FloatArray]:
        """Its columns, side by side; `edges` are the inner ends of the global bins, if it has any."""
        parts = [values[:, None]] if self.raw else []
        if self.rank:  # a rank compares clusters of any size and kind
            parts.append((local_bins(values, RANKS)[:, None] + 0.5) / RANKS)
        if edges is not None:
            parts.append(one_hot(global_bins(values, edges), self.bins))
        if self.local_bins:
            parts.append(one_hot(local_bins(values, self.local_bins), self.local_bins))
        if self.levels:
            parts.append(one_hot(values.astype(np.int64), len(self.levels)))
        return parts


def words_elsewhere(read: Reading) -> FloatArray:
    has = Counter(word for own in read.by_document.values() for word in {word for tokens in own for word in tokens})
    others = read.others
    return read.share(lambda word: (has[word] - 1) / others)


def pairs_elsewhere(read: Reading) -> list[float]:
    has = Counter(pair for own in read.by_document.values() for pair in {p for tokens in own for p in pairwise(tokens)})
    found, others = (list(pairwise(tokens)) for tokens in read.words), read.others
    return [sum(has[pair] - 1 for pair in pairs) / others / max(len(pairs), 1) for pairs in found]


def words_of_titles(read: Reading) -> FloatArray:
    titles = {word for document in read.cluster.documents for word in words(document.title or "")}
    return read.share(titles.__contains__)


def words_of_leads(read: Reading) -> FloatArray:
    first = np.array([sentence.position == 1 for sentence in read.sentences])
    leads = {word for tokens, lead in zip(read.words, first, strict=True) if lead for word in tokens}
    return np.where(first, 0.0, read.share(leads.__contains__))


def early_in_document(read: Reading) -> list[float]:
    last: dict[int, int] = {}
    for sentence in read.sentences:
        last[sentence.document] = max(last.get(sentence.document, 1), sentence.position)
    return [1.0 - (sentence.position - 1) / last[sentence.document] for sentence in read.sentences]


MORE = (EXTENDED,)
QUOTES = ('"', "“", "``", "«")

# A new feature is an entry here; its columns stand in F in this order.
FEATURES: list[Feature] = [
    Feature("constant", lambda read: np.ones(len(read)), raw=True),
    Feature("length", lambda read: [len(text.encode()) for text in read.texts], bins=5),
    Feature(
        "position",
        lambda read: [min(s.position, 6) - 1 for s in read.sentences],
        levels=("1", "2", "3", "4", "5", "6+"),
    ),
    Feature("similarity", lambda read: read.mean_similarity, raw=True, bins=5, local_bins=10),
    Feature("lexrank", lambda read: read.lexrank, raw=True, bins=5, local_bins=5),
    Feature("words in other documents", words_elsewhere, rank=True, sets=MORE),
    Feature("word pairs in other documents", pairs_elsewhere, rank=True, sets=MORE),
    Feature("words of titles", words_of_titles, rank=True, sets=MORE),
    Feature("words of lead sentences", words_of_leads, rank=True, sets=MORE),
    Feature("rare words", lambda read: [weight.mean() for weight in read.weights], rank=True, sets=MORE),
    Feature("numbers", lambda read: [any(map(str.isdigit, text)) for text in read.texts], raw=True, sets=MORE),
    Feature("quotes", lambda read: [any(q in text for q in QUOTES) for text in read.texts], raw=True, sets=MORE),
    Feature("begins with a pronoun", lambda read: [t[0] in PRONOUNS for t in read.words], raw=True, sets=MORE),
    Feature("question", lambda read: [text.rstrip("\"”' ").endswith("?") for text in read.texts], raw=True, sets=MORE),
    Feature("early in document", early_in_document, raw=True, sets=MORE),
]


def features_of(name: str) -> tuple[Feature, ...]:
    """The features of a set, in the order of their columns."""
    return tuple(feature for feature in FEATURES if name in feature.sets)


def column_names(name: str) -> tuple[str, ...]:
    """The columns of F of a feature set."""
    return tuple(column for feature in features_of(name) for column in feature.columns)


PAPER_NAMES = column_names(PAPER)
EXTENDED_NAMES = column_names(EXTENDED)[len(PAPER_NAMES) :]
