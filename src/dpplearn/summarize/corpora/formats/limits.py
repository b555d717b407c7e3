"""How much one file may take, whatever it says of itself."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Limits:
    """Of one file that is no plain text.

    Parameters
    ----------
    size : int
        Bytes of the file.
    unpacked : int
        Bytes of all that is unpacked from it.
    ratio : float
        How many times its packed size a part may have, beyond a megabyte: text has 3 to 30, bombs 1,000.
    members : int
        Files in an archive.
    pages : int
        Of a PDF.
    messages : int
        Of a mailbox.
    seconds, memory : float and int
        Of the process that reads it; memory in bytes of address space.

    Examples
    --------
    >>> Limits().check("book.pdf", "pages", 3_000)
    Traceback (most recent call last):
    ValueError: book.pdf must have at most 2,000 pages, but has 3,000. Split it.
    """

    size: int = 100_000_000
    unpacked: int = 100_000_000
    ratio: float = 200.0
    members: int = 10_000
    pages: int = 2_000
    messages: int = 5_000
    seconds: float = 120.0
    memory: int = 3_000_000_000

    def check(self, place: object, name: str, found: float) -> None:
        """Refuse what passes the limit of this name."""
        most = getattr(self, name)
        if found > most:
            raise ValueError(f"{place} must have at most {most:,} {name}, but has {found:,}. Split it.")


LIMITS = Limits()


def import_reader(module: str, place: object, kind: str) -> Any:
    """A package that reads a kind of files, or what to do where it is not installed."""
    try:
        return import_module(module)
    except ImportError:
        raise ValueError(
            f"{place} is a {kind} file, for which the package {module.partition('.')[0]} is needed: "
            "pip install 'dpplearn[documents]'"
        ) from None
