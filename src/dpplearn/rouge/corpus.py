"""Scores of a system over a corpus."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dpplearn.rouge.bootstrap import Interval, intervals
from dpplearn.rouge.combine import Score
from dpplearn.rouge.scorer import METRICS, score
from dpplearn.rouge.texts import Text
from dpplearn.rouge.tokens import Stemmer


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

    averages: dict[str, Average]
    evaluations: dict[str, dict[str, Score]]
    topics: dict[str, str]

    def by_topic(self, metric: str, measure: str = "recall") -> dict[str, float]:
        """Return the score of each topic, with the jackknife the mean of its evaluations.

        Parameters
        ----------
        metric : str
            One of those scored, such as "rouge-1".
        measure : {"recall", "precision", "f"}
        """
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
        Of the bounds, in percent.
    resamples : int
        Number of bootstrap resamples.
    jackknife : bool
        Evaluate each topic once for every reference left out, to compare with the score of a person, who has
        one reference fewer. ROUGE-1.5.5 treats the evaluations as independent, which narrows the bounds.
    system : str
        Name of the system, which takes part in the order.

    Returns
    -------
    CorpusScore

    Examples
    --------
    >>> texts = {"a": "The cat sat.", "b": "A dog ran."}
    >>> result = score_corpus(texts, {"a": ["The cat ran."], "b": ["A dog ran off."]}, ["rouge-1"])
    >>> result.averages["rouge-1"].recall
    Interval(average=0.70833, low=0.66667, high=0.75)
    """
    check_same_ids(candidates, references)
    if not 0 < confidence < 100:
        raise ValueError(f"confidence must lie between 0 and 100 (percent), but is {confidence}.")
    if resamples < 2:
        raise ValueError(f"resamples must be at least 2, but is {resamples}. The official number is 1000.")
    metrics = [metrics] if isinstance(metrics, str) else list(metrics)
    evaluations: dict[str, dict[str, Score]] = {}
    topics: dict[str, str] = {}
    for topic, candidate in candidates.items():
        given = references[topic]
        for name, chosen in leave_one_out(topic, given) if jackknife else [(topic, given)]:
            topics[name] = topic
            evaluations[name] = score(
                candidate, chosen, metrics, bytes, words, stem, combine, alpha, tokenizer=tokenizer
            )
    order = sorted(evaluations, key=lambda name: f"{name}.{system}".encode("utf-8", "surrogatepass"))
    # A row holds recall, precision and F of every metric.
    rows = [[value for metric in metrics for value in evaluations[name][metric]] for name in order]
    columns = intervals(rows, resamples, confidence)
    averages = {metric: Average(*columns[3 * k : 3 * k + 3]) for k, metric in enumerate(metrics)}
    return CorpusScore(averages, {name: evaluations[name] for name in order}, topics)


def leave_one_out(topic: str, references: Sequence[Text]) -> list[tuple[str, list[Text]]]:
    """Return the evaluations of a topic: name and references, each lacking one."""
    number = 1 if isinstance(references, str) else len(references)
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
