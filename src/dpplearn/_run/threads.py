"""Tasks on threads: answers in order, and stopped together."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from itertools import islice
from typing import TypeVar

from dpplearn._run.blas import thread_limit
from dpplearn._run.progress import shown
from dpplearn._run.stop import check_stop

T = TypeVar("T")
R = TypeVar("R")


def map_threads(task: Callable[[int], R], count: int, n_jobs: int) -> list[R]:
    """task(0), ..., task(count - 1) on up to n_jobs threads, in order; moves the progress bar, if there is one."""
    bar, results = shown.get(), list[R]()
    for answer in map_in_order(task, range(count), min(n_jobs, count)):
        results.append(answer)
        if bar is not None:
            bar[0].stage(bar[1], len(results), count)
    return results


def map_in_order(task: Callable[[T], R], items: Iterable[T], n_jobs: int) -> Iterator[R]:
    """task(item) of each item, in order and lazily; up to n_jobs threads work a little ahead.

    After an error or Ctrl-C, or when nobody asks for more, the few tasks that wait are given up.

    Examples
    --------
    >>> list(map_in_order(abs, iter([-3, 2, -1]), 2))
    [3, 2, 1]
    """

    def work(item: T) -> R:
        check_stop()
        return task(item)

    n_jobs, left = thread_limit(n_jobs), iter(items)
    if n_jobs <= 1:
        yield from map(work, left)
        return
    with ThreadPoolExecutor(n_jobs) as pool:
        ahead: deque[Future[R]] = deque()
        try:
            while True:
                for item in islice(left, 2 * n_jobs - len(ahead)):
                    ahead.append(pool.submit(copy_context().run, work, item))
                if not ahead:
                    return
                yield ahead.popleft().result()
        finally:
            for future in ahead:
                future.cancel()
