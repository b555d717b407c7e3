"""Files that are either the old one or the new one, never half of it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any


@contextmanager
def replace_file(path: str | os.PathLike[str], mode: str) -> Iterator[IO[Any]]:
    """Open a temporary file beside `path`, and put it in its place once all is written."""
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"Cannot write {target}: there is no folder {target.parent}.")
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, mode, encoding=None if "b" in mode else "utf-8") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)  # mkstemp makes it private; a model file is like any other
        os.replace(name, target)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(name)
        raise
