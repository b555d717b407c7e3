"""A Markov chain over subsets, for kernels of which only entries can be had.

The chain's law converges to the DPP; its draws are neither exact nor independent, unlike those of
every other sampler here. It starts from a greedy set, whose determinant is positive whenever any
set of its size has a positive one, so it never fails to start.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dpplearn._checks import FloatArray, IntArray

Entry = Callable[[int, int], float]
CHUNK = 4096  # moves whose random numbers are drawn together


def default_moves(n: int) -> tuple[int, int]:
    """Moves before the first draw, and between draws."""
    return 20 * max(n, 100), max(n, 100)


class Moves:
    """A kernel seen through its entries, the present set Y, and the inverse of L_Y."""

    def __init__(self, kernel: FloatArray | Entry, n: int, *, gram: bool = False, capacity: int = 256) -> None:
        self.kernel, self.n, self.gram = kernel, n, gram
        self.k, self.countdown = 0, 200
        self.place = np.full(n, -1, np.int64)
        self.Y = np.empty(0, np.int64)
        self.b, self.M = np.empty(0), np.empty((0, 0))
        self.reserve(capacity)

    def reserve(self, capacity: int) -> None:
        """Room for sets of `capacity` items; twice as much each time, and never more than n + 1."""
        capacity = min(capacity, self.n + 1)
        if capacity > self.Y.size:
            capacity = min(max(capacity, 2 * self.Y.size), self.n + 1)
            Y, M = np.empty(capacity, np.int64), np.empty((capacity, capacity))
            Y[: self.k], M[: self.k, : self.k] = self.Y[: self.k], self.M[: self.k, : self.k]
            self.Y, self.M, self.b = Y, M, np.empty(capacity)

    def row(self, i: int, items: IntArray) -> FloatArray:
        """L[i, items]."""
        if callable(self.kernel):
            return np.array([self.kernel(i, int(j)) for j in items], np.float64)
        if self.gram:
            return np.asarray(self.kernel[items] @ self.kernel[i])
        return self.kernel[i, items]

    def diagonal(self) -> FloatArray:
        """L_ii of every item."""
        if callable(self.kernel):
            return np.array([self.kernel(i, i) for i in range(self.n)], np.float64)
        if self.gram:
            return np.einsum("ij,ij->i", self.kernel, self.kernel)
        return self.kernel.diagonal().copy()

    def start_greedy(self, k: int | None) -> None:
        """Take the item that multiplies det(L_Y) most, k times, or while it multiplies it by more than 1."""
        from dpplearn._loops.chain import insert

        everything = np.arange(self.n)
        whole = self.diagonal()
        if not (np.isfinite(whole).all() and whole.min() >= 0.0):
            i = int(np.flatnonzero(~(whole >= 0.0) | ~np.isfinite(whole))[0])
            raise ValueError(f"The kernel must have a finite, non-negative diagonal, but L({i}, {i}) = {whole[i]}.")
        gain = whole.copy()
        rows: list[FloatArray] = []
        while k is None or self.k < k:
            gain[self.Y[: self.k]] = -np.inf
            i = int(gain.argmax())
            if gain[i] <= (1.0 if k is None else 1e-12 * whole[i]):
                if k is None:
                    break
                raise ValueError(
                    f"k must be at most the rank of the kernel: no set of {self.k + 1} items has a positive "
                    f"determinant, so a k-DPP with k = {k} does not exist."
                )
            row = self.row(i, everything)
            for c in rows:
                row = row - c[i] * c
            rows.append(row / np.sqrt(gain[i]))
            self.reserve(self.k + 2)
            self.b[: self.k] = self.row(i, self.Y[: self.k])
            self.place[i] = self.k
            self.k = insert(self.M, self.Y, self.k, i, self.b, float(gain[i]))
            gain = gain - rows[-1] ** 2

    def run(self, steps: int, rng: np.random.Generator, *, fixed_size: bool) -> None:
        """Make `steps` moves."""
        from dpplearn._loops.chain import run_chain

        while steps > 0:
            self.reserve(2 * self.k + 16)
            # between two looks at the room left, the set can grow by no more than there are moves
            count = min(steps, CHUNK if fixed_size or self.Y.size > self.n else self.Y.size - self.k - 1)
            u = rng.random((count, 4))
            if callable(self.kernel):
                self._run_entries(u, fixed_size)
            else:
                state: Any = (self.Y, self.place, self.k, self.M, self.b, fixed_size, self.countdown)
                self.k, self.countdown = run_chain(self.kernel, self.gram, u, *state)
            steps -= count

    def _run_entries(self, u: FloatArray, fixed_size: bool) -> None:
        """The moves of `run_chain` for a kernel that is a Python function."""
        from dpplearn._loops.chain import gain_of_adding, insert, remove

        for kind, which, where, accept in u:
            i = min(int(which * self.n), self.n - 1)
            a = int(self.place[i])
            toggle = not fixed_size and kind < 0.5
            if toggle and a >= 0:
                if accept < self.M[a, a]:
                    self._remove(remove, a)
            elif a < 0 and (toggle or 0 < self.k < self.n):
                skip = -1 if toggle else min(int(where * self.k), self.k - 1)
                self.b[: self.k] = self.row(i, self.Y[: self.k])
                gain = gain_of_adding(self.M, self.k, self.b, float(self.row(i, np.array([i]))[0]), skip)
                if accept < gain * (1.0 if toggle else self.M[skip, skip]):
                    if not toggle:
                        self.b[skip] = self.b[self.k - 1]
                        self._remove(remove, skip)
                    self.place[i] = self.k
                    self.k = insert(self.M, self.Y, self.k, i, self.b, gain)
                    self.countdown -= 1
            if self.countdown <= 0:
                self._refresh(insert, gain_of_adding)

    def _remove(self, remove: Callable[..., int], a: int) -> None:
        self.place[self.Y[a]] = -1
        self.k = remove(self.M, self.Y, self.k, a)
        if a < self.k:
            self.place[self.Y[a]] = a
        self.countdown -= 1

    def _refresh(self, insert: Callable[..., int], gain_of_adding: Callable[..., float]) -> None:
        k, self.k, self.countdown = self.k, 0, 200
        for i in self.Y[:k].tolist():
            self.b[: self.k] = self.row(i, self.Y[: self.k])
            diagonal = float(self.row(i, np.array([i]))[0])
            gain = max(gain_of_adding(self.M, self.k, self.b, diagonal, -1), 1e-12 * diagonal)
            self.k = insert(self.M, self.Y, self.k, i, self.b, gain)


def sample_mcmc(
    moves: Moves, size: int, rng: np.random.Generator, *, k: int | None, burn_in: int, thin: int
) -> tuple[IntArray, IntArray]:
    """`size` states of the chain, `thin` moves apart, after `burn_in` moves; returns indptr and indices."""
    moves.start_greedy(k)
    draws = []
    for s in range(size):
        moves.run(burn_in + thin if s == 0 else thin, rng, fixed_size=k is not None)
        draws.append(np.sort(moves.Y[: moves.k]))
    return np.cumsum([0, *map(len, draws)]), np.concatenate([np.empty(0, np.int64), *draws])
