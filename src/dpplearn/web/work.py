"""Runs the work of requests within limits of number and time: selections in threads, reading in processes."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request

from dpplearn._run.blas import one_thread
from dpplearn._run.processes import Sandboxes, SandboxLostError
from dpplearn._run.stop import stops_when
from dpplearn.web.engine import Engine
from dpplearn.web.problems import Problem, limited, where
from dpplearn.web.settings import Settings

T = TypeVar("T")
MEMORY = 4 * 2**30  # bytes of address space that a process may use
log = logging.getLogger("dpplearn.web")


class Deadline:
    """The time by which a request must be answered; `check` is called between the steps of its work."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.end = seconds, time.monotonic() + seconds

    @property
    def left(self) -> float:
        return max(self.end - time.monotonic(), 0.0)

    def stop(self) -> None:
        """Say that nobody waits for the answer any more."""
        self.end = 0.0

    def check(self) -> None:
        """Raise a problem if the time is over or nobody waits."""
        if not self.left:
            advice = "Send fewer or shorter documents, ask for the decoder greedy, or try again later."
            raise limited("time-limit", "max_seconds", self.seconds, "The answer was not ready in time", advice)


class Pool:
    """Threads: at most `workers` tasks run and `queue` tasks wait, and one more is refused.

    A request that passes its deadline is answered at once. Its work ends at the next step, like that of a client that
    has left, and keeps its place until then, so that slow requests never add up to more work than there are threads.
    """

    def __init__(self, workers: int, queue: int) -> None:
        self.workers, self.queue, self.taken = workers, queue, 0
        self.threads = ThreadPoolExecutor(workers, thread_name_prefix="dpplearn-web")

    def check_room(self) -> None:
        """Raise a problem if there is no place for a task."""
        if self.taken >= self.workers + self.queue:
            what = f"The server works on {self.workers} requests, and no more may wait"
            raise limited("busy", "queue", self.queue, what, "Try again in a second.")

    async def run(self, request: Request, task: Callable[[Deadline], T]) -> T:
        """The result of the task, which runs in a thread as long as the client is there; raises a problem otherwise."""
        deadline: Deadline = request.scope["dpplearn.deadline"]

        def work_in_time() -> T:
            deadline.check()
            with stops_when(deadline.check):  # decoders and samplers call this check, too
                return task(deadline)

        self.check_room()
        waiter = asyncio.wrap_future(future := self.threads.submit(work_in_time))
        self.taken += 1
        waiter.add_done_callback(self._free)
        leaving = asyncio.ensure_future(client_gone(request))
        both: set[asyncio.Future[Any]] = {waiter, leaving}
        try:
            await asyncio.wait(both, timeout=deadline.left, return_when=asyncio.FIRST_COMPLETED)
            if not waiter.done() and leaving.done():
                raise ClientDisconnect
            if not waiter.done():
                deadline.stop()
                deadline.check()
            return waiter.result()
        finally:
            leaving.cancel()
            if not waiter.done():
                deadline.stop()
                future.cancel()  # has an effect only if it has not begun

    def _free(self, done: asyncio.Future[Any]) -> None:
        self.taken -= 1
        if not done.cancelled():
            done.exception()  # marks the exception as seen


async def client_gone(request: Request) -> None:
    """Return once the client has closed its connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


class ReaderError(Exception):
    """An error in a process that reads, with its place but no message, which might quote a document."""


def run_in_process(boxes: Sandboxes, settings: Settings, job: Callable[[Engine], T], deadline: Deadline) -> T:
    """Do a job in a process, which is killed at the deadline, and raise what it raises."""
    try:
        with stops_when(deadline.check):
            answer = boxes.run(work, settings, job, seconds=max(deadline.left, 0.05), memory=MEMORY)
    except SandboxLostError:
        deadline.check()
        answer = ReaderError("The process ended before it answered.")
    if isinstance(answer, ReaderError):
        log.error("%s", answer)
    if isinstance(answer, Exception):
        raise answer
    return answer


def work(settings: Settings, job: Callable[[Engine], Any]) -> Any:
    """Do a job with the models, inside the process; returns problems and errors instead of raising them."""
    try:
        with one_thread():
            return job(load_engine(settings))
    except Problem as problem:
        return problem
    except Exception as error:
        return ReaderError(f"{type(error).__name__} at {where(error)}")


load_engine = lru_cache(maxsize=1)(Engine)  # loads the models once in a process
