"""Ends long work early: the caller sets a function, and long work calls it between its steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_check: ContextVar[Callable[[], None]] = ContextVar("dpplearn_stop", default=lambda: None)  # never stops


@contextmanager
def stops_when(check: Callable[[], None]) -> Iterator[None]:
    """In this block decoders and samplers call `check` between steps of about a second; it raises to end the work.

    No signal or exception from another thread interrupts a compiled loop, so this is how a server ends work that nobody
    waits for any more.

    Examples
    --------
    >>> def too_late():
    ...     raise TimeoutError("the time is over")
    >>> with stops_when(too_late):
    ...     check_stop()
    Traceback (most recent call last):
    TimeoutError: the time is over
    """
    token = _check.set(check)
    try:
        yield
    finally:
        _check.reset(token)


def check_stop() -> None:
    """Call the function of the innermost `stops_when`, which raises if the work is to end."""
    _check.get()()
