"""A tiny corpus whose right answer is known: apple pie three times over, and a laptop. For the adapters."""

import numpy as np

TEXTS = [
    "apple pie with cinnamon",
    "apple pie with cinnamon and sugar",
    "apple pie recipe with cinnamon",
    "apple laptop review",
    "weather in spring",
]
WORDS = sorted({word for text in TEXTS for word in text.split()})


def embed(texts):
    """Counts of words: texts about the same thing point the same way."""
    return [[float(text.split().count(word)) for word in WORDS] for text in texts]


def count_words(text):
    return len(text.split())


def relevance(query):
    """Cosine of each text with the query, but for the query's length."""
    rows = np.array(embed(TEXTS))
    return (rows @ np.array(embed([query])[0]) / np.linalg.norm(rows, axis=1)).tolist()


QUERY = "apple pie cinnamon laptop"
SCORES = relevance(QUERY)
