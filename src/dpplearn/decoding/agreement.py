"""How well one set agrees with the sets of a model, and the search for the set that agrees best.

Let a be the token counts of a set, and N those of a set drawn. Agreement is the F1 of their overlap in expectation,

    2 sum over t of E min(a_t, N_t) / (sum of a_t + sum of E N_t),      E min(a, N) = sum over j <= a of P(N >= j).

Where sets were drawn, P(N >= j) is the share of them with so many of a token. Else it comes from the model: N_t is the
sum over the items that hold t. For few items its distribution is exact, from all ways in which they may be in or out;
for many, it has the exact mean and variance,

    E N = sum of c_i K_ii,      Var N = sum of c_i^2 K_ii - sum of c_i c_j K_ij^2,

and the shape of a binomial, to which sums of independent flips, as every such N is, are near. So no seed changes the
answer, and the search costs what the tokens of the candidates cost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from dpplearn._checks import FloatArray, IntArray
from dpplearn._holders import as_csr, as_numbers
from dpplearn._run.stop import check_stop
from dpplearn.decoding.limits import BoolArray, Limits
from dpplearn.subsets import Subsets

PASSES = 100  # rounds of swaps; a few are enough, each raises the agreement
SAME = 1e-11  # rises that differ by less are equal: else rounding, and so a library's version, would decide
LEAST = 1e-9  # what a swap or a drop must raise the agreement by
MOST = 1000  # levels of a token in one item; more, or counts that are no multiples, are brought to GRID
GRID = 64


@dataclass(frozen=True, eq=False)
class CountAgreement:
    """Weighted sum of F1 in expectation, one part for each matrix of token counts."""

    parts: tuple[Any, ...]
    weights: FloatArray

    def best_addition(self, items: IntArray, free: BoolArray, price: FloatArray) -> tuple[int, float, float]:
        """The free item that raises it most for its price (-1 where none does), its value with it, and without."""
        from dpplearn.decoding._consensus_loops import best_addition

        i, reached, now = best_addition(self.parts, self.weights, items, free, price)
        return int(i), float(reached), float(now)


class MeanAgreement:
    """The mean over references of any function of two sets; with an empty set it is 0, and not asked for."""

    def __init__(self, function: Callable[[IntArray, IntArray], float], references: Subsets) -> None:
        self.function = function
        tally = references.counts()
        self.shares = [(np.array(Y, np.int64), count / len(references)) for Y, count in tally.items() if len(Y)]
        self.value = lru_cache(maxsize=None)(self._value)

    def best_addition(self, items: IntArray, free: BoolArray, price: FloatArray) -> tuple[int, float, float]:
        now = self.value(tuple(np.sort(items).tolist()))
        best, winner, reached = 0.0, -1, now
        for i in np.flatnonzero(free).tolist():
            value = self.value(tuple(sorted([*items.tolist(), i])))
            change = (value - now) / price[i]
            if change > best + SAME:
                best, winner, reached = change, i, value
        return winner, reached, now

    def _value(self, Y: tuple[int, ...]) -> float:
        total = 0.0
        for other, share in self.shares if Y else ():
            u = float(self.function(np.array(Y, np.int64), other.copy()))
            if not np.isfinite(u):
                raise ValueError(
                    f"utility must return finite numbers, but is {u} for the sets {list(Y)} and {other.tolist()}."
                )
            total += share * u
        return total


Agreement: TypeAlias = CountAgreement | MeanAgreement


def best_agreement(agreement: Agreement, limits: Limits, start: IntArray) -> tuple[IntArray, float]:
    """The best set, of equals the first, from as little as may be, without and with costs, and from another start."""
    least = [limits.include]
    if limits.quota is not None:  # and the cheapest items that each group must have
        order = np.argsort(limits.cost, kind="stable")
        order = order[limits.alive[order]]
        lacks = limits.quota.need - limits.quota.counts(limits.include)
        least += [order[limits.quota.group[order] == c][: lacks[c]] for c in np.flatnonzero(lacks > 0)]
    base = np.concatenate(least)
    starts = [(base, 0.0), (start, 0.0)] if limits.equal else [(base, 0.0), (base, 1.0), (start, 0.0)]
    return max((search(agreement, limits, *one) for one in starts), key=lambda run: round(run[1], 12))


def search(agreement: Agreement, limits: Limits, start: IntArray, power: float) -> tuple[IntArray, float]:
    """From `start`, add what raises agreement most for its cost^power; then swap, drop and add while that helps."""
    items, price = start.astype(np.int64), np.ones(limits.cost.size)
    i, reached, value = agreement.best_addition(items, joining(limits, items), limits.cost**power)
    while i >= 0:
        items, value = np.append(items, i), reached
        i, reached, _ = agreement.best_addition(items, joining(limits, items), limits.cost**power)
    for _ in range(PASSES):
        check_stop()
        changed, a = False, limits.include.size
        while a < items.size:
            others, j = np.delete(items, a), items[a]
            free = joining(limits, others)
            free[j] = False
            i, reached, without = agreement.best_addition(others, free, price)
            if i >= 0 and reached > value + LEAST:
                items[a], value, changed = i, reached, True
            elif without > value + LEAST and (limits.quota is None or limits.quota.owed(others) == 0):
                items[a] = items[-1]
                items, value, changed = items[:-1], without, True
                continue
            a += 1
        i, reached, _ = agreement.best_addition(items, joining(limits, items), price)
        while i >= 0 and reached > value + LEAST:
            items, value, changed = np.append(items, i), reached, True
            i, reached, _ = agreement.best_addition(items, joining(limits, items), price)
        if not changed:
            break
    return items, value


def joining(limits: Limits, items: IntArray) -> BoolArray:
    """Which items may join a set; where a group has too few, only one of those it lacks."""
    free = limits.free & (limits.cost <= limits.room - limits.cost[items].sum()) & (items.size < limits.k)
    free[items] = False
    if limits.quota is not None:
        counts = limits.quota.counts(items)
        lacks = counts < limits.quota.need
        free &= (lacks if lacks.any() else counts < limits.quota.most)[limits.quota.group]
    return np.asarray(free)


@dataclass(frozen=True, eq=False)
class CountUtility:
    """Clipped-overlap F1 of token-count matrices (n, vocabulary), each with its weight."""

    weights: tuple[float, ...]
    counts: tuple[Any, ...]

    def agreement(self, sets: FloatArray | Subsets, limits: Limits) -> CountAgreement:
        """With references, or with all sets that may be drawn: see `level_part`."""
        parts = tuple(level_part(C, sets, np.flatnonzero(limits.free), limits.include) for C in self.counts)
        return CountAgreement(parts, np.array(self.weights))


@dataclass(frozen=True, eq=False)
class SetUtility:
    """Any function of two sets, called for every candidate and every distinct reference."""

    function: Callable[[IntArray, IntArray], float]

    def agreement(self, sets: Any, limits: Limits) -> MeanAgreement:  # noqa: ARG002  # as that of counts
        """With references."""
        return MeanAgreement(self.function, sets)


def level_part(C: Any, sets: FloatArray | Subsets, rest: IntArray, include: IntArray) -> Any:
    """A matrix of counts as the loop reads it, for choices among the items `rest` beside `include`.

    The sets to agree with are references, or all that may be drawn with the marginal kernel K of `rest`.
    """
    from dpplearn.decoding._consensus_loops import LevelPart, fill_chance

    steps, unit = in_steps(C)
    (n, size), place = C.shape, np.full(C.shape[0], -1)
    place[rest] = np.arange(rest.size)
    indptr, tokens, taken = (x.astype(np.int64) for x in (steps.indptr, steps.indices, steps.data))
    row = np.repeat(np.arange(n), np.diff(indptr))
    held, sure = np.flatnonzero(place[row] >= 0), np.isin(row, include) if include.size else include
    base = np.bincount(tokens[sure], taken[sure], size).astype(np.int64)
    starts = ends_of(base + np.bincount(tokens[held], taken[held], size).astype(np.int64))
    totals = np.bincount(np.repeat(np.arange(n), np.diff(C.indptr)), C.data, n).astype(np.float64)  # of none, integers
    if isinstance(sets, Subsets):
        length = float(sets.inclusion_counts() @ totals) / len(sets)
        return LevelPart(indptr, tokens, taken, starts, shares(sets, steps, starts, unit), totals, length)
    narrow = np.uint16 if size <= 1 << 16 else np.int64  # numbers of two bytes are sorted without comparisons
    held = held[np.argsort(tokens[held].astype(narrow), kind="stable")]  # by token
    holders, chance = ends_of(np.bincount(tokens[held], minlength=size)), np.zeros(starts[-1])
    fill_chance(sets, holders, place[row[held]], taken[held], starts, base, unit, chance)
    length = float(totals[rest] @ sets.diagonal() + totals[include].sum())
    return LevelPart(indptr, tokens, taken, starts, chance, totals, length)


def shares(references: Subsets, steps: Any, starts: IntArray, unit: FloatArray) -> FloatArray:
    """The share of references that reach each level of a token, times the token's unit."""
    total = sparse.csr_array(references.to_sparse() @ steps)
    level = np.minimum(total.data.astype(np.int64), np.diff(starts)[total.indices])  # no choice reaches any above
    exact = np.bincount((starts[total.indices] + level - 1)[level > 0], minlength=starts[-1])
    reach = np.append(np.cumsum(exact[::-1])[::-1], 0)  # this level of its token, or any place after it
    token = np.repeat(np.arange(unit.size), np.diff(starts))
    return np.asarray(unit[token] * (reach[:-1] - reach[starts[token + 1]]) / len(references))


def ends_of(sizes: IntArray) -> IntArray:
    """Where each of some stretches ends, after a 0."""
    return np.append(0, np.cumsum(sizes))


def in_steps(C: Any) -> tuple[Any, FloatArray]:
    """Counts as whole numbers of a unit, which may differ by token; rounded to 1/64 of the largest where there is none.

    >>> steps, unit = in_steps(sparse.csr_array(np.array([[1.0, 0.5], [2.0, 1.5]])))
    >>> steps.toarray(), unit
    (array([[1., 1.],
           [2., 3.]]), array([1. , 0.5]))
    """
    if C.nnz and C.data.min() >= 1.0 and C.data.max() <= MOST and (C.data == np.round(C.data)).all():
        return C, np.ones(C.shape[1])
    columns = sparse.csc_array(C)
    columns.eliminate_zeros()
    token = np.repeat(np.arange(columns.shape[1]), np.diff(columns.indptr))
    largest, least = np.zeros(columns.shape[1]), np.full(columns.shape[1], np.inf)
    np.maximum.at(largest, token, columns.data)
    np.minimum.at(least, token, columns.data)

    def uneven(unit: FloatArray) -> Any:
        steps = columns.data / unit[token]
        off = np.zeros(unit.size, np.bool_)
        off[token[np.abs(steps - np.round(steps)) > 1e-9]] = True
        return off | (largest > MOST * unit)

    least[~np.isfinite(least)] = 1.0
    unit, left = largest / GRID, np.ones(least.size, np.bool_)
    for one in (np.ones(least.size), least, least / 2, least / 3, least / 4):  # the first of which all are multiples
        fit = left & ~uneven(one)
        unit[fit], left[fit] = one[fit], False
    columns.data = np.maximum(np.round(columns.data / unit[token]), 1.0)
    return sparse.csr_array(columns), unit


def check_utility(utility: Any, n: int) -> CountUtility | SetUtility:
    """Counts with one row per item, several of them with weights, or a function of two sets."""
    if utility is None:
        return CountUtility((1.0,), (sparse.eye_array(n, format="csr"),))
    if callable(utility):
        return SetUtility(utility)
    pairs = utility if is_weighted(utility) else [(1.0, utility)]
    weights = tuple(float(w) for w, _ in pairs)
    if not all(np.isfinite(w) and w >= 0.0 for w in weights) or sum(weights) <= 0.0:
        raise ValueError(f"utility must have weights that are not negative and not all 0, found {weights}.")
    return CountUtility(weights, tuple(check_counts(C, n) for _, C in pairs))


def is_weighted(utility: Any) -> bool:
    """Whether this is a list of (weight, counts) pairs and not a matrix written as lists."""
    return (
        isinstance(utility, list | tuple)
        and len(utility) > 0
        and all(isinstance(pair, tuple) and len(pair) == 2 and np.ndim(pair[0]) == 0 for pair in utility)
        and all(sparse.issparse(pair[1]) or np.ndim(pair[1]) == 2 for pair in utility)
    )


def check_counts(C: Any, n: int) -> Any:
    """A csr_array of counts, none negative, with n rows."""
    if not sparse.issparse(C):
        dense = as_numbers(C, "utility")
        if dense.ndim != 2:
            raise ValueError(
                "utility must be a token-count matrix (items x tokens), a list of (weight, counts), or a callable "
                f"of two sets; found {type(C).__name__} of {dense.ndim} dimensions."
            )
        C = sparse.csr_array(dense.astype(np.float64))
    counts = as_csr(C, "utility").astype(np.float64, copy=False)
    if counts.shape[0] != n:
        raise ValueError(f"utility must have one row of token counts per item ({n}), found {counts.shape[0]}.")
    if not np.isfinite(counts.data).all() or (counts.data < 0).any():
        raise ValueError("utility must hold token counts: finite numbers that are not negative.")
    return counts
