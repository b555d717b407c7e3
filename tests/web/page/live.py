"""A server that listens, and the Chromium that looks at it."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import pytest
import uvicorn
from fastapi import FastAPI
from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, expect

from dpplearn.web import Settings, create_app
from dpplearn.web.server import configured

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

    settings: Settings
    port: int = field(default_factory=free_port)
    app: FastAPI = field(init=False)
    loop: asyncio.AbstractEventLoop = field(init=False)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def start(self) -> None:
        """Return once it listens."""
        self.app = create_app(self.settings)
        config = configured(self.app)
        config.port, config.timeout_graceful_shutdown = self.port, 3
        self._server = uvicorn.Server(config)
        ready = threading.Event()

        async def serve() -> None:
            self.loop = asyncio.get_running_loop()
            started = self._server.startup

            async def startup(sockets: list[socket.socket] | None = None) -> None:
                await started(sockets)
                ready.set()

            self._server.startup = startup
            await self._server.serve()

        self._thread = threading.Thread(target=lambda: asyncio.run(serve()))
        self._thread.start()
        while not ready.wait(0.2):
            assert self._thread.is_alive(), "the server did not start"
        self.app.state.service.warming.join()  # else a slow machine compiles while a test waits for an answer

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(300)
        assert not self._thread.is_alive()

    @contextmanager
    def occupied(self) -> Iterator[None]:
        """Every worker is busy until the block ends: further work is answered 429 where the queue is empty."""
        from dpplearn.web.work import Deadline

        pool, release = self.app.state.service.pool, threading.Event()
        request: Any = SimpleNamespace(scope={"dpplearn.deadline": Deadline(300.0)}, receive=asyncio.Event().wait)
        taken = [self.in_loop(lambda: pool.run(request, lambda _: release.wait())) for _ in range(pool.workers)]
        try:
            yield
        finally:
            release.set()
            for one in taken:
                one.result(300)

    def in_loop(self, work: Callable[[], object]):
        return asyncio.run_coroutine_threadsafe(work(), self.loop)


@contextmanager
def serving(settings: Settings | None = None) -> Iterator[Live]:
    # A busy machine is no fault of the work.
    live = Live(replace(settings or Settings(), max_seconds=300.0, max_file_seconds=300.0))
    live.start()
    try:
        yield live
    finally:
        live.stop()


expect.set_options(timeout=300_000)  # a first request may compile a loop
REFUSED = "Failed to load resource: the server responded with a status of "


def sources(answer: dict[str, Any]) -> list[str]:
    """The sentences of a summary as their documents have them."""
    return [one["full"] for one in answer["selected"]]


class Seen:
    """A page that is looked at, and everything that it said and asked for."""

    def __init__(self, live: Live, browser: Browser, **options: Any) -> None:
        self.live = live
        self.context = browser.new_context(**{"viewport": {"width": 1440, "height": 900}, **options})
        self.context.add_init_script(
            "window.violations = []; addEventListener('securitypolicyviolation', (e) => "
            "window.violations.push(e.violatedDirective + ' ' + e.blockedURI), true);"
        )
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(300_000)
        self.complaints: list[str] = []
        self.requests: list[tuple[str, str]] = []  # method and path
        self.bodies: list[dict[str, Any]] = []  # of select
        self.foreign: list[str] = []
        self.expected: set[int] = set()  # statuses that the browser itself reports on the console
        self.unreachable = False  # whether the server is meant to be away
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.complaints.append("a dialog opened"), dialog.dismiss()))
        self.page.on("request", self._request)
        self.page.goto(live.url)
        expect(self.page.locator("#start")).to_be_visible()

    def _console(self, message: ConsoleMessage) -> None:
        if message.type not in ("error", "warning"):
            return
        text = message.text
        if any(text.startswith(f"{REFUSED}{status}") for status in self.expected):
            return
        if self.unreachable and "net::ERR_" in text:
            return
        self.complaints.append(text)

    def _request(self, request: Any) -> None:
        if request.url.startswith(("blob:", "data:")):
            return
        if not request.url.startswith(self.live.url):
            self.foreign.append(request.url)
        self.requests.append((request.method, request.url.removeprefix(self.live.url)))
        if request.url.endswith("/select"):
            self.bodies.append(request.post_data_json)

    def check_quiet(self) -> None:
        assert self.complaints == [], self.complaints
        assert self.foreign == []
        assert self.page.evaluate("window.violations") == []

    def find(self, selector: str) -> Locator:
        return self.page.locator(selector)

    def settle(self) -> None:
        """Until what is shown is the answer to the newest question."""
        expect(self.find("#work")).to_have_attribute("data-settled", "true")

    def load_example(self) -> Seen:
        self.find("#example").click()
        self.settle()
        return self

    def summarize(self, *texts: str) -> Seen:
        """Paste documents and press the button."""
        for text in texts:
            self.find("#paste-text").fill(text)
            self.find("#add").click()
        # what an earlier cluster left: else a slow machine takes its answer for the one to this
        self.page.evaluate("document.getElementById('work').dataset.settled = 'false'")
        self.find("#submit").click()
        self.settle()
        return self

    def upload(self, **files: bytes) -> None:
        """Choose files: the last underscore of a name stands for its dot."""
        names = {name: ".".join(name.rsplit("_", 1)) for name in files}
        self.find("#files").set_input_files(
            [{"name": names[name], "mimeType": "text/plain", "buffer": data} for name, data in files.items()]
        )

    def more(self) -> Seen:
        """Open what is under More."""
        self.find("#more").click()
        expect(self.find("#more-controls")).to_be_visible()
        return self

    def set_range(self, name: str, value: float) -> None:
        """Move a slider, as a hand does: input events, then rest."""
        self.find(f"#{name}-range").fill(str(value))
        self.settle()

    def summary(self) -> list[str]:
        """The sentences of the summary as shown, without what only screen readers hear."""
        script = (
            "(all) => all.map((one) => [...one.childNodes].filter((n) => !n.className?.includes?.('hidden'))"
            ".map((n) => n.textContent).join(''))"
        )
        return list(self.find("#summary .go").evaluate_all(script))

    def answer(self) -> dict[str, Any]:
        """What the API says to the page's latest question, asked again by this test."""
        response = self.page.request.post(f"{self.live.url}{self.cluster()}/select", data=self.bodies[-1])
        assert response.ok
        return dict(response.json())

    def cluster(self) -> str:
        """The path of the cluster that the page asked last."""
        return next(path for _, path in reversed(self.requests) if path.endswith("/select")).removesuffix("/select")
