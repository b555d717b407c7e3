"""Minimum Bayes risk: the set that agrees most, on average, with the sets of the model.

Let a be the token counts of a set, and N those of a set drawn. Agreement is the F1 of their overlap in expectation,

    2 sum over t of E min(a_t, N_t) / (sum of a_t + sum of E N_t),      E min(a, N) = sum over j <= a of P(N >= j).

P(N >= j) comes from the model: N_t is the sum over the items that hold t. For few items its distribution is exact, from
its generating function, a determinant; for many, it has the exact mean and variance,

    E N = sum of c_i K_ii,      Var N = sum of c_i^2 K_ii - sum of c_i c_j K_ij^2,

and the shape of a binomial, to which sums of independent flips, as every such N is, are near. So no seed changes the
answer. Where sets are drawn or given instead, P(N >= j) is the share of them with so many of a token.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from dpplearn._checks import FloatArray, IntArray, Seed, check_int, check_jobs, check_rng
from dpplearn._holders import as_csr, as_numbers
from dpplearn._linalg import safe_log
from dpplearn._run.stop import check_stop
from dpplearn.decoding.candidates import DENSE, Candidates, Model, read_model
from dpplearn.decoding.greedy import as_selection, describe, greedy_run, in_order
from dpplearn.decoding.limits import BoolArray, Bound, Limits, check_limits
from dpplearn.decoding.sampled import given_limits, tilted_tables
from dpplearn.decoding.selection import Selection
from dpplearn.decoding.tilt import tilted_kernel
from dpplearn.sampling.spectral import sample_spectral
from dpplearn.subsets import Subsets

Utility: TypeAlias = ArrayLike | sparse.sparray | Sequence[tuple[float, Any]]
Counts: TypeAlias = list[tuple[float, sparse.csr_array]]
DRAWN = 400  # sets, where there are too many items for the model's kernel
MOST_REFERENCES = 100_000  # a table of their counts is made
PASSES = 100  # rounds of swaps; a few are enough, each raises the agreement
FEW = 8  # holders of a token up to which its distribution is exact
NUMBERS = 2**22  # that are dealt with at once
SAME = 1e-11  # rises that differ by less are equal: else rounding, and so a library's version, would decide
LEAST = 1e-9  # what a swap or a drop must raise the agreement by
MOST = 1000  # levels of a token in one item; more, or counts that are no multiples, are brought to GRID
GRID = 64


@dataclass(frozen=True, eq=False, repr=False)
class ConsensusSelection(Selection):
    """The set that agrees most with sets of the model.

    Attributes
    ----------
    utility : float
        Expected agreement with a set drawn; nan where there are no sets to agree with.
    references : Subsets
        The sets it was compared with; none where it was compared with all sets of the model at once.
    """

    utility: float
    references: Subsets = field(repr=False)


def consensus(
    dpp: Model,
    cost: ArrayLike | None = None,
    budget: float | None = None,
    *,
    utility: Utility | None = None,
    n_samples: int | None = None,
    samples: Subsets | Iterable[ArrayLike] | None = None,
    k: int | None = None,
    include: ArrayLike = (),
    exclude: ArrayLike = (),
    groups: ArrayLike | None = None,
    max_per_group: Bound | None = None,
    min_per_group: Bound | None = None,
    diversity: float = 0.5,
    rng: Seed = None,
    n_jobs: int | None = None,
) -> ConsensusSelection:
    """Build the set that agrees most with the sets of the model, on average (minimum Bayes risk).

    Where many good sets differ in detail, the most probable one is an accident; the one that most others agree with is
    not. The average is over all sets at once, by the token counts that the model expects: no seed changes it. Qualities
    are scaled by one factor, so that sets cost the budget on average. The search is over all sets that fit: greedy
    additions from as little as may be, with gains as they are and per cost, and from the set of `greedy_map`; then
    swaps, drops and additions until none helps; the best of the three.

    Parameters
    ----------
    dpp, cost, budget, k, include, exclude, groups, max_per_group, min_per_group, diversity
        As in `greedy_map`. A budget or k is needed.
    utility : array, or list of (weight, array), optional
        How well set A agrees with set B. A token-count matrix, one row per item, dense or sparse, means the F1 of the
        clipped overlap of their summed counts a and b, 2 sum(min(a, b)) / (sum(a) + sum(b)): ROUGE-1 F, if tokens are
        words; with many sets B, 2 E sum(min(a, b)) / (sum(a) + E sum(b)). A list of weights and matrices adds several
        of them. Default: each item is its own token.
    n_samples : int, optional
        Estimate the expected counts from so many sets drawn. Default: 400 where there are more than 5,000 items, else
        none are drawn, and the model's own expectations are used.
    samples : Subsets or list of item lists, optional
        Estimate them from these sets.
    rng, n_jobs
        As in `sampled_map`; they change nothing where no sets are drawn.

    Returns
    -------
    ConsensusSelection
        Where there are no sets to agree with, the set of `greedy_map`, with a reason that says so.

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
    n = candidates.n
    limits = check_limits(n, cost, budget, k, include, exclude, groups, max_per_group, min_per_group)
    if not limits.bounded:
        raise ValueError("consensus needs a budget or a size limit k; found neither.")
    generator, jobs, counts = check_rng(rng), check_jobs(n_jobs), check_utility(utility, n)
    count = DRAWN if n_samples is None else check_int(n_samples, "n_samples", low=1, high=MOST_REFERENCES)
    reason, references = limits.empty_reason(), Subsets.from_lists([], n)
    if reason:
        return ConsensusSelection.nothing(reason, candidates.log_prob, np.nan, references)
    sets: FloatArray | Subsets  # to agree with: K of all that may be drawn, or some sets
    note, against = "", "all sets of the model"
    if samples is None and limits.free.any():
        if n_samples is None and n <= DENSE:
            dpp, rest = given_limits(candidates, limits)
            sets = tilted_kernel(dpp, limits.cost[rest], limits.worth - limits.total(limits.include))
            spent = float(limits.cost[rest] @ sets.diagonal()) + limits.total(limits.include)
        else:
            sets = draw_references(candidates, limits, count, generator, jobs)
            spent = float(sets.inclusion_counts() @ limits.cost) / count
        if spent <= 0.9 * limits.worth:
            note = f", which cost about {spent:.3g}: no set of positive probability costs much more"
    elif samples is None:
        sets, note = Subsets.from_lists([limits.include], n), "; nothing else may be chosen"
    else:
        sets = samples if isinstance(samples, Subsets) else Subsets.from_lists(samples, n)
    if isinstance(sets, Subsets):
        references, against = sets, f"{len(sets)} references"
        if sets.n != n:
            raise ValueError(f"samples must be subsets of the {n} items, found subsets of {sets.n}.")
    run = greedy_run(candidates, limits, -np.inf)  # where one search starts, and the answer where there is no other
    items, value = run.items, np.nan
    if len(sets):
        items, value = best_agreement(counts, sets, limits, run.items)
    if np.isnan(value) or value == 0.0:
        chosen = as_selection(candidates, limits, run, describe(limits, run))
        why = f"no set agrees with any of {against}" if len(sets) else "no references were given in samples"
        reason = f"{why}; {'this is the set of greedy_map' if len(chosen) else chosen.reason}"
    else:
        chosen = in_order(candidates, limits, np.sort(items), "")
        reason = f"expected utility {value:.4g} against {against}{note}"
        if chosen.gains.min(initial=0.0) == -np.inf:
            reason += "; its own probability is 0, because some of its items are linear combinations of others"
    return ConsensusSelection.of(chosen, reason, value, references)


def draw_references(
    candidates: Candidates, limits: Limits, count: int, rng: np.random.Generator, n_jobs: int
) -> Subsets:
    """Sets drawn that cost the budget on average, with what must be included."""
    dpp, rest = given_limits(candidates, limits)
    tables, mean = tilted_tables(dpp, limits.cost[rest], limits.worth - limits.total(limits.include))
    indptr, indices = sample_spectral(tables, count, rng, expected_size=mean, n_jobs=n_jobs)
    drawn = (np.append(rest[part], limits.include) for part in np.split(indices, indptr[1:-1]))
    return Subsets.from_lists(drawn, candidates.n)


def best_agreement(
    counts: Counts, sets: FloatArray | Subsets, limits: Limits, start: IntArray
) -> tuple[IntArray, float]:
    """The best set, of equals the first, from as little as may be, without and with costs, and from another start."""
    agreement = Agreement.of(counts, sets, limits)
    least = [limits.include]
    if (lacks := limits.need - limits.counts(limits.include)).any():  # and the cheapest items that groups must have
        order = np.argsort(limits.cost, kind="stable")
        order = order[limits.alive[order]]
        least += [order[limits.group[order] == c][: lacks[c]] for c in np.flatnonzero(lacks > 0)]
    base, equal, cost = np.concatenate(least), np.ones(limits.cost.size), limits.cost
    starts = [(base, equal), (start, equal)] if limits.equal else [(base, equal), (base, cost), (start, equal)]
    return max((search(agreement, limits, *one) for one in starts), key=lambda run: round(run[1], 12))


def search(agreement: Agreement, limits: Limits, start: IntArray, price: FloatArray) -> tuple[IntArray, float]:
    """From `start`, add what raises agreement most for its price; then swap, drop and add while that helps."""

    def add(items: IntArray, price: FloatArray, least: float = 0.0) -> tuple[IntArray, float]:
        """Additions, the best first, while they help; and the agreement reached."""
        while True:
            i, reached, now = agreement.best_addition(items, joining(limits, items), price)
            if i < 0 or reached <= now + least:
                return items, now
            items = np.append(items, i)

    items, value = add(start.astype(np.int64), price)
    equal = np.ones(limits.cost.size)
    for _ in range(PASSES):
        check_stop()
        before, a = value, limits.include.size
        while a < items.size:
            others, j = np.delete(items, a), items[a]
            free = joining(limits, others)
            free[j] = False
            i, reached, without = agreement.best_addition(others, free, equal)
            if i >= 0 and reached > value + LEAST:
                items[a], value = i, reached
            elif without > value + LEAST and not limits.owed(others):
                items[a] = items[-1]
                items, value = items[:-1], without
                continue
            a += 1
        items, value = add(items, equal, LEAST)
        if value <= before + LEAST:
            break
    return items, value


def joining(limits: Limits, items: IntArray) -> BoolArray:
    """Which items may join a set; where a group has too few, only one of those it lacks."""
    free = limits.free & (limits.cost <= limits.room - limits.cost[items].sum()) & (items.size < limits.k)
    free[items] = False
    counts = limits.counts(items)
    lacks = counts < limits.need
    return np.asarray(free & (lacks if lacks.any() else counts < limits.most)[limits.group])


class Agreement(NamedTuple):
    """How well sets agree with those of the model: the sum over kinds of tokens of 2 E overlap / (length + E length).

    `overlap` has what each level of a token gives, so that one item more in a set costs a look at its own tokens.
    """

    indptr: IntArray  # the items' counts as csr, in whole steps
    tokens: IntArray
    steps: IntArray
    singles: Any  # the counts that are 1, with a row for each kind and item
    others: tuple[IntArray, IntArray, IntArray]  # those that are more: row, token and steps
    kind: IntArray  # (tokens,)
    starts: IntArray  # (tokens,) where the levels of each token start, level 0 among them
    overlap: FloatArray  # E min(a, N) of each level a, times the token's unit
    lengths: FloatArray  # (kinds, n) of the items
    mean: FloatArray  # (kinds,) expected length of a set drawn
    weights: FloatArray  # (kinds,)

    @classmethod
    def of(cls, counts: Counts, sets: FloatArray | Subsets, limits: Limits) -> Agreement:
        """With references, or with all sets that may be drawn with the marginal kernel K of the items that are free."""
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
        if isinstance(sets, Subsets):
            mean = lengths @ sets.inclusion_counts() / len(sets)
            chance = shares(sets, whole, base + more)
        else:
            mean = lengths[:, rest] @ sets.diagonal() + lengths[:, limits.include].sum(axis=1)
            chance = chances(sets, sparse.csr_array(whole[rest].T), base, more)
        starts = np.append(0, np.cumsum(base + more + 1))
        levels = np.ones(starts[-1], np.bool_)
        levels[starts[:-1]] = False
        rises = np.zeros(starts[-1])
        rises[levels] = chance * np.repeat(unit, base + more)
        total = np.cumsum(rises)
        total -= np.repeat(total[starts[:-1]], base + more + 1)
        total = np.append(total, np.zeros(steps.max(initial=1)))  # where items that are no candidates would lead
        place, single = kind[tokens] * n + item, steps == 1
        pairs = (np.ones(int(single.sum())), (place[single], tokens[single]))
        singles = sparse.csr_array(pairs, (lengths.size, unit.size))
        others = place[~single], tokens[~single], steps[~single]
        return cls(whole.indptr, tokens, steps, singles, others, kind, starts[:-1], total, lengths, mean, weights)

    def levels(self, items: IntArray) -> IntArray:
        """Where `overlap` has what a set gives of each token."""
        held = np.concatenate([np.arange(self.indptr[i], self.indptr[i + 1]) for i in items] or [items])
        return self.starts + np.bincount(self.tokens[held], self.steps[held], self.starts.size).astype(np.int64)

    def best_addition(self, items: IntArray, free: BoolArray, price: FloatArray) -> tuple[int, float, float]:
        """The free item whose addition raises agreement most for its price, and the agreement with it.

        The first of equals, and -1 where none rises. Last, the agreement of the set as it is.
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


def shares(references: Subsets, steps: Any, levels: IntArray) -> FloatArray:
    """P(N >= j) for j = 1, 2, ... up to the levels of each token: the share of references."""
    ends = np.append(0, np.cumsum(levels))
    total = sparse.csr_array(references.to_sparse() @ steps)
    level = np.minimum(total.data.astype(np.int64), levels[total.indices])  # no choice reaches any above
    exact = np.bincount((ends[total.indices] + level - 1)[level > 0], minlength=ends[-1])
    reach = np.append(np.cumsum(exact[::-1])[::-1], 0)  # this level of its token, or any place after it
    return np.asarray((reach[:-1] - np.repeat(reach[ends[1:]], levels)) / len(references))


def chances(K: FloatArray, counts: Any, base: IntArray, more: IntArray) -> FloatArray:
    """P(N >= j) for j = 1, 2, ... up to the levels of each token, of which `base` are certain and `more` are drawn.

    `counts` has a row for each token, with the steps of each item that K knows.
    """
    held = np.diff(counts.indptr)
    starts = np.cumsum(base + more) - more  # of the levels that are not certain
    chance = np.ones(int((base + more).sum()))

    def keep(these: IntArray, pmf: FloatArray) -> None:
        tail = np.cumsum(pmf[:, :0:-1], axis=1)[:, ::-1]  # P(N >= 1), P(N >= 2), ...
        level = np.arange(tail.shape[1])
        there = level < more[these, None]
        chance[(starts[these, None] + level)[there]] = tail[there]

    few, many = np.flatnonzero((held > 0) & (held <= FEW)), np.flatnonzero(held > FEW)
    width = int(more.max(initial=0)) + 1
    key = held[few] * width + more[few]
    for one in np.unique(key).tolist():  # tokens of as many holders and levels
        m, top = divmod(one, width)
        for part in in_parts(few[key == one], m * m * (top + 1)):
            at = counts.indptr[part, None] + np.arange(m)
            items = counts.indices[at]
            keep(part, by_determinants(K[items[:, :, None], items[:, None, :]], counts.data[at], top))
    for part in in_parts(many, max(len(K), width)):
        keep(part, by_moments(K, counts[part], int(more[part].max())))
    return chance


def in_parts(tokens: IntArray, each: int) -> list[IntArray]:
    """Tokens whose work, of so many numbers each, is done at once."""
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
    ratio[np.arange(top) >= counts.sum(axis=1)[:, None]] = 0.0  # so many are not to be had
    log_pmf = np.cumsum(safe_log(np.maximum(np.insert(ratio, 0, 1.0, axis=1), 0.0)), axis=1)
    pmf = np.exp(log_pmf - log_pmf.max(axis=1, keepdims=True))
    return np.asarray(pmf / pmf.sum(axis=1, keepdims=True))


def merge_alone(steps: Any, unit: FloatArray) -> tuple[Any, FloatArray]:
    """The tokens that only one item holds come with it, so that those of an item are one token."""
    alone = np.bincount(steps.indices, minlength=unit.size) == 1
    own = steps @ (unit * alone)
    there = np.flatnonzero(own)
    one = sparse.csr_array((np.ones(there.size), (there, np.arange(there.size))), (own.size, there.size))
    return sparse.hstack([steps[:, ~alone], one], "csr"), np.append(unit[~alone], own[there])


def in_steps(C: Any) -> tuple[Any, FloatArray]:
    """Counts as whole numbers of a unit, which may differ by token; rounded to 1/64 of the largest where there is none.

    >>> steps, unit = in_steps(sparse.csr_array(np.array([[1.0, 0.5], [2.0, 1.5]])))
    >>> steps.toarray(), unit
    (array([[1., 1.],
           [2., 3.]]), array([1. , 0.5]))
    """
    if C.nnz and C.data.min() >= 1.0 and C.data.max() <= MOST and (C.data == np.round(C.data)).all():
        return C, np.ones(C.shape[1])
    columns = sparse.csc_array(C)
    columns.eliminate_zeros()
    size = columns.shape[1]
    token = np.repeat(np.arange(size), np.diff(columns.indptr))
    largest, least = np.ones(size), np.full(size, np.inf)
    largest[token] = 0.0
    np.maximum.at(largest, token, columns.data)
    np.minimum.at(least, token, columns.data)
    least = np.minimum(least, largest)
    unit = largest / GRID
    for one in (least / 4, least / 3, least / 2, least, np.ones(size)):  # the last of which all are multiples
        steps = columns.data / one[token]
        uneven = np.bincount(token, np.abs(steps - np.round(steps)) > 1e-9, size) > 0
        unit = np.where(uneven | (largest > MOST * one), unit, one)
    columns.data = np.maximum(np.round(columns.data / unit[token]), 1.0)
    return sparse.csr_array(columns), unit


def check_utility(utility: Any, n: int) -> Counts:
    """Token counts with one row per item, of several kinds, each with its weight."""
    if utility is None:
        return [(1.0, sparse.eye_array(n, format="csr"))]
    pairs = [(1.0, utility)]
    if isinstance(utility, list | tuple) and utility and all(is_weighted(pair) for pair in utility):
        pairs = list(utility)
    weights = [float(w) for w, _ in pairs]
    if not all(np.isfinite(w) and w >= 0.0 for w in weights) or sum(weights) <= 0.0:
        raise ValueError(f"utility must have weights that are not negative and not all 0, found {weights}.")
    return [(w, check_counts(C, n)) for w, (_, C) in zip(weights, pairs, strict=True)]


def is_weighted(pair: Any) -> bool:
    """Whether this is a weight with a matrix, and not a row of one."""
    if not (isinstance(pair, tuple) and len(pair) == 2 and np.ndim(pair[0]) == 0):
        return False
    return sparse.issparse(pair[1]) or np.ndim(pair[1]) == 2


def check_counts(C: Any, n: int) -> Any:
    """A csr_array of counts, none negative, with n rows."""
    if not sparse.issparse(C):
        dense = None if callable(C) else as_numbers(C, "utility")
        if dense is None or dense.ndim != 2:
            raise ValueError(
                "utility must be a token-count matrix (items x tokens) or a list of (weight, counts), found "
                f"{type(C).__name__}. Count in each row what two sets are to share."
            )
        C = sparse.csr_array(dense.astype(np.float64))
    counts = as_csr(C, "utility").astype(np.float64, copy=False)
    if counts.shape[0] != n:
        raise ValueError(f"utility must have one row of token counts per item ({n}), found {counts.shape[0]}.")
    if not np.isfinite(counts.data).all() or (counts.data < 0).any():
        raise ValueError("utility must hold token counts: finite numbers that are not negative.")
    return counts
