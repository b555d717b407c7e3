"""Worker processes of this machine, which joblib's executor starts, feeds and ends."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from threading import Thread
from time import sleep
from typing import Any

LOSSES = 3  # times that the same work may lose its worker: once more is no accident
_ENV = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


class Executor:
    """Some processes for calls that pickle. They never see Ctrl-C, and end with the process that started them.

    Functions of a user's script need no `if __name__ == "__main__":`, since joblib pickles them by value.

    Parameters
    ----------
    n_jobs : int
    begin : callable
        Called in every process before its first call, with `args`.
    """

    def __init__(self, n_jobs: int, begin: Callable[..., None] | None = None, args: tuple[Any, ...] = ()) -> None:
        from joblib.externals.loky import ProcessPoolExecutor

        self.pool: Any = ProcessPoolExecutor(
            n_jobs, initializer=_begin, initargs=(os.getpid(), begin, args), timeout=None, env=_ENV
        )

    def submit(self, *call: Any) -> Any:
        """The future of a call; raises BrokenProcessPool, as its result does, once a process is lost (`is_lost`)."""
        with block_sigint():  # the first call starts the processes
            return self.pool.submit(*call)

    def close(self) -> None:
        """End the processes, and what they have started, whatever they do; joblib needs psutil for it."""
        self.pool.shutdown(kill_workers=True)


def _begin(parent: int, begin: Callable[..., None] | None, args: tuple[Any, ...]) -> None:
    from joblib.externals.loky import process_executor

    process_executor._USE_PSUTIL = False  # else a process ends that comes to hold 300 MB more, and with it its data
    Thread(target=_end_with, args=(parent,), daemon=True).start()
    if begin is not None:
        begin(*args)


def _end_with(parent: int) -> None:
    """End at once when the parent is gone, however it was ended."""
    while os.getppid() == parent:
        sleep(0.2)
    os._exit(1)


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


def is_lost(error: BaseException) -> bool:
    """Whether a call failed because its process ended, and not because it could not be read there."""
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    return isinstance(error, TerminatedWorkerError)


def lost_worker(advice: str) -> ChildProcessError:
    """What to raise when workers end that should not have; an OSError, which commands print as a line."""
    return ChildProcessError(f"A worker process ended early, perhaps killed for want of memory. {advice}")
