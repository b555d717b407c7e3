"""Run the application on a socket until a signal, then finish what is running."""

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

LOOK = 0.2  # seconds between two looks at a connection
SEND_BUFFER = 2**18  # bytes that the system keeps for a client: by itself it would take megabytes


class Connection(H11Protocol):
    """A connection of uvicorn's that is closed when its client is idle: uvicorn itself waits for ever for a request.

    Idle is who sends no request, or half of one, or takes nothing of an answer, for so many seconds.
    """

    def __init__(self, idle_seconds: float, **given: Any) -> None:
        super().__init__(**given)
        self.idle_seconds = idle_seconds
        self.seen: tuple[Any, ...] = ()  # what was seen last, and since when
        self.since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        transport.set_write_buffer_limits(high=0)  # what is not sent at once is known here, by flow.write_paused
        sock: socket.socket = transport.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        # asyncio leaves it out for a socket of ours, and the body then waits 40 ms for the head to be acknowledged
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        super().connection_made(transport)
        self.watch()

    def watch(self) -> None:
        """Look now and then whether the client is idle; while we work on its request, it is not."""
        working = self.cycle is not None and not self.cycle.response_complete and not self.flow.write_paused
        now, state = self.loop.time(), (working, self.cycle, self.transport.get_write_buffer_size())
        if working or state != self.seen:
            self.seen, self.since = state, now
        if now - self.since >= self.idle_seconds:
            self.transport.abort()
        elif not self.transport.is_closing():
            self.loop.call_later(LOOK, self.watch)


def configured(app: FastAPI) -> uvicorn.Config:
    """How uvicorn is to run the application: its connections are limited as its settings say."""
    settings = app.state.service.settings
    connection: Any = partial(Connection, settings.idle_seconds)
    options: dict[str, Any] = {"log_config": None, "access_log": False, "server_header": False, "backlog": 256}
    options |= {"lifespan": "on", "ws": "none", "limit_concurrency": settings.max_connections}
    patience = math.ceil(settings.max_seconds + settings.idle_seconds)  # for what is running when it is to end
    return uvicorn.Config(app, http=connection, timeout_graceful_shutdown=patience, **options)


def serve(app: FastAPI, listener: socket.socket, ready: Callable[[], None]) -> None:
    """Serve until Ctrl-C or SIGTERM, and finish what is running; `ready` is called once requests are answered."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(message)s")
    for name in ("asyncio", "uvicorn.error"):  # what anybody can cause from outside must not fill a disk
        logging.getLogger(name).setLevel(logging.CRITICAL)
    app.state.ready = ready
    # uvicorn raises the signal again when it is done, and the default would end the process as if it had failed
    before = {number: signal.signal(number, lambda *_: None) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        uvicorn.Server(configured(app)).run([listener])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
