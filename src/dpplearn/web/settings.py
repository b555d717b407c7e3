"""What a server allows: sizes, times, numbers. Each limit is named in the error of a request that passes it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, fields
from pathlib import Path

MOST_WORKERS = 64
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


@dataclass(frozen=True)
class Settings:
    """Limits of a server.

    Parameters
    ----------
    model : path, optional
        A model file to use by default, beside the one inside, which is for any text.
    workers, queue : int
        Requests that are worked on at once (by default one per core, at most four: a selection uses a core), and those
        that may wait; further ones are answered 429.
    max_body_bytes, max_upload_bytes, max_documents, max_document_characters, max_sentences : int
        Of one request; files of a form may be longer than JSON, most of them being no text.
    exact_sentences : int
        How many the exact model is asked about, with arrays of a row and a column for each: of more, such as those of
        a book, a first choice is made (`dpplearn.summarize.model.first_choice`).
    max_file_seconds : float
        How long one uploaded file that is no text (PDF, Word, e-mail ...) may take to read.
    max_seconds : float
        From the request's first byte to its answer.
    max_transit_bytes, write_seconds : int and float
        Memory of all bodies being received, and how long a client may leave a piece of its answer unread.
    max_connections, idle_seconds : int and float
        Of `dpplearn serve`: how many there may be, and how long one may be open without a request.
    max_clusters, max_clusters_bytes, cluster_seconds : int, int and float
        How many clusters are kept, the memory that they may take together, and how long after its last use one is kept.
    samples : int
        Sets drawn by the decoder "sampled".
    hosts : tuple of str, optional
        Names under which the server may be reached, without ports; None for any. The default is loopback, so that
        no page elsewhere reaches it by a name of its own that resolves to 127.0.0.1.
    token : str, optional
        What clients of the API must send as a bearer, at least 16 characters; None for no such thing.

    Examples
    --------
    >>> Settings(max_documents=3).max_documents
    3
    """

    model: Path | None = None
    workers: int = min(4, os.cpu_count() or 1)
    queue: int = 64
    max_body_bytes: int = 4_000_000
    max_upload_bytes: int = 32_000_000
    max_documents: int = 100
    max_document_characters: int = 2_000_000
    max_sentences: int = 10_000
    exact_sentences: int = 1_500
    max_seconds: float = 30.0
    max_file_seconds: float = 10.0
    max_transit_bytes: int = 128_000_000
    write_seconds: float = 20.0
    max_connections: int = 500
    idle_seconds: float = 10.0
    max_clusters: int = 2_000
    max_clusters_bytes: int = 512_000_000
    cluster_seconds: float = 3_600.0
    samples: int = 50_000
    hosts: tuple[str, ...] | None = LOOPBACK
    token: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.token is not None and not re.fullmatch("[!-~]{16,}", self.token):
            made = 'python -c "import secrets; print(secrets.token_urlsafe())"'
            raise ValueError(f"token must be 16 or more letters, digits and signs of ASCII. This makes one: {made}")
        for one in fields(self):
            value, low = getattr(self, one.name), 0 if one.name == "queue" else 1 if one.type == "int" else 1e-3
            high = MOST_WORKERS if one.name == "workers" else 1e15
            numbers = {"int": int, "float": int | float}
            if one.type in numbers and (
                isinstance(value, bool) or not isinstance(value, numbers[one.type]) or not low <= value <= high
            ):
                raise ValueError(f"{one.name} must be a number from {low:g} to {high:g}, found {value!r}.")
