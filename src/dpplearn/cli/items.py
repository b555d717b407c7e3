"""Items to select from, with the place of everything that is missing or wrong."""

from __future__ import annotations

import fnmatch
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpplearn._checks import FloatArray
from dpplearn._io.jsonlines import parse_json


def stem(name: str) -> str:
    """What is before the number that a name ends in; empty where it ends in none."""
    return found[1] if (found := re.fullmatch(r"(.*?\D)\d+", name)) else ""


def is_number(value: Any) -> bool:
    """Whether a cell holds one number."""
    try:
        return math.isfinite(float(value))
    except (TypeError, ValueError):
        return False


def not_finite(place: str, name: str, row: np.ndarray) -> str:
    """Which number of an embedding is none, and how many are."""
    bad = np.flatnonzero(~np.isfinite(row))
    more = "" if bad.size == 1 else f", and {bad.size - 1} others"
    return f"{place}: the field {name!r} must hold finite numbers, but number {bad[0]} of it is {row[bad[0]]}{more}."


def absent(place: str, name: str, fields: Sequence[str]) -> str:
    """There is no such field, or nothing in it."""
    if name in fields:
        return f"{place}: the field {name!r} is empty. Fill it, or leave out what has none."
    return f"{place}: the field {name!r} is missing. Fields found: {', '.join(fields) or 'none'}."


@dataclass(frozen=True, eq=False)
class Items:
    """Records in the order of the file, and where each was found."""

    name: str  # of the file, for messages
    format: str
    records: Sequence[dict[str, Any]]
    places: Sequence[str]
    names: list[str] | None = None  # the first line of a CSV file
    origin: Any = None  # the Arrow table or the NumPy arrays that they were read from

    def has(self, name: str) -> bool:
        """Whether the first record has the field."""
        return bool(self.records) and name in self.records[0]

    def where(self, i: int) -> str:
        """The place of an item in the file, without the file's name."""
        return self.places[i][len(self.name) + 2 :]

    def get(self, name: str) -> Sequence[Any]:
        """The field of every record, None where it is missing."""
        return [record.get(name) for record in self.records]

    def column(self, name: str) -> Iterator[tuple[Any, str]]:
        """The field of every record, with its place."""
        for i, (value, place) in enumerate(zip(self.get(name), self.places, strict=True)):
            if value is None:
                raise ValueError(absent(place, name, list(self.records[i])))
            yield value, place

    def numbers(self, name: str) -> FloatArray:
        """A number from every record."""
        return np.array([self._number(value, name, place) for value, place in self.column(name)], np.float64)

    def texts(self, name: str) -> list[str]:
        """A text from every record."""
        found = list(self.column(name))
        for value, place in found:
            if not isinstance(value, str):
                raise ValueError(f"{place}: the field {name!r} must be a text, found {value!r:.40}.")
        return [value for value, _ in found]

    def wide(self, pattern: str) -> list[str]:
        """The fields that "first:last" or "e*" names, in the order of the file; none where it is a field's own name."""
        names = list(self.records[0]) if self.records else []
        if pattern in names:
            many = [name for name in names if stem(name) and stem(name) == stem(pattern)]
            if len(many) > 1 and is_number(self.records[0][pattern]):
                raise ValueError(
                    f"{self.places[0]}: the field {pattern!r} is one number, and plainly one of {len(many)} that "
                    f"are an embedding together. Give --embedding {many[0]}:{many[-1]} or '{stem(pattern)}*'."
                )
            return []
        first, colon, last = pattern.partition(":")
        if colon and first in names and last in names and names.index(first) <= names.index(last):
            return names[names.index(first) : names.index(last) + 1]
        found = fnmatch.filter(names, pattern) if "*" in pattern else []
        if not found and (colon or "*" in pattern):
            raise ValueError(f"{self.name} has no fields {pattern!r}. Fields found: {', '.join(names)}.")
        return found

    def matrix(self, names: list[str]) -> FloatArray:
        """A number from each of several fields of every record."""
        return np.column_stack([self.numbers(name) for name in names])

    def groups(self, name: str) -> list[str]:
        """The group of every record, as text; an empty one would be a group of items that have none."""
        found = list(self.column(name))
        for value, place in found:
            if str(value) == "" or (isinstance(value, float) and value != value):
                raise ValueError(absent(place, name, [name]))
        return [str(value) for value, _ in found]

    def vectors(self, name: str) -> np.ndarray:
        """A list of numbers from every record, all of the same length; numpy's own type where the file has one."""
        whole = self.origin.get(name) if isinstance(self.origin, dict) else None
        if whole is not None and whole.ndim == 2 and whole.dtype.kind == "f":  # where it lies, not copied
            for low in range(0, len(whole), 16384):
                bad = np.flatnonzero(~np.isfinite(whole[low : low + 16384]).all(axis=1))
                if bad.size:
                    i = low + int(bad[0])
                    raise ValueError(not_finite(self.places[i], name, whole[i]))
            return np.asarray(whole)
        rows: list[Any] = []
        for value, place in self.column(name):
            row = self._list(value, name, place) if isinstance(value, str) else value
            wrong = f"{place}: the field {name!r} must be a list of numbers, found"
            if not isinstance(row, list | tuple | np.ndarray) or len(row) == 0:
                raise ValueError(f"{wrong} {value!r:.40}.")
            try:
                numbers = row if isinstance(row, np.ndarray) else np.array(row, np.float64)
            except (TypeError, ValueError, OverflowError):
                if isinstance(value, str):
                    hint = f"To compare texts by their words, give --text {name}."
                    raise ValueError(f"{wrong} the text {value!r:.40}. {hint}") from None
                numbers = np.array([self._number(x, name, place) for x in row])  # says which it is
            if numbers.ndim != 1:
                raise ValueError(f"{wrong} {value!r:.40}.")
            if numbers.dtype.kind not in "fiub":
                raise ValueError(f"{place}: the field {name!r} must hold finite numbers, found {value!r:.60}.")
            if not np.isfinite(numbers).all():
                raise ValueError(not_finite(place, name, numbers))
            if rows and len(row) != len(rows[0]):
                raise ValueError(
                    f"{place}: the field {name!r} has {len(row)} numbers, and that of the first item {len(rows[0])}."
                )
            rows.append(numbers)
        return np.array(rows)

    @staticmethod
    def _list(value: str, name: str, place: str) -> Any:
        """A list from a CSV cell: JSON, or numbers with spaces, commas or semicolons between."""
        if value.lstrip().startswith("["):
            return parse_json(value, f"{place}: the field {name!r}", "a JSON list")
        return value.replace(",", " ").replace(";", " ").split()

    @staticmethod
    def _number(value: Any, name: str, place: str) -> float:
        try:
            number = float(value) if not isinstance(value, bool) else math.nan
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number):
            raise ValueError(f"{place}: the field {name!r} must be a finite number, found {value!r:.40}.")
        return number
