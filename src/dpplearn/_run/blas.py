"""How many threads numpy's BLAS and our own loops may use."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from functools import cache
from threading import Lock
from typing import Any

LARGE = 1024  # below this many items a second BLAS thread gains little, and on a busy machine costs up to 30 times
_alone: ContextVar[bool] = ContextVar("dpplearn_one_thread", default=False)


class OneThread:
    """One BLAS thread from when the first thread of Python asks for it until the last one has left, in any order."""

    def __init__(self) -> None:
        self.lock, self.users, self.before = Lock(), 0, list[int]()

    def __enter__(self) -> None:
        with self.lock:
            if self.users == 0:
                self.before = [library.num_threads for library in libraries()]
            self.users += 1
            set_threads([1] * len(self.before))  # each time: another library may have raised it meanwhile

    def __exit__(self, *error: object) -> None:
        with self.lock:
            self.users -= 1
            if self.users == 0:
                set_threads(self.before)


@cache
def libraries() -> list[Any]:
    from threadpoolctl import ThreadpoolController  # scikit-learn brings it

    return list(ThreadpoolController().lib_controllers)


def set_threads(numbers: list[int]) -> None:
    """Set how many threads each library uses, whoever set it before.

    threadpoolctl 3.8 heeds only the thread that set a number first, as long as it lives, and our last user that leaves
    may not be the first that came. So no thread stays the one that it heeds.
    """
    for library, number in zip(libraries(), numbers, strict=True):
        release = getattr(library, "clear_controlling_thread", lambda **_: None)
        release(force=True)
        library.set_num_threads(number)
        release(force=True)


ONE = OneThread()


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
    dask: Any = sys.modules.get("distributed.worker")
    if dask is not None:
        with suppress(ValueError):  # not inside a task
            dask.get_worker()
            return 1
    return 1 if _alone.get() else n_jobs


def blas_threads(n: int, one: bool = False) -> AbstractContextManager[Any]:
    """One BLAS thread for matrices of up to LARGE rows, or for all where asked; else what is set."""
    return ONE if one or n <= LARGE else nullcontext()
