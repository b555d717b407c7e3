"""A budget as a request gives it: a number in the unit, or a share of the text."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema
from pydantic_core import PydanticCustomError, PydanticKnownError

LARGEST = 1_000_000
# above 0 and up to 100; few digits, since a pattern that looks for one that is not 0 takes the square of their number
SHARE = r"^(?:100(?:\.0{1,6})?|[1-9][0-9]?(?:\.[0-9]{1,6})?|0\.[0-9]{0,5}[1-9][0-9]{0,5})%$"


def check_budget(value: Any) -> Any:
    """A number in the unit, or a share such as "20%"."""
    if isinstance(value, str):
        if not re.fullmatch(SHARE, value):
            raise PydanticCustomError("share", "")
    elif isinstance(value, bool) or not isinstance(value, int | float):
        raise PydanticKnownError("float_type")
    elif not value >= 1:
        raise PydanticKnownError("greater_than_equal", {"ge": 1})
    elif not value <= LARGEST:
        raise PydanticKnownError("less_than_equal", {"le": LARGEST})
    return value


_NUMBER = {"type": "number", "minimum": 1, "maximum": LARGEST}
GivenBudget = Annotated[
    Any,
    BeforeValidator(lambda value: None if value is None else check_budget(value)),
    WithJsonSchema({"anyOf": [_NUMBER, {"type": "string", "pattern": SHARE}, {"type": "null"}]}),
]
