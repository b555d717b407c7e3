"""How much memory this process may take."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def memory_limit(root: str | os.PathLike[str] = "/") -> int | None:
    """Bytes of memory of this machine, or of the container or control group that this process is in, if it has less.

    None where the system does not say. `root` is where /proc and /sys are.
    """
    limits = []
    with suppress(AttributeError, ValueError, OSError):  # not on Windows
        limits.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    groups, files = Path(root, "sys/fs/cgroup"), [Path(root, "sys/fs/cgroup/memory/memory.limit_in_bytes")]
    with suppress(OSError):
        for line in Path(root, "proc/self/cgroup").read_text().splitlines():  # "0::/a/b", or "4:memory:/a/b"
            _, kinds, name = line.split(":", 2)
            place, file = (groups, "memory.max") if not kinds else (groups / "memory", "memory.limit_in_bytes")
            if kinds in ("", "memory"):
                inner = place / name.lstrip("/")  # a limit of any group that it is in holds
                files += [folder / file for folder in (inner, *inner.parents) if folder.is_relative_to(place)]
    for path in files:
        with suppress(OSError, ValueError):  # no such file, or "max"
            limits.append(int(path.read_text()))
    return min(limits, default=None)
