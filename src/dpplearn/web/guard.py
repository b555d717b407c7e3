"""What stands before every route: who may ask, how much may be sent, and which headers an answer carries."""

from __future__ import annotations

import asyncio
import secrets
import time
import traceback
from contextlib import suppress

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dpplearn.web.problems import Problem, limited, where
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
OPEN = ("/", "/docs", "/api/v1/health", "/api/v1/openapi.json")  # without a token, too, like the files of the page
SAFE = ("GET", "HEAD", "OPTIONS")
METHODS = (*SAFE, "POST", "PUT", "PATCH", "DELETE")
JSON, FORM = "application/json", "multipart/form-data"
PIECE = 65_536  # bytes handed to the server at once, which waits until the client has taken most of them
DISCARDED = 4  # times the limit, read and forgotten so that a client that only sends hears why


class Guard:
    """The outermost middleware."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self.app, self.service = app, service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, status, method, path = time.perf_counter(), 0, scope["method"], scope["path"]
        headers, deadline = Headers(scope=scope), Deadline(self.service.settings.max_seconds)
        # HEAD is answered as GET; the server that runs us sends no body then
        scope = {**scope, "dpplearn.deadline": deadline, "method": "GET" if method == "HEAD" else method}
        body = Body(self.service, deadline, headers, receive)

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                body.release()  # it was read
                own = MutableHeaders(scope=message)
                own.update(HEADERS)
                own.setdefault("Cache-Control", "no-store" if path.startswith("/api/") else "no-cache")
                await send(message)
                status = message["status"]
                return
            data, more = message.get("body", b""), message.get("more_body", False)
            for at in range(0, len(data) or 1, PIECE):  # `dpplearn serve` closes the connection of who takes none
                rest = more or at + PIECE < len(data)
                await send({**message, "body": data[at : at + PIECE], "more_body": rest})

        try:
            self.check(method, path, path.removeprefix(scope.get("root_path", "")), headers)
            await self.app(scope, body.receive, answer)
        except Problem as refused:
            forget(refused)
            await refused.response(path)(scope, receive, answer)
        except ClientDisconnect as gone:
            forget(gone)
            status = 499  # nobody is there to answer
        except Exception as error:
            log.error("%s at %s", type(error).__name__, where(error))  # no message: it may quote a document
            forget(error)
            if status == 0:
                await Problem("internal").response(path)(scope, receive, answer)
        finally:
            body.release()
            route = getattr(scope.get("route"), "path", "other")
            self.service.requests.labels(method if method in METHODS else "other", route, str(status or 499)).inc()
            self.service.seconds.labels(route).observe(time.perf_counter() - start)

    def check(self, method: str, path: str, route: str, headers: Headers) -> None:
        """Refuse a request before anything of its body is read."""
        settings = self.service.settings
        if "\0" in path:  # which no file system takes
            raise Problem("not-found")
        check_host(headers, settings.hosts)
        if settings.token is not None and route not in OPEN and not route.startswith(("/static/", "/problems/")):
            check_token(headers, settings.token)
        if method not in SAFE:
            check_origin(headers)
            check_type(headers, (JSON, FORM) if path.endswith("/clusters") else (JSON,))
        if method == "POST":
            self.service.pool.check_room()  # now, and not once the body has arrived


class Body:
    """The body of a request: where it is too long or too slow, a problem is raised where the application reads it."""

    def __init__(self, service: Service, deadline: Deadline, headers: Headers, receive: Receive) -> None:
        self.service, self.deadline, self.receive_next = service, deadline, receive
        self.limit_name = "max_upload_bytes" if media_type(headers) == FORM else "max_body_bytes"
        self.limit: int = getattr(service.settings, self.limit_name)
        self.announced = int(headers.get("content-length", 0))  # a number: the server that runs us has seen to that
        self.held, self.complete = 0, False

    async def receive(self) -> Message:
        """The next piece of the body, or a problem as soon as it is known to be too long or too slow."""
        if self.complete:
            return await self.receive_next()  # comes when the client closes its connection
        settings, too_long = self.service.settings, self.announced > self.limit
        message: Message = {}
        if not too_long:
            try:
                async with asyncio.timeout(self.deadline.left):
                    message = await self.receive_next()
            except TimeoutError:
                what = "The body did not arrive in time"
                raise limited("too-slow", "max_seconds", settings.max_seconds, what, "Send it faster.") from None
        size = len(message.get("body", b""))
        self.held += size
        self.service.transit += size
        if too_long or self.held > self.limit:
            await self.discard()
            advice = "Send less text, or fewer files."
            raise limited("too-large", self.limit_name, self.limit, "The body is too long", advice)
        if self.held > PIECE and self.service.transit > (most := settings.max_transit_bytes):
            what = f"Requests that are being received have {self.service.transit:,} bytes"
            await self.discard()
            raise limited("busy", "max_transit_bytes", most, what, "Try again in a second.")
        self.complete = not message.get("more_body", False)
        return message

    def release(self) -> None:
        """It is in memory no more."""
        self.service.transit -= self.held
        self.held = 0

    async def discard(self) -> None:
        """Read on for a moment, keeping nothing: a connection closed on a sender loses the answer too."""
        self.release()
        left, more = DISCARDED * self.limit, True
        with suppress(TimeoutError):
            async with asyncio.timeout(1.0):
                while left > 0 and more:
                    message = await self.receive_next()
                    left, more = left - len(message.get("body", b"")), message.get("more_body", False)
        self.complete = True


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


def media_type(headers: Headers) -> str:
    """The Content-Type, without its parameters."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def check_host(headers: Headers, hosts: tuple[str, ...] | None) -> None:
    """Refuse a name that is not the server's: a page elsewhere may let its own name resolve to 127.0.0.1."""
    name = host_name(headers.get("host", ""))
    if hosts is not None and name not in hosts:
        raise Problem(
            "foreign-host",
            f"The server answers to {', '.join(hosts)}, but the Host header says {name!r:.100}. Use one of those "
            "names, or start the server with --allow-host and the name it is reached by.",
        )


def check_token(headers: Headers, token: str) -> None:
    """Refuse who does not know the token."""
    kind, _, sent = headers.get("authorization", "").partition(" ")
    if kind.lower() != "bearer" or not secrets.compare_digest(sent.strip().encode(), token.encode()):
        raise Problem("unauthorized", headers={"WWW-Authenticate": "Bearer"})


def check_origin(headers: Headers) -> None:
    """Refuse what a page of another site sends: only programs and the server's own page may change anything."""
    origin, own = headers.get("origin"), headers.get("host", "").lower()
    if origin is None and headers.get("sec-fetch-site") not in ("cross-site", "same-site"):
        return
    if not own or (origin or "").lower().partition("://")[2] != own:
        detail = f"Requests from pages of {origin!r:.100} are refused. Use the server's own page."
        raise Problem("foreign-origin", detail)


def check_type(headers: Headers, known: tuple[str, ...]) -> None:
    """Refuse a body of another type, and a compressed one: its limits would hold for something else."""
    slug, kind, coding = "unsupported-media-type", media_type(headers), headers.get("content-encoding", "identity")
    if coding.strip().lower() != "identity":
        detail = f"The body must not be compressed, found the Content-Encoding {coding!r:.100}. Send it as it is."
        raise Problem(slug, detail, headers={"Accept-Encoding": "identity"})
    empty = headers.get("content-length", "0") == "0" and "transfer-encoding" not in headers
    if kind not in known and (kind or not empty):
        detail = f"The body must be {' or '.join(known)}, found {kind or 'none'!r:.100}. Set the header Content-Type."
        raise Problem(slug, detail + " For files, POST them to /api/v1/clusters." * (kind == FORM))
