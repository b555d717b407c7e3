"""Reads and writes JSON files, with floats exact to the bit, and JSON Lines; errors name the place and the fault."""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from dpplearn._checks import FloatArray, describe
from dpplearn._io.atomic import replace_file, write_whole
from dpplearn._io.encoding import decode, read_bytes, read_lines

MAX_MODEL = 256_000_000  # bytes of the largest model file
SPECIAL = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}  # written as strings, since JSON lacks them


def parse_json(text: str, where: str, what: str = "JSON", advice: str = "") -> Any:
    """The value in a text; errors name the place `where`, and syntax errors end with `advice`."""
    try:
        return json.loads(text, object_pairs_hook=_object)
    except LookupError as error:
        raise ValueError(f"{where} must be {what}, but {error}. Remove one of the two.") from None
    except json.JSONDecodeError as error:
        line = f"line {error.lineno}, " if error.lineno > 1 else ""
        wrong = f"{where} must be {what}, but at {line}column {error.colno}: {error.msg}. {advice}"
        raise ValueError(wrong.rstrip()) from error
    except RecursionError:
        raise ValueError(f"{where} must be {what}, but is nested too deeply.") from None
    except ValueError as error:  # Python limits the digits of a number, which take quadratic time
        raise ValueError(f"{where} must be {what}, but holds a number of thousands of digits.") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object without repeated keys, of which Python's reader would silently keep the last."""
    record = dict(pairs)
    if len(record) < len(pairs):
        (twice, _), *_ = Counter(key for key, _ in pairs).most_common(1)
        raise LookupError(f"an object in it has the key {twice!r:.60} twice")
    return record


def parse_object(line: str, where: str, advice: str = "") -> dict[str, Any]:
    """The JSON object in a line; errors name the place `where` and end with `advice`."""
    record = parse_json(line, where, "a JSON object", advice)
    if not isinstance(record, dict):
        raise ValueError(f"{where} must be a JSON object, but is {describe(record)}.")
    return record


def json_lines(
    source: Path | BinaryIO, name: Path | str, advice: str, encoding: str = "utf-8"
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Each record of a JSON Lines file: its place for messages, its line as text, and its object."""
    for line in read_lines(source, name, encoding):
        text = line.text().strip(" \t\r\n")
        if text.strip():
            yield line.where, text, parse_object(text, line.where, advice)


def write_json(path: str | os.PathLike[str], data: dict[str, Any]) -> None:
    with replace_file(path, "w") as file:
        json.dump(plain(data), file, indent=1, ensure_ascii=False, allow_nan=False)
        file.write("\n")


def write_record(path: Path, record: Mapping[str, Any]) -> None:
    """Write a record of unfinished work as one line of JSON."""
    write_whole(path, json.dumps(plain(dict(record)), allow_nan=False).encode())


def read_record(path: Path) -> dict[str, Any]:
    """Read a record that `write_record` wrote."""
    return parse_object(path.read_text("utf-8"), str(path), "Remove that file, and run the same command again.")


def read_object(path: str | os.PathLike[str], formats: tuple[str, ...]) -> dict[str, Any]:
    """The object in a file; its "format" must be one of `formats`."""
    path, wanted = Path(path), " or ".join(formats)
    try:
        text = decode(read_bytes(path, MAX_MODEL, "No model file is so large."), "it", "utf-8")
        data = parse_json(text, "it")
    except FileNotFoundError:
        raise FileNotFoundError(f"There is no file {path}.") from None
    except ValueError as error:
        raise ValueError(f"{path} is not a {wanted} file, or was cut short: {error}") from None
    if not isinstance(data, dict) or data.get("format") not in formats:
        actual = data.get("format") if isinstance(data, dict) else type(data).__name__
        quoted = " or ".join(f'"{name}"' for name in formats)
        raise ValueError(f'{path} must be a JSON object with "format": {quoted}, found {actual!r:.60}.')
    return data


def read_json(path: str | os.PathLike[str], format: str, version: int) -> dict[str, Any]:  # noqa: A002  # the field's name
    """The object in a file; its "format" and "version" must be these."""
    data = read_object(path, (format,))
    if repr(data.get("version")) != str(version):  # not true, and not 1.0
        raise ValueError(
            f"{path} has version {data.get('version')!r:.60}, and this dpplearn reads {version}. "
            "Update dpplearn, or make the file again with this version."
        )
    return data


def plain(x: Any) -> Any:
    """x as lists, numbers and strings for JSON; floats keep every bit, because their repr reads back as the same."""
    if isinstance(x, dict):
        return {str(key): value if type(value) is int else plain(value) for key, value in x.items()}
    if isinstance(x, np.ndarray | np.generic):
        return plain(x.tolist())
    if isinstance(x, list | tuple):
        return [plain(value) for value in x]
    if isinstance(x, float) and not math.isfinite(x):
        return str(x)
    return x


def number(x: Any, name: str, path: str | os.PathLike[str]) -> float:
    if isinstance(x, str) and x in SPECIAL:
        return SPECIAL[x]
    if isinstance(x, bool) or not isinstance(x, int | float):
        raise ValueError(f"{name} in {path} must be a number, found {x!r:.60}.")
    try:
        return float(x)
    except OverflowError:
        raise ValueError(f"{name} in {path} is a number that no float holds.") from None


def numbers(x: Any, name: str, path: str | os.PathLike[str], size: int | None = None) -> FloatArray:
    if not isinstance(x, list):
        raise ValueError(f"{name} in {path} must be a list of numbers, found {type(x).__name__}.")
    if size is not None and len(x) != size:
        raise ValueError(f"{name} in {path} must have {size} entries, found {len(x)}.")
    return np.array([number(value, f"{name}[{k}]", path) for k, value in enumerate(x)], np.float64)


def whole_number(x: Any, name: str, path: str | os.PathLike[str]) -> int:
    """A count in a file."""
    if not isinstance(x, int) or isinstance(x, bool) or x < 0:
        raise ValueError(f"{name} in {path} must be a whole number that is not negative, found {x!r}.")
    return x
