"""What a server allows: sizes, times, numbers. Each limit is named in the error of a request that passes it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


@dataclass(frozen=True)
class Settings:
    """Limits of a server; docs/web-details.md says what happens past each of them.

    Examples
    --------
    >>> Settings(max_documents=3).max_documents
    3
    """

    model: Path | None = None  # a file, to use by default beside the model inside, which is for any text
    n_jobs: int = min(4, os.cpu_count() or 1)  # requests that are worked on at once: a selection uses a core
    queue: int = 64  # requests that may wait; further ones are answered 429
    max_body_bytes: int = 4_000_000
    max_upload_bytes: int = 32_000_000  # of a form: most files are no text
    max_documents: int = 100
    max_document_characters: int = 2_000_000
    max_sentences: int = 10_000
    exact_sentences: int = 1_500  # of more, such as those of a book, a first choice is made before the model is asked
    max_seconds: float = 30.0  # from the request's first byte to its answer
    max_file_seconds: float = 10.0  # to read one uploaded file that is no text (PDF, Word, e-mail ...)
    max_connections: int = 500  # of `dpplearn serve`
    idle_seconds: float = 10.0  # that a connection may be open without a request, or its answer not be taken
    max_clusters: int = 2_000
    max_clusters_bytes: int = 512_000_000  # of memory, for all clusters together
    cluster_seconds: float = 3_600.0  # that a cluster is kept after its last use
    samples: int = 50_000  # sets drawn by the decoder "sampled"
    # Names under which the server may be reached, without ports; None for any. The default is loopback, so that no
    # page elsewhere reaches it by a name of its own that resolves to 127.0.0.1.
    hosts: tuple[str, ...] | None = LOOPBACK
    token: str | None = field(default=None, repr=False)  # what clients of the API must send as a bearer, if anything

    def __post_init__(self) -> None:
        if self.token is not None and not re.fullmatch("[!-~]{16,}", self.token):
            made = 'python -c "import secrets; print(secrets.token_urlsafe())"'
            raise ValueError(f"token must be 16 or more letters, digits and signs of ASCII. This makes one: {made}")
        for name, value in vars(self).items():
            if isinstance(value, int | float) and not value >= (0 if name == "queue" else 1e-3):
                raise ValueError(f"{name} must be a positive number, found {value!r}.")
