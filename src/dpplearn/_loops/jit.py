"""The decorators that loops wear."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from numba import njit
from numba.core import event
from numba.core.caching import FunctionCache, IndexDataCacheFile


def exact(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """Compile on first call, release the GIL, and cache on disk where some folder can be written.

    Without options, every operation is done in the order written.
    """
    compiled = njit(nogil=True, **options)(function)
    with suppress(RuntimeError):  # numba found no folder for its cache: compile anew in each process
        compiled._cache = Kept(function)
    return compiled


class Sealed(IndexDataCacheFile):
    """numba's files, with a digest at their end: machine code of which a byte is wrong would end the process."""

    def _dump(self, obj: Any) -> bytes:
        data = super()._dump(obj)
        return data + sha256(data).digest()  # what follows a pickle is not read

    def _load_data(self, name: str) -> Any:
        data = Path(self._data_path(name)).read_bytes()
        if sha256(data[:-32]).digest() != data[-32:]:
            raise ValueError("not what was written")
        return super()._load_data(name)


class Kept(FunctionCache):
    """numba's cache of a function; where it cannot be read or written, the function is compiled in memory."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file.__class__ = Sealed

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # half a file, or something else in it: reading raises nearly anything
            self.remove()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except OSError as error:
            self.remove()  # an index without its data would be taken for that of older code
            warn_not_kept(self.cache_path, str(error))

    def remove(self) -> None:
        """Remove the index: without it no other file of the function is read, and each is written anew."""
        with suppress(OSError):
            Path(self._cache_file._index_path).unlink()


@cache  # once in a process: the next loop would say the same
def warn_not_kept(folder: str, why: str) -> None:
    warnings.warn(
        f"Compiled loops cannot be kept in {folder} ({why}): every run compiles them anew. "
        "Make room there, or name another folder with NUMBA_CACHE_DIR.",
        RuntimeWarning,
        stacklevel=2,
    )


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
