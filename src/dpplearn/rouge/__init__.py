"""ROUGE-1.5.5 in every printed digit."""

from dpplearn.rouge.combine import Score
from dpplearn.rouge.scorer import Rouge, score
from dpplearn.rouge.tokens import tokenize

__all__ = ["Rouge", "Score", "score", "tokenize"]
