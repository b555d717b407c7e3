"""Runs work in processes of this machine: many tasks, or untrusted work within limits of time and memory.

joblib's loky starts the processes. It pickles functions by value, so a user's script needs no `if __name__ ==
"__main__":`. The processes never see Ctrl-C, and each ends with the process that started it.
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

POLL = 0.5  # seconds between two checks whether a process compiles
LOSSES = 3  # a task whose process is lost more often is given up
STEP = 0.05  # seconds between two checks whether to stop untrusted work
GRACE = 1.0  # a process ends itself so many seconds after its deadline
Task = TypeVar("Task")
Answer = TypeVar("Answer")


@contextmanager
def block_sigint() -> Iterator[None]:
    """Processes that are started in this block never see Ctrl-C; this process sees it, at the latest after the block.

    A child inherits blocked signals from its parent's thread. If the child set a handler itself, it would be too late:
    its imports take seconds, and until then it would print a traceback.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    from joblib.externals.loky.backend import resource_tracker as of_joblib

    for tracker in (resource_tracker, of_joblib):  # these start with the first process, and would unblock the signal
        tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def lost_worker(advice: str) -> ChildProcessError:
    """An OSError, which commands print as one line."""
    return ChildProcessError(f"A worker process ended early, perhaps because memory ran out. {advice}")


class Processes:
    """Processes that receive the value that all tasks share when they start; lost processes are replaced."""

    def __init__(self, n_jobs: int, given: Any = None) -> None:
        from joblib.externals.loky.backend import get_context

        self.n_jobs, self.given, self.compiling = n_jobs, given, get_context("loky").Event()
        self._start()

    def _start(self) -> None:
        from joblib.externals.loky import ProcessPoolExecutor

        options = {"initargs": (os.getpid(), self.compiling, self.given), "timeout": None, "env": IN_CHILD}
        self.pool: Any = ProcessPoolExecutor(self.n_jobs, initializer=_begin, **options)

    def submit(self, work: Callable[..., Answer], task: Any) -> Any:
        """The future of work(task), or of work(task, given) if something is given."""
        with block_sigint():  # the first call starts the processes
            try:
                return self.pool.submit(_do_given, work, task)
            except RuntimeError:  # the pool is broken, because a process was lost
                self._start()
                return self.pool.submit(_do_given, work, task)

    def answer(self, future: Any, work: Callable[..., Answer], task: Any) -> Answer:
        """The answer of a task that was submitted; the task is done again if its process is lost."""
        losses = 0
        while is_lost(future.exception()):
            if losses == LOSSES:  # perhaps no process survives this task
                raise lost_worker("Fewer jobs need less memory.")
            future, losses = self.submit(work, task), losses + 1
        return future.result()

    def each(self, work: Callable[..., Answer], tasks: Iterable[Task]) -> Iterator[tuple[Task, Answer]]:
        """The tasks with their answers, in the order in which they finish."""
        left, waiting = iter(tasks), dict[Any, Task]()
        while True:
            for task in islice(left, 2 * self.n_jobs - len(waiting)):
                waiting[self.submit(work, task)] = task
            if not waiting:
                return
            done, _ = wait(waiting, None if notice.said else POLL, FIRST_COMPLETED)
            if self.compiling.is_set():
                notice.announce()
            for future in done:
                task = waiting.pop(future)
                yield task, self.answer(future, work, task)

    def close(self) -> None:
        """Kill the processes and those that they have started; joblib needs psutil for this."""
        self.pool.shutdown(kill_workers=True)


def is_lost(error: BaseException | None) -> bool:
    """Whether a call failed because its process ended (and not because it could not be unpickled there)."""
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    return isinstance(error, TerminatedWorkerError)


_given: Any = None  # in a process of `Processes`, the value that all tasks share


def _begin(parent: int, compiling: Any, given: Any) -> None:
    """In a new process: keep the value that tasks share, and tell the parent when loops are compiled."""
    global _given
    from joblib.externals.loky import process_executor

    if given is not None:  # joblib would end a process that grows by 300 MB, and lose what it has made of the value
        process_executor._USE_PSUTIL = False
    Thread(target=_end_with, args=(parent,), daemon=True).start()
    _given, notice.tell = given, compiling.set


def _end_with(parent: int) -> None:
    """In a process: end soon after the parent has ended, for whatever reason."""
    while os.getppid() == parent:
        sleep(0.2)
    os._exit(1)


def _do_given(work: Callable[..., Answer], task: Any) -> Answer:
    return do(work, task, _given)


def do(work: Callable[..., Answer], task: Any, given: Any = None) -> Answer:
    """Do one task on one thread, since the workers share the cores."""
    with one_thread():
        return work(task) if given is None else work(task, given)


class SandboxLostError(Exception):
    """The process ended before it answered: it ran out of time or memory, or its input made it crash."""


class Sandboxes:
    """Runs untrusted work in processes, one for each thread that calls at the same time, so that it can be killed."""

    def __init__(self) -> None:
        self.lost, self.idle = 0, list[Processes]()

    def run(self, function: Callable[..., Answer], *args: Any, seconds: float, memory: int) -> Answer:
        """function(*args), computed in another process within these seconds and bytes of memory.

        An error of the function is raised here. The process is killed at the deadline, or when `stops_when` stops the
        work; if it survives, it is kept for the next call.
        """
        deadline, call = monotonic() + seconds, (function, args, seconds + GRACE, memory)
        process = self.idle.pop() if self.idle else Processes(1)
        try:
            for _ in range(2):  # a second time, because the process may have been killed while it was idle
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
        return future.result()

    def close(self) -> None:
        """End the idle processes."""
        while self.idle:
            self.idle.pop().close()


_pools: dict[int, Sandboxes] = {}


def run_sandboxed(function: Callable[..., Answer], *args: Any, seconds: float, memory: int) -> Answer:
    """As `Sandboxes.run`, with processes that are kept until this process ends."""
    pool = _pools.setdefault(os.getpid(), Sandboxes())  # a forked process cannot use its parent's
    return pool.run(function, *args, seconds=seconds, memory=memory)


def _within_limits(call: tuple[Callable[..., Answer], tuple[Any, ...], float, int]) -> Answer:
    """In the process: the signal of the alarm ends it, even if no Python code runs any more."""
    function, args, seconds, memory = call
    alarm = getattr(signal, "setitimer", lambda *_: None)  # not on Windows
    with open(os.devnull, "wb") as nothing:
        for stream in (1, 2):  # to hide messages of libraries
            os.dup2(nothing.fileno(), stream)
    with suppress(ImportError, ValueError, OSError):  # not on Windows; nor above the user's own limit
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, resource.getrlimit(resource.RLIMIT_AS)[1]))
    alarm(0, seconds)  # ITIMER_REAL
    try:
        return function(*args)
    finally:
        alarm(0, 0)
