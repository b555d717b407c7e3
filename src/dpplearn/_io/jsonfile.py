"""JSON files of weights: numbers exact to the bit, errors that say what is wrong with a file."""

from __future__ import annotations

import json
import math
import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dpplearn._checks import FloatArray
from dpplearn._io.atomic import DamagedError, read_sealed, replace_file, write_sealed
from dpplearn._io.encoding import decode, read_bytes
from dpplearn._io.jsonlines import parse_json

MAX_MODEL = 256_000_000  # bytes
SPECIAL = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}  # JSON has no numbers for these


def write_json(path: str | os.PathLike[str], data: dict[str, Any]) -> None:
    with replace_file(path, "w") as file:
        json.dump(plain(data), file, indent=1, ensure_ascii=False, allow_nan=False)
        file.write("\n")


def write_record(path: Path, record: Mapping[str, Any]) -> None:
    """A record of work on the way, in one line of JSON with a seal (`dpplearn._io.atomic`)."""
    write_sealed(path, json.dumps(plain(dict(record)), allow_nan=False).encode())


def read_record(path: Path) -> dict[str, Any]:
    """What `write_record` wrote."""
    return dict(json.loads(read_sealed(path)))


def read_state(path: Path, format: str, version: int) -> dict[str, Any] | None:  # noqa: A002  # the field's name
    """How far a fit has come, as `write_record` wrote it; None, with a warning, where the file is damaged.

    A file that never was one of this format is somebody's: it is refused, and so not written over.
    """
    try:
        data = read_record(path)
    except DamagedError:
        begin = path.read_bytes()[:200]
    else:
        if (data.get("format"), data.get("version")) == (format, version):
            return data
        raise ValueError(
            f"{path} must be a {format} file of version {version} to go on from, but is a {data.get('format')!r:.60} "
            f"file of version {data.get('version')!r:.60}. Delete it to start anew, or give another path."
        )
    if begin and f'"format": "{format}"'.encode() not in begin:
        raise ValueError(
            f"{path} must be a {format} file, or not exist yet, but holds something else. Delete it to start anew, or "
            "give another path."
        )
    warnings.warn(f"{path} is damaged: the fit begins anew.", stacklevel=2)
    return None


def read_object(path: str | os.PathLike[str], formats: tuple[str, ...]) -> dict[str, Any]:
    """The object in a file, which must say that it has one of these formats."""
    path, wanted = Path(path), " or ".join(formats)
    try:
        text = decode(read_bytes(path, MAX_MODEL, "No model is so large."), "it", "utf-8")
        data = parse_json(text, "it")
    except FileNotFoundError:
        raise FileNotFoundError(f"There is no file {path}.") from None
    except ValueError as error:
        raise ValueError(f"{path} is not a {wanted} file, or was cut short: {error}") from None
    if not isinstance(data, dict) or data.get("format") not in formats:
        found = data.get("format") if isinstance(data, dict) else type(data).__name__
        quoted = " or ".join(f'"{one}"' for one in formats)
        raise ValueError(f'{path} must be a JSON object with "format": {quoted}, found {found!r:.60}.')
    return data


def read_json(path: str | os.PathLike[str], format: str, version: int) -> dict[str, Any]:  # noqa: A002  # the field's name
    """The object in a file, which must say that it has this format and version."""
    data = read_object(path, (format,))
    if repr(data.get("version")) != str(version):  # not true, and not 1.0
        raise ValueError(
            f"{path} has version {data.get('version')!r:.60}, and this dpplearn reads {version}. "
            "Update dpplearn, or make the file again with this one."
        )
    return data


def plain(x: Any) -> Any:
    """Lists, numbers and strings; a float keeps every bit, because its repr is the shortest that reads back to it."""
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
