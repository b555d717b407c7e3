"""The quality features of sentences, each one entry of FEATURES: section 7.2's, what "extended" adds, and "general".

"general" is for any kind of text and any language: ranks in the cluster, shares, and places where a text has an order;
no bin and no list of words that one corpus taught. The bundled model has it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from dpplearn._cached import cached_property
from dpplearn._checks import Features, FloatArray, IntArray
from dpplearn.learning._gram_loops import gram
from dpplearn.learning.parts import shared_columns
from dpplearn.summarize.model.bins import bins_within, global_bins, local_bins, one_hot
from dpplearn.summarize.model.centrality import lexrank, lexrank_of_rows, mean_similarity, mean_similarity_of_rows
from dpplearn.summarize.model.split_cluster import EXACT, MAX_COMPARED, SplitCluster
from dpplearn.summarize.model.tfidf import Idf
from dpplearn.summarize.text.words import words

PAPER, EXTENDED, GENERAL = "paper", "extended", "general"
FEATURE_SETS = (PAPER, EXTENDED, GENERAL)
RANKS = 1000  # a rank is the middle of one of so many local bins
PRONOUNS = frozenset(
    {"he", "she", "it", "they", "this", "that", "these", "those", "but", "and", "also", "however"}
    | {"his", "her", "their", "its", "we", "i", "you"}
)


@dataclass(frozen=True, eq=False, repr=False)
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
    def weights(self) -> FloatArray:
        """The idf of each word that occurs, by number."""
        return self.idf.weights(self.numbered[1])

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
        return alone >= LINES * len(gaps) and not any(re.search(r"\n\s*\n", gap) for gap in gaps)

    @property
    def others(self) -> int:
        """Documents beside a sentence's own; 1 where there is none."""
        return max(np.unique(self.document_numbers).size - 1, 1)

    def share(self, holds: FloatArray, beside: int = 0) -> FloatArray:
        """The share of each sentence's words, weighed by idf, for which something holds, and of some for which not.

        `holds` has a number for each word. With these words `beside` its own, each of mean weight, a sentence of two
        words is not the best for these two.
        """
        found, total = self.numbered[0], self.numbered[0].sums(self.weights)
        more = beside * float(total.sum() / found.numbers.size) if beside else 0.0
        return np.round(found.sums(self.weights * holds) / (total + more), 12)

    def among(self, words: Collection[str]) -> FloatArray:
        """1 for each word that is one of these."""
        return np.fromiter(map(words.__contains__, self.numbered[1]), np.float64, len(self.numbered[1]))


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
    prior : float
        How many times wider than that of others the prior on its weights is: its variance is `prior_variance` times so
        much.

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
    prior: float = 1.0

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

    @property
    def plain_columns(self) -> tuple[str, ...]:
        """Names of what trees split: the number, and its rank in the cluster where other columns are made of such."""
        return (self.name, *[f"{self.name} rank"] * bool(self.rank or self.bins or self.local_bins))

    def plain_blocks(self, values: FloatArray) -> list[FloatArray]:
        """The columns that `plain_columns` names."""
        ranks = (local_bins(values, RANKS)[:, None] + 0.5) / RANKS
        return [values[:, None], ranks][: len(self.plain_columns)]

    def blocks(self, values: FloatArray, edges: FloatArray | None) -> list[FloatArray]:
        """Its columns, side by side; `edges` are the inner ends of the global bins, if it has any."""
        parts = [values[:, None]] if self.raw else []
        if self.rank:  # a rank compares clusters of any size and kind
            parts.append(ranks(values)[:, None])
        if edges is not None:
            parts.append(one_hot(global_bins(values, edges), self.bins))
        if self.local_bins:
            parts.append(one_hot(local_bins(values, self.local_bins), self.local_bins))
        if self.levels:
            parts.append(one_hot(values.astype(np.int64), len(self.levels)))
        return parts


def ranks(values: FloatArray) -> FloatArray:
    """The rank of each value among the others, from 0 to 1; equal values share one, and one alone has 0.5."""
    return (local_bins(values, RANKS) + 0.5) / RANKS


def words_elsewhere(read: Reading) -> FloatArray:
    return read.share((read.numbered[0].groups_with(read.document_numbers) - 1) / read.others)


def pairs_elsewhere(read: Reading) -> FloatArray:
    pairs = read.numbered[0].pairs()
    has = pairs.groups_with(read.document_numbers).astype(np.float64) - 1.0
    return pairs.sums(has) / read.others / np.maximum(np.diff(pairs.ends), 1)


def words_of_titles(read: Reading, beside: int = 0) -> FloatArray:
    titles = {word for document in read.cluster.documents for word in words(document.title or "")}
    return read.share(read.among(titles), beside) if titles else np.zeros(len(read))


def words_of_leads(read: Reading) -> FloatArray:
    first = np.array([sentence.position == 1 for sentence in read.sentences])
    leads = {word for tokens, lead in zip(read.words, first, strict=True) if lead for word in tokens}
    return np.where(first, 0.0, read.share(read.among(leads)))


def mean_weight(read: Reading) -> FloatArray:
    """Rounded, so that where all words weigh the same all sentences do."""
    return np.round(read.numbered[0].sums(read.weights) / read.lengths, 12)


def early_in_document(read: Reading) -> list[float]:
    last: dict[int, int] = {}
    for sentence in read.sentences:
        last[sentence.document] = max(last.get(sentence.document, 1), sentence.position)
    return [1.0 - (sentence.position - 1) / last[sentence.document] for sentence in read.sentences]


def repeated_pairs(read: Reading) -> FloatArray:
    pairs = read.numbered[0].pairs()
    return pairs.sums(pairs.in_several().astype(np.float64)) / (np.diff(pairs.ends) + BESIDE)


def like_other_documents(read: Reading) -> FloatArray:
    """The rank, in its document, of a sentence's mean cosine to the sentences of other documents."""
    by_word, document = sparse.csc_array(read.phi), read.document_numbers  # sentences come document by document
    holder = document[by_word.indices]
    word = np.repeat(np.arange(by_word.shape[1]), np.diff(by_word.indptr))
    part = np.cumsum((np.diff(word, prepend=-1) != 0) | (np.diff(holder, prepend=-1) != 0)) - 1  # a word in a document
    own = np.bincount(by_word.indices, by_word.data * np.bincount(part, by_word.data)[part], len(read))
    alike = np.round(read.phi @ read.phi.sum(axis=0) - own, 10)
    return (bins_within(alike, document, RANKS) + 0.5) / RANKS


def letters_per_word(read: Reading) -> FloatArray:
    """Drawn to the mean where words are few."""
    found, columns = read.numbered
    letters = found.sums(columns.spelling.letters)
    mean = letters.sum() / found.numbers.size
    return (letters + BESIDE * mean) / (read.lengths + BESIDE)


def has_brackets(read: Reading) -> list[bool]:
    there = [sign for sign in BRACKETS if sign in "".join(read.texts)]
    return [any(map(text.__contains__, there)) for text in read.texts]


def toward_the_beginning(read: Reading) -> FloatArray:
    """1 for the first sentence of a document, 0 after the last, as the logarithm of the position goes."""
    position, last = read.in_document
    return np.where(last > 0, 1.0 - np.log(position) / np.log(np.maximum(last, 1.0) + 1.0), 0.0)


def among_the_first(read: Reading) -> FloatArray:
    position, last = read.in_document
    return np.where(last > 0, np.exp((1.0 - position) / FIRST), 0.0)


def end_of_a_long_document(read: Reading) -> FloatArray:
    """Near 1 for the last twentieth or so of a document of 140 sentences and more, 0 in one of 50 and less."""
    position, last = read.in_document
    return np.where(last > 0, (position / np.maximum(last, 1.0)) ** 10, 0.0) * np.clip(
        np.log(np.maximum(last, 1.0) / LONG), 0.0, 1.0
    )


FIRST = 15.0  # sentences, over which what stands at the beginning counts e times less
BESIDE = 5  # words that a sentence is thought to have beside its own where shares of them are compared
LONG = 50  # sentences from which on a document is long: its end may be a conclusion
LINES = 0.9  # share of the sentences with a line of their own, from which on a document is a list of lines
QUOTES = ('"', "“", "``", "«")
BRACKETS = ("(", "[", "（", "［")
THEIRS, MORE, OURS = (PAPER, EXTENDED), (EXTENDED,), (GENERAL,)

# A new feature is an entry here; its columns stand in F in this order.
FEATURES: list[Feature] = [
    Feature("constant", lambda read: np.ones(len(read)), raw=True, sets=THEIRS),
    Feature("length", lambda read: [len(text.encode()) for text in read.texts], bins=5, sets=THEIRS),
    Feature(
        "position",
        lambda read: [min(s.position, 6) - 1 for s in read.sentences],
        levels=("1", "2", "3", "4", "5", "6+"),
        sets=THEIRS,
    ),
    Feature("similarity", lambda read: read.mean_similarity, raw=True, bins=5, local_bins=10, sets=THEIRS),
    Feature("lexrank", lambda read: read.lexrank, raw=True, bins=5, local_bins=5, sets=THEIRS),
    Feature("words in other documents", words_elsewhere, rank=True, sets=MORE),
    Feature("word pairs in other documents", pairs_elsewhere, rank=True, sets=MORE),
    Feature("words of titles", words_of_titles, rank=True, sets=MORE),
    Feature("words of lead sentences", words_of_leads, rank=True, sets=MORE),
    Feature("rare words", mean_weight, rank=True, sets=MORE),
    Feature("numbers", lambda read: [any(map(str.isdigit, text)) for text in read.texts], raw=True, sets=MORE),
    Feature("quotes", lambda read: [any(q in text for q in QUOTES) for text in read.texts], raw=True, sets=MORE),
    Feature("begins with a pronoun", lambda read: [t[0] in PRONOUNS for t in read.words], raw=True, sets=MORE),
    Feature("leans on the sentence before", lambda read: read.leaning, raw=True, sets=MORE),
    Feature("question", lambda read: [text.rstrip("\"”' ").endswith("?") for text in read.texts], raw=True, sets=MORE),
    Feature("early in document", early_in_document, raw=True, sets=MORE),
    # "general": four groups, each with the prior that leaving out one corpus at a time chose (docs/evaluation.md)
    Feature("constant", lambda read: np.ones(len(read)), raw=True, sets=OURS, prior=100.0),
    Feature("toward the beginning", toward_the_beginning, raw=True, sets=OURS, prior=0.3),
    Feature("among the first", among_the_first, raw=True, sets=OURS, prior=0.3),
    Feature("end of a long document", end_of_a_long_document, raw=True, sets=OURS, prior=0.3),
    Feature("words of titles", partial(words_of_titles, beside=BESIDE), rank=True, sets=OURS, prior=0.3),
    Feature("repeated word pairs", repeated_pairs, rank=True, sets=OURS, prior=0.1),
    Feature("like other documents", like_other_documents, raw=True, sets=OURS, prior=0.1),
    # a narrow prior: extracts to learn from end with short sentences because these are what still fits
    Feature("length", lambda read: read.lengths, rank=True, sets=OURS, prior=0.02),
    Feature("long words", letters_per_word, rank=True, sets=OURS, prior=0.1),
    Feature("brackets", has_brackets, raw=True, sets=OURS, prior=0.1),
]


def features_of(name: str) -> tuple[Feature, ...]:
    """The features of a set, in the order of their columns."""
    return tuple(feature for feature in FEATURES if name in feature.sets)


def column_names(name: str) -> tuple[str, ...]:
    """The columns of F of a feature set."""
    return tuple(column for feature in features_of(name) for column in feature.columns)


PAPER_NAMES = column_names(PAPER)
EXTENDED_NAMES = column_names(EXTENDED)[len(PAPER_NAMES) :]
