"""Work in a process of its own, killed when its time is up: Python code, and C code less still, hears no deadline.

The process is a plain `python -c`, not one of multiprocessing, which would import the user's script again. It is kept
for the next piece of work, and ends itself when none comes, when its parent is gone, and at its deadline.
"""

from __future__ import annotations

import atexit
import builtins
import json
import os
import signal
import struct
import subprocess
import sys
import traceback
from contextlib import suppress
from importlib import import_module
from threading import Lock, Timer
from time import monotonic
from typing import IO, Any

IDLE = 20.0  # seconds after which a process is not asked any more, and soon ends itself
GRACE = 2.0  # seconds past those, or its deadline, after which it ends itself: nobody may be left to kill it
_START = "import sys; sys.path[:] = {path!r}; from dpplearn._run.apart import serve; serve()"
_THREADS = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


class LostError(Exception):
    """The process ended before it answered: its time was up, or what it read made it crash."""


class Refused(Exception):  # noqa: N818  # what the work itself said
    """The work ended in a ValueError or OSError, whose text this has."""


def call(function: str, data: bytes, options: dict[str, Any], seconds: float, memory: int) -> Any:
    """What `module:function` makes of some bytes and options, as JSON has it, within seconds and bytes of memory.

    Examples
    --------
    >>> call("dpplearn._run.apart:size", b"abc", {}, seconds=60, memory=2**32)
    3
    """
    with _lock:
        return _own().call(function, data, options, seconds, memory)


def size(data: bytes) -> int:
    """The number of bytes: the least that can be asked."""
    return len(data)


class Process:
    """One process, for one piece of work after another."""

    def __init__(self) -> None:
        self.owner, self.used = os.getpid(), monotonic()
        self.child = subprocess.Popen(
            [sys.executable, "-c", _START.format(path=[one for one in sys.path if isinstance(one, str)])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **_THREADS},
            start_new_session=True,  # Ctrl-C in a terminal is for the command, which ends this one
        )

    @property
    def usable(self) -> bool:
        return self.owner == os.getpid() and monotonic() - self.used < IDLE and self.child.poll() is None

    def call(self, function: str, data: bytes, options: dict[str, Any], seconds: float, memory: int) -> Any:
        """As the function of this name; after a LostError the process is of no more use."""
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        head = {"function": function, "options": options, "seconds": seconds, "memory": memory}
        deadline = monotonic() + seconds
        timer = Timer(seconds, self.child.kill)
        timer.daemon = True
        timer.start()
        try:
            send(self.child.stdin, json.dumps(head).encode())
            send(self.child.stdin, data)
            answer = json.loads(receive(self.child.stdout))
        except (EOFError, OSError):
            code = self.close()
            if code > 0 and monotonic() < deadline:  # what ends it otherwise is a signal
                raise RuntimeError(
                    f"{sys.executable} must be able to import dpplearn and run beside this process, but ended with "
                    f"status {code}. Try: {sys.executable} -c 'import dpplearn._run.apart'"
                ) from None
            raise LostError from None
        except BaseException:
            self.close()
            raise
        finally:
            timer.cancel()
            self.used = monotonic()
        if self.used >= deadline:  # it may have been killed after it answered
            self.close()
        if "refused" in answer:
            raise Refused(answer["refused"])
        if "failed" in answer:
            raise failure(*answer["failed"])
        return answer["value"]

    def close(self) -> int:
        """End it, whatever it does; returns its status, where it ended by itself, or the signal, below 0."""
        self.child.kill()
        for pipe in (self.child.stdin, self.child.stdout):
            with suppress(OSError):  # what is not sent yet cannot be
                if pipe is not None:
                    pipe.close()
        return self.child.wait()


_lock = Lock()
_process: Process | None = None


def _forked() -> None:
    """In a process that was forked: a thread that held the lock is not here to release it."""
    global _lock
    _lock = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def _own() -> Process:
    """The process of this one, started anew where it has ended or belongs to a process that forked this one."""
    global _process
    if _process is None or not _process.usable:
        if _process is not None and _process.owner == os.getpid():
            _process.close()
        _process = Process()
    return _process


@atexit.register
def _close() -> None:
    if _process is not None and _process.owner == os.getpid():
        _process.close()


def send(file: IO[bytes], data: bytes) -> None:
    """Write bytes with their number before them."""
    file.write(struct.pack("<Q", len(data)))
    file.write(data)
    file.flush()


def receive(file: IO[bytes]) -> bytes:
    """What the other end sent."""
    head = file.read(8)
    if len(head) < 8:
        raise EOFError
    (length,) = struct.unpack("<Q", head)
    data = file.read(length)
    if len(data) < length:
        raise EOFError
    return data


def serve() -> None:
    """In the process: do what is asked until nobody asks."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    alarm = getattr(signal, "setitimer", None)  # by default its signal ends the process
    with suppress(EOFError, OSError, MemoryError):  # the last: what is sent is larger than the memory allowed
        while True:
            if alarm is not None:
                alarm(signal.ITIMER_REAL, IDLE + GRACE)
            head = json.loads(receive(sys.stdin.buffer))
            if alarm is not None:
                alarm(signal.ITIMER_REAL, head["seconds"] + GRACE)
            data = receive(sys.stdin.buffer)
            _limit_memory(head["memory"])
            send(answers, _answer(head, data))


def _answer(head: dict[str, Any], data: bytes) -> bytes:
    try:
        module, _, name = head["function"].partition(":")
        return json.dumps({"value": getattr(import_module(module), name)(data, **head["options"])}).encode()
    except (ValueError, OSError) as error:
        answer: dict[str, Any] = {"refused": str(error)}
    except Exception as error:  # our own fault: it is told as it happened
        answer = {"failed": [type(error).__name__, str(error), traceback.format_exc()]}
    return json.dumps(answer).encode()


def failure(name: str, text: str, trace: str) -> Exception:
    """An exception of the other process as itself, where it is one of Python's own, with where it came from."""
    kind = getattr(builtins, name, None)
    usual = isinstance(kind, type) and issubclass(kind, Exception) and not issubclass(kind, UnicodeError)
    error: Exception = kind(text) if usual and kind is not None else RuntimeError(f"{name}: {text}")
    error.add_note(f"In the process that read the file:\n{trace}")
    return error


def _limit_memory(size: int) -> None:
    with suppress(ImportError, ValueError, OSError):  # not on Windows; no more than the user's own limit
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (size, resource.getrlimit(resource.RLIMIT_AS)[1]))
