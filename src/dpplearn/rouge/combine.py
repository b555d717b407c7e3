"""From hits to recall, precision and F: several references, and the rounding."""

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

from dpplearn._checks import describe


class Score(NamedTuple):
    """Recall, precision and their weighted harmonic mean F, each rounded to five decimals.

    Examples
    --------
    >>> recall, precision, f = Score(0.5, 0.25, 0.33333)
    """

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


def rounded_score(recall: float, precision: float, alpha: float) -> Score:
    """F = P R / ((1 - alpha) P + alpha R) is taken from the rounded recall and precision, and is rounded again."""
    recall, precision = round5(recall), round5(precision)
    f = ratio(precision * recall, (1 - alpha) * precision + alpha * recall)
    return Score(recall, precision, round5(f))


class Sizes(NamedTuple):
    """What the hits against each reference are out of: its number of grams; or its lines, for ROUGE-L and ROUGE-W.

    The size of lines is the sum of length^power over them (ROUGE-L: power = 1). It weighs size^power, as does that of
    a candidate, its number of tokens; and the ratio is brought back by the root 1 / power.
    """

    each: list[float]
    total: float  # what all weigh
    power: float
    lines: bool

    @classmethod
    def of(cls, each: list[float], power: float = 1.0, *, lines: bool = False) -> "Sizes":
        return cls(each, plain_sum([size**power for size in each]) if lines else sum(each), power, lines)


@dataclass(frozen=True)
class Combination:
    """How the hits of a candidate against several references become one score: "average" or "best", and alpha."""

    how: str
    alpha: float

    def __post_init__(self) -> None:
        if self.how not in ("average", "best"):
            raise ValueError(f'combine must be "average" or "best", but is {describe(self.how)}.')
        if not 0 <= self.alpha <= 1:
            raise ValueError(f"alpha must be from 0 to 1, but is {describe(self.alpha)}.")

    def __call__(self, hits: Sequence[float], sizes: Sizes, size: int) -> Score:
        """Combine the hits against references of these sizes, for a candidate of this size."""
        each, total, power, lines = sizes
        if self.how == "average":
            hit, below, n = plain_sum(hits) if lines else sum(hits), total, len(hits)  # counts are whole numbers
        else:
            recalls = [ratio(hit, below) for hit, below in zip(hits, each, strict=True)]
            recalls = [recall ** (1 / power) if lines else round5(recall) for recall in recalls]
            best = recalls.index(max(recalls))  # the first, of several
            hit, below, n = hits[best], each[best] ** power, 1
        if not lines:
            return rounded_score(ratio(hit, below), ratio(hit, n * size), self.alpha)
        recall, precision = ratio(hit, below), ratio(hit, n * float(size) ** power)
        return rounded_score(recall ** (1 / power), precision ** (1 / power), self.alpha)
