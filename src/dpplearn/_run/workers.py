"""Runs many tasks here, in processes or on a Dask cluster, with the same answers; a lost worker costs only time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from logging import CRITICAL
from typing import Any

from dpplearn._checks import check_jobs
from dpplearn._run.processes import Answer, Processes, Task, block_sigint, do, lost_worker


@dataclass(frozen=True)
class Workers:
    """The workers of a Dask cluster if there is a client; otherwise `n_jobs` processes, or this process for one job."""

    n_jobs: int = 1
    client: Any = None

    def each(
        self, work: Callable[..., Answer], tasks: Iterable[Task], given: Any = None
    ) -> Iterator[tuple[Task, Answer]]:
        """The tasks with their answers, in the order in which they finish; a few tasks are started ahead.

        An answer is work(task), or work(task, given), where `given` is shared by all tasks and sent once. Functions and
        tasks must pickle; a task whose worker is lost is done again.
        """
        if self.client is not None:
            yield from each_on_cluster(self.client, work, tasks, given)
        elif self.n_jobs == 1:
            yield from ((task, do(work, task, given)) for task in tasks)
        else:
            with closing(Processes(self.n_jobs, given)) as processes:
                yield from processes.each(work, tasks)


def each_on_cluster(
    client: Any, work: Callable[..., Answer], tasks: Iterable[Task], given: Any
) -> Iterator[tuple[Task, Answer]]:
    """As `Workers.each`; Dask itself repeats the tasks of a lost worker, and sends what they share again."""
    dd = import_distributed()
    left, waiting, completed = iter(tasks), dict[Any, Task](), dd.as_completed()
    shared = None if given is None else client.submit(lambda shared: shared, given, pure=False)

    def submit(count: int) -> None:
        for task in islice(left, count):
            future = client.submit(do, work, task, shared, pure=False)
            waiting[future] = task
            completed.add(future)

    try:
        submit(2 * max(sum(client.nthreads().values()), 1))
        for future in completed:
            yield waiting.pop(future), future.result()
            submit(1)
    except dd.KilledWorker:
        raise lost_worker("Every worker that received this task was lost.") from None
    except (CancelledError, asyncio.CancelledError):
        where = getattr(client.scheduler, "address", "")
        raise ConnectionError(f"The Dask scheduler {where} was lost or started again. Run this again.") from None
    finally:
        with suppress(Exception):  # the scheduler may be gone
            client.cancel(list(waiting))


@contextmanager
def open_workers(backend: Any = None, n_jobs: int | None = 1) -> Iterator[Workers]:
    """The workers for `n_jobs`, or for a backend "dask" or distributed.Client; they end with the block."""
    if backend is None:
        yield Workers(check_jobs(n_jobs))
    else:
        with cluster_client(backend, None if n_jobs == 1 else n_jobs) as client:
            yield Workers(client=client)


@contextmanager
def cluster_client(backend: Any, n_jobs: int | None) -> Iterator[Any]:
    """The client of this backend: a given or the current one, or that of a local cluster, which ends with the block."""
    if hasattr(backend, "scheduler_info"):
        yield backend
        return
    if backend is not None and not (isinstance(backend, str) and backend == "dask"):
        raise TypeError(
            f'backend must be None, "dask" or a distributed.Client, found {backend!r:.60}. For processes on this '
            "machine, pass only n_jobs."
        )
    dd = import_distributed()
    current = None
    with suppress(ValueError):  # there is no current client
        current = dd.get_client()
    if current is not None:
        yield current
        return
    with block_sigint():  # on Ctrl-C distributed would print its own tracebacks
        jobs = check_jobs(n_jobs)
        try:
            # Any free port, on this machine alone: None would take 8787 on all interfaces, and warn where it is taken.
            cluster = dd.LocalCluster(
                n_workers=jobs, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=CRITICAL
            )
        except RuntimeError as error:
            raise RuntimeError(
                "A local Dask cluster could not be started. Its processes import the script that starts them, so put "
                'its work under `if __name__ == "__main__":`.'
            ) from error
        own = dd.Client(cluster)
    with cluster, own:
        yield own


def import_distributed() -> Any:
    try:
        return import_module("distributed")
    except ImportError:
        raise ImportError('backend="dask" needs the package distributed: pip install "dpplearn[dask]".') from None
