"""Shows on standard error how far a command is: a moving line on a terminal, a line a minute in a file."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from dpplearn._run.progress import Progress, bar
from dpplearn.cli import say, visible

WEIGHTS = "Learning weights"
EVERY = 60.0  # seconds between lines


class CommandProgress(Progress):
    """A moving line on a terminal, otherwise a line a minute, so that short work prints nothing."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        super().__init__(sys.stderr.isatty())
        self.clock, self.last_line, self.what, self.began = clock, clock(), "", (0, 0.0)

    def stage(self, what: str, done: int, total: int) -> None:
        now = self.clock()
        if what != self.what or done < self.began[0]:
            self.what, self.began = what, (done, now)
        first, start = self.began
        left = f", {time_left((now - start) * (total - done) / (done - first))} left" if done > first else ""
        if self.moving:
            self._draw(f"{visible(what)}  {bar(done, total)}  {done}/{total}{left}")
        elif now - self.last_line >= EVERY:
            self.last_line = now
            say(f"{what}: {done} of {total}{left}")

    def tick(self, done: int, total: int) -> None:
        self.stage(f"{WEIGHTS}, iteration {self.iteration + 1}", done, total)

    def finish(self, iteration: int, log_likelihood: float, gradient: float) -> None:
        super().finish(iteration, log_likelihood, gradient)
        if not self.moving and self.clock() - self.last_line >= EVERY:
            self.last_line = self.clock()
            say(f"{WEIGHTS}: {iteration} iterations done, log-likelihood {log_likelihood:.6g}")


def time_left(seconds: float) -> str:
    """Seconds in hours and minutes.

    >>> time_left(20.0), time_left(4321.0)
    ('less than a minute', '1 h 12 min')
    """
    minutes = round(seconds / 60)
    hours = f"{minutes // 60} h " if minutes >= 60 else ""
    return f"{hours}{minutes % 60} min" if minutes else "less than a minute"


@contextmanager
def bars() -> Iterator[Progress]:
    """The progress of a command, whose moving line is removed at the end."""
    progress = CommandProgress()
    try:
        yield progress
    finally:
        progress.last = ""
        progress.clear()
