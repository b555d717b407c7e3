"""Corpus averages with confidence bounds, resampled with the generator and in the order of ROUGE-1.5.5."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dpplearn._checks import FloatArray, check_int
from dpplearn.rouge.combine import plain_sum, round5

MULTIPLIER, INCREMENT, MODULUS = 0x5DEECE66D, 0xB, 1 << 48  # of drand48


class Interval(NamedTuple):
    """An average over a corpus and its confidence bounds."""

    average: float
    low: float
    high: float


def check_resampling(confidence: float, resamples: int = 1000, least: int = 1) -> None:
    """Confidence is in percent (one below 1 is a share of one, given by mistake), resamples are at least so many."""
    if not 1 <= confidence < 100:
        raise ValueError(
            f"confidence must lie between 1 and 100 (percent), but is {confidence}. "
            "It is given in percent: 95 for bounds of 95 %, not 0.95."
        )
    check_int(resamples, "resamples", low=least)


def resampled_means(values: FloatArray, resamples: int) -> FloatArray:
    """Return the mean of each column of values, for resamples of the rows numbered 0, 1, ...

    Resample s draws rows with drand48 seeded with s, and adds them up in the order drawn.
    """
    n = len(values)
    state = (np.arange(resamples, dtype=np.uint64) << np.uint64(16)) + np.uint64(0x330E)
    sums = np.zeros((resamples, values.shape[1]))
    for _ in range(n):
        # uint64 wraps at 2^64, a multiple of the modulus
        state = (state * np.uint64(MULTIPLIER) + np.uint64(INCREMENT)) & np.uint64(MODULUS - 1)
        sums += values[(n * (state.astype(np.float64) / MODULUS)).astype(np.int64)]
    return sums / n


def interval(means: FloatArray, confidence: float) -> Interval:
    """Return the mean of the resampled means, and their quantiles at the given confidence in percent."""
    v = np.sort(means).tolist()
    r = len(v)
    d = r * (100 - confidence) / 200
    u = r - d - 1
    fraction = u - int(u)

    def bound(place: int) -> float:
        after = v[min(place + 1, r - 1)]
        return round5(v[place] + fraction * (after - v[place]))

    return Interval(round5(plain_sum(v) / r), bound(int(d)), bound(int(u)))


def intervals(values: Sequence[Sequence[float]], resamples: int, confidence: float) -> list[Interval]:
    """Return the interval of each column; the same draws serve all columns."""
    means = resampled_means(np.array(values, np.float64), resamples)
    return [interval(column, confidence) for column in means.T]
