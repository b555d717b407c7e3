"""How many threads numpy's BLAS and our own loops may use."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import cache
from typing import Any

LARGE = 1024  # below this many items a second BLAS thread gains little, and on a busy machine costs up to 30 times
_alone: ContextVar[bool] = ContextVar("dpplearn_one_thread", default=False)


@cache
def controller() -> Any:
    from threadpoolctl import ThreadpoolController  # scikit-learn brings it

    return ThreadpoolController()


def blas_threads(n: int) -> AbstractContextManager[Any]:
    """One BLAS thread for matrices of up to LARGE rows; else as many as are set."""
    return controller().limit(limits=1) if n <= LARGE else nullcontext()


@contextmanager
def one_thread() -> Iterator[None]:
    """In this block BLAS uses one thread, and `map_threads` starts none: for workers that share a machine's cores."""
    token = _alone.set(True)
    try:
        with controller().limit(limits=1):
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
