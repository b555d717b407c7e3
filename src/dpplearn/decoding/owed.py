"""Items that meet min_per_group where none may be a linear combination of others: two matroids at once.

Sets of independent rows are the one matroid, sets with at most so many items of each group the other. The cheapest set
that is in both and has all that is owed is found by shortest augmenting paths (Lawler, 1975), and is found whenever
there is one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpplearn._checks import FloatArray, IntArray
from dpplearn._linalg import to_dense
from dpplearn._precision import row_rounding
from dpplearn.decoding.candidates import Directed
from dpplearn.decoding.limits import Limits
from dpplearn.operand import ROWS

MARGIN = 64.0  # times what rounding leaves of a row that is dependent, so that greedy choice agrees


def cheapest_owed(directed: Directed, limits: Limits) -> IntArray:
    """The cheapest items that give every group what it is owed beside those to include, independent of these and each
    other; without a budget, those of the highest quality. An error says that there are none."""
    groups = limits.groups
    assert groups is not None
    quota, inside = groups.quota, groups.counts(limits.include)
    need = np.maximum(quota.need - inside, 0)
    price = limits.cost if limits.budget < np.inf else -np.log(directed.q)
    least = row_rounding(directed.rows.dtype, directed.rows.shape[1], limits.k) * MARGIN
    taken = directions(unit(directed, limits.include), least)
    items, rows, owners = [np.empty(0, np.int64)], [np.empty((0, directed.rows.shape[1]))], [np.empty(0, np.int64)]
    for c in np.flatnonzero(need):
        inside_c = np.setdiff1d(quota.order[quota.starts[c] : quota.starts[c + 1]], limits.include)
        inside_c = inside_c[np.argsort(price[inside_c], kind="stable")]
        some = inside_c[directed.lengths[inside_c] > 0.0]
        kept = some[:0]  # a dearer item that depends on cheaper ones of its group can be replaced by one of them
        for low in range(0, some.size, ROWS):
            both = np.concatenate([kept, some[low : low + ROWS]])
            kept = both[first_independent(without(unit(directed, both), taken), least)]
        free = inside_c[directed.lengths[inside_c] == 0.0][: need[c]]  # a row of zeros depends on nothing
        items += [kept, free]
        rows += [without(unit(directed, kept), taken), unit(directed, free)]
        owners.append(np.full(kept.size + free.size, c))
    candidates, group = np.concatenate(items), np.concatenate(owners)
    chosen = common_set(np.concatenate(rows), least, group, need, price[candidates])
    missing = need - np.bincount(group[chosen], minlength=need.size)
    found = candidates[chosen]
    if missing.any() or limits.cost[limits.include].sum() + limits.cost[found].sum() > limits.room:
        name = groups.names[int(missing.argmax() if missing.any() else need.argmax())]
        within = "" if missing.any() else f" within the budget of {limits.budget:g}"
        raise ValueError(
            f"min_per_group cannot be met{within}: too few items of group {name!r} are independent of each other and "
            "of those that must be chosen. Ask for fewer, or pass a nugget above 0, which allows all."
        )
    return found


def unit(directed: Directed, items: IntArray) -> FloatArray:
    """Rows of length 1, and those of zeros as they are."""
    lengths = directed.lengths[items]
    rows = to_dense(directed.rows[items]).astype(np.float64)
    return np.asarray(rows / np.where(lengths > 0.0, lengths, 1.0)[:, None])


def without(rows: FloatArray, Q: FloatArray) -> FloatArray:
    """Rows without their part in the span of the orthonormal rows Q; twice, so that rounding leaves none."""
    for _ in range(2):
        rows = rows - (rows @ Q.T) @ Q
    return rows


def first_independent(rows: FloatArray, least: float) -> IntArray:
    """The rows that are no linear combination of those before them."""
    kept: list[int] = []
    left, Q = rows, np.empty((0, rows.shape[1]))
    while (more := np.flatnonzero(np.einsum("ij,ij->i", left, left) > least)).size:
        kept.append(int(more[0]))
        Q = directions(np.vstack([Q, rows[more[0]]]), 0.0)
        left = without(left, Q[-1:])
        left[: more[0] + 1] = 0.0
    return np.array(kept, np.int64)


def directions(rows: FloatArray, least: float) -> FloatArray:
    """Orthonormal rows of the same span."""
    Q = np.empty((0, rows.shape[1]))
    for row in rows:
        left = without(row[None], Q)
        if float(left[0] @ left[0]) > least:
            Q = np.vstack([Q, left / np.linalg.norm(left)])
    return Q


def common_set(rows: FloatArray, least: float, group: IntArray, need: IntArray, price: FloatArray) -> IntArray:
    """The largest set of independent rows with at most need_c of each group c, and of those the cheapest.

    From a cheapest set of some size, the shortest path of exchanges leads to a cheapest one of the next.
    """
    n, zero = len(rows), ~rows.any(axis=1)
    chosen = np.zeros(n, np.bool_)

    def may_join(S: Any) -> Any:
        """Which rows are independent of S."""
        left = without(rows, directions(rows[S], least))
        return (np.einsum("ij,ij->i", left, left) > least) | zero

    while True:
        S = np.flatnonzero(chosen)
        counts = np.bincount(group[S], minlength=need.size)
        first, last = may_join(S) & ~chosen, (counts < need)[group] & ~chosen
        arcs = np.zeros((n, n), np.bool_)  # S - y + x is independent: y -> x; it is within the groups: x -> y
        for y in S:
            arcs[y] = may_join(S[y != S]) & ~chosen
            arcs[:, y] = ((counts < need)[group] | (group == group[y])) & ~chosen
        path = shortest(arcs, np.where(chosen, -price, price), first, last)
        if not path:
            return S
        chosen[path] ^= True


def shortest(arcs: Any, weight: FloatArray, first: Any, last: Any) -> list[int]:
    """The path of least weight, and of those one of the fewest steps, from `first` to `last`; empty where none is."""
    n = weight.size
    before, slack = np.full(n, -1), 1e-9 * (1.0 + float(np.abs(weight).sum()))
    total, steps = np.where(first, weight, np.inf), np.where(first, 0, n)
    for _ in range(n):
        changed = False
        for i in np.flatnonzero(total < np.inf):
            new = total[i] + weight
            better = (new < total - slack) | ((new <= total + slack) & (steps[i] + 1 < steps))
            better &= arcs[i]
            if better.any():
                total[better], steps[better], before[better], changed = new[better], steps[i] + 1, i, True
        if not changed:
            break
    ends = np.flatnonzero(last & (total < np.inf))
    if not ends.size:
        return []
    ends = ends[total[ends] <= total[ends].min() + slack]
    best = ends[steps[ends].argmin()]
    path = [int(best)]
    while before[path[-1]] >= 0:
        path.append(int(before[path[-1]]))
    return path
