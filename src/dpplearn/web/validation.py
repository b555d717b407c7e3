"""A body checked against its schema; what is not valid in it is said in plain words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from dpplearn.web.problems import Problem, invalid
from dpplearn.web.schema import GivenDocument, Strict

S = TypeVar("S", bound=Strict)

# pydantic's kinds of errors, in words
WORDS = {
    "missing": "is missing, and must be given",
    "too_short": "must have at least one document, found none",  # the only list that must not be empty
    "too_long": "must have at most {max_length:,} items, found more",
    "model_type": "must be an object, found {found}",
    "list_type": "must be a list, found {found}",
    "string_type": "must be a string, found {found}",
    "float_type": "must be a number, found {found}",
    "int_type": "must be a whole number, found {found}",
    "literal_error": "must be {expected}, found {found}",
    "greater_than_equal": "must be at least {ge:,g}, found {found}",
    "less_than_equal": "must be at most {le:,.0f}, found {found}",
    "string_too_long": "must have at most {max_length:,} characters, found {found}",
}
QUOTED = 40  # characters of a value that a message quotes
SHOWN = 20  # errors that an answer lists
VALUES = 21_000  # of a request beside its documents: most of them sentences that are pinned or banned
# a string of JSON, or what is left of one; else all up to the next: in one pass
PARTS = re.compile(rb'("[^"\\]*+(?:\\.[^"\\]*+)*+"?)|[^"]++', re.DOTALL)


def parse(model: type[S], body: bytes, max_documents: int = 0) -> S:
    """The body as a record, or a problem that lists what is not valid in it: the first `SHOWN` places."""
    check_values(body, max_documents)
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        found = error.errors(include_url=False)
        if found[0]["type"] == "json_invalid":
            raise Problem("malformed", f"The body must be JSON in UTF-8. {found[0]['msg']}.") from None
        raise invalid((one["loc"], plain(one, model)) for one in found[:SHOWN]) from None


def check_values(body: bytes, max_documents: int) -> None:
    """Refuse a body of far more values than any request has, before an object is made of one.

    Pydantic makes an error of each that is not valid, a kilobyte or so: of four megabytes of zeros, gigabytes.

    Examples
    --------
    >>> check_values(b'{"documents": [{"text": "[[,,{{ \\" ,,"}]}', 1)
    >>> check_values(b"[" * 30_000, 1)
    Traceback (most recent call last):
    dpplearn.web.problems.Problem: invalid
    """
    most, count, strings = VALUES + 5 * max_documents, 1, 0
    for part in PARTS.finditer(body):  # few of them before it ends, and other threads run in between
        if part[1] is None:
            count += sum(map(part[0].count, (b",", b"[", b"{")))
        else:
            strings += 1
        if max(count, strings / 2) > most:  # a key and its value are two strings
            advice = f" The limit max_documents is {max_documents:,}." if max_documents else ""
            found = max(count, strings // 2)
            raise invalid([((), f"must have at most {most:,} values in all, found at least {found:,}.{advice}")])


def plain(error: Any, model: type[BaseModel]) -> str:
    """One error of pydantic, for the record that was expected.

    Examples
    --------
    >>> from dpplearn.web.schema import Selection
    >>> plain({"type": "extra_forbidden", "loc": ("bugdet",)}, Selection)[:57]
    "no member has this name; did you mean 'budget'? There are"
    """
    kind, place, given = error["type"], error["loc"], error.get("ctx", {})
    if kind == "extra_forbidden":
        return unknown(str(place[-1]), list((GivenDocument if len(place) > 1 else model).model_fields))
    words = WORDS.get(kind, "")
    return f"{words.format(found=shown(error['input']), **given) or error['msg'].rstrip('.')}."


def unknown(name: str, known: Sequence[str]) -> str:
    """A name that no member has, the nearest of those there are, and all of them."""
    near = get_close_matches(name[:QUOTED], known, 1)
    guess = f"; did you mean {near[0]!r}?" if near else "."
    return f"no member has this name{guess} There are {', '.join(known[:-1])} and {known[-1]}."


def shown(value: Any) -> str:
    """A value of a request, short.

    Examples
    --------
    >>> [shown(value) for value in (0.5, True, None, "pages", "x" * 99, [1], {})]
    ['0.5', 'true', 'null', "'pages'", 'a string of 99 characters', 'a list', 'an object']
    """
    if isinstance(value, str):
        return repr(value) if len(value) <= QUOTED else f"a string of {len(value):,} characters"
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return f"{value:g}" if isinstance(value, float) or abs(value) < 10**300 else "one that is far larger"
