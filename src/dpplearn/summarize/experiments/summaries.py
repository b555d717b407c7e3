"""Summaries of a corpus by every system, cluster by cluster, in parallel; what a folder of results has is kept."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any

from dpplearn._checks import check_jobs
from dpplearn._run.progress import Progress, as_progress
from dpplearn._run.signals import deaf_children, end_with_parent, lost_worker
from dpplearn.summarize.corpora.cluster import Cluster
from dpplearn.summarize.experiments.results_folder import ResultsFolder
from dpplearn.summarize.experiments.systems import SYSTEMS, Models, summary_of
from dpplearn.summarize.text.units import Unit

_work: dict[str, Any] = {}  # what a worker process was given once


def _start(models: Mapping[str, Any], budget: float, unit: Unit) -> None:
    _work.update(models=models, budget=budget, unit=unit, trained={})


def _start_worker(*given: Any) -> None:
    end_with_parent()
    _start(*given)


def _summaries(key: str, clusters: Sequence[Cluster], wanted: Sequence[Sequence[str]]) -> list[dict[str, str]]:
    """Summaries of clusters by the models called `key`, which are trained here first if they are still a recipe."""
    if key not in _work["trained"]:
        given = _work["models"][key]
        _work["trained"] = {key: given() if callable(given) else given}
    models: Models = _work["trained"][key]
    out = []
    for cluster, systems in zip(clusters, wanted, strict=True):
        read = models.summarizer.features_.read(cluster)
        out.append({name: summary_of(name, models, read, _work["budget"], _work["unit"]) for name in systems})
    return out


@dataclass(frozen=True)
class Task:
    """Clusters to be summarized by the models that `key` names, under some systems."""

    key: str
    clusters: tuple[Cluster, ...]
    systems: tuple[str, ...]


def make_summaries(
    models: Mapping[str, Models | Callable[[], Models]],
    tasks: Sequence[Task],
    budget: float,
    unit: Unit,
    folder: ResultsFolder,
    *,
    jobs: int | None = 1,
    progress: bool | Progress = False,
) -> dict[str, dict[str, str]]:
    """Summaries by system and cluster; those that the folder has already are not made again.

    Models given as a function are trained where they are used, when they are.
    """
    total = sum(len(task.clusters) for task in tasks)
    left = []
    for task in tasks:
        wanted = [[s for s in task.systems if (str(c.id), s) not in folder.done] for c in task.clusters]
        pairs = [(c, w) for c, w in zip(task.clusters, wanted, strict=True) if w]
        if pairs:
            left.append((task.key, [c for c, _ in pairs], [w for _, w in pairs]))
    done = total - sum(len(clusters) for _, clusters, _ in left)
    show = as_progress(progress)
    show.stage("Summarizing", done, total)
    try:
        for clusters, found in _run(left, models, budget, unit, check_jobs(jobs)):
            for cluster, summaries in zip(clusters, found, strict=True):
                folder.add(str(cluster.id), summaries)
            done += len(clusters)
            show.stage("Summarizing", done, total)
    except BrokenProcessPool:
        kept = "" if folder.path is None else f" {folder.path} keeps what is done: run again with it to go on."
        raise lost_worker(f"Fewer jobs need less.{kept}") from None
    made: dict[str, dict[str, str]] = {s: {} for s in SYSTEMS if any(s in task.systems for task in tasks)}
    for task in tasks:
        for system in task.systems:
            made[system].update({str(c.id): folder.done[str(c.id), system] for c in task.clusters})
    return made


def _run(
    left: Sequence[tuple[str, list[Cluster], list[list[str]]]],
    models: Mapping[str, Any],
    budget: float,
    unit: Unit,
    jobs: int,
) -> Iterator[tuple[list[Cluster], list[dict[str, str]]]]:
    if jobs == 1 or len(left) <= 1:
        _start(models, budget, unit)
        for key, clusters, wanted in left:
            yield clusters, _summaries(key, clusters, wanted)
        return
    before = os.environ.get("OPENBLAS_NUM_THREADS")
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # the processes are the parallelism; read when a child starts
    pool = ProcessPoolExecutor(
        min(jobs, len(left)),
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_start_worker,
        initargs=(models, budget, unit),
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
