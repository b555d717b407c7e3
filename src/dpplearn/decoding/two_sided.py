"""Greedy choice and moves in a kernel that need not be symmetric, where gains may also rise.

Given the items Y chosen so far, adding i multiplies the probability by g_i = L_ii - L_iY L_Y^-1 L_Yi, as ever. But with
items that attract, g_i may grow with Y: no old gain is a bound, and a candidate without a gain stays one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpplearn._checks import FloatArray, IntArray
from dpplearn._linalg import safe_log
from dpplearn._loops.records import (
    DEPENDENT,
    FULL,
    IMPOSSIBLE,
    LOG,
    NO_GAIN,
    NO_ROOM,
    PROBABILITY,
    QUOTA,
    SIZE,
    Run,
    Wanted,
)
from dpplearn._precision import rounding
from dpplearn.operand import TwoSided


def greedy_two_sided(operand: TwoSided, wanted: Wanted, alive: Any) -> Run:
    """As `greedy_kernel` of `_loops/greedy.py`; O(n (d + t)) for the t-th item."""
    n, forced = operand.n, wanted.forced
    k = min(wanted.k, n)
    g = operand.diag.copy()
    reach = np.abs(g)  # and of what is taken from it: a gain that is small beside it is rounding
    rank = min(k, operand.right.shape[1])
    columns, rows = np.empty((n, rank)), np.empty((rank, n))  # L given Y is L - columns rows
    if forced.size:
        if operand.logdet(forced) == -np.inf:
            return Run(forced[:1], np.zeros(1), IMPOSSIBLE, 0)
        t = forced.size
        rows[:t] = operand.rows(forced)
        columns[:, :t] = np.linalg.solve(operand.block(forced).T, operand.columns(forced).T).T
        g -= np.einsum("is,si->i", columns[:, :t], rows[:t])
        reach += np.einsum("is,si->i", np.abs(columns[:, :t]), np.abs(rows[:t]))
    items, gains = forced.tolist(), gains_of_forced(operand, forced)
    spent = float(wanted.cost[forced].sum())
    end, dear, barred = FULL, 0, 0
    while len(items) < k:
        t = len(items)
        barred += leave(alive, wanted, items)
        far = (alive != 0) & (spent + wanted.cost > wanted.room)  # line 4: it will never fit again
        alive[far] = 0
        dear += int(far.sum())
        able = (alive != 0) & (g > rounding(t + 1) * reach) & (g > wanted.floor)
        if t == rank or not able.any():
            end = NO_ROOM if dear else QUOTA if barred else FULL
            if end == FULL and alive.any():
                end = DEPENDENT if wanted.floor < 0.0 else NO_GAIN
            break
        j = best(g, wanted, np.flatnonzero(able))
        column = operand.columns(np.array([j]))[:, 0] - columns[:, :t] @ rows[:t, j]
        row = operand.rows(np.array([j]))[0] - columns[j, :t] @ rows[:t]
        items.append(j)
        gains.append(float(g[j]))
        spent += float(wanted.cost[j])
        columns[:, t], rows[t] = column / g[j], row
        change = columns[:, t] * row
        g = g - change
        reach += np.abs(change)
    else:
        barred += leave(alive, wanted, items)
        end = SIZE if alive.any() else NO_ROOM if dear else QUOTA if barred else FULL
    return Run(np.array(items, np.int64), np.array(gains), end, 0)


def leave(alive: Any, wanted: Wanted, items: list[int]) -> int:
    """Take from the candidates what is chosen, and what that excludes; returns how many are the latter."""
    alive[items] = 0
    if not wanted.group.size:
        return 0
    rivals = (alive != 0) & np.isin(wanted.group, wanted.group[items])
    alive[rivals] = 0
    return int(rivals.sum())


def gains_of_forced(operand: TwoSided, forced: IntArray) -> list[float]:
    """What each multiplied the probability by, in this order; an equal share where one does it only with another."""
    sizes = np.arange(forced.size + 1)
    logs = operand.logdets(np.append(0, np.cumsum(sizes)), np.concatenate([forced[:t] for t in sizes]))
    if logs.min() == -np.inf:
        return [float(np.exp(logs[-1] / forced.size))] * forced.size
    return np.exp(np.diff(logs)).tolist()


def best(g: FloatArray, wanted: Wanted, who: IntArray) -> int:
    """The candidate with the highest score: see `score` of `_loops/greedy.py`."""
    gain, weight = g[who], wanted.weight[who]
    if wanted.rule == PROBABILITY:
        score = (gain - 1.0) / weight
    else:
        x = np.log(gain)
        score = np.where((x >= 0.0) | (wanted.rule == LOG), x / weight, x)
    first = np.flatnonzero(score == score.max())
    tie = gain if wanted.rule == PROBABILITY else -wanted.cost[who]
    return int(who[first[tie[first].argmax()]])


def log_factors(operand: TwoSided, Y: IntArray) -> FloatArray:
    """log of what adding i and dropping Y[j] multiplies the probability by; row n adds none, column |Y| drops none.

    With M = L_Y^-1: add g_i, drop M_jj, swap g_i M_jj + (L_iY M)_j (M L_Yi)_j.
    """
    n, size = operand.n, Y.size
    factor = np.ones((n + 1, size + 1))
    factor[:n, size] = operand.diag
    reach = np.abs(operand.diag)
    if size:
        M = np.linalg.inv(operand.block(Y))
        left, rows = operand.columns(Y) @ M, operand.rows(Y)
        change = np.einsum("is,si->i", left, rows)
        factor[:n, size] -= change
        reach = reach + np.abs(change)
        factor[n, :size] = M.diagonal()
        factor[:n, :size] = np.outer(factor[:n, size], factor[n, :size]) + left * (M @ rows).T
    factor[:n, size][factor[:n, size] <= rounding(size + 1) * reach] = 0.0
    return safe_log(np.maximum(factor, 0.0))
