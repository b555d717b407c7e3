"""One knob from quality alone to similarity alone, the same for every decoder.

For diversity d in [0, 1] a decoder works on

    L_ij(d) = q_i^a S_ij(b) q_j^a,   a = min(1, 2 - 2 d),   b = min(1, 2 d),   S(b) = (1 - b) I + b S.

At 0, S(0) = I: items are ranked by quality alone. At 0.5 it is the model. At 1, q^0 = 1: similarity alone.
Every L(d) is positive semidefinite, so every decoder, the sampling ones too, has a DPP to work on. Above 0.5, with a
budget or a size limit, decoders that ask for the most probable set fill it: see `dpplearn.decoding.tilt.fill_tilt`.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from dpplearn._checks import FloatArray


def check_diversity(diversity: Any) -> float:
    """A number in [0, 1]."""
    number = type(diversity) is float or (isinstance(diversity, Real) and not isinstance(diversity, bool))
    if not (number and 0.0 <= diversity <= 1.0):
        raise ValueError(
            f"diversity must be a number from 0 (quality alone) to 1 (similarity alone), found {diversity!r}."
        )
    return float(diversity)


def exponents(diversity: float) -> tuple[float, float]:
    """a and b of the formula: the power of quality and the share of similarity."""
    return min(1.0, 2.0 - 2.0 * diversity), min(1.0, 2.0 * diversity)


def quality_power(q: FloatArray, a: float) -> FloatArray:
    """q^a, where an item without quality never gets any."""
    if a == 1.0:
        return q
    return np.where(q > 0.0, q, 1.0) ** a * (q > 0.0)


def diversified(L: FloatArray, diversity: float) -> FloatArray:
    """L(d) for a dense kernel.

    >>> diversified(np.array([[4.0, 1.0], [1.0, 1.0]]), 1.0)
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    a, b = exponents(diversity)
    if a == 1.0 == b:
        return L
    if a < 1.0:
        q = np.sqrt(np.maximum(L.diagonal(), 0.0))
        factor = np.where(q > 0.0, q, 1.0) ** (a - 1.0)
        scaled = np.asarray(factor[:, None] * L * factor)
        scaled.flat[:: len(L) + 1] = quality_power(q, a) ** 2  # exactly 1 at the end, so that ties are ties
        return scaled
    return mixed(L, b)


def mixed(L: FloatArray, b: float) -> FloatArray:
    """L with what is off the diagonal multiplied by b: S -> (1 - b) I + b S."""
    if b == 1.0:
        return L
    less = b * L
    less.flat[:: len(L) + 1] = L.diagonal()
    return less
