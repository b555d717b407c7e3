"""Why a decoder that asks for the most probable set does not answer "none" where similarity alone counts."""

from __future__ import annotations

import numpy as np

from dpplearn.decoding.greedy import MARGIN, greedy_auto
from dpplearn.decoding.ground import Ground
from dpplearn.decoding.limits import Limits

MOST = 500.0  # e^s stays a float


def fill_tilt(ground: Ground, limits: Limits) -> float:
    """The s for which sets that fill the budget are the most probable under e^s L(d), where diversity d > 0.5.

    Up to 0.5 the qualities are the model's, and so is the answer to how many items are worth choosing: s = 0. Above,
    q^a loses that scale (at 1 every gain is at most 1, and the most probable set is empty), and with a budget or a
    size limit sets are compared by log det L_Y(d) + s |Y|. With equal costs, s is so large that a set of more
    items always comes first: by Hadamard, fewer than the m that greedy reaches are worth at most the sum of the
    largest log L_ii. Otherwise s is that of `greedy_map`: each item of its set multiplies the probability by 2 or more.
    """
    if ground.diversity <= 0.5 or not limits.bounded:
        return 0.0
    logs = np.log(greedy_auto(ground, limits, None, -np.inf).gains[limits.include.size :])
    if logs.size == 0:
        return 0.0
    if limits.equal:
        largest = np.sort(np.log(np.maximum(ground.diag, 1.0)))[-logs.size :]
        return min(MOST, MARGIN + max(0.0, float(largest.sum() - logs.sum())))
    return 0.0 if logs.min() >= 0.0 else min(MOST, MARGIN - float(logs.min()))
