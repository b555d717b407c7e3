"""Tasks on threads: answers in order, and stopped together."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from threading import Event
from typing import TypeVar

from dpplearn._run.blas import thread_limit
from dpplearn._run.progress import shown_progress
from dpplearn._run.stop import check_stop

T = TypeVar("T")
R = TypeVar("R")


def map_threads(task: Callable[[int], R], count: int, n_jobs: int) -> list[R]:
    """task(0), ..., task(count - 1) on up to n_jobs threads, in order; moves the progress bar, if there is one."""
    shown, results = shown_progress(), list[R]()
    for answer in map_in_order(task, range(count), min(n_jobs, count)):
        results.append(answer)
        if shown is not None:
            shown[0].stage(shown[1], len(results), count)
    return results


def map_in_order(task: Callable[[T], R], items: Iterable[T], n_jobs: int) -> Iterator[R]:
    """task(item) of each item, in order and lazily; up to n_jobs threads work a little ahead.

    After an error or Ctrl-C, or when nobody asks for more, no further task begins.

    Examples
    --------
    >>> list(map_in_order(abs, iter([-3, 2, -1]), 2))
    [3, 2, 1]
    """
    n_jobs, over = thread_limit(n_jobs), Event()

    def work(item: T) -> R:
        try:
            check_stop()
            return task(item)
        except BaseException:
            over.set()
            raise

    if n_jobs <= 1:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(n_jobs) as pool:
        ahead: deque[Future[R]] = deque()
        try:
            for item in items:
                if over.is_set():
                    break
                ahead.append(pool.submit(copy_context().run, work, item))
                if len(ahead) > 2 * n_jobs:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:
            for future in ahead:
                future.cancel()
