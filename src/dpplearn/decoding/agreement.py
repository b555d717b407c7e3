"""How well one set agrees with others, and the search for the set that agrees best."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
from scipy import sparse

from dpplearn._checks import FloatArray, IntArray
from dpplearn._holders import as_csr, as_numbers
from dpplearn._loops.records import Agreement, Part
from dpplearn._run.stop import check_stop
from dpplearn.decoding.expected import level_part
from dpplearn.decoding.limits import Limits, fits
from dpplearn.subsets import Subsets

PASSES = 100  # rounds of swaps; a few are enough, each raises the utility


@dataclass(frozen=True, eq=False)
class CountUtility:
    """Weighted sum of clipped-overlap F1 over token-count matrices (n, vocabulary)."""

    weights: tuple[float, ...]
    counts: tuple[Any, ...]

    def maximize(self, limits: Limits, references: Subsets) -> tuple[IntArray, float]:
        """The set that agrees most with references, on average."""
        from dpplearn._loops.consensus import build

        chosen = sparse.csr_array(references.to_sparse(), dtype=np.float32)
        wanted = self._wanted(tuple(self._part(C, chosen) for C in self.counts), limits)
        nobody = np.zeros(limits.cost.size, np.uint8)
        medoids = feasible_references(limits, references)
        starts = [max(medoids, key=lambda Y: build(wanted, Y, Y.size, nobody, -1.0, 0)[1])] if medoids else []
        return best_run(limits, starts, partial(searched, build, wanted, limits))

    def expect(self, limits: Limits, K: FloatArray, rest: IntArray, start: IntArray) -> tuple[IntArray, float]:
        """The set that agrees most with all that may be drawn: see `dpplearn.decoding.expected`."""
        from dpplearn._loops.levels import gather

        wanted = self._wanted(tuple(level_part(C, K, rest, limits.include) for C in self.counts), limits)
        return best_run(limits, [start], partial(searched, gather, wanted, limits))

    def _wanted(self, parts: tuple[Any, ...], limits: Limits) -> Agreement:
        group = np.arange(limits.cost.size) if limits.exclusive is None else limits.exclusive
        return Agreement(parts, np.array(self.weights), limits.cost, limits.room, limits.k, group)

    def _part(self, C: Any, chosen: Any) -> Part:
        """A matrix as the loop reads it, with only the tokens that references hold: others only add length."""
        totals = np.asarray(C.sum(axis=1), np.float64).ravel()
        summed = sparse.csr_array(chosen @ C)
        used = np.flatnonzero(np.asarray(summed.sum(axis=0)).ravel() > 0)
        kept = sparse.csr_array(C[:, used])
        by_token = sparse.csr_array(summed[:, used].T, dtype=np.float32)
        lengths = np.asarray(summed.sum(axis=1), np.float64).ravel() + 1e-12  # no tokens at all: 0 / 1e-12
        kinds, kind = np.unique(totals, return_inverse=True)
        return Part(
            indptr=kept.indptr.astype(np.int64),
            tokens=kept.indices.astype(np.int64),
            counts=kept.data.astype(np.float32),
            table=by_token.toarray(),
            holders=by_token.indptr.astype(np.int64),
            where=by_token.indices.astype(np.int64),
            held=by_token.data,
            lengths=lengths,
            shortest=float(lengths.min()),
            longest=float(lengths.max()),
            totals=totals,
            kind=kind.astype(np.int64),
            kinds=kinds,
        )


@dataclass(frozen=True, eq=False)
class SetUtility:
    """Any function of two sets, called for every candidate and every distinct reference; with an empty set it is 0."""

    function: Callable[[IntArray, IntArray], float]

    def maximize(self, limits: Limits, references: Subsets) -> tuple[IntArray, float]:
        tally = references.counts()
        known = [(np.array(Y, np.int64), count / len(references)) for Y, count in tally.items() if len(Y)]
        value = lru_cache(maxsize=None)(lambda key: self._mean(key, known))
        medoids = feasible_references(limits, references)
        starts = [max(medoids, key=lambda Y: value(tuple(sorted(Y.tolist()))))] if medoids else []
        return best_run(limits, starts, partial(climb, value, limits))

    def _mean(self, key: tuple[int, ...], known: list[tuple[IntArray, float]]) -> float:
        if not key:
            return 0.0
        total = 0.0
        for other, share in known:
            u = float(self.function(np.array(key, np.int64), other.copy()))
            if not np.isfinite(u):
                raise ValueError(
                    f"utility must return finite numbers, but is {u} for the sets {list(key)} and {other.tolist()}."
                )
            total += share * u
        return total


def best_run(
    limits: Limits, starts: list[IntArray], run: Callable[[IntArray, float], tuple[IntArray, float]]
) -> tuple[IntArray, float]:
    """The best set, of equals the first, from nothing without and with costs, and from other starts."""
    every = [(limits.include, 0.0), (limits.include, 1.0), *((start, 0.0) for start in starts)]
    return max((run(*start) for start in every), key=lambda found: round(found[1], 12))


def searched(
    loop: Callable[..., Any], wanted: Agreement, limits: Limits, start: IntArray, power: float
) -> tuple[IntArray, float]:
    """Add greedily from `start`, by rise for cost^power; then moves until none helps, a pass at a time."""
    items, value, changed = start, 0.0, True
    for step in range(PASSES + 1):
        check_stop()  # between two passes
        items, value, changed = loop(
            wanted, items, limits.include.size, limits.alive.copy(), power if step == 0 else -1.0, min(step, 1)
        )
        if step and not changed:
            break
    return items, float(value)


def climb(
    value: Callable[[tuple[int, ...]], float], limits: Limits, start: IntArray, power: float
) -> tuple[IntArray, float]:
    """Add greedily from `start`, by rise for cost^power; then swap, drop and add until none helps."""
    candidates = np.flatnonzero(limits.alive).tolist()
    group = range(limits.cost.size) if limits.exclusive is None else limits.exclusive.tolist()

    def mean(items: list[int]) -> float:
        return value(tuple(sorted(items)))

    def addition(items: list[int], r: float) -> tuple[float, list[int]]:
        """The largest rise, and the set with that item; the set as it is where none rises."""
        spent, now = float(limits.cost[np.array(items, np.int64)].sum()), mean(items)
        best, found = 1e-12, items
        if len(items) < limits.k:
            taken = {group[i] for i in items}
            for i in candidates:
                if group[i] not in taken and fits(spent + limits.cost[i], limits.budget):
                    rise = (mean([*items, i]) - now) / limits.cost[i] ** r
                    if rise > best:
                        best, found = rise, [*items, i]
        return mean(found), found

    items = start.tolist()
    now, found = addition(items, power)
    while found is not items:
        items = found
        now, found = addition(items, power)
    for _ in range(PASSES):
        check_stop()
        changed = False
        for j in items[limits.include.size :]:
            reached, found = addition([i for i in items if i != j], 0.0)  # a swap, or a drop
            if reached > now + 1e-9:
                items, now, changed = found, reached, True
        reached, found = addition(items, 0.0)
        if reached > now + 1e-9:
            items, now, changed = found, reached, True
        if not changed:
            break
    return np.array(items, np.int64), now


def feasible_references(limits: Limits, references: Subsets) -> list[IntArray]:
    """Distinct references that fit, in the order drawn, with the items to include first; the first 64 are looked at."""
    excluded = np.zeros(references.n, np.bool_)
    excluded[limits.exclude] = True
    starts = []
    for key in list(references.counts())[:64]:
        Y = np.array(key, np.int64)
        if limits.include.size:
            Y = np.concatenate([limits.include, np.setdiff1d(Y, limits.include)])
        if limits.fits(Y) and not excluded[Y].any():
            starts.append(Y)
    return starts


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
