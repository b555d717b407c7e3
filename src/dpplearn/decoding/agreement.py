"""How well a set agrees with the sets of a model, by their expected token counts; for `consensus`.

Let N be the count of a token in a set drawn from the model, and c_i its count in item i. If few items hold the token,
the distribution of N is exact: its generating function is a determinant. Otherwise it has the exact mean and variance

    E N = sum of c_i K_ii,      Var N = sum of c_i^2 K_ii - sum of c_i c_j K_ij^2,

and the shape of a binomial, Poisson or negative binomial distribution (Panjer's class). Nothing is drawn.

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
EXACT_HOLDERS = 8  # tokens that at most so many items hold have exact distributions
NUMBERS = 2**22  # numbers worked on at once
SAME = 1e-11  # additions whose values differ by less are ties, so that rounding does not decide
MOST_STEPS = 1000  # with more steps of a token in one item, or without a common unit, counts are rounded to GRID steps
GRID = 64


class Agreement(NamedTuple):
    """The agreement of sets with the model: the sum over kinds of tokens of 2 E overlap / (length + E length).

    `overlap` has the expected overlap at each level, so that adding an item only looks up the item's own tokens.
    """

    indptr: IntArray  # the items' counts as csr, in steps
    tokens: IntArray
    steps: IntArray
    singles: Any  # the counts of one step, with a row for each kind and item
    others: tuple[IntArray, IntArray, IntArray]  # the counts of several steps: row, token and steps
    kind: IntArray  # (tokens,)
    starts: IntArray  # (tokens,) where the levels of each token start, with level 0
    overlap: FloatArray  # E min(a, N) at each level a, times the token's unit
    lengths: FloatArray  # (kinds, n) of the items
    mean: FloatArray  # (kinds,) expected length of a set of the model
    weights: FloatArray  # (kinds,)

    @classmethod
    def of(cls, counts: Counts, K: FloatArray, limits: Limits) -> Agreement:
        """Agreement with all sets of the DPP with marginal kernel K on the free items."""
        rest, n = np.flatnonzero(limits.free), limits.cost.size
        weights = np.array([weight for weight, _ in counts])
        lengths = np.array([C.sum(axis=1) for _, C in counts])
        kinds, units = zip(*(merge_alone(*in_steps(C)) for _, C in counts), strict=True)
        kind, unit = np.repeat(np.arange(len(kinds)), [len(u) for u in units]), np.concatenate(units)
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
        """The free item that raises agreement most for its price, the agreement with it, and that of the set as it is.

        The item is the first of ties, and -1 if none raises the agreement.
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
    """P(N >= j) at each level j = 1, 2, ... of each token. The first `base` levels are certain; `more` levels follow.

    `counts` has a row for each token, with the steps of each item of K.
    """
    held = np.diff(counts.indptr)
    starts = np.cumsum(base + more) - more  # of the levels that are not certain
    chance = np.ones(int((base + more).sum()))

    def keep(tokens: IntArray, pmf: FloatArray) -> None:
        tail = np.cumsum(pmf[:, :0:-1], axis=1)[:, ::-1]  # P(N >= 1), P(N >= 2), ...
        level = np.arange(tail.shape[1])
        there = level < more[tokens, None]
        chance[(starts[tokens, None] + level)[there]] = tail[there]

    few, many = np.flatnonzero((held > 0) & (held <= EXACT_HOLDERS)), np.flatnonzero(held > EXACT_HOLDERS)
    width = int(more.max(initial=0)) + 1
    key = held[few] * width + more[few]
    for value in np.unique(key).tolist():  # tokens with the same numbers of holders and levels
        m, top = divmod(value, width)
        for part in in_parts(few[key == value], m * m * (top + 1)):
            at = counts.indptr[part, None] + np.arange(m)
            items = counts.indices[at]
            keep(part, by_determinants(K[items[:, :, None], items[:, None, :]], counts.data[at], top))
    for part in in_parts(many, max(len(K), width)):
        keep(part, by_moments(K, counts[part], int(more[part].max())))
    return chance


def in_parts(tokens: IntArray, each: int) -> list[IntArray]:
    """Tokens in parts for which NUMBERS is enough, if each token needs `each` numbers."""
    step = max(1, NUMBERS // each)
    return [tokens[low : low + step] for low in range(0, tokens.size, step)]


def by_determinants(K: FloatArray, steps: IntArray, top: int) -> FloatArray:
    """P(N = 0 ... top) of each token: E z^N = det(I + (diag(z^c) - I) K), and back by a Fourier transform."""
    z = np.exp(-2j * np.pi * np.arange((top + 1) // 2 + 1) / (top + 1))  # at the other roots of 1, E z^N is conjugate
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
    ratio[np.arange(top) >= counts.sum(axis=1)[:, None]] = 0.0  # all items together have no more
    log_pmf = np.cumsum(safe_log(np.maximum(np.insert(ratio, 0, 1.0, axis=1), 0.0)), axis=1)
    pmf = np.exp(log_pmf - log_pmf.max(axis=1, keepdims=True))
    return np.asarray(pmf / pmf.sum(axis=1, keepdims=True))


def merge_alone(steps: Any, unit: FloatArray) -> tuple[Any, FloatArray]:
    """Merge the tokens that only one item holds into one token of that item."""
    alone = np.bincount(steps.indices, minlength=unit.size) == 1
    total = steps @ (unit * alone)
    holders = np.flatnonzero(total)
    pairs = np.ones(holders.size), (holders, np.arange(holders.size))
    merged = sparse.csr_array(pairs, (total.size, holders.size))
    return sparse.hstack([steps[:, ~alone], merged], "csr"), np.append(unit[~alone], total[holders])


def in_steps(C: Any) -> tuple[Any, FloatArray]:
    """Counts in steps of a unit for each token; rounded to 1/64 of the largest count if no unit divides them all.

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
    for other in (least / 4, least / 3, least / 2, least, np.ones(size)):  # the last unit that divides all is used
        steps = columns.data / other[token]
        uneven = np.bincount(token, np.abs(steps - np.round(steps)) > 1e-9, size) > 0
        unit = np.where(uneven | (largest > MOST_STEPS * other), unit, other)
    columns.data = np.maximum(np.round(columns.data / unit[token]), 1.0)
    return sparse.csr_array(columns), unit
