"""Embeddings of items: from fields of a file, or made of its texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from dpplearn._checks import FloatArray
from dpplearn._linalg import to_dense
from dpplearn.cli import say
from dpplearn.cli.items import Items
from dpplearn.cli.options import named_encoder

EMBEDDINGS, TEXTS = ("embedding", "embeddings"), ("text", "texts")
DIMENSIONS = 100  # of texts where rows must be dense


def field(items: Items, given: str | None, usual: tuple[str, ...]) -> str | None:
    """The field named, or the first of the usual names that the file has."""
    return given if given is not None else next((name for name in usual if items.has(name)), None)


def read_vectors(
    items: Items, embedding: str | None, text: str | None, made: bool, of_texts: Callable[[list[str]], Any]
) -> Any:
    """Embeddings from the file, or, where they are to be made or there are none, of its texts."""
    if not items.records:
        return np.empty((0, 1))
    name = field(items, embedding, EMBEDDINGS) if text is None and not made else None
    if name is not None:
        many = items.wide(name)
        return items.matrix(many) if many else items.vectors(name)
    name = field(items, text, TEXTS)
    if name is None:
        raise ValueError(
            f"{items.name} has {'no' if made else 'neither embeddings nor'} texts under the usual names. Fields found: "
            f"{', '.join(items.records[0])}. Name one by --embedding or --text."
        )
    return of_texts(items.texts(name))


def embed(texts: list[str], encoder: str | None, dimensions: int | None, dense: bool = False) -> Any:
    """Texts by an encoder of the user's, or by tf-idf; an SVD keeps as many dimensions as are asked for.

    Where rows must be dense, sparse ones are reduced without being asked to be.
    """
    if encoder is not None:
        from dpplearn.summarize.model.meaning import encode

        rows: Any = encode(named_encoder(encoder), texts)
    else:
        rows = tfidf(texts)
    if dimensions is None and not (dense and sparse.issparse(rows)):
        return rows
    if dimensions is None and min(rows.shape) > DIMENSIONS:
        say(f"Texts are compared by {DIMENSIONS} numbers each, an SVD of their words: --dimensions D takes others.")
    return reduced(rows, dimensions or DIMENSIONS)


def reduced(rows: Any, dimensions: int) -> FloatArray:
    """Dense rows of at most so many dimensions; where there are no more, with the same products."""
    n, words = rows.shape
    if dimensions < min(n, words):
        from sklearn.decomposition import TruncatedSVD

        found = TruncatedSVD(dimensions, random_state=0).fit_transform(rows)
    elif words <= n:
        found = np.array(to_dense(rows), np.float64)
    else:
        lam, V = np.linalg.eigh(to_dense(rows @ rows.T))  # X X^T = V lam V^T: n columns are enough
        found = V * np.sqrt(np.maximum(lam, 0.0))
    found[np.asarray(abs(rows).sum(axis=1)).ravel() == 0.0] = 0.0  # rounding is no direction
    return np.asarray(found, np.float64)


def tfidf(texts: list[str]) -> Any:
    """Sparse tf-idf rows; a text without words has a row of zeros, and is similar to none."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    try:
        return TfidfVectorizer(token_pattern=r"(?u)\b\w+\b").fit_transform(texts)
    except ValueError:  # no text has a word
        return np.zeros((len(texts), 1))
