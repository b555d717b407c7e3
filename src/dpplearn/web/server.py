"""Run the application on a socket until a signal, then finish what is running."""

from __future__ import annotations

import asyncio
import logging
import math
import signal
import socket
import threading
import webbrowser
from collections.abc import Callable
from functools import partial
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from dpplearn.web.settings import Settings

LOOK = 0.2  # seconds between two looks at a connection
SEND_BUFFER = 2**18  # bytes that the system keeps for a client: by itself it would take megabytes


class Connection(H11Protocol):
    """A connection of uvicorn's that is closed when it keeps us waiting: uvicorn itself waits for ever for a request.

    It is closed when no request is under way for `idle_seconds`, or half of one; when its client does not take a piece
    of the answer in `write_seconds`; and when it is idle longest of more than `max_connections`.
    """

    def __init__(self, settings: Settings, **given: Any) -> None:
        super().__init__(**given)
        self.settings = settings
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
        held: list[Any] = [one for one in self.connections if not one.transport.is_closing()]
        if len(held) > self.settings.max_connections:
            idle = (one for one in held if one.awaited() == "idle_seconds")
            min(idle, key=lambda one: one.since).transport.abort()

    def awaited(self) -> str:
        """The setting that says how long the client may take; none while we work on its request."""
        answering = self.cycle is not None and not self.cycle.response_complete
        awaited = "write_seconds" if self.flow.write_paused else "" if answering else "idle_seconds"
        if (state := (awaited, self.cycle, self.transport.get_write_buffer_size())) != self.seen:
            self.seen, self.since = state, self.loop.time()
        return awaited

    def watch(self) -> None:
        """Look now and then whether the client takes too long."""
        awaited = self.awaited()
        if awaited and self.loop.time() - self.since >= getattr(self.settings, awaited):
            self.transport.abort()
        elif not self.transport.is_closing():
            self.loop.call_later(LOOK, self.watch)


def configured(app: FastAPI) -> uvicorn.Config:
    """How uvicorn is to run the application: its connections are limited as its settings say."""
    settings = app.state.service.settings
    connection: Any = partial(Connection, settings)
    options: dict[str, Any] = {"log_config": None, "access_log": False, "server_header": False, "backlog": 256}
    patience = math.ceil(settings.max_seconds + settings.write_seconds)  # for what is running when it is to end
    return uvicorn.Config(app, http=connection, lifespan="on", ws="none", timeout_graceful_shutdown=patience, **options)


def serve(app: FastAPI, listener: socket.socket, ready: Callable[[], None], browser: str | None = None) -> None:
    """Serve until Ctrl-C or SIGTERM; requests that are running are answered first.

    `ready` is called once requests are answered, and the address `browser` opened then.
    """
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(message)s")
    for name in ("asyncio", "uvicorn.error"):  # what anybody can cause from outside must not fill a disk
        logging.getLogger(name).setLevel(logging.CRITICAL)
    server = uvicorn.Server(configured(app))
    begin = server.startup

    async def startup(sockets: list[socket.socket] | None = None) -> None:
        await begin(sockets)
        if server.started:
            ready()
            if browser is not None:  # one of the terminal comes back only when it is left
                threading.Thread(target=webbrowser.open, args=(browser,), daemon=True).start()

    server.startup = startup  # type: ignore[method-assign]
    # uvicorn raises the signal again when it is done, and the default would end the process as if it had failed
    before = {number: signal.signal(number, lambda *_: None) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        server.run([listener])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
