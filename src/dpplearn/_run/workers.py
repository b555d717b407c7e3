"""Work on many pieces here, in processes or on a Dask cluster: the same answers, and a lost worker costs only time."""

from __future__ import annotations

import asyncio
import os
import signal
import tempfile
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, wait
from contextlib import contextmanager, suppress
from importlib import import_module
from logging import CRITICAL
from multiprocessing import resource_tracker
from pathlib import Path
from threading import Thread
from time import sleep
from typing import Any, TypeAlias, TypeVar

from dpplearn._checks import check_jobs
from dpplearn._run.blas import IN_CHILD, one_thread
from dpplearn._run.notice import notice

HEARD = 0.5  # seconds after which we notice that a worker compiles
LOSSES = 3  # times that a task may lose its worker; once more is no accident
Task = TypeVar("Task")
Answer = TypeVar("Answer")


@contextmanager
def block_sigint() -> Iterator[None]:
    """Processes started in this block never see Ctrl-C; this process sees it, at the latest after the block.

    A child inherits the signals that its parent's thread blocks. A handler set by the child would come too late: its
    imports take seconds, and each process would print a traceback.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    from joblib.externals.loky.backend import resource_tracker as of_joblib

    for tracker in (resource_tracker, of_joblib):  # they start with the first process, and would unblock the signal
        tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def lost_worker(advice: str) -> ChildProcessError:
    """An OSError, which commands print as one line."""
    return ChildProcessError(f"A worker process ended early, perhaps killed for want of memory. {advice}")


def do(work: Callable[..., Answer], task: Task, given: Any = None) -> Answer:
    """One task on one thread: the workers are the parallelism."""
    with one_thread():
        return work(task) if given is None else work(task, given)


class ThisProcess:
    """One task after the other, here."""

    def each(
        self, work: Callable[..., Answer], tasks: Iterable[Task], given: Any = None
    ) -> Iterator[tuple[Task, Answer]]:
        """As `Pool.each`."""
        return ((task, do(work, task, given)) for task in tasks)


class Pool(ABC):
    """Several workers, who are given a few tasks ahead."""

    def each(
        self, work: Callable[..., Answer], tasks: Iterable[Task], given: Any = None
    ) -> Iterator[tuple[Task, Answer]]:
        """The tasks with their answers, as they are done.

        An answer is work(task), or work(task, given) with something that all tasks share and that travels once.
        Functions and tasks must pickle; a task whose worker is lost is done again.
        """
        left, again = ((task, 0) for task in tasks), deque[tuple[Task, int]]()  # with how many workers each has lost
        waiting: dict[Any, tuple[Task, int]] = {}
        self.share(given)
        try:
            while True:
                while len(waiting) < 2 * self.size() and (one := again.popleft() if again else next(left, None)):
                    waiting[self.submit(work, one[0])] = one
                if not waiting:
                    return
                for future in self.done(waiting):
                    task, losses = waiting.pop(future)
                    try:
                        answer = future.result()
                    except (Exception, asyncio.CancelledError) as error:
                        if not self.is_lost(error):
                            raise
                        if losses == LOSSES:  # perhaps no worker survives this task
                            raise lost_worker("Fewer jobs need less.") from None
                        again.append((task, losses + 1))
                    else:
                        yield task, answer
        except BaseException:  # Ctrl-C or an error: nobody needs what the workers do now
            self.stop()
            raise

    @abstractmethod
    def size(self) -> int:
        """How many workers there are."""

    @abstractmethod
    def share(self, given: Any) -> None:
        """Give every worker what the tasks share."""

    @abstractmethod
    def submit(self, work: Callable[..., Answer], task: Any) -> Any:
        """The future of an answer."""

    @abstractmethod
    def done(self, waiting: Iterable[Any]) -> Iterable[Any]:
        """Wait until some of these futures are done; which."""

    @abstractmethod
    def is_lost(self, error: BaseException) -> bool:
        """Whether a task failed because its worker was lost, and not by its own fault."""

    @abstractmethod
    def stop(self) -> None:
        """End what the workers do now."""


class Processes(Pool):
    """Processes of this machine. They never see Ctrl-C, and end with the process that started them.

    Functions of a user's script need no `if __name__ == "__main__":`, since joblib pickles them by value.
    """

    def __init__(self, n_jobs: int) -> None:
        self.jobs, self.given = n_jobs, None
        self.folder = tempfile.TemporaryDirectory(prefix="dpplearn-")
        self.compiling = Path(self.folder.name, "compiling")  # made by a process that compiles
        self._start()

    def _start(self) -> None:
        from joblib.externals.loky import ProcessPoolExecutor

        begin = (os.getpid(), self.compiling, self.given)
        self.pool: Any = ProcessPoolExecutor(self.jobs, initializer=_begin, initargs=begin, timeout=None, env=IN_CHILD)

    def size(self) -> int:
        return self.jobs

    def share(self, given: Any) -> None:
        """Processes receive it as they start, so another `given` takes new ones."""
        if given is not self.given:
            self.stop()
            self.given = given
            self._start()

    def submit(self, work: Callable[..., Answer], task: Any) -> Any:
        """The future of an answer; it fails if a process is lost (`is_lost`), and the next call starts new ones."""
        with block_sigint():  # the first call starts the processes
            try:
                return self.pool.submit(_do_given, work, task)
            except RuntimeError:  # a process was lost, or all were stopped
                self._start()
                return self.pool.submit(_do_given, work, task)

    def done(self, waiting: Iterable[Any]) -> Iterable[Any]:
        found = wait(waiting, None if notice.said else HEARD, FIRST_COMPLETED).done
        if self.compiling.exists():
            notice.announce()
        return found

    def is_lost(self, error: BaseException) -> bool:
        """Whether a call failed because its process ended, and not because it could not be unpickled there."""
        from joblib.externals.loky.process_executor import TerminatedWorkerError

        return isinstance(error, TerminatedWorkerError)

    def stop(self) -> None:
        """End the processes, and whatever they have started; joblib needs psutil for it."""
        self.pool.shutdown(kill_workers=True)

    def close(self) -> None:
        """End the processes for good."""
        self.stop()
        self.folder.cleanup()


_given: Any = None  # what tasks share, in a process of `Processes`


def _begin(parent: int, compiling: Path, given: Any) -> None:
    """In a process: keep what tasks share, and let the parent say that loops are compiled."""
    global _given
    from joblib.externals.loky import process_executor

    process_executor._USE_PSUTIL = False  # else joblib ends a process that has grown by 300 MB, and its data is lost
    Thread(target=_end_with, args=(parent,), daemon=True).start()
    _given, notice.tell = given, compiling.touch


def _end_with(parent: int) -> None:
    """End soon after the parent has gone, however it ended."""
    while os.getppid() == parent:
        sleep(0.2)
    os._exit(1)


def _do_given(work: Callable[..., Answer], task: Task) -> Answer:
    return do(work, task, _given)


class Cluster(Pool):
    """The workers of a Dask cluster, which by itself repeats the tasks of a lost worker."""

    def __init__(self, client: Any) -> None:
        self.client, self.dask = client, import_distributed()

    def size(self) -> int:
        return max(sum(self.client.nthreads().values()), 1)

    def share(self, given: Any) -> None:
        self.given, self.completed = given, self.dask.as_completed()
        self.waiting = list[Any]()
        self.shared: Any = None

    def submit(self, work: Callable[..., Answer], task: Any) -> Any:
        """What tasks share is itself the answer of a task: where a worker is lost, Dask makes it again."""
        if self.given is not None and (self.shared is None or self.shared.cancelled()):
            self.shared = self.client.submit(same, self.given, pure=False)
        future = self.client.submit(do, work, task, self.shared, pure=False)
        self.completed.add(future)
        self.waiting.append(future)
        return future

    def done(self, waiting: Iterable[Any]) -> Iterable[Any]:  # noqa: ARG002  # Dask's own queue knows them
        """By Dask's own queue: its executor (`client.get_executor`) never hears of a scheduler that was restarted."""
        future = next(self.completed)
        self.waiting.remove(future)
        return [future]

    def is_lost(self, error: BaseException) -> bool:
        """Whether the scheduler was restarted, and forgot the task; an error if it is gone for good."""
        if isinstance(error, self.dask.KilledWorker):
            raise lost_worker("Every worker that was given this piece was lost.") from None
        if not isinstance(error, CancelledError | asyncio.CancelledError):
            return False
        try:
            self.client.wait_for_workers(1, timeout=60)
        except Exception:  # a closed connection raises many kinds
            where = getattr(self.client.scheduler, "address", "")
            raise ConnectionError(
                f"The Dask scheduler {where} cannot be reached any more, or has no worker. Start it again."
            ) from None
        return True

    def stop(self) -> None:
        with suppress(Exception):  # the scheduler may be gone
            self.client.cancel(self.waiting)


def same(given: Any) -> Any:
    return given


Workers: TypeAlias = ThisProcess | Processes | Cluster


@contextmanager
def open_workers(backend: Any = None, n_jobs: int | None = 1) -> Iterator[Workers]:
    """The workers for `n_jobs`, "dask" or a distributed.Client; they end with the block.

    Examples
    --------
    >>> with open_workers() as workers:
    ...     list(workers.each(abs, [-2, 1]))
    [(-2, 2), (1, 1)]
    """
    jobs = check_jobs(n_jobs)
    if check_backend(backend) is not None:
        with cluster_client(backend, None if n_jobs == 1 else n_jobs) as client:
            yield Cluster(client)
    elif jobs == 1:
        yield ThisProcess()
    else:
        pool = Processes(jobs)
        try:
            yield pool
        finally:
            pool.close()


def check_backend(backend: Any) -> Any:
    """None for this machine, or "dask", or a distributed.Client."""
    if backend is None or (isinstance(backend, str) and backend == "dask"):
        return backend
    if hasattr(backend, "map") and hasattr(backend, "scheduler_info"):
        return backend
    raise TypeError(
        f'backend must be None, "dask" or a distributed.Client, found {backend!r:.60}. On this machine n_jobs says how '
        "many processes work."
    )


@contextmanager
def cluster_client(backend: Any, n_jobs: int | None) -> Iterator[Any]:
    """The client given; else the current one, or that of a new local cluster, which ends with the block."""
    if backend is not None and backend != "dask":
        yield backend
        return
    dd = import_distributed()
    try:
        current = dd.get_client()
    except ValueError:
        current = None
    if current is not None:
        yield current
        return
    with block_sigint():  # interrupted here, distributed would print its own tracebacks
        jobs = check_jobs(n_jobs)
        try:
            cluster = dd.LocalCluster(
                n_workers=jobs, threads_per_worker=1, dashboard_address=None, silence_logs=CRITICAL
            )
        except RuntimeError as error:
            raise RuntimeError(
                "a local Dask cluster could not be started. Its processes import the script that starts them: put what "
                'the script does under `if __name__ == "__main__":`. Or begin with a client of threads, '
                "`distributed.Client(processes=False)`."
            ) from error
        own = dd.Client(cluster)
    try:
        yield own
    finally:
        own.close()
        cluster.close()


@contextmanager
def scheduler_client(address: str | None) -> Iterator[Any]:
    """A client of the cluster at an address, closed after the block; None without an address."""
    if address is None:
        yield None
        return
    dd = import_distributed()
    try:
        client = dd.Client(address, timeout=20)
    except (OSError, ValueError) as error:
        raise ConnectionError(
            f"There must be a Dask scheduler at {address}, but it cannot be reached: {error}. Start one with "
            "`dask scheduler`, or leave --scheduler out to work on this machine."
        ) from None
    with client:
        yield client


def import_distributed() -> Any:
    try:
        return import_module("distributed")
    except ImportError:
        raise ImportError('backend="dask" needs the package distributed: pip install "dpplearn[dask]".') from None
