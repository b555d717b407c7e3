"""The decorators that loops wear, and when a loop is compiled.

Compiling takes seconds, and a loop of few steps is done in Python before a compiler has begun. So a loop that says
how many steps it takes (`steps`) runs as it is written where they are few and nothing compiled is on disk: the same
function, with the same result to rounding. It is compiled once it has taken more time so than compiling is worth, and
kept on disk. All others are compiled when first called.
"""

import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256
from inspect import signature
from pathlib import Path
from threading import local
from time import thread_time
from types import FunctionType
from typing import Any

import numpy as np
from numba import njit
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.registry import CPUDispatcher

from dpplearn._run.notice import notice

FEW = 1_000_000  # steps that Python does in about half a second
PATIENCE = 1.0  # seconds of a loop in Python, after which it is compiled: that takes one to five
ALWAYS = "DPPLEARN_COMPILE"  # in the environment, "always": compile whatever the steps are

Function = Callable[..., Any]


class Loop(CPUDispatcher):
    """A function that numba compiles, and that runs as it is written where that is quicker.

    numba asks `_compile_for_args` for something to call when it has no compiled version of its own at hand, so this
    costs calls of compiled versions nothing; loops that are compiled call one another as ever.
    """

    _cache: Any
    few: Callable[[tuple[Any, ...]], bool] = staticmethod(lambda _: False)  # of one that was pickled
    spent = 0.0  # seconds in Python

    def _compile_for_args(self, *args: Any, **kws: Any) -> Any:
        start = thread_time()
        if not self.is_kept(args):
            if self.spent < PATIENCE and not here.always and self.few(args):
                self.spent += thread_time() - start
                return self.run_as_written
            notice.announce()
        return super()._compile_for_args(*args, **kws)  # type: ignore[misc]  # numba has no types

    def is_kept(self, args: tuple[Any, ...]) -> bool:
        """Whether a compiled version for arguments of these types is on disk."""
        if not isinstance(self._cache, Kept):
            return False
        try:
            return self._cache.has(tuple(map(self.typeof_pyval, args)), self.targetctx)
        finally:
            self._types_active_call.clear()  # type: ignore[attr-defined]  # as above

    def run_as_written(self, *args: Any) -> Any:
        start = thread_time()
        with np.errstate(all="ignore"):  # compiled, 1 / 0 is infinite and integers wrap around without a word
            try:
                return as_written(self)(*args)
            finally:
                self.spent += thread_time() - start


class Here(local):
    """What holds for a thread."""

    always = os.environ.get(ALWAYS) == "always"  # compile, whatever the steps are


here = Here()


@contextmanager
def compiled_always() -> Iterator[None]:
    """Compile, or load, every loop that this thread calls here: where time is measured, or loops are made ready."""
    before, here.always = here.always, True
    try:
        yield
    finally:
        here.always = before


@cache
def as_written(loop: Loop) -> Function:
    """The function of a loop, which sees functions in place of the loops that it calls."""
    return FunctionType(loop.py_func.__code__, names_as_written(loop.py_func.__globals__), loop.py_func.__name__)


NAMES: dict[int, tuple[dict[str, Any], dict[str, Any]]] = {}  # of each module, by the identity of what is its own


def names_as_written(own: dict[str, Any]) -> dict[str, Any]:
    """The names of a module, with functions in place of loops. Whole before another thread can see them."""
    if id(own) not in NAMES:
        names = dict(own)
        for name, loop in own.items():
            if isinstance(loop, Loop):
                theirs = loop.py_func.__globals__
                seen = names if theirs is own else names_as_written(theirs)  # modules import in one direction
                names[name] = FunctionType(loop.py_func.__code__, seen, loop.py_func.__name__)
        NAMES[id(own)] = own, names
    return NAMES[id(own)][1]


def few_steps(function: Function, steps: Function | None) -> Callable[[tuple[Any, ...]], bool]:
    """Whether a call with these arguments is of few steps; never, where nothing is said of them."""
    if steps is None:
        return lambda _: False
    names = list(signature(function).parameters)
    places = [names.index(name) for name in signature(steps).parameters]
    return lambda args: bool(steps(*(args[place] for place in places)) <= FEW)


def exact(function: Function | None = None, /, *, steps: Function | None = None, **options: Any) -> Any:
    """Compile on first call, release the GIL, and cache on disk where some folder can be written.

    Without options, every operation is done in the order written. `steps`, a function of some of the arguments, by
    their names, says about how many steps of its innermost lines a call takes: with few of them it may run uncompiled.
    """
    if function is None:
        return lambda function: exact(function, steps=steps, **options)
    compiled: Any = njit(nogil=True, **options)(function)
    if compiled is function:  # numba was told not to compile
        return function
    compiled.__class__ = Loop
    compiled.few = few_steps(function, steps)
    with suppress(RuntimeError, OSError):  # no folder for its cache, or no files of sources: compile in each process
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


Located: Any = FunctionCache._impl_class
Named, *others = Located._locator_classes  # Named finds the folder NUMBA_CACHE_DIR


class Readable(Named):  # type: ignore[misc, valid-type]  # as above
    """A folder of that name which has compiled loops, and to which none can be added, as in an image that is sealed."""

    def ensure_cache_path(self) -> None:
        if not Path(self.get_cache_path()).is_dir():
            raise FileNotFoundError


@cache
def sources() -> str:
    """A digest of all loops and the constants they read: a loop holds those that it calls, in whatever file."""
    folder = Path(__file__).parent
    files = [*sorted(folder.rglob("*_loops.py")), folder / "sampling" / "records.py", folder / "_precision.py"]
    return sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


class Kept(FunctionCache):
    """numba's cache of a function; where it cannot be read or written, the function is compiled in memory."""

    _impl_class: Any = type("Located", (Located,), {"_locator_classes": [Named, Readable, *others]})

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file.__class__ = Sealed
        self._lacks: dict[Any, tuple[int, ...]] = {}  # types without a version, and the index that had none
        self._cache_file._source_stamp = self._cache_file._source_stamp, sources()

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

    def has(self, sig: Any, target_context: Any) -> bool:
        """Whether there is a version for arguments of these types; the index is read when it is another."""
        try:
            index = os.stat(self._cache_file._index_path)
            stamp = index.st_ino, index.st_mtime_ns, index.st_size
            if self._lacks.get(sig) == stamp:
                return False
            if self._index_key(sig, target_context.codegen()) in self._cache_file._load_index():
                return True
            self._lacks[sig] = stamp
        except Exception:  # no index, or as above: it will be made anew
            return False
        return False

    def has_any(self) -> bool:
        """Whether there is any version."""
        with suppress(Exception):
            return bool(self._cache_file._load_index())
        return False

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


def are_kept(*loops: Any) -> bool | None:
    """Whether compiled versions of all these loops are on disk; None where they cannot be."""
    caches = [getattr(loop, "_cache", None) for loop in loops]
    if not all(isinstance(cache, Kept) for cache in caches):
        return None
    return all(cache.has_any() for cache in caches if isinstance(cache, Kept))


def jit(function: Function | None = None, /, *, steps: Function | None = None) -> Any:
    """Compile as `exact` does, but let sums be reordered: what nearly every loop wears."""
    # reassoc lets short dot products use vector registers; NaN and infinity keep their meaning.
    return exact(function, steps=steps, fastmath={"reassoc", "contract", "nsz"}, error_model="numpy")
