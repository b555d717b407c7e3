"""Quality features of sentences (section 7.2), for whoever trains a summarizer or uses one.

PAPER_FEATURES are those of section 7.2. GENERAL_FEATURES are those of the bundled model, for any kind of text and any
language: ranks in the cluster, shares, and positions, without bins or words that were learned from one corpus.

How central a sentence is comes from the cosines C = phi phi^T of unit rows phi. Products with C are computed as
C v = phi (phi^T v), so that time and memory grow with the number of words only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy import sparse

from dpplearn._cached import cached_property
from dpplearn._checks import Features, FloatArray, IntArray, check_choice
from dpplearn.learning.itemset import ItemSet
from dpplearn.summarize.corpora.cluster import Cluster, Sentence
from dpplearn.summarize.model.split_cluster import MAX_COMPARED, SplitCluster, split_cluster
from dpplearn.summarize.model.tfidf import Idf
from dpplearn.summarize.text.short_forms import short_forms
from dpplearn.summarize.text.words import ANY, words

PAPER, GENERAL = "paper", "general"
RANKS = 1000  # a rank is the middle of one of so many local bins
DAMPING = 0.85
MOST_STEPS = 200  # of conjugate gradients, many more than they take


@dataclass(frozen=True)
class Feature:
    """A number for each sentence, and the columns of F that are made from it.

    Examples
    --------
    >>> Feature("length", len, bins=2).columns
    ('length 1/2', 'length 2/2')
    """

    name: str  # the name of its columns, or how they begin
    values: Callable[[SplitCluster], Any]  # one number per sentence
    raw: bool = False  # whether there is a column with the number itself
    rank: bool = False  # whether there is one with its rank in the cluster, from 0 to 1
    bins: int = 0  # number of columns for the quantiles of all sentences in training
    local_bins: int = 0  # number of columns for those of the cluster
    levels: Collection[str] = ()  # names of the columns for the numbers 0, 1, ...
    prior: float = 1.0  # the variance of the prior on its weights, in units of `prior_variance`

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of its columns of F."""
        return (
            *[self.name] * (self.raw + self.rank),
            *(f"{self.name} {b + 1}/{self.bins}" for b in range(self.bins)),
            *(f"{self.name} {b + 1}/{self.local_bins} of cluster" for b in range(self.local_bins)),
            *(f"{self.name} {level}" for level in self.levels),
        )

    def blocks(self, values: FloatArray, edges: FloatArray | None) -> list[FloatArray]:
        """Its columns; `edges` are the inner ends of the global bins, if it has any."""
        parts = [values[:, None]] if self.raw else []
        if self.rank:  # ranks can be compared between clusters of any size and kind
            parts.append(ranks(values)[:, None])
        if edges is not None:  # edges that ties made equal leave bins between them empty
            parts.append(np.eye(self.bins)[np.searchsorted(edges, values, side="right")])
        if self.local_bins:
            parts.append(np.eye(self.local_bins)[local_bins(values, self.local_bins)])
        if self.levels:
            parts.append(np.eye(len(self.levels))[values.astype(np.int64)])
        return parts


def local_bins(values: FloatArray, bins: int, group: IntArray | None = None) -> IntArray:
    """The bin of each value, by the share of the others (of its group, numbered from 0) below it; ties count half.

    A single value is in the middle bin, so that clusters of any size have bins.

    Examples
    --------
    >>> local_bins(np.array([3.0, 1.0, 2.0, 2.0]), 4), local_bins(np.array([7.0]), 5)
    (array([3, 0, 2, 2]), array([2]))
    >>> local_bins(np.array([3.0, 7.0, 1.0, 2.0, 2.0]), 4, np.array([0, 1, 0, 0, 0]))
    array([3, 2, 0, 2, 2])
    """
    group = np.zeros(values.size, np.int64) if group is None else group
    key = group * values.size + np.searchsorted(np.sort(values), values)  # groups, and in them values, in order
    ordered, size = np.sort(key), np.bincount(group)
    twice_rank = np.searchsorted(ordered, key, side="left") + np.searchsorted(ordered, key, side="right")
    group_start = np.cumsum(size) - size
    return np.asarray((twice_rank - 2 * group_start[group]) * bins // (2 * size[group]))


def ranks(values: FloatArray, group: IntArray | None = None) -> FloatArray:
    """The rank of each value among the others, from 0 to 1. Equal values share a rank, and a single value has 0.5."""
    return (local_bins(values, RANKS, group) + 0.5) / RANKS


def mean_similarity(phi: Features) -> FloatArray:
    """Mean cosine of each sentence to all others in the cluster; 0 for a single one.

    Examples
    --------
    >>> mean_similarity(np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])).round(2)
    array([0.3, 0.7, 0.4])
    """
    n = phi.shape[0]
    return np.asarray((phi @ phi.sum(axis=0) - 1.0) / max(n - 1, 1))


def lexrank(phi: Features, damping: float = DAMPING) -> FloatArray:
    """Continuous LexRank (Erkan and Radev, 2004), scaled to mean 1.

    It is the stationary distribution of a walk over sentences, which goes to a similar one with probability `damping`
    (rows of C, normalized) and anywhere otherwise. Without these jumps it would be the row sums of C, because C is
    symmetric, and would add nothing to the mean similarity.

    With D the row sums of C and x = D^1/2 y, the walk's equation is (I - d D^-1/2 C D^-1/2) y = (1 - d) D^-1/2 1.
    The eigenvalues of this matrix lie between 1 - d and 1, so conjugate gradients take about 25 products with C.

    Examples
    --------
    >>> lexrank(np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])).round(3)
    array([0.866, 1.204, 0.93 ])
    """
    from scipy.sparse.linalg import LinearOperator, cg  # imported late: a summary with general features needs none

    by_word, root = phi.T, np.sqrt(phi @ phi.sum(axis=0))
    walk = LinearOperator((root.size,) * 2, lambda y: y - damping * (phi @ (by_word @ (y / root))) / root, dtype=float)
    y, _ = cg(walk, (1.0 - damping) / root, rtol=1e-14, atol=0.0, maxiter=MOST_STEPS)
    return np.asarray(root * y)


def words_of_titles(split: SplitCluster) -> FloatArray:
    """The share of its words, each with its weight, that are in titles."""
    titles = {word for document in split.cluster.documents for word in words(document.title or "")}
    numbered, columns = split.numbered
    weights, titled = split.idf.weights(columns), np.array([word in titles for word in columns], np.float64)
    total = numbered.sums(weights)
    return np.round(numbered.sums(weights * titled) / (total + BESIDE * (total.sum() / numbered.numbers.size)), 12)


def repeated_pairs(split: SplitCluster) -> FloatArray:
    """The share of its pairs of words that other sentences have too."""
    pairs = split.numbered[0].pairs()
    return pairs.sums(pairs.in_several().astype(np.float64)) / (np.diff(pairs.ends) + BESIDE)


def like_other_documents(split: SplitCluster) -> FloatArray:
    """The rank of a sentence in its document, by its mean cosine to the sentences of other documents."""
    by_word, document = sparse.csc_array(split.phi), split.document_numbers  # sentences come document by document
    holder = document[by_word.indices]
    word = np.repeat(np.arange(by_word.shape[1]), np.diff(by_word.indptr))
    part = np.cumsum((np.diff(word, prepend=-1) != 0) | (np.diff(holder, prepend=-1) != 0)) - 1  # word and document
    within = np.bincount(by_word.indices, by_word.data * np.bincount(part, by_word.data)[part], len(split))
    alike = np.round(split.phi @ split.phi.sum(axis=0) - within, 10)
    return ranks(alike, document)


def letters_per_word(split: SplitCluster) -> FloatArray:
    """The mean length of its words; of a sentence with few words it is drawn to the mean of all."""
    numbered, columns = split.numbered
    letters = numbered.sums(np.array([*map(len, columns)], np.float64))
    mean = letters.sum() / numbered.numbers.size
    return (letters + BESIDE * mean) / (np.diff(numbered.ends) + BESIDE)


def has_brackets(split: SplitCluster) -> list[bool]:
    return [OPENING_BRACKETS.search(text) is not None for text in split.texts]


def toward_the_beginning(split: SplitCluster) -> FloatArray:
    """Falls with the logarithm of the position, from 1 for the first sentence of a document to 0 after the last."""
    position, last = split.in_document
    return np.where(last > 0, 1.0 - np.log(position) / np.log(np.maximum(last, 1.0) + 1.0), 0.0)


def among_the_first(split: SplitCluster) -> FloatArray:
    """Falls from 1 for the first sentence by a factor e over the next `FIRST`."""
    position, last = split.in_document
    return np.where(last > 0, np.exp((1.0 - position) / FIRST), 0.0)


def end_of_a_long_document(split: SplitCluster) -> FloatArray:
    """Near 1 for the last twentieth or so of a document of 140 sentences or more, 0 in one of 50 or fewer."""
    position, last = split.in_document
    long = np.clip(np.log(np.maximum(last, 1.0) / LONG_DOCUMENT), 0.0, 1.0)
    return np.where(last > 0, (position / np.maximum(last, 1.0)) ** 10, 0.0) * long


FIRST = 15.0  # sentences over which a feature of the first ones falls by a factor e
BESIDE = 5  # words added to a sentence's own where their shares are compared, since few words give extreme shares
LONG_DOCUMENT = 50  # sentences from which on a document is long, so that its end may be a conclusion
OPENING_BRACKETS = re.compile(r"[(\[（［]")

# A new feature is an entry here. Its columns stand in F in this order.
PAPER_FEATURES = (
    Feature("constant", lambda split: np.ones(len(split)), raw=True),
    Feature("length", lambda split: [len(text.encode()) for text in split.texts], bins=5),
    Feature(
        "position",
        lambda split: [min(s.position, 6) - 1 for s in split.sentences],
        levels=("1", "2", "3", "4", "5", "6+"),
    ),
    Feature("similarity", lambda split: np.round(mean_similarity(split.phi), 10), raw=True, bins=5, local_bins=10),
    Feature("lexrank", lambda split: np.round(lexrank(split.phi), 10), raw=True, bins=5, local_bins=5),
)
GENERAL_FEATURES = (
    # the priors of four groups were chosen by leaving out one corpus at a time (docs/evaluation.md)
    Feature("constant", lambda split: np.ones(len(split)), raw=True, prior=100.0),
    Feature("toward the beginning", toward_the_beginning, raw=True, prior=0.3),
    Feature("among the first", among_the_first, raw=True, prior=0.3),
    Feature("end of a long document", end_of_a_long_document, raw=True, prior=0.3),
    Feature("words of titles", words_of_titles, rank=True, prior=0.3),
    Feature("repeated word pairs", repeated_pairs, rank=True, prior=0.1),
    Feature("like other documents", like_other_documents, raw=True, prior=0.1),
    # its prior is narrow because training extracts end with short sentences, which are the ones that still fit
    Feature("length", lambda split: np.diff(split.numbered[0].ends), rank=True, prior=0.02),
    Feature("long words", letters_per_word, rank=True, prior=0.1),
    Feature("brackets", has_brackets, raw=True, prior=0.1),
)
FEATURE_SETS = {PAPER: PAPER_FEATURES, GENERAL: GENERAL_FEATURES}


def shorter_forms(split: SplitCluster, language: str | None) -> dict[tuple[int, int], Sentence]:
    """Shorter forms of sentences, by the number of the sentence and that of its form, 1 or 2.

    Forms with the same words as a sentence, or as a form before, are left out. `language` is that of a cluster which
    does not say its own.
    """
    language = split.cluster.own_language or (None if language == ANY else language)
    word_bags, forms = {" ".join(sorted(tokens)) for tokens in split.words}, dict[tuple[int, int], Sentence]()
    for i, sentence in enumerate(split.sentences):
        for form in short_forms(sentence.text, language):
            key = " ".join(sorted(words(form.text)))
            if key and key not in word_bags:
                word_bags.add(key)
                kind = 1 + ((i, 1) in forms)
                forms[i, kind] = replace(sentence, text=form.text, dropped=form.dropped, full=sentence.text)
    return forms


class SentenceFeatures:
    """Quality features of sentences, with idf and global quantiles learned from training clusters.

    "general" is for any kind of text and any language: nine numbers and a constant. It learns no bins, and weighs words
    by how many of the cluster's own sentences have them. "paper" is section 7.2's: constant 1; length in bytes (5
    global bins); position 1 to 5 and later; mean similarity to the cluster (raw, 5 global bins, 10 local); LexRank
    (raw, 5 global bins, 5 local): 39 in all. Global bins are quantiles of all sentences in training, local bins of the
    cluster's own.

    Parameters
    ----------
    features : {"general", "paper"}

    Examples
    --------
    >>> from dpplearn.summarize import Cluster
    >>> storm = Cluster.from_texts(["A storm hit the coast. Boats sank.", "The storm sank ten boats off the coast."])
    >>> items = SentenceFeatures("paper").fit([storm]).transform(storm)
    >>> items.n, items.n_features
    (3, 39)
    """

    idf: Idf
    edges: dict[str, FloatArray]

    def __init__(self, features: str = GENERAL) -> None:
        self.features = check_choice(features, "features", tuple(FEATURE_SETS))

    def __repr__(self) -> str:
        return f"<SentenceFeatures {self.features!r} of {len(self.names)} columns>"

    @property
    def entries(self) -> tuple[Feature, ...]:
        """The features of the set, in the order of their columns."""
        return FEATURE_SETS[self.features]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Name of each column of F."""
        return tuple(column for entry in self.entries for column in entry.columns)

    @property
    def priors(self) -> FloatArray:
        """For each column of F the variance of the prior of its weight, in units of `prior_variance`."""
        return np.array([entry.prior for entry in self.entries for _ in entry.columns])

    def fit(self, clusters: Sequence[Cluster]) -> Self:
        """Learn idf from all documents of the clusters, and global bins from all their sentences."""
        if not clusters:
            raise ValueError("Features are learned from at least one training cluster; found none.")
        counted = [cluster for cluster in clusters if self.features != GENERAL]
        self.idf = Idf.fit(words(document.text) for cluster in counted for document in cluster.documents)
        self.learn_bins(split_cluster(cluster, MAX_COMPARED) for cluster in clusters)
        return self

    def learn_bins(self, splits: Iterable[SplitCluster]) -> None:
        """Learn global bins: quantiles of all sentences of some clusters."""
        self.edges = {}
        binned = {entry: list[FloatArray]() for entry in self.entries if entry.bins}
        for split in map(self.featurized, splits) if binned else ():
            for entry, values in binned.items():
                values.append(np.asarray(entry.values(split), np.float64))
        for entry, values in binned.items():
            self.edges[entry.name] = np.quantile(np.concatenate(values), np.arange(1, entry.bins) / entry.bins)

    def transform(self, cluster: Cluster) -> ItemSet:
        """The cluster's sentences as items with F, phi and cosines."""
        return self.read(cluster).items

    def read(self, cluster: Cluster, *, keep_all: bool = False) -> SplitCluster:
        """Split a cluster into sentences that have these features; options as in `Cluster.sentences`."""
        return self.featurized(split_cluster(cluster, keep_all=keep_all))

    def featurized(self, split: SplitCluster) -> SplitCluster:
        """The sentences with these features, and with the idf of training if words are weighed by that."""
        if not hasattr(self, "edges"):
            raise RuntimeError("These features are not fitted yet: call fit(clusters) or load a model.")
        return replace(split, features=self, learned=self.idf if self.idf.documents else None)

    def matrix(self, split: SplitCluster) -> FloatArray:
        """The features F of sentences."""
        blocks = list[FloatArray]()
        for entry in FEATURE_SETS[self.features]:
            blocks += entry.blocks(np.asarray(entry.values(split), np.float64), self.edges.get(entry.name))
        return np.hstack(blocks)

    def with_forms(self, split: SplitCluster, language: str | None = None) -> SplitCluster:
        """The same sentences, each followed by its shorter forms (`dpplearn.summarize.text.short_forms`).

        The features of a form are those that it has in the cluster when every sentence is in its form of that kind.
        Otherwise the forms of a sentence would make it more central.
        """
        forms = shorter_forms(split, language)
        if not forms:
            return split
        blocks = [split.F]
        for kind in range(1, 1 + max(kind for _, kind in forms)):  # every sentence in its first form, or in its last
            sentences = (forms.get((i, kind)) or forms.get((i, 1)) or x for i, x in enumerate(split.sentences))
            blocks.append(self.featurized(SplitCluster(split.cluster, tuple(sentences))).F)
        forms |= {(i, 0): sentence for i, sentence in enumerate(split.sentences)}
        order = sorted(forms)
        F = np.concatenate(blocks)[[kind * len(split) + i for i, kind in order]]
        return replace(split, sentences=tuple(forms[key] for key in order), learned=split.idf, rows=F)
