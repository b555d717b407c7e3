"""From hits to recall, precision and F: several references, and the rounding."""

from collections.abc import Sequence
from typing import NamedTuple


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


def f_score(precision: float, recall: float, alpha: float) -> float:
    """F = P R / ((1 - alpha) P + alpha R), or 0 where that is 0 / 0."""
    below = (1 - alpha) * precision + alpha * recall
    return precision * recall / below if below else 0.0


def rounded_score(recall: float, precision: float, alpha: float) -> Score:
    """F is taken from the rounded recall and precision, and is rounded again."""
    recall, precision = round5(recall), round5(precision)
    return Score(recall, precision, round5(f_score(precision, recall, alpha)))


def combine_counts(hits: Sequence[int], totals: Sequence[int], total: int, combine: str, alpha: float) -> Score:
    """Combine the hits against several references with these totals, for a candidate with this total."""
    if combine == "average":
        hit, below, n = sum(hits), sum(totals), len(hits)
    else:
        recalls = [round5(ratio(hit, below)) for hit, below in zip(hits, totals, strict=True)]
        best = recalls.index(max(recalls))  # the first, of several
        hit, below, n = hits[best], totals[best], 1
    return rounded_score(ratio(hit, below), ratio(hit, n * total), alpha)


def combine_subsequences(
    hits: Sequence[float],
    line_weights: Sequence[float],
    total: int,
    weight: float,
    combine: str,
    alpha: float,
) -> Score:
    """Combine weighted hits; line_weights are the sums over lines of length^weight (ROUGE-L: weight = 1).

    A reference weighs (sum over lines of length^weight)^weight, a candidate total^weight, and the ratio is
    brought back by the root 1 / weight.
    """
    if combine == "average":
        n = len(hits)
        hit = below = 0.0
        for h, line_weight in zip(hits, line_weights, strict=True):  # in order; sum() would add more exactly
            hit += h
            below += line_weight**weight
    else:
        root = 1 / weight
        recalls = [ratio(h, below) ** root for h, below in zip(hits, line_weights, strict=True)]
        best = recalls.index(max(recalls))
        hit, below, n = hits[best], line_weights[best] ** weight, 1
    recall, precision = ratio(hit, below), ratio(hit, n * float(total) ** weight)
    return rounded_score(recall ** (1 / weight), precision ** (1 / weight), alpha)


def ratio(above: float, below: float) -> float:
    return above / below if below else 0.0
