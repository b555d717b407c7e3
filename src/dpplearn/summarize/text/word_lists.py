"""Lists of words, kept as data."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources


def word_set(text: str) -> frozenset[str]:
    """The words of a text, as a set to look words up in."""
    return frozenset(text.split())


@cache
def word_lists(name: str) -> dict[str, frozenset[str]]:
    """The lists in a file of the package, by name: lines such as "days: mon tue", others begin with a space or #.

    Examples
    --------
    >>> "jan" in word_lists("abbreviations")["months"]
    True
    """
    data = resources.files("dpplearn.summarize").joinpath("data", f"{name}.txt").read_text(encoding="utf-8")
    return {list_: word_set(words) for list_, words in re.findall(r"^(\w[\w ]*):((?:.*\n )*.*)", data, re.MULTILINE)}
