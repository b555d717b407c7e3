"""The body of a request, read within limits of size and time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

from fastapi import Request

from dpplearn.web.pool import Deadline
from dpplearn.web.problems import Problem, limited
from dpplearn.web.settings import Settings

JSON, FORM = "application/json", "multipart/form-data"
UPLOADS = 4  # forms of full size that may be in memory at once, likewise
AT_ONCE = 16  # bodies of full size that may be in memory at once, before their work begins
DISCARDED = 4  # times the limit, read and forgotten so that a client that only sends hears why


class Bodies:
    """Reads bodies; all that are being read together take a bounded amount of memory."""

    def __init__(self, settings: Settings) -> None:
        self.limits = {FORM: ("max_upload_bytes", settings.max_upload_bytes)}
        self.usual = "max_body_bytes", settings.max_body_bytes
        self.room = max(AT_ONCE * settings.max_body_bytes, UPLOADS * settings.max_upload_bytes)
        self.pending = 0

    async def read(self, request: Request, deadline: Deadline, busy: Problem) -> bytes:
        """The whole body, or a problem as soon as it is known to be too long or too slow."""
        check_plain(request)
        name, limit = self.limits.get(media_type(request), self.usual)
        body = bytearray()
        stream = request.stream()
        announced = request.headers.get("content-length", "")
        try:
            async with asyncio.timeout(max(deadline.left, 0.0)):
                if announced.isascii() and announced.isdigit() and int(announced) > limit:
                    raise await refused(stream, limit, too_long(name, limit))
                async for chunk in stream:
                    body += chunk
                    self.pending += len(chunk)
                    if len(body) > limit or self.pending > self.room:
                        problem = too_long(name, limit) if len(body) > limit else busy
                        self.pending -= len(body)
                        body.clear()
                        raise await refused(stream, limit, problem)
        except TimeoutError:
            raise deadline.problem("too-slow", "The body did not arrive in time", "Send it faster.") from None
        finally:
            self.pending -= len(body)
        return bytes(body)


def too_long(name: str, limit: int) -> Problem:
    return limited("too-large", name, limit, "The body is too long", "Send less text, or fewer files.")


async def refused(stream: AsyncIterator[bytes], limit: int, problem: Problem) -> Problem:
    """Read on for a moment, keeping nothing: a connection closed on a sender loses the answer too."""
    left = DISCARDED * limit
    with suppress(TimeoutError):
        async with asyncio.timeout(1.0):
            async for chunk in stream:
                left -= len(chunk)
                if left < 0:
                    break
    return problem


def media_type(request: Request) -> str:
    """What a request says its body is."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def check_plain(request: Request) -> None:
    """Refuse a compressed body: its limits would hold for something else than what is read."""
    coding = request.headers.get("content-encoding", "identity").strip().lower()
    if coding != "identity":
        raise Problem(
            "unsupported-media-type",
            f"The body must not be compressed, found the Content-Encoding {coding!r:.100}. Send it as it is.",
            headers={"Accept-Encoding": "identity"},
        )


def check_type(request: Request, *known: str) -> str:
    """The type of the body, one of those known: a page elsewhere can send plain text unasked."""
    found = media_type(request)
    if found not in known:
        what = f"{found!r:.100}" if found else "none"
        detail = f"The body must be {' or '.join(known)}, found {what}. Set the header Content-Type."
        if found == FORM:
            detail += " For files, POST them to /api/v1/clusters."
        raise Problem("unsupported-media-type", detail)
    return found
