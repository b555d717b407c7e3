"""Greedy runs over items on a device: gains that are exact in front, and bounds behind it.

Given the items Y, g_i = own_i + b_i^T P b_i with P = I - sum of u_s u_s^T and u_t = P b_j / sqrt(g_j) for each item j
taken: every item taken lowers the other gains by <b_i, u_t>^2. Gains only shrink, so that old ones are upper bounds.
A *front*, the items with the largest bounds, is kept exact in float64; when its best is below a bound outside, one
product with all rows, in their own type, brings the bounds of all down.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dpplearn._checks import FloatArray
from dpplearn._loops.records import DEPENDENT, FULL, IMPOSSIBLE, LOG, NO_GAIN, NO_ROOM, PROBABILITY, QUOTA, SIZE, Run
from dpplearn._precision import EPS, EPS32, ROUNDING, row_rounding
from dpplearn.decoding.candidates import some
from dpplearn.decoding.diversity import exponents
from dpplearn.decoding.limits import Limits

FRONT = 2**14  # items that are kept exact
ROWS = 2**20  # rows multiplied at a time, where many are
HALF = (torch.float16, torch.bfloat16)


def host(x: Any) -> Any:
    """A tensor as an array; anything else as it is."""
    return x.detach().cpu().numpy() if isinstance(x, Tensor) else x


def balanced(rows: Tensor, lengths: Tensor) -> Tensor:
    """`dpplearn._checks.balanced` for tensors: rows beyond 1e-20 to 1e20 times a power of 2, in the same directions."""
    odd = torch.nonzero(~((lengths >= 1e-20) & (lengths <= 1e20))).flatten()
    top = rows[odd].double().abs().amax(1)
    odd, top = odd[(top > 0.0) & torch.isfinite(top)], top[(top > 0.0) & torch.isfinite(top)]
    exponents = -torch.frexp(top).exponent.unsqueeze(-1)
    half = exponents // 2  # 2^1074 is no float
    scaled = rows[odd].double() * torch.exp2(half.double()) * torch.exp2((exponents - half).double())
    return rows.index_copy(0, odd, scaled.to(rows.dtype)) if odd.numel() else rows


@dataclass(frozen=True, eq=False)
class DeviceRows:
    """Items of quality q in the directions of their rows, on a device: L_ij = q_i q_j cos(rows_i, rows_j)."""

    rows: Tensor
    lengths: Tensor  # float64, as is q
    q: Tensor

    @classmethod
    def read(cls, rows: Tensor, name: str) -> tuple[Tensor, Tensor]:
        """Rows and their lengths."""
        if rows.ndim != 2 or 0 in rows.shape or not rows.is_floating_point():
            raise ValueError(
                f"{name} must be floating-point rows, one for each item, found {rows.dtype} {tuple(rows.shape)}."
            )
        kind = torch.float32 if rows.dtype in HALF else torch.float64
        parts = [torch.linalg.vector_norm(part, dim=1, dtype=kind) for part in rows.split(ROWS)]
        lengths = torch.cat(parts).double()
        if not bool(((lengths >= 1e-20) & (lengths <= 1e20)).all()):
            rows = balanced(rows, lengths)
            lengths = torch.linalg.vector_norm(rows, dim=1, dtype=kind).double()
        if not bool(torch.isfinite(lengths).all()):
            bad = torch.nonzero(~torch.isfinite(lengths)).flatten().cpu().numpy()
            raise ValueError(f"{name} must be finite, but rows {some(bad)} are not.")
        return rows, lengths

    @property
    def zero(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Rows that have no direction."""
        return np.asarray(host(self.lengths <= 0.0))

    @property
    def precision(self) -> np.dtype[Any]:
        """Of the directions."""
        return np.dtype(np.float64 if self.rows.dtype == torch.float64 else np.float32)

    def along(self, axes: FloatArray) -> FloatArray:
        """The places of unit rows along axes."""
        A = torch.as_tensor(axes, dtype=torch.float64, device=self.rows.device)
        places = torch.cat([part.double() @ A for part in self.rows.split(ROWS // 8)])
        return np.asarray(host(places / self.lengths.where(self.lengths > 0.0, 1.0).unsqueeze(-1)))

    def parts(self, diversity: float) -> tuple[Tensor, Tensor, Tensor]:
        """scale, diag, own: L_ij = scale_i scale_j <rows_i, rows_j>, and own_i of L_ii = diag_i is in no other row."""
        a, b = exponents(diversity)
        power = self.q if a == 1.0 else torch.where(self.q > 0.0, self.q.clamp(min=1e-300) ** a, 0.0)
        there = self.lengths > 0.0
        diag = power.square()
        scale = torch.where(there, np.sqrt(b) * power / self.lengths.where(there, 1.0), 0.0)
        return scale, diag, torch.where(there, (1.0 - b) * diag, diag)


class RowGains:
    """Gains of items that have rows."""

    def __init__(self, items: DeviceRows, diversity: float, k: int) -> None:
        self.rows, self.lengths = items.rows, items.lengths
        self.scale, self.diag, self.own = items.parts(diversity)
        d = self.rows.shape[1]
        self.noise = row_rounding(items.precision, d, k)
        self.shared = diversity >= 0.5  # nothing is an item's own: the directions are orthonormal
        self.U = torch.zeros(min(k, 64), d, dtype=torch.float64, device=self.rows.device)
        self.t = self.done = 0  # directions in all, and those that the bounds know
        self.bound = self.diag.clone()

    def exact(self, idx: Tensor) -> Tensor:
        """The gains of some items, from all directions."""
        self.idx = idx
        self.front = self.rows[idx].to(torch.float64 if len(idx) <= 8 * FRONT else torch.float32)
        step = max(1, 2**26 // (self.t + self.rows.shape[1]))
        explained = [(part.double() @ self.U[: self.t].mT).square().sum(-1) for part in self.front.split(step)]
        return self.diag[idx] - self.scale[idx].square() * torch.cat(explained)

    def take(self, j: int) -> float:
        """The gain of an item, whose direction is added where there is one."""
        b = self.scale[j] * self.rows[j].double()
        U = self.U[: self.t]
        v = b - U.mT @ (U @ b)
        if self.shared:
            v = v - U.mT @ (U @ v)  # digits were lost: once more
        gain = float(self.own[j] + (v @ v if self.shared else b @ v))
        if gain <= self.noise * float(self.diag[j]) or gain == 0.0:
            return 0.0
        if self.t == len(self.U):
            self.U = torch.cat([self.U, torch.zeros_like(self.U)])
        self.U[self.t] = v / gain**0.5
        self.t += 1
        return gain

    def lower(self) -> Tensor:
        """What the last item taken explains of the front."""
        x = (self.front @ self.U[self.t - 1].to(self.front.dtype)).double()
        return (self.scale[self.idx] * x).square()

    def refresh(self) -> bool:
        """Bring the bounds down by the directions they do not know; False where there are none.

        The products are made in the type of the rows: |x| may be wrong by its rounding and a little of a row's length.
        What is subtracted is less by that, and bounds stay bounds. Half-precision rows meet u as u = high + low.
        """
        if self.done == self.t:
            return False
        U, kind = self.U[self.done : self.t], self.rows.dtype
        high = U.to(kind)
        W = torch.cat([high, (U - high.double()).to(kind)]) if kind in HALF else high
        W = torch.nn.functional.pad(W, (0, 0, 0, -len(W) % 8)).mT.contiguous()  # columns that the library likes
        eps, T = torch.finfo(kind).eps, len(U)
        wide = torch.float64 if kind == torch.float64 else torch.float32
        reach = self.scale.to(wide)
        slack = (64 * EPS if kind == torch.float64 else 64 * EPS32) * self.lengths.to(wide)
        for low in range(0, len(self.rows), ROWS):
            part = slice(low, low + ROWS)
            X = (self.rows[part] @ W).to(wide)
            X = X[:, :T] + X[:, T : 2 * T] if kind in HALF else X[:, :T]
            x = (X.abs() * (1.0 - 4 * eps) - slack[part, None]).clamp(min=0.0)
            self.bound[part] -= (reach[part] * torch.linalg.vector_norm(x, dim=1)).square() * (1.0 - 16 * EPS32)
        self.done = self.t
        return True


class KernelGains:
    """Gains of items that have a kernel: rows of a Cholesky factor, and all items are in front."""

    def __init__(self, L: Tensor, k: int) -> None:
        self.L, self.diag = L.double(), L.diagonal().double()
        self.noise, self.bound, self.t = ROUNDING, self.diag.clone(), 0
        self.C = torch.zeros(min(k, len(L)), len(L), dtype=torch.float64, device=L.device)

    def exact(self, idx: Tensor) -> Tensor:
        self.idx = idx
        return (self.diag - self.C[: self.t].square().sum(0))[idx]

    def take(self, j: int) -> float:
        gain = float(self.diag[j] - self.C[: self.t, j].square().sum())
        if gain <= (self.t + 1) * self.noise * float(self.diag[j]):
            return 0.0
        # e_i = (L_ij - <c_i, c_j>) / sqrt(g_j)
        self.C[self.t] = (self.L[j] - self.C[: self.t, j] @ self.C[: self.t]) / gain**0.5
        self.t += 1
        return gain

    def lower(self) -> Tensor:
        return self.C[self.t - 1, self.idx].square()

    def refresh(self) -> bool:
        self.bound = self.diag - self.C[: self.t].square().sum(0)
        return False


class GreedyRun:
    """Algorithm 2 with the gains of a device."""

    def __init__(self, gains: Any, limits: Limits, rule: int, power: float, floor: float) -> None:
        self.gains, self.limits, self.rule, self.floor = gains, limits, rule, floor
        device = gains.diag.device
        self.alive = torch.ones(len(gains.diag), dtype=torch.bool, device=device)
        for gone in (limits.include, limits.exclude):
            self.alive[torch.tensor(gone, device=device)] = False
        free = limits.budget == np.inf
        self.cost = None if free and (power == 0.0 or limits.equal) else torch.tensor(limits.cost, device=device)
        self.weight = None if self.cost is None or power == 0.0 else self.cost**power
        self.room, self.spent, self.wide = limits.room, 0.0, FRONT
        self.dear = self.barred = self.low = self.dependent = 0
        self.group = torch.tensor(limits.group, device=device) if limits.group.size else None

    def score(self, g: Tensor, idx: Tensor | None = None) -> Tensor:
        """What the rule compares; grows with g."""
        w: Any = 1.0 if self.weight is None else self.weight if idx is None else self.weight[idx]
        if self.rule == PROBABILITY:
            return (g - 1.0) / w
        x = g.clamp(min=1e-300).log()
        return x / w if self.rule == LOG else torch.where(x >= 0.0, x / w, x)

    def leave(self, alive: Tensor, g: Tensor, idx: Tensor | None = None) -> Tensor:
        """Who stays: what is too dear, depends on the chosen ones, or gains too little, leaves and is counted."""
        diag = self.gains.diag if idx is None else self.gains.diag[idx]
        stays = alive & (g > self.gains.noise * diag * (self.gains.t + 1 if isinstance(self.gains, KernelGains) else 1))
        self.dependent += int((alive & ~stays).sum())
        gain = stays & (g > self.floor)
        self.low += int((stays & ~gain).sum())
        if self.cost is not None and self.room < np.inf:
            cost = self.cost if idx is None else self.cost[idx]
            cheap = gain & (self.spent + cost <= self.room)
            self.dear += int((gain & ~cheap).sum())
            return cheap
        return gain

    def run(self) -> Run:
        limits, gains = self.limits, self.gains
        items: list[int] = []
        found: list[float] = []
        forced = limits.include.tolist()
        k = min(limits.k, len(gains.diag))
        front: Tensor | None = None  # the items, and beside them their gains and who is alive
        while len(items) < k:
            if len(items) < len(forced):
                j = forced[len(items)]
            else:
                if front is None:
                    built = self.build()
                    if built is None:
                        break
                    front, g, alive, outside = built
                alive = self.leave(alive, g, front)
                score = torch.where(alive, self.score(g, front), -torch.inf)
                best = score.max()
                if bool(best < outside) or not bool(alive.any()):
                    self.alive[front] = alive
                    if outside == -np.inf:
                        break
                    self.wide = FRONT if gains.refresh() else 2 * self.wide  # none is new: more must be exact
                    front = None
                    continue
                place = self.preferred(score == best, g, front)
                j = int(front[place])
                alive[place] = False
            gain = gains.take(j)
            self.alive[j] = False
            if gain == 0.0:
                if len(items) < len(forced):
                    return Run(np.array([*items, j], np.int64), np.array([*found, 0.0]), IMPOSSIBLE, 0)
                self.dependent += 1
                continue
            items.append(j)
            found.append(gain)
            self.spent += float(limits.cost[j])
            if front is not None:
                g = g - gains.lower()
            if self.group is not None:
                if front is not None:
                    self.alive[front] = alive
                rivals = self.alive & (self.group == self.group[j])
                self.barred += int(rivals.sum())
                self.alive &= ~rivals
                alive = self.alive if front is None else self.alive[front]
        if front is not None:
            self.alive[front] = alive
        end = self.why(len(items) == k)
        return Run(np.array(items, np.int64), np.array(found), end, 0)

    def preferred(self, equal: Tensor, g: Tensor, front: Tensor) -> int:
        """Of equal scores the larger g (g - 1 is the same float for all small g), or the cheaper; then the first."""
        if self.rule == PROBABILITY or self.cost is not None:
            x = g if self.rule == PROBABILITY or self.cost is None else -self.cost[front]
            x = torch.where(equal, x, -torch.inf)
            equal = x == x.max()
        return int(torch.nonzero(equal)[0])

    def build(self) -> tuple[Tensor, Tensor, Tensor, float] | None:
        """The front in the order of item numbers, its gains, who is alive in it, and the best score outside."""
        gains = self.gains
        if isinstance(gains, KernelGains):
            gains.refresh()
        self.alive = self.leave(self.alive, gains.bound)
        n = len(gains.diag)
        score = torch.where(self.alive, self.score(gains.bound), -torch.inf)
        size = n if isinstance(gains, KernelGains) else min(n, self.wide)
        if size == n:
            if not bool(self.alive.any()):
                return None
            front, outside = torch.arange(n, device=score.device), -np.inf
        else:
            top = torch.topk(score, size + 1)
            if float(top.values[0]) == -np.inf:
                return None
            # of many that are equal, the first is among them: topk takes any
            first = torch.nonzero(score == top.values[0])[0]
            front, outside = torch.cat([top.indices[:size], first]).unique(), float(top.values[-1])
        return front, gains.exact(front), self.alive[front], outside

    def why(self, full: bool) -> int:
        """The reason for an end."""
        if full and bool(self.alive.any()):
            return SIZE
        if self.dear:
            return NO_ROOM
        if self.barred:
            return QUOTA
        if self.low:
            return NO_GAIN
        return DEPENDENT if self.dependent else FULL
