"""Tasks on threads: in order, and stopped together."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import count as count_up
from threading import Event, Lock
from typing import Any, TypeVar

from dpplearn._run.progress import told
from dpplearn._run.stop import asker

T = TypeVar("T")
R = TypeVar("R")
drawing = Lock()  # one line at a time


def map_threads(task: Callable[[int], T], count: int, n_jobs: int) -> Sequence[T]:
    """task(0), ..., task(count - 1) on up to n_jobs threads, in order; Ctrl-C drops what has not begun."""
    ask, stop, shown = asker(), Event(), told()
    done = count_up(1)
    results: list[Any] = [None] * count
    numbers = iter(range(count))  # shared: each is handed out once

    def work() -> None:
        try:
            for b in numbers:
                if stop.is_set():
                    return
                ask()
                results[b] = task(b)
                if shown is not None:
                    with drawing:
                        shown[0].stage(shown[1], next(done), count)
        except BaseException:
            stop.set()
            raise

    if n_jobs == 1 or count <= 1:
        work()
        return results
    with ThreadPoolExecutor(min(n_jobs, count)) as pool:
        try:
            for future in [pool.submit(work) for _ in range(min(n_jobs, count))]:
                future.result()
        finally:  # an error, or Ctrl-C here: the others end after what they are at
            stop.set()
    return results


def map_in_order(task: Callable[[T], R], items: Iterable[T], n_jobs: int) -> Iterator[R]:
    """task(item) of each, in order and as they are asked for: a few are worked on ahead, on up to n_jobs threads.

    Examples
    --------
    >>> list(map_in_order(abs, iter([-3, 2, -1]), 2))
    [3, 2, 1]
    """
    with ThreadPoolExecutor(n_jobs) as pool:
        ahead: deque[Future[R]] = deque()
        try:
            for item in items:
                ahead.append(pool.submit(task, item))
                if len(ahead) > 2 * n_jobs:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:  # an error, or nobody asks any more
            for future in ahead:
                future.cancel()
