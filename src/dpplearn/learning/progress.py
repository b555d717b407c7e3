"""A line per iteration on standard error: how far it is, then the log-likelihood and the gradient."""

from __future__ import annotations

import sys
from typing import TextIO

WIDTH = 24


class Progress:
    """Prints nothing unless `verbose`; the bar moves only on a terminal.

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
        self.moving = self.verbose and self.stream.isatty()
        self.iteration = 0

    def tick(self, done: int, total: int) -> None:
        if self.moving:
            filled = WIDTH * done // total
            bar = "#" * filled + "." * (WIDTH - filled)
            print(f"\riteration {self.iteration + 1:3d}  {bar}", end="", file=self.stream, flush=True)

    def finish(self, iteration: int, log_likelihood: float, gradient: float) -> None:
        self.iteration = iteration
        if self.verbose:
            line = (
                f"iteration {iteration:3d}  {'#' * WIDTH}  log-likelihood {log_likelihood:.6f}  gradient {gradient:.1e}"
            )
            print(("\r" if self.moving else "") + line, file=self.stream, flush=True)

    def clear(self) -> None:
        """End a half-drawn line."""
        if self.moving:
            print("\r" + " " * (WIDTH + 16), end="\r", file=self.stream, flush=True)
