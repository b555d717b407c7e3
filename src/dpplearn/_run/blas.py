"""How many threads numpy's BLAS and our own loops may use."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import cache
from threading import Lock
from typing import Any

LARGE = 1024  # below this many items a second BLAS thread gains little, and on a busy machine costs up to 30 times
_alone: ContextVar[bool] = ContextVar("dpplearn_one_thread", default=False)


@cache
def controller() -> Any:
    from threadpoolctl import ThreadpoolController  # scikit-learn brings it

    return ThreadpoolController()


@contextmanager
def one_thread() -> Iterator[None]:
    """In this block BLAS uses one thread, and `map_threads` starts none: for workers that share a machine's cores."""
    token = _alone.set(True)
    try:
        with ONE:
            yield
    finally:
        _alone.reset(token)


def thread_limit(n_jobs: int) -> int:
    """How many threads to start where n_jobs are asked for: one in a worker, also in a task of the user's own Dask."""
    if _alone.get():
        return 1
    dask: Any = sys.modules.get("distributed.worker")
    if dask is not None:
        try:
            dask.get_worker()
        except ValueError:  # not inside a task
            return n_jobs
        return 1
    return n_jobs


class OneThread:
    """One BLAS thread from when the first thread of Python asks for it until the last one has left, in any order."""

    def __init__(self) -> None:
        self.lock, self.users = Lock(), 0
        self.limit: Any = None

    def __enter__(self) -> None:
        with self.lock:
            self.users += 1
            let_any_thread_set()
            limit = controller().limit(limits=1)  # each time: another library may have raised it since the first came
            if self.users == 1:
                self.limit = limit

    def __exit__(self, *error: object) -> None:
        with self.lock:
            self.users -= 1
            if self.users == 0:
                let_any_thread_set()
                self.limit.restore_original_limits()
                let_any_thread_set()


def let_any_thread_set() -> None:
    """threadpoolctl 3.8 heeds only the thread that set a limit first, as long as it lives, and ignores all others.

    That thread may be one of Dask's or of another library; and the last one that leaves may not be the first that came.
    """
    for library in controller().lib_controllers:
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread(force=True)


ONE = OneThread()


def blas_threads(n: int, one: bool = False) -> AbstractContextManager[Any]:
    """One BLAS thread for matrices of up to LARGE rows, or for all where asked; else what is set."""
    return ONE if one or n <= LARGE else nullcontext()
