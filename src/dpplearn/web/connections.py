"""Connections within limits: how many there are, how long one may be silent, how long it may leave an answer unread."""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from dpplearn.web.settings import Settings

SEND_BUFFER = 2**18  # bytes that the system keeps for a client: by itself it would take megabytes
RESERVED = 64  # descriptors that are not connections


class Limits:
    """What all connections of a server share; `idle` are those without a request, the oldest first."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.most = min(settings.max_connections, max(descriptors() - RESERVED, 1))
        self.idle: dict[Connection, None] = {}


class Connection(H11Protocol):
    """A connection of uvicorn's that is closed when it keeps us waiting.

    A new one above the limit takes the place of the one that is idle longest; where all are at work, it is closed.
    """

    def __init__(self, limits: Limits, **given: Any) -> None:
        super().__init__(**given)
        self.limits = limits
        self.silent: asyncio.TimerHandle | None = None
        self.unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        transport.set_write_buffer_limits(high=0)  # what is not sent at once is known here, by pause_writing
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        super().connection_made(transport)
        if len(self.connections) > self.limits.most:
            longest = next(iter(self.limits.idle), self)
            longest.unwatch()
            longest.transport.abort()
        if not transport.is_closing():
            self.watch()

    def watch(self) -> None:
        """Where no request is under way, the next must have come, with all its headers, in `idle_seconds`."""
        if self.cycle is not None and not self.cycle.response_complete:
            self.unwatch()
        elif self.silent is None:
            self.limits.idle[self] = None
            self.silent = self.loop.call_later(self.limits.settings.idle_seconds, self.transport.close)

    def unwatch(self) -> None:
        self.limits.idle.pop(self, None)
        if self.silent is not None:
            self.silent.cancel()
            self.silent = None

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self.watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self.watch()

    def pause_writing(self) -> None:
        super().pause_writing()
        self.unread = self.loop.call_later(self.limits.settings.write_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self.unread is not None:
            self.unread.cancel()

    def connection_lost(self, exc: Exception | None) -> None:
        self.resume_writing()
        super().connection_lost(exc)
        self.unwatch()


class OncePerSecond(logging.Filter):
    """Lets the same message pass once a second: what anybody can cause from outside must not fill a disk."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: dict[object, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        key, now = record.msg if len(self.seen) < 1_000 else "", time.monotonic()
        if now - self.seen.get(key, -1.0) < 1.0:
            return False
        self.seen[key] = now
        return True


def descriptors() -> int:
    """How many files and connections this process may have open."""
    try:
        import resource
    except ModuleNotFoundError:  # Windows: as many as memory has room for
        return 1_000_000
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return 1_000_000 if soft == resource.RLIM_INFINITY else soft
