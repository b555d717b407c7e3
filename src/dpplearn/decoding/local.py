"""Improve a set by one item at a time: add, drop, swap."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpplearn._checks import FloatArray, IntArray, check_subset
from dpplearn._linalg import safe_log
from dpplearn._precision import rounding
from dpplearn.decoding.candidates import Candidates, Model, read_model
from dpplearn.decoding.greedy import greedy_run, in_order
from dpplearn.decoding.limits import BoolArray, Bound, Limits, check_limits, check_number, fits, reaches
from dpplearn.decoding.selection import Selection
from dpplearn.decoding.tilt import fill_tilt
from dpplearn.minors import TwoSided
from dpplearn.operand import Operand
from dpplearn.process import impossible

LEAST_GAIN = 1e-9  # gain in log-probability that counts as an improvement
TRIES = 64  # moves to recompute in one step, the most hopeful first


def local_search(
    dpp: Model,
    cost: ArrayLike | None = None,
    budget: float | None = None,
    *,
    start: Any = None,
    k: int | None = None,
    min_cost: float = 0.0,
    include: ArrayLike = (),
    exclude: ArrayLike = (),
    groups: ArrayLike | None = None,
    max_per_group: Bound | None = None,
    min_per_group: Bound | None = None,
    diversity: float = 0.5,
) -> Selection:
    """Add, drop or swap the item that raises the probability most, until no such move does.

    With M = L_Y^-1, w_i = M L_Yi and g_i = L_ii - L_iY w_i, the moves multiply the probability by

        add i: g_i,      drop j: M_jj,      swap j for i: g_i M_jj + w_ij^2,

    so that all of them cost O(n k^2) together. A move is made only where log det L_Y, computed anew, rises by it.

    Parameters
    ----------
    dpp, cost, budget, k, include, exclude, groups, max_per_group, min_per_group, diversity
        As in `greedy_map`. Above diversity 0.5 a set is to fill budget or k: see `dpplearn.decoding.tilt.fill_tilt`.
    start : array of item numbers or Selection, optional
        A feasible set; by default what `greedy_map` finds. The result is never less probable. A start of
        probability 0 first loses the items that are linear combinations of others.
    min_cost : float
        No drop or swap takes the cost below this. Where qualities are below 1, dropping an item always raises
        the probability; with `min_cost` the search improves a set that fills the budget.

    Returns
    -------
    Selection

    Examples
    --------
    >>> from dpplearn import DPP
    >>> dpp = DPP([[3.0, 2.9, 0.0], [2.9, 4.0, 0.0], [0.0, 0.0, 2.0]])
    >>> local_search(dpp, k=2, start=[0, 1]).sorted_subset
    array([1, 2])
    """
    candidates = read_model(dpp, diversity, nonsymmetric=True)
    limits = check_limits(candidates.n, cost, budget, k, include, exclude, groups, max_per_group, min_per_group)
    return local_choice(candidates, limits, start, min_cost)


def local_choice(candidates: Candidates, limits: Limits, start: Any = None, min_cost: float = 0.0) -> Selection:
    """What `local_search` finds."""
    low = check_number(min_cost, "min_cost", 0.0)
    aim = replace(candidates, tilt=fill_tilt(candidates, limits))
    if start is None:
        reason = limits.empty_reason()
        if reason:
            return Selection.nothing(reason, candidates.log_prob)
        Y = np.sort(greedy_run(aim, limits, -np.inf if limits.bounded else 1.0).items)
    else:
        Y = check_subset(getattr(start, "subset", start), candidates.n, "start")
        if not limits.meets(Y) or np.setdiff1d(limits.include, Y).size or np.intersect1d(limits.exclude, Y).size:
            raise ValueError(
                f"start must fit the budget ({limits.budget:g}), k ({limits.k}) and the quotas, and hold include and "
                f"not exclude. It has {Y.size} items that cost {limits.total(Y):g}."
            )
    Y, reason = improve(aim, limits, Y, low)
    return in_order(candidates, limits, Y, reason)


def independent(candidates: Candidates, limits: Limits, Y: IntArray) -> IntArray:
    """Y without the items that are linear combinations of others in it."""
    if candidates.operand.logdet(Y) > -np.inf:
        return Y
    if candidates.operand.logdet(limits.include) == -np.inf:
        raise impossible(include=limits.include)
    found = in_order(candidates, limits, Y, "")
    kept = found.subset[found.gains > -np.inf]
    while candidates.operand.logdet(np.sort(kept)) == -np.inf:  # rounding may leave a gain to an item that is dependent
        kept = kept[:-1]
    return np.sort(kept)


def improve(
    candidates: Candidates, limits: Limits, Y: IntArray, min_cost: float, end: float = np.inf
) -> tuple[IntArray, str]:
    """Steepest ascent from Y, until no move helps or the clock shows `end`; and why it ended.

    The gains of moves come from a factor that a nearly singular L_Y makes inexact. So a move counts only where
    log det L_Y, computed anew, rises by more than LEAST_GAIN: it is a function of the set, and none comes twice.
    """
    Y = independent(candidates, limits, Y)
    value = candidates.operand.logdet(Y)
    while time.perf_counter() < end:
        gains = moves(candidates, limits, Y, min_cost).ravel()
        hopeful = np.flatnonzero(gains > LEAST_GAIN)
        for move in hopeful[np.argsort(-gains[hopeful], kind="stable")[:TRIES]]:
            i, j = divmod(int(move), Y.size + 1)
            Z = np.delete(Y, j) if j < Y.size else Y
            Z = np.sort(np.append(Z, i)) if i < candidates.n else Z
            reached = candidates.operand.logdet(Z)
            if reached > value + LEAST_GAIN:
                Y, value = Z, reached
                break
        else:
            few = hopeful.size <= TRIES
            return Y, "no move improves it" if few else f"none of the {TRIES} most hopeful moves improves it"
    return Y, "the time is over"


def moves(candidates: Candidates, limits: Limits, Y: IntArray, min_cost: float) -> FloatArray:
    """Gain in log-probability of adding i and dropping Y[j]; row n adds none, column |Y| drops none."""
    gains = log_factors(candidates.operand, Y)
    total = float(limits.cost[Y].sum())
    after = total + np.append(limits.cost, 0.0)[:, None] - np.append(limits.cost[Y], 0.0)
    gains[~(fits(after, limits.budget) & reaches(after, min(min_cost, total)))] = -np.inf
    gains[np.append(~limits.alive, False)] = -np.inf
    gains[Y] = -np.inf
    if limits.names:
        gains[~within_quotas(limits, Y)] = -np.inf
    gains[:, np.append(np.isin(Y, limits.include), False)] = -np.inf
    if Y.size >= limits.k:
        gains[:-1, Y.size] = -np.inf
    return gains


def within_quotas(limits: Limits, Y: IntArray) -> BoolArray:
    """Which moves leave every group with no more items than it may have, and no fewer than it must, or has."""
    counts, into, out = limits.counts(Y), limits.group, limits.group[Y]
    full, bare = counts >= limits.most, counts <= limits.need
    same = np.append(into, -1)[:, None] == np.append(out, -2)
    adds, drops = np.append(full[into], False)[:, None], np.append(bare[out], False)
    return np.asarray(same | ~(adds | drops))


def log_factors(operand: Operand | TwoSided, Y: IntArray) -> FloatArray:
    """log of what each move multiplies the probability by, with rows and columns divided by r: no quality loses digits.

    With M = L_Y^-1: add g_i, drop M_jj, swap g_i M_jj + (L_iY M)_j (M L_Yi)_j.
    """
    n, size = operand.n, Y.size
    r = np.sqrt(np.where(operand.diag > 0.0, operand.diag, 1.0))
    g = operand.diag / r**2
    reach = np.abs(g)  # and of what is taken from it: a gain that is small beside it is rounding
    factor = np.ones((n + 1, size + 1))
    if size:
        columns = operand.columns(Y) / r[:, None] / r[Y]
        rows = operand.rows(Y) / r[Y, None] / r if isinstance(operand, TwoSided) else columns.T
        M = np.linalg.inv(operand.block(Y) / r[Y, None] / r[Y])
        left = columns @ M
        change = np.einsum("is,si->i", left, rows)
        g, reach = g - change, reach + np.abs(change)
        g[g <= rounding(size + 1) * reach] = 0.0
        factor[n, :size] = M.diagonal()
        factor[:n, :size] = np.outer(g, factor[n, :size]) + left * (M @ rows).T
    factor[:n, size] = g
    factor[factor <= rounding(size + 1)] = 0.0
    return safe_log(factor) + 2.0 * np.log(np.append(r, 1.0)[:, None] / np.append(r[Y], 1.0))
