"""Greedy choice among rows, of any number of items: the loop of `_loops/lazy.py`, and what threads do for it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from dpplearn._checks import FloatArray, IntArray, check_jobs, view
from dpplearn._linalg import to_dense
from dpplearn._loops.records import (
    BLOCK,
    CHEAPEST,
    DISTINCT,
    EVALUATE,
    GROW,
    HEAP,
    NO_QUOTA,
    NOBODY,
    NOTED,
    OWED,
    PLEDGED,
    REFRESH,
    TAKEN,
    FeatureRows,
    Lazy,
    Quota,
    Run,
    Seen,
    Wanted,
)
from dpplearn._precision import EPS32, row_rounding
from dpplearn._run.blas import blas_threads
from dpplearn._run.stop import check_stop
from dpplearn.operand import Rows

SMALL = 4_000_000  # entries of rows up to which one thread makes a pass over all
ROOM = 2**22  # entries of directions that are made room for at the start
RECENT = 64  # directions kept beside P: to make up for as many costs less than P, one item at a time
CANDIDATES = 1024  # items evaluated by P at once
CHUNK = 256  # and by one thread: the same blocks whatever the number of threads, and so the same rounding
FEW = 1_000_000  # entries of rows up to which products with them are float64
AXES = 8  # along which rows are told apart: chance lets two pass for the same along all about never
SAME = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 8 * EPS32, np.dtype(np.float16): 2.0**-9}  # along an axis
DOUBLE = np.dtype(np.float64)
NO_ITEMS, NO_HALVES, NO_TIES, NO_MATRIX = np.empty(0, np.int64), np.empty(0, np.float32), np.empty(0), np.empty((0, 0))


class Prior(NamedTuple):
    """Items chosen earlier: P = (I + c U^T U)^-1 of their unit rows, and their places along the axes."""

    P: FloatArray
    places: FloatArray


@cache
def loops() -> Any:
    """The compiled loop, imported with the first run."""
    from dpplearn._loops import lazy

    return lazy


def greedy_rows(
    operand: Rows,
    wanted: Wanted,
    alive: Any,
    quota: Quota = NO_QUOTA,
    prior: Prior | None = None,
    distinct: bool = False,
    equal: bool = True,
) -> Run:
    """Choose up to k items within the limits from rows; with `distinct`, those that repeat a direction come last."""
    loop = loops()
    n, d = operand.rows.shape
    k = min(wanted.k, n)
    dual = prior is not None or (k > d and bool((operand.own > 0.0).any()))
    features = as_features(operand, k, dual)
    grouped = quota is not NO_QUOTA or wanted.group.size > 0
    if n * d <= FEW and equal and wanted.room == np.inf and not (dual or grouped or distinct):
        few: Run = loop.choose_few(features, wanted, alive, d)
        return few
    run = begin(features, d, k, dual, prior)
    if not equal:
        run = run._replace(tie=-wanted.cost)
    if wanted.group.size:  # at most one of each
        quota = at_most_one(wanted.group)
    seen = begin_seen(operand.rows.dtype, d, k, prior, run) if distinct else NOBODY
    quota = begin_limits(wanted, quota, run, alive)
    alone = n * d <= SMALL
    with Workers() as workers:
        while True:
            check_stop()
            code = loop.choose(features, wanted, quota, seen, run, alive, alone)
            if code == REFRESH:
                refresh(loop, features, run, alive, workers)
                loop.put(features, wanted, quota, run, alive, run.idx[:0], True)
            elif code == EVALUATE:
                evaluate(features, operand, run, run.block[: run.at[BLOCK]], workers)
                loop.put_back(features, wanted, quota, run, alive)
            elif code == GROW:
                U = doubled(run.U, d)
                run = run._replace(U=U, short=U if run.short is run.U else doubled(run.short, d))
            else:
                t, first = run.at[TAKEN], run.at[DISTINCT]
                return Run(run.items[:t], run.gains[:t], code, 0 if first < 0 else int(t - first))


def refresh(loop: Any, features: FeatureRows, run: Lazy, alive: Any, workers: Workers) -> None:
    """Bring all gains up to date that the directions kept can."""
    n, d = alive.size, run.b.size
    step = max(1, SMALL // d)
    workers.each(lambda low: loop.refresh(features, run, alive, low, min(low + step, n)), range(0, n, step))


def begin_limits(wanted: Wanted, quota: Quota, run: Lazy, alive: Any) -> Quota:
    """The limits of groups, to be used up, and what is owed to them before the first item; the cheapest of all."""
    if quota is not NO_QUOTA:
        quota = Quota(*(part.copy() for part in quota))
        run.at[OWED] = quota.need.sum()
        run.spent[PLEDGED] = sum(loops().pledge(wanted, quota, run, c) for c in np.flatnonzero(quota.need))
    if wanted.room < np.inf:
        run.spent[CHEAPEST] = wanted.cost[alive != 0].min(initial=np.inf)
    return quota


def at_most_one(group: IntArray) -> Quota:
    """Items of the same number exclude each other."""
    size = int(group.max()) + 1
    return Quota(group, np.ones(size, np.int64), np.zeros(size, np.int64), np.zeros(size), NO_ITEMS, NO_ITEMS)


def begin(features: FeatureRows, d: int, k: int, dual: bool, prior: Prior | None) -> Lazy:
    """Nothing chosen yet."""
    n = features.diag.size
    room = min(k, d, max(64, ROOM // d))
    if dual:
        U, short = np.empty((0, d)), np.zeros((2 * RECENT, d))
        P = np.eye(d) if prior is None else prior.P.copy()
    else:
        U, P = np.empty((room, d)), NO_MATRIX
        short = U if features.data.dtype == DOUBLE else np.empty((room, d), features.data.dtype)
    # what was given is in no direction: P has to be asked
    done = np.zeros(n, np.int32) if prior is None else np.full(n, -RECENT - 1, np.int32)
    at = np.zeros(DISTINCT + 1, np.int64)
    at[HEAP] = at[DISTINCT] = -1  # there is no heap yet, and no repeat
    spent = np.array([0.0, 0.0, np.inf])
    block = np.empty(min(CANDIDATES, n), np.int64) if dual else NO_ITEMS
    work = np.empty(n), np.empty(n, np.int32), NO_TIES, np.empty(k, np.int64), np.empty(k)
    return Lazy(features.diag.copy(), done, *work, U, short, P, np.empty(d), np.empty(d), block, at, spent)


def begin_seen(dtype: Any, d: int, k: int, prior: Prior | None, run: Lazy) -> Seen:
    """Directions noted before the first item: those of items chosen earlier."""
    from dpplearn._loops.repeats import note_all

    earlier = np.empty((0, AXES)) if prior is None else prior.places
    places = np.empty((len(earlier) + k, AXES))
    slots = np.full(2 ** int(np.ceil(np.log2(2 * len(places) + 2))), -1)
    seen = Seen(axes(d), places, slots, np.empty(AXES), SAME[np.dtype(dtype)])
    note_all(seen, earlier)
    run.at[NOTED] = len(earlier)
    return seen


def axes(d: int) -> FloatArray:
    """Directions along which rows are told apart, the same in every run."""
    return np.random.default_rng(0).standard_normal((AXES, d))


def as_features(operand: Rows, k: int, dual: bool) -> FeatureRows:
    """Rows as the loop reads them: csr arrays beside no dense rows, or the other way.

    Products with few rows of a short type are float64: no choice then hangs on the order of the terms of a short sum.
    """
    rows, kind = operand.rows, operand.rows.dtype
    noise = row_rounding(DOUBLE if dual else kind, rows.shape[1], k)
    if rows.shape[0] * rows.shape[1] <= FEW:
        if kind.char == "e" or not isinstance(rows, np.ndarray):  # others are read as they are
            rows = rows.astype(DOUBLE, copy=False)
        kind = DOUBLE
    dense, indptr, indices, half = rows, NO_ITEMS, NO_ITEMS, NO_HALVES
    if kind.char == "e":  # no loop knows the type: its bits are looked up
        kind, dense = NO_HALVES.dtype, rows.view(np.uint16)
        half = np.arange(2**16, dtype=np.uint16).view(np.float16).astype(kind)
    data = np.empty(0, kind)
    if not isinstance(rows, np.ndarray):
        dense, data = np.empty((0, 0), kind), rows.data
        indptr, indices = rows.indptr.astype(np.int64), rows.indices.astype(np.int64)
    return FeatureRows(view(dense), half, indptr, indices, view(data), operand.scale, operand.diag, operand.own, noise)


def doubled(U: Any, d: int) -> Any:
    """Room for as many directions again, up to d."""
    return np.concatenate([U, np.empty((min(len(U), d - len(U)), d), U.dtype)])


def evaluate(features: FeatureRows, operand: Rows, run: Lazy, block: IntArray, workers: Workers) -> None:
    """g_i = own_i + b_i^T P b_i for the items of a block."""

    def some(low: int) -> None:
        items = block[low : low + CHUNK]
        X = to_dense(operand.rows[items]).astype(np.float64)
        x = np.einsum("ij,ij->i", X @ run.P, X)
        run.g[items] = np.minimum(run.g[items], features.own[items] + features.scale[items] ** 2 * np.maximum(x, 0.0))

    workers.each(some, range(0, block.size, CHUNK))


class Workers:
    """Threads that are started with the first work for them, and kept for the next; then BLAS has one."""

    pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *error: Any) -> None:
        if self.pool is not None:
            self.pool.shutdown()
            self.blas.__exit__(*error)

    def each(self, task: Callable[[int], None], numbers: range) -> None:
        """task(b) for each number, in any order."""
        if self.pool is None:
            self.pool, self.blas = ThreadPoolExecutor(check_jobs(None)), blas_threads(0)
            self.blas.__enter__()
        list(self.pool.map(task, numbers))
