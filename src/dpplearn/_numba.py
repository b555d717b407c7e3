"""How loops are compiled, and when: the decorators `jit` and `strict_jit`.

Compiling takes seconds, and Python finishes a loop of few steps before a compiler has begun. So a loop of few steps
runs as Python, with the same result up to rounding. Once it has taken `PATIENCE` seconds that way, a thread compiles
it while calls go on as before. A loop of many steps is compiled first, and a message says so. numba keeps what it has
compiled on disk.
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

FEW_STEPS = 1_000_000  # steps that Python does in about half a second
PATIENCE = 1.0  # seconds that a loop may take in Python before it is compiled, which takes one to five
COMPILING = Lock()  # held by the thread that compiles or loads a loop: numba can do one at a time
CONFIG: Any = numba.config  # its attributes are made at run time
NAMED = CONFIG.CACHE_DIR  # the folder NUMBA_CACHE_DIR
CONSTANTS = ("_precision.py", "sampling/__init__.py")  # files that loops read constants and records from

TIME = "seconds"  # a file beside the folders of compiled loops
SPENT: list[float] = []  # seconds that this process took to compile, for each loop

Function = Callable[..., Any]
Types = tuple[Any, ...]  # numba's types of arguments
_always: ContextVar[bool] = ContextVar("dpplearn_compile", default=os.environ.get("DPPLEARN_COMPILE") == "always")


@contextmanager
def compiled_always(always: bool = True) -> Iterator[None]:
    """Compile, or load, every loop that this block calls, however few its steps: so that digits are the same."""
    token = _always.set(always)
    try:
        yield
    finally:
        _always.reset(token)


def compiles_always() -> bool:
    """Whether this is inside such a block: a worker that goes on with its work has to know."""
    return _always.get()


class Loop:
    """A function of arrays and numbers that runs as Python or compiled; inside other loops numba sees it compiled."""

    __qualname__: str

    def __init__(self, function: Function, steps: Function | None, options: dict[str, Any]) -> None:
        update_wrapper(self, function)
        self.function, self.steps, self.options = function, steps, {"nogil": True, **options}
        names = list(signature(function).parameters)
        self.places = [names.index(name) for name in signature(steps).parameters] if steps else []
        # by the kinds of arguments, which are quicker to tell than their types
        self.versions: dict[Any, Function] = {}
        self.seconds: dict[Any, float] = {}  # spent in Python; below 0 once a thread compiles

    def __call__(self, *args: Any) -> Any:
        kinds = tuple(map(kind, args))
        version = self.versions.get(kinds)
        return self.run_or_compile(kinds, args) if version is None else version(*args)

    def __reduce__(self) -> str:
        return self.__qualname__

    def run_or_compile(self, kinds: Any, args: tuple[Any, ...]) -> Any:
        """Run a loop of which no compiled version is loaded."""
        few = self.steps is not None and self.steps(*(args[place] for place in self.places)) <= FEW_STEPS
        on_disk = False
        if kinds not in self.seconds and not COMPILING.locked():
            with suppress(OSError):  # nowhere can files be written
                on_disk = self.mark(tuple(map(numba.typeof, args))).exists()
        if not few or on_disk or _always.get():
            return self.compile(kinds, tuple(map(numba.typeof, args)))(*args)
        if self.seconds.setdefault(kinds, 0.0) >= PATIENCE:
            self.seconds[kinds] = -np.inf
            Thread(target=self.compile, args=(kinds, tuple(map(numba.typeof, args)))).start()
        start = thread_time()
        try:
            with np.errstate(all="ignore"):  # as compiled: 1 / 0 is infinite and integers wrap around, without warnings
                return self.plain(*args)
        finally:
            self.seconds[kinds] += thread_time() - start

    def mark(self, types: Types) -> Path:
        """An empty file that is there when the version for arguments of these types is kept on disk."""
        return folder() / f"{self.__module__}.{self.__qualname__}-{sha256(str(types).encode()).hexdigest()[:16]}"

    def compile(self, kinds: Any, types: Types) -> Function:
        """The version for arguments of these types, loaded or compiled."""
        with COMPILING:
            if kinds not in self.versions:
                self.versions[kinds] = self.load_or_compile(types)
            return self.versions[kinds]

    def load_or_compile(self, types: Types) -> Function:
        listener, start = Announcing(), monotonic()
        with install_listener("numba:compile", listener):
            try:
                CONFIG.CACHE_DIR = str(folder())  # numba looks there when it decorates a function, not later
                version = numba.njit(self.function, cache=True, **self.options)
                version.compile(types)
                self.mark(types).touch()
            except numba.errors.NumbaError:  # in the loop itself: the files are sound
                raise
            except Exception as error:  # a damaged file raises almost any kind
                with suppress(OSError):  # nowhere can files be written
                    shutil.rmtree(folder())
                warnings.warn(
                    f"Compiled loops could not be read from disk or kept there ({error!r:.80}), and are compiled anew. "
                    "NUMBA_CACHE_DIR names another folder.",
                    RuntimeWarning,
                    stacklevel=2,
                )
                version = numba.njit(self.function, **self.options)
                version.compile(types)
            finally:
                CONFIG.CACHE_DIR = NAMED
                if listener.heard:
                    keep_time(monotonic() - start)
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
    """numba's type of a loop that another one calls."""
    return numba.typeof(loop.inside)


class Announcing(Listener):
    """Says, once, that numba compiles; it is not asked where a version is loaded from disk."""

    heard = False

    def on_start(self, event: Any) -> None:  # noqa: ARG002  # numba's signature
        self.heard = True
        if not SPENT:
            with suppress(OSError, ValueError):
                notice.took = float(Path(folder().parent, TIME).read_text())
        notice.announce()

    def on_end(self, event: Any) -> None:
        pass


if hasattr(os, "register_at_fork"):  # a process forked while numba compiles would wait forever for numba's lock
    os.register_at_fork(before=COMPILING.acquire, after_in_parent=COMPILING.release, after_in_child=COMPILING.release)


def kind(value: Any) -> Any:
    """What decides numba's type of an argument, told more quickly than the type itself."""
    own = type(value)
    if own is ndarray:
        return value.dtype, value.ndim, value.flags.num
    return (own, *map(kind, value)) if isinstance(value, tuple) else own


def keep_time(seconds: float) -> None:
    """Keep on disk for how long this process has compiled, which a later one tells."""
    SPENT.append(seconds)
    with suppress(OSError):
        if folder().name.startswith("loops-"):  # no passing one
            Path(folder().parent, TIME).write_text(f"{sum(SPENT):.1f}")


@cache
def folder() -> Path:
    """Where compiled loops are kept: a folder of its own for each state of the sources.

    numba itself notices changes in the file of a loop, but not in those it imports from. It cannot read from a folder
    that it cannot write to: such a folder is copied to one that it can write to.
    """
    package, digest = Path(__file__).parent, sha256()
    for path in sorted([*package.rglob("*_loops.py"), *(package / name for name in CONSTANTS)]):
        digest.update(path.read_bytes())
    above = [NAMED] if NAMED else [f"{package}/__pycache__", os.path.expanduser("~/.cache/dpplearn")]
    places = [Path(one, f"loops-{digest.hexdigest()[:16]}") for one in above if not one.startswith("~")]  # no home
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
