"""Systems over a corpus: their summaries scored with ROUGE, with intervals and tests (Table 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from dpplearn._run.progress import Progress
from dpplearn._run.workers import Here, Workers
from dpplearn.rouge import CorpusScore, paired_bootstrap
from dpplearn.rouge.corpus import Topics, combined, score_topics
from dpplearn.rouge.scorer import RougeOptions
from dpplearn.summarize.corpora.cluster import Cluster
from dpplearn.summarize.experiments.results_folder import ResultsFolder, fingerprint
from dpplearn.summarize.experiments.summaries import Task, make_summaries
from dpplearn.summarize.experiments.systems import LEARNED, OVERRUN, Models
from dpplearn.summarize.experiments.tested import Tested
from dpplearn.summarize.model.modelfile import SETTINGS
from dpplearn.summarize.model.training import rouge_options
from dpplearn.summarize.text.matching import ENGLISH
from dpplearn.summarize.text.units import Unit

METRICS = ("rouge-1", "rouge-2", "rouge-su4")
CONFIDENCE = 95.0
SCORED_AT_ONCE = 50  # clusters whose summaries are scored at a time


class Scored(Protocol):
    """What is needed of a cluster to score its summaries."""

    @property
    def id(self) -> str | None: ...
    @property
    def references(self) -> Sequence[str]: ...


@dataclass(frozen=True)
class Scoring:
    """How summaries are scored: ROUGE-1.5.5 with stemming at the limit of length; plain words in other languages."""

    budget: float
    unit: Unit
    language: str | None = None

    @property
    def record(self) -> dict[str, Any]:
        """What results.json says of it."""
        from dpplearn import __version__

        english = self.language in (None, ENGLISH)
        return {
            "budget": self.budget,
            "unit": self.unit,
            "overrun_bytes": OVERRUN if self.unit == "bytes" else 0.0,
            "language": self.language or ENGLISH,
            "rouge": "1.5.5, stemmed" if english else "1.5.5 on unicode words, not stemmed",
            "dpplearn": __version__,
        }

    @property
    def options(self) -> dict[str, Any]:
        return rouge_options(self.budget, self.unit, self.language)

    @property
    def _rouge(self) -> RougeOptions:
        options = {"bytes": None, "words": None, "combine": "average", "alpha": 0.5} | self.options
        return RougeOptions(METRICS, **options)

    def topics(self, texts: Mapping[str, str], references: Mapping[str, Sequence[str]]) -> Topics:
        """The scores of some texts, topic by topic."""
        ours = {topic: text or " " for topic, text in texts.items()}  # an empty text is a space, which has no token
        theirs = {topic: [text or " " for text in references[topic]] for topic in texts}
        return score_topics(ours, theirs, self._rouge)

    def combined(self, name: str, parts: Sequence[Topics]) -> CorpusScore:
        """Averages over topics that were scored in any parts."""
        return combined(parts, self._rouge, name, confidence=CONFIDENCE)

    def score(self, name: str, texts: Mapping[str, str], references: Mapping[str, Sequence[str]]) -> CorpusScore:
        """The scores of all texts of a system."""
        return self.combined(name, [self.topics(texts, references)])


def figures(score: CorpusScore) -> dict[str, dict[str, float]]:
    """F, P and R of each metric, in percent."""
    return {metric: {key: found[0] for key, found in one.items()} for metric, one in in_percent(score).items()}


def intervals(score: CorpusScore) -> dict[str, dict[str, list[float]]]:
    """Their 95 % intervals, in percent."""
    return {metric: {key: found[1:] for key, found in one.items()} for metric, one in in_percent(score).items()}


def in_percent(score: CorpusScore) -> dict[str, dict[str, list[float]]]:
    """The average of each measure and the bounds of its interval."""
    names = {"f": "f", "p": "precision", "r": "recall"}
    return {
        metric: {key: [round(100 * x, 3) for x in getattr(average, name)] for key, name in names.items()}
        for metric, average in score.averages.items()
    }


def score_table(
    summaries: Mapping[str, Mapping[str, str]],
    clusters: Sequence[Scored],
    scoring: Scoring,
    workers: Workers | None = None,
) -> dict[str, CorpusScore]:
    """The scores of each system that has a summary of one of the clusters, some clusters at a time."""
    tasks = [
        ScoringPart(scoring, clusters[k : k + SCORED_AT_ONCE], summaries)
        for k in range(0, len(clusters), SCORED_AT_ONCE)
    ]
    parts = [part for _, part in (workers or Here()).each(score_part, (task.own() for task in tasks))]
    return {
        name: scoring.combined(name, found)
        for name in summaries
        if (found := [part[name] for part in parts if name in part])
    }


class ScoringPart(NamedTuple):
    """Some clusters, and the systems' summaries of them."""

    scoring: Scoring
    clusters: Sequence[Scored]
    summaries: Mapping[str, Mapping[str, str]]

    def own(self) -> ScoringPart:
        """Without the summaries of others."""
        ids = [str(one.id) for one in self.clusters]
        ours = {name: {t: texts[t] for t in ids if t in texts} for name, texts in self.summaries.items()}
        few = [Cluster((), one.references, str(one.id)) for one in self.clusters]
        return ScoringPart(self.scoring, few, {name: texts for name, texts in ours.items() if texts})


def score_part(asked: ScoringPart) -> dict[str, Topics]:
    """The scores of each system on some clusters."""
    references = {str(one.id): list(one.references) for one in asked.clusters}
    return {name: asked.scoring.topics(texts, references) for name, texts in asked.summaries.items()}


class Comparison(NamedTuple):
    """Table 2, as `results.json` and `details.json` hold it: in percent, the details with the best system's name."""

    results: dict[str, Any]
    details: dict[str, Any]


def compare(
    summaries: Mapping[str, Mapping[str, str]],
    clusters: Sequence[Scored],
    scoring: Scoring,
    record: Mapping[str, Any],
    workers: Workers | None = None,
) -> Comparison:
    """Score systems; the details are intervals, tests and scores by topic, beside the record of the run.

    The best is that in ROUGE-1 F, of all but the oracle, which saw the references.
    """
    scores = score_table(summaries, clusters, scoring, workers)
    rivals = [name for name in scores if name != "oracle"] or list(scores)
    best = max(rivals, key=lambda name: scores[name].averages["rouge-1"].f.average)
    systems = {}
    for name, score in scores.items():
        tested = name != best and set(score.topics.values()) & set(scores[best].topics.values())
        tests = {m: paired_bootstrap(score, scores[best], m, "f", shared=True) for m in METRICS if tested}
        systems[name] = {
            "clusters": len(set(score.topics.values())),
            "intervals": intervals(score),
            "against_best": {
                metric: {
                    "difference": round(100 * test.difference, 3),
                    "interval": [round(100 * test.low, 3), round(100 * test.high, 3)],
                    "p": test.p_value,
                }
                for metric, test in tests.items()
            },
            "rouge-1 f by cluster": {t: round(100 * x, 3) for t, x in score.by_topic("rouge-1", "f").items()},
        }
    results = {"systems": {name: figures(score) for name, score in scores.items()}, "settings": dict(record)}
    return Comparison(results, {"best": best, "confidence": CONFIDENCE, "systems": systems})


def evaluate_systems(
    models: Models, clusters: Tested, systems: Sequence[str], scoring: Scoring, folder: ResultsFolder,
    workers: Workers, *, progress: bool | Progress = False,
) -> Comparison:  # fmt: skip
    """Table 2 of trained models, also written to the folder, which knows what the results depend on."""
    for system in LEARNED:
        if system in systems:  # said before the work, not after it
            models.regression(system)
    tasks, length = [Task("model", clusters, tuple(systems))], (scoring.budget, scoring.unit)
    made = make_summaries({"model": models}, tasks, *length, folder, workers, progress=progress)
    found = compare(made, clusters.clusters, scoring, folder.settings, workers)
    folder.write(found.results, found.details, systems)
    return found


def evaluation_record(models: Models, clusters: Tested, scoring: Scoring, names: Mapping[str, Any]) -> dict[str, Any]:
    """All that an evaluation's results depend on; `names` say what the corpus and the model are called."""
    summarizer, logistic, compress = models
    features = summarizer.features_
    own = {name: getattr(summarizer, name) for name in SETTINGS}
    own["logistic"] = None if logistic is None else [logistic.w, logistic.tradeoff]
    return {
        "command": "evaluate",
        **names,
        "corpus_hash": fingerprint(clusters.digests),
        "model_hash": fingerprint([summarizer.theta_, summarizer.rho_, features.idf.counts, features.edges, own]),
        "clusters": len(clusters.clusters),
        "compress": compress,
        **scoring.record,
    }
