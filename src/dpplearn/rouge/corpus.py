"""Scores of a system over a corpus, averaged and resampled with the generator and in the order of ROUGE-1.5.5."""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np

from dpplearn._checks import FloatArray, check_int
from dpplearn._notebook import short_repr
from dpplearn.rouge.metrics import Score, plain_sum, round5
from dpplearn.rouge.reading import EmptyTextWarning, Text, TokenizedText, as_bytes
from dpplearn.rouge.scorer import METRICS, PreparedReferences, RougeOptions
from dpplearn.rouge.stems import Stemmer

MULTIPLIER, INCREMENT, MODULUS = 0x5DEECE66D, 0xB, 1 << 48  # of drand48


class Interval(NamedTuple):
    """An average over a corpus and its confidence bounds."""

    average: float
    low: float
    high: float


def check_resampling(confidence: float, resamples: int = 1000, least: int = 1) -> None:
    """Confidence is in percent (one below 1 is a share of one, given by mistake), resamples are at least so many."""
    if not 1 <= confidence < 100:
        raise ValueError(
            f"confidence must lie between 1 and 100 (percent), but is {confidence}. "
            "It is given in percent: 95 for bounds of 95 %, not 0.95."
        )
    check_int(resamples, "resamples", low=least)


def resampled_means(values: FloatArray, resamples: int) -> FloatArray:
    """Return the mean of each column of values, for resamples of the rows numbered 0, 1, ...

    Resample s draws rows with drand48 seeded with s, and adds them up in the order drawn.
    """
    n = len(values)
    state = (np.arange(resamples, dtype=np.uint64) << np.uint64(16)) + np.uint64(0x330E)
    sums = np.zeros((resamples, values.shape[1]))
    for _ in range(n):
        # uint64 wraps at 2^64, a multiple of the modulus
        state = (state * np.uint64(MULTIPLIER) + np.uint64(INCREMENT)) & np.uint64(MODULUS - 1)
        sums += values[(n * (state.astype(np.float64) / MODULUS)).astype(np.int64)]
    return sums / n


def interval(means: FloatArray, confidence: float) -> Interval:
    """Return the mean of the resampled means, and their quantiles at the given confidence in percent."""
    v = np.sort(means).tolist()
    r = len(v)
    d = r * (100 - confidence) / 200
    u = r - d - 1
    fraction = u - int(u)

    def bound(place: int) -> float:
        after = v[min(place + 1, r - 1)]
        return round5(v[place] + fraction * (after - v[place]))

    return Interval(round5(plain_sum(v) / r), bound(int(d)), bound(int(u)))


def intervals(values: Sequence[Sequence[float]], resamples: int, confidence: float) -> list[Interval]:
    """Return the interval of each column; the same draws serve all columns."""
    means = resampled_means(np.array(values, np.float64), resamples)
    return [interval(column, confidence) for column in means.T]


class Average(NamedTuple):
    """Average recall, precision and F over a corpus, each with its confidence bounds."""

    recall: Interval
    precision: Interval
    f: Interval


@dataclass(frozen=True)
class CorpusScore:
    """The scores of one system over a corpus.

    Attributes
    ----------
    averages : dict of str to Average
        By metric.
    evaluations : dict of str to (dict of str to Score)
        By evaluation and metric, in the order in which ROUGE-1.5.5 averages them. An evaluation is a topic
        or, with the jackknife, a topic less one reference ("id.1" lacks the first).
    topics : dict of str to str
        The topic of each evaluation.
    """

    __repr__ = short_repr

    averages: dict[str, Average]
    evaluations: dict[str, dict[str, Score]]
    topics: dict[str, str]

    def by_topic(self, metric: str, measure: str = "recall") -> dict[str, float]:
        """Return the score of each topic, with the jackknife the mean of its evaluations.

        Parameters
        ----------
        metric : str
            One of those scored, such as "rouge-1", in any case.
        measure : {"recall", "precision", "f"}
        """
        names = {name.lower(): name for name in reversed(self.averages)}
        metric = metric if metric in self.averages else names.get(metric.lower(), metric)
        if metric not in self.averages:
            raise ValueError(f"metric must be one of {', '.join(self.averages)}, but is {metric!r}.")
        if measure not in Score._fields:
            raise ValueError(f"measure must be one of {', '.join(Score._fields)}, but is {measure!r}.")
        values: dict[str, list[float]] = {}
        for name, scores in self.evaluations.items():
            values.setdefault(self.topics[name], []).append(getattr(scores[metric], measure))
        return {topic: sum(found) / len(found) for topic, found in values.items()}


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
    confidence: float = 95,
    resamples: int = 1000,
    jackknife: bool = False,
    system: str = "1",
    report: Callable[[int, int], None] | None = None,
) -> CorpusScore:
    """Score a system over a corpus, with averages and confidence bounds as ROUGE-1.5.5 gives them.

    ROUGE-1.5.5 reports the mean over bootstrap resamples, not the plain mean, and its generator is seeded:
    the figures depend on the order of the evaluations, which is that of the bytes of "id.system".

    Parameters
    ----------
    candidates : mapping of str to text
        The system's text on each topic, by the topic's id.
    references : mapping of str to list of texts
        The references of each topic, by the same ids.
    metrics, bytes, words, stem, combine, alpha, tokenizer
        As in :func:`score`.
    confidence : float
        Of the bounds, in percent (95, not 0.95).
    resamples : int
        Number of bootstrap resamples.
    jackknife : bool
        Evaluate each topic once for every reference left out, to compare with the score of a person, who has
        one reference fewer. ROUGE-1.5.5 treats the evaluations as independent, which narrows the bounds.
    system : str
        Name of the system, which takes part in the order.
    report : callable, optional
        Called after each topic with the number of topics done and of all.

    Returns
    -------
    CorpusScore

    Warns
    -----
    EmptyTextWarning
        Where a candidate or a reference has no token. It counts as 0, as in ROUGE-1.5.5, which does not say so.

    Examples
    --------
    >>> texts = {"a": "The cat sat.", "b": "A dog ran."}
    >>> result = score_corpus(texts, {"a": ["The cat ran."], "b": ["A dog ran off."]}, ["rouge-1"])
    >>> result.averages["rouge-1"].recall
    Interval(average=0.70833, low=0.66667, high=0.75)
    """
    check_same_ids(candidates, references)
    check_resampling(confidence, resamples, least=2)
    scoring = RougeOptions(metrics, bytes, words, stem, combine, alpha, tokenizer)
    found = score_topics(candidates, references, scoring, jackknife=jackknife, report=report)
    return combined([found], scoring, system, confidence=confidence, resamples=resamples)


class Topics(NamedTuple):
    """The evaluations of some topics, the topic of each, and topics on which a text is empty."""

    evaluations: dict[str, dict[str, Score]]
    topics: dict[str, str]
    empty: dict[str, list[str]]


def score_topics(
    candidates: Mapping[str, Text],
    references: Mapping[str, Sequence[Text]],
    scoring: RougeOptions,
    *,
    jackknife: bool = False,
    report: Callable[[int, int], None] | None = None,
) -> Topics:
    """Score a system topic by topic, without averages."""
    found = Topics({}, {}, {"candidate": [], "reference": []})
    for done, (topic, candidate) in enumerate(candidates.items(), 1):
        reading, given = scoring.read(candidate), scoring.read_references(references[topic])
        if not reading.tokens:
            found.empty["candidate"].append(topic)
        if not all(reference.tokens for reference in given):
            found.empty["reference"].append(topic)
        for name, chosen in leave_one_out(topic, given) if jackknife else [(topic, given)]:
            found.topics[name] = topic
            found.evaluations[name] = PreparedReferences(scoring, chosen, vocabulary=[reading]).score([reading])[0]
        if report is not None:
            report(done, len(candidates))
    return found


def combined(
    parts: Sequence[Topics], scoring: RougeOptions, system: str, *, confidence: float, resamples: int = 1000
) -> CorpusScore:
    """Averages and bounds over topics that were scored in any parts."""
    all_: dict[str, dict[str, Score]] = {name: scores for part in parts for name, scores in part.evaluations.items()}
    topics = {name: topic for part in parts for name, topic in part.topics.items()}
    empty = {what: [t for part in parts for t in part.empty[what]] for what in ("candidate", "reference")}
    warn_of_empty_topics(empty, system, scoring.tokenizer.official)
    order = sorted(all_, key=lambda name: as_bytes(f"{name}.{system}"))
    evaluations = {name: all_[name] for name in order}
    # A row holds recall, precision and F of every metric.
    columns = intervals([list(chain(*scores.values())) for scores in evaluations.values()], resamples, confidence)
    averages = {metric: Average(*columns[3 * k : 3 * k + 3]) for k, metric in enumerate(scoring.metrics)}
    return CorpusScore(averages, evaluations, topics)


def warn_of_empty_topics(empty: Mapping[str, Sequence[str]], system: str, official: bool) -> None:
    """Name the topics on which there is nothing to compare, which ROUGE-1.5.5 does not."""
    advice = "Check that it was read"
    if official:
        advice += '; with the tokenizer "official", only A to Z and 0 to 9 make tokens'
    found = {
        "candidate": f"A candidate of system {system} has no token and is averaged in as 0",
        "reference": "A reference has no token and is taken as 0 hits of 0",
    }
    for what, said in found.items():
        if empty[what]:
            topics = ", ".join(map(str, empty[what]))
            warnings.warn(f"{said}, on: {topics}. {advice}.", EmptyTextWarning, stacklevel=4)


def leave_one_out(topic: str, references: Sequence[TokenizedText]) -> list[tuple[str, list[TokenizedText]]]:
    """Return the evaluations of a topic: name and references, each lacking one."""
    number = len(references)
    if number < 2:
        raise ValueError(f"The jackknife needs at least two references for each topic; {topic!r} has {number}.")
    return [(f"{topic}.{k + 1}", [*references[:k], *references[k + 1 :]]) for k in range(len(references))]


def check_same_ids(candidates: Mapping[str, Text], references: Mapping[str, Sequence[Text]]) -> None:
    """Both sides must speak of the same topics."""
    for given, name in ((candidates, "candidates"), (references, "references")):
        if not isinstance(given, Mapping):
            raise TypeError(f"{name} must be a mapping from topic id to text, but is a {type(given).__name__}.")
    if not candidates:
        raise ValueError("There must be at least one candidate, but there is none.")
    complain = []
    if alone := sorted(map(str, candidates.keys() - references.keys())):
        complain.append(f"candidates without references: {', '.join(alone)}")
    if alone := sorted(map(str, references.keys() - candidates.keys())):
        complain.append(f"references without a candidate: {', '.join(alone)}")
    if complain:
        raise ValueError(
            f"candidates and references must have the same ids, but there are {'; '.join(complain)}. "
            "Leave these topics out on both sides, or add what is missing."
        )
