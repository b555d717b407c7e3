"""What a summary is to be about: how relevant sentences are to a question, and what that adds to their quality.

Directly, a sentence is as relevant as its cosine with the question, words weighed by how few sentences have them. A
word counts as another by the share of their letters that is the same (three in a row), so that inflected forms do in
any language. Sentences say the same in other words: relevance r_0 is spread over the cosines C of all sentences, by a
walk that begins at relevant ones and goes on with probability d (biased LexRank: Otterbacher, Erkan and Radev, 2005),

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
from dpplearn.summarize.model.tfidf import Numbered
from dpplearn.summarize.text.words import small_words, word_set, words

STRENGTH = 0.7
FAR = 5.0  # standard deviations, beyond which more relevance adds nothing
ONWARD = 0.7  # d
WALK_STEPS = 30  # 0.7^30 is 2e-5
LEAST_RELEVANCE = 0.1  # of the mean relevance: added to each, so that none is out of reach
SAME_WORD = 0.55  # of their letters, below which words are different ones
ASKING = word_set("a an as at be by did do does how i in is it many me much on or tell to we where why")
REASON = "relevance to the question"


@dataclass(frozen=True, eq=False)
class Question:
    """A question, what it adds to log q of each sentence, and which have a word of it; nothing where none has."""

    __repr__ = short_repr

    text: str
    lift: FloatArray
    shares: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, read: SplitCluster, text: str) -> Question:
        """Ask it of the sentences of a cluster."""
        rows, direct = directly(*read.numbered, asked_words(text))
        r = spread_over(rows, direct)
        z = np.log(r + LEAST_RELEVANCE * r.mean()) if r.any() else r
        spread = float(z.std())
        z = np.clip((z - z.mean()) / spread, -FAR, FAR) if spread > 0.0 else np.zeros(r.size)
        return cls(text, STRENGTH * z, direct > 0.0)

    @property
    def factor(self) -> FloatArray:
        """What it multiplies q by."""
        return np.exp(self.lift)

    @property
    def note(self) -> str:
        """What to say where it was in vain; else nothing."""
        if self.lift.any():
            return ""
        named = ", ".join(f"“{word}”" for word in asked_words(self.text)[:8])
        return f"No sentence mentions {named}: this is a summary of the whole."

    def only(self, kept: IntArray) -> Question:
        """The same for some of the sentences that it was asked of."""
        return Question(self.text, self.lift[kept], self.shares[kept])


def check_about(about: str) -> str:
    """A question or a few words."""
    if not isinstance(about, str):
        raise TypeError(f"about must be a question or a few words, found {about!r:.60}.")
    if not words(about):
        raise ValueError(f"about must have a word in it, found {about!r:.60}. Leave it out for a summary of the whole.")
    return about.strip()


def asked_words(text: str) -> list[str]:
    """The words of a question, each once, without the small ones; with them, where it has no other.

    Examples
    --------
    >>> asked_words("What was the cost of the dam?")
    ['cost', 'dam']
    """
    found = list(dict.fromkeys(words(text)))
    return [word for word in found if word not in ASKING and word not in small_words()] or found


def directly(
    said: Numbered, columns: Mapping[str, int], question: Sequence[str]
) -> tuple[sparse.csr_array, FloatArray]:
    """Rows of length 1 for sentences, words weighed, and the cosine of each with a question, up to a factor."""
    rows = said.counts()
    n = rows.shape[0]
    idf = np.log((1.0 + n) / (0.5 + np.bincount(rows.indices, minlength=rows.shape[1])))
    asked = idf * matching_words(list(columns), question)
    rows.data = np.sqrt(rows.data) * idf[rows.indices]
    rows.data /= np.repeat(np.sqrt(np.add.reduceat(rows.data**2, rows.indptr[:-1])), np.diff(rows.indptr))
    return rows, np.asarray(rows @ asked)


def spread_over(rows: sparse.csr_array, direct: FloatArray) -> FloatArray:
    """Relevance after the walk over the cosines of the rows, in units of the mean of what is direct; or 0 for all.

    Examples
    --------
    >>> said = [["the", "dam", "cost", "much"], ["much", "money", "went"], ["rain", "fell"]]
    >>> r = spread_over(*directly(*Numbered.of(said), ["costs"]))
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
    """How much each word is one of the question's: 1 for the same, else the square of the share of letters in common.

    Endings differ, and so may a letter or two in front (as in Hebrew and Arabic); other beginnings are other words.

    Examples
    --------
    >>> matching_words(["costs", "cost", "coast", "dam"], ["cost"]).round(2)
    array([0.44, 1.  , 0.  , 0.  ])
    """
    counts = Numbered.of(map(_triples, [*vocabulary, *question]))[0].counts()
    size, n = np.diff(counts.indptr), len(vocabulary)
    common = (counts[:n] @ counts[n:].T).tocoo()
    alike = 2.0 * common.data / (size[:n][common.row] + size[n:][common.col])
    found = np.zeros(len(vocabulary))
    for k in np.flatnonzero(alike >= SAME_WORD):
        i, j = common.row[k], common.col[k]
        if _begins_in(vocabulary[i], question[j]) or _begins_in(question[j], vocabulary[i]):
            found[i] = max(found[i], alike[k] ** 2)
    return found


def _begins_in(word: str, other: str) -> bool:
    """Whether a word begins where another does, or after a letter or two that are put before words."""
    return word[:2] in other[:4]


def _triples(word: str) -> list[str]:
    """Every three letters in a row, each once, with marks at both ends."""
    marked = f"^{word}$"
    return list(dict.fromkeys(marked[k : k + 3] for k in range(len(marked) - 2)))
