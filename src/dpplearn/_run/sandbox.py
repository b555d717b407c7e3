"""Untrusted work in a process of its own, within limits of time and memory: code in our own process cannot be stopped.

The process is a plain `python -c`, because one of multiprocessing would import the user's script again. It is kept for
the next piece of work. It ends when its parent is gone, and shortly after a deadline in any case.
"""

from __future__ import annotations

import atexit
import os
import pickle  # only to send: answers are bytes, and are never unpickled
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from importlib import import_module
from threading import Lock
from time import monotonic
from typing import Any

from dpplearn._run.blas import IN_CHILD
from dpplearn._run.stop import check_stop

STEP = 0.05  # seconds between two checks whether to stop the work
GRACE = 1.0  # seconds past its deadline after which a process ends itself
GROWTH = 128 * 2**20  # bytes: a process that takes so much more memory than at first is replaced
_START = "import sys; sys.path[:] = {path!r}; from dpplearn._run.sandbox import serve; serve({preload!r})"
READY = b"ready\n"
VALUE, REFUSED, FAILED, LOST = b"value", b"refused", b"failed", b"lost"  # kinds of answers


class SandboxLostError(Exception):
    """The process ended before it answered: it ran out of time or memory, or its input made it crash."""


def run_sandboxed(function: Callable[..., bytes], *args: Any, seconds: float, memory: int) -> bytes:
    """function(*args) in another process, within seconds and bytes of memory.

    Function and arguments must pickle, and the answer is bytes. A ValueError or OSError of the function is raised here
    as a ValueError, any other error, which is our own mistake, as a RuntimeError with its traceback. The process is
    killed where `stops_when` stops the work.

    Examples
    --------
    >>> run_sandboxed(bytes.upper, b"abc", seconds=60, memory=2**32)
    b'ABC'
    """
    pool = _pools.setdefault(os.getpid(), Sandboxes())  # a forked process cannot use its parent's
    return pool.run(function, *args, seconds=seconds, memory=memory)


class Sandboxes:
    """A process for each thread that asks at the same time; one that was lost is replaced when it is needed."""

    def __init__(self) -> None:
        self.lost, self.idle = 0, list[Sandbox]()
        self._lock = Lock()

    def fill(self, count: int, preload: str) -> None:
        """Keep at least so many processes ready, with a module imported."""
        with self._lock:
            self.idle += [Sandbox(preload) for _ in range(count - len(self.idle))]

    def run(self, function: Callable[..., bytes], *args: Any, seconds: float, memory: int) -> bytes:
        """As `run_sandboxed`."""
        with self._lock:
            while self.idle and self.idle[-1].child.poll() is not None:  # somebody killed it
                self.idle.pop().close()
            box = self.idle.pop() if self.idle else Sandbox()
        try:
            return box.run(pickle.dumps((function, args)), seconds, memory)
        finally:
            with self._lock:
                ended = box.child.poll() is not None
                self.lost += ended
                if ended or box.grown:
                    box.close()
                else:
                    self.idle.append(box)

    def close(self) -> None:
        """End the idle processes."""
        with self._lock:
            while self.idle:
                self.idle.pop().close()


class Sandbox:
    """One process, for one piece of work after another."""

    def __init__(self, preload: str = __name__) -> None:
        self.started = False  # whether it has ever answered
        self.grown = False  # whether it now takes much more memory than at first
        path = [one for one in sys.path if isinstance(one, str)]
        self.child = subprocess.Popen(
            [sys.executable, "-c", _START.format(path=path, preload=preload)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **IN_CHILD},
            start_new_session=True,  # Ctrl-C in a terminal reaches the command, which ends this process
        )

    def run(self, call: bytes, seconds: float, memory: int) -> bytes:
        """As `run_sandboxed`; `call` is the pickled function with its arguments."""
        deadline = monotonic() + seconds
        with ThreadPoolExecutor(1) as thread:
            asked = thread.submit(self._ask, (seconds, memory, call))
            try:
                while not wait([asked], min(STEP, max(deadline - monotonic(), 0.0))).done:
                    check_stop()
                    if monotonic() >= deadline:
                        raise SandboxLostError
            except BaseException:
                self.close()
                raise
        try:
            kind, found = asked.result()
        except (EOFError, OSError):
            code = self.close()
            if code > 0 and not self.started:
                raise RuntimeError(
                    f"{sys.executable} must be able to import dpplearn, but ended with status {code}. Try: "
                    f"{sys.executable} -c 'import dpplearn._run.sandbox'"
                ) from None
            raise SandboxLostError from None
        if kind == LOST:
            raise SandboxLostError
        if kind == VALUE:
            return found
        said, _, trace = found.decode().partition("\0")
        error = ValueError(said) if kind == REFUSED else RuntimeError(said)
        if trace:
            error.add_note(f"In the process that did the work:\n{trace}")
        raise error

    def _ask(self, request: tuple[Any, ...]) -> tuple[bytes, bytes]:
        """The kind of the answer, and its content."""
        requests, answers = self.child.stdin, self.child.stdout
        assert requests is not None
        assert answers is not None
        pickle.dump(request, requests)
        requests.flush()
        self.started = self.started or answers.readline() == READY
        if not (head := answers.readline()):
            raise EOFError
        kind, grown, size = head.split()
        self.grown, found = grown == b"1", answers.read(int(size))
        if len(found) < int(size):
            raise EOFError
        return kind, found

    def close(self) -> int:
        """End it, whatever it does; its exit status, or minus the signal that ended it."""
        self.child.kill()
        for pipe in (self.child.stdin, self.child.stdout):
            with suppress(OSError):  # what was not sent yet cannot be sent now
                if pipe is not None:
                    pipe.close()
        return self.child.wait()


_pools: dict[int, Sandboxes] = {}


@atexit.register
def _close() -> None:
    if os.getpid() in _pools:
        _pools[os.getpid()].close()


def serve(preload: str) -> None:
    """In the process: answer until the parent closes the pipe; the error that this raises is seen by nobody."""
    import_module(preload)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not mix with the answers
    answers.write(READY)
    answers.flush()
    alarm = getattr(signal, "setitimer", None)  # its signal ends the process
    enough = 0
    while True:
        seconds, memory, call = pickle.load(sys.stdin.buffer)
        if alarm is not None:
            alarm(signal.ITIMER_REAL, seconds + GRACE)
        _limit_memory(memory)
        try:
            function, args = pickle.loads(call)
            enough = enough or _most_memory() + GROWTH  # what the first call's imports take does not count
            kind, found = VALUE, function(*args)
        except (ValueError, OSError) as error:
            kind, found = REFUSED, str(error).encode("utf-8", "backslashreplace")
        except MemoryError:
            kind, found = LOST, b""
        except Exception as error:  # our own mistake: send the traceback
            told = f"{type(error).__name__}: {error}\0{traceback.format_exc()}"
            kind, found = FAILED, told.encode("utf-8", "backslashreplace")
        if alarm is not None:
            alarm(signal.ITIMER_REAL, 0)
        answers.write(b"%s %d %d\n%s" % (kind, _most_memory() > enough, len(found), found))
        answers.flush()


def _limit_memory(size: int) -> None:
    with suppress(ImportError, ValueError, OSError):  # not on Windows; no more than the user's own limit
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (size, resource.getrlimit(resource.RLIMIT_AS)[1]))


def _most_memory() -> int:
    """The most bytes of memory that this process ever took; 0 where the system does not say."""
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            return next(1024 * int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        return 0
