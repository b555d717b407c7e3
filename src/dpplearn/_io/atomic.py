"""Files are written so that a reader finds the old one or the new one, never half of it.

Files that a later run reads again are sealed: a digest at the end shows whether one was damaged meanwhile.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import IO, Any

NO_ROOM = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)  # a full disk, or a limit of the system
FLEETING = "dpplearn-fleeting-"  # prefix of temporary folders that are removed with the process


@contextmanager
def replace_file(path: str | os.PathLike[str], mode: str) -> Iterator[IO[Any]]:
    """Open a temporary file beside `path`, and put it in its place once all is written.

    A link stays, and the file it points to is replaced; an existing file keeps its mode and owner. A device, a FIFO,
    and the file that standard output or error goes to are written in place. Text is UTF-8; halves of surrogate pairs
    are escaped as in JSON.
    """
    text: Any = {} if "b" in mode else {"encoding": "utf-8", "errors": "backslashreplace"}  # \ud800, as in JSON
    try:
        there = os.stat(path)
    except FileNotFoundError:
        there = None
    if there is not None:
        stream = next((one for one in (1, 2) if _leads_to(one, there)), None)
        if stream is not None or not stat.S_ISREG(there.st_mode):
            with open(path if stream is None else os.dup(stream), mode, **text) as file:
                yield file
            return
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"Cannot write {target}: there is no folder {target.parent}.")
    name = target.parent / f".{secrets.token_hex(8)}.tmp"
    mode_bits = 0o666 if there is None else stat.S_IMODE(there.st_mode)  # less the umask
    handle = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode_bits)
    try:
        with os.fdopen(handle, mode, **text) as file:
            yield file
            file.flush()
            if not _is_fleeting(target):  # nobody reads it after a power failure
                os.fsync(file.fileno())
        if there is not None:
            with suppress(OSError):  # only root may give files away
                os.chown(name, there.st_uid, there.st_gid)
            os.chmod(name, mode_bits)
        os.replace(name, target)
    except BaseException as error:
        with suppress(FileNotFoundError):
            os.unlink(name)
        if isinstance(error, OSError) and error.errno in NO_ROOM:  # the system's message does not say where
            raise OSError(f"Cannot write {target}: {error.strerror}. Make room there, or write elsewhere.") from error
        raise


def _is_fleeting(target: Path) -> bool:
    """Whether a file is in a temporary folder that is removed with its process."""
    root = Path(os.path.realpath(tempfile.gettempdir()))
    return target.is_relative_to(root) and target.relative_to(root).parts[0].startswith(FLEETING)


def _leads_to(stream: int, there: os.stat_result) -> bool:
    """Whether an open stream goes to this file: if it were replaced, what is printed later would be lost."""
    try:
        return os.path.samestat(os.fstat(stream), there)
    except OSError:  # closed
        return False


class DamagedError(ValueError):
    """A file does not hold what was written to it."""


def seal(data: bytes) -> bytes:
    """A line with the digest of the data, which follows them in a file. Readers of archives skip it."""
    return b"\n%s\n" % sha256(data).hexdigest().encode()


def write_sealed(path: Path, data: bytes) -> None:
    """Write data and their seal, whole or not at all."""
    with replace_file(path, "wb") as file:
        file.write(data)
        file.write(seal(data))


def read_sealed(path: Path) -> bytes:
    """What `write_sealed` wrote, or a DamagedError.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "piece.json"
    >>> write_sealed(path, b"[1, 2]")
    >>> read_sealed(path)
    b'[1, 2]'
    >>> _ = path.write_bytes(path.read_bytes().replace(b"1", b"7", 1))
    >>> is_whole(path)
    False
    """
    whole, size = path.read_bytes(), len(seal(b""))
    data = whole[:-size]
    if len(whole) < size or whole[-size:] != seal(data):
        raise DamagedError(f"{path} is damaged. Run the same command again, which makes it again.")
    return data


def is_whole(path: Path) -> bool:
    """Whether a file holds what `write_sealed` wrote."""
    with suppress(DamagedError):
        read_sealed(path)
        return True
    return False


def pack_arrays(arrays: Mapping[str, Any]) -> bytes:
    """Arrays by name, as an .npz file has them."""
    import numpy as np

    file = BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def unpack_arrays(data: bytes) -> dict[str, Any]:
    """What `pack_arrays` packed."""
    import numpy as np

    with np.load(BytesIO(data), allow_pickle=False) as file:
        return dict(file)
