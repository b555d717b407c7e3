"""A server that listens, and the Chromium that looks at it."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
import uvicorn
from fastapi import FastAPI

from dpplearn.web import Settings, create_app

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


def chromium() -> str:
    """The browser's path; where there is none the tests are skipped, or fail if it is required to be there."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        reason = "Chromium is not installed (apt-get install chromium), so the page was not tested in a browser."
        if os.environ.get("DPPLEARN_REQUIRE_BROWSER") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    return path


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@dataclass
class Live:
    """The real server, in a thread of its own."""

    settings: Settings = field(default_factory=Settings)
    port: int = field(default_factory=free_port)
    app: FastAPI = field(init=False)
    loop: asyncio.AbstractEventLoop = field(init=False)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def start(self) -> None:
        """Return once it listens."""
        self.app = create_app(self.settings)
        config = uvicorn.Config(self.app, port=self.port, ws="none", log_level="warning", timeout_graceful_shutdown=3)
        self._server = uvicorn.Server(config)
        ready = threading.Event()

        async def serve() -> None:
            self.loop = asyncio.get_running_loop()
            started = self._server.startup

            async def startup(sockets: list[socket.socket] | None = None) -> None:
                await started(sockets)
                ready.set()

            self._server.startup = startup  # type: ignore[method-assign]
            await self._server.serve()

        self._thread = threading.Thread(target=lambda: asyncio.run(serve()))
        self._thread.start()
        assert ready.wait(60), "the server did not start"

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(20)
        assert not self._thread.is_alive()

    @contextmanager
    def occupied(self) -> Iterator[None]:
        """Every worker is busy until the block ends: further work is answered 429 where the queue is empty."""
        from dpplearn.web.pool import Deadline

        pool, release = self.app.state.service.pool, threading.Event()
        taken = [self.in_loop(lambda: pool.run(release.wait, Deadline(60.0))) for _ in range(pool.workers)]
        try:
            yield
        finally:
            release.set()
            for one in taken:
                one.result(20)

    def in_loop(self, work: Callable[[], object]):  # type: ignore[no-untyped-def]
        return asyncio.run_coroutine_threadsafe(work(), self.loop)  # type: ignore[arg-type]


@contextmanager
def serving(settings: Settings | None = None) -> Iterator[Live]:
    live = Live(settings or Settings())
    live.start()
    try:
        yield live
    finally:
        live.stop()
