"""What is not valid in a request, in plain words: what was expected, what was found, and which names there are."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel

from dpplearn.web.schema import GivenDocument

# pydantic's kinds of errors, where what is wrong is the kind or the size of a value
EXPECTED = {
    "model_type": "must be an object",
    "list_type": "must be a list",
    "string_type": "must be a string",
    "float_type": "must be a number",
    "int_type": "must be a whole number",
    "literal_error": "must be {expected}",
    "greater_than_equal": "must be at least {ge:,g}",
    "less_than_equal": "must be at most {le:,.0f}",
    "string_too_long": "must have at most {max_length:,} characters",
}
QUOTED = 40  # characters of a value that a message quotes


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
    if kind == "missing":
        return "is missing, and must be given."
    if kind == "too_short":  # the only list that must not be empty
        return "must have at least one document, found none."
    if kind == "too_long":
        return f"must have at most {given['max_length']:,} items, found more."
    if kind in EXPECTED:
        return f"{EXPECTED[kind].format(**given)}, found {shown(error['input'])}."
    return f"{error['msg'].rstrip('.')}."


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
