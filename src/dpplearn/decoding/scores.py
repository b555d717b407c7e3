"""Turns the scores that `diversify` is given, in any unit, into qualities.

    q_i = sqrt(2) exp(min(1/2, 1 - diversity) z_i),    z_i = scale (s_i - mean) / sigma,

where sigma is the standard deviation of the scores, and at least 1/40 of their range.

One score of -1e9, for an item that is masked, would make all others look the same. So we first look for *far gaps*: in
the sorted scores, a gap at least FAR_RATIO times as wide as all smaller gaps together. Scores beyond a far gap are *set
apart*: the mean and sigma are those of the other scores, and all far gaps together are shortened to 20 sigma.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpplearn._checks import FloatArray, first_few
from dpplearn._holders import as_numbers
from dpplearn._precision import EPS32

MAX_RANGE = 40.0  # range of standardized scores: quality ratios stay below e^20, and their squares are floats
GAPS_WIDTH = 20.0  # width of all far gaps together, in units of sigma
FAR_RATIO = 1e3  # see the module docstring; FAR_RATIO^2, where there are only one or two smaller gaps
SAMPLE_SIZE = 4096  # longer lists of scores are sampled to look for far gaps
MAX_LOG_Q = 300.0  # largest |log q|; a larger scale is reduced, so that q^2 is a float
TINIEST = 1e-300  # a difference that has all its digits
LEAST_STEP = 1e-12  # between standardized scores that differ, where they are to stay different


def read_scores(scores: Any, n: int, ranked: bool) -> FloatArray:
    """Standardized scores of n items. `ranked` says that the scores alone decide, as at diversity 0."""
    s = as_numbers(scores, "scores", 1)
    if s.size != n:
        raise ValueError(f"embeddings and scores must have one row and one entry per item: {n} rows, {s.size} scores.")
    z: FloatArray = standardize(s.astype(np.float64), float(np.finfo(s.dtype).eps), ranked)
    if n and z[0] != z[0]:
        bad = np.flatnonzero(~np.isfinite(s))
        found = f"those of rows {first_few(bad)} are not, such as {s[bad[0]]}"
        raise ValueError(f"scores must be finite, but {found}. Leave these items out, or give them a score.")
    return z


def standardize(s: Any, eps: float, ranked: bool = False) -> Any:
    """(s - mean) / sigma of an array or a tensor: 0 if all scores are equal but for rounding, nan if one is not finite.

    If the scores are `ranked`, those that differ by less than rounding still get different values.

    >>> standardize(np.array([1.0, 2.0, 3.0]), 1e-16).round(3)
    array([-1.225,  0.   ,  1.225])
    >>> standardize(np.array([1.0, 2.0, 3.0, 4.0, -1e9]), 1e-16).round(3)
    array([ -1.342,  -0.447,   0.447,   1.342, -21.342])
    """
    if len(s) == 0:
        return s
    tensor = hasattr(s, "cpu")
    if tensor or len(s) > SAMPLE_SIZE:
        low, high = float(s[s.argmin()]), float(s[s.argmax()])
        v = None
    else:
        v = s.copy()
        v.sort()
        low, high = v.item(0), v.item(-1)
    largest = max(high, -low)  # nan if one is: it comes last in sorted scores
    if not largest < np.inf:
        return np.nan * s
    if low == high or (not ranked and high / largest - low / largest <= 8 * eps):
        return 0.0 * s
    if largest > 1e307:  # the difference of two scores might overflow
        return standardize(s / 4.0, eps, ranked)
    if not ranked and smallest_far_gap(np.sort(some_scores(s, low, high)) if v is None else v) == np.inf:
        return centred(s, low, high)
    return s.new_tensor(set_apart(s.cpu().numpy(), eps, ranked)) if tensor else set_apart(s, eps, ranked)


def centred(s: Any, low: float, high: float) -> Any:
    """(s - mean) / sigma of scores from low to high, none of which is set apart."""
    s, width = s - low, high - low
    if not 1e-100 < width < 1e100:  # squares of differences would overflow, or be lost
        s, width = s / width, 1.0
    s -= (s.sum() if hasattr(s, "cpu") else np.add.reduce(s)) / len(s)
    sigma = (float(s.dot(s)) / len(s)) ** 0.5
    s /= max(sigma, width / MAX_RANGE)
    return s


def some_scores(s: Any, low: float, high: float) -> FloatArray:
    """Every m-th score with the lowest and the highest; all scores if the sample has hardly any different ones."""
    some = s[:: 1 + (len(s) - 1) // SAMPLE_SIZE]
    values = np.append(some.cpu() if hasattr(s, "cpu") else some, [low, high])
    if len(some) < len(s) and np.unique(values).size <= 3:
        return np.asarray(s.cpu() if hasattr(s, "cpu") else s)
    return values


def smallest_far_gap(v: FloatArray) -> float:
    """The smallest far gap between sorted scores, inf if there is none. At least half of all gaps are not far."""
    gaps = v[1:] - v[:-1]
    gaps.sort()
    gaps = gaps[gaps.searchsorted(0.0, "right") :]
    first = max(0, gaps.size - 1 - max(2, gaps.size // 2))
    if gaps.size < 2 or gaps[-1] <= FAR_RATIO * gaps[first]:  # nearly always
        return np.inf
    far = gaps[1:] > np.where(np.arange(1, gaps.size) < 3, FAR_RATIO**2, FAR_RATIO) * np.cumsum(gaps[:-1])
    where = np.flatnonzero(far[first:])
    return float(gaps[1 + first + where[0]]) if where.size else np.inf


def set_apart(s: FloatArray, eps: float, ranked: bool) -> FloatArray:
    """Standardized scores, of which some may lie beyond far gaps.

    If the scores between the far gaps differ by no more than the rounding of float32, none is set apart: otherwise
    that rounding would be made as large as sigma.
    """
    order = np.argsort(s, kind="stable")
    v = s[order]
    gaps = np.diff(v)
    far = gaps >= smallest_far_gap(v)
    part = np.append(0, np.cumsum(far))
    core = part == np.bincount(part[1:], (gaps > 0.0) & ~far).argmax()  # the part with the most different scores
    low, high = float(v[core][0]), float(v[core][-1])
    if far.any() and (ranked or high - low > 8 * max(eps, EPS32) * max(-low, high) + TINIEST):
        per_unit = float(np.ptp(centred(v[core], low, high))) / (high - low)
        steps = np.where(far, 0.0, gaps) * min(per_unit, MAX_RANGE / gaps[~far].sum()) + GAPS_WIDTH / far.sum() * far
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
    """q of standardized scores, an array or a tensor."""
    factor = scale * min(0.5, 1.0 - diversity)
    if factor * 2 * MAX_RANGE > MAX_LOG_Q and len(z):
        factor = min(factor, MAX_LOG_Q / max(1.0, float(abs(z).max())))
    return (z * factor).exp() * 2**0.5 if hasattr(z, "exp") else np.exp(z * factor) * 2**0.5
