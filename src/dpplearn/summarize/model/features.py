"""From a cluster of documents to an ItemSet: the 39 quality features of section 7.2, tf-idf, costs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, fields
from itertools import chain
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse

from dpplearn._checks import FloatArray, IntArray, check_choice, read_only
from dpplearn.learning.itemset import ItemSet
from dpplearn.learning.parts import Part, cosines, shared_columns
from dpplearn.learning.similarity import Fixed
from dpplearn.summarize.corpora.cluster import Cluster
from dpplearn.summarize.corpora.mismatch import read_as
from dpplearn.summarize.model.bins import quantile_edges
from dpplearn.summarize.model.forms import Forms
from dpplearn.summarize.model.meaning import Meaning
from dpplearn.summarize.model.quality_features import FEATURE_SETS, GENERAL, Feature, Reading, features_of
from dpplearn.summarize.model.similarity_parts import parts_of
from dpplearn.summarize.model.split_cluster import MAX_COMPARED, SplitCluster, place_of, split_cluster
from dpplearn.summarize.model.tfidf import Idf, tfidf_rows
from dpplearn.summarize.text.units import Unit
from dpplearn.summarize.text.words import words

KNOWN = ("numbered", "weights", "texts")  # of a reading, found once


@dataclass(frozen=True, eq=False, repr=False)
class Featurized(Reading):
    """A cluster made ready for a model: candidate sentences, their words, and the items that they are.

    `items` has the quality features F, the tf-idf rows phi and, where F was made of them, their cosines C; for a
    similarity that is learned, its `parts`. `dropped` are the texts of sentences that a first choice left out before.
    """

    items: ItemSet
    dropped: tuple[str, ...] = field(default=(), repr=False)
    parts: tuple[Part, ...] = field(default=(), repr=False)

    @property
    def passed(self) -> int:
        """How many sentences a first choice left out."""
        return len(self.dropped)

    @property
    def whole(self) -> tuple[str, ...]:
        """The texts of all sentences, whole, first those that are here: what a share of the text is one of."""
        return (*{place_of(sentence): sentence.full for sentence in self.sentences}.values(), *self.dropped)

    def __getstate__(self) -> dict[str, Any]:
        """Copies and other processes need no idf: what it is for is done, and it is as large as the model."""
        return {**self.__dict__, "idf": None}

    @property
    def F(self) -> FloatArray:
        return self.items.features

    def item_set(self, unit: Unit) -> ItemSet:
        """The items with their costs in a unit, for `ConditionalDPP` to learn from and to choose among."""
        return self.with_features(self.F, self.items.names, self.costs(unit))

    def with_features(self, F: FloatArray, names: tuple[str, ...] | None, cost: FloatArray | None = None) -> ItemSet:
        """The same items by other features."""
        return items_of(self, F, names, cost, self.parts)

    def only(self, kept: IntArray) -> Featurized:
        """Some of the sentences, with the features that they have among all."""
        sentences = tuple(self.sentences[i] for i in kept)
        reading = Reading(self.cluster, sentences, self.set_aside, self.idf, self.phi[kept])
        here = {place_of(sentence) for sentence in sentences}
        gone = {place_of(one): one.full for one in self.sentences if place_of(one) not in here}
        parts = some_rows(self.parts, kept)
        return featurized(reading, self.F[kept], self.items.names, (*self.dropped, *gone.values()), parts)


def some_rows(parts: tuple[Part, ...], kept: IntArray) -> tuple[Part, ...]:
    """Parts that are features, of some of the items."""
    return tuple(part._replace(phi=None if part.phi is None else part.phi[kept]) for part in parts)


def items_of(
    read: Reading,
    F: FloatArray,
    names: tuple[str, ...] | None,
    cost: FloatArray | None = None,
    parts: tuple[Part, ...] = (),
) -> ItemSet:
    """Sentences as items, of parts that are known to be right; many have no matrix of their cosines.

    Without parts their similarity features are the tf-idf rows; with one, that.
    """
    if len(parts) > 1:
        return ItemSet._of(features=F, parts=parts, cost=cost, names=names)
    phi, C = parts[0].phi if parts else read.phi, None
    if len(read) <= MAX_COMPARED:
        C = cosines(phi, None, None, lambda: shared_columns(phi)) if parts else read.C
    return ItemSet._of(features=F, similarity=C, phi=phi, cost=cost, names=names)


def featurized(
    reading: Reading,
    F: FloatArray,
    names: tuple[str, ...] | None,
    dropped: tuple[str, ...] = (),
    parts: tuple[Part, ...] = (),
) -> Featurized:
    """A reading with its features, none of which changes any more."""
    items = items_of(reading, F, names, parts=parts)
    read_only(F, reading.phi.data, *([] if items.similarity is None else [items.similarity]))
    made: dict[str, Any] = {one.name: getattr(reading, one.name) for one in fields(reading) if one.init}
    found = Featurized(**made, items=items, dropped=dropped, parts=parts)
    vars(found).update({name: vars(reading)[name] for name in KNOWN if name in vars(reading)})
    if items.similarity is not None and not parts:
        vars(found)["C"] = items.similarity  # the same array, known already
    return found


class Draft(NamedTuple):
    """A cluster's sentences with the numbers behind their features, from which bins are learned.

    Where sentences have shorter forms there is a block of numbers for each kind of form, and `rows` says which row of
    the blocks, one after the other, is whose.
    """

    reading: Reading
    values: list[dict[str, FloatArray]]  # of each block, by feature
    rows: IntArray | None = None


class SentenceFeatures:
    """Quality features of sentences, with idf and global quantiles learned from training clusters.

    Constant 1; length in bytes (5 global bins); position 1 to 5 and later; mean similarity to the cluster (raw, 5
    global bins, 10 local); LexRank (raw, 5 global bins, 5 local): 39 in all. Global bins are quantiles of all
    sentences in training, local bins of the cluster's own.

    Parameters
    ----------
    features : {"paper", "extended", "general"}
        "paper" is the set above; "extended" adds what `EXTENDED_NAMES` lists. "general" is a set of its own, for any
        kind of text: nine numbers that learn no bins, with words weighed by how many of the cluster's own sentences
        have them, so that it knows no language.
    splitter : callable, optional
        Text to a list of (start, end) offsets; default: the rule-based splitter.
    unit : str or callable
        Of the costs in `transform`.
    binned : bool
        Whether columns are those of a linear score, with bins. For trees, which find thresholds, they are the numbers
        themselves and their ranks in the cluster.
    similarity : str
        Kind of similarity, whose parts (`dpplearn.summarize.model.similarity_parts`) the items then have.
    language : str, optional
        Of the stems in these parts.
    encoder : optional
        Adds a part of what sentences mean, see `dpplearn.summarize.model.meaning`.

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

    def __init__(
        self,
        features: str = "paper",
        *,
        splitter: Any = None,
        unit: Unit = "bytes",
        binned: bool = True,
        similarity: str = Fixed.kind,
        language: str | None = None,
        encoder: Any = None,
    ) -> None:
        self.binned, self.similarity, self.language, self.meaning = binned, similarity, language, Meaning.of(encoder)
        self.features, self.splitter, self.unit = check_choice(features, "features", FEATURE_SETS), splitter, unit
        self.known: Collection[str] | None = None  # columns of the model file it was read from; later ones are newer
        self.known_parts: Collection[str] | None = None  # and what its mixture is one of

    def __repr__(self) -> str:
        return f"<SentenceFeatures {self.features!r} of {len(self.names)} columns>"

    @property
    def entries(self) -> tuple[Feature, ...]:
        """The features of the set, in the order of their columns."""
        entries = tuple(one for one in features_of(self.features) if self.binned or one.name != "constant")
        return (
            entries if self.known is None else tuple(one for one in entries if {*self._columns(one)} <= {*self.known})
        )

    def _columns(self, entry: Feature) -> tuple[str, ...]:
        return entry.columns if self.binned else entry.plain_columns

    @property
    def priors(self) -> FloatArray:
        """For each column of F, how many times wider than usual the prior of its weight is."""
        return np.array([entry.prior for entry in self.entries for _ in entry.columns])

    @property
    def names(self) -> tuple[str, ...]:
        """Name of each column of F."""
        return tuple(column for entry in self.entries for column in self._columns(entry))

    def fit(self, clusters: Sequence[Cluster]) -> Self:
        """Learn idf from all documents of the clusters, and global bins from all their sentences."""
        self.fit_read(clusters)
        return self

    def fit_read(self, clusters: Sequence[Cluster]) -> list[Featurized]:
        """Learn idf and bins from clusters, and return what `read` would of each, all in one reading."""
        if not clusters:
            raise ValueError("Features are learned from at least one training cluster; found none.")
        self.idf = Idf(0, {})
        if self.counts_words:
            self.idf = Idf.fit(words(document.text) for cluster in clusters for document in cluster.documents)
        drafts = [self.draft(split_cluster(cluster, self.splitter, MAX_COMPARED)) for cluster in clusters]
        self.edges = {
            entry.name: quantile_edges(np.concatenate([one.values[0][entry.name] for one in drafts]), entry.bins)
            for entry in self.binned_entries
        }
        return [featurized(one.reading, self.made(one), self.names, parts=self.parts(one.reading)) for one in drafts]

    @property
    def counts_words(self) -> bool:
        """Whether idf is learned from the documents of training clusters, and not from a cluster's own sentences."""
        return self.features != GENERAL

    @property
    def binned_entries(self) -> tuple[Feature, ...]:
        """Those with global bins."""
        return tuple(entry for entry in self.entries if entry.bins and self.binned)

    def read(self, cluster: Cluster, *, min_words: int = 1, keep_all: bool = False) -> Featurized:
        """Sentences, F, Φ and, where they are not too many, cosines of a cluster; options as in `Cluster.sentences`."""
        if not hasattr(self, "edges"):
            raise RuntimeError("These features are not fitted yet: call fit(clusters) or load a model.")
        one = self.draft(split_cluster(cluster, self.splitter, min_words=min_words, keep_all=keep_all))
        return featurized(one.reading, self.made(one), self.names, parts=self.parts(one.reading))

    def with_forms(self, read: Featurized, language: str | None = None) -> Featurized:
        """The same sentences with their shorter forms (`dpplearn.summarize.text.short_forms`) beside them.

        A form has the features that it has in the cluster where every sentence is in its form of that kind, so that the
        forms of a sentence make it no more central.
        """
        forms = Forms.of(read, language)
        if not forms.order:
            return read
        blocks = [read.F, *(self.columns_of(values) for values in self._replaced(forms, read))]
        F = np.concatenate(blocks)[forms.rows(len(read))]
        reading = self._reading(forms.all(read), self._idf(read))
        return featurized(reading, F, read.items.names, read.dropped, self.parts(reading))

    def draft(self, found: SplitCluster) -> Draft:
        """What features are made of, before bins are known."""
        reading = self._reading(found)
        return Draft(reading, [self._values(reading)])

    def draft_forms(self, one: Draft, language: str | None) -> Draft:
        """The draft of what `with_forms` makes."""
        forms, read = Forms.of(one.reading, language), one.reading
        if not forms.order:
            return one
        values = [*one.values, *self._replaced(forms, read)]
        return Draft(self._reading(forms.all(read), self._idf(read)), values, forms.rows(len(read)))

    def made(self, one: Draft) -> FloatArray:
        """F of a draft."""
        blocks = [self.columns_of(values) for values in one.values]
        return blocks[0] if one.rows is None else np.concatenate(blocks)[one.rows]

    def _replaced(self, forms: Forms, read: SplitCluster) -> Iterator[dict[str, FloatArray]]:
        return (self._values(self._reading(found)) for found in forms.replaced(read))

    def transform(self, cluster: Cluster) -> ItemSet:
        """The cluster's sentences as items: F, Φ, and the cost of each in the unit."""
        return self.read(cluster).item_set(self.unit)

    def _idf(self, found: SplitCluster, counts: sparse.csr_array | None = None) -> Idf:
        """That learned, or of the cluster's own sentences."""
        numbered, columns = found.numbered
        if self.counts_words:
            return self.idf
        return Idf.of_sentences(numbered.counts() if counts is None else counts, columns)

    def _reading(self, found: SplitCluster, idf: Idf | None = None) -> Reading:
        """With tf-idf rows."""
        numbered, columns = found.numbered
        counts = numbered.counts()
        idf = self._idf(found, counts) if idf is None else idf
        weights = idf.weights(columns)
        phi = tfidf_rows(counts, weights)
        reading = Reading(found.cluster, found.sentences, found.set_aside, idf, phi)
        vars(reading).update(numbered=found.numbered, weights=weights, texts=found.texts)  # known already
        return reading

    def _values(self, reading: Reading) -> dict[str, FloatArray]:
        """The numbers behind the columns, by feature."""
        return {entry.name: np.asarray(entry.values(reading), np.float64) for entry in self.entries}

    def parts(self, reading: Reading) -> tuple[Part, ...]:
        """What its sentences are alike by, if that is more than tf-idf."""
        language = read_as(reading.cluster, self.language)
        return parts_of(reading, self.similarity, language, self.meaning, self.known_parts)

    def columns_of(self, values: dict[str, FloatArray]) -> FloatArray:
        """F of a block of sentences, of the numbers behind it."""
        made = [(entry, values[entry.name]) for entry in self.entries]
        parts = (e.blocks(x, self.edges.get(e.name)) if self.binned else e.plain_blocks(x) for e, x in made)
        return np.hstack([*chain.from_iterable(parts)])
