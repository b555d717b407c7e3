"""How loops are compiled, and when: the decorators `jit` and `strict_jit`.

Compiling takes seconds, and Python finishes a loop of few steps before a compiler has begun. So a loop of few steps
runs as Python, with the same result up to rounding. Once it has taken `PATIENCE` seconds that way, a thread compiles
it while calls go on as before. A loop of many steps is compiled first, and a message says so.

Each compiled version is kept on disk, a zip archive of what numba writes. numba's own cache does not suffice: it runs
damaged machine code, notices changes in the file of a loop but not in the loops that it calls, and cannot read from a
folder that it cannot write to.
"""

import os
import shutil
import sys
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, cached_property, partial, update_wrapper
from hashlib import sha256
from inspect import signature
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock, Thread, local, main_thread
from time import thread_time
from types import FunctionType
from typing import Any

import llvmlite.binding
import numba
import numpy as np
from numba.extending import typeof_impl
from numpy import ndarray

from dpplearn._run.progress import notice

FEW_STEPS = 1_000_000  # steps that Python does in about half a second
PATIENCE = 1.0  # seconds that a loop may take in Python before it is compiled, which takes one to five
COMPILING = Lock()  # held by the thread that compiles or loads a loop: numba can do one at a time
CONFIG: Any = numba.config  # its attributes are made at run time
NAMED = CONFIG.CACHE_DIR  # the folder NUMBA_CACHE_DIR
CONSTANTS = ("_precision.py", "sampling/__init__.py")  # files that loops read constants and records from

Function = Callable[..., Any]
Types = tuple[Any, ...]  # numba's types of arguments


class ThreadState(local):
    """How this thread treats loops."""

    always = os.environ.get("DPPLEARN_COMPILE") == "always"  # compile every loop that is called, however few its steps
    behind = False  # this thread only compiles, while others call


here = ThreadState()


@contextmanager
def compiled_always() -> Iterator[None]:
    """Compile, or load, every loop that this thread calls in the block: to measure times, or to prepare loops."""
    before, here.always = here.always, True
    try:
        yield
    finally:
        here.always = before


class ProcessEndsError(BaseException):
    """The process ends, and would wait for this thread. Not an `Exception`, which numba might catch."""


def check_running() -> None:
    """End a thread that compiles behind others once the main one has ended."""
    if here.behind and not main_thread().is_alive():
        raise ProcessEndsError


@dataclass
class Calls:
    """The calls of a loop with arguments of the same kinds."""

    compiled: Function | None = None
    seconds: float = 0.0  # spent in Python
    compiling: bool = False  # whether a thread compiles meanwhile


class Loop:
    """A function of arrays and numbers that runs as Python or compiled; inside other loops numba sees it compiled."""

    __qualname__: str

    def __init__(self, function: Function, steps: Function | None, options: dict[str, Any]) -> None:
        update_wrapper(self, function)
        self.function, self.steps, self.options = function, steps, {"nogil": True, **options}
        names = list(signature(function).parameters)
        self.places = [names.index(name) for name in signature(steps).parameters] if steps else []
        self.calls: dict[Any, Calls] = {}  # by the kinds of arguments, which are quicker to tell than their types
        self.versions: dict[str, Function] = {}  # compiled, by names, which the types of arguments decide

    def __call__(self, *args: Any) -> Any:
        kinds = tuple(map(kind, args))
        calls = self.calls.get(kinds)
        return self.run_or_compile(kinds, args) if calls is None or calls.compiled is None else calls.compiled(*args)

    def __reduce__(self) -> str:
        return self.__qualname__

    def run_or_compile(self, kinds: Any, args: tuple[Any, ...]) -> Any:
        """Run a loop of which no compiled version is loaded."""
        few = self.steps is not None and self.steps(*(args[place] for place in self.places)) <= FEW_STEPS
        now, first = here.always or not few, kinds not in self.calls
        calls = Calls() if first else self.calls[kinds]
        if now or first or (calls.seconds >= PATIENCE and not calls.compiling):
            types = tuple(map(numba.typeof, args))
            name = f"{self.__module__}.{self.__qualname__}-{sha256(str(types).encode()).hexdigest()[:16]}.zip"
            kept = few and first and (name in self.versions or bool(find(name)))
            if now or (kept and not COMPILING.locked()):
                return self.compile(kinds, types, name)(*args)
            calls = self.calls.setdefault(kinds, calls)
            if kept or not first:
                calls.compiling = True
                Thread(target=self.compile_behind, args=(kinds, types, name)).start()
        start = thread_time()
        try:
            with np.errstate(all="ignore"):  # as compiled: 1 / 0 is infinite and integers wrap around, without warnings
                return self.plain(*args)
        finally:
            calls.seconds += thread_time() - start

    def compile_behind(self, kinds: Any, types: Types, name: str) -> None:
        """Compile in a thread of its own, while calls go on."""
        here.behind = True
        with suppress(ProcessEndsError):
            self.compile(kinds, types, name)

    def compile(self, kinds: Any, types: Types, name: str) -> Function:
        """The version for arguments of these types: from disk, or compiled and kept there."""
        with COMPILING:
            if name not in self.versions:
                check_running()
                self.versions[name] = self.load_or_compile(types, name)
            self.calls.setdefault(kinds, Calls()).compiled = self.versions[name]
            return self.versions[name]

    def load_or_compile(self, types: Types, name: str) -> Function:
        kept = find(name)
        if not kept:
            notice.announce()
        version = numba.njit(self.function, **self.options)
        try:
            with TemporaryDirectory(prefix="dpplearn-") as folder:
                loaded = any(unpack(file, folder) for file in kept)
                CONFIG.CACHE_DIR = folder  # numba looks there when it decorates a function, not later
                version = numba.njit(self.function, cache=True, **self.options)
                CONFIG.CACHE_DIR = NAMED
                version.compile(types)
                if not loaded:
                    keep(folder, name)
        except (OSError, RuntimeError) as error:  # a full disk; or no source file, without which numba keeps nothing
            warnings.warn(
                f"Compiled loops cannot be kept on disk ({error}): every process compiles them anew. Make room "
                "there, or name another folder with NUMBA_CACHE_DIR.",
                RuntimeWarning,
                stacklevel=2,
            )
        finally:
            CONFIG.CACHE_DIR = NAMED
        if not version.signatures:
            version.compile(types)
        return version

    @cached_property
    def inside(self) -> Any:
        """What other compiled loops call; it is compiled into them."""
        return numba.njit(self.function, **self.options)

    @cached_property
    def plain(self) -> Function:
        """The function in Python, with the loops that it calls in Python, too."""
        code, names = self.function.__code__, self.function.__globals__
        loops = {name: names[name].plain for name in code.co_names if isinstance(names.get(name), Loop)}
        return FunctionType(code, {**names, **loops}, code.co_name, None, self.function.__closure__)


@typeof_impl.register(Loop)
def type_inside_loops(loop: Loop, _: Any) -> Any:
    """numba's type of a loop that another one calls; numba asks many times while it compiles, so we can end it here."""
    check_running()
    return numba.typeof(loop.inside)


if hasattr(os, "register_at_fork"):  # a process forked while numba compiles would wait forever for numba's lock
    os.register_at_fork(before=COMPILING.acquire, after_in_parent=COMPILING.release, after_in_child=COMPILING.release)


def kind(value: Any) -> Any:
    """What decides numba's type of an argument, told more quickly than the type itself."""
    own = type(value)
    if own is ndarray:
        return value.dtype, value.ndim, value.flags.num
    return (own, *map(kind, value)) if isinstance(value, tuple) else own


def folders() -> list[Path]:
    """Where we look for compiled versions; new ones go to the first folder that can be written."""
    own = [NAMED] if NAMED else [f"{Path(__file__).parent}/__pycache__", os.path.expanduser("~/.cache/dpplearn")]
    return [Path(folder) / f"loops-{stamp()}" for folder in own if not folder.startswith("~")]  # no home


@cache
def stamp() -> str:
    """A digest of all that compiled code depends on: the loops, what they import, numba, Python and the processor."""
    package = Path(__file__).parent
    cpu = llvmlite.binding.get_host_cpu_name(), llvmlite.binding.get_host_cpu_features().flatten()
    digest = sha256(repr((numba.__version__, llvmlite.__version__, sys.version, cpu)).encode())
    for path in sorted([*package.rglob("*_loops.py"), *(package / name for name in CONSTANTS)]):
        digest.update(repr((path.stat().st_mtime_ns, path.read_bytes())).encode())  # numba compares this time
    return digest.hexdigest()[:16]


def find(name: str) -> list[Path]:
    """The files of a version."""
    return [folder / name for folder in folders() if (folder / name).is_file()]


def unpack(file: Path, folder: str) -> bool:
    """Unpack a version and say whether its checksums are right; a damaged file is removed."""
    try:
        shutil.unpack_archive(file, folder, "zip")
        if {path.suffix for path in Path(folder).rglob("*.nb?")} != {".nbi", ".nbc"}:
            raise zipfile.BadZipFile("its directory names fewer files")  # no checksum covers the directory
    except Exception:  # zipfile raises almost any kind
        shutil.rmtree(folder, ignore_errors=True)  # a half-unpacked version; numba makes the folder again
        with suppress(OSError):
            file.unlink()
        return False
    return True


def keep(written: str, name: str) -> None:
    """Keep a version in the first folder that can be written; readers see the whole file or none."""
    for folder in folders():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with TemporaryDirectory(dir=folder) as new:
                os.replace(shutil.make_archive(f"{new}/new", "zip", written), folder / name)
            return
        except OSError as error:
            why = error
    raise why


def strict_jit(function: Function | None = None, /, *, steps: Function | None = None, **options: Any) -> Any:
    """Make a loop of a function; compiled, it does every operation in the order written.

    `steps`, a function of some of the arguments, by their names, says about how many times a call runs its innermost
    lines. A loop without it is meant for other loops; if Python calls it, it is compiled at once.
    """
    if function is None:
        return partial(strict_jit, steps=steps, **options)
    return function if CONFIG.DISABLE_JIT else Loop(function, steps, options)


# Nearly every loop uses this: sums may be reordered, so that short dot products use vector registers (reassoc). NaN and
# infinity keep their meaning.
jit = partial(strict_jit, fastmath={"reassoc", "contract", "nsz"}, error_model="numpy")
