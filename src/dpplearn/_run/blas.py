"""Limits how many threads numpy's BLAS and our own loops use."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from functools import lru_cache
from threading import Lock
from typing import Any

FEW_ROWS = 1024  # up to here a second BLAS thread gains little, and on a busy machine takes up to 30 times as long
IN_CHILD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")  # for worker processes
_alone: ContextVar[bool] = ContextVar("dpplearn_one_thread", default=False)


class OneThread:
    """A block in which BLAS uses one thread; several threads of Python may enter it, and leave in any order."""

    def __init__(self) -> None:
        self.lock, self.users = Lock(), 0
        self.before: list[tuple[Any, int]] = []  # libraries with their numbers of threads

    def __enter__(self) -> None:
        with self.lock:
            self.users += 1
            if self.users == 1:
                self.before = [(library, library.num_threads) for library in libraries()]
            for library, _ in self.before:  # each time, because other code may have raised it meanwhile
                set_threads(library, 1)

    def __exit__(self, *error: object) -> None:
        with self.lock:
            self.users -= 1
            if self.users == 0:
                for library, number in self.before:
                    set_threads(library, number)


def libraries() -> tuple[Any, ...]:
    """Libraries with threads of their own, found once, and once more after torch, which brings others, was imported.

    We do not search more often, because a search may deadlock with a thread that imports a compiled module.
    """
    torch = sys.modules.get("torch")
    return find_libraries(torch is not None and not getattr(torch.__spec__, "_initializing", False))


@lru_cache(maxsize=1)
def find_libraries(has_torch: bool) -> tuple[Any, ...]:  # noqa: ARG001  # the key of the cache
    from threadpoolctl import ThreadpoolController  # a dependency of scikit-learn

    return tuple(ThreadpoolController().lib_controllers)


def set_threads(library: Any, number: int) -> None:
    """Set how many threads a library uses, even if threadpoolctl 3.8 only obeys the thread that set it first."""
    release = getattr(library, "clear_controlling_thread", lambda **_: None)
    release(force=True)
    library.set_num_threads(number)
    release(force=True)


ONE = OneThread()


@contextmanager
def one_thread() -> Iterator[None]:
    """In this block BLAS uses one thread, and `map_threads` starts none; for workers that share the cores."""
    token = _alone.set(True)
    try:
        with ONE:
            yield
    finally:
        _alone.reset(token)


def thread_limit(n_jobs: int) -> int:
    """How many threads to start for n_jobs: only one inside a worker, and inside a task of the user's Dask cluster."""
    dask: Any = sys.modules.get("distributed.worker")
    if dask is not None:
        with suppress(ValueError):  # this is not inside a task
            dask.get_worker()
            return 1
    return 1 if _alone.get() else n_jobs


def blas_threads(n: int, one: bool = False) -> AbstractContextManager[Any]:
    """A block with one BLAS thread for matrices of up to FEW_ROWS rows, or with `one` for all; else it does nothing."""
    return ONE if one or n <= FEW_ROWS else nullcontext()
