"""Errors as problem documents (RFC 9457), which say what went wrong and what to change."""

from __future__ import annotations

import json
import traceback
from collections.abc import Iterable, Mapping, Sequence
from reprlib import Repr
from typing import Any

from fastapi import HTTPException, Response

PROBLEM_JSON = "application/problem+json"
LONGEST_NAME = 200  # characters that an answer quotes of a name in a request
MOST_ERRORS = 20  # errors that an answer lists
QUOTED = Repr()  # shortens a value that an answer quotes
QUOTED.maxlevel, QUOTED.maxstring = 1, 40

# slug: (status, title, detail, unless a request has its own)
PROBLEMS: dict[str, tuple[int, str, str]] = {
    "malformed": (400, "The request cannot be read", "The body is not JSON in UTF-8, or not a multipart form."),
    "unauthorized": (401, "The server asks for its token", "Send the header `Authorization: Bearer TOKEN`."),
    "foreign-origin": (403, "Requests from other sites are refused", "A page of another site sent the request."),
    "not-found": (404, "There is nothing here", "The page is at /, the reference of the API at /docs."),
    "cluster-gone": (404, "The cluster is gone", "It expired, made room for newer ones, or never was. Post it again."),
    "method-not-allowed": (405, "The method does not fit the address", "The header Allow lists those that do."),
    "too-slow": (408, "The request took too long to arrive", "The body was not complete within `max_seconds`."),
    "too-large": (413, "The request passes a limit", "`limit` names the limit, and `value` says how much it allows."),
    "unsupported-media-type": (415, "The body has the wrong type", "Send JSON, or a form where files are read."),
    "invalid": (422, "The request is not valid", "`errors` lists the values that are not valid, as JSON pointers."),
    "unreadable": (422, "No document can be read", "`errors` says of every file why, and what to do."),
    "nothing-to-choose": (422, "There is nothing to choose from", "No document has a sentence with a word in it."),
    "infeasible": (422, "No summary satisfies this", "Included and excluded sentences and the budget do not agree."),
    "busy": (429, "The server is busy", "Workers and queue are taken. Try again after the seconds in `Retry-After`."),
    "internal": (500, "The server made a mistake", "This is a bug, not a matter of the request. Trying again is safe."),
    "time-limit": (504, "The request passes the time limit", "Send less than `max_seconds` is enough for."),
}


class Problem(HTTPException):
    """An error that is answered with a problem document.

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
        """The problem document for the path of a request."""
        body = json.dumps({**self.members, "instance": instance}, ensure_ascii=False).encode("utf-8", "replace")
        return Response(body, self.status_code, self.headers, PROBLEM_JSON)


def limited(slug: str, name: str, value: float, what: str, advice: str) -> Problem:
    """The problem that a request passes a limit of the settings.

    >>> limited("too-large", "max_documents", 3, "There are 4 documents", "Send fewer.").detail
    'There are 4 documents; the limit max_documents is 3. Send fewer.'
    """
    return Problem(slug, f"{what}; the limit {name} is {value:,g}. {advice}", limit=name, value=value)


def invalid(*errors: tuple[Iterable[str | int], str]) -> Problem:
    """The problem that values do not fit the schema, each with its place as a JSON pointer (RFC 6901).

    >>> invalid((["documents", 0, "a/b"], "Field required.")).detail
    '/documents/0/a~1b: Field required.'
    """
    listed = []
    for place, detail in errors[:MOST_ERRORS]:
        names = (str(part)[:LONGEST_NAME].replace("~", "~0").replace("/", "~1") for part in place)
        listed.append({"pointer": "".join(f"/{name}" for name in names), "detail": detail})
    return Problem("invalid", f"{listed[0]['pointer'] or 'the body'}: {listed[0]['detail']}", errors=listed)


def of_validation(errors: Sequence[Any]) -> Problem:
    """The problem for pydantic's errors, in its words, with the beginning of each wrong value."""
    if errors[0]["type"] == "json_invalid":
        return Problem("malformed", f"The body must be JSON in UTF-8. {errors[0]['ctx']['error']}.")
    listed = []
    for error in errors[:MOST_ERRORS]:
        ours = error["msg"].removeprefix("Value error, ")
        theirs = f"{error['msg']}, found {QUOTED.repr(error['input'])}."
        listed.append((error["loc"][1:], f"{ours.rstrip('.')}." if error["type"] == "value_error" else theirs))
    return invalid(*listed)


def where(error: BaseException) -> str:
    """The places in the code where an error passed, the innermost last."""
    frames = traceback.extract_tb(error.__traceback__)[-6:]
    return ", ".join(f"{frame.filename.rsplit('/', 1)[-1]}:{frame.lineno} {frame.name}" for frame in frames)
