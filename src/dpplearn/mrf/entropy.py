"""Approximates E_q[score] + H(q) of a DPP q without sampling, by exact entropies of small blocks of items.

In any order of the items, H(q) is the sum of H(y_i | the items before). If we condition on only some of them, S_i, then
H(q) = sum of H(y_i | y_S_i) - KL(q || q') with q'(y) = product of q(y_i | y_S_i). The sum is exact from small blocks of
K. For a pair (i, j) that no S_i covers, we add t_ij = log P(y_i, y_j) / (P(y_i) P(y_j)) to log q'. Its mean is the
mutual information of the pair, the leading term of the KL divergence. With c(y) = log_surrogate(y) for the result,

    H(q) = -E_q[c] - E_q[log q - c].

The first term and its gradient are exact, and the second is estimated from exact samples, with a small variance.

The entropy of a block is computed item by item. If a is the first entry of the block and v its column, a is the
probability that the item is in Y. The rest of the block loses v v^T / a if it is, and gains v v^T / (1 - a) if not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from dpplearn._checks import FloatArray, IntArray
from dpplearn.mrf.enumeration import scores

EXACT = 14  # up to so many items, one block has them all, and nothing is sampled
NEIGHBOURS = 8  # items that each block conditions on, if there are more
TINY = 1e-15  # a smaller conditional probability is rounding, and held constant, so that a line search steps back


@dataclass(frozen=True)
class Surrogate:
    """E_q[score] + the entropies of blocks, as a function of K, for the weights w and W of an MRF."""

    w: FloatArray
    W: FloatArray
    apart: FloatArray  # (n, n): 1 for pairs that are in no block
    first: IntArray  # (1, m): the block whose joint entropy counts
    others: IntArray  # (n - m, neighbours + 1): S_i and then i, for every other item

    @classmethod
    def of(cls, w: FloatArray, W: FloatArray, K: FloatArray, neighbours: int = NEIGHBOURS) -> Self:
        """Choose blocks of the items that depend most on each other under K.

        Each next item is the one that depends most on the items before it, and S_i are the `neighbours` of these on
        which it depends most.
        """
        n = w.size
        if n <= max(EXACT, neighbours + 1):
            return cls(w, W, np.zeros((n, n)), np.arange(n)[None], np.empty((0, 1), np.int64))
        d = np.clip(K.diagonal(), 1e-9, 1 - 1e-9)
        D = (K * K.T) ** 2 / np.outer(d * (1 - d), d * (1 - d))  # squared correlations
        np.fill_diagonal(D, 0.0)
        order = [int(D.sum(axis=1).argmax())]
        pull = np.zeros(n)
        while len(order) < n:
            pull += D[order[-1]]
            pull[order[-1]] = -np.inf
            order.append(int(pull.argmax()))
        place = np.array(order)
        first, later = place[: neighbours + 1], ((place[t], place[:t]) for t in range(neighbours + 1, n))
        others = np.array([[*J[np.argsort(-D[i, J], kind="stable")[:neighbours]], i] for i, J in later])
        apart = 1.0 - np.eye(n)
        apart[np.ix_(first, first)] = 0.0
        for row in others:
            apart[row[-1], row] = apart[row, row[-1]] = 0.0
        return cls(w, W, apart, first[None], others)

    @property
    def exact(self) -> bool:
        """Whether one block has all items, so that the value is the evidence lower bound itself."""
        return len(self.others) == 0

    def __call__(self, K: FloatArray) -> tuple[float, FloatArray]:
        """The value, and its gradient in the entries of K."""
        constant, u, U = self._pairs(K)
        value, G = expected_score(self.w - u, self.W - U, K)
        for rows, free in self._parts():
            index = (rows[:, :, None], rows[:, None, :])
            entropy, gradient = conditional_entropies(K[index], free)
            value += entropy
            np.add.at(G, index, gradient)
        return value - constant, G

    def log_surrogate(self, K: FloatArray, Y: FloatArray) -> FloatArray:
        """c(y) for rows y of zeros and ones; its mean is the expected score minus the value."""
        constant, u, U = self._pairs(K)
        out, chosen = constant + scores(u, U, Y), Y.astype(np.bool_)
        for rows, free in self._parts():
            levels, m = choices(K[rows[:, :, None], rows[:, None, :]]), rows.shape[1]
            for t in range(m - free, m):
                state = (Y[:, rows[:, :t]] @ np.left_shift(1, np.arange(t))).astype(np.int64)
                p = levels[t].chance[np.arange(len(rows)), state]
                out += np.where(chosen[:, rows[:, t]], np.log(p), np.log1p(-p)).sum(axis=1)
        return out

    def _pairs(self, K: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """The sum of t_ij(y) over the pairs in no block, as a constant, weights of items, and weights of pairs."""
        if self.exact:
            return 0.0, np.zeros_like(self.w), np.zeros_like(self.W)
        d = np.clip(K.diagonal(), TINY, 1 - TINY)
        P, yes, no = np.outer(d, d) - K * K.T, np.log(d), np.log1p(-d)
        cells = [P, d[:, None] - P, d - P, 1.0 - d[:, None] - d + P]  # both, only i, only j, neither
        alone = [yes[:, None] + yes, yes[:, None] + no, no[:, None] + yes, no[:, None] + no]
        both, first, second, neither = (
            self.apart * (np.log(np.maximum(p, TINY)) - q) for p, q in zip(cells, alone, strict=True)
        )
        return float(neither.sum()) / 2, (first - neither).sum(axis=1), both + neither - first - second

    def _parts(self) -> list[tuple[IntArray, int]]:
        """Blocks of equal size, with the number of their last items that count."""
        return [(self.first, self.first.size)] + ([] if self.exact else [(self.others, 1)])


def expected_score(w: FloatArray, W: FloatArray, K: FloatArray) -> tuple[float, FloatArray]:
    """Sum of w_i K_ii + sum over pairs of w_ij (K_ii K_jj - K_ij K_ji), and its gradient in K."""
    d = K.diagonal()
    value = w @ d + ((d @ W) @ d - (W * K * K.T).sum()) / 2
    G = -W * K.T
    G[np.diag_indices_from(G)] += w + W @ d
    return float(value), G


def conditional_entropies(blocks: FloatArray, free: int) -> tuple[float, FloatArray]:
    """Sum of H(last `free` items | the items before) over principal blocks (B, m, m) of K, and its gradient.

    The gradient is that of the mean of log P with the probabilities held constant, because these sum to 1.
    """
    levels = choices(blocks)
    mass, logs = np.ones((len(blocks), 1)), np.zeros((len(blocks), 1))
    for t, (_, a, _, _) in enumerate(levels):
        counts = float(t >= len(levels) - free)
        logs = np.concatenate([logs + counts * np.log1p(-a), logs + counts * np.log(a)], axis=1)
        mass = np.concatenate([mass * (1 - a), mass * a], axis=1)
    weights = -mass * logs
    return float(weights.sum()), log_slopes(levels, branch_masses(weights))


class BlockLevel(NamedTuple):
    """Whether item t is in Y, for each of the 2^t choices on the items before it (the second axis)."""

    A: FloatArray  # the rest of the blocks, given these choices
    chance: FloatArray  # P(in Y), kept away from 0 and 1
    by_out: FloatArray  # 1 / P(not in Y), or 0 if that is impossible
    by_in: FloatArray  # 1 / P(in Y), or 0 if that is impossible


def choices(blocks: FloatArray) -> list[BlockLevel]:
    """The levels of symmetric blocks (B, m, m) of K, one for each item."""
    A, levels = blocks[:, None], []
    for _ in range(blocks.shape[1]):
        a, v = A[..., 0, 0], A[..., 1:, 0]
        chance = np.clip(a, TINY, 1 - TINY)
        by_out, by_in = np.where(a < 1 - TINY, 1 / (1 - chance), 0.0), np.where(a > TINY, 1 / chance, 0.0)
        levels.append(BlockLevel(A, chance, by_out, by_in))
        rest, outer = A[..., 1:, 1:], v[..., :, None] * v[..., None, :]
        A = np.concatenate([rest + outer * by_out[..., None, None], rest - outer * by_in[..., None, None]], axis=1)
    return levels


def log_slopes(levels: list[BlockLevel], masses: list[tuple[FloatArray, FloatArray]]) -> FloatArray:
    """The gradient (B, m, m) of the sum of w(y) log P(y) over all y; `masses` are the `branch_masses` of w."""
    G = np.zeros((*masses[-1][0].shape[:1], 2 << (len(levels) - 1), 0, 0))
    for (A, chance, by_out, by_in), (taken, left) in zip(reversed(levels), reversed(masses), strict=True):
        v, (without, within) = A[..., 1:, 0], np.split(G, 2, axis=1)
        r_out, r_in = v * by_out[..., None], v * by_in[..., None]
        to_out, to_in = (np.einsum("bsjk,bsk->bsj", G_y, r) for G_y, r in ((without, r_out), (within, r_in)))
        slope = taken / chance - left / (1 - chance) + (to_in * r_in).sum(axis=-1) + (to_out * r_out).sum(axis=-1)
        G = np.empty_like(A)
        G[..., 1:, 1:] = without + within
        G[..., 1:, 0] = G[..., 0, 1:] = to_out - to_in
        G[..., 0, 0] = np.where(chance == A[..., 0, 0], slope, 0.0)
    return G[:, 0]


def branch_masses(w: FloatArray) -> list[tuple[FloatArray, FloatArray]]:
    """The sums of weights (B, 2^m) with and without item i, for each of the 2^i choices on the items before it."""
    out = []
    while w.shape[1] > 1:  # from the last item on: the upper half has it, and is then added to the lower
        without, within = np.split(w, 2, axis=1)
        out.append((within, without))
        w = without + within
    return out[::-1]
