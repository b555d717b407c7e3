"""The metrics by name, and how the hits against several references become recall, precision and F."""

import operator
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import NamedTuple

from dpplearn._checks import check_between, check_choice, describe


@dataclass(frozen=True)
class NGrams:
    """rouge-N: runs of n tokens."""

    n: int


@dataclass(frozen=True)
class SkipBigrams:
    """rouge-sD and rouge-suD: pairs of tokens with at most `skip` between them; suD has single tokens, too."""

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
    """Return the metric with this name, in capital or small letters.

    >>> parse_metric("rouge-su4"), parse_metric("rouge-w-1.2")
    (SkipBigrams(skip=4, unigrams=True), Subsequence(weight=1.2, runs=True))
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
    known = "rouge-1, rouge-2 and so on, rouge-l, rouge-w-1.2 (a weight from 1), rouge-su4 and rouge-s4 (a distance)"
    raise ValueError(f"No metric is called {name!r}. There are {known}.")


def parse_metrics(names: Iterable[str]) -> dict[str, Metric]:
    """Return name -> metric in the caller's order; a single name need not be in a list."""
    names = [names] if isinstance(names, str) else list(names)
    if odd := [name for name in names if not isinstance(name, str)]:
        raise TypeError(f"A metric is named by a string like 'rouge-1', but found {describe(odd[0])}.")
    if not names:
        raise ValueError("Give at least one metric, such as 'rouge-1'; found none.")
    return {name: parse_metric(name) for name in names}


class Score(NamedTuple):
    """Recall, precision and their weighted harmonic mean F, each rounded to five decimals."""

    recall: float
    precision: float
    f: float


def round5(x: float) -> float:
    """Round to five decimals as printf("%.5f") does: the binary number, half to even."""
    return float(f"{x:.5f}")


def plain_sum(values: Iterable[float]) -> float:
    """Add up from left to right, each sum rounded, as the official program does; sum() would be more exact."""
    return reduce(operator.add, values, 0.0)


def ratio(above: float, below: float) -> float:
    return above / below if below else 0.0


class Sizes(NamedTuple):
    """The largest possible number of hits against each reference: its grams, or its lines for ROUGE-L and ROUGE-W.

    With `lines`, the size is the sum of length^power over the lines (ROUGE-L: power = 1). A candidate then counts as
    its number of tokens to the same power, and the ratio of hits and size is taken to 1 / power.
    """

    each: list[float]
    power: float = 1.0
    lines: bool = False


@dataclass(frozen=True)
class Combination:
    """How hits against several references become one score: by "average" or "best", and with which alpha."""

    how: str
    alpha: float

    def __post_init__(self) -> None:
        check_choice(self.how, "combine", ("average", "best"))
        check_between(self.alpha, "alpha", 0.0, 1.0)

    def __call__(self, hits: Sequence[float], sizes: Sizes, size: int) -> Score:
        """Combine the hits against references of these sizes, for a candidate of this size.

        F = P R / ((1 - alpha) P + alpha R) is computed from the rounded recall and precision, and rounded again.
        """
        each, power, lines = sizes
        root = 1 / power if lines else 1.0
        if self.how == "best":
            recalls = [ratio(hit, below) ** root for hit, below in zip(hits, each, strict=True)]
            recalls = recalls if lines else [round5(recall) for recall in recalls]
            best = recalls.index(max(recalls))  # the first, of several
            hits, each = hits[best : best + 1], each[best : best + 1]
        total = plain_sum(size**power for size in each) if lines else sum(each)  # counts are whole numbers
        hit, taken = plain_sum(hits) if lines else sum(hits), len(hits) * (float(size) ** power if lines else size)
        recall, precision = round5(ratio(hit, total) ** root), round5(ratio(hit, taken) ** root)
        f = ratio(precision * recall, (1 - self.alpha) * precision + self.alpha * recall)
        return Score(recall, precision, round5(f))
