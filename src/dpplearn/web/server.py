"""Runs the application on a socket until a signal comes, and then finishes the running requests."""

from __future__ import annotations

import asyncio
import logging
import math
import signal
import socket
from collections.abc import Callable
from functools import partial
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

LOOK = 0.2  # seconds between two checks of a connection
SEND_BUFFER = 2**18  # bytes that the system buffers for a client; its default is megabytes


class Connection(H11Protocol):
    """A connection that is closed when its client is idle, while uvicorn would wait for a request for ever.

    A client is idle if for so many seconds it sends no request, or only a part of one, or takes nothing of an answer.
    """

    def __init__(self, idle_seconds: float, **given: Any) -> None:
        super().__init__(**given)
        self.idle_seconds = idle_seconds
        self.state: tuple[Any, ...] = ()  # the state at the last check, and its beginning
        self.since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        transport.set_write_buffer_limits(high=0)  # so that flow.write_paused shows what is not sent at once
        sock: socket.socket = transport.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        # asyncio does not set this for our socket; without it the body waits 40 ms for the head to be acknowledged
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        super().connection_made(transport)
        self.watch()

    def watch(self) -> None:
        """Check regularly whether the client is idle, which it is not while we work on its request."""
        working = self.cycle is not None and not self.cycle.response_complete and not self.flow.write_paused
        now, state = self.loop.time(), (working, self.cycle, self.transport.get_write_buffer_size())
        if working or state != self.state:
            self.state, self.since = state, now
        if now - self.since >= self.idle_seconds:
            self.transport.abort()
        elif not self.transport.is_closing():
            self.loop.call_later(LOOK, self.watch)


def configured(app: FastAPI) -> uvicorn.Config:
    """The configuration of uvicorn, with limits from the settings of the application."""
    settings = app.state.service.settings
    connection: Any = partial(Connection, settings.idle_seconds)
    options: dict[str, Any] = {"log_config": None, "access_log": False, "server_header": False, "backlog": 256}
    options |= {"lifespan": "on", "ws": "none", "limit_concurrency": settings.max_connections}
    patience = math.ceil(
        settings.max_seconds + settings.idle_seconds
    )  # for requests that run when the server is to end
    return uvicorn.Config(app, http=connection, timeout_graceful_shutdown=patience, **options)


def serve(app: FastAPI, listener: socket.socket, ready: Callable[[], None]) -> None:
    """Serve until Ctrl-C or SIGTERM, then finish running requests; `ready` is called when the server answers."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(message)s")
    for name in ("asyncio", "uvicorn.error"):  # clients can cause these lines, which must not fill a disk
        logging.getLogger(name).setLevel(logging.CRITICAL)
    app.state.ready = ready
    # uvicorn raises the signal again at its end; the default handler would then end the process as if it had failed
    before = {number: signal.signal(number, lambda *_: None) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        uvicorn.Server(configured(app)).run([listener])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
