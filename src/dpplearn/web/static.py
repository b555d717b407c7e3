"""The files of the page, read once: a request names an entry of a table, never a file."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable

from fastapi import Request, Response

from dpplearn.web.problems import Problem

TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "mjs": "text/javascript; charset=utf-8",
    "json": "application/json",
    "svg": "image/svg+xml",
    "png": "image/png",
    "ico": "image/x-icon",
    "txt": "text/plain; charset=utf-8",
}


@dataclass(frozen=True)
class Asset:
    """A file, its type, and a tag that changes with it."""

    data: bytes
    media_type: str
    etag: str

    @classmethod
    def of(cls, data: bytes, suffix: str) -> Asset:
        tag = hashlib.sha256(data).hexdigest()[:20]
        return cls(data, TYPES.get(suffix, "application/octet-stream"), f'"{tag}"')

    def response(self, request: Request) -> Response:
        headers = {"ETag": self.etag, "Cache-Control": "no-cache"}
        if request.headers.get("if-none-match") == self.etag:
            return Response(status_code=304, headers=headers)
        return Response(self.data, headers=headers, media_type=self.media_type)


class Assets:
    """All files under `static`, by name."""

    def __init__(self) -> None:
        self.table = dict(walk(files("dpplearn.web") / "static", ""))

    def response(self, name: str, request: Request) -> Response:
        if name not in self.table:
            raise Problem("not-found", "There is no such file. The page is at /, the reference of the API at /docs.")
        return self.table[name].response(request)


def walk(folder: Traversable, prefix: str) -> list[tuple[str, Asset]]:
    """Every file of a folder with its name from there."""
    found: list[tuple[str, Asset]] = []
    for entry in folder.iterdir():
        if entry.is_dir():
            found += walk(entry, f"{prefix}{entry.name}/")
        else:
            found.append((prefix + entry.name, Asset.of(entry.read_bytes(), entry.name.rpartition(".")[2].lower())))
    return found
