"""The names of the metrics and what they stand for."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from dpplearn._checks import describe


@dataclass(frozen=True)
class NGrams:
    """rouge-N: runs of n tokens."""

    n: int


@dataclass(frozen=True)
class SkipBigrams:
    """rouge-sD and rouge-suD: pairs of tokens with at most `skip` others between, and single tokens too."""

    skip: int
    unigrams: bool


@dataclass(frozen=True)
class Subsequence:
    """rouge-l and rouge-w-W: the longest common subsequence; in rouge-w a run of k tokens counts k^weight."""

    weight: float
    runs: bool


Metric = NGrams | SkipBigrams | Subsequence


@lru_cache
def parse_metric(name: str) -> Metric:
    """Return the metric that a name stands for, in any case.

    Examples
    --------
    >>> parse_metric("rouge-su4"), parse_metric("rouge-w-1.2")
    (SkipBigrams(skip=4, unigrams=True), Subsequence(weight=1.2, runs=True))
    >>> parse_metric("ROUGE-L")
    Subsequence(weight=1.0, runs=False)
    """
    lower = name.lower()
    if match := re.fullmatch(r"rouge-([1-9]\d*)", lower):
        return NGrams(int(match[1]))
    if match := re.fullmatch(r"rouge-s(u?)(\d+)", lower):
        return SkipBigrams(int(match[2]), unigrams=bool(match[1]))
    if lower == "rouge-l":
        return Subsequence(1.0, runs=False)
    if (match := re.fullmatch(r"rouge-w-(\d+\.?\d*)", lower)) and float(match[1]) >= 1:
        return Subsequence(float(match[1]), runs=True)
    raise ValueError(
        f"No metric is called {name!r}. There are rouge-1, rouge-2 and so on, rouge-l, rouge-w-1.2 (or "
        "another weight from 1), rouge-su4 and rouge-s4 (or another distance)."
    )


def parse_metrics(names: Iterable[str]) -> dict[str, Metric]:
    """Return name -> metric, in the order given; a single name may stand alone."""
    names = [names] if isinstance(names, str) else list(names)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"A metric is named by a string like 'rouge-1', but found {describe(name)}.")
    if not names:
        raise ValueError("Name at least one metric, such as 'rouge-1'; found none.")
    return {name: parse_metric(name) for name in names}
