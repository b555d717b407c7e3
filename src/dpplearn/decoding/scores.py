"""Scores in any unit as qualities: the formula of `diversify`.

    q_i = sqrt(2) exp(min(1/2, 1 - diversity) z_i),    z_i = scale (s_i - mean) / sigma,

where sigma is the standard deviation, and at least 1/40 of the range. Beside a score very far from all others, such as
-1e9 for an item that is masked, these would all look the same. So such scores are *set apart*: mean and sigma are those
of the others, and the gaps between are shortened to 20 sigma together.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpplearn._checks import FloatArray, first_few
from dpplearn._holders import as_numbers
from dpplearn._precision import EPS32

WIDEST = 40.0  # range of standardized scores: quality ratios stay below e^20, and their squares are floats
APART = 20.0  # sigma, for all gaps together that set scores apart
FAR = 1e3  # such a gap is so many times as wide as all smaller ones together; FAR^2 times, if these are one or two
SAMPLE = 4096  # of many scores, in which such a gap is looked for
HIGHEST = 300.0  # of |log q|, to which scores of too large a scale are brought down: q^2 is a float
TINIEST = 1e-300  # a difference that has all its digits
LEAST_STEP = 1e-12  # between standardized scores that differ, where they are to stay different


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
    """(s - mean) / sigma of an array or a tensor; 0 where all are equal but for rounding, nan where one is not finite.

    If they are `ranked`, all that differ still do.

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
    if largest > 1e307:  # so that no difference overflows
        return standardize(s / 4.0, eps, ranked)
    small = len(s) <= SAMPLE and not hasattr(s, "cpu")
    if not ranked and least_far_gap(s if small else some_of(s, low, high)) == np.inf:
        return centred(s, low, high)
    return s.new_tensor(set_apart(s.cpu().numpy(), eps, ranked)) if hasattr(s, "cpu") else set_apart(s, eps, ranked)


def centred(s: Any, low: float, high: float) -> Any:
    """(s - mean) / sigma of scores from low to high, without those that are set apart."""
    s, width = s - low, high - low
    if not 1e-100 < width < 1e100:  # so that no square overflows, or is lost
        s, width = s / width, 1.0
    s -= s.sum() / len(s)
    sigma = (float(s.dot(s)) / len(s)) ** 0.5
    s /= max(sigma, width / WIDEST)
    return s


def some_of(s: Any, low: float, high: float) -> FloatArray:
    """Of many scores the ends and a sample, unless it has so few different ones that it may have missed most."""
    sample = s[:: 1 + (len(s) - 1) // SAMPLE]
    some = np.append(sample.cpu() if hasattr(s, "cpu") else sample, [low, high])
    if len(sample) < len(s) and np.unique(some).size <= 3:
        return np.asarray(s.cpu() if hasattr(s, "cpu") else s)
    return some


def least_far_gap(s: FloatArray) -> float:
    """The smallest of the gaps that set scores apart, which at least half of all gaps do not; inf if there is none."""
    v = s.copy()
    v.sort()
    gaps = v[1:] - v[:-1]
    gaps.sort()
    gaps = gaps[gaps.searchsorted(0.0, "right") :]
    first = max(0, gaps.size - 1 - max(2, gaps.size // 2))
    if gaps.size < 2 or gaps[-1] <= FAR * gaps[first]:  # the usual case, at once
        return np.inf
    far = gaps[1:] > np.where(np.arange(1, gaps.size) < 3, FAR**2, FAR) * np.cumsum(gaps[:-1])
    where = np.flatnonzero(far[first:])
    return float(gaps[1 + first + where[0]]) if where.size else np.inf


def set_apart(s: FloatArray, eps: float, ranked: bool) -> FloatArray:
    """Standardized scores, of which some may be far from most.

    Where the others differ by no more than rounding, in float32 at least, none is: that is not made larger.
    """
    order = np.argsort(s, kind="stable")
    v = s[order]
    gaps = np.diff(v)
    far = gaps >= least_far_gap(v)
    part = np.append(0, np.cumsum(far))
    core = part == np.bincount(part[1:], (gaps > 0.0) & ~far).argmax()  # the others: the part where most differ
    low, high = float(v[core][0]), float(v[core][-1])
    if far.any() and (ranked or high - low > 8 * max(eps, EPS32) * max(-low, high) + TINIEST):
        per_unit = float(np.ptp(centred(v[core], low, high))) / (high - low)
        steps = np.where(far, 0.0, gaps) * min(per_unit, WIDEST / gaps[~far].sum()) + APART / far.sum() * far
        z = np.append(0.0, np.cumsum(steps))
        z -= z[core].mean()
    else:
        z = np.asarray(centred(v, float(v[0]), float(v[-1])))
    if ranked:
        least = LEAST_STEP * np.append(0, np.cumsum(gaps > 0.0))
        z = np.maximum.accumulate(z - least) + least
    out = np.empty(len(s))
    out[order] = z
    return out


def qualities(z: Any, scale: float, diversity: float) -> FloatArray:
    """q of standardized scores; of an array, or of a tensor."""
    factor = scale * min(0.5, 1.0 - diversity)
    if factor * 2 * WIDEST > HIGHEST and len(z):
        factor = min(factor, HIGHEST / max(1.0, float(abs(z).max())))
    return (z * factor).exp() * 2**0.5 if hasattr(z, "exp") else np.exp(z * factor) * 2**0.5
