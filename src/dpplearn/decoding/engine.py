"""The one greedy engine: choose the best of a block of items whose gains are exact, while no bound outside is above it.

Where the gains come from is the matter of `dpplearn.decoding.gains` and `dpplearn.decoding.near`, what may be chosen
that of `dpplearn.decoding.limits`. Small problems are one block.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dpplearn._checks import FloatArray, IntArray
from dpplearn._precision import TIE
from dpplearn._run.stop import check_stop
from dpplearn.decoding.gains import ArrayOps, Gains
from dpplearn.decoding.limits import End, Limits, Remaining

POOL = 2**16  # items of which blocks are made
FEW = 4  # choices from a block, below which the next one is larger
TINY = 1e-300


class Run(NamedTuple):
    """Items in the order of choice, the gain of each (a factor of the probability), and why the run ended."""

    items: IntArray
    gains: FloatArray
    end: End


class Rule:
    """What greedy compares: it grows with the gain, so that the bound of a gain gives one of the score.

    (g - 1) / w for "probability", log g / w for "log"; for "auto" only a gain is divided, and a loss compared as it is.
    Where all weights w are 1, each of them orders the items as g itself does.
    """

    def __init__(self, name: str, limits: Limits, power: float, xp: Any = ArrayOps, like: Any = None) -> None:
        self.name, self.xp = name, xp
        self.plain = power == 0.0 or limits.equal
        self.weight: Any = None if self.plain else xp.put(limits.cost**power, like)
        self.cost: Any = None if limits.equal else xp.put(limits.cost, like)

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
        """Scores from here on count as equal to this one: rounding must not decide."""
        return score * (1.0 - TIE) if self.plain else score - TIE * (1.0 + abs(score))

    def best(self, scores: Any, g: Any, items: Any) -> tuple[float, int, int]:
        """The best score, its place and its item; of equals the cheaper (for "probability": the one that gains more),
        then the first."""
        best = scores.max()
        equal = scores >= self.below(best)
        key = self.key(g, items)
        if key is not None:
            key = self.xp.choose(equal, key, -np.inf)
            most = key.max()
            equal = key >= most - TIE * abs(most)
        place = self.xp.first(equal)
        score, at, j = self.xp.numbers(best, place, self.xp.at(items, place))
        return score, int(at), int(j)

    def key(self, g: Any, items: Any) -> Any:
        """What equals are compared by, the larger first; None where the first item counts."""
        if self.cost is None:
            return None
        return g if self.name == "probability" else -self.cost[items]


class GreedyRun:
    """Algorithm 2: take the best of a block of items whose gains are exact, as long as no bound outside is above it."""

    def __init__(self, gains: Gains, limits: Limits, rule: Rule, floor: float) -> None:
        self.gains, self.limits, self.rule, self.xp, self.floor = gains, limits, rule, gains.xp, floor * (1.0 + TIE)
        self.left = Remaining(limits)
        self.size = min(gains.start, gains.n)
        self.pool: Any = None  # items with the largest bounds, of which blocks are made
        self.low: Any = False  # whether an item gained too little

    def run(self) -> Run:
        """Choose until nothing is left to choose."""
        gains, left, k = self.gains, self.left, self.limits.k
        items: list[int] = []
        found: list[float] = []
        for j in self.limits.include.tolist():
            items.append(j)
            found.append(gains.take(j))
            if found[-1] <= 0.0:
                return Run(np.array(items), np.array(found), End.IMPOSSIBLE)
            left.take(j)
        alive = self.limits.alive
        if not alive.all():
            gains.bound[self.xp.put(np.flatnonzero(~alive), gains.bound)] = -np.inf
        picks = -1  # since the block was made; there is none
        while len(items) < k:
            if picks < 0:
                check_stop()
                if not self.build():
                    break
                picks = 0
            # a device is waited for twice an item: here, and for its gain
            best, place, j = self.rule.best(self.rule.scores(self.g, self.items), self.g, self.items)
            if best < self.outside or best == -np.inf:
                if self.outside == -np.inf:
                    break
                self.put_back(best, picks)
                picks = -1
                continue
            gain = gains.take(j, place)
            self.g[place] = -np.inf
            gains.bound[j] = -np.inf
            if gain == 0.0:  # so have others, perhaps
                self.g[self.g <= gains.least(self.items)] = -np.inf
                continue
            items.append(j)
            found.append(gain)
            picks += 1
            self.g -= gains.fall()
            left.take(j)
            self.drop()
        alive = alive.copy()
        alive[items] = False
        end = self.left.why_ended(np.flatnonzero(alive), End.GAIN if bool(self.low) else End.RANK)
        return Run(np.array(items, np.int64), np.array(found), end)

    def build(self) -> bool:
        """Make a block of the items with the largest bounds; False where no candidate is left."""
        gains, n = self.gains, self.gains.n
        while True:
            if self.size >= n:
                self.pool, self.beyond = self.xp.all_items(n, gains.bound), -np.inf
            elif self.pool is None:
                self.pool, self.beyond = self.top(self.xp.all_items(n, gains.bound), max(POOL, 4 * self.size))
            self.items, outside = self.top(self.pool, self.size)
            self.outside = max(outside, self.beyond)
            if len(self.items) == 0:
                if self.beyond == -np.inf:
                    return False
                self.pool = None
                continue
            there = gains.bound[self.items] == -np.inf
            self.g = gains.block(self.items)
            self.g[there] = -np.inf
            self.host = self.xp.host(self.items) if self.left.watched else None
            self.drop()
            return True

    def top(self, items: Any, m: int) -> tuple[Any, float]:
        """The m of these items with the best scores by their bounds, and the best score of the others.

        Of equals the cheaper, then the first are among them. Up to m more may be there, and none that left.
        """
        scores = self.rule.scores(self.gains.bound[items], items)
        if m >= len(items):
            return items, -np.inf
        cut = self.xp.largest(scores, m + 1)
        if cut == -np.inf:
            return items[scores > -np.inf], -np.inf
        there = self.xp.where(scores >= self.rule.below(cut))
        if len(there) > 2 * m:
            above = scores > cut + (cut - self.rule.below(cut))
            ties = self.xp.where((scores >= self.rule.below(cut)) & ~above)
            key = self.rule.key(self.gains.bound[items[ties]], items[ties])
            if key is not None and len(ties) > m:
                least = self.xp.largest(key, m)
                above[ties[key > least]] = True
                ties = ties[key == least]
            above[ties[:m]] = True
            there = self.xp.where(above)
        return items[there], cut

    def put_back(self, best: float, picks: int) -> None:
        """Keep what the block knows as bounds; a short-lived block is followed by a larger one, or a pass over all."""
        self.gains.bound[self.items] = self.g
        if picks < FEW and self.gains.passes(4 * self.size) and self.gains.refresh():
            self.size, self.pool = min(self.gains.start, self.gains.n), None
        elif picks < FEW:
            self.size = min(4 * self.size, self.gains.n)
        if best < self.beyond:
            self.pool = None

    def drop(self) -> None:
        """Items of the block leave that no longer fit, that their group bars, or that gain too little."""
        if self.floor > -np.inf:
            low = (self.g <= self.floor) & (self.g > -np.inf)
            self.low = self.low | low.any()
            self.g[low] = -np.inf
        if self.host is not None:
            allowed = self.left.allows(self.host)
            if not allowed.all():
                self.g[self.xp.put(~allowed, self.g)] = -np.inf
