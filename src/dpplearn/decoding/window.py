"""A long list as a feed: every item stays, and the order makes each stretch of it diverse.

At each place stands the item that gains most given the items W in the `window - 1` places before it,

    g_i = q_i^2 (1 - S_iW S_WW^-1 S_Wi),

looked for among the AHEAD items of highest quality that have no place yet. So one pass over the list is enough, and no
item comes far before its time.
"""

from __future__ import annotations

from pkgutil import resolve_name
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import lapack

from dpplearn._checks import FloatArray, IntArray, check_int, is_tensor
from dpplearn._linalg import to_dense
from dpplearn._precision import TIE
from dpplearn._run.stop import check_stop
from dpplearn.decoding.candidates import SMALL_NUGGET, Embedded, Given
from dpplearn.decoding.limits import Limits
from dpplearn.decoding.selection import HOST, DiverseSelection, Unknown

AHEAD = 256  # items looked at for each place; or sixteen windows of them, if these are more
NO_SET = Unknown("log_prob is that of a set, and a feed orders a list.")


def feed(
    items: Embedded, settings: Any, limits: Limits, shown: Given | None, window: int, options: dict[str, Any]
) -> DiverseSelection:
    """The items in the order of the feed, as a selection; or what was asked for that a feed does not know."""
    window = check_int(window, "window", low=2, high=None)
    unknown = {"decoder": settings.decoder != "greedy", "kernel": settings.kernel == "near"} | {
        'k="auto"': settings.min_gain is not None,
        "backfill": settings.backfill,
        "budget": limits.budget < np.inf or not limits.equal,
        "include": limits.include.size,
        "min_per_group": limits.need.any(),
    }
    if found := [*(name for name, there in unknown.items() if there), *options]:
        raise ValueError(
            f"window orders a list, from which nothing is left out, and knows no {found[0]}. It goes with scores, k, "
            "diversity, scale, nugget, exclude, given, groups and max_per_group."
        )
    if is_tensor(items.rows):
        items = Embedded(*map(resolve_name(HOST), items))
    nugget = max(SMALL_NUGGET, settings.nugget or 0.0)
    share = min(1.0, 2.0 * settings.diversity) * (1.0 - nugget)  # what cosines of different items count for
    order, gains = np.empty(0, np.int64), np.empty(0)
    if not (reason := limits.empty_reason()):
        order, gains = order_by_window(items, window, share, limits, shown)
        left = len(order) < limits.alive.sum()
        reason = f"the size limit of {limits.k} items is reached" if left else "no item is left"
    parameters = {"scale": settings.scale, "decoder": "greedy", "nugget": nugget, "kernel": "linear", "window": window}
    more = settings.diversity, parameters, limits, items
    return DiverseSelection(order, limits.total(order), np.log(gains), reason, NO_SET, *more)


def order_by_window(
    items: Embedded, window: int, share: float, limits: Limits, shown: Given | None
) -> tuple[IntArray, FloatArray]:
    """The items in the order of the feed, after the last of those `shown`, and what each gained.

    A group has at most `limits.most` items in a window, unless all that are looked at are of groups that are full.
    """
    queue = np.argsort(-items.q, kind="stable")
    queue = queue[limits.alive[queue]]
    slots = queue[: max(AHEAD, 16 * window)].copy()
    view, waiting = View(items, slots, window - 1, share), queue[len(slots) :].tolist()[::-1]
    for row in [] if shown is None else unit_or_zero(shown, slice(1 - window, None)):
        view.move(row)
    worth, tie = items.q[slots] ** 2, TIE if share else 0.0  # quality alone decides to the last digit
    order = np.empty(min(limits.k, len(queue)), np.int64)
    gains = np.empty(len(order))
    for t in range(len(order)):
        check_stop()
        g = worth * view.novelty()
        if limits.names:
            full = limits.counts(order[max(0, t + 1 - window) : t]) >= limits.most
            allowed = ~full[limits.group[slots]] & (worth > 0.0)
            g[~allowed & allowed.any()] = -1.0
        best = g.max()
        among = np.flatnonzero(g >= best - tie * best)
        s = among[slots[among].argmin()]
        order[t], gains[t], worth[s] = slots[s], g[s], -1.0
        view.move(unit_or_zero(items, slots[[s]])[0])
        if waiting:
            slots[s] = waiting.pop()
            worth[s] = items.q[slots[s]] ** 2
            view.renew(s)
    return order, gains


class View:
    """What the items of a window explain of those that are looked at; places not yet filled explain nothing."""

    def __init__(self, items: Embedded, slots: IntArray, size: int, share: float) -> None:
        self.items, self.slots, self.share, self.oldest = items, slots, share, 0
        self.ahead = None if sparse.issparse(items.rows) else unit_or_zero(items, slots)  # sparse: read in place
        self.rows, self.G, self.C = np.zeros((size, items.rows.shape[1])), np.eye(size), np.zeros((len(slots), size))

    def novelty(self) -> FloatArray:
        """1 - c_i^T G^-1 c_i, which is at least what each item has of its own."""
        half = self.C @ lapack.dtrtri(lapack.dpotrf(self.G, lower=1)[0], lower=1)[0].T  # G^-1 = (L^-1)^T L^-1
        novelty: FloatArray = np.maximum(1.0 - np.einsum("ij,ij->i", half, half), 1.0 - self.share)
        return novelty

    def move(self, row: FloatArray) -> None:
        """Take a row into the window, in place of the oldest."""
        j, self.oldest = self.oldest, (self.oldest + 1) % len(self.rows)
        self.rows[j] = row
        self.G[j] = self.G[:, j] = self.share * (self.rows @ row)
        self.G[j, j] = 1.0
        if self.ahead is None:
            lengths = self.items.lengths[self.slots]
            self.C[:, j] = self.share * (self.items.rows[self.slots] @ row) / np.where(lengths > 0.0, lengths, 1.0)
        else:
            self.C[:, j] = self.share * (self.ahead @ row)

    def renew(self, s: int) -> None:
        """Another item is looked at in this slot."""
        row = unit_or_zero(self.items, self.slots[[s]])[0]
        self.C[s] = self.share * (self.rows @ row)
        if self.ahead is not None:
            self.ahead[s] = row


def unit_or_zero(items: Embedded | Given, places: Any) -> FloatArray:
    """Rows of length 1, or of zeros."""
    rows, lengths = to_dense(items.rows[places]).astype(np.float64), items.lengths[places]
    unit: FloatArray = rows / np.where(lengths > 0.0, lengths, 1.0)[:, None]
    return unit
