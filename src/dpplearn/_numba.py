"""The decorators `jit` and `strict_jit`, which compile loops with numba when it pays.

Compiling takes seconds, and Python finishes a loop of few steps before a compiler has begun. So a loop of few steps
runs as Python, with the same result up to rounding. Once it has taken `PATIENCE` seconds that way, a thread compiles
it while calls go on as before. A loop of many steps is compiled first, and a message says so. numba keeps compiled
loops on disk.
"""

import atexit
import os
import shutil
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache, cached_property, partial, update_wrapper
from hashlib import sha256
from inspect import signature
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from threading import Lock, Thread
from time import monotonic, thread_time
from types import FunctionType
from typing import Any

import numba
import numpy as np
from numba.core.event import Listener, install_listener
from numba.extending import typeof_impl
from numpy import ndarray

from dpplearn._run.progress import notice

FEW_STEPS = 1_000_000  # Python does so many steps in about half a second
PATIENCE = 1.0  # seconds that a loop may take in Python before it is compiled, which takes one to five
COMPILING = Lock()  # held by the thread that compiles or loads a loop, since numba can only do one at a time
CONFIG: Any = numba.config  # numba makes its attributes at run time
USER_FOLDER = CONFIG.CACHE_DIR  # the folder that NUMBA_CACHE_DIR names
CONSTANTS = ("_precision.py", "sampling/__init__.py")  # files with the constants and records that loops use

TIME_FILE = "seconds"  # beside the folders of compiled loops: how long a process compiled, for the next one's message
COMPILE_SECONDS: list[float] = []  # seconds that this process took to compile each loop

Function = Callable[..., Any]
_always: ContextVar[bool] = ContextVar("dpplearn_compile", default=os.environ.get("DPPLEARN_COMPILE") == "always")


@contextmanager
def compiled_always(always: bool = True) -> Iterator[None]:
    """Compile or load every loop that this block calls, even those of few steps, so that all digits are the same."""
    token = _always.set(always)
    try:
        yield
    finally:
        _always.reset(token)


def compiles_always() -> bool:
    """Whether the caller is in a block of `compiled_always`; worker processes are told."""
    return _always.get()


class Loop:
    """A function of arrays and numbers that runs in Python or compiled; loops that call it are compiled with it."""

    __qualname__: str

    def __init__(self, function: Function, steps: Function | None, options: dict[str, Any]) -> None:
        update_wrapper(self, function)
        self.function, self.steps, self.options = function, steps, {"nogil": True, **options}
        names = list(signature(function).parameters)
        self.places = [names.index(name) for name in signature(steps).parameters] if steps else []
        # keys are the kinds of arguments, which are found more quickly than numba's types
        self.versions: dict[Any, Function] = {}
        self.seconds: dict[Any, float] = {}  # time spent in Python; negative once a thread compiles the loop

    def __call__(self, *args: Any) -> Any:
        kinds = tuple(map(kind, args))
        version = self.versions.get(kinds)
        return self.run_or_compile(kinds, args) if version is None else version(*args)

    def __reduce__(self) -> str:
        return self.__qualname__

    def run_or_compile(self, kinds: Any, args: tuple[Any, ...]) -> Any:
        """Run a loop for arguments whose compiled version is not loaded."""
        few = self.steps is not None and self.steps(*(args[place] for place in self.places)) <= FEW_STEPS
        on_disk = False
        if kinds not in self.seconds and not COMPILING.locked():
            with suppress(OSError):  # no folder can be written to
                on_disk = self.mark(tuple(map(numba.typeof, args))).exists()
        if not few or on_disk or _always.get():
            return self.compile(kinds, tuple(map(numba.typeof, args)))(*args)
        if self.seconds.setdefault(kinds, 0.0) >= PATIENCE:
            self.seconds[kinds] = -np.inf
            Thread(None, self.compile, "dpplearn compiles", (kinds, tuple(map(numba.typeof, args)))).start()
        start = thread_time()
        try:
            with np.errstate(all="ignore"):  # as in compiled code, 1 / 0 is infinite and integers wrap around
                return self.plain(*args)
        finally:
            self.seconds[kinds] += thread_time() - start

    def mark(self, types: tuple[Any, ...]) -> Path:
        """An empty file that exists if the version for arguments of these numba types is on disk."""
        return folder() / f"{self.__module__}.{self.__qualname__}-{sha256(str(types).encode()).hexdigest()[:16]}"

    def compile(self, kinds: Any, types: tuple[Any, ...]) -> Function:
        """The version for arguments of these types, loaded from disk or compiled."""
        with COMPILING:
            if kinds not in self.versions:
                self.versions[kinds] = self.load_or_compile(types)
            return self.versions[kinds]

    def load_or_compile(self, types: tuple[Any, ...]) -> Function:
        listener, start = CompileListener(), monotonic()
        with install_listener("numba:compile", listener):
            try:
                CONFIG.CACHE_DIR = str(folder())  # numba looks there when it decorates a function, not later
                version = numba.njit(self.function, cache=True, **self.options)
                version.compile(types)
                self.mark(types).touch()
            except numba.errors.NumbaError:  # the fault is in the loop, not in the files
                raise
            except Exception as error:  # a damaged file may raise almost any exception
                with suppress(OSError):  # no folder can be written to
                    shutil.rmtree(folder())
                lost = f"Compiled loops could not be read from disk or kept there ({error!r:.80})"
                advice = "They are compiled again. Set NUMBA_CACHE_DIR to keep them in another folder."
                warnings.warn(f"{lost}. {advice}", RuntimeWarning, stacklevel=2)
                version = numba.njit(self.function, **self.options)
                version.compile(types)
            finally:
                CONFIG.CACHE_DIR = USER_FOLDER
                if listener.heard:
                    COMPILE_SECONDS.append(monotonic() - start)
                    with suppress(OSError):
                        if folder().name.startswith("loops-"):  # not a temporary folder
                            Path(folder().parent, TIME_FILE).write_text(f"{sum(COMPILE_SECONDS):.1f}")
        return version

    @cached_property
    def inside(self) -> Any:
        """The function as other compiled loops call it; it is compiled into them."""
        return numba.njit(self.function, **self.options)

    @cached_property
    def plain(self) -> Function:
        """The function in Python, calling the Python versions of other loops."""
        code, names = self.function.__code__, self.function.__globals__
        loops = {name: names[name].plain for name in code.co_names if isinstance(names.get(name), Loop)}
        return FunctionType(code, {**names, **loops}, code.co_name, None, self.function.__closure__)


@typeof_impl.register(Loop)
def type_inside_loops(loop: Loop, _: Any) -> Any:
    """The type that numba gives to a loop inside another loop."""
    return numba.typeof(loop.inside)


class CompileListener(Listener):
    """Says once that numba compiles; numba does not call it when it loads a version from disk."""

    heard = False

    def on_start(self, event: Any) -> None:  # noqa: ARG002  # numba's signature
        self.heard = True
        if not COMPILE_SECONDS:
            with suppress(OSError, ValueError):
                notice.took = float(Path(folder().parent, TIME_FILE).read_text())
        notice.announce()

    def on_end(self, event: Any) -> None:
        pass


if hasattr(os, "register_at_fork"):  # otherwise a process forked while numba compiles waits forever for numba's lock
    os.register_at_fork(before=COMPILING.acquire, after_in_parent=COMPILING.release, after_in_child=COMPILING.release)


def kind(value: Any) -> Any:
    """A key that decides numba's type of an argument, and is found more quickly than that type."""
    cls = type(value)
    if cls is ndarray:
        return value.dtype, value.ndim, value.flags.num
    return (cls, *map(kind, value)) if isinstance(value, tuple) else cls


@cache
def folder() -> Path:
    """The folder where compiled loops are kept; each version of the sources has its own.

    numba itself notices changes in the file of a loop, but not in files that the loop imports. It cannot read from a
    folder that it cannot write to, so such a folder is copied to a temporary one.
    """
    package, digest = Path(__file__).parent, sha256()
    for path in sorted([*package.rglob("*_loops.py"), *(package / name for name in CONSTANTS)]):
        digest.update(path.read_bytes())
    above = [USER_FOLDER] if USER_FOLDER else [f"{package}/__pycache__", os.path.expanduser("~/.cache/dpplearn")]
    places = [Path(p, f"loops-{digest.hexdigest()[:16]}") for p in above if not p.startswith("~")]  # without a home
    for place in places:
        with suppress(OSError):
            place.mkdir(parents=True, exist_ok=True)
            TemporaryFile(dir=place).close()
            return place
    copy = TemporaryDirectory(prefix="dpplearn-")
    atexit.register(copy.cleanup)
    for place in filter(Path.is_dir, places):
        shutil.copytree(place, copy.name, dirs_exist_ok=True)
    for path in [Path(copy.name), *Path(copy.name).rglob("*")]:
        path.chmod(0o700)
    return Path(copy.name)


def strict_jit(function: Function | None = None, /, *, steps: Function | None = None, **options: Any) -> Any:
    """Turn a function into a `Loop` that, when compiled, does every operation in the order written.

    `steps`, a function of some of the loop's arguments, by their names, estimates how often a call runs the innermost
    lines. A loop without it is meant to be called by other loops; if Python calls it, it is compiled at once.
    """
    if function is None:
        return partial(strict_jit, steps=steps, **options)
    return function if CONFIG.DISABLE_JIT else Loop(function, steps, options)


# For nearly every loop: sums may be reordered (reassoc), so that short dot products use vector registers. NaN and
# infinity keep their meaning.
jit = partial(strict_jit, fastmath={"reassoc", "contract", "nsz"}, error_model="numpy")
