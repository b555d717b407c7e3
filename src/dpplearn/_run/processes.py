"""Processes of this machine: for many pieces of work, and for work within limits of time and memory.

joblib's loky starts them. Functions of a user's script need no `if __name__ == "__main__":`, since it pickles them by
value. None sees Ctrl-C, and each ends with the process that started it.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, wait
from contextlib import contextmanager, suppress
from itertools import islice
from multiprocessing import resource_tracker
from threading import Thread
from time import monotonic, sleep
from typing import Any, TypeVar

from dpplearn._run.blas import IN_CHILD, one_thread
from dpplearn._run.progress import notice
from dpplearn._run.stop import check_stop

HEARD = 0.5  # seconds after which we notice that a process compiles
LOSSES = 3  # times that a task may lose its process; once more is no accident
STEP = 0.05  # seconds between two checks whether to stop untrusted work
GRACE = 1.0  # seconds past its deadline after which a process ends itself
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


class Processes:
    """Processes that each receive, as they start, something that all tasks share; those that are lost are replaced."""

    def __init__(self, n_jobs: int, given: Any = None) -> None:
        from joblib.externals.loky.backend import get_context

        self.n_jobs, self.given, self.compiling = n_jobs, given, get_context("loky").Event()
        self._start()

    def _start(self) -> None:
        from joblib.externals.loky import ProcessPoolExecutor

        begin = (os.getpid(), self.compiling, self.given)
        self.pool: Any = ProcessPoolExecutor(
            self.n_jobs, initializer=_begin, initargs=begin, timeout=None, env=IN_CHILD
        )

    def submit(self, work: Callable[..., Answer], task: Any) -> Any:
        """The future of work(task), or of work(task, given) where something is given."""
        with block_sigint():  # the first call starts the processes
            try:
                return self.pool.submit(_do_given, work, task)
            except RuntimeError:  # a process was lost
                self._start()
                return self.pool.submit(_do_given, work, task)

    def answer(self, future: Any, work: Callable[..., Answer], task: Any) -> Answer:
        """The answer of a task that was submitted; the task is done again if its process is lost."""
        for _ in range(LOSSES):
            if not is_lost(future.exception()):
                break
            future = self.submit(work, task)
        if is_lost(future.exception()):  # perhaps no process survives this task
            raise lost_worker("Fewer jobs need less.")
        answer: Answer = future.result()
        return answer

    def each(self, work: Callable[..., Answer], tasks: Iterable[Task]) -> Iterator[tuple[Task, Answer]]:
        """The tasks with their answers, as they are done."""
        left, waiting = iter(tasks), dict[Any, Task]()
        while True:
            for task in islice(left, 2 * self.n_jobs - len(waiting)):
                waiting[self.submit(work, task)] = task
            if not waiting:
                return
            done, _ = wait(waiting, None if notice.said else HEARD, FIRST_COMPLETED)
            if self.compiling.is_set():
                notice.announce()
            for future in done:
                task = waiting.pop(future)
                yield task, self.answer(future, work, task)

    def close(self) -> None:
        """End the processes, whatever they do, and what they have started; joblib needs psutil for it."""
        self.pool.shutdown(kill_workers=True)


def is_lost(error: BaseException | None) -> bool:
    """Whether a call failed because its process ended, and not because it could not be unpickled there."""
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    return isinstance(error, TerminatedWorkerError)


_given: Any = None  # what tasks share, in a process of `Processes`


def _begin(parent: int, compiling: Any, given: Any) -> None:
    """In a process: keep what tasks share, and let the parent say that loops are compiled."""
    global _given
    from joblib.externals.loky import process_executor

    if given is not None:  # joblib ends a process that has grown by 300 MB, and with it what is made of these data
        process_executor._USE_PSUTIL = False
    Thread(target=_end_with, args=(parent,), daemon=True).start()
    _given, notice.tell = given, compiling.set


def _end_with(parent: int) -> None:
    """End soon after the parent has gone, however it ended."""
    while os.getppid() == parent:
        sleep(0.2)
    os._exit(1)


def _do_given(work: Callable[..., Answer], task: Any) -> Answer:
    return do(work, task, _given)


def do(work: Callable[..., Answer], task: Any, given: Any = None) -> Answer:
    """One task on one thread: the workers are the parallelism."""
    with one_thread():
        return work(task) if given is None else work(task, given)


class SandboxLostError(Exception):
    """The process ended before it answered: it ran out of time or memory, or its input made it crash."""


class Sandboxes:
    """Untrusted work, in a process for each thread that asks at the same time: code in our own cannot be stopped."""

    def __init__(self) -> None:
        self.lost, self.idle = 0, list[Processes]()

    def run(self, function: Callable[..., Answer], *args: Any, seconds: float, memory: int) -> Answer:
        """function(*args) in another process, within seconds and bytes of memory.

        An error of the function is raised here. The process is killed at the deadline, or where `stops_when` stops the
        work; it is kept for the next piece if it survives this one.
        """
        deadline, call = monotonic() + seconds, (function, args, seconds + GRACE, memory)
        process = self.idle.pop() if self.idle else Processes(1)
        try:
            for _ in range(2):  # once more, since it may have been killed while it was idle
                future = process.submit(_within_limits, call)
                while not wait([future], STEP).done:
                    check_stop()
                    if monotonic() > deadline:
                        raise SandboxLostError
                if not is_lost(future.exception()):
                    break
            if isinstance(future.exception(), MemoryError) or is_lost(future.exception()):
                raise SandboxLostError
        except BaseException:
            self.lost += 1
            process.close()
            raise
        self.idle.append(process)
        answer: Answer = future.result()
        return answer

    def close(self) -> None:
        """End the idle processes."""
        while self.idle:
            self.idle.pop().close()


_pools: dict[int, Sandboxes] = {}


def run_sandboxed(function: Callable[..., Answer], *args: Any, seconds: float, memory: int) -> Answer:
    """As `Sandboxes.run`, with processes that are kept as long as this one.

    Examples
    --------
    >>> run_sandboxed(bytes.upper, b"abc", seconds=60, memory=2**32)
    b'ABC'
    """
    pool = _pools.setdefault(os.getpid(), Sandboxes())  # a forked process cannot use its parent's
    return pool.run(function, *args, seconds=seconds, memory=memory)


def _within_limits(call: tuple[Callable[..., Answer], tuple[Any, ...], float, int]) -> Answer:
    """In the process: the signal of the alarm ends it, even where Python code would not run any more."""
    function, args, seconds, memory = call
    alarm = getattr(signal, "setitimer", lambda *_: None)  # not on Windows
    with open(os.devnull, "wb") as nothing:
        for stream in (1, 2):  # nobody wants to read what libraries print
            os.dup2(nothing.fileno(), stream)
    with suppress(ImportError, ValueError, OSError):  # not on Windows; no more than the user's own limit
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, resource.getrlimit(resource.RLIMIT_AS)[1]))
    alarm(0, seconds)  # ITIMER_REAL
    try:
        return function(*args)
    finally:
        alarm(0, 0)
