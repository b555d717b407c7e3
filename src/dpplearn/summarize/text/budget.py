"""How long a summary is to be: a number in a unit, a share of the text, or what suits the text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from dpplearn.summarize.text.units import Unit, check_budget, check_unit, lengths_with

Budget: TypeAlias = float | str
AUTO = "auto"  # what suits the text
USUAL = 100.0  # words of a summary of NEWS words, about a cluster of news articles
NEWS = 2_500.0
LEAST = 60.0  # three or four sentences
LARGEST = 1.0 / 3.0  # of the text
_SHARE = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*%\s*", re.ASCII)


def share_of(budget: Budget) -> float | None:
    """The share that a text such as "20%" stands for, None for a number and for "auto".

    Examples
    --------
    >>> share_of("20%"), share_of(100)
    (0.2, None)
    """
    if not isinstance(budget, str) or budget == AUTO:
        return None
    found = _SHARE.fullmatch(budget)
    if found is None:
        raise ValueError(
            f'budget must be a number, a share of the text such as "20%", or "auto"; found {budget!r:.60}.'
        )
    share = float(found[1]) / 100.0
    if not 0.0 < share <= 1.0:
        raise ValueError(f"budget must be a share above 0% and up to 100%, found {budget!r:.60}.")
    return share


def suited(words: float) -> float:
    """Words of a summary that suit a text of so many: 100 for 2,500, growing with the cube root, 60 at least where that
    is no more than a third.

    Examples
    --------
    >>> [round(suited(n)) for n in (150, 600, 2_500, 100_000)]
    [50, 62, 100, 342]
    """
    return min(max(USUAL * (words / NEWS) ** (1.0 / 3.0), LEAST), LARGEST * words)


def check_length(budget: Budget, unit: Unit) -> None:
    """Whether this says how long a summary is to be, whatever the text."""
    check_unit(unit)
    if budget != AUTO and share_of(budget) is None:
        check_budget(budget, unit)


def settled(budget: Budget, unit: Unit, texts: Sequence[str], best: str) -> float:
    """The budget of a summary of these sentences, as a number in the unit.

    A share is one of their length in the unit, so `"20%"` in words a fifth of the words; "auto" is what suits them,
    `suited`. Where that is less than the best sentence, it is as long as this one, so that it is not cut.

    Examples
    --------
    >>> settled("50%", "words", ["It rained all day.", "The river rose."], best="It rained all day.")
    4.0
    """
    share = share_of(budget)
    if budget != AUTO and share is None:
        return check_budget(budget, unit)
    sizes = lengths_with([], texts, unit)
    if share is None:
        words = float(lengths_with([], texts, "words").sum())
        share = suited(words) / max(words, 1.0)
    size = max(share * float(sizes.sum()), float(lengths_with([], [best], unit)[0]))
    return check_budget(size if callable(unit) else max(float(np.floor(size + 1e-9)), 1.0), unit)
