"""Errors as problem documents (RFC 9457): what went wrong, and what to change."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from fastapi import Response

MEDIA_TYPE = "application/problem+json"
LONGEST = 200  # characters of a name in a request that an answer quotes

# slug: (status, title, what it means: the detail, too, where a request says no more than that)
KINDS: dict[str, tuple[int, str, str]] = {
    "malformed": (400, "The request cannot be read", "The body is not JSON in UTF-8, or not a multipart form."),
    "unauthorized": (401, "The server asks for its token", "Send the header `Authorization: Bearer TOKEN`."),
    "foreign-origin": (403, "Requests from other sites are refused", "A page of another site sent the request."),
    "foreign-host": (403, "The server is not known by this name", "The Host header names another machine."),
    "not-found": (
        404,
        "There is nothing here",
        "Nothing has this address. The page is at /, the reference of the API at /docs.",
    ),
    "cluster-gone": (404, "The cluster is gone", "It expired, made room for newer ones, or never was. Post it again."),
    "method-not-allowed": (405, "The method does not fit the address", "The header Allow lists those that do."),
    "too-slow": (408, "The request took too long to arrive", "The body was not complete within `max_seconds`."),
    "too-large": (413, "The request passes a limit", "`limit` names the limit, and `value` says how much it allows."),
    "unsupported-media-type": (
        415,
        "The body has the wrong type",
        "Send application/json or multipart/form-data, and no Content-Encoding.",
    ),
    "invalid": (422, "The request is not valid", "`errors` lists the values that are not valid, as JSON pointers."),
    "unreadable": (422, "A document cannot be read", "A file is no text, or in an unknown encoding."),
    "nothing-to-choose": (
        422,
        "There is nothing to choose from",
        "None of the documents has a sentence with a word in it. Send more text.",
    ),
    "infeasible": (422, "No summary satisfies this", "The pinned and banned sentences and the budget do not agree."),
    "busy": (429, "The server is busy", "Workers and queue are taken. Try again after the seconds in `Retry-After`."),
    "internal": (500, "The server made a mistake", "This is a bug, not a matter of the request. Trying again is safe."),
    "time-limit": (
        504,
        "The request passes the time limit",
        "The limit `max_seconds` was passed: send less, or ask for a faster decoder.",
    ),
}


class Problem(Exception):  # noqa: N818  # RFC 9457's word
    """An answer that is a problem document.

    Examples
    --------
    >>> Problem("too-large", "At most 3 documents.", limit="max_documents", value=3).document("/x")["status"]
    413
    """

    def __init__(self, slug: str, detail: str = "", headers: Mapping[str, str] | None = None, **members: Any) -> None:
        super().__init__(slug)  # the detail may quote a document: it is answered, never logged
        self.slug, self.detail, self.members = slug, detail or KINDS[slug][2], members
        self.headers = dict(headers or {})

    @property
    def status(self) -> int:
        return KINDS[self.slug][0]

    def document(self, instance: str) -> dict[str, Any]:
        """The members of the problem document."""
        status, title, _ = KINDS[self.slug]
        return {
            "type": f"/problems/{self.slug}",
            "title": title,
            "status": status,
            "detail": self.detail,
            "instance": instance,
            **self.members,
        }

    def response(self, instance: str) -> Response:
        body = json.dumps(self.document(instance), ensure_ascii=False).encode("utf-8", "replace")
        return Response(body, self.status, self.headers, MEDIA_TYPE)


def pointer(place: Iterable[str | int]) -> str:
    """A JSON pointer (RFC 6901); of a name that is longer than any of ours, its beginning.

    >>> pointer(["documents", 0, "a/b"]), len(pointer(["a" * 1_000_000]))
    ('/documents/0/a~1b', 202)
    """
    named = (part if len(part) <= LONGEST else f"{part[:LONGEST]}…" for part in map(str, place))
    return "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in named)


def invalid(errors: Iterable[tuple[Iterable[str | int], str]]) -> Problem:
    """Values that are not what the schema says, each with its place."""
    listed = [{"pointer": pointer(place), "detail": detail} for place, detail in errors]
    first = listed[0]
    where = first["pointer"] or "the body"
    return Problem("invalid", f"{where}: {first['detail']}", errors=listed)


def limited(
    slug: str, name: str, value: float, found: str, advice: str, headers: Mapping[str, str] | None = None
) -> Problem:
    """A limit of the settings that the request passes.

    >>> limited("too-large", "max_documents", 3, "There are 4 documents", "Send fewer.").detail
    'There are 4 documents; the limit max_documents is 3. Send fewer.'
    """
    detail = f"{found}; the limit {name} is {value:,g}. {advice}"
    return Problem(slug, detail, headers=headers, limit=name, value=value)
