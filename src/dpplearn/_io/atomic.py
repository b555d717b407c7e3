"""Writes files atomically: a reader finds the old file or the new one, never half of it."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

NO_ROOM = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)  # the disk is full, or the system limits the size


@contextmanager
def replace_file(path: str | os.PathLike[str], mode: str) -> Iterator[IO[Any]]:
    """Open a temporary file beside `path`, which replaces `path` once all is written.

    If `path` is a link, the file it points to is replaced. An existing file keeps its mode. A device or a FIFO is
    written to directly. Text is UTF-8; halves of surrogate pairs are escaped as in JSON.
    """
    text: Any = {} if "b" in mode else {"encoding": "utf-8", "errors": "backslashreplace"}  # \ud800, as in JSON
    try:
        old = os.stat(path)
    except FileNotFoundError:
        old = None
    if old is not None and not stat.S_ISREG(old.st_mode):
        with open(path, mode, **text) as file:
            yield file
        return
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"Cannot write {target}: there is no folder {target.parent}.")
    name = target.parent / f".{secrets.token_hex(8)}.tmp"
    mode_bits = 0o666 if old is None else stat.S_IMODE(old.st_mode)  # of which os.open subtracts the umask
    handle = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode_bits)
    try:
        with os.fdopen(handle, mode, **text) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if old is not None:
            os.chmod(name, mode_bits)
        os.replace(name, target)
    except BaseException as error:
        with suppress(FileNotFoundError):
            os.unlink(name)
        if isinstance(error, OSError) and error.errno in NO_ROOM:  # the system's message does not name the file
            raise OSError(f"Cannot write {target}: {error.strerror}. Make room there, or write elsewhere.") from error
        raise


def write_whole(path: Path, data: bytes) -> None:
    """Write all of a file, or none of it."""
    with replace_file(path, "wb") as file:
        file.write(data)
