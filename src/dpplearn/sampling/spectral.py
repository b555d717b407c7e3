"""The spectral sampler (Hough et al., 2006): tables, blocks of samples for threads, and a chain for few samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from dpplearn._checks import FloatArray, IntArray, view
from dpplearn._precision import EPS, EQUAL_PROBABILITY, PARALLEL
from dpplearn._run.stop import check_stop
from dpplearn._run.threads import map_threads
from dpplearn.sampling import Array, Tables, end_to_end

MOST_ITEMS = 2 * 10**9  # item numbers of all samples together take up to 16 GB
T = TypeVar("T")


def make_tables(p: FloatArray, V: FloatArray) -> Tables:
    """Tables for orthonormal columns V with ascending probabilities p, with which a sample takes O(n k^2)."""
    p, V = p[::-1], V[:, ::-1]  # the columns used most come first, and lie side by side in memory
    if V.shape[0] > V.shape[1]:  # a square V keeps all columns, because the complement may need them
        p, V = p[p > 0.0], V[:, p > 0.0]
    hazard = np.cumsum(-np.log1p(-np.minimum(p, 1.0 - EPS / 2)))  # for p = 1, more than is ever drawn
    return Tables(hazard, np.empty((0, 0)), view(V), np.empty((0, 0)), np.empty((0, 0), np.int32))


def sized_tables(log_esp: FloatArray, V: FloatArray) -> Tables:
    """Tables of a k-DPP; log_esp is that of the eigenvalues from V's last column to its first."""
    log_esp = np.ascontiguousarray(log_esp)
    return Tables(np.empty(0), log_esp, view(V[:, ::-1]), np.empty((0, 0)), np.empty((0, 0), np.int32))


def with_alias(tables: Tables) -> Tables:
    """Tables for many samples, with O(n m) more numbers: the cost of a sample no longer depends on n."""
    from dpplearn.sampling._spectral_loops import alias_tables

    V = view(np.ascontiguousarray(tables.V))
    accept, alias = np.empty(V.shape[::-1]), np.empty(V.shape[::-1], np.int32)
    alias_tables(V, accept, alias)
    return tables._replace(V=V, accept=accept, alias=alias)


def settled(p: FloatArray, V: FloatArray) -> FloatArray:
    """V, where columns of equal probability p (ascending) are replaced by a basis that depends only on their span.

    Any basis of that space gives the same distribution, but LAPACK's depends on the processor, and so would the samples
    for a seed. So we span each space by the projections of items, the longest first and the first of ties, and make
    them orthogonal (Gram and Schmidt).

    Examples
    --------
    >>> settled(np.array([1.0, 1.0]), np.array([[0.6, -0.8], [0.8, 0.6]])).round(12) + 0.0
    array([[1., 0.],
           [0., 1.]])
    """
    turned = np.array(V)
    for group in np.split(np.arange(p.size), np.flatnonzero(np.diff(p) > EQUAL_PROBABILITY) + 1):
        if group.size < 2 or p[group[-1]] <= EQUAL_PROBABILITY:  # columns with p near 0 are hardly ever drawn
            continue
        space, turn = V[:, group], np.empty((group.size, group.size))
        length = np.einsum("ij,ij->i", space, space)  # squared lengths of the rest of each item's projection
        for j in range(group.size):
            i = np.flatnonzero(length >= length.max() - PARALLEL)[0]  # the first of those that tie but for rounding
            new = space[i] - turn[:j].T @ (turn[:j] @ space[i])
            turn[j] = new / np.linalg.norm(new)
            length -= (space @ turn[j]) ** 2
        turned[:, group] = space @ turn.T
    return turned


def draw_blocks(
    tables: Tables, size: int, rng: np.random.Generator, expected_size: float, n_jobs: int,
    use: Callable[[Array, Array], T], sizes: tuple[int, int] | None = None,
) -> list[T]:  # fmt: skip
    """Draw `size` samples in blocks; returns use(lengths, items) for each block.

    A sample whose length is outside `sizes` is left out, and its length is -1. A block takes a few milliseconds; blocks
    and their random numbers do not depend on the number of threads.
    """
    from dpplearn.sampling._spectral_loops import draw_block

    block = int(np.clip(4e6 / (1e3 + expected_size**3), 1, 4096))
    starts = np.append(np.arange(0, size, block), size)
    states, (least, most) = random_states(len(starts) - 1, rng), sizes or (0, len(tables.V))

    def draw(b: int) -> T:
        lengths = np.empty(int(starts[b + 1] - starts[b]), np.int32)
        room = int(lengths.size * expected_size * 1.1) + 64
        items = draw_block(tables, states[b], lengths.size, lengths, room, least, most)
        first = len(tables.V) * np.repeat(np.arange(lengths.size), np.maximum(lengths, 0))
        return use(lengths, (np.sort(first + items) - first).astype(np.int32))  # sorts each sample by itself

    return map_threads(draw, len(starts) - 1, n_jobs)


def random_states(count: int, rng: np.random.Generator) -> Array:
    """`count` random states for `next_word`."""
    return rng.integers(0, 2**64 - 1, size=(count, 4), dtype=np.uint64, endpoint=True)


def sample_spectral(
    tables: Tables, size: int, rng: np.random.Generator, *, expected_size: float, n_jobs: int
) -> tuple[IntArray, IntArray]:
    """Draw `size` exact samples; returns indptr and indices."""
    if size * expected_size > MOST_ITEMS:
        raise ValueError(
            f"size must be at most {int(MOST_ITEMS / expected_size)} for sets of {expected_size:.3g} items on average, "
            f"found {size}. Draw them in several calls."
        )
    if tables.accept.size == 0:
        return sample_by_chain(tables, size, rng)
    blocks = draw_blocks(tables, size, rng, expected_size, n_jobs, lambda lengths, items: (lengths, items))
    lengths = np.concatenate([lengths for lengths, _ in blocks], dtype=np.int64)
    return np.append(0, np.cumsum(lengths)), np.concatenate([items for _, items in blocks], dtype=np.int64)


def sample_by_chain(tables: Tables, size: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Draw exact samples without alias tables, each by the chain rule on its own columns of V."""
    from dpplearn.sampling._spectral_loops import choose_k_vectors, choose_vectors, fill

    n, m = tables.V.shape
    J, draws = np.empty(m, np.int64), []
    for state in random_states(size, rng):
        check_stop()
        if tables.log_esp.size:
            k = choose_k_vectors(tables.log_esp, state, J)
        else:
            k = choose_vectors(tables.hazard, state, J)
        # the complement of the projection DPP on V[:, J] is the one on the columns left out (n = m)
        flip = n == m and 2 * k > n
        columns = np.setdiff1d(np.arange(n), J[:k]) if flip else J[:k]
        u = np.empty(columns.size)
        fill(state, u)
        items = projection_chain(np.ascontiguousarray(tables.V[:, columns]), u)
        draws.append(np.setdiff1d(np.arange(n), items) if flip else np.sort(items))
    return end_to_end(draws)


def projection_chain(V: FloatArray, u: FloatArray) -> IntArray:
    """Items of the projection DPP K = V V^T, one for each uniform number, by the chain rule, in O(n k) each.

    The probability of the next item is proportional to the squared length of its row outside the span of earlier rows.
    """
    E, left, items = np.empty((u.size, u.size)), np.einsum("ij,ij->i", V, V), np.empty(u.size, np.int64)
    for t in range(u.size):
        total = np.cumsum(left)
        items[t] = i = np.searchsorted(total, u[t] * total[-1] * (1.0 - EPS), side="right")
        row = V[i]
        for _ in range(2):  # twice is enough to be orthogonal to rounding (Kahan)
            row = row - E[:t].T @ (E[:t] @ row)
        E[t] = row / np.linalg.norm(row)
        left = np.maximum(left - (V @ E[t]) ** 2, 0.0)
        left[items[: t + 1]] = 0.0  # exactly 0, so that no item is drawn twice because of rounding
    return items
