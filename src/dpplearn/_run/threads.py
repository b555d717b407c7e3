"""Runs tasks on threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

from dpplearn._run.blas import thread_limit
from dpplearn._run.progress import current_work
from dpplearn._run.stop import check_stop

R = TypeVar("R")


def map_threads(task: Callable[[int], R], count: int, n_jobs: int) -> list[R]:
    """[task(0), ..., task(count - 1)], done on up to n_jobs threads; moves the progress bar if there is one.

    After an error or Ctrl-C, the few tasks that wait are cancelled.

    Examples
    --------
    >>> map_threads(lambda k: k**2, 4, n_jobs=2)
    [0, 1, 4, 9]
    """
    bar, results, n_jobs = current_work.get(), list[R](), min(thread_limit(n_jobs), count)

    def work(k: int) -> R:
        check_stop()
        return task(k)

    def keep(answer: R) -> None:
        results.append(answer)
        if bar is not None:
            bar[0].stage(bar[1], len(results), count)

    if n_jobs <= 1:
        for k in range(count):
            keep(work(k))
        return results
    with ThreadPoolExecutor(n_jobs) as pool:
        ahead = deque[Future[R]]()
        try:
            for k in range(count):
                ahead.append(pool.submit(copy_context().run, work, k))
                if len(ahead) == 2 * n_jobs:
                    keep(ahead.popleft().result())
            while ahead:
                keep(ahead.popleft().result())
        finally:
            pool.shutdown(cancel_futures=True)
    return results
