"""References as tables, ready for candidates."""

import warnings
from collections.abc import Sequence
from itertools import chain

from dpplearn.rouge.combine import Score, combine_counts, combine_subsequences
from dpplearn.rouge.grams import NGramCounter, SkipBigramCounter, Tokens
from dpplearn.rouge.metrics import NGrams, SkipBigrams
from dpplearn.rouge.settings import Reading, Settings
from dpplearn.rouge.subsequences import Lines, SubsequenceCounter
from dpplearn.rouge.texts import EmptyTextWarning


class Prepared:
    """The counts of every reference.

    Parameters
    ----------
    settings : Settings
    references : sequence of Reading
    vocabulary : sequence of Reading
        The texts whose tokens are told apart; all others are one token that matches nothing. The references
        themselves serve any candidate; a candidate's own tokens are fewer, and enough for that candidate.
    """

    def __init__(self, settings: Settings, references: Sequence[Reading], vocabulary: Sequence[Reading]) -> None:
        self.settings = settings
        distinct = dict.fromkeys(chain.from_iterable(chain(text.tokens, *text.lines) for text in vocabulary))
        self.vocabulary = {token: number for number, token in enumerate(distinct)}
        self.counters: dict[str, NGramCounter | SkipBigramCounter] = {}
        self.aligners: dict[str, SubsequenceCounter] = {}
        tokens = self.number(references)
        lines = [self.number_lines(text) for text in references] if settings.needs_lines else []
        for name, metric in settings.metrics.items():
            if isinstance(metric, NGrams):
                self.counters[name] = NGramCounter(metric, tokens)
            elif isinstance(metric, SkipBigrams):
                self.counters[name] = SkipBigramCounter(metric, tokens)
            else:
                self.aligners[name] = SubsequenceCounter(metric, lines)

    @property
    def width(self) -> int:
        """The number of array cells that each candidate needs."""
        return max([1, *(counter.width for counter in self.counters.values())])

    def number(self, texts: Sequence[Reading]) -> Tokens:
        return Tokens.number([text.tokens for text in texts], self.vocabulary, self.settings.reach)

    def number_lines(self, text: Reading) -> Lines:
        return Lines.number(text.lines, text.tokens, self.vocabulary)

    def score(self, candidates: Sequence[Reading]) -> list[dict[str, Score]]:
        """Return the scores of each candidate by metric."""
        combine, alpha = self.settings.combine, self.settings.alpha
        found: dict[str, list[Score]] = {}
        if self.counters:
            tokens = self.number(candidates)
            for name, counter in self.counters.items():
                rows = zip(counter.hits(tokens).tolist(), map(counter.total, tokens.lengths), strict=True)
                found[name] = [combine_counts(hits, counter.totals, total, combine, alpha) for hits, total in rows]
        if self.aligners:
            texts = [self.number_lines(candidate) for candidate in candidates]
            for name, aligner in self.aligners.items():
                weights, weight = aligner.line_weights, aligner.weight
                found[name] = [
                    combine_subsequences(aligner.hits(text), weights, text.total, weight, combine, alpha)
                    for text in texts
                ]
        return [{name: found[name][i] for name in self.settings.metrics} for i in range(len(candidates))]


def warn_of_empty(prepared: Prepared) -> None:
    """Say to the caller's caller where ROUGE-1.5.5 would have stopped with a division by zero: in ROUGE-W."""
    for name, aligner in prepared.aligners.items():
        weights = aligner.line_weights
        empty = [str(i) for i, weight in enumerate(weights, 1) if not weight]
        if aligner.runs and empty:
            warnings.warn(
                f"Reference {', '.join(empty)} of {len(weights)} has no token. ROUGE-1.5.5 stops at that; "
                f"here {name} takes it as 0 hits of 0. Check that the reference was read.",
                EmptyTextWarning,
                stacklevel=3,
            )
