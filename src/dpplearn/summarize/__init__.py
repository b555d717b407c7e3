"""Summaries of many documents: text in, sentences out, chosen by a learned DPP.

`Cluster` holds the documents on one topic and their reference summaries; `read_clusters` reads a corpus of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpplearn.summarize.corpora.cluster import Cluster as Cluster
    from dpplearn.summarize.corpora.cluster import Document as Document
    from dpplearn.summarize.corpora.cluster import Sentence as Sentence
    from dpplearn.summarize.corpora.reading import Corpus as Corpus
    from dpplearn.summarize.corpora.reading import open_corpus as open_corpus
    from dpplearn.summarize.corpora.reading import read_clusters as read_clusters
    from dpplearn.summarize.corpora.source import SkippedWarning as SkippedWarning
    from dpplearn.summarize.explain.explanation import Explanation as Explanation
    from dpplearn.summarize.explain.summary import Summary as Summary
    from dpplearn.summarize.model.features import SentenceFeatures as SentenceFeatures
    from dpplearn.summarize.summarizer import Summarizer as Summarizer
    from dpplearn.summarize.summarizer import summarize as summarize
    from dpplearn.summarize.text.sentences import split_sentences as split_sentences
    from dpplearn.summarize.text.words import words as words

# Each name is imported when it is first used: a command that only reads text starts no compiled code.
NAMES = {
    "corpora.cluster": ("Cluster", "Document", "Sentence"),
    "corpora.reading": ("Corpus", "open_corpus", "read_clusters"),
    "corpora.source": ("SkippedWarning",),
    "explain.explanation": ("Explanation",),
    "explain.summary": ("Summary",),
    "model.features": ("SentenceFeatures",),
    "summarizer": ("Summarizer", "summarize"),
    "text.sentences": ("split_sentences",),
    "text.words": ("words",),
}
HOMES = {name: home for home, names in NAMES.items() for name in names}
__all__ = [*HOMES]


def __getattr__(name: str) -> Any:
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{HOMES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *HOMES})
