"""Systems over a corpus: their summaries scored with ROUGE, with intervals and tests (Table 2)."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from dpplearn._run.progress import Progress
from dpplearn.rouge import CorpusScore, paired_bootstrap, score_corpus
from dpplearn.summarize.corpora.cluster import Cluster
from dpplearn.summarize.experiments.results_folder import ResultsFolder, corpus_fingerprint, fingerprint
from dpplearn.summarize.experiments.summaries import Task, make_summaries
from dpplearn.summarize.experiments.systems import LEARNED, OVERRUN, Models
from dpplearn.summarize.model.modelfile import SETTINGS
from dpplearn.summarize.model.training import rouge_options
from dpplearn.summarize.text.matching import ENGLISH
from dpplearn.summarize.text.units import Unit

METRICS = ("rouge-1", "rouge-2", "rouge-su4")
CONFIDENCE = 95.0


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

    def score(self, name: str, texts: Mapping[str, str], references: Mapping[str, Sequence[str]]) -> CorpusScore:
        options = rouge_options(self.budget, self.unit, self.language)
        ours = {topic: text or " " for topic, text in texts.items()}  # an empty text is a space, which has no token
        theirs = {topic: [text or " " for text in references[topic]] for topic in texts}
        return score_corpus(ours, theirs, METRICS, confidence=CONFIDENCE, system=name, **options)


def check_clusters(clusters: Sequence[Cluster], what: str) -> list[Cluster]:
    """Clusters with ids and references; those without references are left out and named in a warning."""
    named = [c if c.id is not None else replace(c, id=str(n)) for n, c in enumerate(clusters, 1)]
    repeated = [name for name, count in Counter(c.id for c in named).items() if count > 1]
    if repeated:
        raise ValueError(
            f"Ids of clusters must differ, but in {what} {repeated[0]!r} occurs more than once"
            f"{f' (and {len(repeated) - 1} others too)' if len(repeated) > 1 else ''}. Rename them."
        )
    kept = [c for c in named if any(map(str.strip, c.references))]
    without = [str(c.id) for c in named if not any(map(str.strip, c.references))]
    if not kept:
        raise ValueError(f"No cluster of {what} has a reference summary, so there is nothing to score against.")
    if without:
        some = ", ".join(without[:5]) + (", ..." if len(without) > 5 else "")
        warnings.warn(f"{what}: left out, without references: {some} ({len(without)} clusters).", stacklevel=2)
    return kept


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
    summaries: Mapping[str, Mapping[str, str]], clusters: Sequence[Cluster], scoring: Scoring
) -> dict[str, CorpusScore]:
    """The scores of each system that has a summary of one of the clusters."""
    references = {str(c.id): list(c.references) for c in clusters}
    ours = {name: {t: texts[t] for t in references if t in texts} for name, texts in summaries.items()}
    return {name: scoring.score(name, texts, references) for name, texts in ours.items() if texts}


class Comparison(NamedTuple):
    """Table 2, as `results.json` and `details.json` hold it: in percent, the details with the best system's name."""

    results: dict[str, Any]
    details: dict[str, Any]


def compare(
    summaries: Mapping[str, Mapping[str, str]], clusters: Sequence[Cluster], scoring: Scoring, record: Mapping[str, Any]
) -> Comparison:
    """Score systems; the details are intervals, tests and scores by topic, beside the record of the run.

    The best is that in ROUGE-1 F, of all but the oracle, which saw the references.
    """
    scores = score_table(summaries, clusters, scoring)
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


def evaluate(
    models: Models, clusters: Sequence[Cluster], systems: Sequence[str], scoring: Scoring, folder: ResultsFolder,
    *, jobs: int | None = 1, progress: bool | Progress = False,
) -> Comparison:  # fmt: skip
    """Table 2 of trained models, also written to the folder, which knows what the results depend on."""
    for system in LEARNED:
        if system in systems:  # said before the work, not after it
            models.regression(system)
    tasks = [Task("model", (cluster,), tuple(systems)) for cluster in clusters]
    made = make_summaries({"model": models}, tasks, scoring.budget, scoring.unit, folder, jobs=jobs, progress=progress)
    found = compare(made, clusters, scoring, folder.settings)
    folder.write(found.results, found.details, systems)
    return found


def evaluation_record(
    models: Models, clusters: Sequence[Cluster], scoring: Scoring, names: Mapping[str, Any]
) -> dict[str, Any]:
    """All that an evaluation's results depend on; `names` say what the corpus and the model are called."""
    summarizer, logistic, compress = models
    features = summarizer.features_
    own = {name: getattr(summarizer, name) for name in SETTINGS}
    own["logistic"] = None if logistic is None else [logistic.w, logistic.tradeoff]
    if summarizer.similarity != "fixed":
        own["learned similarity"] = summarizer.model_.similarity_.parameters
    return {
        "command": "evaluate",
        **names,
        "corpus_hash": corpus_fingerprint(clusters),
        "model_hash": fingerprint([summarizer.learned_, summarizer.rho_, features.idf.counts, features.edges, own]),
        "clusters": len(clusters),
        "compress": compress,
        **scoring.record,
    }
