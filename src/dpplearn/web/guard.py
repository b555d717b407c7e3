"""What stands before every route: who may ask, how much may be sent and kept, and which headers an answer carries."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
import traceback
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dpplearn.web.metrics import Metrics
from dpplearn.web.problems import Problem, limited, where
from dpplearn.web.settings import Settings
from dpplearn.web.work import Deadline, Pool

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}
OPEN = ("/", "/docs", "/api/v1/health", "/api/v1/openapi.json")  # without a token, too, like the files of the page
SAFE = ("GET", "HEAD", "OPTIONS")
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
JSON, FORM = "application/json", "multipart/form-data"
PIECE = 65_536  # bytes handed to the server at once, which waits until the client has taken most of them
DISCARDED = 4  # times the limit, read and forgotten so that a client that only sends hears why
log = logging.getLogger("dpplearn.web")


class Guard:
    """The outermost middleware."""

    def __init__(self, app: ASGIApp, settings: Settings, metrics: Metrics, room: Room, pool: Pool) -> None:
        self.app, self.settings, self.metrics, self.room, self.pool = app, settings, metrics, room, pool

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, status, method = time.perf_counter(), 0, scope["method"]
        scope = {**scope, "dpplearn.deadline": Deadline(self.settings.max_seconds)}
        if method == "HEAD":  # answered as GET; the server that runs us sends no body then
            scope["method"] = "GET"

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("Cache-Control", "no-store" if scope["path"].startswith("/api/") else "no-cache")
            await send(message)
            status = message.get("status", status)

        exchange = Exchange(self.settings, self.room, scope, receive, answer)
        try:
            if "\0" in scope["path"]:  # which no file system takes
                raise Problem("not-found")
            check_host(scope, self.settings.hosts)
            check_origin(scope)
            check_token(scope, self.settings.token)
            if exchange.has_body:
                exchange.check_body()
            if scope["method"] == "POST":
                self.pool.check_room()  # now, and not once the body has arrived
            await self.app(scope, exchange.receive, exchange.send)
        except (Problem, NoRoomError) as refused:
            problem = refused.problem if isinstance(refused, NoRoomError) else refused
            forget(refused)
            await problem.response(scope["path"])(scope, receive, answer)
        except ClientDisconnect as gone:
            forget(gone)
            status = 499  # nobody is there to answer
        except Exception as error:
            log.error("%s at %s", type(error).__name__, where(error))  # no message: it may quote a document
            forget(error)
            if status == 0:
                mistake = Problem("internal", "The request could not be answered. It is safe to try it again.")
                await mistake.response(scope["path"])(scope, receive, answer)
        finally:
            self.room.held -= exchange.held
            method = method if method in METHODS else "other"
            route = getattr(scope.get("route"), "path", "other")
            self.metrics.observe(method, route, status or 499, time.perf_counter() - start)


class NoRoomError(Exception):
    """An answer that has no room; no `Problem`, which the framework would take for one that comes after the answer."""

    def __init__(self, problem: Problem) -> None:
        super().__init__()
        self.problem = problem


class Room:
    """Bytes of all bodies that are being received and all answers that clients have still to read."""

    def __init__(self, most: int) -> None:
        self.most, self.held = most, 0

    def take(self, size: int, before: int = 0) -> int:
        """Room for so many bytes after others of the same message, or a problem; a short message always has it."""
        if before + size > PIECE and self.held + size > max(self.most, size):
            what = f"Bodies and answers on their way to other clients have {self.held:,} bytes"
            raise limited("busy", "max_transit_bytes", self.most, what, "Try again in 2 s.", {"Retry-After": "2"})
        self.held += size
        return size


class Exchange:
    """One request and its answer: the body within limits of size and time, the answer in pieces, each within a time.

    A body that is too long or too slow raises a problem where the application reads it.
    """

    def __init__(self, settings: Settings, room: Room, scope: Scope, receive: Receive, send: Send) -> None:
        self.settings, self.room, self.headers = settings, room, Headers(scope=scope)
        self.deadline: Deadline = scope["dpplearn.deadline"]
        self.path: str = scope["path"]
        self.has_body = scope["method"] not in SAFE
        self._receive, self._send = receive, send
        self.media_type = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        form = self.media_type == FORM
        self.limit = settings.max_upload_bytes if form else settings.max_body_bytes
        self.limit_name = "max_upload_bytes" if form else "max_body_bytes"
        self.received = self.held = 0
        self.complete = False

    def check_body(self) -> None:
        """Refuse a body of another type, and a compressed one: its limits would hold for something else."""
        coding = self.headers.get("content-encoding", "identity").strip().lower()
        if coding != "identity":
            raise Problem(
                "unsupported-media-type",
                f"The body must not be compressed, found the Content-Encoding {coding!r:.100}. Send it as it is.",
                headers={"Accept-Encoding": "identity"},
            )
        empty = self.headers.get("content-length", "0") == "0" and "transfer-encoding" not in self.headers
        known = (JSON, FORM) if self.path.endswith("/clusters") else (JSON,)
        if self.media_type not in known and (self.media_type or not empty):
            what = f"{self.media_type!r:.100}" if self.media_type else "none"
            detail = f"The body must be {' or '.join(known)}, found {what}. Set the header Content-Type."
            if self.media_type == FORM:
                detail += " For files, POST them to /api/v1/clusters."
            raise Problem("unsupported-media-type", detail)

    async def receive(self) -> Message:
        """The next piece of the body, or a problem as soon as it is known to be too long or too slow."""
        if self.complete:
            return await self._receive()  # comes when the client closes its connection
        announced = self.headers.get("content-length", "")
        if announced.isascii() and announced.isdigit() and int(announced) > self.limit:
            raise await self.refused(self.too_long())
        try:
            async with asyncio.timeout(max(self.deadline.left, 0.0)):
                message = await self._receive()
        except TimeoutError:
            what, advice = "The body did not arrive in time", "Send it faster."
            raise limited("too-slow", "max_seconds", self.settings.max_seconds, what, advice) from None
        size = len(message.get("body", b""))
        self.received += size
        if self.received > self.limit:
            raise await self.refused(self.too_long())
        try:
            self.held += self.room.take(size, self.held)
        except Problem as busy:
            raise await self.refused(busy) from None
        self.complete = not message.get("more_body", False)
        return message

    def too_long(self) -> Problem:
        what, advice = "The body is too long", "Send less text, or fewer files."
        return limited("too-large", self.limit_name, self.limit, what, advice)

    async def refused(self, problem: Problem) -> Problem:
        """Read on for a moment, keeping nothing: a connection closed on a sender loses the answer too."""
        self.room.held -= self.held
        self.held, left = 0, DISCARDED * self.limit
        with suppress(TimeoutError):
            async with asyncio.timeout(1.0):
                while left > 0:
                    message = await self._receive()
                    left -= len(message.get("body", b""))
                    if not message.get("more_body", False):
                        break
        self.complete = True
        return problem

    async def send(self, message: Message) -> None:
        """Pass on the answer, its body in pieces."""
        if message["type"] == "http.response.start":
            self.room.held -= self.held  # the body was read
            self.held = 0
            try:
                self.held = self.room.take(int(Headers(raw=message["headers"]).get("content-length", 0)))
            except Problem as problem:
                raise NoRoomError(problem) from None
        body, more = message.get("body", b""), message.get("more_body", False)
        for start in range(0, max(len(body), 1), PIECE):
            piece: dict[str, Any] = {**message}
            if body:
                piece |= {"body": body[start : start + PIECE], "more_body": more or start + PIECE < len(body)}
            await self._send(piece)  # `dpplearn serve` closes the connection of a client that does not take it


def forget(error: BaseException) -> None:
    """Free what the calls that an error passed still hold, the body of the request above all.

    An error refers to these calls, and some of them to the error: such a circle lives on until Python looks for
    circles, which it does after so many objects, however large they are.
    """
    traceback.clear_frames(error.__traceback__)


def host_name(netloc: str) -> str:
    """A Host header without its port, in lower case.

    >>> [host_name(host) for host in ("LocalHost:8000", "[::1]:80", "[::1]", "127.0.0.1")]
    ['localhost', '[::1]', '[::1]', '127.0.0.1']
    """
    name = netloc.strip().lower()
    return name[: name.find("]") + 1] if name.startswith("[") else name.partition(":")[0]


def check_host(scope: Scope, hosts: tuple[str, ...] | None) -> None:
    """Refuse a name that is not the server's: a page elsewhere may let its own name resolve to 127.0.0.1."""
    name = host_name(Headers(scope=scope).get("host", ""))
    if hosts is not None and name not in hosts:
        raise Problem(
            "foreign-host",
            f"The server answers to {', '.join(hosts)}, but the Host header says {name!r:.100}. Use one of those "
            "names, or start the server with --allow-host and the name it is reached by.",
        )


def check_token(scope: Scope, token: str | None) -> None:
    """Refuse who does not know the token. The page and the reference hold nothing of anybody, and are for all."""
    path = scope["path"].removeprefix(scope.get("root_path", ""))
    if token is None or path in OPEN or path.startswith(("/static/", "/problems/")):
        return
    kind, _, sent = Headers(scope=scope).get("authorization", "").partition(" ")
    if kind.lower() != "bearer" or not secrets.compare_digest(sent.strip().encode(), token.encode()):
        raise Problem("unauthorized", headers={"WWW-Authenticate": "Bearer"})


def check_origin(scope: Scope) -> None:
    """Refuse what a page of another site sends: only programs and the server's own page may change anything."""
    if scope["method"] in SAFE:
        return
    headers = Headers(scope=scope)
    origin, site = headers.get("origin"), headers.get("sec-fetch-site", "none")
    if origin is None and site not in ("cross-site", "same-site"):
        return
    try:
        parts = urlsplit(origin or "")
    except ValueError:  # unreadable
        parts = urlsplit("")
    port = {"http": ":80", "https": ":443"}.get(parts.scheme, "")
    own, sent = (name.lower().removesuffix(port) for name in (headers.get("host", ""), parts.netloc))
    if not sent or own != sent:
        detail = f"Requests from pages of {origin!r:.100} are refused. Use the server's own page."
        raise Problem("foreign-origin", detail)
