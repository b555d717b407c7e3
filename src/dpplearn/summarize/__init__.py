"""Summaries of many documents: text in, sentences out, chosen by a learned DPP.

`Cluster` holds the documents on one topic and their reference summaries; `read_clusters` reads a corpus of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpplearn.summarize.corpora.cluster import Cluster, Document, Sentence
    from dpplearn.summarize.corpora.reading import Corpus, open_corpus, read_clusters
    from dpplearn.summarize.corpora.source import SkippedWarning
    from dpplearn.summarize.explain.explanation import Explanation
    from dpplearn.summarize.explain.summary import Summary
    from dpplearn.summarize.model.features import SentenceFeatures
    from dpplearn.summarize.summarizer import Summarizer, summarize
    from dpplearn.summarize.text.sentences import split_sentences
    from dpplearn.summarize.text.words import words

# Each name is imported when it is first used: a command that only reads text starts no compiled code.
_HOME = {
    "Cluster": "corpora.cluster",
    "Corpus": "corpora.reading",
    "Document": "corpora.cluster",
    "Explanation": "explain.explanation",
    "Sentence": "corpora.cluster",
    "SentenceFeatures": "model.features",
    "Summarizer": "summarizer",
    "Summary": "explain.summary",
    "SkippedWarning": "corpora.source",
    "open_corpus": "corpora.reading",
    "read_clusters": "corpora.reading",
    "split_sentences": "text.sentences",
    "summarize": "summarizer",
    "words": "text.words",
}

__all__ = [
    "Cluster",
    "Corpus",
    "Document",
    "Explanation",
    "Sentence",
    "SentenceFeatures",
    "SkippedWarning",
    "Summarizer",
    "Summary",
    "open_corpus",
    "read_clusters",
    "split_sentences",
    "summarize",
    "words",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
