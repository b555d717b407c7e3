"""Summaries of many documents: text in, sentences out, chosen by a learned DPP.

`Cluster` holds the documents on one topic and their reference summaries; `read_clusters` reads a corpus of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpplearn.summarize.corpora import read_clusters
    from dpplearn.summarize.document import Cluster, Document, Sentence
    from dpplearn.summarize.features import SentenceFeatures
    from dpplearn.summarize.files import SkippedWarning
    from dpplearn.summarize.sentences import split_sentences
    from dpplearn.summarize.summarizer import Summarizer
    from dpplearn.summarize.summary import Explanation, Summary
    from dpplearn.summarize.tokens import words

# Each name is imported when it is first used: a command that only reads text starts no compiled code.
_HOME = {
    "Cluster": "document",
    "Document": "document",
    "Explanation": "summary",
    "Sentence": "document",
    "SentenceFeatures": "features",
    "Summarizer": "summarizer",
    "Summary": "summary",
    "SkippedWarning": "files",
    "read_clusters": "corpora",
    "split_sentences": "sentences",
    "words": "tokens",
}

__all__ = [
    "Cluster",
    "Document",
    "Explanation",
    "Sentence",
    "SentenceFeatures",
    "SkippedWarning",
    "Summarizer",
    "Summary",
    "read_clusters",
    "split_sentences",
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
