"""Answers on their way, within limits of memory and time: a client that does not read must not make us remember."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import Message, Send

from dpplearn.web.problems import limited
from dpplearn.web.settings import Settings

PIECE = 65_536  # bytes handed to the server at once, which waits until the client has taken most of them


class Sending:
    """Sends answers in pieces, each within `write_seconds`; all that are unsent together take a bounded memory."""

    def __init__(self, settings: Settings) -> None:
        self.limit, self.seconds, self.unsent = settings.max_answers_bytes, settings.write_seconds, 0

    @contextmanager
    def one(self, send: Send) -> Iterator[Send]:
        """What sends the messages of one answer instead of `send`."""
        size = 0

        async def in_pieces(message: Message) -> None:
            nonlocal size
            if message["type"] == "http.response.start":
                size = self.reserve(int(Headers(raw=message["headers"]).get("content-length", 0)))
            for piece in pieces(message):
                try:
                    async with asyncio.timeout(self.seconds + 1.0):  # a server of ours closes the connection before
                        await send(piece)
                except TimeoutError:
                    raise ClientDisconnect from None

        try:
            yield in_pieces
        finally:
            self.unsent -= size

    def reserve(self, size: int) -> int:
        """Room for an answer, or a problem; short ones always have it."""
        if size > PIECE and self.unsent + size > max(self.limit, size):
            found = f"Other clients have {self.unsent:,} bytes of answers still to read"
            raise limited("busy", "max_answers_bytes", self.limit, found, "Try again in 2 s.", {"Retry-After": "2"})
        self.unsent += size
        return size


def pieces(message: Message) -> Iterator[Message]:
    """A message in several, if its body is long.

    Examples
    --------
    >>> [(len(one["body"]), one["more_body"]) for one in pieces({"type": "http.response.body", "body": b"x" * 70_000})]
    [(65536, True), (4464, False)]
    """
    body, more = message.get("body", b""), message.get("more_body", False)
    if len(body) <= PIECE:
        yield message
        return
    for start in range(0, len(body), PIECE):
        end = start + PIECE
        yield {**message, "body": body[start:end], "more_body": more or end < len(body)}
