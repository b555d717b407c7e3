"""How far a command is, on standard error: bars that go when the work is done, or a line a minute in a file."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from dpplearn._run.progress import Progress
from dpplearn.cli import say, visible

if TYPE_CHECKING:
    from rich.progress import Progress as Rich
    from rich.progress import TaskID

WEIGHTS = "Learning weights"
EVERY = 60.0  # seconds between lines
LONG = 10.0  # seconds from which the end says what they went to


class Bars(Progress):
    """A bar for each stage, drawn by rich."""

    def __init__(self, rich: Rich) -> None:
        super().__init__(False)
        self.rich = rich
        self.tasks: dict[str, TaskID] = {}

    def stage(self, what: str, done: int, total: int) -> None:
        self.rich.update(self.task(what), completed=done, total=total)

    def tick(self, done: int, total: int) -> None:
        self.stage(WEIGHTS, done, total)

    def finish(self, iteration: int, log_likelihood: float, gradient: float) -> None:  # noqa: ARG002  # Progress's
        said = f"{WEIGHTS}, iteration {iteration}, log-likelihood {log_likelihood:.6g}"
        self.rich.update(self.task(WEIGHTS), description=said)

    def task(self, what: str) -> TaskID:
        """The bar of a stage, which has no length until one is said."""
        if what not in self.tasks:
            self.tasks[what] = self.rich.add_task(visible(what), total=None)
        return self.tasks[what]


class Lines(Progress):
    """A line now and then, for a file that keeps what long work says, and at its end what took longest.

    Nothing for work that is done in a minute, but for its end where that comes after ten seconds.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        super().__init__(False)
        self.clock, self.told, self.what, self.began = clock, clock(), "", (0, 0.0)
        self.seconds = Counter[str]()

    def stage(self, what: str, done: int, total: int) -> None:
        now = self.clock()
        if what != self.what or done < self.began[0]:
            self.what, self.began = what, (done, now)
        if now - self.told >= EVERY:
            self.told, (first, start) = now, self.began
            left = (now - start) * (total - done) / (done - first) if done > first else None
            say(f"{what}: {done} of {total}" + (f", {time_left(left)} left" if left is not None else ""))

    def tick(self, done: int, total: int) -> None:
        self.stage(f"{WEIGHTS}, iteration {self.iteration + 1}", done, total)

    def finish(self, iteration: int, log_likelihood: float, gradient: float) -> None:
        super().finish(iteration, log_likelihood, gradient)
        if self.clock() - self.told >= EVERY:
            self.told = self.clock()
            say(f"{WEIGHTS}: {iteration} iterations done, log-likelihood {log_likelihood:.6g}")

    def took(self, what: str, seconds: float) -> None:
        self.seconds[what] += seconds  # type: ignore[assignment]  # Counter adds any number

    def end(self) -> None:
        """Say which parts took longest, where they took long."""
        total = sum(self.seconds.values())
        if total >= LONG:
            most = [f"{what} {some:.0f} s" for what, some in self.seconds.most_common(3) if some >= total / 20]
            say(f"Of {total:.0f} s, most went to {', '.join(most)}.")


def time_left(seconds: float) -> str:
    """In hours and minutes.

    Examples
    --------
    >>> time_left(20.0), time_left(4321.0)
    ('less than a minute', '1 h 12 min')
    """
    minutes = round(seconds / 60)
    hours = f"{minutes // 60} h " if minutes >= 60 else ""
    return f"{hours}{minutes % 60} min" if minutes else "less than a minute"


@contextmanager
def bars() -> Iterator[Progress]:
    """What shows how far the work is, with the time left: bars on a terminal, else a line a minute."""
    if not sys.stderr.isatty():
        yield (lines := Lines())
        lines.end()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Rich

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Rich(*columns, console=Console(stderr=True), transient=True) as rich:
        yield Bars(rich)
