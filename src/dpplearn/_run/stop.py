"""A way to end long work early: its caller sets a function, and whatever takes long calls it between its steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_asked: ContextVar[Callable[[], None]] = ContextVar("dpplearn_stop", default=lambda: None)  # never stops


@contextmanager
def stops_when(ask: Callable[[], None]) -> Iterator[None]:
    """In this block decoders and samplers call `ask` between steps of at most a second or so; it may raise.

    If it returns, nothing changes. No signal or exception from another thread interrupts a compiled loop, so this is
    how a server ends work that nobody waits for any more.

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
    """Raise what the caller's function raises, if the work is to end."""
    _asked.get()()
