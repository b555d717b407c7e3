"""What clients send is read in processes of its own: Python code hears no deadline, but a process can be killed."""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_all_start_methods, get_context
from multiprocessing.connection import Connection
from threading import Lock
from typing import Any, TypeVar, cast

from dpplearn._run.blas import blas_threads
from dpplearn._run.signals import deaf_children
from dpplearn.web import schema
from dpplearn.web.engine import Engine, Read
from dpplearn.web.forms import read_form
from dpplearn.web.guard import where
from dpplearn.web.pool import Deadline
from dpplearn.web.problems import Problem
from dpplearn.web.settings import Settings
from dpplearn.web.validation import parse

T = TypeVar("T")
STEP = 0.05  # seconds between two looks at the deadline
GRACE = 1.0  # seconds past it after which a process ends itself, should nobody be left to kill it
GROWTH = 128 * 2**20  # bytes: a process that has come to take so much more is replaced; the first job takes 70 MB
log = logging.getLogger("dpplearn.web")


@dataclass(frozen=True)
class Body:
    """The body of a request: JSON of a record, or a form where there is none."""

    record: type[schema.NewCluster] | None
    content_type: str
    data: bytes

    def __call__(self, engine: Engine) -> tuple[Read, schema.NewCluster | None]:
        """The documents, read for their model, and what else was asked."""
        limits = engine.settings
        if self.record is None:
            form = read_form(self.content_type, self.data, limits)
            read = engine.featurize(form.documents, form.model, keep_all=form.keep_all)
            return read._replace(notes=form.notes + read.notes, skipped=form.skipped), None
        given = parse(self.record, self.data, limits.max_documents)
        kept = {"min_words": given.min_words, "keep_all": given.keep_all}
        read = engine.featurize(engine.documents(given.documents), given.model, **kept)
        return read, given.model_copy(update={"documents": []})


def ready(engine: Engine) -> None:
    """The first job of a process: nothing, once its model is loaded."""


def compile_all(engine: Engine) -> None:
    """Fill the folder of compiled loops, in time that no answer needs."""
    if hasattr(os, "nice"):
        os.nice(10)
    engine.warm()


class ReaderError(Exception):
    """A mistake in a process that reads, and its place; no message, which may quote a document."""


def most_memory() -> int:
    """The most bytes of memory that this process ever took; 0 where the system does not say."""
    try:
        import resource
    except ModuleNotFoundError:  # Windows
        return 0
    found = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return found if sys.platform == "darwin" else 1024 * found


def work(pipe: Connection, settings: Settings) -> None:
    """Do one job after another until the other end is gone, each within its seconds, or until memory has grown.

    Every answer is sent with whether it is the last one.
    """
    engine, alarm = Engine(settings), getattr(signal, "setitimer", None)
    enough = most_memory() + GROWTH
    with blas_threads(0), suppress(EOFError, OSError):
        while True:
            job, seconds = pipe.recv()
            if alarm is not None:
                alarm(signal.ITIMER_REAL, seconds + GRACE)  # by default that signal ends the process
            try:
                answer = job(engine)
            except Problem as problem:
                answer = problem
            except Exception as error:
                answer = ReaderError(f"{type(error).__name__} at {where(error)}")
            if alarm is not None:
                alarm(signal.ITIMER_REAL, 0)
            last = most_memory() > enough
            pipe.send((answer, last))
            if last:
                return


class Reader:
    """One process. It is forked, where there is fork, from one that has imported all and holds nothing of a client."""

    def __init__(self, settings: Settings) -> None:
        forks = "forkserver" in get_all_start_methods()
        context: Any = get_context("forkserver" if forks else "spawn")
        if forks:
            context.set_forkserver_preload([__name__])
        self.pipe, theirs = context.Pipe()
        self.last = False  # whether it has given its last answer
        self.process = context.Process(target=work, args=(theirs, settings), daemon=True)
        with deaf_children():
            self.process.start()
        theirs.close()

    def run(self, job: Callable[[Engine], T], deadline: Deadline) -> T:
        """The result of the job, or its problem; after any other error the process is of no more use."""
        try:
            self.pipe.send((job, max(deadline.left, STEP)))
            while not self.pipe.poll(STEP):
                deadline.check()
            answer, self.last = self.pipe.recv()
        except (EOFError, OSError):
            raise ReaderError("The process ended before it answered.") from None
        return cast(T, answer)

    def close(self) -> None:
        self.process.kill()
        self.process.join()
        self.process.close()
        self.pipe.close()


class Readers:
    """As many processes as threads ask for at once; one that passes a deadline is killed, and replaced when needed.

    Examples
    --------
    >>> Readers(Settings()).killed
    0
    """

    def __init__(self, settings: Settings) -> None:
        self.settings, self.killed, self._busy = settings, 0, 0
        self._idle: list[Reader] = []
        self._lock = Lock()

    def warm(self, until: Deadline) -> None:
        """Start a process for every worker, unless it is to end before."""
        while True:
            with self._lock:
                if len(self._idle) + self._busy >= self.settings.workers:
                    return
                self._busy += 1  # the one that starts
            try:
                reader = self._started(ready, until)
            except BaseException:
                self._done(None)
                raise
            self._done(reader)

    def _done(self, reader: Reader | None) -> None:
        """One reader fewer is busy: it waits for the next job, unless it has given its last answer."""
        with self._lock:
            self._busy -= 1
            if reader is not None and not reader.last:
                self._idle.append(reader)
            elif reader is not None:
                reader.close()

    def compile(self, until: Deadline) -> None:
        """Compile, in a process of its own, what requests need: here that would hold them up."""
        self._started(compile_all, until).close()

    def _started(self, job: Callable[[Engine], None], until: Deadline) -> Reader:
        reader = Reader(self.settings)
        try:
            reader.run(job, until)
        except BaseException:
            reader.close()
            raise
        return reader

    def run(self, job: Callable[[Engine], T], deadline: Deadline) -> T:
        """Do the job in a process; raises what it raises, and the time limit's problem at the deadline."""
        with self._lock:
            reader = self._idle.pop() if self._idle else Reader(self.settings)
            if reader.pipe.poll():  # nobody asked it anything: its end is closed
                reader.close()
                reader = Reader(self.settings)
            self._busy += 1
        try:
            answer = reader.run(job, deadline)
        except BaseException:
            with self._lock:
                self.killed += 1
                self._busy -= 1
                reader.close()
            raise
        self._done(reader)
        if isinstance(answer, ReaderError):
            log.error("%s", answer)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def close(self) -> None:
        """End the processes, which do nothing any more."""
        with self._lock:
            while self._idle:
                self._idle.pop().close()
