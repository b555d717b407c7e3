"""Work on many pieces, here, in processes or on a Dask cluster: the same answers, and a lost worker costs only time."""

from __future__ import annotations

import multiprocessing
import os
import pickle  # between processes of our own: no file of another's is read by it
import tempfile
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from functools import lru_cache, partial
from typing import Any, TypeVar

from dpplearn._checks import check_choice, check_jobs
from dpplearn._run.blas import blas_threads
from dpplearn._run.cluster import cluster_client, import_distributed
from dpplearn._run.notice import notice
from dpplearn._run.signals import LOSSES, deaf_children, end_with_parent, lost_worker

BACKENDS = ("serial", "processes", "dask")
HEARD = 0.5  # seconds within which workers are heard to compile
Task = TypeVar("Task")
Answer = TypeVar("Answer")


class Workers(ABC):
    """Who does the work. Functions and tasks must pickle, and may be run twice where a worker is lost."""

    @abstractmethod
    def each(
        self, work: Callable[..., Answer], tasks: Iterable[Task], given: Any = None
    ) -> Iterator[tuple[Task, Answer]]:
        """The tasks with their answers, as they are done; tasks are made as they are needed.

        An answer is work(task), or work(task, given) with something that all have in common and that travels once.
        """


class Here(Workers):
    """This process, one task after the other."""

    def each(
        self, work: Callable[..., Answer], tasks: Iterable[Task], given: Any = None
    ) -> Iterator[tuple[Task, Answer]]:
        for task in tasks:
            yield task, alone(work, task, given)


def alone(work: Callable[..., Answer], task: Task, given: Any = None) -> Answer:
    """With one BLAS thread: the workers are the parallelism."""
    with blas_threads(0, one=True):
        return work(task) if given is None else work(task, given)


def alone_with(work: Callable[..., Answer], task: Task, path: str) -> Answer:
    """In a process: with what is in a file, read once."""
    return alone(work, task, from_file(path))


@lru_cache(maxsize=1)
def from_file(path: str) -> Any:
    """What the process that started this one wrote there."""
    with open(path, "rb") as file:
        return pickle.load(file)


def begin(compiling: Any) -> None:
    """In a worker: end with the parent, and leave it to the parent to say that loops are compiled."""
    end_with_parent()
    notice.tell = partial(setattr, compiling, "value", 1)


class Processes(Workers):
    """Processes of this machine; where one is lost, what they were at is begun again by others."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self.pool: ProcessPoolExecutor | None = None
        # set by a worker that compiles; without a lock, which a worker that is killed would keep
        self.compiling: Any = multiprocessing.get_context("spawn").RawValue("b", 0)

    def each(
        self, work: Callable[..., Answer], tasks: Iterable[Task], given: Any = None
    ) -> Iterator[tuple[Task, Answer]]:
        left, again, losses = iter(tasks), deque[Task](), Counter[int]()
        waiting: dict[Future[Answer], Task] = {}
        path = self._keep(given)
        call = partial(alone, work) if path is None else partial(alone_with, work, path=path)
        try:
            while True:
                broken = not self._fill(call, waiting, left, again)
                if not waiting and not again:
                    return
                patience = None if notice.said else HEARD
                done = wait(waiting, patience, FIRST_COMPLETED).done if waiting else set()
                if self.compiling.value:
                    notice.announce()
                for future in done:
                    task = waiting.pop(future)
                    try:
                        answer = future.result()
                    except BrokenProcessPool:
                        again.append(task)
                        broken = True
                        continue
                    losses.pop(id(task), None)
                    yield task, answer
                if broken:
                    again.extend(waiting.values())
                    waiting.clear()
                    self.close()
                    losses.update(map(id, again))
                    if max(losses.values(), default=0) > LOSSES:  # one of them may be what no worker survives
                        raise lost_worker(
                            "Fewer jobs need less. In a script, processes can only be started under "
                            "`if __name__ == '__main__':`."
                        )
        except BaseException:  # Ctrl-C or an error: what the workers are at is of no use any more
            self.close()
            raise
        finally:
            if path is not None:
                os.unlink(path)

    def _keep(self, given: Any) -> str | None:
        """A file with what all tasks have in common."""
        if given is None:
            return None
        handle, path = tempfile.mkstemp(prefix="dpplearn-")
        try:
            with os.fdopen(handle, "wb") as file:
                pickle.dump(given, file)
        except BaseException:  # a full disk, or what cannot be pickled
            os.unlink(path)
            raise
        return path

    def _fill(
        self,
        work: Callable[..., Answer],
        waiting: dict[Future[Answer], Task],
        left: Iterator[Task],
        again: deque[Task],
    ) -> bool:
        """Give every process a task and one to come; False if a process is gone."""
        if self.pool is None:
            context = multiprocessing.get_context("spawn")
            self.pool = ProcessPoolExecutor(
                self.jobs, mp_context=context, initializer=begin, initargs=(self.compiling,)
            )
        while len(waiting) < 2 * self.jobs:
            if not again:
                found = next(left, self)  # `self` is no task
                if found is self:
                    return True
                again.append(found)  # type: ignore[arg-type]  # a task: not `self`
            try:
                with deaf_children():
                    waiting[self.pool.submit(work, again[0])] = again[0]
            except BrokenProcessPool:
                return False
            again.popleft()
        return True

    def close(self) -> None:
        """End the processes, whatever they do."""
        if self.pool is not None:
            for process in list((self.pool._processes or {}).values()):
                process.terminate()
            self.pool.shutdown(cancel_futures=True)
            self.pool = None


class Cluster(Workers):
    """The workers of a Dask cluster, which runs again what a lost one was at."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def each(
        self, work: Callable[..., Answer], tasks: Iterable[Task], given: Any = None
    ) -> Iterator[tuple[Task, Answer]]:
        import asyncio
        from concurrent.futures import CancelledError

        dd = import_distributed()
        left, again, lost = iter(tasks), deque[Task](), 0
        waiting: dict[str, tuple[Any, Task]] = {}
        done: Any = dd.as_completed()
        shared = self._share(given)
        try:
            while True:
                room = 2 * max(sum(self.client.nthreads().values()), 1)
                while len(waiting) < room:
                    task = again.popleft() if again else next(left, self)
                    if task is self:
                        break
                    if shared is not None and shared.cancelled():  # a task of one that is forgotten may never end
                        shared = self._share(given)
                    future = self.client.submit(alone, work, task, shared, pure=False)
                    waiting[future.key] = future, task  # type: ignore[assignment]  # as above
                    done.add(future)
                if not waiting:
                    return
                future = next(done)
                _, task = waiting.pop(future.key)
                try:
                    answer = future.result()
                except dd.KilledWorker:
                    raise lost_worker("Every worker that was given this piece was lost.") from None
                except (CancelledError, asyncio.CancelledError):  # the scheduler was restarted, and forgot it
                    lost += 1
                    if lost > LOSSES * room or not self._back():
                        raise gone(self.client) from None
                    again.append(task)
                    continue
                lost = 0
                yield task, answer
        finally:
            with suppress(Exception):  # the scheduler may be gone
                self.client.cancel([future for future, _ in waiting.values()])

    def _share(self, given: Any) -> Any:
        """The answer of a task, never scattered: what a lost worker held is made again elsewhere."""
        return None if given is None else self.client.submit(same, given, pure=False)

    def _back(self) -> bool:
        """Whether the scheduler can be reached, and has a worker, within a minute."""
        try:
            self.client.wait_for_workers(1, timeout=60)
        except Exception:  # whatever a link that is closed says
            return False
        return True


def same(given: Any) -> Any:
    return given


def gone(client: Any) -> ConnectionError:
    """What to raise where a scheduler is lost."""
    address = getattr(client.scheduler, "address", "") if client.scheduler is not None else ""
    return ConnectionError(
        f"The Dask scheduler {address} cannot be reached any more, or has no worker. Start it again."
    )


@contextmanager
def open_workers(backend: Any = None, n_jobs: int | None = 1) -> Iterator[Workers]:
    """The workers that a name, a distributed.Client or `n_jobs` asks for; they end with the block.

    Examples
    --------
    >>> with open_workers() as workers:
    ...     list(workers.each(abs, [-2, 1]))
    [(-2, 2), (1, 1)]
    """
    jobs = check_jobs(n_jobs)
    if backend is None:
        backend = "serial" if jobs == 1 else "processes"
    if isinstance(backend, str):
        check_choice(backend, "backend", BACKENDS)
    if backend == "serial":
        yield Here()
    elif backend == "processes":
        pool = Processes(jobs)
        try:
            yield pool
        finally:
            pool.close()
    else:
        with cluster_client(None if backend == "dask" else backend, None if n_jobs == 1 else n_jobs) as client:
            yield Cluster(client)
