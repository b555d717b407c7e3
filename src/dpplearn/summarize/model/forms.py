"""Shorter forms of a cluster's sentences as candidates beside them: at most one form of a sentence is in a set."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from dpplearn._checks import IntArray
from dpplearn.summarize.corpora.cluster import Sentence
from dpplearn.summarize.corpora.mismatch import language_of
from dpplearn.summarize.model.split_cluster import SplitCluster
from dpplearn.summarize.text.matching import ANY
from dpplearn.summarize.text.short_forms import short_forms
from dpplearn.summarize.text.words import words


class Forms(NamedTuple):
    """The shorter forms of the sentences of a cluster, by the number of the sentence."""

    order: tuple[tuple[int, int], ...]  # the sentence of each, and which of its forms it is, from 1
    made: dict[tuple[int, int], Sentence]

    @classmethod
    def of(cls, read: SplitCluster, language: str | None = None) -> Forms:
        """Those with other words than every sentence and every form before; `language` where the cluster tells none."""
        language = language_of(read.cluster) or (None if language == ANY else language)
        seen, made = set(read.said), dict[tuple[int, int], Sentence]()
        for i, sentence in enumerate(read.sentences):
            for form in short_forms(sentence.text, language):
                said = " ".join(sorted(words(form.text)))
                if said and said not in seen:
                    seen.add(said)
                    kind = 1 + ((i, 1) in made)
                    made[i, kind] = replace(sentence, text=form.text, dropped=form.dropped, full=sentence.text)
        return cls(tuple(made), made)

    def replaced(self, read: SplitCluster) -> Iterator[SplitCluster]:
        """The cluster with every sentence in its first form, where it has one, and with every one in its last."""
        for kind in range(1, 1 + max(kind for _, kind in self.order)):
            sentences = tuple(self._form(read, i, kind) for i in range(len(read)))
            yield SplitCluster(read.cluster, sentences, read.set_aside, None)

    def _form(self, read: SplitCluster, i: int, kind: int) -> Sentence:
        return self.made.get((i, kind)) or self.made.get((i, 1)) or read.sentences[i]

    def all(self, read: SplitCluster) -> SplitCluster:
        """The sentences, each before its forms."""
        found = dict(self.made) | {(i, 0): sentence for i, sentence in enumerate(read.sentences)}
        return SplitCluster(read.cluster, tuple(found[key] for key in sorted(found)), read.set_aside, None)

    def rows(self, n: int) -> IntArray:
        """The row of each sentence and form in blocks of n rows, one after the other: whole, first form, ..."""
        keys = sorted({*self.order, *((i, 0) for i in range(n))})
        return np.array([kind * n + i for i, kind in keys], np.int64)
