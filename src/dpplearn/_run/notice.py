"""What is said when the first loop is compiled, and to whom; light, so that all may ask for it before any work."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass


def tell_terminal() -> None:
    """Say, on a terminal, why nothing happens for some seconds."""
    if sys.stderr is not None and sys.stderr.isatty():
        print("dpplearn compiles loops that it needs now; they are kept on disk.", file=sys.stderr, flush=True)


@dataclass
class Notice:
    """What is said, once, when the first loop is compiled."""

    tell: Callable[[], None] = tell_terminal
    said: bool = False

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
