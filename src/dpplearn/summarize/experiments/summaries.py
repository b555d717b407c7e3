"""Summaries of a corpus by every system, cluster by cluster, in parallel; what a folder of results has is kept."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import Any, NamedTuple

from dpplearn._checks import check_jobs
from dpplearn._run.blas import blas_threads
from dpplearn._run.progress import Progress, as_progress
from dpplearn._run.signals import deaf_children, end_with_parent, lost_worker
from dpplearn.summarize.corpora.cluster import Cluster
from dpplearn.summarize.experiments.results_folder import ResultsFolder
from dpplearn.summarize.experiments.systems import SYSTEMS, Models, summary_of
from dpplearn.summarize.model.split_cluster import kept_splits
from dpplearn.summarize.text.units import Unit

Asked = list[tuple[Cluster, list[str]]]  # clusters, and the systems that are to summarize each
_work: dict[str, Any] = {}  # what a worker process was given once


def _start(models: Mapping[str, Any], budget: float, unit: Unit) -> None:
    _work.update(models=models, length=(budget, unit), trained={})


def _start_worker(*given: Any) -> None:
    end_with_parent()
    _start(*given)
    _work["splits"] = kept_splits()
    _work["splits"].__enter__()  # as long as the process lasts


def _summaries(key: str, asked: Asked) -> list[dict[str, str]]:
    """Summaries of clusters by the models called `key`, which are trained here first if they are still a recipe."""
    with blas_threads(0):  # the processes are the parallelism
        if key not in _work["trained"]:
            given = _work["models"][key]
            _work["trained"] = {key: given() if callable(given) else given}
        models: Models = _work["trained"][key]
        read = ((models.summarizer.features_.read(cluster), systems) for cluster, systems in asked)
        return [{name: summary_of(name, models, one, *_work["length"]) for name in systems} for one, systems in read]


class Task(NamedTuple):
    """Clusters to be summarized by the models that `key` names, under some systems."""

    key: str
    clusters: Sequence[Cluster]
    systems: Sequence[str]


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
    left: list[tuple[str, Asked]] = []
    for key, clusters, systems in tasks:
        wanted = [(c, [s for s in systems if (str(c.id), s) not in folder.done]) for c in clusters]
        left.append((key, [(cluster, names) for cluster, names in wanted if names]))
    total = sum(len(task.clusters) for task in tasks)
    done = total - sum(len(asked) for _, asked in left)
    show = as_progress(progress)
    show.stage("Summarizing", done, total)
    try:
        for asked, found in _run([one for one in left if one[1]], (models, budget, unit), check_jobs(jobs)):
            for (cluster, _), summaries in zip(asked, found, strict=True):
                folder.add(str(cluster.id), summaries)
            done += len(asked)
            show.stage("Summarizing", done, total)
    except BrokenProcessPool:
        kept = "" if folder.path is None else f" {folder.path} keeps what is done: run again with it to go on."
        raise lost_worker(f"Fewer jobs need less.{kept}") from None
    return {
        system: {
            str(c.id): folder.done[str(c.id), system] for task in tasks if system in task.systems for c in task.clusters
        }
        for system in SYSTEMS
        if any(system in task.systems for task in tasks)
    }


def _run(left: list[tuple[str, Asked]], given: tuple[Any, ...], jobs: int) -> Iterator[tuple[Asked, Any]]:
    if jobs == 1 or len(left) <= 1:
        _start(*given)
        for key, asked in left:
            yield asked, _summaries(key, asked)
        return
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(min(jobs, len(left)), mp_context=context, initializer=_start_worker, initargs=given)
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
