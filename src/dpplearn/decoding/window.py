"""A long list as a feed: every item stays, and the order makes each stretch of it diverse.

At each place stands the item that gains most given the items W in the `window - 1` places before it,

    g_i = q_i^2 (1 - S_iW S_WW^-1 S_Wi),

looked for among the AHEAD items of highest quality that have no place yet. So one pass over the list is enough, and no
item comes far before its time.
"""

from __future__ import annotations

from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from dpplearn.decoding.diversify import Settings

AHEAD = 256  # items looked at for each place; or sixteen windows of them, if these are more
NO_SET = Unknown("log_prob is that of a set, and a feed orders a list.")


def feed(
    items: Embedded, settings: Settings, limits: Limits, shown: Given | None, window: int, options: dict[str, Any]
) -> DiverseSelection:
    """The items in the order of the feed, as a selection; or which limit a feed does not know."""
    window = check_int(window, "window", low=2, high=None)
    unknown = {
        f"decoder={settings.decoder!r}": settings.decoder != "greedy",
        'kernel="near"': settings.kernel == "near",
        'k="auto"': settings.min_gain is not None,
        "backfill": settings.backfill,
        "budget": limits.budget < np.inf,
        "cost": not limits.equal,
        "include": limits.include.size > 0,
        "min_per_group": limits.need.any(),
    } | dict.fromkeys(options, True)
    if found := [name for name, there in unknown.items() if there]:
        raise ValueError(
            f"window orders a list, from which nothing is left out, and knows no {found[0]}. It goes with scores, k, "
            "diversity, scale, nugget, exclude, given, groups and max_per_group."
        )
    if is_tensor(items.rows):
        items = Embedded(*map(resolve_name(HOST), items))
    nugget = max(SMALL_NUGGET, settings.nugget or 0.0)
    share = min(1.0, 2.0 * settings.diversity) * (1.0 - nugget)
    order, gains = np.empty(0, np.int64), np.empty(0)
    if not (reason := limits.empty_reason()):
        order, gains = order_by_window(items, window, share, limits, shown)
        reason = "no item is left"
        if len(order) < limits.alive.sum():
            reason = f"the size limit of {limits.k} items is reached"
    parameters = {"scale": settings.scale, "decoder": "greedy", "nugget": nugget, "kernel": "linear", "window": window}
    cost = limits.total(order)
    return DiverseSelection(order, cost, np.log(gains), reason, NO_SET, settings.diversity, parameters, limits, items)


def order_by_window(
    items: Embedded, window: int, share: float, limits: Limits, shown: Given | None
) -> tuple[IntArray, FloatArray]:
    """The items in the order of the feed, and what each gained.

    S has `share` of the cosine of two items. `shown` came before, so that its last ones are in the first window. A
    group has at most `limits.most` items in a window, unless all items that are looked at are of groups that are full.
    """
    queue = np.argsort(-items.q, kind="stable")
    queue = queue[limits.alive[queue]]
    slots = queue[: max(AHEAD, 16 * window)].copy()
    view = View(items, slots, window - 1, share)
    for row in [] if shown is None else unit_or_zero(shown, slice(-window + 1, None)):
        view.move(row)
    worth, waiting = items.q[slots] ** 2, queue[len(slots) :].tolist()[::-1]
    group, most = limits.group, limits.most
    recent = np.full(window - 1, -1)
    order, gains = np.empty(min(limits.k, len(queue)), np.int64), np.empty(min(limits.k, len(queue)))
    tie = TIE if share else 0.0  # quality alone decides to the last digit
    for t in range(len(order)):
        if t % 64 == 0:
            check_stop()
        g = worth * view.novelty()
        if limits.names:
            full = np.bincount(recent[recent >= 0], minlength=most.size) >= most
            allowed = ~full[group[slots]] & (worth > 0.0)
            g[~allowed & allowed.any()] = -1.0
        best = g.max()
        among = np.flatnonzero(g >= best - tie * best)
        s = among[slots[among].argmin()]
        order[t], gains[t], recent[t % (window - 1)] = slots[s], g[s], group[slots[s]]
        view.move(view.row(s))
        if waiting:
            slots[s] = waiting.pop()
            worth[s] = items.q[slots[s]] ** 2
            view.renew(s)
        else:
            worth[s] = -1.0
    return order, gains


class View:
    """What the items of a window explain of those that are looked at.

    Places that no item fills yet hold zeros, which explain nothing.
    """

    def __init__(self, items: Embedded, slots: IntArray, size: int, share: float) -> None:
        self.items, self.slots, self.share, self.oldest = items, slots, share, 0
        self.ahead = (
            None if sparse.issparse(items.rows) else unit_or_zero(items, slots)
        )  # sparse rows are read in place
        self.rows = np.zeros((size, items.rows.shape[1]))
        self.G, self.C = np.eye(size), np.zeros((len(slots), size))

    def row(self, s: int) -> FloatArray:
        """The unit row of a slot."""
        return unit_or_zero(self.items, self.slots[[s]])[0] if self.ahead is None else self.ahead[s].copy()

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
            cosines = (self.items.rows[self.slots] @ row) / np.where(lengths > 0.0, lengths, 1.0)
        else:
            cosines = self.ahead @ row
        self.C[:, j] = self.share * cosines

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
