"""The body of a request, read within limits of size and time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from fastapi import Request

from dpplearn.web.pool import Deadline
from dpplearn.web.problems import Problem, limited
from dpplearn.web.settings import Settings

AT_ONCE = 16  # bodies of full size that may be in memory at once, before their work begins
DISCARDED = 4  # times the limit, read and forgotten so that a client that only sends hears why


class Bodies:
    """Reads bodies; all that are being read together take a bounded amount of memory."""

    def __init__(self, settings: Settings) -> None:
        self.limit, self.pending = settings.max_body_bytes, 0

    async def read(self, request: Request, deadline: Deadline, busy: Problem) -> bytes:
        """The whole body, or a problem as soon as it is known to be too long or too slow."""
        check_plain(request)
        body = bytearray()
        stream = request.stream()
        announced = request.headers.get("content-length", "")
        try:
            async with asyncio.timeout(max(deadline.left, 0.0)):
                if announced.isascii() and announced.isdigit() and int(announced) > self.limit:
                    raise await self.too_long(stream)
                async for chunk in stream:
                    if len(body) + len(chunk) > self.limit:
                        self.pending -= len(body)
                        body.clear()
                        raise await self.too_long(stream)
                    body += chunk
                    self.pending += len(chunk)
                    if self.pending > AT_ONCE * self.limit:
                        raise busy
        except TimeoutError:
            raise deadline.problem("too-slow", "The body did not arrive in time", "Send it faster.") from None
        finally:
            self.pending -= len(body)
        return bytes(body)

    async def too_long(self, stream: AsyncIterator[bytes]) -> Problem:
        """Read on for a moment, keeping nothing: a connection closed on a sender loses the answer too."""
        left = DISCARDED * self.limit
        try:
            async with asyncio.timeout(1.0):
                async for chunk in stream:
                    left -= len(chunk)
                    if left < 0:
                        break
        except TimeoutError:
            pass
        return limited("too-large", "max_body_bytes", self.limit, "The body is too long", "Send less text.")


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
    found = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if found not in known:
        what = f"{found!r:.100}" if found else "none"
        detail = f"The body must be {' or '.join(known)}, found {what}. Set the header Content-Type."
        raise Problem("unsupported-media-type", detail)
    return found
