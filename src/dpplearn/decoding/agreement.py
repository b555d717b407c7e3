"""How well a set agrees with those of a model, by the token counts that are to be expected of them.

P(N >= j) comes from the model: N_t is the sum over the items that hold t. For few items its distribution is exact, from
its generating function, a determinant; for many, it has the exact mean and variance,

    E N = sum of c_i K_ii,      Var N = sum of c_i^2 K_ii - sum of c_i c_j K_ij^2,

and the shape of the binomial, Poisson or negative binomial distribution that has both (Panjer's class). So no seed
changes the answer.

Counts are stored as whole numbers of *steps*; a step is the token's *unit*, mostly 1. The *levels* of a token are the
numbers of steps that a set can reach: 0, 1, 2, ... up to those of all items. From level j - 1 to j, the expected
overlap *rises* by the unit times P(N >= j).
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy import sparse

from dpplearn._checks import FloatArray, IntArray
from dpplearn._linalg import safe_log
from dpplearn.decoding.limits import BoolArray, Limits

Counts: TypeAlias = list[tuple[float, sparse.csr_array]]
EXACT_HOLDERS = 8  # holders of a token up to which its distribution is exact
NUMBERS = 2**22  # of one step of work
SAME = 1e-11  # additions whose values differ by less tie: else rounding, and so a library's version, would decide
MOST_STEPS = 1000  # of a token in one item; with more, or without a common unit, counts are rounded to GRID steps
GRID = 64


class Agreement(NamedTuple):
    """How well sets agree with those of the model: the sum over kinds of tokens of 2 E overlap / (length + E length).

    `overlap` has the expected overlap at each level, so that adding an item only looks up its own tokens.
    """

    indptr: IntArray  # the items' counts as csr, in steps
    tokens: IntArray
    steps: IntArray
    singles: Any  # the counts of one step, with a row for each kind and item
    others: tuple[IntArray, IntArray, IntArray]  # those of several steps: row, token and steps
    kind: IntArray  # (tokens,)
    starts: IntArray  # (tokens,) where the levels of each token start, with level 0
    overlap: FloatArray  # E min(a, N) at each level a, times the token's unit
    lengths: FloatArray  # (kinds, n) of the items
    mean: FloatArray  # (kinds,) expected length of a set drawn
    weights: FloatArray  # (kinds,)

    @classmethod
    def of(cls, counts: Counts, K: FloatArray, limits: Limits) -> Agreement:
        """Agreement with all sets of the DPP with marginal kernel K on the free items."""
        rest, n = np.flatnonzero(limits.free), limits.cost.size
        weights = np.array([weight for weight, _ in counts])
        lengths = np.array([C.sum(axis=1) for _, C in counts])
        kinds, units = zip(*(merge_alone(*in_steps(C)) for _, C in counts), strict=True)
        kind, unit = np.repeat(np.arange(len(kinds)), [len(one) for one in units]), np.concatenate(units)
        whole = sparse.csr_array(sparse.hstack(kinds, format="csr"))
        tokens, steps = whole.indices.astype(np.int64), whole.data.astype(np.int64)
        item = np.repeat(np.arange(n), np.diff(whole.indptr))
        sure, may = (np.isin(item, some) for some in (limits.include, rest))
        base, more = (np.bincount(tokens[of], steps[of], unit.size).astype(np.int64) for of in (sure, may))
        mean = lengths[:, rest] @ K.diagonal() + lengths[:, limits.include].sum(axis=1)
        chance = chances(K, sparse.csr_array(whole[rest].T), base, more)
        starts = np.append(0, np.cumsum(base + more + 1))
        levels = np.ones(starts[-1], np.bool_)
        levels[starts[:-1]] = False
        rises = np.zeros(starts[-1])
        rises[levels] = chance * np.repeat(unit, base + more)
        total = np.cumsum(rises)
        total -= np.repeat(total[starts[:-1]], base + more + 1)
        total = np.append(total, np.zeros(steps.max(initial=1)))  # levels that no candidate reaches
        place, single = kind[tokens] * n + item, steps == 1
        pairs = (np.ones(int(single.sum())), (place[single], tokens[single]))
        singles = sparse.csr_array(pairs, (lengths.size, unit.size))
        others = place[~single], tokens[~single], steps[~single]
        return cls(whole.indptr, tokens, steps, singles, others, kind, starts[:-1], total, lengths, mean, weights)

    def levels(self, items: IntArray) -> IntArray:
        """The place in `overlap` of each token's level in a set."""
        held = np.concatenate([np.arange(self.indptr[i], self.indptr[i + 1]) for i in items] or [items])
        return self.starts + np.bincount(self.tokens[held], self.steps[held], self.starts.size).astype(np.int64)

    def best_addition(self, items: IntArray, free: BoolArray, price: FloatArray) -> tuple[int, float, float]:
        """The free item whose addition raises agreement most for its price, and the agreement with it.

        The first of ties, and -1 where none raises it. Last, the agreement of the set as it is.
        """
        (kinds, n), at = self.lengths.shape, self.levels(items)
        before = self.overlap[at]
        overlap = np.bincount(self.kind, before, kinds)
        rise = self.singles @ (self.overlap[at + 1] - before)
        places, tokens, steps = self.others
        if places.size:
            rise += np.bincount(places, self.overlap[at[tokens] + steps] - before[tokens], rise.size)
        length = self.lengths[:, items].sum(axis=1) + self.mean + 1e-12
        now = float(self.weights @ (2.0 * overlap / length))
        more = overlap[:, None] + rise.reshape(kinds, n)
        value = self.weights @ (2.0 * more / (length[:, None] + self.lengths))
        change = np.where(free, (value - now) / price, -np.inf)
        best = change.max(initial=-np.inf)
        if best <= SAME:
            return -1, now, now
        i = int((change >= best - SAME).argmax())
        return i, float(value[i]), now


def chances(K: FloatArray, counts: Any, base: IntArray, more: IntArray) -> FloatArray:
    """P(N >= j) for j = 1, 2, ... up to the levels of each token, of which `base` are certain and `more` are drawn.

    `counts` has a row for each token, with the steps of each item that K knows.
    """
    held = np.diff(counts.indptr)
    starts = np.cumsum(base + more) - more  # where the levels that are not certain start
    chance = np.ones(int((base + more).sum()))

    def keep(these: IntArray, pmf: FloatArray) -> None:
        tail = np.cumsum(pmf[:, :0:-1], axis=1)[:, ::-1]  # P(N >= 1), P(N >= 2), ...
        level = np.arange(tail.shape[1])
        there = level < more[these, None]
        chance[(starts[these, None] + level)[there]] = tail[there]

    few, many = np.flatnonzero((held > 0) & (held <= EXACT_HOLDERS)), np.flatnonzero(held > EXACT_HOLDERS)
    width = int(more.max(initial=0)) + 1
    key = held[few] * width + more[few]
    for one in np.unique(key).tolist():  # tokens with the same numbers of holders and levels
        m, top = divmod(one, width)
        for part in in_parts(few[key == one], m * m * (top + 1)):
            at = counts.indptr[part, None] + np.arange(m)
            items = counts.indices[at]
            keep(part, by_determinants(K[items[:, :, None], items[:, None, :]], counts.data[at], top))
    for part in in_parts(many, max(len(K), width)):
        keep(part, by_moments(K, counts[part], int(more[part].max())))
    return chance


def in_parts(tokens: IntArray, each: int) -> list[IntArray]:
    """Tokens in parts that are worked on at once; each token needs so many numbers."""
    step = max(1, NUMBERS // each)
    return [tokens[low : low + step] for low in range(0, tokens.size, step)]


def by_determinants(K: FloatArray, steps: IntArray, top: int) -> FloatArray:
    """P(N = 0 ... top) of each token: E z^N = det(I + (diag(z^c) - I) K), and back by a Fourier transform."""
    z = np.exp(-2j * np.pi * np.arange((top + 1) // 2 + 1) / (top + 1))  # at the other roots of 1 it is conjugate
    less = z[:, None] ** steps[:, None, :] - 1.0
    values = np.linalg.det(np.eye(K.shape[-1]) + less[..., None] * K[:, None])
    return np.maximum(np.fft.irfft(values, top + 1, axis=1), 0.0)


def by_moments(K: FloatArray, counts: Any, top: int) -> FloatArray:
    """The binomial, Poisson or negative binomial distribution of N's mean and variance (Panjer's class).

    p_c / p_(c-1) = a + b / c with a = 1 - mean / variance, b = mean (1 - a) - a.
    """
    mean = counts @ K.diagonal()
    variance = counts.power(2) @ K.diagonal() - counts.multiply(counts @ K**2).sum(axis=1)
    a = 1.0 - mean / np.maximum(variance, 1e-3)
    b = mean * (1.0 - a) - a
    ratio = a[:, None] + b[:, None] / np.arange(1, top + 1)
    ratio[np.arange(top) >= counts.sum(axis=1)[:, None]] = 0.0  # more than all items have
    log_pmf = np.cumsum(safe_log(np.maximum(np.insert(ratio, 0, 1.0, axis=1), 0.0)), axis=1)
    pmf = np.exp(log_pmf - log_pmf.max(axis=1, keepdims=True))
    return np.asarray(pmf / pmf.sum(axis=1, keepdims=True))


def merge_alone(steps: Any, unit: FloatArray) -> tuple[Any, FloatArray]:
    """Merge the tokens that only one item holds into one token of that item."""
    alone = np.bincount(steps.indices, minlength=unit.size) == 1
    own = steps @ (unit * alone)
    there = np.flatnonzero(own)
    one = sparse.csr_array((np.ones(there.size), (there, np.arange(there.size))), (own.size, there.size))
    return sparse.hstack([steps[:, ~alone], one], "csr"), np.append(unit[~alone], own[there])


def in_steps(C: Any) -> tuple[Any, FloatArray]:
    """Counts in steps of a unit for each token; rounded to 1/64 of the largest where no unit divides them all.

    >>> steps, unit = in_steps(sparse.csr_array(np.array([[1.0, 0.5], [2.0, 1.5]])))
    >>> steps.toarray(), unit
    (array([[1., 1.],
           [2., 3.]]), array([1. , 0.5]))
    """
    if C.nnz and C.data.min() >= 1.0 and C.data.max() <= MOST_STEPS and (C.data == np.round(C.data)).all():
        return C, np.ones(C.shape[1])
    columns = sparse.csc_array(C)
    columns.eliminate_zeros()
    size = columns.shape[1]
    token = np.repeat(np.arange(size), np.diff(columns.indptr))
    largest = columns.max(axis=0).toarray().ravel() if columns.nnz else np.zeros(size)
    least = largest.copy()
    np.minimum.at(least, token, columns.data)
    unit = np.where(largest > 0.0, largest / GRID, 1.0)
    for one in (least / 4, least / 3, least / 2, least, np.ones(size)):  # the last that divides all is used
        steps = columns.data / one[token]
        uneven = np.bincount(token, np.abs(steps - np.round(steps)) > 1e-9, size) > 0
        unit = np.where(uneven | (largest > MOST_STEPS * one), unit, one)
    columns.data = np.maximum(np.round(columns.data / unit[token]), 1.0)
    return sparse.csr_array(columns), unit
