"""What is in a folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path


def entries(folder: Path) -> list[Path]:
    """Return what is in a folder, by name, hidden files left out."""
    return sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))


def walk(folder: Path) -> Iterator[Path]:
    """Every file under a folder, hidden ones and links to folders left out."""
    for entry in entries(folder):
        if entry.is_dir():
            if not entry.is_symlink() and entry.name != "__MACOSX":
                yield from walk(entry)
        elif entry.is_file():
            yield entry
