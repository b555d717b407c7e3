"""Values computed when first asked for, and kept."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

__all__ = ["cached_property"]

if TYPE_CHECKING:
    from functools import cached_property
else:

    class cached_property(functools.cached_property):  # noqa: N801  # the name of what it replaces
        """As functools has it from Python 3.12: in 3.11 one lock is held for all objects of a class.

        With it, eigenvectors of two DPPs are never computed at once, and of two threads that need two such values in
        different orders each waits for the other. Without it, two that ask at once may both compute the same value.
        """

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            if self.attrname is None:
                raise TypeError("cached_property needs a name: it must be set in the body of a class.")
            kept = instance.__dict__
            if self.attrname not in kept:
                kept[self.attrname] = self.func(instance)
            return kept[self.attrname]
