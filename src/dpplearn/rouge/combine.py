"""From hits to recall, precision and F: several references, and the rounding."""

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

from dpplearn.rouge.texts import describe


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

    def __call__(self, hits: Sequence[float], sizes: Sequence[float], size: int, weight: float | None) -> Score:
        """Combine the hits against references of these sizes, for a candidate of this size.

        Without a weight, sizes are numbers of grams. With a weight (ROUGE-L: 1), the size of a reference is the sum
        over its lines of length^weight, and that of the candidate its number of tokens: a reference then weighs
        size^weight, a candidate too, and the ratio is brought back by the root 1 / weight.
        """
        power = 1.0 if weight is None else weight
        root = 1 / power
        if self.how == "best":  # the first of several; grams are compared by the rounded recall, and sizes not weighed
            recalls = [ratio(hit, below) ** root for hit, below in zip(hits, sizes, strict=True)]
            recalls = [round5(recall) for recall in recalls] if weight is None else recalls
            best = recalls.index(max(recalls))
            hits, sizes = [hits[best]], [sizes[best]]
        hit, below = plain_sum(hits), plain_sum(below**power for below in sizes)
        recall, precision = ratio(hit, below), ratio(hit, len(hits) * float(size) ** power)
        return rounded_score(recall**root, precision**root, self.alpha)
