"""Values that are computed when they are first needed, and kept: as a property of an object, or only the latest one."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

__all__ = ["LatestValue", "cached_property"]

T = TypeVar("T")

if TYPE_CHECKING:
    from functools import cached_property
else:

    class cached_property(functools.cached_property):  # noqa: N801  # the name of what it replaces
        """The property as it is from Python 3.12 on; in 3.11 all objects of a class share one lock.

        With that lock, the eigenvectors of two DPPs are never computed at the same time, and two threads that need two
        such values in different orders deadlock. Without it, two threads may both compute the same value.
        """

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            kept = instance.__dict__
            if self.attrname not in kept:
                kept[self.attrname] = self.func(instance)
            return kept[self.attrname]


class LatestValue(Generic[T]):
    """Keeps one value and its key; several threads may use it at once."""

    def __init__(self) -> None:
        self._held: tuple[Hashable, T] | None = None

    def get(self, key: Hashable, compute: Callable[[], T]) -> T:
        """The value for a key, computed unless it is the one kept."""
        held = self._held  # key and value are set together, so that no thread sees a mixed pair
        if held is None or held[0] != key:
            held = self._held = (key, compute())
        return held[1]
