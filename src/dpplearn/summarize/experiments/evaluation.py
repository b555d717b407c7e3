"""Systems over a corpus: summaries of every cluster in parallel, then ROUGE with intervals and tests (Table 2)."""

from __future__ import annotations

import multiprocessing
import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dpplearn._checks import check_jobs
from dpplearn._run.signals import deaf_children
from dpplearn.rouge import CorpusScore, PairedTest, paired_bootstrap, score_corpus
from dpplearn.summarize.corpora.cluster import Cluster
from dpplearn.summarize.experiments.resume import ResultsFolder
from dpplearn.summarize.experiments.systems import SYSTEMS, summary_of
from dpplearn.summarize.text.matching import ENGLISH
from dpplearn.summarize.text.units import Unit

if TYPE_CHECKING:
    from dpplearn.summarize.summarizer import Summarizer

METRICS = ("rouge-1", "rouge-2", "rouge-su4")
CONFIDENCE = 95.0
Report = Callable[[int, int], None]  # clusters done, clusters in all


def silent(done: int, total: int) -> None:
    """No report of progress."""


@dataclass(frozen=True)
class Scoring:
    """How summaries are scored: ROUGE-1.5.5 with stemming at the limit of length; plain words in other languages."""

    budget: float
    unit: Unit
    language: str | None = None

    @property
    def options(self) -> dict[str, Any]:
        english = self.language in (None, ENGLISH)
        options: dict[str, Any] = {"stem": english, "tokenizer": "official" if english else "unicode"}
        if self.unit in ("bytes", "words"):
            options[str(self.unit)] = max(int(self.budget), 1)
        return options

    def score(self, name: str, texts: Mapping[str, str], references: Mapping[str, Sequence[str]]) -> CorpusScore:
        return score_corpus(
            {topic: lines(text) for topic, text in texts.items()},
            {topic: [lines(text) for text in references[topic]] for topic in texts},
            METRICS,
            confidence=CONFIDENCE,
            system=name,
            **self.options,
        )


def lines(text: str) -> str:
    """A text as ROUGE reads it: an empty one is a space, which has no token."""
    return text or " "


def check_clusters(clusters: Sequence[Cluster], what: str) -> list[Cluster]:
    """Clusters with ids and references; those without references are left out and named in a warning."""
    named = [c if c.id is not None else replace(c, id=str(n)) for n, c in enumerate(clusters, 1)]
    repeated = [name for name, count in Counter(c.id for c in named).items() if count > 1]
    if repeated:
        raise ValueError(
            f"Ids of clusters must differ, but in {what} {repeated[0]!r} occurs more than once"
            f"{f' (and {len(repeated) - 1} others too)' if len(repeated) > 1 else ''}. Rename them."
        )
    kept = [c for c in named if any(reference.strip() for reference in c.references)]
    without = [str(c.id) for c in named if c not in kept] if len(kept) < len(named) else []
    if not kept:
        raise ValueError(f"No cluster of {what} has a reference summary, so there is nothing to score against.")
    if without:
        some = ", ".join(without[:5]) + (", ..." if len(without) > 5 else "")
        warnings.warn(f"{what}: left out, without references: {some} ({len(without)} clusters).", stacklevel=2)
    return kept


# Summaries

_work: dict[str, Any] = {}  # what a worker process was given once


def _start(summarizers: Mapping[str, Any], budget: float, unit: Unit) -> None:
    _work.update(summarizers=summarizers, budget=budget, unit=unit, trained={})


def _summaries(key: str, clusters: Sequence[Cluster], wanted: Sequence[Sequence[str]]) -> list[dict[str, str]]:
    """Summaries of clusters by the model called `key`, which is trained here first if it is still a recipe."""
    if key not in _work["trained"]:
        given = _work["summarizers"][key]
        _work["trained"] = {key: given() if callable(given) else given}
    model: Summarizer = _work["trained"][key]
    out = []
    for cluster, systems in zip(clusters, wanted, strict=True):
        read = model.features_.read(cluster)
        out.append({name: summary_of(name, model, read, _work["budget"], _work["unit"]) for name in systems})
    return out


@dataclass(frozen=True)
class Task:
    """Clusters to be summarized by one model, which `key` names, under some systems."""

    key: str
    clusters: tuple[Cluster, ...]
    systems: tuple[str, ...]


def make_summaries(
    summarizers: Mapping[str, Summarizer | Callable[[], Summarizer]],
    tasks: Sequence[Task],
    budget: float,
    unit: Unit,
    folder: ResultsFolder,
    *,
    jobs: int | None = 1,
    report: Report = silent,
) -> dict[str, dict[str, str]]:
    """Summaries by system and cluster; those that the folder has already are not made again.

    A model given as a function is trained where it is used, when it is.
    """
    total = sum(len(task.clusters) for task in tasks)
    left = []
    for task in tasks:
        wanted = [[s for s in task.systems if (str(c.id), s) not in folder.done] for c in task.clusters]
        pairs = [(c, w) for c, w in zip(task.clusters, wanted, strict=True) if w]
        if pairs:
            left.append((task.key, [c for c, _ in pairs], [w for _, w in pairs]))
    done = total - sum(len(clusters) for _, clusters, _ in left)
    report(done, total)
    for clusters, found in _run(left, summarizers, budget, unit, check_jobs(jobs)):
        for cluster, summaries in zip(clusters, found, strict=True):
            folder.add(str(cluster.id), summaries)
        done += len(clusters)
        report(done, total)
    made: dict[str, dict[str, str]] = {s: {} for s in SYSTEMS if any(s in task.systems for task in tasks)}
    for task in tasks:
        for system in task.systems:
            made[system].update({str(c.id): folder.done[str(c.id), system] for c in task.clusters})
    return made


def _run(
    left: Sequence[tuple[str, list[Cluster], list[list[str]]]],
    summarizers: Mapping[str, Any],
    budget: float,
    unit: Unit,
    jobs: int,
) -> Iterator[tuple[list[Cluster], list[dict[str, str]]]]:
    if jobs == 1 or len(left) <= 1:
        _start(summarizers, budget, unit)
        for key, clusters, wanted in left:
            yield clusters, _summaries(key, clusters, wanted)
        return
    before = os.environ.get("OPENBLAS_NUM_THREADS")
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # the processes are the parallelism; read when a child starts
    pool = ProcessPoolExecutor(
        min(jobs, len(left)),
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_start,
        initargs=(summarizers, budget, unit),
    )
    others = set(multiprocessing.active_children())
    try:
        with deaf_children():
            futures = {pool.submit(_summaries, *task): task for task in left}
        for future in as_completed(futures):
            yield futures[future][1], future.result()
    except BaseException:  # Ctrl-C or an error: what the workers are at is of no use any more
        for worker in set(multiprocessing.active_children()) - others:
            worker.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
        if before is None:
            del os.environ["OPENBLAS_NUM_THREADS"]
        else:
            os.environ["OPENBLAS_NUM_THREADS"] = before


# Scores


@dataclass(frozen=True)
class Row:
    """A system's line of Table 2.

    Attributes
    ----------
    score : CorpusScore
    against_best : dict of str to PairedTest
        By metric, this system's F less that of the best system; empty for the best one itself.
    """

    name: str
    score: CorpusScore
    against_best: dict[str, PairedTest]

    def figures(self) -> dict[str, dict[str, float]]:
        """F, P and R of each metric, in percent."""
        return {
            metric: {key: round(100 * getattr(average, name).average, 3) for key, name in MEASURES.items()}
            for metric, average in self.score.averages.items()
        }

    def intervals(self) -> dict[str, dict[str, list[float]]]:
        """Their 95 % intervals, in percent."""
        return {
            metric: {
                key: [round(100 * bound, 3) for bound in getattr(average, name)[1:]] for key, name in MEASURES.items()
            }
            for metric, average in self.score.averages.items()
        }


MEASURES = {"f": "f", "p": "precision", "r": "recall"}


def score_table(
    summaries: Mapping[str, Mapping[str, str]], clusters: Sequence[Cluster], scoring: Scoring
) -> tuple[list[Row], str]:
    """A row for each system, and the name of the best in ROUGE-1 F; the oracle, which saw the references, is not."""
    references = {str(c.id): list(c.references) for c in clusters}
    scores = {}
    for name, texts in summaries.items():
        ours = {topic: texts[topic] for topic in references if topic in texts}
        if ours:
            scores[name] = scoring.score(name, ours, references)
    rivals = [name for name in scores if name != "oracle"] or list(scores)
    best = max(rivals, key=lambda name: scores[name].averages["rouge-1"].f.average)
    rows = []
    for name, score in scores.items():
        tests = {}
        if name != best and set(score.topics.values()) & set(scores[best].topics.values()):
            tests = {m: paired_bootstrap(score, scores[best], m, "f", shared=True) for m in METRICS}
        rows.append(Row(name, score, tests))
    return rows, best


def records(rows: Sequence[Row], best: str, settings: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """results.json as `{"systems": ..., "settings": ...}`, in percent, and the details: intervals, tests, topics."""
    results = {"systems": {row.name: row.figures() for row in rows}, "settings": dict(settings)}
    details: dict[str, Any] = {"best": best, "confidence": CONFIDENCE, "systems": {}}
    for row in rows:
        details["systems"][row.name] = {
            "clusters": len(set(row.score.topics.values())),
            "intervals": row.intervals(),
            "against_best": {
                metric: {
                    "difference": round(100 * test.difference, 3),
                    "interval": [round(100 * test.low, 3), round(100 * test.high, 3)],
                    "p": test.p_value,
                }
                for metric, test in row.against_best.items()
            },
            "rouge-1 f by cluster": {t: round(100 * x, 3) for t, x in row.score.by_topic("rouge-1", "f").items()},
        }
    return results, details
