"""What long work says on standard error: how far it is, and that loops are compiled.

Progress is one line that is redrawn, on a terminal or in a notebook; elsewhere, as in a log, it is one line for each
iteration. This module imports little, so that any other may import it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from stat import S_ISFIFO
from typing import TextIO

WIDTH = 24


class Progress:
    """Prints nothing unless `verbose`. A subclass may show the same elsewhere: pass it as `verbose`.

    Examples
    --------
    >>> import io
    >>> out = io.StringIO()
    >>> bar = Progress(True, out)
    >>> bar.finish(3, -912.25, 1.5e-3)
    >>> print(out.getvalue().strip())
    iteration   3  ########################  log-likelihood -912.250000  gradient 1.5e-03
    """

    def __init__(self, verbose: bool, stream: TextIO | None = None) -> None:
        self.verbose, self.stream = bool(verbose), stream or sys.stderr
        self.moving = self.verbose and (self.stream.isatty() or shows_in_notebook(self.stream))  # redraws its line
        self.iteration = 0
        self.last, self.width = "", 0  # the last iteration's line; what is on the screen

    def stage(self, what: str, done: int, total: int) -> None:
        """A part of the work that comes before or after the iterations, such as reading."""
        if self.moving:
            self._draw(f"{what}  {bar(done, total)}")

    def tick(self, done: int, total: int) -> None:
        """Instances evaluated in this iteration."""
        if self.moving:
            values = self.last.partition(f"  {bar(1, 1)}  ")[2]
            self._draw(f"iteration {self.iteration + 1:3d}  {bar(done, total)}  {values}".rstrip())

    def finish(self, iteration: int, log_likelihood: float, gradient: float) -> None:
        """An iteration is done."""
        self.iteration = iteration
        if not self.verbose:
            return
        self.last = (
            f"iteration {iteration:3d}  {bar(1, 1)}  log-likelihood {log_likelihood:.6f}  gradient {gradient:.1e}"
        )
        if self.moving:
            self._draw(self.last)
        else:
            print(self.last, file=self.stream, flush=True)

    def clear(self) -> None:
        """Leave the last iteration on the screen, and nothing half-drawn; another fit may follow."""
        self.iteration = 0
        if self.moving:
            self._draw(self.last)
            print(end="\n" if self.last else "", file=self.stream, flush=True)
            self.last, self.width = "", 0

    def _draw(self, line: str) -> None:
        print("\r" + line.ljust(self.width), end="\r" if not line else "", file=self.stream, flush=True)
        self.width = len(line)


def bar(done: int, total: int) -> str:
    filled = WIDTH * done // max(total, 1)
    return "#" * filled + "." * (WIDTH - filled)


def as_progress(verbose: bool | Progress) -> Progress:
    """The object that shows progress; True and False make one."""
    return verbose if isinstance(verbose, Progress) else Progress(verbose)


current_work = ContextVar[tuple[Progress, str] | None]("current_work", default=None)  # what shows the work, its name


@contextmanager
def showing(progress: bool | Progress, what: str) -> Iterator[None]:
    """In this block the parts of the work that threads finish move a bar, if `progress` asks for one."""
    if not isinstance(progress, bool | Progress):
        raise TypeError(f"progress must be True or False, found {progress!r:.60}.")
    drawn = as_progress(progress)
    token = current_work.set((drawn, what))
    try:
        yield
    finally:
        current_work.reset(token)
        drawn.clear()


def tell_reader() -> None:
    """Say why nothing happens for some seconds, on a terminal, in a notebook or in a log: not to another program."""
    if sys.stderr is not None and not is_pipe(sys.stderr):
        last = "" if notice.took is None else f" Last time this took {notice.took:.0f} s."
        print(f"dpplearn compiles loops that it needs now; they are kept on disk.{last}", file=sys.stderr, flush=True)


def is_pipe(stream: TextIO) -> bool:
    """Whether a program reads the stream. A notebook's may have the number of a pipe, and people read it."""
    try:
        return not shows_in_notebook(stream) and S_ISFIFO(os.fstat(stream.fileno()).st_mode)
    except (AttributeError, OSError, ValueError):  # no file of the system
        return False


def shows_in_notebook(stream: TextIO) -> bool:
    return type(stream).__module__.partition(".")[0] == "ipykernel"


@dataclass
class Notice:
    """The message that a loop is compiled, and whether it was shown: once is enough."""

    tell: Callable[[], None] = tell_reader
    said: bool = False
    took: float | None = None  # seconds that compiling took the process before, where that is known

    def announce(self) -> None:
        if not self.said:
            self.said = True
            self.tell()


notice = Notice()


@contextmanager
def say_when_compiling(callback: Callable[[], None]) -> Iterator[None]:
    """Call back, once, if a loop has to be compiled in this block, here or in a process that works for it."""
    before = notice.tell, notice.said
    notice.tell, notice.said = callback, False
    try:
        yield
    finally:
        notice.tell, notice.said = before
