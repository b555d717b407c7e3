"""What is counted, in how much of a text, and how it is combined; and references made ready for it."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from dpplearn.rouge.combine import Combination, Score
from dpplearn.rouge.counting import GramCounter, NGramCounter, SkipBigramCounter
from dpplearn.rouge.metrics import NGrams, SkipBigrams, Subsequence, parse_metrics
from dpplearn.rouge.numbered import Numbered, Vocabulary
from dpplearn.rouge.reading import EmptyTextWarning, Limit, Reading, Text, as_bytes, as_references
from dpplearn.rouge.stems import Stemmer
from dpplearn.rouge.subsequences import SubsequenceCounter
from dpplearn.rouge.tokenizer import Tokenizer

METRICS = ("rouge-1", "rouge-2", "rouge-su4")


class Scoring:
    """The options of :func:`dpplearn.rouge.score`, checked once."""

    def __init__(
        self,
        metrics: Iterable[str],
        bytes: int | None,
        words: int | None,
        stem: bool | Stemmer,
        combine: str,
        alpha: float,
        tokenizer: str,
    ) -> None:
        self.combine = Combination(combine, alpha)
        self.metrics = parse_metrics(metrics)
        self.limit, self.tokenizer = Limit(bytes, words), Tokenizer(tokenizer, stem)
        kinds = self.metrics.values()
        self.needs_lines = any(isinstance(metric, Subsequence) for metric in kinds)
        ngrams = [metric.n - 1 for metric in kinds if isinstance(metric, NGrams)]
        pairs = [metric.skip + 1 for metric in kinds if isinstance(metric, SkipBigrams)]
        self.reach = max([1, *ngrams, *pairs])  # from the first to the last token of a gram

    def read(self, text: Text) -> Reading:
        """Return the tokens of as much of the text as the limit allows."""
        data = as_bytes(text)
        lines = [self.tokenizer(line) for line in self.limit.cut(data, aligned=True)] if self.needs_lines else None
        return Reading(self.tokenizer(self.limit.head(data)), lines)

    def read_references(self, references: Sequence[Text] | str) -> list[Reading]:
        """Return the tokens of each reference; a single string is one reference."""
        return [self.read(reference) for reference in as_references(references)]


COUNTERS: dict[type, Callable[[Any, Numbered], GramCounter | SubsequenceCounter]] = {
    NGrams: NGramCounter,
    SkipBigrams: SkipBigramCounter,
    Subsequence: SubsequenceCounter,
}


class PreparedReferences:
    """The counts of every reference, ready for candidates.

    Parameters
    ----------
    scoring : Scoring
    references : sequence of Reading
    vocabulary : sequence of Reading
        The texts whose tokens are told apart; all others are one token that matches nothing. The references
        themselves serve any candidate; a candidate's own tokens are fewer, and enough for that candidate.
    """

    def __init__(self, scoring: Scoring, references: Sequence[Reading], vocabulary: Sequence[Reading]) -> None:
        self.scoring = scoring
        self.vocabulary = Vocabulary(vocabulary, scoring.reach)
        texts = self.vocabulary.number(references)
        self.counters = {name: COUNTERS[type(metric)](metric, texts) for name, metric in scoring.metrics.items()}

    @property
    def width(self) -> int:
        """The number of array cells that each candidate needs."""
        return max([1, *(counter.width for counter in self.counters.values())])

    def score(self, candidates: Sequence[Reading]) -> list[dict[str, Score]]:
        """Return the scores of each candidate by metric."""
        texts = self.vocabulary.number(candidates)
        found: list[dict[str, Score]] = [{} for _ in candidates]
        for name, counter in self.counters.items():
            for scores, hits, length in zip(found, counter.hits(texts), texts.lengths, strict=True):
                scores[name] = self.scoring.combine(hits, counter.sizes, counter.size(length))
        return found

    def warn_of_empty(self) -> None:
        """Say to the caller's caller where ROUGE-1.5.5 would have stopped with a division by zero: in ROUGE-W."""
        for name, metric in self.scoring.metrics.items():
            weighted = isinstance(metric, Subsequence) and metric.runs
            sizes = self.counters[name].sizes.each if weighted else []
            if empty := [str(i) for i, size in enumerate(sizes, 1) if not size]:
                warnings.warn(
                    f"Reference {', '.join(empty)} of {len(sizes)} has no token. ROUGE-1.5.5 stops at that; "
                    f"here {name} takes it as 0 hits of 0. Check that the reference was read.",
                    EmptyTextWarning,
                    stacklevel=3,
                )
