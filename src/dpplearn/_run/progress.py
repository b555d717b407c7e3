"""Tells the user on standard error how far long work is, and that loops are compiled.

Progress is one line that is redrawn on a terminal or in a notebook; elsewhere, as in a log, it is one line for each
iteration. This module imports little, so that any other may import it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from stat import S_ISFIFO
from typing import TextIO

WIDTH = 24


class Progress:
    """Prints progress if `verbose`; a subclass that shows it elsewhere can be passed as `verbose` to long work."""

    def __init__(self, verbose: bool, stream: TextIO | None = None) -> None:
        self.verbose, self.stream = bool(verbose), stream or sys.stderr
        self.moving = self.verbose and (self.stream.isatty() or shows_in_notebook(self.stream))  # redraws its line
        self.iteration = 0
        self.last, self.width = "", 0  # the line of the last iteration, and the width of the line on the screen

    def stage(self, what: str, done: int, total: int) -> None:
        """Show work before or after the iterations, such as reading."""
        if self.moving:
            self._draw(f"{what}  {bar(done, total)}")

    def tick(self, done: int, total: int) -> None:
        """Show how many instances are evaluated in this iteration."""
        if self.moving:
            values = self.last.partition(f"  {bar(1, 1)}  ")[2]
            self._draw(f"iteration {self.iteration + 1:3d}  {bar(done, total)}  {values}".rstrip())

    def finish(self, iteration: int, log_likelihood: float, gradient: float) -> None:
        """Show the result of an iteration."""
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
        """Leave only the last iteration on the screen; another fit may follow."""
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
    """The `Progress` that shows progress; True and False make a new one."""
    return verbose if isinstance(verbose, Progress) else Progress(verbose)


current_work = ContextVar[tuple[Progress, str] | None]("current_work", default=None)  # who shows the work, and its name


@contextmanager
def showing(progress: bool | Progress, what: str) -> Iterator[None]:
    """In this block, each task that `map_threads` finishes moves a bar, if `progress` is not False."""
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
    """Explain why nothing happens for some seconds, on a terminal, in a notebook or in a log, but not to a program."""
    with suppress(AttributeError, OSError, ValueError):  # the stream is not a file of the system
        if not shows_in_notebook(sys.stderr) and S_ISFIFO(os.fstat(sys.stderr.fileno()).st_mode):
            return  # a program reads a pipe, unless it is that of a notebook
    if sys.stderr is not None:
        last = "" if notice.took is None else f" Last time this took {notice.took:.0f} s."
        print(f"dpplearn compiles loops that it needs now; they are kept on disk.{last}", file=sys.stderr, flush=True)


def shows_in_notebook(stream: TextIO) -> bool:
    return type(stream).__module__.partition(".")[0] == "ipykernel"


@dataclass
class Notice:
    """The message that loops are compiled, which is shown once."""

    tell: Callable[[], None] = tell_reader
    said: bool = False
    took: float | None = None  # seconds that the previous process took to compile, if known

    def announce(self) -> None:
        if not self.said:
            self.said = True
            self.tell()


notice = Notice()


@contextmanager
def say_when_compiling(callback: Callable[[], None]) -> Iterator[None]:
    """In this block, call back once if a loop has to be compiled, here or in a worker process."""
    before, notice.tell, notice.said = (notice.tell, notice.said), callback, False
    try:
        yield
    finally:
        notice.tell, notice.said = before
