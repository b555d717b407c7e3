"""Work on many pieces, here, in processes or on a Dask cluster: the same answers, and a lost worker costs only time."""

from __future__ import annotations

import os
import signal
import tempfile
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
from dpplearn._run.blas import one_thread
from dpplearn._run.notice import notice

HEARD = 0.5  # seconds within which workers are heard to compile
LOSSES = 3  # times that the same work may lose its worker: once more is no accident
_ENV = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
Task = TypeVar("Task")
Answer = TypeVar("Answer")


@contextmanager
def block_sigint() -> Iterator[None]:
    """Processes started here never see Ctrl-C, from their first instruction on; this one sees it at once or afterwards.

    A signal that this thread blocks stays blocked in what it starts meanwhile. A handler set by the child would come
    too late: its imports take seconds, and each process would print a traceback.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    from joblib.externals.loky.backend import resource_tracker as of_joblib

    for tracker in (resource_tracker, of_joblib):  # started with the first process, they would unblock the signal
        tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def lost_worker(advice: str) -> ChildProcessError:
    """An OSError, which commands print as a line."""
    return ChildProcessError(f"A worker process ended early, perhaps killed for want of memory. {advice}")


class Here:
    """This process, one task after the other."""

    def each(
        self, work: Callable[..., Answer], tasks: Iterable[Task], given: Any = None
    ) -> Iterator[tuple[Task, Answer]]:
        """As `hand_out`."""
        return ((task, do(work, task, given)) for task in tasks)


def do(work: Callable[..., Answer], task: Task, given: Any = None) -> Answer:
    """On one thread: the workers are the parallelism."""
    with one_thread():
        return work(task) if given is None else work(task, given)


def hand_out(
    pool: Any, work: Callable[..., Answer], tasks: Iterable[Task], given: Any = None
) -> Iterator[tuple[Task, Answer]]:
    """The tasks with their answers, as they are done, from a pool that is given a few tasks ahead.

    An answer is work(task), or work(task, given) with something that all have in common and that travels once.
    Functions and tasks must pickle; what a lost worker was at is begun again.
    """
    left, again = ((task, 0) for task in tasks), deque[tuple[Task, int]]()  # with the workers that each has lost
    waiting: dict[Any, tuple[Task, int]] = {}
    pool.share(given)
    try:
        while True:
            while len(waiting) < 2 * pool.size and (one := again.popleft() if again else next(left, None)):
                waiting[pool.submit(work, one[0])] = one
            if not waiting:
                return
            for future in pool.done(waiting):
                task, losses = waiting.pop(future)
                try:
                    answer = future.result()
                except Exception as error:
                    if not pool.is_lost(error):
                        raise
                    if losses == LOSSES:  # it may be what no worker survives
                        raise lost_worker("Fewer jobs need less.") from None
                    again.append((task, losses + 1))
                else:
                    yield task, answer
    except BaseException:  # Ctrl-C or an error: what the workers are at is of no use any more
        pool.stop()
        raise


class Processes:
    """Processes of this machine. They never see Ctrl-C, and end with the process that started them.

    Functions of a user's script need no `if __name__ == "__main__":`, since joblib pickles them by value.

    Parameters
    ----------
    n_jobs : int
    given : object
        What all tasks have in common: each process has it from the beginning.
    """

    each = hand_out

    def __init__(self, n_jobs: int, given: Any = None) -> None:
        self.size, self.given = n_jobs, given
        self.folder = tempfile.TemporaryDirectory(prefix="dpplearn-")
        self.compiling = Path(self.folder.name, "compiling")  # made by a process that compiles
        self._start()

    def _start(self) -> None:
        from joblib.externals.loky import ProcessPoolExecutor

        begin = (os.getpid(), self.compiling, self.given)
        self.pool: Any = ProcessPoolExecutor(self.size, initializer=_begin, initargs=begin, timeout=None, env=_ENV)

    def share(self, given: Any) -> None:
        if given is not self.given:
            self.stop()
            self.given = given
            self._start()

    def submit(self, work: Callable[..., Answer], task: Any) -> Any:
        """The future of an answer; it fails once a process is lost (`is_lost`), and the next call has new ones."""
        with block_sigint():  # the first call starts the processes
            try:
                return self.pool.submit(_do_given, work, task)
            except RuntimeError:  # a process was lost, or all were ended
                self._start()
                return self.pool.submit(_do_given, work, task)

    def done(self, waiting: Iterable[Any]) -> Iterable[Any]:
        found = wait(waiting, None if notice.said else HEARD, FIRST_COMPLETED).done
        if self.compiling.exists():
            notice.announce()
        return found

    @staticmethod
    def is_lost(error: BaseException) -> bool:
        """Whether a call failed because its process ended, and not because it could not be read there."""
        from joblib.externals.loky.process_executor import TerminatedWorkerError

        return isinstance(error, TerminatedWorkerError)

    def stop(self) -> None:
        """End the processes, and what they have started, whatever they do; joblib needs psutil for it."""
        self.pool.shutdown(kill_workers=True)

    def close(self) -> None:
        """End the processes for good."""
        self.stop()
        self.folder.cleanup()


_given: Any = None  # in a process of `Processes`


def _begin(parent: int, compiling: Path, given: Any) -> None:
    """In a process: keep what is given, and leave it to the parent to say that loops are compiled."""
    global _given
    from joblib.externals.loky import process_executor

    process_executor._USE_PSUTIL = False  # else a process ends that comes to hold 300 MB more, and with it its data
    Thread(target=_end_with, args=(parent,), daemon=True).start()
    _given, notice.tell = given, compiling.touch


def _end_with(parent: int) -> None:
    """End at once when the parent is gone, however it was ended."""
    while os.getppid() == parent:
        sleep(0.2)
    os._exit(1)


def _do_given(work: Callable[..., Answer], task: Task) -> Answer:
    return do(work, task, _given)


class Cluster:
    """The workers of a Dask cluster, which itself does again what a lost worker was at."""

    each = hand_out

    def __init__(self, client: Any) -> None:
        self.client, self.dask = client, import_distributed()

    @property
    def size(self) -> int:
        return max(sum(self.client.nthreads().values()), 1)

    def share(self, given: Any) -> None:
        self.given, self.pool = given, self.client.get_executor(pure=False)
        self.shared: Any = None

    def submit(self, work: Callable[..., Answer], task: Any) -> Any:
        """What tasks share is the answer of a task, never scattered: it is made again where a worker is lost."""
        if self.given is not None and (self.shared is None or self.shared.cancelled()):
            self.shared = self.client.submit(same, self.given, pure=False)
        return self.pool.submit(do, work, task, self.shared)

    def done(self, waiting: Iterable[Any]) -> Iterable[Any]:
        return wait(waiting, return_when=FIRST_COMPLETED).done

    def is_lost(self, error: BaseException) -> bool:
        """Whether the scheduler was restarted, and forgot the task; where it is gone, that is an error."""
        if isinstance(error, self.dask.KilledWorker):
            raise lost_worker("Every worker that was given this piece was lost.") from None
        if not isinstance(error, CancelledError):
            return False
        try:
            self.client.wait_for_workers(1, timeout=60)
        except Exception:  # whatever a link that is closed says
            where = getattr(self.client.scheduler, "address", "")
            raise ConnectionError(
                f"The Dask scheduler {where} cannot be reached any more, or has no worker. Start it again."
            ) from None
        return True

    def stop(self) -> None:
        with suppress(Exception):  # the scheduler may be gone
            self.pool.shutdown(wait=False)


def same(given: Any) -> Any:
    return given


Workers: TypeAlias = Here | Processes | Cluster


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
        with cluster_client(backend, None if n_jobs == 1 else n_jobs) as client:
            yield Cluster(client)
    elif jobs == 1:
        yield Here()
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
def cluster_client(backend: Any = None, n_jobs: int | None = None) -> Iterator[Any]:
    """The client given; else the current one, or that of a local cluster, which ends with the block."""
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
    with block_sigint():  # stopped half-way, distributed would print its own tracebacks
        jobs = check_jobs(n_jobs)
        cluster = dd.LocalCluster(n_workers=jobs, threads_per_worker=1, dashboard_address=None, silence_logs=CRITICAL)
        own = dd.Client(cluster)
    try:
        yield own
    finally:
        own.close()
        cluster.close()


@contextmanager
def scheduler_client(address: str | None) -> Iterator[Any]:
    """A client of the cluster at an address, for as long as the block lasts; None without one."""
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
