"""The message shown when the first loop is compiled; this module imports little, so that any other may import it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass


def tell_terminal() -> None:
    """On a terminal, say why nothing happens for some seconds."""
    if sys.stderr is not None and sys.stderr.isatty():
        print("dpplearn compiles loops that it needs now; they are kept on disk.", file=sys.stderr, flush=True)


@dataclass
class Notice:
    """The message, and whether it was shown: once is enough."""

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
