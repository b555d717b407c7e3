"""How far a command is: bars on standard error, only where that is a terminal, gone when the work is done."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dpplearn._run.progress import Progress
from dpplearn.cli import visible

if TYPE_CHECKING:
    from rich.progress import Progress as Rich
    from rich.progress import TaskID

WEIGHTS = "Learning weights"


class Bars(Progress):
    """A bar for each stage, drawn by rich."""

    def __init__(self, rich: Rich) -> None:
        super().__init__(False)
        self.rich = rich
        self.tasks: dict[str, TaskID] = {}

    def stage(self, what: str, done: int, total: int) -> None:
        if what not in self.tasks:
            self.tasks[what] = self.rich.add_task(visible(what))
        self.rich.update(self.tasks[what], completed=done, total=total)

    def tick(self, done: int, total: int) -> None:
        self.stage(WEIGHTS, done, total)
        said = f"{WEIGHTS}, iteration {self.iteration + 1}"
        self.rich.update(self.tasks[WEIGHTS], description=said)

    def finish(self, iteration: int, log_likelihood: float, gradient: float) -> None:  # noqa: ARG002  # Progress's
        self.iteration = iteration

    def clear(self) -> None:
        self.iteration = 0  # another fit may follow


@contextmanager
def bars() -> Iterator[Progress]:
    """What shows how far the work is: nothing where nobody watches."""
    if not sys.stderr.isatty():
        yield Progress(False)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Rich

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Rich(*columns, console=Console(stderr=True), transient=True) as rich:
        yield Bars(rich)
