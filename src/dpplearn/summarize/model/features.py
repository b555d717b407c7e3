"""From a cluster of documents to an ItemSet: quality features, tf-idf rows, costs (section 7.2)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Self

import numpy as np

from dpplearn._checks import FloatArray, check_choice
from dpplearn.learning.itemset import ItemSet
from dpplearn.summarize.corpora.cluster import Cluster, Sentence
from dpplearn.summarize.model.quality_features import FEATURE_SETS, GENERAL, Feature
from dpplearn.summarize.model.split_cluster import MAX_COMPARED, SplitCluster, split_cluster
from dpplearn.summarize.model.tfidf import Idf
from dpplearn.summarize.text.short_forms import short_forms
from dpplearn.summarize.text.words import ANY, words


def shorter_forms(read: SplitCluster, language: str | None) -> dict[tuple[int, int], Sentence]:
    """The shorter forms of sentences, by the number of the sentence and which of its forms it is, from 1.

    Those with other words than every sentence and every form before; `language` where the cluster tells none.
    """
    language = read.cluster.own_language or (None if language == ANY else language)
    seen, made = {" ".join(sorted(one)) for one in read.words}, dict[tuple[int, int], Sentence]()
    for i, sentence in enumerate(read.sentences):
        for form in short_forms(sentence.text, language):
            said = " ".join(sorted(words(form.text)))
            if said and said not in seen:
                seen.add(said)
                kind = 1 + ((i, 1) in made)
                made[i, kind] = replace(sentence, text=form.text, dropped=form.dropped, full=sentence.text)
    return made


class SentenceFeatures:
    """Quality features of sentences, with idf and global quantiles learned from training clusters.

    "general" is for any kind of text: nine numbers and a constant that learn no bins, with words weighed by how many of
    the cluster's own sentences have them, so that it knows no language. "paper" is section 7.2's: constant 1; length in
    bytes (5 global bins); position 1 to 5 and later; mean similarity to the cluster (raw, 5 global bins, 10 local);
    LexRank (raw, 5 global bins, 5 local): 39 in all. Global bins are quantiles of all sentences in training, local bins
    of the cluster's own.

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

    @property
    def priors(self) -> FloatArray:
        """For each column of F, how many times wider than usual the prior of its weight is."""
        return np.array([entry.prior for entry in self.entries for _ in entry.columns])

    @property
    def names(self) -> tuple[str, ...]:
        """Name of each column of F."""
        return tuple(column for entry in self.entries for column in entry.columns)

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
        binned = {one: list[FloatArray]() for one in self.entries if one.bins}
        for split in map(self.featurized, splits) if binned else ():
            for one, values in binned.items():
                values.append(one.numbers(split))
        for one, values in binned.items():
            self.edges[one.name] = np.quantile(np.concatenate(values), np.arange(1, one.bins) / one.bins)

    def read(self, cluster: Cluster, *, keep_all: bool = False) -> SplitCluster:
        """Sentences, F, Φ and, where they are not too many, cosines of a cluster; options as in `Cluster.sentences`."""
        return self.featurized(split_cluster(cluster, keep_all=keep_all))

    def transform(self, cluster: Cluster) -> ItemSet:
        """The cluster's sentences as items: F, Φ and cosines."""
        return self.read(cluster).items

    def featurized(self, split: SplitCluster) -> SplitCluster:
        """A cluster with these features, its words weighed by the documents of training, if these count."""
        if not hasattr(self, "edges"):
            raise RuntimeError("These features are not fitted yet: call fit(clusters) or load a model.")
        return replace(split, features=self, learned=self.idf if self.idf.documents else None)

    def with_forms(self, read: SplitCluster, language: str | None = None) -> SplitCluster:
        """The same sentences with their shorter forms (`dpplearn.summarize.text.short_forms`) beside them.

        A form has the features that it has in the cluster where every sentence is in its form of that kind, so that the
        forms of a sentence make it no more central.
        """
        made = shorter_forms(read, language)
        if not made:
            return read
        blocks = [read.F]
        for kind in range(1, 1 + max(kind for _, kind in made)):  # every sentence in its first form, or in its last
            some = (made.get((i, kind)) or made.get((i, 1)) or one for i, one in enumerate(read.sentences))
            blocks.append(self.featurized(SplitCluster(read.cluster, tuple(some))).F)
        whole = dict(made) | {(i, 0): sentence for i, sentence in enumerate(read.sentences)}
        every = sorted(whole)  # each sentence before its forms
        F = np.concatenate(blocks)[[kind * len(read) + i for i, kind in every]]
        return replace(read, sentences=tuple(whole[key] for key in every), learned=read.idf, rows=F)

    def matrix(self, split: SplitCluster) -> FloatArray:
        """F of sentences."""
        edges = self.edges
        return np.hstack([x for one in self.entries for x in one.blocks(one.numbers(split), edges.get(one.name))])
