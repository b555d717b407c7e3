"""Clusters kept in memory: the least recently used go first, and all of them after a while."""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass
class Held(Generic[T]):
    """Something kept, its size, and when it was last used."""

    value: T
    nbytes: int
    used: float


class Clusters(Generic[T]):
    """A store with a cap in bytes and an expiry, least recently used first.

    Parameters
    ----------
    max_bytes : int
    seconds : float
        How long a cluster is kept after its last use.
    clock : callable
        Seconds from any fixed time.

    Examples
    --------
    >>> store = Clusters(max_bytes=10, seconds=60)
    >>> store.put("first", "a", 6)
    >>> store.put("second", "b", 6)  # the first makes room
    >>> store.get("first"), store.get("second")
    (None, 'b')
    """

    def __init__(self, max_bytes: int, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.max_bytes, self.seconds, self.clock = max_bytes, seconds, clock
        self.nbytes = self.evicted = self.expired = 0
        self._held: OrderedDict[str, Held[T]] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._held)

    @staticmethod
    def new_name() -> str:
        """A name that cannot be guessed: who knows it may use the cluster."""
        return secrets.token_urlsafe(18)

    def put(self, name: str, value: T, nbytes: int) -> None:
        """Keep a value; others make room for it."""
        with self._lock:
            self._expire()
            while self._held and self.nbytes + nbytes > self.max_bytes:
                self._drop(next(iter(self._held)))
                self.evicted += 1
            self._held[name] = Held(value, nbytes, self.clock())
            self.nbytes += nbytes

    def get(self, name: str) -> T | None:
        """The value, used just now; None if it is gone."""
        with self._lock:
            self._expire()
            held = self._held.get(name)
            if held is None:
                return None
            held.used = self.clock()
            self._held.move_to_end(name)
            return held.value

    def remove(self, name: str) -> bool:
        """Forget a value; whether it was there."""
        with self._lock:
            self._expire()
            if name not in self._held:
                return False
            self._drop(name)
            return True

    def expire(self) -> None:
        """Forget what was not used for too long."""
        with self._lock:
            self._expire()

    def _expire(self) -> None:
        oldest = self.clock() - self.seconds
        while self._held and next(iter(self._held.values())).used <= oldest:  # in order of last use
            self._drop(next(iter(self._held)))
            self.expired += 1

    def _drop(self, name: str) -> None:
        self.nbytes -= self._held.pop(name).nbytes
