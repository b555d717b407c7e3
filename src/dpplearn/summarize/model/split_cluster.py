"""The sentences that a summary may be made of: what is known of them before any feature."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from itertools import compress
from typing import Any

import numpy as np
import numpy.typing as npt

from dpplearn._cached import Latest, cached_property
from dpplearn._checks import FloatArray, IntArray
from dpplearn.summarize.corpora.candidates import SetAside
from dpplearn.summarize.corpora.cluster import MAX_SENTENCES, Cluster, Sentence, Splitter
from dpplearn.summarize.corpora.document import NoSentencesError
from dpplearn.summarize.model.tfidf import Numbered
from dpplearn.summarize.text.standing import Lack, leans, why_not_alone
from dpplearn.summarize.text.units import Unit, costs
from dpplearn.summarize.text.words import listed_language, match_words, words

EXACT = 3_000  # sentences that a summary is chosen from by the exact model: of more, a first choice is made
MAX_COMPARED = 5_000  # sentences of which every two are compared, with arrays of a row and a column for each


@dataclass(frozen=True, eq=False, repr=False)
class SplitCluster:
    """A cluster's sentences that have a word in them, with these words, also as numbers, and the number of each.

    `set_aside` are pieces of the documents that are no candidates.
    """

    cluster: Cluster
    sentences: tuple[Sentence, ...]
    set_aside: tuple[SetAside, ...]
    words: list[list[str]]
    numbered: tuple[Numbered, dict[str, int]]
    _costs: Latest[FloatArray] = field(default_factory=Latest, init=False, repr=False)
    _when: Latest[IntArray] = field(default_factory=Latest, init=False, repr=False)
    _matched: Latest[list[list[str]]] = field(default_factory=Latest, init=False, repr=False)

    def __len__(self) -> int:
        return len(self.sentences)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)} sentences of {self.cluster!r}>"

    @classmethod
    def of(cls, cluster: Cluster, sentences: Sequence[Sentence], set_aside: tuple[SetAside, ...] = ()) -> SplitCluster:
        """Read the words of the sentences."""
        said = [words(sentence.text) for sentence in sentences]
        return SplitCluster(cluster, tuple(sentences), set_aside, said, Numbered.of(said))

    def parts(self) -> dict[str, Any]:
        """What it was made of, for a record that has more."""
        return {one.name: getattr(self, one.name) for one in fields(self) if one.init}

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
    def leaning(self) -> npt.NDArray[np.bool_]:
        """Which sentences lean on the one before them (`dpplearn.summarize.text.standing`)."""
        return np.array([leans(text, self._listed_language) for text in self.texts], np.bool_)

    @cached_property
    def lacks(self) -> tuple[Lack | None, ...]:
        """What each sentence lacks to stand alone; what most lack is the way of these texts, and counts for none."""
        lacks = [why_not_alone(text, self._listed_language) for text in self.texts]
        usual = {lack for lack, n in Counter(lacks).items() if 2 * n > len(lacks)}
        return tuple(None if lack in usual else lack for lack in lacks)

    @property
    def alone(self) -> npt.NDArray[np.bool_]:
        """Which sentences stand alone."""
        return np.array([lack is None for lack in self.lacks], np.bool_)

    @cached_property
    def _listed_language(self) -> str | None:
        own = self.cluster.language
        return listed_language((self.cluster.foreign or "English") if own is None else own)

    @cached_property
    def places(self) -> IntArray:
        """A number for each place in a document: one less for the sentence before, and of none for the first."""
        farthest = max((one.position for one in self.sentences), default=0) + 2
        return np.array([one.document * farthest + one.position for one in self.sentences], np.int64)

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

    def matched(self, language: str | None) -> Sequence[Sequence[str]]:
        """The words by which each sentence is compared with other texts."""
        return self._matched.get(language, lambda: [match_words(text, language) for text in self.texts])

    def costs(self, unit: Unit) -> FloatArray:
        """What each sentence takes of a budget."""
        return self._costs.get(unit, lambda: costs(self.texts, unit))


def place_of(sentence: Sentence) -> tuple[int, int]:
    """Where it begins: the same for all forms of a sentence, and for no other."""
    return sentence.document, sentence.start


def check_cluster(given: object) -> None:
    """A cluster, and not the text that one is made of."""
    if not isinstance(given, Cluster):
        raise TypeError(
            f"Summaries are made of a Cluster, found {type(given).__name__}. "
            "Use Cluster.from_texts([...]) or Cluster.from_files(...)."
        )


def split_cluster(
    cluster: Cluster, splitter: Splitter | None = None, limit: int = MAX_SENTENCES, keep_all: bool = False
) -> SplitCluster:
    """Split a cluster into its sentences, of which there must be one; options as in `Cluster.sentences`."""
    check_cluster(cluster)
    candidates = cluster.candidates(splitter, limit=limit, keep_all=keep_all)
    found = SplitCluster.of(cluster, candidates.sentences, candidates.set_aside)
    has_words = np.diff(found.numbered[0].ends) > 0
    if not has_words.any():
        ids = [document.id for document in cluster.documents]
        name = f" {cluster.id or ', '.join(ids[:3]) + (', ...' if len(ids) > 3 else '')}"
        raise NoSentencesError(f"Cluster{name} has no sentence with a word in it, so there is nothing to choose from.")
    if has_words.all():
        return found
    return SplitCluster.of(cluster, [*compress(found.sentences, has_words.tolist())], candidates.set_aside)
