"""Orders a long list as a feed, for `diversify(window=...)`: every item stays, and each stretch of the list is diverse.

Each place goes to the item that gains most given the items W in the `window - 1` places before it,

    g_i = q_i^2 (1 - S_iW S_WW^-1 S_Wi).

Only some items without a place are compared, those of highest quality. So one pass over the list is enough, and no item
comes far before its time.
"""

from __future__ import annotations

from pkgutil import resolve_name
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import lapack

from dpplearn._checks import FloatArray, IntArray, check_int, count_of, is_tensor
from dpplearn._linalg import to_dense
from dpplearn._precision import TIE
from dpplearn._run.stop import check_stop
from dpplearn.decoding.candidates import SMALL_NUGGET, Embedded, Given
from dpplearn.decoding.limits import Limits
from dpplearn.decoding.selection import HOST, DiverseSelection, Unknown

MOST_COMPARED = 256  # items compared for each place, or sixteen windows of them if these are more
FEED_UNKNOWN = Unknown("log_prob is that of a set, and a feed orders a list.")


def feed(
    items: Embedded, settings: Any, limits: Limits, shown: Given | None, window: int, options: dict[str, Any]
) -> DiverseSelection:
    """A selection with the items in the order of the feed; an error for settings that a feed does not have."""
    window = check_int(window, "window", low=2, high=None)
    unknown = {"decoder": settings.decoder != "greedy", "kernel": settings.kernel == "near"} | {
        'k="auto"': settings.min_gain is not None,
        "backfill": settings.backfill,
        "budget": limits.budget < np.inf or not limits.equal_costs,
        "include": limits.include.size,
        "min_per_group": limits.need.any(),
    }
    if wrong := [*(name for name, asked in unknown.items() if asked), *options]:
        known = "scores, k, diversity, scale, nugget, exclude, given, groups and max_per_group"
        raise ValueError(f"window orders a whole list, so it knows no {wrong[0]}. It goes with {known}.")
    if is_tensor(items.rows):
        items = Embedded(*map(resolve_name(HOST), items))
    nugget = max(SMALL_NUGGET, settings.nugget or 0.0)
    share = min(1.0, 2.0 * settings.diversity) * (1.0 - nugget)  # similarities of different items are multiplied by it
    order, gains = np.empty(0, np.int64), np.empty(0)
    if not (reason := limits.empty_reason()):
        order, gains = order_by_window(items, window, share, limits, shown)
        left = len(order) < limits.alive.sum()
        reason = f"the size limit of {count_of(limits.k, 'item', 'items')} is reached" if left else "no item is left"
    parameters = {"scale": settings.scale, "decoder": "greedy", "nugget": nugget, "kernel": "linear", "window": window}
    more = settings.diversity, parameters, limits, items
    return DiverseSelection(order, limits.total(order), np.log(gains), reason, FEED_UNKNOWN, *more)


def order_by_window(
    items: Embedded, window: int, share: float, limits: Limits, shown: Given | None
) -> tuple[IntArray, FloatArray]:
    """The items in the order of the feed, after the last of those `shown` before, and the gain of each.

    A group has at most `limits.most` items in a window, unless the groups of all items compared are full.
    """
    queue = np.argsort(-items.q, kind="stable")
    queue = queue[limits.alive[queue]]
    slots = queue[: max(MOST_COMPARED, 16 * window)].copy()  # the items compared now; a slot is refilled from the queue
    state, waiting = WindowState(items, slots, window - 1, share), queue[len(slots) :].tolist()[::-1]
    if shown is not None:
        last = slice(1 - window, None)
        lengths = shown.lengths[last]
        for row in to_dense(shown.rows[last]) / np.where(lengths > 0.0, lengths, 1.0)[:, None]:
            state.move(slice(-1), row)
    worth, tie = items.q[slots] ** 2, TIE if share else 0.0  # quality alone decides to the last digit
    order = np.empty(min(limits.k, len(queue)), np.int64)
    gains = np.empty(len(order))
    for t in range(len(order)):
        check_stop()
        g = worth * state.novelty()
        if limits.names:
            full = limits.counts(order[max(0, t + 1 - window) : t]) >= limits.most
            allowed = ~full[limits.group[slots]] & (worth > 0.0)
            g[~allowed & allowed.any()] = -1.0
        best = g.max()
        ties = np.flatnonzero(g >= best - tie * best)
        s = ties[slots[ties].argmin()]
        order[t], gains[t], worth[s] = slots[s], g[s], -1.0
        state.move(*state.entries(s))
        if waiting:
            slots[s] = waiting.pop()
            worth[s] = items.q[slots[s]] ** 2
            state.fill(s)
    return order, gains


class WindowState:
    """Similarities of the items in the slots with those in the window, and of the latter with each other.

    Rows of unit length are kept in `values`. For sparse rows these are the entries that are not 0, and `columns` says
    where they belong; both are padded to the longest row, with column d, where every row has a 0. Window places that
    are not yet filled hold rows of 0.
    """

    def __init__(self, items: Embedded, slots: IntArray, size: int, share: float) -> None:
        self.items, self.slots, self.share, self.oldest = items, slots, share, 0
        d, is_sparse = items.rows.shape[1], sparse.issparse(items.rows)
        width = int(np.diff(items.rows.indptr).max(initial=0)) if is_sparse else d
        self.values = np.zeros((len(slots), width))
        self.columns = np.full(self.values.shape, d) if is_sparse else None
        self.rows, self.G, self.C = np.zeros((size, d + 1)), np.eye(size), np.zeros((len(slots), size))
        for s in range(len(slots)):
            self.fill(s)

    def entries(self, s: int) -> tuple[Any, FloatArray]:
        """The columns and values of the row in slot s."""
        return (slice(-1) if self.columns is None else self.columns[s]), self.values[s]

    def fill(self, s: int) -> None:
        """Read the row of the item that is now in slot s."""
        rows, i = self.items.rows, self.slots[s]
        if self.columns is None:
            self.values[s] = rows[i]
        else:
            low, high = rows.indptr[i : i + 2]
            self.columns[s], self.values[s] = self.rows.shape[1] - 1, 0.0
            self.columns[s, : high - low], self.values[s, : high - low] = rows.indices[low:high], rows.data[low:high]
        self.values[s] /= self.items.lengths[i] or 1.0
        columns, values = self.entries(s)
        self.C[s] = self.share * (self.rows[:, columns] @ values)

    def novelty(self) -> FloatArray:
        """1 - c_i^T G^-1 c_i of the item in each slot; at least 1 - share, which is the item's own."""
        half = self.C @ lapack.dtrtri(lapack.dpotrf(self.G, lower=1)[0], lower=1)[0].T  # G^-1 = (L^-1)^T L^-1
        novelty: FloatArray = np.maximum(1.0 - np.einsum("ij,ij->i", half, half), 1.0 - self.share)
        return novelty

    def move(self, columns: Any, values: FloatArray) -> None:
        """Let a row into the window, in place of the oldest."""
        j, self.oldest = self.oldest, (self.oldest + 1) % len(self.rows)
        row = self.rows[j]
        row[:] = 0.0
        row[columns] = values
        self.G[j] = self.G[:, j] = self.share * (self.rows[:, columns] @ row[columns])
        self.G[j, j] = 1.0
        if self.columns is None:
            self.C[:, j] = self.share * (self.values @ row[:-1])
        else:
            self.C[:, j] = self.share * np.einsum("ij,ij->i", self.values, row[self.columns])
