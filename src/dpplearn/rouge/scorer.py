"""Scoring candidates against references."""

import warnings
from collections.abc import Iterable, Sequence

from dpplearn.rouge.combine import Score, combine_counts, combine_subsequences
from dpplearn.rouge.grams import CELLS, NGramCounter, SkipBigramCounter, Tokens
from dpplearn.rouge.metrics import NGrams, SkipBigrams, Subsequence, parse_metrics
from dpplearn.rouge.subsequences import Lines, SubsequenceCounter
from dpplearn.rouge.texts import Limit, Text, as_bytes, as_references, describe
from dpplearn.rouge.tokens import Stemmer, Tokenizer

METRICS = ("rouge-1", "rouge-2", "rouge-su4")


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
        A text, one sentence per line, or its sentences.
    references : list of (str or list of str)
        The texts to compare with.
    metrics : iterable of str
        "rouge-1", "rouge-2", ... (n-grams); "rouge-l"; "rouge-w-1.2" (any weight from 1); "rouge-su4" and
        "rouge-s4" (skip-bigrams at any distance, with and without single tokens).
    bytes, words : int, optional
        Read so much of the candidate and of every reference.
    stem : bool or callable
        Whether to stem. With tokenizer="unicode", the function that stems a word, if any.
    combine : {"average", "best"}
        Over all references together, or the reference with the highest recall.
    alpha : float
        Weight of recall in the divisor of F: 0.5 for their harmonic mean, 0 for F = recall, 1 for precision.
    tokenizer : {"official", "unicode"}
        Official tokens are ASCII letters and digits. "unicode" takes words of any script in folded case: use
        it for other languages than English, and do not call the result ROUGE-1.5.5.

    Returns
    -------
    dict of str to Score
        Recall, precision and F of each metric, rounded to five decimals.

    Examples
    --------
    >>> score("The cats sat.", ["A cat sat.", "The dog sat."], metrics=["rouge-1"])
    {'rouge-1': Score(recall=0.66667, precision=0.66667, f=0.66667)}
    """
    rouge = Rouge(references, metrics, bytes, words, stem, combine, alpha, tokenizer=tokenizer)
    return rouge.score(candidate)


class Rouge:
    """References made ready, to score many candidates against.

    The parameters are those of :func:`score`.

    Examples
    --------
    >>> rouge = Rouge(["A cat sat.", "The dog sat."], metrics=["rouge-1"])
    >>> rouge.score("The cats sat.")["rouge-1"].recall
    0.66667
    >>> [scores["rouge-1"].f for scores in rouge.score_many(["The dog.", "No.", ""])]
    [0.4, 0.0, 0.0]
    """

    def __init__(
        self,
        references: Sequence[Text] | str,
        metrics: Iterable[str] = METRICS,
        bytes: int | None = None,
        words: int | None = None,
        stem: bool | Stemmer = True,
        combine: str = "average",
        alpha: float = 0.5,
        *,
        tokenizer: str = "official",
    ) -> None:
        if combine not in ("average", "best"):
            raise ValueError(f'combine must be "average" or "best", but is {describe(combine)}.')
        if not 0 <= alpha <= 1:
            raise ValueError(f"alpha must be from 0 to 1, but is {alpha}.")
        self.combine, self.alpha = combine, alpha
        self.metrics = parse_metrics(metrics)
        self._limit = Limit(bytes, words)
        self._tokenizer = Tokenizer(tokenizer, stem)
        self._prepare(as_references(references))

    def _prepare(self, references: list[bytes]) -> None:
        specs = self.metrics.values()
        self._pad = max(
            [1]
            + [spec.n - 1 for spec in specs if isinstance(spec, NGrams)]
            + [spec.skip + 1 for spec in specs if isinstance(spec, SkipBigrams)]
        )
        texts = [self._tokens(reference) for reference in references]
        lines = [self._lines(reference) for reference in references] if self._needs_lines else []
        self._vocabulary: dict[str, int] = {}
        for tokens in texts + [line for text in lines for line in text]:
            for token in tokens:
                self._vocabulary.setdefault(token, len(self._vocabulary))
        numbered = Tokens.number(texts, self._vocabulary, self._pad)
        self._counters: dict[str, NGramCounter | SkipBigramCounter] = {}
        self._aligners: dict[str, SubsequenceCounter] = {}
        aligned = [Lines.number(*pair, self._vocabulary) for pair in zip(lines, texts, strict=False)]
        for name, spec in self.metrics.items():
            if isinstance(spec, NGrams):
                self._counters[name] = NGramCounter(spec, numbered)
            elif isinstance(spec, SkipBigrams):
                self._counters[name] = SkipBigramCounter(spec, numbered)
            else:
                self._aligners[name] = SubsequenceCounter(spec, aligned)
                warn_of_empty(name, self._aligners[name])

    @property
    def _needs_lines(self) -> bool:
        return any(isinstance(spec, Subsequence) for spec in self.metrics.values())

    def _tokens(self, text: bytes) -> list[str]:
        return self._tokenizer(b" ".join(self._limit.cut(text)))

    def _lines(self, text: bytes) -> list[list[str]]:
        return [self._tokenizer(line) for line in self._limit.cut_for_lcs(text)]

    def score(self, candidate: Text) -> dict[str, Score]:
        """Score one candidate.

        Returns
        -------
        dict of str to Score
        """
        return self._score_together([as_bytes(candidate)])[0]

    def score_many(self, candidates: Iterable[Text]) -> list[dict[str, Score]]:
        """Score candidates together, which is faster than one by one.

        Returns
        -------
        list of dict of str to Score
            For each candidate in order.
        """
        if isinstance(candidates, str):
            raise TypeError("candidates must be a list of texts, but is one string. Use score for one candidate.")
        return [scores for batch in self._batches(candidates) for scores in self._score_together(batch)]

    def _batches(self, candidates: Iterable[Text]) -> Iterable[list[bytes]]:
        widest = max([1] + [counter.width for counter in self._counters.values()])
        batch: list[bytes] = []
        for candidate in candidates:
            batch.append(as_bytes(candidate))
            if len(batch) * widest >= CELLS:
                yield batch
                batch = []
        if batch:
            yield batch

    def _score_together(self, candidates: list[bytes]) -> list[dict[str, Score]]:
        texts = [self._tokens(candidate) for candidate in candidates]
        found: dict[str, list[Score]] = {}
        if self._counters:
            numbered = Tokens.number(texts, self._vocabulary, self._pad)
            for name, counter in self._counters.items():
                totals = counter.totals.tolist()
                rows = zip(counter.hits(numbered).tolist(), counter.totals_of(numbered).tolist(), strict=True)
                found[name] = [
                    combine_counts(hits, totals, total, self.combine, self.alpha) for hits, total in rows
                ]
        if self._aligners:
            aligned = [
                Lines.number(self._lines(candidate), tokens, self._vocabulary)
                for candidate, tokens in zip(candidates, texts, strict=True)
            ]
            for name, aligner in self._aligners.items():
                found[name] = [
                    combine_subsequences(
                        *(aligner.hits(lines), aligner.line_weights, lines.total),
                        *(aligner.weight, self.combine, self.alpha),
                    )
                    for lines in aligned
                ]
        return [{name: found[name][i] for name in self.metrics} for i in range(len(candidates))]


def warn_of_empty(name: str, aligner: SubsequenceCounter) -> None:
    """Say where ROUGE-1.5.5 would have stopped with a division by zero."""
    empty = [str(i + 1) for i, weight in enumerate(aligner.line_weights) if not weight]
    if empty and name.startswith("rouge-w"):
        warnings.warn(
            f"Reference {', '.join(empty)} of {len(aligner.line_weights)} has no token. ROUGE-1.5.5 stops there; "
            f"{name} counts it as 0 hits of 0. Check that the reference was read.",
            stacklevel=4,
        )
