"""A Markov chain over subsets, for kernels of which only single entries are known.

The chain's law converges to the DPP; its draws are neither exact nor independent, unlike those of
every other sampler here. It starts from a greedy set, whose determinant is positive.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.random import Generator

from dpplearn._checks import FloatArray, IntArray, number_text
from dpplearn._precision import ZERO_GAIN
from dpplearn.sampling import end_to_end

Entry = Callable[[int, int], float]
MOST_MOVES = 10**11  # a day, or a week
CHUNK = 4096  # moves whose random numbers are drawn together


class MarkovChain:
    """A kernel seen through its entries, the present set Y, and the Cholesky factor of L_Y."""

    def __init__(self, kernel: FloatArray | Entry, n: int, *, gram: bool = False) -> None:
        self.kernel, self.n, self.gram, self.k = kernel, n, gram, 0
        self.inside, self.Y, self.C = np.zeros(n, np.bool_), np.empty(0, np.int64), np.empty((0, 0))

    def reserve(self, capacity: int) -> None:
        """Make room for a set of so many items: an odd number, because rows a power of two apart are slow to read."""
        capacity |= 1
        Y, C, k = np.empty(capacity, np.int64), np.empty((capacity, capacity)), self.k
        Y[:k], C[:k, :k] = self.Y[:k], self.C[:k, :k]
        self.Y, self.C, self.b = Y, C, np.empty(capacity)

    def row(self, i: int, items: IntArray) -> FloatArray:
        """L[i, items]."""
        if callable(self.kernel):
            return np.array([self.entry(i, int(j)) for j in items], np.float64)
        if self.gram:
            return np.asarray(self.kernel[items] @ self.kernel[i])
        return self.kernel[i, items]

    def entry(self, i: int, j: int) -> float:
        """L_ij from the function, which must be a finite number."""
        assert callable(self.kernel)
        value = self.kernel(i, j)
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise TypeError(f"The kernel must return a real number, but L({i}, {j}) is {value!r}.") from None
        if not np.isfinite(number):
            raise ValueError(f"The kernel must return finite numbers, but L({i}, {j}) is {number}.")
        return number

    def diagonal(self) -> FloatArray:
        """L_ii of every item."""
        if callable(self.kernel):
            return np.array([self.entry(i, i) for i in range(self.n)], np.float64)
        return np.einsum("ij,ij->i", self.kernel, self.kernel) if self.gram else self.kernel.diagonal().copy()

    def start_greedy(self, k: int | None) -> None:
        """Take the item that multiplies det(L_Y) most, k times, or while it multiplies it by more than 1."""
        whole = self.diagonal()
        if whole.min() < 0.0:
            i = int(whole.argmin())
            raise ValueError(f"The kernel must have a non-negative diagonal, but L({i}, {i}) = {whole[i]}.")
        gain, Y = whole.copy(), np.empty(0, np.int64)
        L_Y, factor = np.empty((0, self.n)), np.empty((0, self.n))  # rows of L, and what is left of them
        while k is None or Y.size < k:
            i = int(gain.argmax())
            if gain[i] <= (1.0 if k is None else ZERO_GAIN * whole[i]):
                if k is None:
                    break
                raise ValueError(
                    f"k must be at most the rank of the kernel, found {k}: {Y.size} items, taken greedily, span all "
                    "others to working precision."
                )
            row = self.row(i, np.arange(self.n))
            if callable(self.kernel):
                check_symmetric(i, row[Y], Y, L_Y[:, i])
            left = (row - factor[:, i] @ factor) / np.sqrt(gain[i])
            L_Y, factor, Y = np.vstack([L_Y, row]), np.vstack([factor, left]), np.append(Y, i)
            gain -= left**2
            gain[Y] = -np.inf
        # no set has more items than L or B has columns; of a function nothing is known
        self.reserve(2 * Y.size + 16 if callable(self.kernel) else max(Y.size, self.kernel.shape[1]) + 1)
        self.k, self.Y[: Y.size], self.inside[Y] = Y.size, Y, True
        self.C[: Y.size, : Y.size] = np.tril(factor[:, Y].T)

    def run(self, steps: int, rng: Generator, *, fixed_size: bool) -> None:
        """Make `steps` moves."""
        from dpplearn.sampling._loops import ChainState, run_chain

        entries = np.empty((1, self.n)) if callable(self.kernel) else self.kernel
        for start in range(0, steps, CHUNK):
            u = rng.random((min(steps - start, CHUNK), 4))
            for part in u[:, None] if callable(self.kernel) else [u]:
                if callable(self.kernel):  # one move at a time, with the row of its item
                    i = min(int(part[0, 1] * self.n), self.n - 1)
                    if not self.inside[i] and (self.k > 0 or (not fixed_size and part[0, 0] < 0.5)):
                        entries[0, i] = self.entry(i, i)
                        entries[0, self.Y[: self.k]] = self.row(i, self.Y[: self.k])
                    if self.k == self.Y.size:
                        self.reserve(2 * self.k)
                state = ChainState(entries, self.gram, self.Y, self.inside, self.C, self.b)
                self.k = run_chain(state, part, self.k, fixed_size)


def check_symmetric(i: int, row: FloatArray, items: IntArray, column: FloatArray) -> None:
    """Raise unless L[i, items] and L[items, i] agree."""
    for j, there, back in zip(items.tolist(), row, column, strict=True):
        if abs(back - there) > 1e-8 * max(abs(back), abs(there)):
            raise ValueError(f"The kernel must be symmetric, but L({i}, {j}) = {there} and L({j}, {i}) = {back}.")


def sample_mcmc(
    chain: MarkovChain, size: int, rng: Generator, k: int | None, burn_in: int | None = None, thin: int | None = None
) -> tuple[IntArray, IntArray]:
    """`size` states of the chain, `thin` moves apart (n, or 100), after `burn_in` moves (20 times as many).

    Returns indptr and indices.
    """
    usual = max(chain.n, 100)
    burn_in, thin = 20 * usual if burn_in is None else burn_in, usual if thin is None else thin
    if burn_in + size * thin > MOST_MOVES:
        raise ValueError(
            f"size * thin + burn_in must be at most {MOST_MOVES} moves, found {number_text(burn_in + size * thin)}. "
            "Draw fewer states, or fewer moves apart."
        )
    chain.start_greedy(k)
    draws = []
    for s in range(size):
        chain.run(burn_in + thin if s == 0 else thin, rng, fixed_size=k is not None)
        draws.append(np.sort(chain.Y[: chain.k]))
    return end_to_end(draws)
