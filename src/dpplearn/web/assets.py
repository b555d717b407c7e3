"""The files of the page, read once: a request names an entry of a table, never a file.

Starlette's StaticFiles makes its tags of a file's time and size. Built wheels give all files one time, so that a page
of the same size would stay in caches after an update; ours are made of the content.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.resources import files

from fastapi import APIRouter, Request, Response

from dpplearn.web.problems import Problem

# by suffix; the tables of the system say other things of JavaScript here and there
TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


@dataclass(frozen=True)
class Asset:
    """A file, its type, and a tag that changes with it."""

    data: bytes
    media_type: str
    etag: str

    @classmethod
    def of(cls, data: bytes, suffix: str) -> Asset:
        return cls(data, TYPES.get(suffix, "application/octet-stream"), f'"{hashlib.sha256(data).hexdigest()[:20]}"')

    def response(self, request: Request) -> Response:
        headers = {"ETag": self.etag, "Cache-Control": "no-cache"}
        if request.headers.get("if-none-match") == self.etag:
            return Response(status_code=304, headers=headers)
        return Response(self.data, headers=headers, media_type=self.media_type)


def page() -> APIRouter:
    """The page at / and its files under /static."""
    router = APIRouter(include_in_schema=False)
    found = [*(files("dpplearn.web") / "static").iterdir(), files("dpplearn.summarize") / "data" / "look.css"]
    assets = {one.name: Asset.of(one.read_bytes(), one.name.rpartition(".")[2]) for one in found}

    @router.get("/")
    async def index(request: Request) -> Response:
        return assets["index.html"].response(request)

    @router.get("/static/{name:path}")
    async def asset(name: str, request: Request) -> Response:
        if name not in assets:
            raise Problem("not-found")
        return assets[name].response(request)

    return router
