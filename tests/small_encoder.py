"""A small real encoder, fitted here, and summarizers that learn from four small clusters."""

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from dpplearn.summarize import Cluster, Summarizer
from dpplearn.summarize.text.words import words


def variations():
    """Four small clusters cut from the example, each with references."""
    example = Cluster.example()
    return [Cluster(example.documents[k : k + 4], example.references[:2], id=f"part{k}") for k in range(4)]


class Small:
    """A small real encoder: tf-idf and an SVD, fitted on the documents; a constant for texts of unknown words."""

    def __init__(self, dimensions=8):
        texts = [line for d in Cluster.example().documents for line in d.text.splitlines() if line.strip()]
        svd = TruncatedSVD(dimensions, random_state=0)
        self.made, self.asked = make_pipeline(TfidfVectorizer(analyzer=words), svd).fit(texts), []

    def encode(self, texts):
        assert isinstance(texts, list)
        self.asked.append(len(texts))
        return np.hstack([self.made.transform(texts), np.full((len(texts), 1), 0.05)])


def fitted(**options):
    return Summarizer(budget=60, unit="words", **options).fit(variations())
