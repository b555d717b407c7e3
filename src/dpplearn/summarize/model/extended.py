"""Quality features beyond the paper's: what sentences repeat, where they stand, how they begin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from dpplearn._checks import FloatArray
from dpplearn.summarize.corpora.cluster import Cluster, Sentence
from dpplearn.summarize.model.bins import local_bins
from dpplearn.summarize.model.tfidf import Idf
from dpplearn.summarize.text.words import words

PRONOUNS = frozenset(
    {"he", "she", "it", "they", "this", "that", "these", "those", "but", "and", "also", "however"}
    | {"his", "her", "their", "its", "we", "i", "you"}
)

EXTENDED_NAMES: tuple[str, ...] = (
    "words in other documents",
    "word pairs in other documents",
    "words of titles",
    "words of lead sentences",
    "rare words",
    "numbers",
    "quotes",
    "begins with a pronoun",
    "question",
    "early in document",
)


def extended_features(
    cluster: Cluster, sentences: Sequence[Sentence], tokens: Sequence[Sequence[str]], idf: Idf
) -> FloatArray:
    """One column per name: shares in [0, 1]; the first five as ranks within the cluster."""
    documents = sorted({sentence.document for sentence in sentences}, key=str)
    n_documents = max(len(documents), 2)
    has_word, has_pair = Counter[str](), Counter[tuple[str, str]]()
    leads: set[str] = set()
    last: dict[object, int] = {}
    for document in documents:
        mine = [t for s, t in zip(sentences, tokens, strict=True) if s.document == document]
        has_word.update({word for t in mine for word in t})
        has_pair.update({pair for t in mine for pair in pairwise(t)})
    for sentence, t in zip(sentences, tokens, strict=True):
        last[sentence.document] = max(last.get(sentence.document, 1), sentence.position)
        if sentence.position == 1:
            leads.update(t)
    titles = {word for document in cluster.documents for word in words(document.title or "")}
    rows = []
    for sentence, t in zip(sentences, tokens, strict=True):
        weight = np.array([idf.weight(word) for word in t])
        total = weight.sum()
        pairs = list(pairwise(t))
        rows.append(
            [
                float(weight @ [(has_word[word] - 1) / (n_documents - 1) for word in t] / total),
                sum(has_pair[pair] - 1 for pair in pairs) / (n_documents - 1) / max(len(pairs), 1),
                float(weight @ [word in titles for word in t] / total),
                float(weight @ [word in leads and sentence.position > 1 for word in t] / total),
                float(weight.mean()),
                float(any(character.isdigit() for character in sentence.text)),
                float(any(mark in sentence.text for mark in ('"', "“", "``", "«"))),
                float(t[0] in PRONOUNS),
                float(sentence.text.rstrip("\"”' ").endswith("?")),
                1.0 - (sentence.position - 1) / last[sentence.document],
            ]
        )
    F = np.array(rows)
    for column in range(5):  # a rank compares clusters of any size and kind
        F[:, column] = (local_bins(F[:, column], 1000) + 0.5) / 1000
    return F
