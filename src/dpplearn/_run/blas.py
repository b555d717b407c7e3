"""How many threads BLAS may use."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from threading import Lock
from typing import Any

LARGE = 1024  # below this many items a second BLAS thread gains little, and on a busy machine costs up to 30 times


@cache
def controller() -> Any:
    from threadpoolctl import ThreadpoolController  # scikit-learn brings it

    return ThreadpoolController()


class OneThread:
    """One BLAS thread from when the first thread of Python asks for it until the last one has left, in any order."""

    def __init__(self) -> None:
        self.lock, self.users = Lock(), 0
        self.limit: Any = None

    def __enter__(self) -> None:
        with self.lock:
            self.users += 1
            if self.users == 1:
                self.limit = controller().limit(limits=1)

    def __exit__(self, *error: object) -> None:
        with self.lock:
            self.users -= 1
            if self.users == 0:
                let_any_thread_set()
                self.limit.restore_original_limits()
                let_any_thread_set()


def let_any_thread_set() -> None:
    """threadpoolctl 3.8 heeds only the thread that set a limit first; the last one that leaves may be another."""
    for library in controller().lib_controllers:
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread(force=True)


ONE = OneThread()


def blas_threads(n: int, one: bool = False) -> AbstractContextManager[Any]:
    """One BLAS thread for matrices of up to LARGE rows, or for all where asked; else what is set."""
    return ONE if one or n <= LARGE else nullcontext()
