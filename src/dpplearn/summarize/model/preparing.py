"""From what a user gives to a cluster made ready: read in the model's way, by its features, in its language."""

from __future__ import annotations

from dpplearn.learning.predictor import ConditionalPredictor
from dpplearn.summarize.corpora.cluster import Cluster
from dpplearn.summarize.corpora.given import Given, as_cluster
from dpplearn.summarize.corpora.mismatch import read_as, warn_unless_read
from dpplearn.summarize.model.about import Question
from dpplearn.summarize.model.features import Featurized, SentenceFeatures
from dpplearn.summarize.model.first_choice import finalists
from dpplearn.summarize.model.prepared import Prepared


def prepare(
    given: Given | Featurized | Prepared,
    features: SentenceFeatures,
    model: ConditionalPredictor,
    language: str | None,
    bigrams: float,
    *,
    min_words: int = 1,
    keep_all: bool = False,
    compress: bool = False,
    about: str | None = None,
    warn: bool = False,
) -> Prepared:
    """All that summaries of a cluster have in common; one that was prepared by the same model is taken as it is."""
    if isinstance(given, Featurized | Prepared) and (min_words != 1 or keep_all):
        raise ValueError("min_words and keep_all say how a cluster is read, and this one was read already.")
    if isinstance(given, Prepared):
        if given.model is not model or given.bigrams != bigrams:
            raise ValueError("This cluster was prepared by another summarizer, or before fit. Call prepare again.")
        if compress and not given.compressed:
            raise ValueError("This cluster was prepared without shorter forms: call prepare(..., compress=True).")
        return given.about(about)
    cluster = given if isinstance(given, Featurized) else as_cluster(given)
    if warn and isinstance(cluster, Cluster):
        warn_unless_read(cluster, language, stacklevel=5)
    if isinstance(cluster, Featurized):
        read = check_parts(cluster, features)
    else:
        read = features.read(cluster, min_words=min_words, keep_all=keep_all)
    language = read_as(read.cluster, language)
    read = features.with_forms(read, language) if compress and read.forms is None else read
    asked = None if about is None else Question.of(read, about)
    kept = finalists(read, model, lift=0.0 if asked is None else asked.lift)
    asked = asked if asked is None or kept is read else asked.among(read.sentences, kept.sentences)
    return Prepared(kept, model, language, bigrams, asked, compress or read.forms is not None)


def check_parts(read: Featurized, features: SentenceFeatures) -> Featurized:
    """A cluster that was read with an encoder if the model has one, and without one if not."""
    if read.meaning != (features.meaning is not None):
        raise ValueError(
            f"This cluster was read {'with' if read.meaning else 'without'} an encoder, and the model was trained "
            f"{'without' if read.meaning else 'with'} one. Read it by the summarizer's own features_.read(cluster)."
        )
    return read
