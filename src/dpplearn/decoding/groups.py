"""Reads the groups of items from labels, and how many items of each group may or must be chosen."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import suppress
from datetime import date, datetime, timedelta
from numbers import Number
from typing import Any

import numpy as np

from dpplearn._checks import MANY, IntArray, check_int

KINDS: Any = (datetime | np.datetime64, timedelta | np.timedelta64, Number, str)  # timedelta64 is also a Number


def read_groups(groups: Any, n: int) -> tuple[list[Any], IntArray]:
    """The names of the groups, and the group of each of n items: labels that Python calls equal are one group.

    >>> read_groups(["b", "a", "b"], 3)
    (['a', 'b'], array([1, 0, 1]))
    """
    if isinstance(groups, list | tuple):
        labels, shape = groups, (len(groups),)
    else:
        array = groups if np.ma.isMaskedArray(groups) else np.asarray(groups)
        array = array[:, 0] if array.shape == (n, 1) else array  # a table of one column
        labels, shape = list(array) if array.dtype.kind in "mM" and array.ndim else array.tolist(), array.shape
    if shape != (n,):
        raise ValueError(
            f"groups must have one label for each of the {n} items, found shape {shape}. "
            "Pass a list or an array as long as scores."
        )
    try:
        known = dict.fromkeys(labels)
    except TypeError as error:
        raise TypeError(f"groups must be labels such as texts or numbers, found an {error}.") from None
    for label in known:
        if label is None or type(label).__name__ == "NAType" or label != label:
            where = next(i for i, other in enumerate(labels) if other is label)
            raise ValueError(
                f"groups must have a label for each item, but groups[{where}] is missing ({label}). "
                "Give such items a label of their own, or leave them out."
            )
        known[label] = as_label(label)
    names = list(dict.fromkeys(known.values()))
    kinds = {kind_of(name): name for name in names}
    if len(kinds) > 1:
        first, other = list(kinds.values())[:2]
        raise TypeError(
            f"groups must be labels of one kind, such as texts or numbers, but some are like {first!r:.60} and "
            f"some like {other!r:.60}. Pass [str(label) for label in groups]."
        )
    with suppress(TypeError):  # names that cannot be sorted stay in the order of the items
        names.sort()
    place = {name: c for c, name in enumerate(names)}
    return names, np.fromiter((place[known[label]] for label in labels), np.int64, n)


def kind_of(label: Any) -> Any:
    """The kind of a label: the first of KINDS that fits, or else its own type."""
    return next((kind for kind in KINDS if isinstance(label, kind)), type(label))


def as_label(x: Any) -> Any:
    """The label in a form in which equal numbers, days and times from Python, numpy and pandas are equal."""
    if isinstance(x, np.datetime64 | np.timedelta64):
        exact = x.astype(f"{x.dtype.kind}8[us]")
        return exact.item() if exact == x else x
    if isinstance(x, date) and not isinstance(x, datetime):
        return datetime(x.year, x.month, x.day)
    return x.item() if isinstance(x, np.generic) else x


def read_bound(bound: int | Mapping[Any, int] | None, names: list[Any], what: str, default: int) -> IntArray:
    """A whole number for each group; numbers above MANY become MANY, which limits nothing."""
    if not isinstance(bound, Mapping):
        return np.full(len(names), default if bound is None else min(check_int(bound, what, high=sys.maxsize), MANY))
    place = {name: c for c, name in enumerate(names)}
    numbers = np.full(len(names), default)
    for key, number in bound.items():
        name = as_label(key)
        if name not in place:
            shown = ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "")
            raise ValueError(f"{what} names the group {name!r}, which no item has. There are {shown}.")
        numbers[place[name]] = min(check_int(number, f"{what}[{name!r}]", high=sys.maxsize), MANY)
    return numbers
