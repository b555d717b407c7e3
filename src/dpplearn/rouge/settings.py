"""The settings of a scorer, checked once, and a text as read under them."""

from collections.abc import Iterable
from dataclasses import dataclass

from dpplearn._cached import cached_property
from dpplearn._checks import describe
from dpplearn.rouge.metrics import Metric, NGrams, SkipBigrams, Subsequence, parse_metrics
from dpplearn.rouge.texts import Limit
from dpplearn.rouge.tokens import Stemmer, Tokenizer


@dataclass(frozen=True)
class Reading:
    """The tokens of a text, and those of each line where ROUGE-L or ROUGE-W asks for them."""

    tokens: list[str]
    lines: list[list[str]]


@dataclass(frozen=True)
class Settings:
    """What is counted, in how much of a text, and how it is combined."""

    metrics: dict[str, Metric]
    limit: Limit
    tokenizer: Tokenizer
    combine: str
    alpha: float

    @classmethod
    def check(
        cls,
        metrics: Iterable[str],
        bytes: int | None,
        words: int | None,
        stem: bool | Stemmer,
        combine: str,
        alpha: float,
        tokenizer: str,
    ) -> "Settings":
        """Return the settings, or say which one cannot be."""
        if combine not in ("average", "best"):
            raise ValueError(f'combine must be "average" or "best", but is {describe(combine)}.')
        if not 0 <= alpha <= 1:
            raise ValueError(f"alpha must be from 0 to 1, but is {describe(alpha)}.")
        return cls(parse_metrics(metrics), Limit(bytes, words), Tokenizer(tokenizer, stem), combine, alpha)

    def read(self, text: bytes) -> Reading:
        """Return the tokens of as much of the text as the limit allows."""
        tokens = self.tokenizer(self.limit.head(text))
        if not self.needs_lines:
            return Reading(tokens, [])
        return Reading(tokens, [self.tokenizer(line) for line in self.limit.cut_for_lcs(text)])

    @cached_property
    def needs_lines(self) -> bool:
        return any(isinstance(metric, Subsequence) for metric in self.metrics.values())

    @cached_property
    def reach(self) -> int:
        """How far apart the first and the last token of a gram can be; at least 1."""
        ngrams = [metric.n - 1 for metric in self.metrics.values() if isinstance(metric, NGrams)]
        pairs = [metric.skip + 1 for metric in self.metrics.values() if isinstance(metric, SkipBigrams)]
        return max([1, *ngrams, *pairs])
