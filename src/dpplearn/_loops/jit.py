"""The decorator that every loop wears."""

from collections.abc import Callable
from typing import Any

from numba import njit


def jit(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile on first call, release the GIL, and cache on disk where some folder can be written."""
    # reassoc lets short dot products use vector registers; NaN and infinity keep their meaning.
    options: dict[str, Any] = {"nogil": True, "fastmath": {"reassoc", "contract", "nsz"}, "error_model": "numpy"}
    try:
        return njit(cache=True, **options)(function)
    except RuntimeError:  # numba found no folder for its cache: compile anew in each process
        return njit(**options)(function)
