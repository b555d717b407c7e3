"""Embeddings of items: from fields of a file, or made of its texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dpplearn.cli.items import Items
from dpplearn.cli.options import named_encoder

EMBEDDINGS, TEXTS = ("embedding", "embeddings"), ("text", "texts")


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


def embed(texts: list[str], encoder: str | None, dimensions: int | None) -> Any:
    """Texts by an encoder of the user's, or by tf-idf, of which an SVD keeps as many dimensions as are asked for."""
    if encoder is not None:
        from dpplearn.summarize.model.meaning import encode

        return encode(named_encoder(encoder), texts)
    rows = tfidf(texts)
    if dimensions is None or dimensions >= min(rows.shape):
        return rows
    from sklearn.decomposition import TruncatedSVD

    return TruncatedSVD(dimensions, random_state=0).fit_transform(rows)


def tfidf(texts: list[str]) -> Any:
    """Sparse tf-idf rows; a text without words has a row of zeros, and is similar to none."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    try:
        return TfidfVectorizer(token_pattern=r"(?u)\b\w+\b").fit_transform(texts)
    except ValueError:  # no text has a word
        return np.zeros((len(texts), 1))
