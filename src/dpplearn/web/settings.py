"""The limits of a server. An error names the limit that a request passes."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


@dataclass(frozen=True)
class Settings:
    """Limits of a server; docs/web-details.md says what happens beyond each of them."""

    model: Path | None = None  # a file, to use by default instead of the bundled model
    n_jobs: int = min(4, os.cpu_count() or 1)  # requests at once: each uses one core
    queue: int = 64  # requests that may wait; more are answered with 429
    max_body_bytes: int = 4_000_000
    max_upload_bytes: int = 32_000_000  # for forms, since most files are not text
    max_documents: int = 100
    max_document_characters: int = 2_000_000
    max_sentences: int = 10_000
    exact_sentences: int = 1_500  # of more, as in a book, a first choice comes before the model
    max_seconds: float = 30.0  # from the request's first byte to its answer
    max_file_seconds: float = 10.0  # to read an uploaded file that is not text (PDF, Word, e-mail ...)
    max_connections: int = 500  # for `dpplearn serve`
    idle_seconds: float = 10.0  # until a connection is closed that sends no request or does not take its answer
    max_clusters: int = 2_000
    max_clusters_bytes: int = 512_000_000  # memory for all clusters together
    cluster_seconds: float = 3_600.0  # until a cluster is dropped after its last use
    samples: int = 50_000  # sets drawn by the decoder "sampled"
    # names of the server without ports, or None for any; by default loopback, so that no foreign page can reach it
    # under another name that resolves to 127.0.0.1
    hosts: tuple[str, ...] | None = LOOPBACK
    token: str | None = field(default=None, repr=False)  # a bearer token that clients must send

    def __post_init__(self) -> None:
        if self.token is not None and not re.fullmatch("[!-~]{16,}", self.token):
            made = 'python -c "import secrets; print(secrets.token_urlsafe())"'
            raise ValueError(f"token must have 16 or more ASCII letters, digits and signs. This makes one: {made}")
        for name, value in vars(self).items():
            if isinstance(value, int | float) and not value >= (0 if name == "queue" else 1e-3):
                raise ValueError(f"{name} must be a positive number, found {value!r}.")
