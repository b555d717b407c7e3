"""Run the application on a socket until a signal, then finish what is running."""

from __future__ import annotations

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

from dpplearn.web.connections import Connection, Limits, OncePerSecond


class Server(uvicorn.Server):
    """Says when it is ready."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None], browser: str | None) -> None:
        super().__init__(config)
        self.ready, self.browser = ready, browser

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self.ready()
            if self.browser is not None:
                # a browser of the terminal comes back only when it is left
                threading.Thread(target=webbrowser.open, args=(self.browser,), daemon=True).start()


def configured(app: FastAPI) -> uvicorn.Config:
    """How uvicorn is to run the application: its connections are limited as its settings say."""
    settings = app.state.service.settings
    connection: Any = partial(Connection, Limits(settings))
    options: dict[str, Any] = {"log_config": None, "access_log": False, "server_header": False, "backlog": 256}
    patience = math.ceil(settings.max_seconds + settings.write_seconds)  # for what is running when it is to end
    return uvicorn.Config(app, http=connection, lifespan="on", ws="none", timeout_graceful_shutdown=patience, **options)


def serve(app: FastAPI, listener: socket.socket, ready: Callable[[], None], browser: str | None = None) -> None:
    """Serve until Ctrl-C or SIGTERM; requests that are running are answered first.

    Parameters
    ----------
    app : FastAPI
    listener : socket
        Bound and listening.
    ready : callable
        Called once requests are answered.
    browser : str, optional
        An address to open then.
    """
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(message)s")
    for name in ("asyncio", "uvicorn.error"):  # no descriptor left, a request that is no HTTP
        logging.getLogger(name).addFilter(OncePerSecond())
    server = Server(configured(app), ready, browser)
    # uvicorn raises the signal again when it is done, and the default would end the process as if it had failed
    before = {number: signal.signal(number, lambda *_: None) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        server.run([listener])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if not server.started and not server.should_exit:
        raise ValueError("The server could not start; the reason is above.")
