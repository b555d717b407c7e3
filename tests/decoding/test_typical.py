"""The most probable sample of the usual size, against enumeration."""

from __future__ import annotations

import numpy as np
import pytest

from brute import pmf
from brute_decoding import feasible, kernel, log_minor, random_problem
from dpplearn import DPP, LowRankDPP, diversify
from dpplearn.decoding import consensus, exact_map, local_search, sampled_map, typical_map
from dpplearn.decoding.tilt import find_tilt


@pytest.mark.parametrize("seed", range(12))
def test_the_size_is_the_median_of_those_that_count_and_the_set_its_best(seed):
    q, phi, cost, budget = random_problem(seed)
    L, low = kernel(q, phi), 0.7 * budget
    found = typical_map(DPP(L), cost, budget, min_cost=low, n_samples=50_000, rng=seed)
    s = find_tilt(*DPP(L).eigenpairs, cost, (low + budget) / 2)
    inside = {Y: p for Y, p in pmf(np.exp(s) * L).items() if low <= sum(cost[i] for i in Y) <= budget}
    below = np.cumsum([sum(p for Y, p in inside.items() if len(Y) == k) for k in range(9)]) / sum(inside.values())
    if np.abs(below - 0.5).min() < 0.03:  # as near to one size as to the other
        pytest.skip("either size is right")
    usual = int(np.searchsorted(below, 0.5))
    best = max((Y for Y in inside if len(Y) == usual), key=lambda Y: log_minor(L, Y))
    assert found.sorted_subset.tolist() == list(best)
    assert f"{len(best)} item" in found.reason


@pytest.mark.parametrize(
    "limits",
    [
        {"include": [3]},
        {"exclude": [0, 5]},
        {"k": 2},
        {"groups": [0, 0, 0, 1, 1, 2, 2, 3], "max_per_group": 1},
        {"groups": [0, 0, 0, 1, 1, 1, 1, 1], "min_per_group": 1, "include": [2]},
    ],
)
def test_limits_hold(limits):
    for seed in range(6):
        q, phi, cost, budget = random_problem(seed)
        found = typical_map(DPP(kernel(q, phi)), cost, budget, min_cost=0.5 * budget, n_samples=5_000, rng=0, **limits)
        assert tuple(found.sorted_subset) in feasible(cost, budget, **limits)


def test_it_has_more_items_than_the_most_probable_where_costs_differ():
    """Few costly items are more probable than many cheap ones, and there are many more sets of these."""
    rng = np.random.default_rng(0)
    cost = np.append(np.full(5, 30.0), np.full(60, 10.0))
    dpp = DPP(np.diag(np.full(65, 0.05)))
    typical, most = (f(dpp, cost, 60, min_cost=55, n_samples=50_000, rng=rng) for f in (typical_map, sampled_map))
    assert len(typical) > len(most)
    assert typical.log_prob < most.log_prob


@pytest.mark.parametrize("seed", range(12))
def test_items_to_include_that_fill_the_rank_are_the_answer(seed):
    """Nothing can be drawn beside them: no eigenvalue is left."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(4, 9)), int(rng.integers(1, 4))
    B, cost = rng.standard_normal((n, d)), rng.integers(1, 5, n).astype(float)
    include = np.sort(rng.permutation(n)[:d])
    B[include] = 2 * np.linalg.qr(B[include])[0]
    draws = {"n_samples": 200, "rng": 0}
    for model in (LowRankDPP(B), DPP(B @ B.T), (np.ones(n), B)):
        for limits in ({"k": d + 1}, {"cost": cost, "budget": cost[include].sum() + 2}):
            asked = limits | {"include": include}
            for found in (
                typical_map(model, **asked, **draws),
                sampled_map(model, **asked, **draws, tilt=True),
                consensus(model, **asked),
                consensus(model, **asked, **draws),
                exact_map(model, **asked),
                local_search(model, **asked),
            ):
                assert found.sorted_subset.tolist() == include.tolist()
    found = diversify(B, np.zeros(n), k=d, decoder="typical", include=include, nugget=0.0, **draws)
    assert found.sorted_subset.tolist() == include.tolist()


def test_a_dependent_item_with_a_gain_of_rounding_is_no_start():
    """Greedy takes it, and its determinant is not even positive."""
    rng = np.random.default_rng(93)
    n, d = rng.integers(4, 9), rng.integers(1, 4)
    B = rng.standard_normal((n, d))
    include = rng.permutation(n)[:d]
    assert local_search(DPP(B @ B.T), k=d + 1, include=include).sorted_subset.tolist() == np.sort(include).tolist()
