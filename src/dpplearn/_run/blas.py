"""How many threads BLAS may use."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

LARGE = 1024  # below this many items a second BLAS thread gains little, and on a busy machine costs up to 30 times


@cache
def controller() -> Any:
    from threadpoolctl import ThreadpoolController  # scikit-learn brings it

    return ThreadpoolController()


def blas_threads(n: int, one: bool = False) -> AbstractContextManager[Any]:
    """One BLAS thread for matrices of up to LARGE rows, or for all where asked; else what is set."""
    return controller().limit(limits=1) if one or n <= LARGE else nullcontext()
