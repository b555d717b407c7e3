"""ROUGE scores that equal those of ROUGE-1.5.5 in every printed digit.

`score` compares one candidate with its references, `Rouge` many candidates with the same references, and `score_corpus`
the texts of a system over a corpus. `paired_bootstrap` compares two systems.
"""

from dpplearn.rouge.corpus import Average, CorpusScore, Interval, PairedTest, paired_bootstrap, score_corpus
from dpplearn.rouge.metrics import Score
from dpplearn.rouge.reading import EmptyTextWarning, tokenize
from dpplearn.rouge.scorer import Rouge, score

__all__ = [
    "Average",
    "CorpusScore",
    "EmptyTextWarning",
    "Interval",
    "PairedTest",
    "Rouge",
    "Score",
    "paired_bootstrap",
    "score",
    "score_corpus",
    "tokenize",
]
