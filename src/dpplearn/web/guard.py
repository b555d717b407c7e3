"""The middleware before every route: it checks who asks and how much is sent, and adds headers to answers."""

from __future__ import annotations

import asyncio
import secrets
import traceback
from contextlib import suppress

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dpplearn.web.problems import Problem, limited, where
from dpplearn.web.schema import JSON
from dpplearn.web.service import Service
from dpplearn.web.work import Deadline, log

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}
OPEN = ("/", "/docs", "/api/v1/health", "/api/v1/openapi.json")  # these, and files of the page, need no token
FORM = "multipart/form-data"
PIECE = 65_536  # bytes that are sent at once; the server then waits until the client has taken most of them
DISCARDED = 4  # so many times the limit is read and dropped, so that a client that only sends gets its answer


class Guard:
    """Checks a request, receives its body within the limits, and answers errors."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self.app, self.service = app, service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        path, headers, begun = scope["path"], Headers(scope=scope), False
        deadline = Deadline(self.service.settings.max_seconds)
        body = Body(self.service, deadline, headers, receive)
        scope = {**scope, "dpplearn.deadline": deadline}

        async def answer(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun, own = True, MutableHeaders(scope=message)
                own.update(HEADERS)
                own.setdefault("Cache-Control", "no-store" if path.startswith("/api/") else "no-cache")
                await send(message)
                return
            data, more = message.get("body", b""), message.get("more_body", False)
            for at in range(0, len(data) or 1, PIECE):  # if the client takes none, the connection is closed
                rest = more or at + PIECE < len(data)
                await send({**message, "body": data[at : at + PIECE], "more_body": rest})

        try:
            self.check(scope["method"], path.removeprefix(scope.get("root_path", "")), headers)
            await self.app(scope, body.receive, answer)
        except ClientDisconnect as gone:
            forget(gone)  # there is nobody to answer
        except Exception as error:
            if not isinstance(error, Problem):
                log.error("%s at %s", type(error).__name__, where(error))  # no message: it may quote a document
            forget(error)
            if not begun:
                problem = error if isinstance(error, Problem) else Problem("internal")
                await problem.response(path)(scope, receive, answer)
        finally:
            body.release()

    def check(self, method: str, route: str, headers: Headers) -> None:
        """Refuse a request before its body is read."""
        token, host, origin = self.service.settings.token, headers.get("host", "").lower(), headers.get("origin")
        if token is not None and route not in OPEN and not route.startswith("/static/"):
            kind, _, sent = headers.get("authorization", "").partition(" ")
            if kind.lower() != "bearer" or not secrets.compare_digest(sent.strip().encode(), token.encode()):
                raise Problem("unauthorized", headers={"WWW-Authenticate": "Bearer"})
        if method in ("GET", "HEAD", "OPTIONS"):
            return
        foreign = headers.get("sec-fetch-site") in ("cross-site", "same-site")
        if foreign if origin is None else origin.lower().partition("://")[2] != host:
            what = f"Requests from pages of {origin!r:.100} are refused. Use the server's own page."
            raise Problem("foreign-origin", what)
        if method == "POST":
            kind = FORM if route.endswith("/files") else JSON
            found = headers.get("content-type", "").partition(";")[0].strip().lower()
            if found != kind and (found or headers.get("content-length", "0") != "0"):
                what = f"The body must be {kind}, found {found or 'none'!r:.100}. Set the header Content-Type."
                raise Problem("unsupported-media-type", f"{what} Files go to /api/v1/clusters/files.")
            self.service.pool.check_room()  # before the body arrives


class Body:
    """The body of a request, which raises a problem when it is too long or too slow."""

    def __init__(self, service: Service, deadline: Deadline, headers: Headers, receive: Receive) -> None:
        self.service, self.deadline, self.receive_next = service, deadline, receive
        is_form = headers.get("content-type", "").lower().startswith(FORM)
        self.limit_name = "max_upload_bytes" if is_form else "max_body_bytes"
        self.limit: int = getattr(service.settings, self.limit_name)
        self.announced = int(headers.get("content-length", 0))  # a number, as the server has checked
        self.held, self.is_large, self.complete = 0, False, False

    async def receive(self) -> Message:
        """The next piece of the body, or a problem as soon as it is known to be too long or too slow."""
        if self.complete:
            return await self.receive_next()  # returns when the client closes its connection
        too_long = self.announced > self.limit
        try:
            async with asyncio.timeout(self.deadline.left):
                if self.held > PIECE and not self.is_large:  # only few large bodies are in memory at once
                    self.is_large = await self.service.large_bodies.acquire()
                message = {} if too_long else await self.receive_next()
        except TimeoutError:
            what = "The body did not arrive in time"
            raise limited("too-slow", "max_seconds", self.deadline.seconds, what, "Send it faster.") from None
        self.held += len(message.get("body", b""))
        if too_long or self.held > self.limit:
            await self.discard()
            advice = "Send less text, or fewer files."
            raise limited("too-large", self.limit_name, self.limit, "The body is too long", advice)
        self.complete = not message.get("more_body", False)
        return message

    def release(self) -> None:
        """Say that the body is no longer in memory."""
        if self.is_large:
            self.service.large_bodies.release()

    async def discard(self) -> None:
        """Read on for a moment without keeping anything, because a client that still sends would miss the answer."""
        left, more, self.complete = DISCARDED * self.limit, True, True
        with suppress(TimeoutError):
            async with asyncio.timeout(1.0):
                while left > 0 and more:
                    message = await self.receive_next()
                    left, more = left - len(message.get("body", b"")), message.get("more_body", False)


def forget(error: BaseException) -> None:
    """Free what the stack frames of an error hold, above all the body of the request.

    The error refers to the frames, and some frames to the error, so that Python would free them only much later.
    """
    traceback.clear_frames(error.__traceback__)
