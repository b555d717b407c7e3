"""From a cluster of documents to an ItemSet: quality features, tf-idf rows, costs (section 7.2)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Self

import numpy as np

from dpplearn._checks import Features, FloatArray, IntArray, check_choice, read_only
from dpplearn.learning.itemset import ItemSet
from dpplearn.summarize.corpora.cluster import Cluster, Sentence
from dpplearn.summarize.model.quality_features import FEATURE_SETS, GENERAL, Feature
from dpplearn.summarize.model.split_cluster import MAX_COMPARED, SplitCluster, place_of, split_cluster
from dpplearn.summarize.model.tfidf import Idf
from dpplearn.summarize.text.short_forms import short_forms
from dpplearn.summarize.text.units import Unit
from dpplearn.summarize.text.words import ANY, words


@dataclass(frozen=True, eq=False, repr=False)
class Featurized(SplitCluster):
    """A cluster made ready for a model: candidate sentences, their words, and the items that they are.

    `items` has the quality features F, the rows phi and, where these are not too many, their cosines. `dropped` are the
    texts of sentences that a first choice left out.
    """

    items: ItemSet
    dropped: tuple[str, ...] = ()

    @classmethod
    def with_items(
        cls, split: SplitCluster, F: FloatArray, names: tuple[str, ...] | None, dropped: tuple[str, ...] = ()
    ) -> Featurized:
        """A cluster with its features, none of which changes any more."""
        C = split.C if len(split) <= MAX_COMPARED else None
        read_only(F, split.phi.data, *([] if C is None else [C]))
        items = ItemSet._with(features=F, similarity=C, phi=split.phi, cost=None, names=names)
        made = split.cluster, split.sentences, split.set_aside, split.words, split.numbered, split.learned
        return Featurized(*made, items, dropped)

    @property
    def passed(self) -> int:
        """How many sentences a first choice left out."""
        return len(self.dropped)

    @property
    def whole(self) -> tuple[str, ...]:
        """The texts of all sentences, whole, first those that are here: a budget in per cent is a part of these."""
        return (*{place_of(sentence): sentence.full for sentence in self.sentences}.values(), *self.dropped)

    @property
    def phi(self) -> Features:
        """Tf-idf rows."""
        assert self.items.phi is not None  # sentences have rows
        return self.items.phi

    @property
    def C(self) -> FloatArray:
        """Cosines of the tf-idf rows, where these are not too many."""
        return super().C if self.items.similarity is None else self.items.similarity

    @property
    def F(self) -> FloatArray:
        return self.items.features

    def item_set(self, unit: Unit) -> ItemSet:
        """The items with their costs in a unit, for `ConditionalDPP` to learn from and to choose among."""
        own = {name: getattr(self.items, name) for name in ("features", "similarity", "phi", "names")}
        return ItemSet._with(**own, cost=self.costs(unit))

    def only(self, kept: IntArray) -> Featurized:
        """Some of the sentences, with the features that they have among all."""
        split = SplitCluster.of(self.cluster, [self.sentences[i] for i in kept], self.set_aside, self.idf)
        here = {place_of(sentence) for sentence in split.sentences}
        gone = {place_of(one): one.full for one in self.sentences if place_of(one) not in here}
        return Featurized.with_items(split, self.F[kept], self.items.names, (*self.dropped, *gone.values()))


def shorter_forms(read: SplitCluster, language: str | None) -> dict[tuple[int, int], Sentence]:
    """The shorter forms of sentences, by the number of the sentence and which of its forms it is, from 1.

    Those with other words than every sentence and every form before; `language` where the cluster tells none.
    """
    language = read.cluster.own_language or (None if language == ANY else language)
    seen, made = set(read.said), dict[tuple[int, int], Sentence]()
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
        binned = [entry for entry in self.entries if entry.bins]
        values = [self.values(self.weighed(split)) for split in splits] if binned else []
        self.edges = {
            entry.name: np.quantile(
                np.concatenate([one[entry.name] for one in values]), np.arange(1, entry.bins) / entry.bins
            )
            for entry in binned
        }

    def read(self, cluster: Cluster, *, keep_all: bool = False) -> Featurized:
        """Sentences, F, Φ and, where they are not too many, cosines of a cluster; options as in `Cluster.sentences`."""
        if not hasattr(self, "edges"):
            raise RuntimeError("These features are not fitted yet: call fit(clusters) or load a model.")
        return self.featurized(split_cluster(cluster, keep_all=keep_all))

    def transform(self, cluster: Cluster) -> ItemSet:
        """The cluster's sentences as items: F, Φ and cosines."""
        return self.read(cluster).items

    def featurized(self, split: SplitCluster) -> Featurized:
        """A cluster with its features."""
        split = self.weighed(split)
        return Featurized.with_items(split, self.matrix(split), self.names)

    def with_forms(self, read: Featurized, language: str | None = None) -> Featurized:
        """The same sentences with their shorter forms (`dpplearn.summarize.text.short_forms`) beside them.

        A form has the features that it has in the cluster where every sentence is in its form of that kind, so that the
        forms of a sentence make it no more central.
        """
        made = shorter_forms(read, language)
        if not made:
            return read
        blocks = [read.F]
        for kind in range(1, 1 + max(kind for _, kind in made)):  # every sentence in its first form, or in its last
            some = [made.get((i, kind)) or made.get((i, 1)) or one for i, one in enumerate(read.sentences)]
            blocks.append(self.matrix(self.weighed(SplitCluster.of(read.cluster, some))))
        whole = dict(made) | {(i, 0): sentence for i, sentence in enumerate(read.sentences)}
        every = sorted(whole)  # each sentence before its forms
        F = np.concatenate(blocks)[[kind * len(read) + i for i, kind in every]]
        split = SplitCluster.of(read.cluster, [whole[key] for key in every], read.set_aside, read.idf)
        return Featurized.with_items(split, F, self.names, read.dropped)

    def weighed(self, split: SplitCluster) -> SplitCluster:
        """A cluster with its words weighed by the documents of training, if these count."""
        return replace(split, learned=self.idf) if self.idf.documents else split

    def values(self, split: SplitCluster) -> dict[str, FloatArray]:
        """The numbers behind the columns, by feature."""
        return {entry.name: np.asarray(entry.values(split), np.float64) for entry in self.entries}

    def matrix(self, split: SplitCluster) -> FloatArray:
        """F of sentences."""
        values = self.values(split)
        blocks = (entry.blocks(values[entry.name], self.edges.get(entry.name)) for entry in self.entries)
        return np.hstack([*chain.from_iterable(blocks)])
