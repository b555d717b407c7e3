"""From a cluster of documents to an ItemSet: the 39 quality features of section 7.2, tf-idf, costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from dpplearn._checks import Features, FloatArray, check_choice
from dpplearn.summarize.corpora.cluster import Cluster, Sentence
from dpplearn.summarize.model.bins import global_bins, local_bins, one_hot, quantile_edges
from dpplearn.summarize.model.centrality import lexrank, mean_similarity
from dpplearn.summarize.model.extended import EXTENDED_NAMES, extended_features
from dpplearn.summarize.model.tfidf import Idf
from dpplearn.summarize.text.units import Unit, costs
from dpplearn.summarize.text.words import words

if TYPE_CHECKING:
    from dpplearn.learning.itemset import ItemSet

FEATURE_SETS = ("paper", "extended")
GLOBAL, LOCAL_SIMILARITY, LOCAL_LEXRANK = 5, 10, 5  # numbers of bins, section 7.2


def fifths(name: str, count: int, where: str = "") -> list[str]:
    return [f"{name} {b + 1}/{count}{where}" for b in range(count)]


PAPER_NAMES: tuple[str, ...] = (
    "constant",
    *fifths("length", GLOBAL),
    *(f"position {p}" for p in range(1, 6)),
    "position 6+",
    "similarity",
    *fifths("similarity", GLOBAL),
    *fifths("similarity", LOCAL_SIMILARITY, " of cluster"),
    "lexrank",
    *fifths("lexrank", GLOBAL),
    *fifths("lexrank", LOCAL_LEXRANK, " of cluster"),
)


@dataclass(frozen=True, eq=False)
class Featurized:
    """A cluster made ready for a model: candidate sentences, their words, F, Φ and the cosines C."""

    cluster: Cluster
    sentences: tuple[Sentence, ...]
    words: tuple[tuple[str, ...], ...]
    F: FloatArray
    phi: Features
    C: FloatArray

    @property
    def texts(self) -> list[str]:
        return [sentence.text for sentence in self.sentences]

    def similarity(self, rho: float) -> FloatArray:
        """S = (C + rho^2) / (1 + rho^2): tf-idf vectors with a constant feature rho appended."""
        S = (self.C + rho**2) / (1 + rho**2)
        np.fill_diagonal(S, 1.0)
        return S

    def item_set(self, unit: Unit, names: Sequence[str]) -> ItemSet:
        """What `ConditionalDPP` learns from."""
        from dpplearn.learning.itemset import ItemSet

        return ItemSet(self.F, phi=self.phi, cost=costs(self.texts, unit), names=list(names))


class SentenceFeatures:
    """Quality features of sentences, with idf and global quantiles learned from training clusters.

    Constant 1; length in bytes (5 global bins); position 1 to 5 and later; mean similarity to the cluster (raw, 5
    global bins, 10 local); LexRank (raw, 5 global bins, 5 local): 39 in all. Global bins are quantiles of all
    sentences in training, local bins of the cluster's own.

    Parameters
    ----------
    features : {"paper", "extended"}
        "paper" is the set above; "extended" adds what `EXTENDED_NAMES` lists.
    splitter : callable, optional
        Text to a list of (start, end) offsets; default: the rule-based splitter.
    unit : str or callable
        Of the costs in `transform`.

    Examples
    --------
    >>> from dpplearn.summarize import Cluster
    >>> storm = Cluster.from_texts(["A storm hit the coast. Boats sank.", "The storm sank ten boats off the coast."])
    >>> items = SentenceFeatures().fit([storm]).transform(storm)
    >>> items.n, items.n_features
    (3, 39)
    """

    idf: Idf
    edges: dict[str, FloatArray]

    def __init__(self, features: str = "paper", *, splitter: Any = None, unit: Unit = "bytes") -> None:
        self.features, self.splitter, self.unit = check_choice(features, "features", FEATURE_SETS), splitter, unit

    @property
    def names(self) -> tuple[str, ...]:
        """Name of each column of F."""
        return PAPER_NAMES if self.features == "paper" else PAPER_NAMES + EXTENDED_NAMES

    def fit(self, clusters: Sequence[Cluster]) -> Self:
        """Learn idf from all documents of the clusters, and global bins from all their sentences."""
        if not clusters:
            raise ValueError("Features are learned from at least one training cluster; found none.")
        self.idf = Idf.fit(words(document.text) for cluster in clusters for document in cluster.documents)
        raw = []
        for cluster in clusters:
            sentences, _, _, C = self._read(cluster)
            raw.append(self._raw(sentences, C))
        self.edges = {
            name: quantile_edges(np.concatenate([values[name] for values in raw]), GLOBAL)
            for name in ("length", "similarity", "lexrank")
        }
        return self

    def _read(self, cluster: Cluster) -> tuple[tuple[Sentence, ...], tuple[tuple[str, ...], ...], Features, FloatArray]:
        """Candidate sentences (those with a word in them), their words, tf-idf rows and cosines."""
        given: object = cluster
        if not isinstance(given, Cluster):
            raise TypeError(
                f"Summaries are made of a Cluster, found {type(given).__name__}. "
                "Use Cluster.from_texts([...]) or Cluster.from_files(...)."
            )
        read = [(sentence, tuple(words(sentence.text))) for sentence in cluster.sentences(self.splitter)]
        read = [(sentence, tokens) for sentence, tokens in read if tokens]
        if not read:
            name = f" {cluster.id}" if cluster.id else ""
            raise ValueError(f"Cluster{name} has no sentence with a word in it, so there is nothing to choose from.")
        sentences, tokens = zip(*read, strict=True)
        phi = self.idf.vectors(tokens)
        C = np.clip((phi @ phi.T).toarray(), 0.0, 1.0)
        np.fill_diagonal(C, 1.0)
        return sentences, tokens, phi, C

    @staticmethod
    def _raw(sentences: tuple[Sentence, ...], C: FloatArray) -> dict[str, FloatArray]:
        """The real-valued features behind the bins."""
        return {
            "length": np.array([len(sentence.text.encode()) for sentence in sentences], np.float64),
            "similarity": np.round(mean_similarity(C), 10),  # so that equal sentences are equal, not but for rounding
            "lexrank": np.round(lexrank(C), 10),
        }

    def read(self, cluster: Cluster) -> Featurized:
        """Sentences, F, Φ and cosines of a cluster."""
        if not hasattr(self, "edges"):
            raise RuntimeError("These features are not fitted yet: call fit(clusters) or load a model.")
        sentences, tokens, phi, C = self._read(cluster)
        raw = self._raw(sentences, C)
        position = np.minimum([sentence.position for sentence in sentences], 6) - 1
        columns = [
            np.ones((len(sentences), 1)),
            one_hot(global_bins(raw["length"], self.edges["length"]), GLOBAL),
            one_hot(position, 6),
        ]
        for name, local in (("similarity", LOCAL_SIMILARITY), ("lexrank", LOCAL_LEXRANK)):
            columns += [
                raw[name][:, None],
                one_hot(global_bins(raw[name], self.edges[name]), GLOBAL),
                one_hot(local_bins(raw[name], local), local),
            ]
        if self.features == "extended":
            columns.append(extended_features(cluster, sentences, tokens, self.idf))
        return Featurized(cluster, sentences, tokens, np.hstack(columns), phi, C)

    def transform(self, cluster: Cluster) -> ItemSet:
        """The cluster's sentences as items: F, Φ, and the cost of each in the unit."""
        return self.read(cluster).item_set(self.unit, self.names)
