"""The decorators that loops wear."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numba import njit
from numba.core import event


def exact(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """Compile on first call, release the GIL, and cache on disk where some folder can be written.

    Without options, every operation is done in the order written.
    """
    try:
        return njit(cache=True, nogil=True, **options)(function)
    except RuntimeError:  # numba found no folder for its cache: compile anew in each process
        return njit(nogil=True, **options)(function)


def jit(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile as `exact` does, but let sums be reordered: what nearly every loop wears."""
    # reassoc lets short dot products use vector registers; NaN and infinity keep their meaning.
    return exact(function, fastmath={"reassoc", "contract", "nsz"}, error_model="numpy")


class Once(event.Listener):
    """Calls back when the first compilation starts; loading from the cache is none."""

    def __init__(self, callback: Callable[[], None]) -> None:
        self.callback, self.called = callback, False

    def on_start(self, event: Any) -> None:  # noqa: ARG002  # numba's signature
        if not self.called:
            self.called = True
            self.callback()

    def on_end(self, event: Any) -> None:
        """Nothing to do."""


@contextmanager
def say_when_compiling(callback: Callable[[], None]) -> Iterator[None]:
    """Call back, once, if a loop has to be compiled in this block: the first run on a machine takes seconds."""
    listener = Once(callback)
    event.register("numba:compile", listener)
    try:
        yield
    finally:
        event.unregister("numba:compile", listener)
