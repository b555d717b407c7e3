"""JSON Lines: one object on each line, and errors that say which line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dpplearn._checks import describe


def parse_object(line: str, where: str, advice: str = "") -> dict[str, Any]:
    """The JSON object in a line; errors name its place, and `advice` ends them."""
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        wrong = f"{where} must be a JSON object, but at column {error.colno}: {error.msg}. {advice}"
        raise ValueError(wrong.rstrip()) from error
    except RecursionError as error:
        raise ValueError(f"{where} must be a JSON object, but is nested too deeply.") from error
    if not isinstance(record, dict):
        raise ValueError(f"{where} must be a JSON object, but is {describe(record)}.")
    return record


def json_lines(text: str, name: Path | str, advice: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Each record of a text in JSON Lines with its place; `name` says what the text was read from."""
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        if line.strip():
            where = f"{name}, line {number}"
            yield where, parse_object(line, where, advice)
