"""The value computed last, kept in case it is asked for again."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class Latest(Generic[T]):
    """Remembers one value and what it was computed for; several threads may ask at once.

    Examples
    --------
    >>> latest = Latest()
    >>> latest.get(2, lambda: "computed"), latest.get(2, lambda: "again")
    ('computed', 'computed')
    >>> latest.get(3, lambda: "for three")
    'for three'
    """

    def __init__(self) -> None:
        self._held: tuple[Hashable, T] | None = None

    def get(self, key: Hashable, compute: Callable[[], T]) -> T:
        """The value for a key."""
        held = self._held  # one reference, read and set at once: a thread sees a whole pair
        if held is None or held[0] != key:
            held = self._held = (key, compute())
        return held[1]
