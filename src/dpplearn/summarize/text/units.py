"""Measure texts in bytes, words, sentences or tokens, and say how long a summary is to be."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Sequence
from math import ceil, floor
from typing import Any, TypeAlias

import numpy as np

from dpplearn._checks import FloatArray
from dpplearn.summarize.text.words import SINGLE

Unit = str | Callable[[str], float]
UNITS = ("bytes", "words", "sentences", "tokens")
_JOINT = {"bytes": 1.0, "tokens": 0.25}  # the length of a byte, and so of a line's end

# Scripts written without spaces. A Chinese character or a Japanese kana counts as a word, as editors count them; Thai,
# Lao, Khmer and Burmese words have about four letters (the signs above and below them not counted).
_CHARACTERS = SINGLE + "\u3005-\u3007\uff66-\uff9d"
_LETTERS = "\u0e01-\u0e30\u0e32\u0e33\u0e40-\u0e45\u0e81-\u0eb0\u0eb2\u0eb3\u0ebd\u0ec0-\u0ec4\u0edc-\u0edf"
_LETTERS += "\u1000-\u102a\u1780-\u17b3"
_RUN = rf"[{_LETTERS}](?:[{_LETTERS}]|[\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ecd\u102b-\u103e\u17b4-\u17d3])*"
UNSPACED = re.compile(f"[{_CHARACTERS}{_LETTERS}]")
_PIECE = re.compile(rf"(?P<run>{_RUN})|[{_CHARACTERS}]|[^{_CHARACTERS}{_LETTERS}]+")
_LETTERS_A_WORD = 4

Budget: TypeAlias = float | str
AUTO = "auto"  # a length that suits the text
_SHARE = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*%\s*", re.ASCII)


def check_unit(unit: Unit) -> Unit:
    """One of the known units, or a function from a text to its length."""
    if callable(unit) or unit in UNITS:
        return unit
    raise ValueError(f"unit must be one of {', '.join(map(repr, UNITS))} or a function of a text; found {unit!r}.")


def unit_name(unit: Unit) -> str:
    """The unit's name in messages."""
    return unit if isinstance(unit, str) else getattr(unit, "__name__", "units")


def size_in_words(size: float, unit: Unit) -> str:
    """A length in its unit, in words.

    Examples
    --------
    >>> size_in_words(1, "words"), size_in_words(20, "words")
    ('1 word', '20 words')
    """
    name = unit_name(unit)
    return f"{size:g} {name[:-1] if size == 1 and name in UNITS else name}"


def check_budget(budget: Any, unit: Unit) -> float:
    """A positive length, at least 1 in a unit that is counted."""
    if isinstance(budget, bool) or not isinstance(budget, int | float | np.number):
        raise TypeError(f"budget must be a number, found {budget!r}.")
    if not budget > 0 or not np.isfinite(budget):
        raise ValueError(f"budget must be a positive number, found {budget}. A summary needs room for a sentence.")
    if not callable(unit) and budget < 1:
        raise ValueError(f"budget must be at least 1 in {unit}, found {budget:g}.")
    return float(budget)


def count_words(text: str) -> int:
    """Words between spaces; in scripts without spaces each Chinese or Japanese character, and every four Thai letters.

    Examples
    --------
    >>> count_words("The bridge is closed."), count_words("大桥2024年关闭。"), count_words("สะพานปิด")
    (4, 6, 2)
    >>> count_words("The capital is 北京.")
    4
    """
    if text.isascii() or UNSPACED.search(text) is None:
        return len(text.split())
    return sum(map(_count_chunk, text.split()))


def _count_chunk(chunk: str) -> int:
    """Words in a text without spaces; one of up to four characters is a word, such as a name quoted in English."""
    if len(UNSPACED.findall(chunk)) <= _LETTERS_A_WORD:
        return 1
    sizes = ((len(UNSPACED.findall(piece["run"] or "")), piece[0]) for piece in _PIECE.finditer(chunk))
    return sum(ceil(n / _LETTERS_A_WORD) if n else any(map(str.isalnum, text)) for n, text in sizes)


def length(text: str, unit: Unit) -> float:
    """Length of a text; "words" as `count_words`, "tokens" about four bytes each, as language models count them.

    Examples
    --------
    >>> [length("Rain fell.", unit) for unit in ("bytes", "words", "sentences")]
    [10, 2, 1]
    """
    if callable(unit):
        return float(unit(text))
    if unit == "words":
        return count_words(text)
    return 1 if unit == "sentences" else ceil(len(text.encode()) * _JOINT[unit])


def costs(texts: Sequence[str], unit: Unit) -> FloatArray:
    """Cost of each sentence so that the sum says how long the joined text is: bytes count one more for the joint."""
    if unit in ("bytes", "tokens"):
        return np.array([len(text.encode()) + 1 for text in texts]) * _JOINT[unit]
    return np.maximum(np.array([length(text, unit) for text in texts], np.float64), 1e-9)


def limit(budget: float, unit: Unit) -> float:
    """The bound on the sum of costs: the last sentence has no joint after it, and a budget counts whole units.

    Examples
    --------
    >>> limit(10.7, "tokens"), limit(10.7, "words")  # 11 tokens, 41 to 44 bytes, are more than 10.7
    (10.25, 10.0)
    """
    return budget if callable(unit) else floor(budget) + _JOINT.get(unit, 0.0)


def joined_length(lines: Sequence[str], unit: Unit) -> float:
    """Length of a summary, as it will be printed."""
    return len(lines) if unit == "sentences" else length("\n".join(lines), unit)


def lengths_with(lines: Sequence[str], texts: Sequence[str], unit: Unit) -> FloatArray:
    """The length of a summary of these lines with each of the texts added to it.

    Examples
    --------
    >>> lengths_with(["Rain fell."], ["It poured.", "Oh."], "bytes")
    array([21., 14.])
    """
    if callable(unit):
        return np.array([joined_length([*lines, text], unit) for text in texts], np.float64)
    total = costs(lines, unit).sum() + costs(texts, unit) - _JOINT.get(unit, 0.0)  # the last has no joint after it
    return np.ceil(total) if unit == "tokens" else total


def cut(text: str, budget: float, unit: Unit) -> str:
    """The longest beginning of a text that fits, at a word's end where there is one."""
    if unit == "sentences" or length(text, unit) <= budget:
        return text

    def most(parts: Sequence[str], before: str, between: str) -> int:
        """How many parts fit."""
        sizes = range(1, len(parts) + 1)
        return bisect_left(sizes, True, key=lambda n: length(before + between.join(parts[:n]), unit) > budget)

    words = text.split()
    n_words = most(words, "", " ")
    head, rest = " ".join(words[:n_words]), " ".join(words[n_words : n_words + 1])
    if head and UNSPACED.search(rest) is None:
        return head
    # not even a word fits, or words have no spaces between them: by characters, and signs stay with their letters
    before, rest = (f"{head} ", rest) if head else ("", text)
    end = most(rest, before, "")
    while 0 < end < len(rest) and unicodedata.category(rest[end]).startswith("M"):
        end -= 1
    return before + rest[:end] if end else head


def share_of(budget: Budget) -> float | None:
    """The share that a text such as "20%" stands for, None for a number and for "auto".

    Examples
    --------
    >>> share_of("20%"), share_of(100)
    (0.2, None)
    """
    if not isinstance(budget, str) or budget == AUTO:
        return None
    match = _SHARE.fullmatch(budget)
    if match is None:
        raise ValueError(
            f'budget must be a number, a share of the text such as "20%", or "auto"; found {budget!r:.60}.'
        )
    share = float(match[1]) / 100.0
    if not 0.0 < share <= 1.0:
        raise ValueError(f"budget must be a share above 0% and up to 100%, found {budget!r:.60}.")
    return share


def suitable_words(words: float) -> float:
    """Words of a summary that suit a text of so many: 100 for 2,500, growing with the cube root, 60 at least where that
    is no more than a third.

    Examples
    --------
    >>> [round(suitable_words(n)) for n in (150, 600, 2_500, 100_000)]
    [50, 62, 100, 342]
    """
    return min(max(100.0 * (words / 2_500.0) ** (1.0 / 3.0), 60.0), words / 3.0)


def check_length(budget: Budget, unit: Unit) -> None:
    """Raise if a budget and its unit cannot say how long a summary is to be."""
    check_unit(unit)
    if budget != AUTO and share_of(budget) is None:
        check_budget(budget, unit)


def budget_in_unit(budget: Budget, unit: Unit, texts: Sequence[str], best: str) -> float:
    """The budget of a summary of these sentences, as a number in the unit.

    A share is one of their length in the unit, so `"20%"` in words a fifth of the words; "auto" is what suits them,
    `suitable_words`. Where that is less than the best sentence, it is as long as this one, so that it is not cut.

    Examples
    --------
    >>> budget_in_unit("50%", "words", ["It rained all day.", "The river rose."], best="It rained all day.")
    4.0
    """
    check_length(budget, unit)
    share = share_of(budget)
    if share is None and budget != AUTO:
        return float(budget)
    if share is None:
        words = float(lengths_with([], texts, "words").sum())
        share = suitable_words(words) / max(words, 1.0)
    least = float(lengths_with([], [best], unit)[0])
    size = max(share * float(lengths_with([], texts, unit).sum()), least)
    return check_budget(size if callable(unit) else max(floor(size + 1e-9), 1), unit)
