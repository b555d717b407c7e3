"""Greedy choice in a kernel that need not be symmetric, where gains may also rise.

Given the items Y chosen so far, adding i multiplies the probability by g_i = L_ii - L_iY L_Y^-1 L_Yi, as ever. But with
items that attract, g_i may grow with Y: no old gain is a bound, and a candidate without a gain stays one.
"""

from __future__ import annotations

import numpy as np

from dpplearn._checks import IntArray
from dpplearn._precision import rounding
from dpplearn.decoding.engine import Rule, Run
from dpplearn.decoding.limits import End, Limits, Remaining, why_ended
from dpplearn.operand import TwoSided


def greedy_nonsymmetric(operand: TwoSided, limits: Limits, rule: Rule, floor: float) -> Run:
    """As `GreedyRun`, for items that may attract each other; O(n (d + t)) for the t-th item."""
    n, forced = operand.n, limits.include
    k = min(limits.k, n)
    g = operand.diag.copy()
    reach = np.abs(g)  # and of what is taken from it: a gain that is small beside it is rounding
    rank = min(k, operand.right.shape[1])
    columns, rows = np.empty((n, rank)), np.empty((rank, n))  # L given Y is L - columns rows
    if forced.size:
        if operand.logdet(forced) == -np.inf:
            return Run(forced[:1], np.zeros(1), End.IMPOSSIBLE)
        t = forced.size
        rows[:t] = operand.rows(forced)
        columns[:, :t] = np.linalg.solve(operand.block(forced).T, operand.columns(forced).T).T
        g -= np.einsum("is,si->i", columns[:, :t], rows[:t])
        reach += np.einsum("is,si->i", np.abs(columns[:, :t]), np.abs(rows[:t]))
    items, gains = forced.tolist(), gains_of_forced(operand, forced)
    left, alive = Remaining(limits, forced), limits.alive.copy()
    while len(items) < k:
        t = len(items)
        able = alive & left.allows(np.arange(n)) & (g > rounding(t + 1) * reach) & (g > floor)
        if t == rank or not able.any():
            break
        who = np.flatnonzero(able)
        j = rule.best(g[who], who)[2]
        column = operand.columns(np.array([j]))[:, 0] - columns[:, :t] @ rows[:t, j]
        row = operand.rows(np.array([j]))[0] - columns[j, :t] @ rows[:t]
        items.append(j)
        gains.append(float(g[j]))
        alive[j] = False
        left.take(j)
        columns[:, t], rows[t] = column / g[j], row
        change = columns[:, t] * row
        g = g - change
        reach += np.abs(change)
    none = End.ALONE if floor < 0.0 else End.GAIN
    return Run(np.array(items, np.int64), np.array(gains), why_ended(limits, items, none))


def gains_of_forced(operand: TwoSided, forced: IntArray) -> list[float]:
    """What each multiplied the probability by, in this order; an equal share where one does it only with another."""
    sizes = np.arange(forced.size + 1)
    logs = operand.logdets(np.append(0, np.cumsum(sizes)), np.concatenate([forced[:t] for t in sizes]))
    if logs.min() == -np.inf:
        return [float(np.exp(logs[-1] / forced.size))] * forced.size
    return np.exp(np.diff(logs)).tolist()
