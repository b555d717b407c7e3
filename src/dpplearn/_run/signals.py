"""Ctrl-C reaches every process of a terminal; only the one that the user started answers it, and none outlives it."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import parent_process, resource_tracker
from multiprocessing.connection import wait
from threading import Thread

LOSSES = 3  # workers lost over the same work, after which it is no accident


@contextmanager
def deaf_children() -> Iterator[None]:
    """Processes started here never see Ctrl-C, from their first instruction on; this one sees it at once or afterwards.

    A signal that this thread blocks stays blocked in what it starts meanwhile. A handler set by the child would come
    too late: it is seconds before its imports are done, and each would print a traceback.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # it is started with the first process, and would unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_with_parent() -> None:
    """In a worker: end at once when the process that started it is gone, however that was ended."""
    parent = parent_process()
    if parent is not None:

        def watch() -> None:
            wait([parent.sentinel])  # a pipe that nobody writes to: closed with the parent
            os._exit(1)

        Thread(target=watch, daemon=True).start()


def lost_worker(advice: str, exit_code: int | None = None) -> ChildProcessError:
    """What to raise when a worker ended that should not have; an OSError, which commands print as a line."""
    code = "" if exit_code is None else f" (exit code {exit_code})"
    return ChildProcessError(f"A worker process ended early{code}, perhaps killed for want of memory. {advice}")
