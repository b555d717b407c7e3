"""Exact quantiles of numbers that lie in many places: four counts of all of them, sixteen bits at a time.

The bits of a float, its sign turned, are a whole number that orders as floats do. Counts of the first sixteen bits tell
which of them an order statistic has; counts of the next sixteen among the numbers that begin so, the next; and so on.
What is added up are counts, so that the answer depends neither on how the numbers are divided nor on who counts first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from dpplearn._checks import FloatArray
from dpplearn.summarize.model.bins import between, edge_places

SIGN, BITS = np.uint64(1 << 63), 16
Counts = dict[tuple[str, int], tuple[list[int], list[int]]]  # digits and how many, by feature and what is before them


class Question(NamedTuple):
    """What is counted: the digits of the numbers of each feature that begin with one of these."""

    level: int  # how many digits are known
    begins: dict[str, list[int]]

    def answer(self, values: Mapping[str, FloatArray]) -> Counts:
        """In some of the numbers."""
        found: Counts = {}
        for name, begins in self.begins.items():
            keys = ordered_bits(values[name])
            digits = (keys >> np.uint64(64 - BITS * (self.level + 1))) & np.uint64(2**BITS - 1)
            before = keys >> np.uint64(64 - BITS * self.level) if self.level else np.zeros_like(keys)
            for begin in begins:
                digit, many = np.unique(digits[before == np.uint64(begin)], return_counts=True)
                found[name, begin] = digit.tolist(), many.tolist()
        return found


def ordered_bits(x: FloatArray) -> np.ndarray:
    """Whole numbers that order as the floats do; -0 is 0."""
    bits = (x + 0.0).view(np.uint64)
    return np.where(bits & SIGN, ~bits, bits | SIGN)


def float_of(key: int) -> float:
    """The float that a whole number stands for."""
    bits = np.array([key], np.uint64)
    return float(np.where(bits & SIGN, bits & ~SIGN, ~bits).view(np.float64)[0])


def edges_of(
    ask: Callable[[Question], Iterable[Counts]], sizes: Mapping[str, int], bins: Mapping[str, int]
) -> dict[str, FloatArray]:
    """The edges of each feature, as `quantile_edges` has them: `ask` gives the counts of all places, in any order.

    Examples
    --------
    >>> parts = [np.array([4.0, -1.0]), np.array([2.0, 3.0, 2.5])]
    >>> edges_of(lambda question: [question.answer({"x": part}) for part in parts], {"x": 5}, {"x": 2})
    {'x': array([2.5])}
    """
    places = {name: edge_places(sizes[name], bins[name]) for name in bins}
    # of each place of each feature: the digits known, and its place among the numbers that begin so
    known = {name: {r: (0, r) for r in [*low.tolist(), *high.tolist()]} for name, (low, high, _) in places.items()}
    for level in range(64 // BITS):
        begins = {name: sorted({begin for begin, _ in of.values()}) for name, of in known.items()}
        totals: dict[tuple[str, int], Counter[int]] = {}
        for counts in ask(Question(level, begins)):
            for key, (digits, many) in counts.items():
                totals.setdefault(key, Counter()).update(dict(zip(digits, many, strict=True)))
        for name, of in known.items():
            known[name] = {r: step(totals[name, begin], begin, rank) for r, (begin, rank) in of.items()}
    found = {name: {r: float_of(key) for r, (key, _) in of.items()} for name, of in known.items()}
    return {
        name: between(at(found[name], low.tolist()), at(found[name], high.tolist()), t)
        for name, (low, high, t) in places.items()
    }


def step(counts: Counter[int], begin: int, rank: int) -> tuple[int, int]:
    """One digit more of the number of that rank."""
    for digit in sorted(counts):
        if rank < counts[digit]:
            return (begin << BITS) | digit, rank
        rank -= counts[digit]
    raise AssertionError("there are fewer numbers than were counted before")


def at(values: Mapping[int, float], places: Sequence[int]) -> FloatArray:
    return np.array([values[r] for r in places])
