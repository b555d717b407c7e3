"""Work on many pieces, here, in processes or on a Dask cluster: the same answers, and a lost worker costs only time."""

from __future__ import annotations

import pickle  # between processes of our own: no file of another's is read by it
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol, TypeVar

from dpplearn._checks import check_jobs
from dpplearn._run.blas import one_thread
from dpplearn._run.cluster import check_backend, cluster_client, gone, import_distributed
from dpplearn._run.notice import notice
from dpplearn._run.processes import LOSSES, Executor, is_lost, lost_worker

HEARD = 0.5  # seconds within which workers are heard to compile
Task = TypeVar("Task")
Answer = TypeVar("Answer")


class Workers(Protocol):
    """Who does the work. Functions and tasks must pickle, and may be run twice where a worker is lost."""

    def each(
        self, work: Callable[..., Answer], tasks: Iterable[Task], given: Any = None
    ) -> Iterator[tuple[Task, Answer]]:
        """The tasks with their answers, as they are done; tasks are made as they are needed.

        An answer is work(task), or work(task, given) with something that all have in common and that travels once.
        """


class Here:
    """This process, one task after the other."""

    def each(
        self, work: Callable[..., Answer], tasks: Iterable[Task], given: Any = None
    ) -> Iterator[tuple[Task, Answer]]:
        for task in tasks:
            yield task, do(work, task, given)


def do(work: Callable[..., Answer], task: Task, given: Any = None) -> Answer:
    """On one thread: the workers are the parallelism."""
    with one_thread():
        return work(task) if given is None else work(task, given)


class Processes:
    """Processes of this machine; where one is lost, what they were at is begun again by others."""

    def __init__(self, n_jobs: int) -> None:
        self.n_jobs = n_jobs
        self.folder = tempfile.TemporaryDirectory(prefix="dpplearn-")  # for what workers and this process share
        self.compiling = Path(self.folder.name, "compiling")
        self.executor = self._start()

    def _start(self) -> Executor:
        return Executor(self.n_jobs, _tell_by_file, (self.compiling,))

    def each(
        self, work: Callable[..., Answer], tasks: Iterable[Task], given: Any = None
    ) -> Iterator[tuple[Task, Answer]]:
        left, again = ((task, 0) for task in tasks), deque[tuple[Task, int]]()  # with the workers that each has lost
        waiting: dict[Future[Answer], tuple[Task, int]] = {}
        path = None
        try:
            if given is not None:
                path = Path(self.folder.name, "given")
                path.write_bytes(pickle.dumps(given))
            while True:
                while len(waiting) < 2 * self.n_jobs and (one := again.popleft() if again else next(left, None)):
                    waiting[self._submit(do_with, work, one[0], path)] = one
                if not waiting:
                    return
                for future in wait(waiting, None if notice.said else HEARD, FIRST_COMPLETED).done:
                    task, losses = waiting.pop(future)
                    try:
                        answer = future.result()
                    except BrokenProcessPool as error:
                        if not is_lost(error):
                            raise
                        if losses == LOSSES:  # it may be what no worker survives
                            raise lost_worker("Fewer jobs need less.") from None
                        again.append((task, losses + 1))
                    else:
                        yield task, answer
                if self.compiling.exists():
                    notice.announce()
        except BaseException:  # Ctrl-C or an error: what the workers are at is of no use any more
            self.executor.close()
            raise
        finally:
            if path is not None:
                path.unlink(missing_ok=True)

    def _submit(self, *call: Any) -> Future[Any]:
        try:
            future: Future[Any] = self.executor.submit(*call)
        except RuntimeError:  # a process was lost, or the executor was closed
            self.executor = self._start()
            future = self.executor.submit(*call)
        return future

    def close(self) -> None:
        """End the processes, whatever they do."""
        self.executor.close()
        self.folder.cleanup()


def _tell_by_file(path: Path) -> None:
    """In a worker: leave it to the parent to say that loops are compiled."""
    notice.tell = path.touch


def do_with(work: Callable[..., Answer], task: Task, path: Path | None) -> Answer:
    """In a worker: with what is in a file, read once."""
    return do(work, task, None if path is None else from_file(path, path.stat().st_mtime_ns))


@lru_cache(maxsize=1)
def from_file(path: Path, _: int) -> Any:
    """What the process that started this one wrote there."""
    return pickle.loads(path.read_bytes())


class Cluster:
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
                    if task is self:  # no task is left
                        break
                    if shared is not None and shared.cancelled():  # a task of one that is forgotten may never end
                        shared = self._share(given)
                    future = self.client.submit(do, work, task, shared, pure=False)
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


@contextmanager
def open_workers(backend: Any = None, n_jobs: int | None = 1) -> Iterator[Workers]:
    """The workers that `n_jobs`, or "dask" or a distributed.Client, ask for; they end with the block.

    Examples
    --------
    >>> with open_workers() as workers:
    ...     list(workers.each(abs, [-2, 1]))
    [(-2, 2), (1, 1)]
    """
    jobs = check_jobs(n_jobs)
    if check_backend(backend) is not None:
        with cluster_client(None if backend == "dask" else backend, n_jobs) as client:
            yield Cluster(client)
    elif jobs == 1:
        yield Here()
    else:
        pool = Processes(jobs)
        try:
            yield pool
        finally:
            pool.close()
