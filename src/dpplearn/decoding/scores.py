"""Scores in any unit as qualities: the formula of `diversify`."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpplearn._checks import FloatArray, first_few
from dpplearn._holders import as_numbers
from dpplearn._precision import EPS32

WIDEST = 40.0  # largest range of standardized scores: quality ratios stay below e^20, and their squares are floats
APART = 20.0  # between those and scores set apart
HIGHEST = 300.0  # of |log q|, to which scores of too large a scale are brought down: q^2 is a float
FAR = 1e3  # a gap so many times as wide as all smaller ones together sets scores apart
SAMPLE = 4096  # of many scores, in which a gap is looked for first
ROUNDED = 1e-9  # of the scores: of so small differences, rounding of their sum would be a part
STEP = 1e-12  # between standardized scores that differ, where they are to stay different


def read_scores(scores: Any, n: int, ranked: bool) -> FloatArray:
    """n standardized scores; `ranked` where they alone decide."""
    s = as_numbers(scores, "scores", 1)
    if s.size != n:
        raise ValueError(
            f"embeddings and scores must have one row and one entry per item: found {n} rows and {s.size} scores."
        )
    z: FloatArray = standardize(s.astype(np.float64), float(np.finfo(s.dtype).eps), ranked)
    if n and z[0] != z[0]:
        bad = np.flatnonzero(~np.isfinite(s))
        raise ValueError(
            f"scores must be finite, but those of rows {first_few(bad)} are not, such as {s[bad[0]]}. "
            "Leave these items out, or give them a score."
        )
    return z


def standardize(s: Any, eps: float, ranked: bool = False) -> Any:
    """z = (s - mean) / sigma, where sigma is at least 1/40 of the range; 0 where all are equal but for rounding.

    Of an array, or of a tensor; all are nan where one is not finite. Scores far from most others, such as -1e9 for an
    item that is masked, are set apart. If they are `ranked`, all that differ still do.

    >>> standardize(np.array([1.0, 2.0, 3.0]), 1e-16).round(3)
    array([-1.225,  0.   ,  1.225])
    >>> standardize(np.array([1.0, 2.0, 3.0, 4.0, -1e9]), 1e-16).round(3)
    array([ -1.342,  -0.447,   0.447,   1.342, -21.342])
    """
    if len(s) == 0:
        return s
    low, high = float(s[s.argmin()]), float(s[s.argmax()])
    largest = max(-low, high)
    if not largest < np.inf:
        return np.nan * s
    if low == high or (not ranked and high / largest - low / largest <= 8 * eps):
        return 0.0 * s
    there, few = s, False
    if len(s) > SAMPLE or hasattr(s, "cpu"):
        sample = s[:: 1 + (len(s) - 1) // SAMPLE]
        there = np.append(sample.cpu() if hasattr(s, "cpu") else sample, [low, high])
        few = len(sample) < len(s) and np.unique(there).size <= 3  # it may have missed those that are not set apart
    if ranked or few or least_far_gap(there) < np.inf:
        return s.new_tensor(spaced(s.cpu().numpy(), eps, ranked)) if hasattr(s, "cpu") else spaced(s, eps, ranked)
    return centred(s, low, high)


def centred(s: Any, low: float, high: float) -> Any:
    """(s - mean) / sigma of scores from low to high."""
    largest = max(-low, high)
    if not 1e-100 < largest < 1e100:  # so that no square overflows, or is lost
        s, low, high = s / largest, low / largest, high / largest
    if high - low < ROUNDED * max(-low, high):
        s = s - low
    s = s - s.sum() / len(s)
    sigma = (float(s.dot(s)) / len(s)) ** 0.5
    s /= max(sigma, (high - low) / WIDEST)
    return s


def spaced(s: FloatArray, eps: float, ranked: bool) -> FloatArray:
    """The same, with what is far from most scores APART from these, which are centred as if they were alone.

    Unless these differ by no more than rounding, in float32 at least: that is not made larger.
    """
    order = np.argsort(s, kind="stable")
    v = s[order]
    with np.errstate(over="ignore"):
        gaps = np.diff(v)
    far = gaps >= least_far_gap(v)
    part = np.append(0, np.cumsum(far))
    core = part == np.bincount(part[1:], (gaps > 0.0) & ~far).argmax()  # with the most that differ
    low, high = float(v[core][0]), float(v[core][-1])
    z: FloatArray
    if far.any() and (ranked or high - low > 8 * max(eps, EPS32) * max(-low, high)):
        one = float(np.ptp(centred(v[core], low, high))) / (high - low)
        steps = np.where(far, 0.0, gaps) * min(one, WIDEST / gaps[~far].sum()) + APART / far.sum() * far
        z = np.append(0.0, np.cumsum(steps))
        z -= z[core].mean()
    else:
        z = centred(v, float(v[0]), float(v[-1]))
    if ranked:
        least = STEP * np.append(0, np.cumsum(gaps > 0.0))
        z = np.maximum.accumulate(z - least) + least
    out = np.empty(len(s))
    out[order] = z
    return out


def least_far_gap(s: FloatArray) -> float:
    """The smallest of the gaps that set few scores apart; inf where there is none.

    Each of them is FAR times as wide as all smaller gaps together: where these are but one or two, which may be
    narrow by chance, FAR^2 times.
    """
    s = np.sort(s)
    with np.errstate(over="ignore"):
        gaps = s[1:] - s[:-1]
    gaps.sort()
    gaps = gaps[gaps.searchsorted(0.0, "right") :]
    first = max(0, gaps.size - 1 - max(2, gaps.size // 2))
    if gaps.size < 2 or gaps[-1] <= FAR * gaps[first]:  # the usual case, at once
        return np.inf
    far = gaps[1:] > np.where(np.arange(1, gaps.size) < 3, FAR**2, FAR) * np.cumsum(gaps[:-1])
    where = np.flatnonzero(far[first:])
    return float(gaps[1 + first + where[0]]) if where.size else np.inf


def qualities(z: Any, scale: float, diversity: float) -> FloatArray:
    """q_i = sqrt(2) exp(min(1/2, 1 - diversity) scale z_i) of standardized scores; of an array, or of a tensor."""
    factor = scale * min(0.5, 1.0 - diversity)
    if factor * 2 * WIDEST > HIGHEST and len(z):
        factor = min(factor, HIGHEST / max(1.0, float(abs(z).max())))
    return (z * factor).exp() * 2**0.5 if hasattr(z, "exp") else np.exp(z * factor) * 2**0.5
