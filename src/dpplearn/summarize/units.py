"""What a sentence takes of a budget: bytes, words, sentences, tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dpplearn._checks import FloatArray

Unit = str | Callable[[str], float]
UNITS = ("bytes", "words", "sentences", "tokens")


def check_unit(unit: Unit) -> Unit:
    """One of the known units, or a function from a text to its length."""
    if callable(unit) or unit in UNITS:
        return unit
    raise ValueError(f"unit must be one of {', '.join(map(repr, UNITS))} or a function of a text; found {unit!r}.")


def unit_name(unit: Unit) -> str:
    """What to call the unit in a message."""
    return unit if isinstance(unit, str) else getattr(unit, "__name__", "units")


def check_budget(budget: float, unit: Unit) -> float:
    """A positive length, at least 1 in a unit that is counted."""
    if isinstance(budget, bool) or not isinstance(budget, int | float | np.number):
        raise TypeError(f"budget must be a number, found {budget!r}.")
    if not budget > 0 or not np.isfinite(budget):
        raise ValueError(f"budget must be a positive number, found {budget}. A summary needs room for a sentence.")
    if not callable(unit) and budget < 1:
        raise ValueError(f"budget must be at least 1 in {unit}, found {budget:g}.")
    return float(budget)


def length(text: str, unit: Unit) -> float:
    """Length of a text; "tokens" are about four bytes each, as language models count them.

    Examples
    --------
    >>> [length("Rain fell.", unit) for unit in ("bytes", "words", "sentences")]
    [10, 2, 1]
    """
    if callable(unit):
        return float(unit(text))
    if unit == "bytes":
        return len(text.encode())
    if unit == "words":
        return len(text.split())
    if unit == "tokens":
        return -(-len(text.encode()) // 4)
    return 1


def costs(texts: Sequence[str], unit: Unit) -> FloatArray:
    """Cost of each sentence so that the sum says how long the joined text is: bytes count one more for the joint."""
    if unit in ("bytes", "tokens"):
        share = 1.0 if unit == "bytes" else 0.25
        return np.array([share * (len(text.encode()) + 1) for text in texts], np.float64)
    return np.array([max(length(text, unit), 1e-9) for text in texts], np.float64)


def limit(budget: float, unit: Unit) -> float:
    """The bound on the sum of costs: the last sentence has no joint after it."""
    return budget + {"bytes": 1.0, "tokens": 0.25}.get(unit if isinstance(unit, str) else "", 0.0)


def joined_length(lines: Sequence[str], unit: Unit) -> float:
    """Length of a summary, as it will be printed."""
    return len(lines) if unit == "sentences" else length("\n".join(lines), unit)


def cut(text: str, budget: float, unit: Unit) -> str:
    """The longest beginning of a text that fits, at a word's end where there is one."""
    if unit == "sentences" or length(text, unit) <= budget:
        return text
    words = text.split()
    low, high = 0, len(words)
    while low < high:  # lengths grow with the words: bisect
        middle = (low + high + 1) // 2
        low, high = (middle, high) if length(" ".join(words[:middle]), unit) <= budget else (low, middle - 1)
    if low:
        return " ".join(words[:low])
    low, high = 0, len(text)  # not even a word fits, or there are no spaces: by characters
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if length(text[:middle], unit) <= budget else (low, middle - 1)
    return text[:low]
