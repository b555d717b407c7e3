"""Tasks on threads: answers in order, and stopped together."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from itertools import count as count_up
from threading import Event, Lock
from typing import Any, TypeVar

from dpplearn._run.blas import thread_limit
from dpplearn._run.progress import told
from dpplearn._run.stop import check_stop

T = TypeVar("T")
R = TypeVar("R")


def map_threads(task: Callable[[int], T], count: int, n_jobs: int) -> Sequence[T]:
    """task(0), ..., task(count - 1) on up to n_jobs threads, in order; an error or Ctrl-C drops what has not begun."""
    stop, shown, lock = Event(), told(), Lock()
    numbers, done = iter(range(count)), count_up(1)
    results: list[Any] = [None] * count

    def work() -> None:
        try:
            while not stop.is_set():
                with lock:
                    b = next(numbers, None)
                if b is None:
                    return
                check_stop()
                results[b] = task(b)
                if shown is not None:
                    with lock:
                        shown[0].stage(shown[1], next(done), count)
        except BaseException:
            stop.set()
            raise

    threads = min(thread_limit(n_jobs), count)
    if threads <= 1:
        work()
        return results
    with ThreadPoolExecutor(threads) as pool:
        try:
            for future in [pool.submit(copy_context().run, work) for _ in range(threads)]:
                future.result()
        finally:  # after an error, or Ctrl-C here, the other threads end when their task does
            stop.set()
    return results


def map_in_order(task: Callable[[T], R], items: Iterable[T], n_jobs: int) -> Iterator[R]:
    """task(item) of each item, in order, as the answers are asked for; up to n_jobs threads work a little ahead.

    Examples
    --------
    >>> list(map_in_order(abs, iter([-3, 2, -1]), 2))
    [3, 2, 1]
    """
    n_jobs = thread_limit(n_jobs)
    with ThreadPoolExecutor(n_jobs) as pool:
        ahead: deque[Future[R]] = deque()
        try:
            for item in items:
                ahead.append(pool.submit(copy_context().run, task, item))
                if len(ahead) > 2 * n_jobs:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:  # after an error, or when nobody asks for more
            for future in ahead:
                future.cancel()
