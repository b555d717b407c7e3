"""The language that a model reads a cluster in, and clusters in another one than the model is for."""

from __future__ import annotations

import warnings

from dpplearn.summarize.corpora.cluster import Cluster
from dpplearn.summarize.text.words import ANY, ENGLISH, normal_language


def language_of(cluster: Cluster) -> str | None:
    """What the cluster says it is in, or what its text clearly is in; None where that may well be English."""
    return normal_language(cluster.language) or cluster.foreign


def read_as(cluster: Cluster, language: str | None) -> str | None:
    """What a model's words of a cluster are in: the model's language, or the cluster's own if that may be any."""
    return language_of(cluster) if language == ANY else language


def misread(cluster: Cluster, language: str | None) -> str | None:
    """What to say if a model for English is given a cluster in another language, else None."""
    own = language_of(cluster) if language in (None, ENGLISH) else None
    if own in (None, ENGLISH):
        return None
    name = cluster.name[:1].upper() + cluster.name[1:]
    return (
        f"{name} seems to be in {own}, but the model is for English: its weights may not fit, and words are weighed "
        "and compared as English ones."
    )


def warn_unless_read(cluster: Cluster, language: str | None, stacklevel: int = 3) -> None:
    """Warn if a model for English is given a cluster in another language."""
    message = misread(cluster, language)
    if message is not None:
        warnings.warn(
            f"{message} Train a model on clusters in that language "
            "(dpplearn train --language NAME, or Summarizer(language=NAME).fit) and use that one.",
            stacklevel=stacklevel,
        )
