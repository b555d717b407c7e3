"""How relevant sentences are to the question that a summary is about, and what that adds to their quality.

The direct relevance r_0 of a sentence is its cosine with the question, where rare words weigh more. Two words match
partly by the share of three-letter sequences that they have in common, so that inflected forms match in any language.
Other sentences say the same in other words. So relevance spreads over the cosines C of all sentences, by a walk that
begins at relevant ones and goes on with probability d (biased LexRank: Otterbacher, Erkan and Radev, 2005),

    r = (1 - d) r_0 + d C D^-1 r,      D the row sums of C,

and log q_i rises by STRENGTH z_i, where z is log r with mean 0 and standard deviation 1 in the cluster, cut at FAR:
q is multiplied by a power of the relevance. The similarities, and so the diversity, stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from dpplearn._checks import FloatArray, IntArray
from dpplearn._notebook import short_repr
from dpplearn.summarize.model.split_cluster import SplitCluster
from dpplearn.summarize.model.tfidf import Numbered, unit_rows
from dpplearn.summarize.text.words import small_words, word_set, words

STRENGTH = 0.7
FAR = 5.0  # standard deviations, beyond which more relevance adds nothing
ONWARD = 0.7  # d
WALK_STEPS = 30  # 0.7^30 is 2e-5
LEAST_RELEVANCE = 0.1  # this share of the mean relevance is added to each sentence, so that its log is finite
SAME_WORD = 0.55  # the share of letters in common below which words are different
ASKING = word_set("a an as at be by did do does how i in is it many me much on or tell to we where why")
REASON = "relevance to the question"


@dataclass(frozen=True, eq=False)
class Question:
    """A question, what it adds to log q of each sentence, and which sentences share a word with it."""

    __repr__ = short_repr

    text: str
    lift: FloatArray
    shares: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, split: SplitCluster, text: str) -> Question:
        """Compare a question with the sentences of a cluster."""
        rows, direct = direct_relevance(*split.numbered, asked_words(text))
        r = spread_relevance(rows, direct)
        z = np.log(r + LEAST_RELEVANCE * r.mean()) if r.any() else r
        spread = float(z.std())
        z = np.clip((z - z.mean()) / spread, -FAR, FAR) if spread > 0.0 else np.zeros(r.size)
        return cls(text, STRENGTH * z, direct > 0.0)

    @property
    def note(self) -> str:
        """What to tell the reader if no sentence has a word of it; else empty."""
        if self.lift.any():
            return ""
        named = ", ".join(f"“{word}”" for word in asked_words(self.text)[:8])
        return f"No sentence mentions {named}: this is a summary of the whole."

    def only(self, numbers: IntArray) -> Question:
        """The same question for some of the sentences."""
        return Question(self.text, self.lift[numbers], self.shares[numbers])


def check_about(about: str) -> str:
    """A question or a few words."""
    if not isinstance(about, str):
        raise TypeError(f"about must be a question or a few words, found {about!r:.60}.")
    if not words(about):
        raise ValueError(f"about must have a word in it, found {about!r:.60}. Leave it out for a summary of the whole.")
    return about.strip()


def asked_words(text: str) -> list[str]:
    """The words of a question, each once, without small words unless it has no other.

    Examples
    --------
    >>> asked_words("What was the cost of the dam?")
    ['cost', 'dam']
    """
    terms = list(dict.fromkeys(words(text)))
    return [word for word in terms if word not in ASKING and word not in small_words()] or terms


def direct_relevance(
    numbered: Numbered, columns: Mapping[str, int], question: Sequence[str]
) -> tuple[sparse.csr_array, FloatArray]:
    """Rows of length 1 for sentences, with weighted words, and the cosine of each with a question, up to a factor."""
    counts = numbered.counts()
    n, having = counts.shape[0], np.bincount(counts.indices, minlength=counts.shape[1])
    idf = np.log((1.0 + n) / (0.5 + having))
    counts.data = np.sqrt(counts.data)
    rows = unit_rows(counts, idf)
    return rows, np.asarray(rows @ (idf * matching_words(list(columns), question)))


def spread_relevance(rows: sparse.csr_array, direct: FloatArray) -> FloatArray:
    """Relevance after the walk over the cosines of the rows, in units of the mean direct relevance; 0 if that is 0.

    Examples
    --------
    >>> texts = [["the", "dam", "cost", "much"], ["much", "money", "went"], ["rain", "fell"]]
    >>> r = spread_relevance(*direct_relevance(*Numbered.of(texts), ["costs"]))
    >>> bool(r[0] > r[1] > r[2] == 0)
    True
    """
    total = float(direct.sum())
    if total <= 0.0:
        return np.zeros(direct.size)
    by_word, r = rows.T.tocsr(), direct
    degree = rows @ np.asarray(rows.sum(axis=0)).ravel()
    for _ in range(WALK_STEPS):
        r = (1.0 - ONWARD) * direct + ONWARD * (rows @ (by_word @ (r / degree)))
    return np.asarray(r / total * direct.size)


def matching_words(vocabulary: Sequence[str], question: Sequence[str]) -> FloatArray:
    """How well each word matches one of the question's: 1 for the same, else the squared share of letters in common.

    Endings may differ, and so may a letter or two in front (as in Hebrew and Arabic), but not the beginnings.

    Examples
    --------
    >>> matching_words(["costs", "cost", "coast", "dam"], ["cost"]).round(2)
    array([0.44, 1.  , 0.  , 0.  ])
    """
    counts = Numbered.of(map(letter_triples, [*vocabulary, *question]))[0].counts()
    size, n = np.diff(counts.indptr), len(vocabulary)
    common = (counts[:n] @ counts[n:].T).tocoo()
    share = 2.0 * common.data / (size[:n][common.row] + size[n:][common.col])
    match = np.zeros(len(vocabulary))
    for k in np.flatnonzero(share >= SAME_WORD):
        i, word, term = common.row[k], vocabulary[common.row[k]], question[common.col[k]]
        if word[:2] in term[:4] or term[:2] in word[:4]:
            match[i] = max(match[i], share[k] ** 2)
    return match


def letter_triples(word: str) -> list[str]:
    """Every three letters in a row, each once, with marks at both ends."""
    marked = f"^{word}$"
    return list(dict.fromkeys(marked[k : k + 3] for k in range(len(marked) - 2)))
