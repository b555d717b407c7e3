"""What sentences can be alike by: named parts of a similarity that is learned, one entry of PARTS each.

A part is a row of length 1 for each sentence, made of the cluster alone: words weighed by the model's idf, all else by
the cluster's own sentences. So a part means the same in a new cluster, and a model file keeps no more than its weight.

A mixture weighs whole parts, whose columns may differ from cluster to cluster, as words do.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TypeAlias

import numpy as np
from scipy import sparse

from dpplearn._checks import Features, FloatArray
from dpplearn.learning.parts import Part, joined
from dpplearn.learning.similarity import Fixed, Mixture
from dpplearn.summarize.model.grams import in_pairs
from dpplearn.summarize.model.meaning import MEANING, Meaning
from dpplearn.summarize.model.numbered import Numbered
from dpplearn.summarize.model.quality_features import Reading
from dpplearn.summarize.model.tfidf import Idf
from dpplearn.summarize.text.words import words

KNOTS = 5  # places in a document between which positions are interpolated
HASHED = 256  # columns of hashed words: cosines of sentences with no word in common are 0 +- 1 / sqrt(256)

Rows: TypeAlias = Callable[[Reading, str | None], Features]


def word_rows(read: Reading, _: str | None) -> Features:
    """Of words, as in section 7.2."""
    return read.phi


def stem_rows(read: Reading, language: str | None) -> Features:
    """Of stems, where the language has them: "flood" and "floods" are one."""
    return own_weights(read, read.matched(language))


def pair_rows(read: Reading, language: str | None) -> Features:
    """Of two stems in a row: phrases, and names; a sentence of one word has that."""
    return own_weights(read, [in_pairs(said) if len(said) > 1 else said for said in read.matched(language)])


def title_rows(read: Reading, _: str | None) -> Features:
    """Of the title of its document and the heading above it: what a sentence is about, whatever its words are."""
    titles = [document.title or "" for document in read.cluster.documents]
    keys = [(one.document, one.section or "") for one in read.sentences]
    said = {key: words(f"{titles[key[0]]} {key[1]}") or [nothing(key[0])] for key in keys}
    number = {key: k for k, key in enumerate(said)}
    return read.idf.vectors([*said.values()])[np.array([number[key] for key in keys])]


def position_rows(read: Reading, _: str | None) -> Features:
    """Of the place in its document: openings are alike, and so are ends; all are, where places mean nothing."""
    place, last = read.in_document
    t = np.divide(place - 1, last - 1, out=np.full(place.size, 0.5), where=last > 1) * (KNOTS - 1)
    rows = np.maximum(1.0 - np.abs(t[:, None] - np.arange(KNOTS)), 0.0)  # linear between knots
    return np.asarray(rows / np.linalg.norm(rows, axis=1)[:, None])


def source_rows(read: Reading, _: str | None) -> Features:
    """Of its document: what one author wrote."""
    n, column = len(read), read.document_numbers
    return sparse.csr_array((np.ones(n), column, np.arange(n + 1)), shape=(n, len(read.cluster.documents)))


PARTS: dict[str, Rows] = {
    "words": word_rows,
    "stems": stem_rows,
    "pairs": pair_rows,
    "titles": title_rows,
    "position": position_rows,
    "source": source_rows,
}


def parts_of(
    read: Reading, kind: str, language: str | None, meaning: Meaning | None, known: Collection[str] | None = None
) -> tuple[Part, ...]:
    """The parts of a kind of similarity, or those known; none for the fixed kind, whose one part is the words'.

    With an encoder, the fixed kind has words and meaning in equal shares, as one part.
    """
    if kind == Fixed.kind and meaning is None:
        return ()
    rows = PARTS if kind == Mixture.kind else {"words": word_rows}
    names = [name for name in rows if known is None or name in known]
    parts = [Part(name, phi=rows[name](read, language)) for name in names]
    if meaning is not None:
        parts.append(Part(MEANING, phi=meaning.rows(read.texts)))
    return (Part("phi", phi=joined(tuple(parts))),) if kind == Fixed.kind else tuple(parts)


def own_weights(read: Reading, said: Sequence[Sequence[str]]) -> Features:
    """tf-idf rows, weighed by the cluster's own sentences; one in which nothing is said is like no other."""
    found = [tokens or [nothing(i)] for i, tokens in enumerate(said)]
    whole = [tokens for tokens, one in zip(found, read.sentences, strict=True) if not one.dropped]
    numbered, columns = Numbered.of(whole)
    return Idf.of_sentences(numbered.counts(), columns).vectors(found)


def nothing(i: int) -> str:
    """A word that no text has: what is said where nothing is, or the title of a document that has none."""
    return f"\0{i}"


def likeness(S: FloatArray, own: float, constant: float) -> FloatArray:
    """What a learned similarity says beside its constant, with ones on the diagonal: the mean cosine of its parts."""
    left = 1.0 - own - constant
    C = (S - constant) / left if left > 1e-6 else np.zeros_like(S)
    np.fill_diagonal(C, 1.0)
    return np.asarray(C)
