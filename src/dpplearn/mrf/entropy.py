"""E_q[score] + H(q) of a DPP q, without sampling: local entropies that are exact, and the leading part of the rest.

Along an order of the items H(q) = sum of H(y_i | those before). Conditioning on only some of those before, S_i, gives
more: H(q) = sum of H(y_i | y_S_i) - KL(q || q'), where q'(y) = product of q(y_i | y_S_i). The first sum is exact from
small blocks of K. For a pair (i, j) that no S_i covers, log q' gains t_ij = log P(y_i, y_j) / (P(y_i) P(y_j)), whose
mean is the pair's information: the leading term of what is missing. So for log_surrogate(y), called c(y) here,

    H(q) = -E_q[c] - E_q[log q - c],

the first term and its gradient exact, the second with a small variance from exact samples.

Entropies of blocks go item by item: given the choices before, the first entry a of what K has become is the chance that
the item is in. The rest loses v v^T / a with the item and gains v v^T / (1 - a) without it, v its column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from dpplearn._checks import FloatArray, IntArray

EXACT, NEIGHBOURS = (
    14,
    8,
)  # items up to which one block has all of them, no sampling at all; conditions of a block beyond
LEAST = 1e-15  # a conditional probability below this is rounding: constant there, so that a line search steps back


@dataclass(frozen=True)
class Surrogate:
    """E_q[score] + local entropies, as a function of K, for the weights w and W of an MRF."""

    w: FloatArray
    W: FloatArray
    first: IntArray  # items of the first block, whose joint entropy is counted
    blocks: IntArray  # (n - len(first), neighbours + 1): S_i, then i, for every other item
    apart: FloatArray  # (n, n): 1 for pairs that no block covers

    @classmethod
    def of(cls, w: FloatArray, W: FloatArray, K: FloatArray, neighbours: int = NEIGHBOURS) -> Self:
        """Blocks of the items that depend most on each other under K.

        The next item in the order is the one that depends most on those before it; S_i are the `neighbours` items
        before it on which it depends most.
        """
        n = w.size
        if n <= max(EXACT, neighbours + 1):
            return cls(w, W, np.arange(n), np.empty((0, 1), np.int64), np.zeros((n, n)))
        spread = np.clip(K.diagonal(), 1e-9, 1 - 1e-9) * (1 - np.clip(K.diagonal(), 1e-9, 1 - 1e-9))
        D = (K * K.T) ** 2 / np.outer(spread, spread)  # squared correlations
        np.fill_diagonal(D, 0.0)
        order = [int(D.sum(axis=1).argmax())]
        pull, left = D[order[0]].copy(), np.ones(n, np.bool_)
        left[order[0]] = False
        while len(order) < n:
            i = int(np.where(left, pull, -np.inf).argmax())
            order.append(i)
            left[i] = False
            pull += D[i]
        place = np.array(order)
        rows = []
        for t in range(neighbours + 1, n):
            before = place[:t]
            nearest = before[np.argsort(-D[place[t], before], kind="stable")[:neighbours]]
            rows.append([*nearest, place[t]])
        first, blocks = place[: neighbours + 1], np.array(rows)
        apart = 1.0 - np.eye(n)
        apart[np.ix_(first, first)] = 0.0
        for row in blocks:
            apart[row[-1], row] = apart[row, row[-1]] = 0.0
        return cls(w, W, first, blocks, apart)

    @property
    def exact(self) -> bool:
        """Whether one block has all items: the value is the evidence lower bound itself."""
        return len(self.blocks) == 0

    def __call__(self, K: FloatArray) -> tuple[float, FloatArray]:
        """The value, and its gradient with respect to all entries of K."""
        value, G = expected_score(self.w, self.W, K)
        for rows, free in self._parts():
            index = (rows[:, :, None], rows[:, None, :])
            entropy, gradient, _ = conditional_entropies(K[index], free)
            value += entropy
            np.add.at(G, index, gradient)
        if not self.exact:
            table, yes, no = pair_logs_of(K)
            shared = information(table, yes, no)
            value -= float((self.apart * shared).sum()) / 2
            by_pair = self.apart * (table[0] + table[3] - table[1] - table[2])
            by_item = self.apart * (table[1] - table[3] - (yes - no)[:, None])  # P_ij held
            G += by_pair * K.T  # P_ij = K_ii K_jj - K_ij K_ji
            G[np.diag_indices_from(G)] -= by_pair @ K.diagonal() + by_item.sum(axis=1)
        return value, G

    def log_surrogate(self, K: FloatArray, Y: FloatArray) -> FloatArray:
        """c(y) for rows y of zeros and ones; its mean is the expected score minus the value."""
        out = np.zeros(len(Y))
        chosen = Y.astype(np.bool_)
        for rows, free in self._parts():
            for end in range(rows.shape[1] - free + 1, rows.shape[1] + 1):  # one item of the first block at a time
                part = rows[:, :end]
                _, _, tables = conditional_entropies(K[part[:, :, None], part[:, None, :]], 1)
                state = (Y[:, part[:, :-1]] @ np.left_shift(1, np.arange(end - 1))).astype(np.int64)
                p = tables[np.arange(len(part)), state]
                out += np.where(chosen[:, part[:, -1]], np.log(p), np.log1p(-p)).sum(axis=1)
        if not self.exact:
            table, yes, no = pair_logs_of(K)
            corner = table[3] - no[:, None] - no
            line = table[1] - yes[:, None] - no - corner
            cross = table[0] - yes[:, None] - yes - corner - line - line.T
            corner, line, cross = self.apart * corner, self.apart * line, self.apart * cross
            out += corner.sum() / 2 + Y @ line.sum(axis=1) + ((Y @ cross) * Y).sum(axis=1) / 2
        return out

    def _parts(self) -> list[tuple[IntArray, int]]:
        return [(self.first[None], self.first.size)] + ([] if self.exact else [(self.blocks, 1)])


def expected_score(w: FloatArray, W: FloatArray, K: FloatArray) -> tuple[float, FloatArray]:
    """Sum of w_i K_ii + sum over pairs of w_ij (K_ii K_jj - K_ij K_ji), and its gradient with respect to K."""
    d = K.diagonal()
    value = w @ d + ((d @ W) @ d - (W * K * K.T).sum()) / 2
    G = -W * K.T
    G[np.diag_indices_from(G)] += w + W @ d
    return float(value), G


def pair_logs_of(K: FloatArray) -> tuple[list[FloatArray], FloatArray, FloatArray]:
    """log of P(i and j), P(i, not j), P(j, not i), P(neither) for all pairs; of P(i) and P(not i). All kept off 0."""
    d = np.clip(K.diagonal(), LEAST, 1 - LEAST)
    both = np.outer(d, d) - K * K.T
    cells = both, d[:, None] - both, d - both, 1.0 - d[:, None] - d + both
    return [np.log(np.maximum(cell, LEAST)) for cell in cells], np.log(d), np.log1p(-d)


def information(table: Sequence[FloatArray], yes: FloatArray, no: FloatArray) -> FloatArray:
    """KL(P_ij || P_i P_j), from the logs of the four cells of P_ij and of P_i and 1 - P_i."""
    apart = yes[:, None] + yes, yes[:, None] + no, no[:, None] + yes, no[:, None] + no
    return np.asarray(sum(np.exp(cell) * (cell - product) for cell, product in zip(table, apart, strict=True)))


def conditional_entropies(blocks: FloatArray, free: int) -> tuple[float, FloatArray, FloatArray]:
    """Sum over the blocks of H(last `free` items | those before); blocks (B, m, m) are principal ones of any K.

    Also its gradient (B, m, m), and P(last in Y | the others) (B, 2^(m-1)).
    """
    m, value, levels = blocks.shape[1], 0.0, []
    A, mass = blocks[:, None], np.ones((len(blocks), 1))
    for t in range(m):
        a, by_out, by_in = chances(A), *inverses(A)
        levels.append((A, mass, a, by_out, by_in))
        if t >= m - free:
            value += float((mass * binary_entropy(a)).sum())
        rest, outer = A[:, :, 1:, 1:], A[:, :, 1:, :1] * A[:, :, :1, 1:]
        A = np.concatenate([rest + outer * by_out, rest - outer * by_in], axis=1)
        mass = np.concatenate([mass * (1 - a), mass * a], axis=1)
    G, g = np.zeros_like(A), np.zeros_like(mass)
    for t in range(m - 1, -1, -1):
        A, mass, a, by_out, by_in = levels[t]
        states = 1 << t
        G_out, G_in, g_out, g_in = G[:, :states], G[:, states:], g[:, :states], g[:, states:]
        slope = mass * (g_in - g_out)  # with respect to a
        g = a * g_in + (1 - a) * g_out  # with respect to the mass
        if t >= m - free:
            slope += mass * np.log((1 - a) / a)
            g += binary_entropy(a)
        v, u = A[:, :, 1:, 0], A[:, :, 0, 1:]
        change = G_out * by_out - G_in * by_in  # d / d(v u)
        squares = G_out * by_out**2 + G_in * by_in**2
        slope += ((v[:, :, None] @ squares)[:, :, 0] * u).sum(axis=-1)
        G = np.empty_like(A)
        G[:, :, 1:, 1:] = G_out + G_in
        G[:, :, 1:, 0] = (change @ u[..., None])[..., 0]
        G[:, :, 0, 1:] = (v[:, :, None] @ change)[:, :, 0]
        G[:, :, 0, 0] = np.where(a == A[:, :, 0, 0], slope, 0.0)
    return value, G[:, 0], levels[-1][2]


def chances(A: FloatArray) -> FloatArray:
    """First diagonal entries, kept off 0 and 1."""
    return np.clip(A[..., 0, 0], LEAST, 1 - LEAST)


def inverses(A: FloatArray) -> tuple[FloatArray, FloatArray]:
    """1 / P(out) and 1 / P(in) of the first item; 0 for a branch that is impossible, whose matrices do not count."""
    a = A[..., :1, :1]
    inside = np.clip(a, LEAST, 1 - LEAST)
    return np.where(a < 1 - LEAST, 1 / (1 - inside), 0.0), np.where(a > LEAST, 1 / inside, 0.0)


def binary_entropy(p: FloatArray) -> FloatArray:
    """Entropy of a coin, in nats, for 0 < p < 1."""
    return np.asarray(-p * np.log(p) - (1 - p) * np.log1p(-p))
