"""Local search: improves a set by adding, dropping or swapping one item at a time."""

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

LEAST_GAIN = 1e-9  # an improvement raises the log-probability by more


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
        A set within the limits; by default that of `greedy_map`. The result is never less probable. A start of
        probability 0 first loses the items that are linear combinations of others.
    min_cost : float
        No drop or swap takes the cost below this. If qualities are below 1, dropping an item always raises the
        probability; `min_cost` then keeps a set that fills the budget.

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
    """`local_search` for candidates and limits that are already checked."""
    low = check_number(min_cost, "min_cost", 0.0)
    aim = replace(candidates, tilt=fill_tilt(candidates, limits))
    if start is None:
        if reason := limits.empty_reason():
            return Selection.nothing(reason, candidates.log_prob)
        Y = np.sort(greedy_run(aim, limits, -np.inf if limits.bounded else 1.0).items)
    else:
        Y = check_subset(getattr(start, "subset", start), candidates.n, "start")
        if not limits.meets(Y) or np.setdiff1d(limits.include, Y).size or np.intersect1d(limits.exclude, Y).size:
            found = f"{Y.size} items that cost {limits.total(Y):g}"
            raise ValueError(
                f"start must be within all limits (budget {limits.budget:g}, k {limits.k}), found {found}."
            )
    Y, reason = improve(aim, limits, Y, low)
    return in_order(candidates, limits, Y, reason)


def independent(candidates: Candidates, limits: Limits, Y: IntArray) -> IntArray:
    """Y without the items that are linear combinations of others in it."""
    if candidates.operand.logdet(Y) > -np.inf:
        return Y
    if candidates.operand.logdet(limits.include) == -np.inf:
        raise impossible(include=limits.include)
    ordered = in_order(candidates, limits, Y, "")
    kept = ordered.subset[ordered.gains > -np.inf]
    while candidates.operand.logdet(np.sort(kept)) == -np.inf:  # a dependent item may have a gain by rounding
        kept = kept[:-1]
    return np.sort(kept)


def improve(
    candidates: Candidates, limits: Limits, Y: IntArray, min_cost: float, end: float = np.inf
) -> tuple[IntArray, str]:
    """Steepest ascent from Y, until no move helps or the clock shows `end`; the set, and why the search ended.

    A nearly singular L_Y makes the gains of moves inexact. So a move counts only if log det L_Y, computed anew, rises
    by more than LEAST_GAIN. As this depends only on the set, no set comes twice.
    """
    Y = independent(candidates, limits, Y)
    value = candidates.operand.logdet(Y)
    while time.perf_counter() < end:
        gains = moves(candidates, limits, Y, min_cost).ravel()
        hopeful = np.flatnonzero(gains > LEAST_GAIN)
        for move in hopeful[np.argsort(-gains[hopeful], kind="stable")]:
            i, j = divmod(int(move), Y.size + 1)
            Z = np.delete(Y, j) if j < Y.size else Y
            Z = np.sort(np.append(Z, i)) if i < candidates.n else Z
            reached = candidates.operand.logdet(Z)
            if reached > value + LEAST_GAIN:
                Y, value = Z, reached
                break
        else:
            return Y, "no move improves it"
    return Y, "the time is over"


def moves(candidates: Candidates, limits: Limits, Y: IntArray, min_cost: float) -> FloatArray:
    """Gain in log-probability of adding item i and dropping Y[j]. Row n adds nothing, column |Y| drops nothing."""
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
    """Which moves keep the quotas: no group gets too many items, and none with too few loses one."""
    counts, into, out = limits.counts(Y), limits.group, limits.group[Y]
    full, bare = counts >= limits.most, counts <= limits.need
    same = np.append(into, -1)[:, None] == np.append(out, -2)
    adds, drops = np.append(full[into], False)[:, None], np.append(bare[out], False)
    return np.asarray(same | ~(adds | drops))


def log_factors(operand: Operand | TwoSided, Y: IntArray) -> FloatArray:
    """log of the factor by which each move changes the probability; with M = L_Y^-1

        add g_i,      drop M_jj,      swap g_i M_jj + (L_iY M)_j (M L_Yi)_j.

    Rows and columns of L are divided by r, so that small qualities lose no digits.
    """
    n, size = operand.n, Y.size
    r = np.sqrt(np.where(operand.diag > 0.0, operand.diag, 1.0))
    g = operand.diag / r**2
    reach = np.abs(g)  # sum of the sizes of all terms of g: a gain that is small beside it is rounding
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
