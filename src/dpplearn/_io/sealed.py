"""Files that a later run reads again, with a digest at their end: one that was damaged meanwhile is made again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from dpplearn._io.atomic import replace_file


class DamagedError(ValueError):
    """A file does not hold what was written to it."""


def seal(data: bytes) -> bytes:
    """What follows the data in a file: a line with their digest. Readers of archives pass over it."""
    return b"\n%s\n" % sha256(data).hexdigest().encode()


def closing(data: bytes) -> bytes:
    """The seal of an object in JSON whose brace is still open: its last member, so that all is JSON."""
    return b',\n "digest": "%s"\n}\n' % sha256(data).hexdigest().encode()


Seal = Callable[[bytes], bytes]


def write_sealed(path: Path, data: bytes, seal: Seal = seal) -> None:
    """Write data with their seal, whole or not at all."""
    with replace_file(path, "wb") as file:
        file.write(data)
        file.write(seal(data))


def read_sealed(path: Path, seal: Seal = seal) -> bytes:
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
        raise DamagedError(f"{path} is damaged. Run the same command again: it is then made again.")
    return data


def is_whole(path: Path) -> bool:
    """Whether a file holds what `write_sealed` wrote, with a seal of either kind."""
    for one in (seal, closing):
        with suppress(DamagedError):
            read_sealed(path, one)
            return True
    return False


def pack_arrays(arrays: Mapping[str, Any]) -> bytes:
    """Arrays by name, as an .npz file has them."""
    file = BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def unpack_arrays(data: bytes) -> dict[str, np.ndarray]:
    """What `pack_arrays` packed."""
    with np.load(BytesIO(data), allow_pickle=False) as file:
        return dict(file)
