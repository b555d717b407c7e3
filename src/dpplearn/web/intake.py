"""The body of a request: read within limits of size and time, then checked against its schema."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import TypeVar

from fastapi import Request
from pydantic import ValidationError

from dpplearn.web.pool import Deadline
from dpplearn.web.problems import Problem, invalid, limited
from dpplearn.web.schema import Strict
from dpplearn.web.settings import Settings
from dpplearn.web.wording import plain

S = TypeVar("S", bound=Strict)
AT_ONCE = 16  # bodies of full size that may be in memory at once, before their work begins
DISCARDED = 4  # times the limit, read and forgotten so that a client that only sends hears why


class Intake:
    """Reads bodies; all that are being read together take a bounded amount of memory."""

    def __init__(self, settings: Settings) -> None:
        self.limit, self.pending = settings.max_body_bytes, 0

    async def read(self, request: Request, deadline: Deadline, busy: Problem) -> bytes:
        """The whole body, or a problem as soon as it is known to be too long or too slow."""
        body = bytearray()
        stream = request.stream()
        try:
            async with asyncio.timeout(max(deadline.left, 0.0)):
                if self.announced(request) > self.limit:
                    await self.discard(stream)
                    raise self.too_long()
                async for chunk in stream:
                    if len(body) + len(chunk) > self.limit:
                        self.pending -= len(body)
                        body.clear()
                        await self.discard(stream)
                        raise self.too_long()
                    body += chunk
                    self.pending += len(chunk)
                    if self.pending > AT_ONCE * self.limit:
                        raise busy
        except TimeoutError:
            raise Problem(
                "too-slow",
                f"The body did not arrive within {deadline.seconds:g} seconds, the limit max_seconds. Send it faster.",
                limit="max_seconds",
                value=deadline.seconds,
            ) from None
        finally:
            self.pending -= len(body)
        return bytes(body)

    async def discard(self, stream: AsyncIterator[bytes]) -> None:
        """Read on for a moment, keeping nothing: a connection closed on a sender loses the answer too."""
        left = DISCARDED * self.limit
        try:
            async with asyncio.timeout(1.0):
                async for chunk in stream:
                    left -= len(chunk)
                    if left < 0:
                        return
        except TimeoutError:
            return

    def too_long(self) -> Problem:
        return limited(
            "max_body_bytes",
            self.limit,
            f"The body is longer than the {self.limit:,} bytes that the limit max_body_bytes allows. Send less text.",
        )

    @staticmethod
    def announced(request: Request) -> int:
        given = request.headers.get("content-length", "")
        return int(given) if given.isascii() and given.isdigit() else 0


def media_type(request: Request) -> str:
    """The type of the body, without parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def check_json(request: Request) -> None:
    """Refuse a body that is announced as something else than JSON; a page elsewhere can send plain text unasked."""
    found = media_type(request)
    if found != "application/json":
        raise unsupported(found, "application/json")


def check_plain(request: Request) -> None:
    """Refuse a compressed body: its limits would hold for something else than what is read."""
    coding = request.headers.get("content-encoding", "identity").strip().lower()
    if coding != "identity":
        raise Problem(
            "unsupported-media-type",
            f"The body must not be compressed, found the Content-Encoding {coding!r:.100}. Send it as it is.",
            headers={"Accept-Encoding": "identity"},
        )


def unsupported(found: str, expected: str) -> Problem:
    return Problem(
        "unsupported-media-type",
        f"The body must be {expected}, found {found!r:.100}. Set the header Content-Type." if found
        else f"The body must be {expected}, but the header Content-Type is missing.",
    )  # fmt: skip


def parse(model: type[S], body: bytes) -> S:
    """The body as a record, or a problem that lists what is not valid in it."""
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        found = error.errors(include_url=False)
        if found[0]["type"] == "json_invalid":
            raise Problem("malformed", f"The body must be JSON in UTF-8. {found[0]['msg']}.") from None
        raise invalid((one["loc"], plain(one, model)) for one in found[:20]) from None
