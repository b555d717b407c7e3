"""Minimum Bayes risk decoding: the set that agrees most, on average, with the sets of the model.

Let a be the token counts of a set, and N those of a set drawn from the model. Their agreement is an expected F1,

    2 sum over t of E min(a_t, N_t) / (sum of a_t + sum of E N_t),      E min(a, N) = sum over j <= a of P(N >= j).

Nothing is drawn. If few items hold a token, the distribution of its count N is exact: the generating function is a
determinant. Otherwise N has the exact mean and variance, with c_i the count in item i,

    E N = sum of c_i K_ii,      Var N = sum of c_i^2 K_ii - sum of c_i c_j K_ij^2,

and the shape of a binomial, Poisson or negative binomial distribution (Panjer's class).

Counts are stored as whole numbers of *steps*; a step is the token's *unit*, mostly 1. The *levels* of a token are the
numbers of steps that a set can reach: 0, 1, 2, ... up to those of all items. From level j - 1 to j, the expected
overlap *rises* by the unit times P(N >= j).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from dpplearn._checks import FloatArray, IntArray, check_array
from dpplearn._holders import as_csr
from dpplearn._linalg import safe_log
from dpplearn._run.stop import check_stop
from dpplearn.decoding.candidates import Candidates, Model, read_model
from dpplearn.decoding.greedy import as_selection, greedy_run, in_order
from dpplearn.decoding.limits import BoolArray, Bound, Limits, check_limits
from dpplearn.decoding.sampled import given_limits
from dpplearn.decoding.selection import Selection
from dpplearn.decoding.tilt import tilted_kernel

Counts: TypeAlias = list[tuple[float, sparse.csr_array]]
Utility: TypeAlias = ArrayLike | sparse.sparray | Sequence[tuple[float, Any]]
MAX_ROUNDS = 100  # most rounds of swaps; a few are enough
LEAST_RISE = 1e-9  # a swap or a drop must raise the agreement by more
EXACT_HOLDERS = 8  # tokens that at most so many items hold have exact distributions
NUMBERS_AT_ONCE = 2**22  # numbers worked on at once
TIE_WIDTH = 1e-11  # additions whose values differ by less are ties, which rounding must not decide
MOST_STEPS = 1000  # with more steps of a token in one item, or without a common unit, counts are rounded to GRID steps
GRID = 64


@dataclass(frozen=True, eq=False, repr=False)
class ConsensusSelection(Selection):
    """The set that agrees most with sets of the model.

    Attributes
    ----------
    utility : float
        Expected agreement with a set of the model; nan if nothing can be chosen.
    """

    utility: float


def consensus(
    dpp: Model,
    cost: ArrayLike | None = None,
    budget: float | None = None,
    *,
    utility: Utility | None = None,
    k: int | None = None,
    include: ArrayLike = (),
    exclude: ArrayLike = (),
    groups: ArrayLike | None = None,
    max_per_group: Bound | None = None,
    min_per_group: Bound | None = None,
    diversity: float = 0.5,
) -> ConsensusSelection:
    """Build the set that agrees most with the sets of the model, on average (minimum Bayes risk).

    If many good sets differ in detail, which of them is the most probable is an accident, but the one that agrees most
    with the others is not. The average over all sets comes from the token counts that the model expects, without
    drawing. All qualities are scaled by one factor so that sets cost the budget on average. The search adds items
    greedily, from the smallest set allowed (with gains as they are, and per cost) and from the set of `greedy_map`;
    swaps, drops and adds items until nothing helps; and returns the best of the three sets.

    Parameters
    ----------
    dpp, cost, budget, k, include, exclude, groups, max_per_group, min_per_group, diversity
        As in `greedy_map`. A budget or k is needed.
    utility : array, or list of (weight, array), optional
        How well set A agrees with set B. A token-count matrix, one row per item, dense or sparse, means the F1 of the
        clipped overlap of their summed counts a and b, 2 sum(min(a, b)) / (sum(a) + sum(b)): ROUGE-1 F, if tokens are
        words; with many sets B, 2 E sum(min(a, b)) / (sum(a) + E sum(b)). A list of weights and matrices adds several
        of them. Default: each item is its own token.

    Returns
    -------
    ConsensusSelection
        The set of `greedy_map`, with a reason that says so, if no set agrees with any other.

    Examples
    --------
    >>> from dpplearn import DPP
    >>> S = [[1, 0.9, 0.9, 0], [0.9, 1, 0.9, 0], [0.9, 0.9, 1, 0], [0, 0, 0, 1]]
    >>> dpp = DPP.from_quality([2.0, 2.0, 2.0, 0.5], S)
    >>> words = [[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 1, 0], [0, 0, 0, 1]]  # item 2 says what 0 and 1 say
    >>> consensus(dpp, k=1, utility=words).subset
    array([2])
    """
    candidates = read_model(dpp, diversity)
    limits = check_limits(candidates.n, cost, budget, k, include, exclude, groups, max_per_group, min_per_group)
    return consensus_choice(candidates, limits, utility)


def consensus_choice(candidates: Candidates, limits: Limits, utility: Utility | None = None) -> ConsensusSelection:
    """`consensus` for candidates and limits that are already checked."""
    if not limits.bounded:
        raise ValueError("consensus needs a budget or a size limit k; found neither.")
    counts, reason = check_utility(utility, candidates.n), limits.empty_reason()
    if reason:
        return ConsensusSelection.nothing(reason, candidates.log_prob, np.nan)
    candidates.check_few()
    note = ""
    if limits.free.any():
        dpp, rest = given_limits(candidates, limits)
        K = tilted_kernel(dpp, limits.cost[rest], limits.full_cost - limits.total(limits.include))
        spent = float(limits.cost[rest] @ K.diagonal()) + limits.total(limits.include)
        if spent <= 0.9 * limits.full_cost:
            note = f", which cost about {spent:.3g}: no set of positive probability costs much more"
    else:
        K, note = np.empty((0, 0)), "; nothing else may be chosen"
    run = greedy_run(candidates, limits, -np.inf)  # a start of the search, and the answer if no set agrees
    items, value = best_agreement(counts, K, limits, run.items)
    if value == 0.0:
        chosen = as_selection(candidates, limits, run)
        why = "this is the set of greedy_map" if len(chosen) else chosen.reason
        reason = f"no set agrees with any set of the model; {why}"
    else:
        chosen = in_order(candidates, limits, np.sort(items), "")
        reason = f"expected utility {value:.4g} against all sets of the model{note}"
        if chosen.gains.min(initial=0.0) == -np.inf:
            reason += "; its own probability is 0, because some of its items are linear combinations of others"
    return ConsensusSelection.of(chosen, reason, value)


def best_agreement(counts: Counts, K: FloatArray, limits: Limits, start: IntArray) -> tuple[IntArray, float]:
    """The best set of three searches: from the smallest set allowed, without and with costs, and from `start`."""
    agreement = Agreement.of(counts, K, limits)
    least = [limits.include]
    if (lacks := limits.need - limits.counts(limits.include)).any():  # add the cheapest items that groups must have
        order = np.argsort(limits.cost, kind="stable")
        order = order[limits.alive[order]]
        least += [order[limits.group[order] == c][: lacks[c]] for c in np.flatnonzero(lacks > 0)]
    base, equal, cost = np.concatenate(least), np.ones(limits.cost.size), limits.relative_cost
    starts = [(base, equal), (start, equal)] if limits.equal_costs else [(base, equal), (base, cost), (start, equal)]
    return max((search_from(agreement, limits, *pair) for pair in starts), key=lambda run: round(run[1], 12))


def search_from(agreement: Agreement, limits: Limits, start: IntArray, price: FloatArray) -> tuple[IntArray, float]:
    """Add to `start` the items that raise agreement most for their price; then swap, drop and add while that helps."""

    def add(items: IntArray, price: FloatArray, least: float = 0.0) -> tuple[IntArray, float]:
        """Add items, the best first, while that helps; the set and its agreement."""
        while True:
            i, reached, now = agreement.best_addition(items, joining(limits, items), price)
            if i < 0 or reached <= now + least:
                return items, now
            items = np.append(items, i)

    items, value = add(start.astype(np.int64), price)
    equal = np.ones(limits.cost.size)
    for _ in range(MAX_ROUNDS):
        check_stop()
        before, a = value, limits.include.size
        while a < items.size:
            others, j = np.delete(items, a), items[a]
            free = joining(limits, others)
            free[j] = False
            i, reached, without = agreement.best_addition(others, free, equal)
            if i >= 0 and reached > value + LEAST_RISE:
                items[a], value = i, reached
            elif without > value + LEAST_RISE and not limits.owed(others):
                items[a] = items[-1]
                items, value = items[:-1], without
                continue
            a += 1
        items, value = add(items, equal, LEAST_RISE)
        if value <= before + LEAST_RISE:
            break
    return items, value


def joining(limits: Limits, items: IntArray) -> BoolArray:
    """Which items may join a set; if some groups still need items, only items of these."""
    free = limits.free & (limits.cost <= limits.room - limits.cost[items].sum()) & (items.size < limits.k)
    free[items] = False
    counts = limits.counts(items)
    lacks = counts < limits.need
    return np.asarray(free & (lacks if lacks.any() else counts < limits.most)[limits.group])


def check_utility(utility: Any, n: int) -> Counts:
    """Token counts with one row per item, of several kinds, each with its weight."""
    if utility is None:
        return [(1.0, sparse.eye_array(n, format="csr"))]
    several = isinstance(utility, list | tuple) and len(utility) > 0 and all(map(is_weighted, utility))
    pairs = list(utility) if several else [(1.0, utility)]
    weights = [float(w) for w, _ in pairs]
    if not all(np.isfinite(w) and w >= 0.0 for w in weights) or sum(weights) <= 0.0:
        raise ValueError(f"utility must have weights that are not negative and not all 0, found {weights}.")
    return [(w, check_counts(C, n)) for w, (_, C) in zip(weights, pairs, strict=True)]


def is_weighted(pair: Any) -> bool:
    """Whether this is a weight with a matrix, and not a row of a matrix."""
    if not (isinstance(pair, tuple) and len(pair) == 2 and np.ndim(pair[0]) == 0):
        return False
    return sparse.issparse(pair[1]) or np.ndim(pair[1]) == 2


def check_counts(C: Any, n: int) -> Any:
    """A csr_array of counts, none negative, with n rows."""
    counts = as_csr(C if sparse.issparse(C) else sparse.csr_array(check_array(C, "utility", 2)), "utility")
    counts = counts.astype(np.float64, copy=False)
    if counts.shape[0] != n:
        raise ValueError(f"utility must have one row of token counts per item ({n}), found {counts.shape[0]}.")
    if not np.isfinite(counts.data).all() or (counts.data < 0).any():
        raise ValueError("utility must hold token counts: finite numbers that are not negative.")
    return counts


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
        kinds, units = zip(*(in_steps(C) for _, C in counts), strict=True)
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
        if best <= TIE_WIDTH:
            return -1, now, now
        i = int((change >= best - TIE_WIDTH).argmax())
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
    """Tokens in parts for which NUMBERS_AT_ONCE is enough, if each token needs `each` numbers."""
    step = max(1, NUMBERS_AT_ONCE // each)
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
