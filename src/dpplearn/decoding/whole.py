"""Sets that were found as a whole, put in order."""

from __future__ import annotations

import numpy as np

from dpplearn._checks import IntArray
from dpplearn.decoding.greedy import LOG, Run, greedy_run
from dpplearn.decoding.ground import Ground, Kernel
from dpplearn.decoding.limits import Limits
from dpplearn.decoding.selection import Selection
from dpplearn.dpp import DPP


def as_found(ground: Ground, limits: Limits, Y: IntArray, reason: str) -> Selection:
    """A Selection of a set that was found as a whole: items to include first, then by gain."""
    block = Kernel(DPP._of(ground.block(Y), None, np.arange(Y.size)), 0.5) if Y.size else None
    if block is None:
        return Selection(Y, 0.0, np.empty(0), reason, ground.log_prob)
    inside = Limits(
        np.ones(Y.size), np.inf, Y.size, np.searchsorted(Y, limits.include), np.empty(0, np.int64), False, 1.0
    )
    run: Run = greedy_run(block, inside, LOG, 0.0, 0.0, -np.inf)
    if run.items.size < Y.size:  # diversity apart, a set of probability 0 has no gains to order it by
        rest = np.setdiff1d(np.arange(Y.size), run.items)
        run = Run(np.append(run.items, rest), np.append(run.gains, np.zeros(rest.size)), run.end)
    with np.errstate(divide="ignore"):
        gains = np.log(np.maximum(run.gains, 0.0))
    return Selection(Y[run.items], limits.total(Y), gains, reason, ground.log_prob)
