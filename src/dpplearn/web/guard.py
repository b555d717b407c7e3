"""What stands before every route: who may ask, which headers an answer carries, and what a bug looks like."""

from __future__ import annotations

import logging
import secrets
import time
import traceback
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dpplearn.web.metrics import Metrics
from dpplearn.web.problems import Problem
from dpplearn.web.sending import Sending
from dpplearn.web.settings import Settings

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": CSP,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}
OPEN = ("/api/v1/health", "/api/v1/openapi.json")  # without a token, too
SAFE = ("GET", "HEAD", "OPTIONS")
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
log = logging.getLogger("dpplearn.web")


class Guard:
    """The outermost middleware."""

    def __init__(self, app: ASGIApp, settings: Settings, metrics: Metrics, sending: Sending) -> None:
        self.app, self.settings, self.metrics, self.sending = app, settings, metrics, sending

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, status, method = time.perf_counter(), 0, scope["method"]
        if method == "HEAD":  # answered as GET; the server that runs us sends no body then
            scope = {**scope, "method": "GET"}

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("Cache-Control", "no-store")
            await send(message)
            status = message.get("status", status)

        try:
            check_host(scope, self.settings.hosts)
            check_origin(scope)
            check_token(scope, self.settings.token)
            with self.sending.one(answer) as send_all:
                await self.app(scope, receive, send_all)
        except Problem as problem:
            forget(problem)
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
            method = method if method in METHODS else "other"
            route = getattr(scope.get("route"), "path", "other")
            self.metrics.observe(method, route, status or 499, time.perf_counter() - start)


def forget(error: BaseException) -> None:
    """Free what the calls that an error passed still hold, the body of the request above all.

    An error refers to these calls, and some of them to the error: such a circle lives on until Python looks for
    circles, which it does after so many objects, however large they are.
    """
    traceback.clear_frames(error.__traceback__)


def where(error: BaseException) -> str:
    """The places in the code that an error passed, innermost last."""
    frames = traceback.extract_tb(error.__traceback__)[-6:]
    return ", ".join(f"{frame.filename.rsplit('/', 1)[-1]}:{frame.lineno} {frame.name}" for frame in frames)


def host_name(netloc: str) -> str:
    """A Host header without its port, in lower case.

    >>> [host_name(host) for host in ("LocalHost:8000", "[::1]:80", "[::1]", "127.0.0.1")]
    ['localhost', '[::1]', '[::1]', '127.0.0.1']
    """
    name = netloc.strip().lower()
    return name[: name.find("]") + 1] if name.startswith("[") else name.partition(":")[0]


def check_host(scope: Scope, hosts: tuple[str, ...] | None) -> None:
    """Refuse a name that is not the server's: a page elsewhere may let its own name resolve to 127.0.0.1."""
    found = host_name(Headers(scope=scope).get("host", ""))
    if hosts is not None and found not in hosts:
        raise Problem(
            "foreign-host",
            f"The server answers to {', '.join(hosts)}, but the Host header says {found!r:.100}. Use one of those "
            "names, or start the server with --allow-host and the name it is reached by.",
        )


def check_token(scope: Scope, token: str | None) -> None:
    """Refuse who does not know the token. The page and the reference hold nothing of anybody, and are for all."""
    path = scope["path"].removeprefix(scope.get("root_path", ""))
    if token is None or path in ("/", *OPEN) or path.startswith(("/static/", "/docs", "/problems/")):
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
