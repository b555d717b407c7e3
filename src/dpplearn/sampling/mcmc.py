"""A Markov chain over subsets, for kernels that only return single entries.

Its law converges to the DPP, but unlike those of the other samplers here its draws are neither exact nor independent.
It starts from a greedy set, whose determinant is positive.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.random import Generator

from dpplearn._checks import FloatArray, IntArray
from dpplearn._linalg import logdet
from dpplearn._precision import ZERO_GAIN
from dpplearn._run.stop import check_stop
from dpplearn.sampling import end_to_end

MOST_MOVES = 10**11  # more than anyone can wait for


class MarkovChain:
    """A kernel (i, j) -> L_ij with the current set Y, L_Y and its log-determinant."""

    def __init__(self, kernel: Callable[[int, int], float], n: int) -> None:
        self.kernel, self.n = kernel, n
        self.Y, self.L_Y, self.log_det = np.empty(0, np.int64), np.empty((0, 0)), 0.0

    def entry(self, i: int, j: int) -> float:
        """L_ij, which must be a finite number."""
        value = self.kernel(i, j)
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise TypeError(f"The kernel must return a real number, but L({i}, {j}) is {value!r}.") from None
        if not np.isfinite(number):
            raise ValueError(f"The kernel must return finite numbers, but L({i}, {j}) is {number}.")
        return number

    def row(self, i: int, items: IntArray) -> FloatArray:
        """L[i, items]."""
        return np.array([self.entry(i, j) for j in items.tolist()], np.float64)

    def diagonal(self) -> FloatArray:
        """L_ii of every item."""
        return np.array([self.entry(i, i) for i in range(self.n)], np.float64)

    def start_greedy(self, k: int | None) -> None:
        """Take the item that multiplies det(L_Y) most, k times, or as long as the factor is above 1."""
        whole = self.diagonal()
        if whole.min() < 0.0:
            i = int(whole.argmin())
            raise ValueError(f"The kernel must have a non-negative diagonal, but L({i}, {i}) = {whole[i]}.")
        gain, Y = whole.copy(), np.empty(0, np.int64)
        L, factor = np.empty((0, self.n)), np.empty((0, self.n))  # rows of L, and of its Cholesky factor
        while k is None or Y.size < k:
            i = int(gain.argmax())
            if gain[i] <= (1.0 if k is None else ZERO_GAIN * whole[i]):
                if k is None:
                    break
                raise ValueError(f"k must be at most the rank of the kernel ({Y.size}), found {k}. Ask for fewer.")
            row = self.row(i, np.arange(self.n))
            check_symmetric(i, row[Y], Y, L[:, i])
            left = (row - factor[:, i] @ factor) / np.sqrt(gain[i])
            L, factor, Y = np.vstack([L, row]), np.vstack([factor, left]), np.append(Y, i)
            gain -= left**2
            gain[Y] = -np.inf
        self.Y, self.L_Y = Y, L[:, Y]
        self.log_det = logdet(self.L_Y)

    def move(self, u: FloatArray, fixed_size: bool) -> None:
        """Toggle one item, or swap an item of Y for another one, by four uniform numbers.

        A move and its reverse are proposed with equal probability, and accepted with probability min(1, ratio of
        determinants).
        """
        i, toggle = min(int(u[1] * self.n), self.n - 1), not fixed_size and u[0] < 0.5
        others, inside = np.ones(self.Y.size, np.bool_), i in self.Y
        if toggle:
            others = np.not_equal(self.Y, i)
        elif inside or not self.Y.size:
            return
        else:
            others[min(int(u[2] * self.Y.size), self.Y.size - 1)] = False
        Y, L_Y = self.Y[others], self.L_Y[others][:, others]
        if not inside:
            row = self.row(i, Y)
            L_Y = np.block([[L_Y, row[:, None]], [row, np.array(self.entry(i, i))]])
            Y = np.append(Y, i)
        log_det = logdet(L_Y)
        if u[3] < np.exp(min(log_det - self.log_det, 0.0)):
            self.Y, self.L_Y, self.log_det = Y, L_Y, log_det


def check_symmetric(i: int, row: FloatArray, items: IntArray, column: FloatArray) -> None:
    """Raise unless L[i, items] and L[items, i] agree."""
    for j, there, back in zip(items.tolist(), row, column, strict=True):
        if abs(back - there) > 1e-8 * max(abs(back), abs(there)):
            raise ValueError(f"The kernel must be symmetric, but L({i}, {j}) = {there} and L({j}, {i}) = {back}.")


def sample_mcmc(
    chain: MarkovChain, size: int, rng: Generator, k: int | None, burn_in: int | None = None, thin: int | None = None
) -> tuple[IntArray, IntArray]:
    """indptr and indices of `size` states, by default n moves apart (at least 100), after 20 times as many moves."""
    usual = max(chain.n, 100)
    burn_in, thin = 20 * usual if burn_in is None else burn_in, usual if thin is None else thin
    if burn_in + size * thin > MOST_MOVES:
        raise ValueError(
            f"size * thin + burn_in must be at most {MOST_MOVES} moves, found {burn_in + size * thin}. "
            "Draw fewer states, or fewer moves apart."
        )
    chain.start_greedy(k)
    draws = []
    for s in range(size):
        for _ in range(burn_in + thin if s == 0 else thin):
            chain.move(rng.random(4), fixed_size=k is not None)
        check_stop()
        draws.append(np.sort(chain.Y))
    return end_to_end(draws)
