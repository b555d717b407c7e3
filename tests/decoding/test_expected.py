"""Consensus with all sets of a model at once: expected token counts against enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from brute import pmf
from brute_decoding import feasible, kernel, random_problem
from dpplearn import DPP
from dpplearn.decoding import consensus
from dpplearn.decoding.consensus import EXACT_HOLDERS, Agreement
from dpplearn.decoding.limits import check_limits
from dpplearn.decoding.tilt import find_tilt


def expected_overlap(L, counts, Y):
    """sum over t of E min(a_t, N_t), and E of the length, over every subset."""
    a = counts[list(Y)].sum(axis=0)
    sets = pmf(L)
    overlap = sum(p * np.minimum(a, counts[list(Z)].sum(axis=0)).sum() for Z, p in sets.items())
    return overlap, sum(p * counts[list(Z)].sum() for Z, p in sets.items())


def agreement(counts, sets, **limits):
    return Agreement.of([(1.0, sparse.csr_array(counts))], sets, check_limits(len(counts), **limits))


def overlap_of(found, Y):
    """The same by the levels that a search reads."""
    return found.overlap[found.levels(np.array(Y))].sum()


@pytest.mark.parametrize("kind", ["counts", "weights", "multiples"])
@pytest.mark.parametrize("seed", range(8))
def test_expected_overlap_is_that_of_every_subset(seed, kind):
    q, phi, _, _ = random_problem(seed, n=EXACT_HOLDERS)
    L, rng = kernel(q, phi), np.random.default_rng(seed)
    counts = rng.poisson(0.9, (EXACT_HOLDERS, 10)).astype(float)
    if kind == "multiples":  # word counts times an idf
        counts *= rng.random(10)
    elif kind == "weights":
        counts *= rng.random(counts.shape)
    part = agreement(counts, DPP(L).K)
    for Y in ([0, 3, 5], [1], [2, 4, 6, 7], range(8)):
        overlap, length = expected_overlap(L, counts, Y)
        assert overlap_of(part, Y) == pytest.approx(overlap, rel=0.02 if kind == "weights" else 1e-9)
        assert part.mean[0] == pytest.approx(length)


@pytest.mark.parametrize("seed", range(8))
def test_many_items_with_a_token_have_its_mean_and_variance(seed):
    """A binomial in place of the sum of flips that N is: expected overlaps are within 1 %."""
    q, phi, _, _ = random_problem(seed, n=11)
    L, counts = kernel(q, phi), np.random.default_rng(seed).integers(1, 3, (11, 2)).astype(float)
    counts[:, 1] = 1.0
    part = agreement(counts, DPP(L).K)
    for Y in ([0, 3, 5], [1], range(11)):
        assert overlap_of(part, Y) == pytest.approx(expected_overlap(L, counts, Y)[0], rel=0.01)


@pytest.mark.parametrize("seed", range(12))
def test_the_set_agrees_most_with_all_sets_of_the_right_cost(seed):
    q, phi, cost, budget = random_problem(seed, n=7)
    L, counts = kernel(q, phi), np.random.default_rng(seed).poisson(0.8, (7, 12)).astype(float)
    limits = [{}, {"include": [2]}, {"exclude": [1, 4]}, {"groups": [0, 0, 1, 1, 2, 3, 3], "max_per_group": 1}][
        seed % 4
    ]
    found = consensus(DPP(L), cost, budget, utility=counts, **limits)
    include, exclude = limits.get("include", []), limits.get("exclude", [])
    given = DPP(L).condition(include, exclude) if include or exclude else DPP(L)
    rest = np.setdiff1d(np.arange(7), include + exclude)
    full = min(budget, 4 * cost.mean()) if "groups" in limits else budget
    s = find_tilt(*given.eigenpairs, cost[rest], full - cost[include].sum())
    sets = {tuple(sorted([*rest[list(Z)], *include])): p for Z, p in pmf(np.exp(s) * given.L).items()}
    mean = sum(p * counts[list(Z)].sum() for Z, p in sets.items())

    def value(Y):
        a = counts[list(Y)].sum(axis=0)
        overlap = sum(p * np.minimum(a, counts[list(Z)].sum(axis=0)).sum() for Z, p in sets.items())
        return 2 * overlap / (a.sum() + mean)

    choices = feasible(cost, budget, **limits)
    assert tuple(found.sorted_subset) in choices
    assert found.utility == pytest.approx(value(found.subset), rel=1e-6)
    assert found.utility >= 0.99 * max(map(value, choices))
