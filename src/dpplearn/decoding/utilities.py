"""How well one set agrees with others, and the search for the set that agrees best."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from dpplearn._checks import IntArray
from dpplearn.decoding.limits import Limits
from dpplearn.subsets import Subsets

PASSES = 100  # rounds of swaps; a few are enough, each raises the utility


@dataclass(frozen=True, eq=False)
class CountUtility:
    """Weighted sum of clipped-overlap F1 over token-count matrices (n, vocabulary)."""

    weights: tuple[float, ...]
    counts: tuple[Any, ...]

    def maximize(self, limits: Limits, references: Subsets) -> tuple[IntArray, float]:
        from dpplearn._loops.consensus import build

        chosen = sparse.csr_array(references.to_sparse(), dtype=np.float32)
        parts = tuple(self._part(C, chosen) for C in self.counts)
        weights = np.array(self.weights)

        def run(start: IntArray, power: float) -> tuple[IntArray, float]:
            alive = limits.alive.copy()
            items, value = build(
                parts, weights, limits.cost, limits.room, limits.k, start, limits.include.size, alive, power, PASSES
            )
            return items, float(value)

        starts = [(limits.include, 0.0), (limits.include, 1.0)]
        medoid = self._medoid(limits, references, parts)
        if medoid is not None:
            starts.append((medoid, 0.0))
        return max((run(*start) for start in starts), key=lambda found: found[1])

    def _part(self, C: Any, chosen: Any) -> tuple[Any, ...]:
        """A matrix as the loop reads it, with only the tokens that references hold: others only add length."""
        totals = np.asarray(C.sum(axis=1), np.float64).ravel()
        summed = sparse.csr_array(chosen @ C)
        used = np.flatnonzero(np.asarray(summed.sum(axis=0)).ravel() > 0)
        kept = sparse.csr_array(C[:, used])
        lookup = np.ascontiguousarray(summed[:, used].toarray().T, dtype=np.float32)
        lengths = np.asarray(summed.sum(axis=1), np.float64).ravel() + 1e-12  # no tokens at all: 0 / 1e-12
        return (
            kept.indptr.astype(np.int64), kept.indices.astype(np.int64), kept.data.astype(np.float32),
            lookup, lengths, totals,
        )  # fmt: skip

    def _medoid(self, limits: Limits, references: Subsets, parts: tuple[Any, ...]) -> IntArray | None:
        """The feasible reference that agrees most with the others, items to include first."""
        from dpplearn._loops.consensus import build

        best, found = -np.inf, None
        for Y in list(references.counts())[:64]:  # distinct, in the order drawn
            start = np.concatenate([limits.include, np.setdiff1d(Y, limits.include)]).astype(np.int64)
            if not limits.fits(start) or np.isin(start, limits.exclude).any():
                continue
            nobody = np.zeros(limits.cost.size, np.uint8)
            _, value = build(
                parts, np.array(self.weights), limits.cost, limits.room, limits.k, start, start.size, nobody, 0.0, 0
            )
            if value > best:
                best, found = float(value), start
        return found


@dataclass(frozen=True, eq=False)
class SetUtility:
    """Any function of two sets, called for every candidate and every distinct reference."""

    function: Callable[[IntArray, IntArray], float]

    def maximize(self, limits: Limits, references: Subsets) -> tuple[IntArray, float]:
        tally = references.counts()
        known = [(np.array(Y, np.int64), count / len(references)) for Y, count in tally.items()]
        memory: dict[tuple[int, ...], float] = {}

        def value(items: list[int]) -> float:
            key = tuple(sorted(items))
            if key not in memory:
                Y = np.array(key, np.int64)
                memory[key] = sum(share * float(self.function(Y, other)) for other, share in known)
            return memory[key]

        def best_addition(items: list[int]) -> tuple[float, int]:
            left = limits.budget - limits.total(np.array(items, np.int64))
            fits = [i for i in np.flatnonzero(limits.alive).tolist() if i not in items and limits.cost[i] <= left]
            if len(items) >= limits.k or not fits:
                return -np.inf, -1
            return max((value([*items, i]), -i) for i in fits)

        items = limits.include.tolist()
        while True:
            now = value(items)
            better, i = best_addition(items)
            if better > now + 1e-12:
                items = [*items, -i]
                continue
            changed = False
            for j in items[limits.include.size :]:
                without = [i for i in items if i != j]
                better, i = best_addition(without)
                if max(better, value(without)) > value(items) + 1e-9:
                    items = [*without, -i] if better >= value(without) else without
                    changed = True
                    break
            if not changed:
                return np.array(items, np.int64), now


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
    if not sparse.issparse(C) and np.ndim(C) != 2:
        raise ValueError(
            f"utility must be a token-count matrix (items x tokens), a list of (weight, counts), or a callable "
            f"of two sets; found {type(C).__name__} of {np.ndim(C)} dimensions."
        )
    counts = sparse.csr_array(C, dtype=np.float64)
    counts.sum_duplicates()
    if counts.shape[0] != n:
        raise ValueError(f"utility must have one row of token counts per item ({n}), found {counts.shape[0]}.")
    if not np.isfinite(counts.data).all() or (counts.data < 0).any():
        raise ValueError("utility must hold token counts: finite numbers that are not negative.")
    return counts
