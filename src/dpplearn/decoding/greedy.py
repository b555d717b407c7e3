"""Algorithm 2 of the paper: add the item with the largest gain for its cost, until nothing fits."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from dpplearn._checks import FloatArray, IntArray, check_choice
from dpplearn.decoding.ground import Ground, Kernel, Model, read_model
from dpplearn.decoding.limits import Limits, check_limits
from dpplearn.decoding.selection import Selection

PROBABILITY, LOG, SIGNED = 0, 1, 2  # as in _loops.greedy


class Run(NamedTuple):
    """Items in order, the gain g of each (a factor of the probability), and the code of the end."""

    items: IntArray
    gains: FloatArray
    end: int


def greedy_map(
    dpp: Model,
    cost: ArrayLike | None = None,
    budget: float | None = None,
    *,
    k: int | None = None,
    gain: str = "auto",
    cost_power: float | None = None,
    stop: str | None = None,
    include: ArrayLike = (),
    exclude: ArrayLike = (),
    diversity: float = 0.5,
) -> Selection:
    ground = read_model(dpp, diversity)
    limits = check_limits(ground.n, cost, budget, k, include, exclude)
    check_choice(gain, "gain", ("auto", "probability", "log"))
    if stop is not None:
        check_choice(stop, "stop", ("no-gain", "full"))
    power = check_power(cost_power)
    reason = limits.empty_reason()
    if reason:
        return Selection(np.empty(0, np.int64), 0.0, np.empty(0), reason, ground.log_prob)
    only_gains = stop == "no-gain" or (stop is None and not limits.bounded)
    floor = 1.0 if only_gains else -np.inf
    if gain == "auto":
        run = greedy_auto(ground, limits, power, floor)
    else:
        rule = PROBABILITY if gain == "probability" else LOG
        run = greedy_run(ground, limits, rule, 1.0 if power is None else power, 0.0, floor)
    return as_selection(ground, limits, run)


def check_power(cost_power: Any) -> float | None:
    """A finite number that is not negative, or None."""
    if cost_power is None:
        return None
    power = float(cost_power)
    if not (np.isfinite(power) and power >= 0.0):
        raise ValueError(f"cost_power must be a number that is not negative, found {cost_power!r}.")
    return power


def greedy_auto(ground: Ground, limits: Limits, power: float | None, floor: float) -> Run:
    return greedy_run(ground, limits, SIGNED, 0.5 if power is None else power, 0.0, floor)


def greedy_run(ground: Ground, limits: Limits, rule: int, power: float, tilt: float, floor: float) -> Run:
    """One greedy pass with gains divided by cost^power, on a kernel scaled by e^tilt."""
    from dpplearn._loops.greedy import greedy_kernel, greedy_rows

    weight = np.ones(ground.n) if power == 0.0 else limits.cost if power == 1.0 else limits.cost**power
    rest = (limits.cost, weight, rule, float(tilt), floor, limits.budget, limits.k, limits.include, limits.alive.copy())
    if isinstance(ground, Kernel):
        return Run(*greedy_kernel(ground.L, *rest))
    rows = ground.rows
    d = rows.shape[1]
    double = rows.dtype == np.float64
    noise = (d + 8 * min(limits.k, d)) * np.finfo(np.float64).eps if double else 32 * np.finfo(np.float32).eps
    none = np.empty(0, np.int64)
    if sparse.issparse(rows):
        parts = (np.empty((0, 0), rows.dtype), rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data)
    else:
        parts = (rows, none, none, np.empty(0, rows.dtype))
    return Run(*greedy_rows(*parts, d, ground.scale, ground.diag, ground.own, *rest, float(noise)))


def as_selection(ground: Ground, limits: Limits, run: Run) -> Selection:
    if run.gains.size and run.gains[-1] <= 0.0 or (run.end == 4 and run.items.size <= limits.include.size):
        raise ValueError(
            f"include={limits.include.tolist()} has probability 0: some of its items are linear combinations of others. "
            "Include fewer of them."
        )
    return Selection(
        run.items, limits.total(run.items), np.log(run.gains), describe(ground, limits, run), ground.log_prob
    )


def describe(ground: Ground, limits: Limits, run: Run) -> str:
    """Why the run ended, in words."""
    if run.end == 1:
        return f"the size limit of {limits.k} items is reached"
    if run.end == 2:
        left = limits.budget - limits.total(run.items)
        return f"no other candidate fits what is left of the budget ({left:g} of {limits.budget:g})"
    if run.end == 3:
        return "no other candidate has a gain"
    if run.end == 4:
        return (
            f"every other candidate has gain 0, being a linear combination of the {run.items.size} chosen: "
            "the kernel's rank is reached"
        )
    return "every candidate is chosen"
