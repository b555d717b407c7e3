"""How far a fit or a sampler is, on standard error: one line that is redrawn, on a terminal or in a notebook.

Elsewhere, as in a log, it is one line for each iteration.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
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
        self.moving = self.verbose and (self.stream.isatty() or is_notebook(self.stream))
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
        self.last = (
            f"iteration {iteration:3d}  {bar(1, 1)}  log-likelihood {log_likelihood:.6f}  gradient {gradient:.1e}"
        )
        if self.moving:
            self._draw(self.last)
        elif self.verbose:
            print(self.last, file=self.stream, flush=True)

    def took(self, what: str, seconds: float) -> None:
        """A part of the work took so many seconds; a subclass may say at the end which part took longest."""

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


def is_notebook(stream: object) -> bool:
    """Whether a stream is that of a notebook's cell, which can draw a line again though it is no terminal."""
    return type(stream).__module__.partition(".")[0] == "ipykernel"


_shown: ContextVar[tuple[Progress, str] | None] = ContextVar("shown", default=None)


@contextmanager
def showing(progress: bool | Progress, what: str) -> Iterator[None]:
    """In this block the parts of the work that threads finish move a bar, if `progress` asks for one."""
    if progress is False:
        yield
        return
    if not isinstance(progress, bool | Progress):
        raise TypeError(f"progress must be True or False, found {progress!r:.60}.")
    drawn = as_progress(progress)
    token = _shown.set((drawn, what))
    try:
        yield
    finally:
        _shown.reset(token)
        drawn.clear()


def shown_progress() -> tuple[Progress, str] | None:
    """The object that shows progress here, and the name of the work; None without one."""
    return _shown.get()


def as_progress(verbose: bool | Progress) -> Progress:
    """The object that shows progress; True and False make one."""
    return verbose if isinstance(verbose, Progress) else Progress(verbose)
