"""Clusters kept in memory: the least recently used go first, and all of them after a while.

cachetools' TTLCache counts from when a value was put and not from its last use, refuses one that is larger than all
room, and does not tell what made room from what expired: with these three added, nothing of it would be left.
"""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class Clusters(Generic[T]):
    """A store with a cap in bytes and number and an expiry, least recently used first.

    Parameters
    ----------
    max_bytes : int
    seconds : float
        How long a cluster is kept after its last use.
    most : int
        How many are kept.
    clock : callable
        Seconds from any fixed time.

    Examples
    --------
    >>> store = Clusters(max_bytes=10, seconds=60, most=5)
    >>> store.put("first", "a", 6)
    >>> store.put("second", "b", 6)  # the first makes room
    >>> store.get("first"), store.get("second")
    (None, 'b')
    """

    def __init__(self, max_bytes: int, seconds: float, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.max_bytes, self.seconds, self.most, self.clock = max_bytes, seconds, most, clock
        self.nbytes = self.evicted = self.expired = 0
        self._held: OrderedDict[str, tuple[T, int, float]] = OrderedDict()  # values, bytes, time of last use: by that
        self._lock = Lock()

    @contextmanager
    def _current(self) -> Iterator[OrderedDict[str, tuple[T, int, float]]]:
        """What is held and was used lately, for one thread at a time."""
        with self._lock:
            while self._held and next(iter(self._held.values()))[-1] <= self.clock() - self.seconds:
                self._drop()
                self.expired += 1
            yield self._held

    def _drop(self, name: str | None = None) -> None:
        _, nbytes, _ = self._held.pop(next(iter(self._held)) if name is None else name)  # the one used longest ago
        self.nbytes -= nbytes

    def __len__(self) -> int:
        with self._current() as held:
            return len(held)

    @staticmethod
    def new_name() -> str:
        """A name that cannot be guessed: who knows it may use the cluster."""
        return secrets.token_urlsafe(18)

    def put(self, name: str, value: T, nbytes: int, instead_of: T | None = None) -> None:
        """Keep a value; others make room for it. `instead_of` another only where that is still there."""
        with self._current() as held:
            if instead_of is not None and (name not in held or held[name][0] is not instead_of):
                return
            if name in held:
                self._drop(name)
            while held and (self.nbytes + nbytes > self.max_bytes or len(held) >= self.most):
                self._drop()
                self.evicted += 1
            held[name] = value, nbytes, self.clock()
            self.nbytes += nbytes

    def get(self, name: str) -> T | None:
        """The value, used just now; None if it is gone."""
        with self._current() as held:
            if name not in held:
                return None
            value, nbytes, _ = held.pop(name)
            held[name] = value, nbytes, self.clock()  # the last one now
            return value

    def remove(self, name: str) -> bool:
        """Forget a value; whether it was there."""
        with self._current() as held:
            if name in held:
                self._drop(name)
                return True
            return False
