"""Scores of candidates against references: `score` and `Rouge`, their options, and prepared references."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from dpplearn._checks import count_of, describe
from dpplearn.rouge.counting import (
    GramCounter,
    NGramCounter,
    NumberedTexts,
    SkipBigramCounter,
    SubsequenceCounter,
    TokenNumbers,
)
from dpplearn.rouge.metrics import Combination, NGrams, Score, SkipBigrams, Subsequence, parse_metrics
from dpplearn.rouge.reading import Limit, Text, TokenizedText, Tokenizer, as_bytes
from dpplearn.rouge.stems import Stemmer

METRICS = ("rouge-1", "rouge-2", "rouge-su4")
CELLS = 1 << 20  # size of the arrays for candidates that are scored together
FEWEST_CELLS = 1000  # of these for each candidate, at least


class RougeOptions:
    """The checked options of :func:`dpplearn.rouge.score`."""

    def __init__(
        self,
        metrics: Iterable[str] = METRICS,
        bytes: int | None = None,
        words: int | None = None,
        stem: bool | Stemmer = True,
        combine: str = "average",
        alpha: float = 0.5,
        tokenizer: str = "official",
    ) -> None:
        self.combine = Combination(combine, alpha)
        self.metrics = parse_metrics(metrics)
        self.limit, self.tokenizer = Limit(bytes, words), Tokenizer(tokenizer, stem)
        kinds = self.metrics.values()
        self.needs_lines = any(isinstance(metric, Subsequence) for metric in kinds)
        ngrams = [metric.n - 1 for metric in kinds if isinstance(metric, NGrams)]
        pairs = [metric.skip + 1 for metric in kinds if isinstance(metric, SkipBigrams)]
        self.reach = max([1, *ngrams, *pairs])  # from the first to the last token of a gram

    def read(self, text: Text) -> TokenizedText:
        """Return the tokens of a text, up to the limit."""
        data = as_bytes(text)
        lines = [self.tokenizer(line) for line in self.limit.cut(data, aligned=True)] if self.needs_lines else None
        return TokenizedText(self.tokenizer(self.limit.head(data)), lines)

    def read_references(self, references: Sequence[Text] | str) -> list[TokenizedText]:
        """Return the tokens of each reference; a single string is one reference."""
        texts = [references] if isinstance(references, str | bytes) else references
        if not isinstance(texts, Sequence):
            raise TypeError(f"references must be a list of texts, but are {describe(references)}.")
        if not texts:
            raise ValueError("There must be at least one reference to score against, but the list is empty.")
        return [self.read(text) for text in texts]


COUNTERS: dict[type, Callable[[Any, NumberedTexts], GramCounter | SubsequenceCounter]] = {
    NGrams: NGramCounter,
    SkipBigrams: SkipBigramCounter,
    Subsequence: SubsequenceCounter,
}


class PreparedReferences:
    """The counts of all references, prepared for candidates.

    Only the tokens of `vocabulary` get numbers; all others count as one token that matches nothing. With the references
    as vocabulary any candidate can be scored; the candidate alone is a smaller vocabulary that serves only itself.
    """

    def __init__(
        self, options: RougeOptions, references: Sequence[TokenizedText], vocabulary: Sequence[TokenizedText]
    ) -> None:
        self.options = options
        self.vocabulary = TokenNumbers(vocabulary, options.reach)
        texts = self.vocabulary.number(references)
        self.counters = {name: COUNTERS[type(metric)](metric, texts) for name, metric in options.metrics.items()}
        grams = [counter.counts.size for counter in self.counters.values() if isinstance(counter, GramCounter)]
        self.width = max([FEWEST_CELLS, *grams])  # array cells for each candidate, about

    def score(self, candidates: Sequence[TokenizedText]) -> list[dict[str, Score]]:
        """Return the scores of each candidate by metric."""
        texts = self.vocabulary.number(candidates)
        scores: list[dict[str, Score]] = [{} for _ in candidates]
        for name, counter in self.counters.items():
            for by_metric, hits, length in zip(scores, counter.hits(texts), texts.lengths, strict=True):
                by_metric[name] = self.options.combine(hits, counter.sizes, counter.size(length))
        return scores


def score(
    candidate: Text,
    references: Sequence[Text] | str,
    metrics: Iterable[str] = METRICS,
    bytes: int | None = None,
    words: int | None = None,
    stem: bool | Stemmer = True,
    combine: str = "average",
    alpha: float = 0.5,
    *,
    tokenizer: str = "official",
) -> dict[str, Score]:
    """Score a candidate against its references, as ROUGE-1.5.5 does to the last digit.

    Parameters
    ----------
    candidate : str or list of str
        A text with one sentence per line, or a list of sentences.
    references : list of (str or list of str)
        The texts to compare with.
    metrics : iterable of str
        "rouge-1", "rouge-2", ... (n-grams); "rouge-l"; "rouge-w-1.2" (any weight from 1); "rouge-su4" and
        "rouge-s4" (skip-bigrams at any distance, with and without single tokens). The result has the same names.
    bytes, words : int, optional
        Read only this much of the candidate and of every reference.
    stem : bool or callable
        Whether to stem. With tokenizer="unicode", a function that stems a word.
    combine : {"average", "best"}
        Use all references together, or the one with the highest recall.
    alpha : float
        F = P R / ((1 - alpha) P + alpha R): 0.5 gives the harmonic mean, 0 gives F = R, 1 gives F = P.
    tokenizer : {"official", "unicode"}
        Official tokens consist of ASCII letters and digits. "unicode" takes words of any script in folded case. It is
        meant for other languages than English, and its scores are not those of ROUGE-1.5.5.

    Returns
    -------
    dict of str to Score
        Recall, precision and F of each metric, rounded to five decimals.

    Examples
    --------
    >>> score("The cats sat.", ["A cat sat.", "The dog sat."], metrics=["rouge-1"])
    {'rouge-1': Score(recall=0.66667, precision=0.66667, f=0.66667)}
    """
    options = RougeOptions(metrics, bytes, words, stem, combine, alpha, tokenizer)
    texts, reading = options.read_references(references), options.read(candidate)
    return PreparedReferences(options, texts, vocabulary=[reading]).score([reading])[0]


class Rouge:
    """Prepared references, to score many candidates against.

    The parameters are those of :func:`score`; all but the first two are keywords.

    Examples
    --------
    >>> rouge = Rouge(["A cat sat.", "The dog sat."], metrics=["rouge-1"])
    >>> rouge.score("The cats sat.")["rouge-1"].recall
    0.66667
    >>> [scores["rouge-1"].f for scores in rouge.score_many(["The dog.", "No.", ""])]
    [0.4, 0.0, 0.0]
    """

    def __init__(self, references: Sequence[Text] | str, metrics: Iterable[str] = METRICS, **options: Any) -> None:
        self._options = RougeOptions(metrics, **options)
        texts = self._options.read_references(references)
        self._references = PreparedReferences(self._options, texts, vocabulary=texts)
        self._count = len(texts)

    def __repr__(self) -> str:
        return f"<Rouge of {count_of(self._count, 'reference', 'references')}: {', '.join(self._options.metrics)}>"

    def score(self, candidate: Text) -> dict[str, Score]:
        """Score one candidate."""
        return self._references.score([self._options.read(candidate)])[0]

    def score_many(self, candidates: Iterable[Text]) -> list[dict[str, Score]]:
        """Score each candidate; this is faster than scoring them one by one."""
        if isinstance(candidates, str):
            raise TypeError("candidates must be a list of texts, but is one string. Use score for one candidate.")
        texts, size = list(candidates), max(CELLS // self._references.width, 1)
        batches = (list(map(self._options.read, texts[a : a + size])) for a in range(0, len(texts), size))
        return [scores for batch in batches for scores in self._references.score(batch)]
