"""Scores a system over a corpus, with averages and intervals like those of ROUGE-1.5.5, and compares two systems."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np

from dpplearn._checks import FloatArray, Seed, check_choice, check_int
from dpplearn._notebook import short_repr
from dpplearn.rouge.metrics import Score, plain_sum, round5
from dpplearn.rouge.reading import EmptyTextWarning, Text, as_bytes
from dpplearn.rouge.scorer import METRICS, PreparedReferences, RougeOptions
from dpplearn.rouge.stems import Stemmer

BLOCK = 1 << 22  # draws of a paired test at once
FEW = 5  # with fewer topics, resamples of a single topic are common, and count as extreme
MULTIPLIER, INCREMENT, MODULUS = 0x5DEECE66D, 0xB, 1 << 48  # of drand48


def percent(level: float, resamples: int, least: int = 1) -> float:
    """The level of an interval in percent, with which ROUGE-1.5.5 computes; raises if it or `resamples` is wrong."""
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, such as 0.95, found {level}.")
    check_int(resamples, "resamples", low=least)
    return round(100 * level, 9)


def resampled_means(values: FloatArray, resamples: int) -> FloatArray:
    """Return the mean of each column of values in each resample of the rows.

    Resample s draws rows by drand48 with seed s, and adds them up in the order of drawing.
    """
    n = len(values)
    state = (np.arange(resamples, dtype=np.uint64) << np.uint64(16)) + np.uint64(0x330E)
    sums = np.zeros((resamples, values.shape[1]))
    for _ in range(n):
        # uint64 wraps at 2^64, a multiple of the modulus
        state = (state * np.uint64(MULTIPLIER) + np.uint64(INCREMENT)) & np.uint64(MODULUS - 1)
        sums += values[(n * (state.astype(np.float64) / MODULUS)).astype(np.int64)]
    return sums / n


class Interval(NamedTuple):
    """An average over a corpus and the ends of its confidence interval."""

    average: float
    low: float
    high: float


class Average(NamedTuple):
    """Average recall, precision and F over a corpus, each with its confidence interval."""

    recall: Interval
    precision: Interval
    f: Interval


def intervals(values: Sequence[Sequence[float]], resamples: int, percent: float) -> list[Interval]:
    """Return for each column the mean of its resampled means, and their quantiles; all columns share the draws."""
    tail = resamples * (100 - percent) / 200
    places = tail, resamples - tail - 1
    # ROUGE-1.5.5 takes the fraction of the upper place for both bounds
    fraction, columns = places[1] - int(places[1]), []
    for column in resampled_means(np.array(values, np.float64), resamples).T:
        v = np.sort(column).tolist()
        low, high = (v[i] + fraction * (v[min(i + 1, resamples - 1)] - v[i]) for i in map(int, places))
        columns.append(Interval(round5(plain_sum(v) / resamples), round5(low), round5(high)))
    return columns


@dataclass(frozen=True)
class CorpusScore:
    """The scores of one system over a corpus.

    Attributes
    ----------
    averages : dict of str to Average
        By metric.
    evaluations : dict of str to (dict of str to Score)
        By topic and metric, in the order in which ROUGE-1.5.5 averages them.
    """

    __repr__ = short_repr

    averages: dict[str, Average]
    evaluations: dict[str, dict[str, Score]]

    def by_topic(self, metric: str, measure: str = "recall") -> dict[str, float]:
        """Return the "recall", "precision" or "f" of each topic by a metric, such as "rouge-1"."""
        names = {name.lower(): name for name in reversed(self.averages)}
        metric = metric if metric in self.averages else names.get(metric.lower(), metric)
        check_choice(metric, "metric", tuple(self.averages))
        check_choice(measure, "measure", Score._fields)
        return {topic: getattr(scores[metric], measure) for topic, scores in self.evaluations.items()}


def score_corpus(
    candidates: Mapping[str, Text],
    references: Mapping[str, Sequence[Text]],
    metrics: Iterable[str] = METRICS,
    bytes: int | None = None,
    words: int | None = None,
    stem: bool | Stemmer = True,
    combine: str = "average",
    alpha: float = 0.5,
    *,
    tokenizer: str = "official",
    level: float = 0.95,
    resamples: int = 1000,
    system: str = "1",
) -> CorpusScore:
    """Score a system over a corpus, with the averages and confidence intervals of ROUGE-1.5.5.

    ROUGE-1.5.5 reports the mean over bootstrap resamples, not the plain mean, with a fixed seed. So the figures depend
    on the order of the evaluations, which is the order of the bytes of "id.system".

    Parameters
    ----------
    candidates : mapping of str to text
        The system's text on each topic, by the topic's id.
    references : mapping of str to list of texts
        The references of each topic, by the same ids.
    metrics, bytes, words, stem, combine, alpha, tokenizer
        As in :func:`score`.
    level : float
        Of the confidence intervals.
    resamples : int
        Number of bootstrap resamples.
    system : str
        Name of the system, on which the order depends.

    Warns
    -----
    EmptyTextWarning
        If a candidate or a reference has no token. It counts as 0, as in ROUGE-1.5.5, which does not warn.

    Examples
    --------
    >>> texts = {"a": "The cat sat.", "b": "A dog ran."}
    >>> result = score_corpus(texts, {"a": ["The cat ran."], "b": ["A dog ran off."]}, ["rouge-1"])
    >>> result.averages["rouge-1"].recall
    Interval(average=0.70833, low=0.66667, high=0.75)
    """
    check_same_ids(candidates, references)
    confidence = percent(level, resamples, least=2)
    options = RougeOptions(metrics, bytes, words, stem, combine, alpha, tokenizer)
    scores: dict[str, dict[str, Score]] = {}
    empty: dict[str, list[str]] = {f"candidate of system {system}": [], "reference": []}
    for topic, candidate in candidates.items():
        reading, texts = options.read(candidate), options.read_references(references[topic])
        for what, found in zip(empty, ([reading], texts), strict=True):
            if not all(text.tokens for text in found):
                empty[what].append(topic)
        scores[topic] = PreparedReferences(options, texts, vocabulary=[reading]).score([reading])[0]
    warn_of_empty_topics(empty, options.tokenizer.official)
    evaluations = {name: scores[name] for name in sorted(scores, key=lambda name: as_bytes(f"{name}.{system}"))}
    # A row holds recall, precision and F of every metric.
    columns = intervals([list(chain(*row.values())) for row in evaluations.values()], resamples, confidence)
    averages = {metric: Average(*columns[3 * k : 3 * k + 3]) for k, metric in enumerate(options.metrics)}
    return CorpusScore(averages, evaluations)


def warn_of_empty_topics(empty: Mapping[str, Sequence[str]], official: bool) -> None:
    """Warn of topics on which there is nothing to compare."""
    advice = '; with the tokenizer "official", only A to Z and 0 to 9 make tokens' if official else ""
    for what, topics in empty.items():
        if topics:
            where = f"on: {', '.join(map(str, topics))}. Check that it was read{advice}."
            warnings.warn(f"A {what} has no token and counts as 0, {where}", EmptyTextWarning, stacklevel=3)


def check_same_ids(candidates: Mapping[str, Text], references: Mapping[str, Sequence[Text]]) -> None:
    """Check that both sides have the same topics, and at least one."""
    if not candidates:
        raise ValueError("There must be at least one candidate, but there is none.")
    if alone := sorted(map(str, candidates.keys() ^ references.keys())):
        raise ValueError(f"candidates and references must have the same ids, but one lacks {', '.join(alone)}.")


@dataclass(frozen=True)
class PairedTest:
    """The difference between two systems over the same topics.

    Attributes
    ----------
    difference : float
        Mean over topics of the first system's score less the second's.
    low, high : float
        The ends of its confidence interval.
    p_value : float
        Two-sided: the probability of so large a difference by chance, if the systems were equal.
    topics : int
        Number of topics that both systems have.
    """

    difference: float
    low: float
    high: float
    p_value: float
    topics: int


def paired_bootstrap(
    first: CorpusScore,
    second: CorpusScore,
    metric: str = "rouge-1",
    measure: str = "recall",
    *,
    level: float = 0.95,
    resamples: int = 10_000,
    rng: Seed = 0,
) -> PairedTest:
    """Test whether two systems differ, by resampling topics together for both (not part of ROUGE-1.5.5).

    The interval has quantiles of the resampled mean difference as its ends. The p-value is studentized: it is the share
    of resamples whose mean is at least as many of its standard deviations from the observed difference as that is from
    zero. Without this, a test at 0.05 would be wrong one time in six with five topics, and one in ten with ten. The
    interval is not studentized: with few topics it is too narrow, and may leave out 0 where the p-value is large.

    Parameters
    ----------
    first, second : CorpusScore
        The systems, compared on the topics that both have.
    metric : str
    measure : {"recall", "precision", "f"}
    level : float
        Of the confidence interval.
    resamples : int
    rng : int or numpy.random.Generator

    Examples
    --------
    >>> from dpplearn.rouge import score_corpus
    >>> references = {"a": ["The cat sat."], "b": ["A dog ran off."]}
    >>> first = score_corpus({"a": "The cat sat.", "b": "A dog ran."}, references)
    >>> second = score_corpus({"a": "The dog sat.", "b": "The cat ran."}, references)
    >>> round(paired_bootstrap(first, second).difference, 5)
    0.41667
    """
    confidence = percent(level, resamples)
    ours, theirs = first.by_topic(metric, measure), second.by_topic(metric, measure)
    topics = sorted(ours.keys() & theirs.keys())
    if not topics:
        raise ValueError("The two systems must have a topic in common, but have none.")
    d = np.array([ours[topic] - theirs[topic] for topic in topics])
    means, spreads = resample(d, resamples, np.random.default_rng(rng))
    difference, spread = float(d.mean()), float(d.std())
    if d.size >= FEW:  # a resample of equal differences does not show how these spread
        spreads = np.where(spreads <= 1e-12, spread, spreads)
    # |mean* - mean| / spread* >= |mean| / spread, without division by a spread of zero
    extreme = np.abs(means - difference) * spread >= abs(difference) * spreads - 1e-12
    if d.size >= FEW and spread <= 1e-12 < abs(difference):
        extreme[:] = False  # the same difference on every topic
    p_value = (1 + int(extreme.sum())) / (1 + resamples)
    tail = (100 - confidence) / 200
    low, high = np.quantile(means, [tail, 1 - tail]).tolist()
    return PairedTest(difference, low, high, p_value, d.size)


def resample(d: FloatArray, resamples: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Return mean and standard deviation of each resample of d."""
    means, spreads = np.empty(resamples), np.empty(resamples)
    block = max(1, BLOCK // d.size)
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        drawn = d[rng.integers(d.size, size=(size, d.size))]
        means[start : start + size] = drawn.mean(axis=1)
        spreads[start : start + size] = drawn.std(axis=1)
    return means, spreads
