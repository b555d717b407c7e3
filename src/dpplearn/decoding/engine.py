"""The greedy engine of `diversify` and `greedy_map`, for arrays and tensors.

Adding item i to the chosen set Y multiplies its probability by the gain g_i = L_ii - L_iY L_Y^-1 L_Yi. Gains only fall
as Y grows, so an old gain is an upper bound. The engine keeps exact gains for a *block* of items and bounds for all
others, and takes the best item of the block as long as no bound outside is above it. A small problem is one block.
The class `Gains` lists what the engine needs from a kernel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from dpplearn._checks import FloatArray, IntArray
from dpplearn._precision import EPS, EPS32, REORTHOGONAL, ROUNDING, TIE
from dpplearn._run.stop import check_stop
from dpplearn.decoding.limits import End, Limits, Remaining, why_ended

SMALL_ENTRIES = 2**14  # with at most so many entries of features, all items are one block
POOL_SIZE = 2**16  # items from which blocks are made
FEWEST_PICKS = 4  # after fewer choices from a block, the next block is larger
ROWS_PER_PASS = 2**16  # rows that one product reads in a pass over all items
FIRST_ROOM = 64  # directions for which there is room at first
GATHER_COST = 8  # gathering a row for a block takes as long as reading so many rows in a pass
TINY = 1e-300


class Run(NamedTuple):
    """Items in the order of choice, the gain of each (a factor of the probability), and why the run ended."""

    items: IntArray
    gains: FloatArray
    end: End


class ArrayOps:
    """The few operations that numpy and torch spell differently."""

    start = 256  # items in a block: more make each step slower, fewer are used up sooner
    smaller = staticmethod(np.minimum)
    log = staticmethod(np.log)
    choose = staticmethod(np.where)
    host = staticmethod(np.asarray)
    where = staticmethod(lambda mask: mask.nonzero()[0])
    at = staticmethod(lambda i, x, y, z: (x.item(i), y.item(i), z.item(i)))  # one wait for a device
    multiply = staticmethod(np.multiply)
    put = staticmethod(lambda x, like: x)  # noqa: ARG005  # TensorOps moves x to the device of `like`
    precision = staticmethod(lambda rows: EPS if rows.dtype == np.float64 else EPS32)  # of products with rows
    wide = staticmethod(lambda x: x.astype(np.float64, copy=False))
    dot = staticmethod(np.ndarray.dot)  # twice as fast as @ for few numbers
    order = staticmethod(lambda x: np.argsort(x, kind="stable"))
    largest = staticmethod(lambda x, m: float(np.partition(x, x.size - m)[x.size - m]))  # the m-th largest number

    @staticmethod
    def best(x: Any, items: Any, tie: float, one: float) -> tuple[float, int, int]:
        """The largest number, the first place of a number that ties with it, and the item there."""
        most = x.item(x.argmax())  # faster than max
        place = (x >= most - tie * (one + abs(most))).argmax()
        return most, place, items.item(place)

    @staticmethod
    def explained(rows: Any, U: Any) -> FloatArray:
        """The length of the part of each row along nearly orthonormal directions, in the rows' own type."""
        kind = np.float64 if rows.dtype == np.float64 else np.float32
        x = np.asarray(rows.astype(kind, copy=False) @ U.astype(kind).T)
        return np.sqrt(np.einsum("ij,ij->i", x, x, dtype=np.float64))


class Rule:
    """The score by which items are compared. It grows with the gain, so a bound of the gain gives a bound of the score.

    The score is (g - 1) / w for "probability" and log g / w for "log"; "auto" is as "log", but does not divide losses.
    Weights w are powers of costs in units of their mean. If all are 1, each rule orders the items as g itself does.

    Scores that differ by at most the share `tie`, as by rounding, are equal. Among equals the cheaper item comes first
    (for "probability" the one that gains more), then the one with the smaller number.
    """

    def __init__(
        self, name: str, limits: Limits, power: float, xp: Any = ArrayOps, like: Any = None, tie: float = TIE
    ) -> None:
        self.name, self.xp, self.tie = name, xp, tie
        self.plain = power == 0.0 or limits.equal_costs
        self.one = 0.0 if self.plain else 1.0  # scores that are logarithms may be 0 at a tie
        self.weight: Any = None if self.plain else xp.put(limits.relative_cost**power, like)
        self.cost: Any = None if limits.equal_costs else xp.put(limits.cost, like)

    def scores(self, g: Any, items: Any) -> Any:
        if self.plain:
            return g
        w = self.weight[items]
        if self.name == "probability":
            return self.xp.choose(g > 0.0, (g - 1.0) / w, -np.inf)
        x = self.xp.log(g.clip(min=TINY))
        x = x / w if self.name == "log" else self.xp.choose(x >= 0.0, x / w, x)
        return self.xp.choose(g > 0.0, x, -np.inf)

    def below(self, score: Any) -> Any:
        """The lowest score that ties with this one."""
        return score - self.tie * (self.one + abs(score))

    def key(self, g: Any, items: Any) -> Any:
        """A number that breaks ties, the larger first; only used if costs differ."""
        return g if self.name == "probability" else -self.cost[items]

    def best(self, g: Any, items: Any) -> tuple[float, int, int]:
        """The best score, its place and its item."""
        scores = g if self.plain else self.scores(g, items)
        best: tuple[float, int, int] = self.xp.best(scores, items, self.tie, self.one)
        if self.cost is None:
            return best
        key = self.xp.choose(scores >= self.below(best[0]), self.key(g, items), -np.inf)
        return best[0], *self.xp.best(key, items, self.tie, 0.0)[1:]


class Gains:
    """What the engine needs from a kernel. A block and its gains are arrays, or tensors on a device."""

    n: int
    start: int  # items in the first block
    bound: Any  # (n,) upper bounds of the gains of all items
    xp: Any  # ArrayOps, or the same for tensors

    def block(self, items: Any) -> Any:
        """Make these items, in ascending order, the block; their exact gains, which the engine updates in place."""
        raise NotImplementedError

    def take(self, j: int, place: int | None = None) -> float:
        """Choose an item, at this place of the block if it is in the block; its gain, or 0 if it has none."""
        raise NotImplementedError

    def fall(self) -> Any:
        """By how much the gains of the block fell with the item chosen last."""
        raise NotImplementedError

    def least(self, items: Any) -> Any:  # noqa: ARG002
        """The largest gains of these items that may be rounding of 0."""
        return 0.0

    def refresh(self, size: int) -> bool:  # noqa: ARG002
        """Lower the bounds by a pass over all items, unless that costs more than a block of this size."""
        return False


@dataclass
class GreedyRun:
    """Algorithm 2 with blocks: see the module docstring."""

    gains: Gains
    limits: Limits
    rule: Rule
    floor: float  # the gain that an item must exceed
    share: float = 0.0  # an item must also exceed this share of the first item's gain, or of the best one to include
    left: Remaining | None = None  # only with a budget or a quota
    pool: Any = None  # items with the largest bounds, from which blocks are made
    low: Any = False  # whether an item was dropped for its low gain

    def run(self) -> Run:
        """Choose until nothing is left to choose."""
        gains, limits, rule = self.gains, self.limits, self.rule
        self.xp, self.size, self.floor = gains.xp, gains.start, self.floor * (1.0 + TIE)
        if limits.names or limits.budget < np.inf:
            self.left = Remaining(limits, limits.include)
        items, factors = limits.include.tolist(), list[float]()
        for j in items:
            factors.append(gains.take(j))
            if factors[-1] <= 0.0:
                return Run(limits.include[: len(factors)], np.array(factors), End.IMPOSSIBLE)
        if self.share > 0.0 and factors:
            self.floor = max(self.floor, self.share * max(factors) * (1.0 + TIE))
        if limits.include.size or limits.exclude.size:
            gains.bound[self.xp.put(np.flatnonzero(~limits.alive), gains.bound)] = -np.inf
        picks = -1  # choices from the block; -1 if there is none
        best_of, take, fall = rule.best, gains.take, gains.fall  # looked up once, for small problems
        limited = self.left is not None or self.floor > -np.inf or self.share > 0.0
        while len(items) < limits.k:
            if picks < 0:
                if not self.build():
                    break
                picks, g = 0, self.g
            if picks % FIRST_ROOM == FIRST_ROOM - 1:
                check_stop()
            best, place, j = best_of(g, self.items)  # a device is waited for here, and in `take`
            if best < self.outside or best == -np.inf:
                if self.outside == -np.inf:
                    break
                check_stop()
                self.put_back(best, picks)
                picks = -1
                continue
            gain = take(j, place)
            g[place] = -np.inf
            if gain == 0.0:  # others may have none either
                g[g <= gains.least(self.items)] = -np.inf
                continue
            items.append(j)
            factors.append(gain)
            picks += 1
            if len(items) == limits.k:
                break
            g -= fall()
            if not limited:
                continue
            if self.share > 0.0 and len(items) == limits.include.size + 1:
                self.floor = max(self.floor, self.share * max(factors) * (1.0 + TIE))
            if self.left is not None:
                self.left.take(j)
            self.drop()
        otherwise = End.GAIN if bool(self.low) else End.RANK
        return Run(np.array(items, np.int64), np.array(factors), why_ended(limits, items, otherwise))

    def build(self) -> bool:
        """Make a block of the items with the largest bounds; False if no candidate is left."""
        if self.pool is None:
            there = self.xp.where(self.gains.bound > -np.inf)
            self.pool, self.beyond = self.top(there, max(POOL_SIZE, 4 * self.size))
        self.items, outside = self.top(self.pool, self.size)
        self.outside = max(outside, self.beyond)
        self.g = self.gains.block(self.items)
        if self.left is not None or self.floor > -np.inf:
            self.host = self.xp.host(self.items)
            self.drop()
        return len(self.items) > 0

    def top(self, items: Any, m: int) -> tuple[Any, float]:
        """The m of these items whose bounds have the best scores, and the best score of the others.

        Up to m more items come with them if their scores tie with the last one.
        """
        if m >= len(items):
            return items, -np.inf
        rule, bound = self.rule, self.gains.bound
        scores = rule.scores(bound[items], items)
        cut = self.xp.largest(scores, m + 1)
        there = self.xp.where(scores >= rule.below(cut))
        if len(there) > 2 * m:  # too many ties: only the first of them
            above = scores > 2 * cut - rule.below(cut)
            ties = there[~above[there]]
            if rule.cost is not None:
                ties = ties[self.xp.order(-rule.key(bound[items[ties]], items[ties]))]
            above[ties[:m]] = True
            there = self.xp.where(above)
        return items[there], cut

    def put_back(self, best: float, picks: int) -> None:
        """Keep the block's gains as bounds. After few choices, make a larger block or a pass over all items."""
        self.gains.bound[self.items] = self.g
        if picks < FEWEST_PICKS:
            self.size *= 4
            if self.gains.refresh(self.size):
                self.size, self.pool = self.gains.start, None
        if best < self.beyond:
            self.pool = None
        if self.pool is not None:
            self.pool = self.pool[self.gains.bound[self.pool] > -np.inf]

    def drop(self) -> None:
        """Drop the items of the block that no longer fit, whose group is full, or whose gain is too low."""
        if self.floor > -np.inf:
            low = (self.g <= self.floor) & (self.g > -np.inf)
            self.low = self.low | low.any()
            self.g[low] = -np.inf
        if self.left is not None:
            barred = ~self.left.allows(self.host)
            if barred.any():
                self.g[self.xp.put(barred, self.g)] = -np.inf


class RowGains(Gains):
    """Gains of items with L_ij = scale_i scale_j <rows_i, rows_j> off the diagonal, and L_ii = diag_i.

    Each item chosen adds a direction u = P b_j / sqrt(g_j), where b_j = scale_j rows_j and P = I - U^T U for the
    directions U so far. Then g_i = L_ii - |U b_i|^2. If own is 0, the directions are orthonormal, and at most as many
    as the rank. Otherwise there may be more of them than columns: then we replace them by fewer with the same U^T U, so
    that memory does not grow with k. If items were chosen before, U starts with their directions.
    """

    def __init__(self, rows: Any, scale: Any, diag: Any, own: Any, k: int, U: Any, xp: Any) -> None:
        self.rows, self.scale, self.diag, self.own, self.xp = rows, scale, diag, own, xp
        self.n, self.d = rows.shape
        self.sparse = not isinstance(rows, np.ndarray) and sparse.issparse(rows)  # may be a tensor
        self.start = self.n if self.n * self.d <= SMALL_ENTRIES else xp.start  # a small problem is one block
        self.U = xp.put(np.empty((min(FIRST_ROOM, max(k, 1)), self.d)) if U is None else U, diag)
        self.t, self.counted = 0 if U is None else len(U), 0  # directions in all, and those in `base`
        self.noise = (self.d + 8 * min(k, self.d)) * EPS
        self.bound = diag + 0.0
        self.base: Any = None  # bounds of the last pass over all items

    def block(self, items: Any) -> Any:
        rows, self.s, self.L = self.rows, self.scale, self.diag
        if len(items) < self.n:
            rows, self.s, self.L = rows[items], self.scale[items], self.diag[items]
        self.X, self.g = self.xp.wide(rows), self.L + 0.0  # the engine keeps these gains up to date
        if self.t:
            W = self.X @ self.U[: self.t].T
            W *= W
            self.g -= W.sum(1) * self.s * self.s
        return self.g

    def take(self, j: int, place: int | None = None) -> float:
        if place is None:
            self.block([j])
            place = 0
        dot, t, X = self.xp.dot, self.t, self.X
        v = x = X[[place]].toarray()[0] if self.sparse else X[place]
        if t:
            U = self.U[:t]
            v = x - dot(dot(U, x), U)
        gain, diag, scale = self.xp.at(place, self.g, self.L, self.s)
        if gain <= REORTHOGONAL * diag:  # digits may be lost: compute the gain anew
            own = float(self.own[j])
            gain, before = own + max(scale * float(dot(x, v)) * scale, 0.0), diag - own
            while not own and 0.0 < gain < REORTHOGONAL * before:  # once more (Kahan)
                before = gain
                v = v - dot(dot(U, v), U)
                gain = scale * float(dot(v, v)) * scale
            if gain <= (0.0 if own else self.noise * diag):
                return 0.0
        if t == len(self.U):
            self.make_room()
        self.u = self.xp.multiply(v, scale * gain**-0.5, out=self.U[self.t])
        self.t += 1
        return gain

    def fall(self) -> Any:
        w = self.X @ self.u if self.sparse else self.xp.dot(self.X, self.u)
        w *= self.s
        w *= w
        return w

    def make_room(self) -> None:
        """Make twice the room; or replace more directions than columns by the R of U = QR, whose R^T R is U^T U."""
        U, size = self.U, max(2 * len(self.U), FIRST_ROOM)
        if self.t >= 2 * self.d:
            U, size = self.xp.put(np.linalg.qr(self.xp.host(U), mode="r"), self.diag), max(len(U), FIRST_ROOM)
            self.counted, self.base = 0, None
        self.t = len(U)
        self.U = self.xp.put(np.empty((size, self.d)), self.diag)
        self.U[: self.t] = U

    def least(self, items: Any) -> Any:
        return self.xp.choose(self.own[items] > 0.0, 0.0, self.noise * self.diag[items])

    def refresh(self, size: int) -> bool:
        """Bounds by one product with all rows, in their own type.

        Rounding may change each <row, u> by some EPS of the row's length, so that much less is subtracted.
        """
        if self.counted == self.t or GATHER_COST * size * self.t <= self.n * (self.t - self.counted):
            return False
        if self.base is None:
            self.base = self.diag + 0.0
        U = self.U[self.counted : self.t]
        rough = 64 * len(U) ** 0.5 * self.xp.precision(self.rows)
        for low in range(0, self.n, ROWS_PER_PASS):
            part = slice(low, low + ROWS_PER_PASS)
            lengths = (self.diag[part] - self.own[part]) ** 0.5  # of b_i
            x = (self.scale[part] * self.xp.explained(self.rows[part], U) - rough * lengths).clip(min=0.0)
            self.base[part] -= x * x
        self.counted = self.t
        self.bound = self.xp.smaller(self.bound, self.base)
        return True


class KernelGains(Gains):
    """Gains of items with a kernel L: one row of its Cholesky factor for each item chosen. All items are one block."""

    xp = ArrayOps

    def __init__(self, L: FloatArray, k: int) -> None:
        self.L = L
        self.n = self.start = len(L)
        self.diag, self.bound = L.diagonal() + 0.0, L.diagonal() + 0.0
        self.C = np.empty((max(min(k, self.n), 1), self.n))
        self.t, self.items = 0, self.bound

    def block(self, items: Any) -> Any:
        self.items = items
        return (self.diag - (self.C[: self.t] ** 2).sum(0))[items]

    def take(self, j: int, place: int | None = None) -> float:  # noqa: ARG002
        c = self.C[: self.t, j]
        gain = float(self.diag[j] - c @ c)
        if gain <= (self.t + 1) * ROUNDING * float(self.diag[j]):
            return 0.0
        self.C[self.t] = (self.L[j] - c @ self.C[: self.t]) * gain**-0.5  # e_i = (L_ij - <c_i, c_j>) / sqrt(g_j)
        self.t += 1
        return gain

    def fall(self) -> Any:
        e = self.C[self.t - 1]
        return e * e if len(self.items) == self.n else e[self.items] ** 2

    def least(self, items: Any) -> Any:
        return (self.t + 1) * ROUNDING * self.diag[items]
