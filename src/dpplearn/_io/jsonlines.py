"""JSON, and JSON Lines with an object on each line: errors say where, and nothing is too deep or too long to handle."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from dpplearn._checks import describe
from dpplearn._io.encoding import read_lines

MAX_DEPTH = 100  # of lists and objects in each other: Python shows, copies and writes so many without a RecursionError


def parse_json(text: str, where: str, what: str = "JSON", advice: str = "") -> Any:
    """The value in a text; errors name its place, and `advice` ends those about its form."""
    try:
        value = json.loads(text, object_pairs_hook=_object)
    except LookupError as error:
        raise ValueError(f"{where} must be {what}, but {error}. Remove one of the two.") from None
    except json.JSONDecodeError as error:
        line = f"line {error.lineno}, " if error.lineno > 1 else ""
        wrong = f"{where} must be {what}, but at {line}column {error.colno}: {error.msg}. {advice}"
        raise ValueError(wrong.rstrip()) from error
    except RecursionError:
        value, deep = None, True
    except ValueError as error:  # Python's limit, against quadratic time
        raise ValueError(f"{where} must be {what}, but holds a number of thousands of digits.") from error
    else:
        deep = text.count("[") + text.count("{") > MAX_DEPTH and _is_deep(value)
    if deep:
        raise ValueError(f"{where} must be {what}, but is nested too deeply: more than {MAX_DEPTH} levels.")
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of which no two keys are the same: Python's own reader would keep the last, and not say so."""
    found = dict(pairs)
    if len(found) < len(pairs):
        (twice, _), *_ = Counter(key for key, _ in pairs).most_common(1)
        raise LookupError(f"an object in it has the key {twice!r:.60} twice")
    return found


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        inside = (one.values() if isinstance(one, dict) else one for one in level if isinstance(one, dict | list))
        level = [part for parts in inside for part in parts]
    return any(isinstance(one, dict | list) for one in level)


def parse_object(line: str, where: str, advice: str = "") -> dict[str, Any]:
    """The JSON object in a line; errors name its place, and `advice` ends them."""
    record = parse_json(line, where, "a JSON object", advice)
    if not isinstance(record, dict):
        raise ValueError(f"{where} must be a JSON object, but is {describe(record)}.")
    return record


def json_lines(
    source: Path | BinaryIO, name: Path | str, encoding: str = "utf-8", advice: str = ""
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Each record of a file in JSON Lines: its place, its line as it came, and what is in it."""
    for line in read_lines(source, name, encoding):
        text = line.text().strip(" \t\r\n")
        if text.strip():
            yield line.where, text, parse_object(text, line.where, advice)
