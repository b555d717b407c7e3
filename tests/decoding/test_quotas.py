"""How many items of each group a set may and must have, whatever the decoder."""

from __future__ import annotations

import numpy as np
import pytest

from brute_decoding import algorithm_2, best_set, feasible, kernel, log_minor, random_problem
from dpplearn import DPP, LowRankDPP, NonsymmetricDPP, diversify
from dpplearn.decoding import greedy_map, sampled_map
from dpplearn.decoding.registry import DECODERS


def problem(seed, n=8):
    """A kernel in which items of one group need not be alike: the quota, and nothing else, keeps them apart."""
    q, phi, cost, budget = random_problem(seed, n)
    return kernel(q, phi), phi * q[:, None], cost, budget, np.random.default_rng(seed).integers(-2, 3, n)


def one_each(groups):
    return {"groups": groups, "max_per_group": 1}


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("rule", ["probability", "log"])
def test_greedy_of_every_kind_of_model_passes_over_full_groups(seed, rule):
    L, B, cost, budget, groups = problem(seed)
    power = [0.0, 0.5, 1.0][seed % 3]
    truth = algorithm_2(L, cost, budget, rule, power, groups=groups)
    q = np.linalg.norm(B, axis=1)
    skew = NonsymmetricDPP(B, np.zeros((8, 2)), np.zeros((2, 2)))
    for model in (DPP(L), LowRankDPP(B), (q, B), skew):
        chosen = greedy_map(model, cost, budget, gain=rule, cost_power=power, **one_each(groups))
        assert chosen.subset.tolist() == truth


@pytest.mark.parametrize(
    "limits", [{"max_per_group": 1}, {"min_per_group": 1}, {"max_per_group": 2, "min_per_group": 1}]
)
@pytest.mark.parametrize("seed", range(8))
def test_samples_outside_the_quotas_do_not_count(seed, limits):
    L, _, cost, _, _ = problem(seed)
    budget, limits = float(0.7 * cost.sum()), limits | {"groups": [0, 1, 0, 1, 2, 2, 0, 1]}
    _, Y = best_set(L, cost, budget, **limits)
    chosen = sampled_map(DPP(L), cost, budget, n_samples=30_000, rng=seed, **limits)
    assert chosen.sorted_subset.tolist() == list(Y)
    fit = set(feasible(cost, budget, **limits))
    P = np.exp(DPP(L).log_prob([])) * sum(np.exp(log_minor(L, Z)) for Z in fit)
    assert abs(chosen.n_feasible - 30_000 * P) < 5 * np.sqrt(30_000 * P * (1 - P)) + 1e-9


BEYOND = {"groups": list("aabbccddee"), "min_per_group": 1, "k": 5}  # five groups in four dimensions


@pytest.mark.parametrize(("name", "given"), [("greedy", [0]), *((name, None) for name in DECODERS if name != "exact")])
def test_diversify_meets_what_groups_must_have_beyond_the_rank(name, given, rng):
    E, s = rng.standard_normal((10, 4)), rng.random(10)
    options = {"rng": 0, "n_samples": 20_000} if name == "sampled" else {}
    for by in {"linear", "auto"} if name == "greedy" else {"auto"}:
        found = diversify(E, s, decoder=name, given=given, kernel=by, **BEYOND, **options)
        assert sorted({found.limits.names[c] for c in found.limits.group[found.subset]}) == list("abcde")
