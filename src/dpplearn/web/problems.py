"""Errors as problem documents (RFC 9457): what went wrong, and what to change."""

from __future__ import annotations

import json
import traceback
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from fastapi import HTTPException, Response

from dpplearn.web.schema import Export, GivenDocument, Whole

PROBLEM_JSON = "application/problem+json"
MEMBERS = sorted({name for request in (GivenDocument, Export, Whole) for name in request.model_fields})
LONGEST_NAME = 200  # characters of a name in a request that an answer quotes
LONGEST_VALUE = 40  # characters of a value that a message quotes
MOST_ERRORS = 20  # errors that an answer lists

# slug: (status, title, what it means: the detail, too, where a request says no more than that)
PROBLEMS: dict[str, tuple[int, str, str]] = {
    "malformed": (400, "The request cannot be read", "The body is not JSON in UTF-8, or not a multipart form."),
    "unauthorized": (401, "The server asks for its token", "Send the header `Authorization: Bearer TOKEN`."),
    "foreign-origin": (403, "Requests from other sites are refused", "A page of another site sent the request."),
    "foreign-host": (403, "The server is not known by this name", "The Host header names another machine."),
    "not-found": (404, "There is nothing here", "The page is at /, the reference of the API at /docs."),
    "cluster-gone": (404, "The cluster is gone", "It expired, made room for newer ones, or never was. Post it again."),
    "method-not-allowed": (405, "The method does not fit the address", "The header Allow lists those that do."),
    "too-slow": (408, "The request took too long to arrive", "The body was not complete within `max_seconds`."),
    "too-large": (413, "The request passes a limit", "`limit` names the limit, and `value` says how much it allows."),
    "unsupported-media-type": (415, "The body has the wrong type", "Send JSON or a form, and no Content-Encoding."),
    "invalid": (422, "The request is not valid", "`errors` lists the values that are not valid, as JSON pointers."),
    "unreadable": (422, "No document can be read", "`errors` says of every file why, and what to do."),
    "nothing-to-choose": (422, "There is nothing to choose from", "No document has a sentence with a word in it."),
    "infeasible": (422, "No summary satisfies this", "The pinned and banned sentences and the budget do not agree."),
    "busy": (429, "The server is busy", "Workers and queue are taken. Try again after the seconds in `Retry-After`."),
    "internal": (500, "The server made a mistake", "This is a bug, not a matter of the request. Trying again is safe."),
    "time-limit": (504, "The request passes the time limit", "Send less than `max_seconds` is enough for."),
}


class Problem(HTTPException):  # the word of RFC 9457
    """An answer that is a problem document.

    Examples
    --------
    >>> Problem("too-large", "At most 3 documents.", limit="max_documents", value=3).members["status"]
    413
    """

    def __init__(self, slug: str, detail: str = "", headers: Mapping[str, str] | None = None, **members: Any) -> None:
        status, title, about = PROBLEMS[slug]
        again = {"Retry-After": "1"} if slug == "busy" else {}
        super().__init__(status, detail or about, {**again, **(headers or {})})
        self.slug = slug
        self.members = {"type": f"/problems/{slug}", "title": title, "status": status, "detail": self.detail, **members}

    def response(self, instance: str) -> Response:
        """The problem document, about the path of a request."""
        body = json.dumps({**self.members, "instance": instance}, ensure_ascii=False).encode("utf-8", "replace")
        return Response(body, self.status_code, self.headers, PROBLEM_JSON)


def limited(slug: str, name: str, value: float, what: str, advice: str) -> Problem:
    """A limit of the settings that the request passes.

    >>> limited("too-large", "max_documents", 3, "There are 4 documents", "Send fewer.").detail
    'There are 4 documents; the limit max_documents is 3. Send fewer.'
    """
    return Problem(slug, f"{what}; the limit {name} is {value:,g}. {advice}", limit=name, value=value)


def invalid(*errors: tuple[Iterable[str | int], str]) -> Problem:
    """Values that are not what the schema says, each with its place."""
    listed = [{"pointer": pointer(place), "detail": detail} for place, detail in errors[:MOST_ERRORS]]
    first = listed[0]
    return Problem("invalid", f"{first['pointer'] or 'the body'}: {first['detail']}", errors=listed)


def pointer(place: Iterable[str | int]) -> str:
    """A JSON pointer (RFC 6901); of a name that is longer than any of ours, its beginning.

    >>> pointer(["documents", 0, "a/b"]), len(pointer(["a" * 1_000_000]))
    ('/documents/0/a~1b', 202)
    """
    names = (part if len(part) <= LONGEST_NAME else f"{part[:LONGEST_NAME]}…" for part in map(str, place))
    return "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in names)


def of_validation(errors: Sequence[Any]) -> Problem:
    """What pydantic found wrong with a request, in its words, and what stands there."""
    if errors[0]["type"] == "json_invalid":
        return Problem("malformed", f"The body must be JSON in UTF-8. {errors[0]['ctx']['error']}.")
    return invalid(*((error["loc"][1:], explain_error(error)) for error in errors[:MOST_ERRORS]))


def explain_error(error: Any) -> str:
    """One of pydantic's errors, in a sentence.

    Examples
    --------
    >>> explain_error({"type": "extra_forbidden", "loc": ("body", "bugdet")})
    "no member has this name; perhaps 'budget' is meant."
    """
    if error["type"] == "extra_forbidden":
        near = get_close_matches(str(error["loc"][-1])[:LONGEST_VALUE], MEMBERS, 1)
        return "no member has this name" + (f"; perhaps {near[0]!r} is meant." if near else ".")
    words = error["ctx"]["error"] if error["type"] == "value_error" else error["msg"]  # ours without pydantic's prefix
    return f"{words}." if error["type"] == "missing" else f"{words}, found {short_value(error['input'])}."


def short_value(value: Any) -> str:
    """A value of a request, short.

    >>> [short_value(value) for value in (0.5, True, None, "pages", "x" * 99, [1])]
    ['0.5', 'true', 'null', "'pages'", 'a string of 99 characters', 'a list']
    """
    if isinstance(value, str):
        return repr(value) if len(value) <= LONGEST_VALUE else f"a string of {len(value):,} characters"
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    return "another value" if type(value) is int and abs(value) > 10**15 else json.dumps(value)


def where(error: BaseException) -> str:
    """The places in the code that an error passed, innermost last."""
    frames = traceback.extract_tb(error.__traceback__)[-6:]
    return ", ".join(f"{frame.filename.rsplit('/', 1)[-1]}:{frame.lineno} {frame.name}" for frame in frames)
