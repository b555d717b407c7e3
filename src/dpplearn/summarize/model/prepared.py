"""A cluster made ready for many summaries: what does not depend on length, unit, decoder or pins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from dpplearn._cached import Latest, cached_property
from dpplearn._checks import FloatArray, IntArray
from dpplearn.decoding.candidates import Candidates, read_model
from dpplearn.dpp import DPP
from dpplearn.summarize.model.features import Featurized
from dpplearn.summarize.text.matching import match_words
from dpplearn.summarize.text.units import Unit, costs


@dataclass(frozen=True, eq=False)
class Prepared:
    """What `Summarizer.prepare` makes of a cluster: features, the DPP, and what consensus decoding compares sets by.

    A summary of it is the summary of the cluster, without reading the cluster again.
    """

    read: Featurized
    dpp: DPP
    theta: FloatArray
    language: str | None
    bigrams: float
    _costs: Latest[FloatArray] = field(default_factory=Latest, repr=False)
    _kernel: Latest[Candidates] = field(default_factory=Latest, repr=False)
    _marginals: Latest[FloatArray] = field(default_factory=Latest, repr=False)

    def kernel(self, diversity: float) -> Candidates:
        """L(d), with its eigenvectors once a decoder needed them; the latest is kept."""
        if diversity == 0.5:
            return self._learned
        return self._kernel.get(diversity, lambda: read_model(self.dpp, diversity))

    @cached_property
    def _learned(self) -> Candidates:
        return read_model(self.dpp, 0.5)

    def marginals(self, pinned: IntArray, excluded: IntArray) -> FloatArray:
        """P(i in Y | pinned in Y, excluded not in Y) of every sentence under the learned model, equation (10)."""
        if not (pinned.size or excluded.size):
            return self.dpp.marginals
        return self._marginals.get((pinned.tobytes(), excluded.tobytes()), lambda: self._conditioned(pinned, excluded))

    def _conditioned(self, pinned: IntArray, excluded: IntArray) -> FloatArray:
        p = np.zeros(self.n)
        p[pinned] = 1.0
        if pinned.size + excluded.size < self.n:
            given = self._learned.given(pinned, excluded)
            p[given.items] = given.marginals
        return p

    @property
    def n(self) -> int:
        """Number of candidate sentences."""
        return len(self.read.sentences)

    @cached_property
    def said(self) -> tuple[str, ...]:
        """The words of each sentence in one order: equal for sentences of which a set can hold only one."""
        return tuple(" ".join(sorted(words)) for words in self.read.words)

    def allowed(self, pinned: IntArray, excluded: IntArray) -> npt.NDArray[np.bool_]:
        """Which sentences may be chosen: not the excluded, and of those with the same words only one."""
        allowed = np.ones(self.n, np.bool_)
        allowed[excluded] = False
        seen: set[str] = set()
        for i in [*pinned.tolist(), *np.setdiff1d(np.flatnonzero(allowed), pinned).tolist()]:
            key = self.said[i]
            if key in seen and i not in pinned:
                allowed[i] = False
            seen.add(key)
        if not allowed.any():
            raise ValueError(f"exclude leaves none of the {self.n} sentences to choose from.")
        return allowed

    def costs(self, unit: Unit) -> FloatArray:
        """What each sentence takes of a budget."""
        return self._costs.get(unit, lambda: costs(self.read.texts, unit))

    @cached_property
    def agreement(self) -> list[tuple[float, Any]]:
        """What consensus decoding compares sets by: words, and pairs of words in a row."""
        said = [match_words(text, self.language) for text in self.read.texts]
        parts = [(1.0 - self.bigrams, match_counts(said))]
        if self.bigrams > 0.0:
            pairs = [[f"{a} {b}" for a, b in pairwise(one)] for one in said]
            parts.append((self.bigrams, match_counts(pairs)))
        return parts


def match_counts(texts: Sequence[Sequence[str]]) -> Any:
    """Token counts of each sentence, one column per word of the cluster, as a csr_array.

    >>> match_counts([["rain", "fell"], ["rain", "rain"]]).toarray()
    array([[1., 1.],
           [2., 0.]])
    """
    columns: dict[str, int] = {}
    found = [columns.setdefault(word, len(columns)) for text in texts for word in text]
    rows = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
    counts = sparse.csr_array((np.ones(len(found)), (rows, found)), shape=(len(texts), max(len(columns), 1)))
    counts.sum_duplicates()
    return counts
