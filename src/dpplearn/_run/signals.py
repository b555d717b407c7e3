"""Ctrl-C reaches every process of a terminal; only the one that the user started should answer it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker


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
