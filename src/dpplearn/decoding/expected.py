"""Agreement with all sets that a DPP may draw, weighted by their probability: expected token counts instead of samples.

Let a be the token counts of a set, and N those of a set drawn. Agreement is the F1 of their overlap in expectation,

    2 sum over t of E min(a_t, N_t) / (sum of a_t + sum of E N_t),      E min(a, N) = sum over j <= a of P(N >= j).

N_t is the sum over the items that hold t. For few items its distribution is exact, from all ways in which they may be
in or out; for many, it has the exact mean and variance,

    E N = sum of c_i K_ii,      Var N = sum of c_i^2 K_ii - sum of c_i c_j K_ij^2,

and the shape of a binomial, to which sums of independent flips, as every such N is, are near. So no seed changes the
answer, and the search costs what the tokens of the candidates cost.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from dpplearn._checks import FloatArray, IntArray
from dpplearn._loops.records import LevelPart

MOST = 1000  # levels of a token in one item; more, or counts that are no multiples, are brought to GRID
GRID = 64


def level_part(C: Any, K: FloatArray, rest: IntArray, include: IntArray) -> LevelPart:
    """A matrix of counts as the loop reads it. K is the marginal kernel of the items `rest`; `include` are certain."""
    from dpplearn._loops.levels import fill_chance

    steps, unit = in_steps(C)
    (n, size), place = C.shape, np.full(C.shape[0], -1)
    place[rest] = np.arange(rest.size)
    indptr, tokens, taken = (x.astype(np.int64) for x in (steps.indptr, steps.indices, steps.data))
    row = np.repeat(np.arange(n), np.diff(indptr))
    held, sure = np.flatnonzero(place[row] >= 0), np.isin(row, include) if include.size else include
    narrow = np.uint16 if size <= 1 << 16 else np.int64  # numbers of two bytes are sorted without comparisons
    held = held[np.argsort(tokens[held].astype(narrow), kind="stable")]  # by token
    base = np.bincount(tokens[sure], taken[sure], size).astype(np.int64)
    starts = ends_of(base + np.bincount(tokens[held], taken[held], size).astype(np.int64))
    holders, chance = ends_of(np.bincount(tokens[held], minlength=size)), np.zeros(starts[-1])
    fill_chance(K, holders, place[row[held]], taken[held], starts, base, unit, chance)
    totals = np.bincount(np.repeat(np.arange(n), np.diff(C.indptr)), C.data, n).astype(np.float64)  # of none, integers
    length = float(totals[rest] @ K.diagonal() + totals[include].sum())
    return LevelPart(indptr, tokens, taken, starts, chance, totals, length)


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
        found = left & ~uneven(one)
        unit[found], left[found] = one[found], False
    columns.data = np.maximum(np.round(columns.data / unit[token]), 1.0)
    return sparse.csr_array(columns), unit
