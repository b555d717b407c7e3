"""What clients send is read in sandboxes: Python code hears no deadline, but a process can be killed."""

from __future__ import annotations

import logging
import os
import pickle  # between the server and its own processes
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

from dpplearn._run.blas import one_thread
from dpplearn._run.sandbox import Sandbox, Sandboxes, SandboxLostError
from dpplearn._run.stop import stops_when
from dpplearn.web import schema
from dpplearn.web.engine import Engine, Read
from dpplearn.web.forms import read_form
from dpplearn.web.guard import where
from dpplearn.web.pool import Deadline
from dpplearn.web.problems import Problem
from dpplearn.web.settings import Settings
from dpplearn.web.validation import parse

T = TypeVar("T")
MEMORY = 4 * 2**30  # bytes of address space that a process may take
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


def compile_all(engine: Engine) -> None:
    """Fill the folder of compiled loops, in time that no answer needs."""
    if hasattr(os, "nice"):
        os.nice(10)
    engine.warm()


class ReaderError(Exception):
    """A mistake in a process that reads, and its place; no message, which may quote a document."""


def work(data: bytes) -> bytes:
    """In a process: what a job makes of the models, or its problem."""
    settings, job = pickle.loads(data)
    try:
        with one_thread():
            answer = job(engine_of(settings))
    except Problem as problem:
        answer = problem
    except Exception as error:
        answer = ReaderError(f"{type(error).__name__} at {where(error)}")
    return pickle.dumps(answer)


@lru_cache(maxsize=1)
def engine_of(settings: Settings) -> Engine:
    """The models, loaded once in a process."""
    return Engine(settings)


class Readers:
    """As many processes as threads ask for at once; one that passes a deadline is killed, and replaced when needed.

    Examples
    --------
    >>> Readers(Settings()).killed
    0
    """

    def __init__(self, settings: Settings) -> None:
        self.settings, self.boxes = settings, Sandboxes(settings.workers, __name__)

    @property
    def killed(self) -> int:
        """Processes that ended before they answered."""
        return self.boxes.lost

    def warm(self) -> None:
        """Start a process for every worker."""
        self.boxes.fill()

    def compile(self, until: Deadline) -> None:
        """Compile, in a process of its own, what requests need: here that would hold them up."""
        box = Sandbox(__name__)
        try:
            self.run(compile_all, until, box)
        finally:
            box.close()

    def run(self, job: Callable[[Engine], T], deadline: Deadline, box: Sandbox | Sandboxes | None = None) -> T:
        """Do the job in a process; raises what it raises, and the time limit's problem at the deadline."""
        data, left = pickle.dumps((self.settings, job)), max(deadline.left, 0.05)
        try:
            with stops_when(deadline.check):
                found = (box or self.boxes).run(f"{__name__}:work", data, {}, seconds=left, memory=MEMORY)
        except SandboxLostError:
            deadline.check()
            raise ReaderError("The process ended before it answered.") from None
        answer: Any = pickle.loads(found)
        if isinstance(answer, ReaderError):
            log.error("%s", answer)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def close(self) -> None:
        """End the processes that wait for work."""
        self.boxes.close()
