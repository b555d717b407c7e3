"""A way to end long work early: its caller sets a question, and whatever takes long asks it between its steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


def go_on() -> None:
    """The default: never stops."""


_asked: ContextVar[Callable[[], None]] = ContextVar("dpplearn_stop", default=go_on)


@contextmanager
def stops_when(ask: Callable[[], None]) -> Iterator[None]:
    """In this block decoders and samplers call `ask` between steps of at most a second or so; it may raise.

    Where it does not, nothing changes. Compiled loops hear no signal and no exception from other threads: this is how
    a server ends work that nobody waits for any more.

    Examples
    --------
    >>> def ask():
    ...     raise TimeoutError("the time is over")
    >>> with stops_when(ask):
    ...     check_stop()
    Traceback (most recent call last):
    TimeoutError: the time is over
    """
    token = _asked.set(ask)
    try:
        yield
    finally:
        _asked.reset(token)


def check_stop() -> None:
    """Ask whether to go on."""
    _asked.get()()
