"""How many items of each group a set may and must have, whatever the decoder."""

from __future__ import annotations

import numpy as np
import pytest

from brute_decoding import algorithm_2, best_set, feasible, kernel, log_minor, random_problem
from dpplearn import DPP, ConditionalDPP, ItemSet, LowRankDPP, NonsymmetricDPP, diversify
from dpplearn.decoding import consensus, exact_map, greedy_map, local_search, sampled_map
from dpplearn.decoding.registry import DECODERS

FUNCTIONS = {
    "greedy": greedy_map,
    "sampled": sampled_map,
    "consensus": consensus,
    "exact": exact_map,
    "local": local_search,
}


def problem(seed, n=8):
    """A kernel in which items of one group need not be alike: the quota, and nothing else, keeps them apart."""
    q, phi, cost, budget = random_problem(seed, n)
    return kernel(q, phi), phi * q[:, None], cost, budget, np.random.default_rng(seed).integers(-2, 3, n)


def one_each(groups):
    return {"groups": groups, "max_per_group": 1}


def any_limits(seed, n=6):
    """Limits of every kind, in any combination, that some set keeps; and all sets that keep them."""
    rng = np.random.default_rng(seed)
    while True:
        cost, budget, limits = np.ones(n), np.inf, {}
        if rng.random() < 0.6:
            cost = rng.uniform(1, 3, n)
            budget = float(rng.uniform(0.3, 0.8) * cost.sum())
        if rng.random() < 0.6 or budget == np.inf:
            limits["k"] = int(rng.integers(1, n))
        items = rng.permutation(n)
        limits |= {"include": items[: rng.integers(0, 3)], "exclude": items[n - rng.integers(0, 3) :]}
        if rng.random() < 0.9:
            limits["groups"] = rng.integers(0, 3, n)
            limits |= {"max_per_group": int(rng.integers(1, 3))} if rng.random() < 0.7 else {}
            limits |= {"min_per_group": 1} if rng.random() < 0.5 else {}
        sets = feasible(cost, budget, **limits)
        if sets and sets != [()]:
            return cost, budget, limits, sets


@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_every_decoder_keeps_every_combination_of_limits(name):
    decode, answers = FUNCTIONS[name], 0
    options = {"rng": 0, "n_samples": 200} if name == "sampled" else {}
    for seed in range(60):
        cost, budget, limits, sets = any_limits(seed)
        if name == "exact" and "min_per_group" in limits:
            continue
        L = kernel(*random_problem(seed, 6)[:2])
        bound = {} if budget == np.inf else {"budget": budget}
        chosen = decode(DPP(L), cost, diversity=[0.5, 0.2, 0.8][seed % 3], **bound, **limits, **options)
        if getattr(chosen, "n_feasible", 1) == 0 and len(chosen) == 0:
            continue  # none of the samples was such a set, and the reason says so
        answers += 1
        assert tuple(chosen.sorted_subset.tolist()) in sets
        assert all(tuple(one.sorted_subset.tolist()) in sets for one in getattr(chosen, "best", ()))
    assert answers > 30


@pytest.mark.parametrize("seed", range(40))
def test_consensus_by_counts_keeps_them_too(seed):
    cost, budget, limits, sets = any_limits(seed)
    counts = np.random.default_rng(seed).integers(0, 3, (6, 5))
    L = kernel(*random_problem(seed, 6)[:2])
    bound = {} if budget == np.inf else {"budget": budget}
    assert tuple(consensus(DPP(L), cost, utility=counts, **bound, **limits).sorted_subset.tolist()) in sets


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


@pytest.mark.parametrize("name", list(DECODERS))
def test_a_fitted_model_that_fills_a_size_keeps_the_quotas(name, rng):
    """What a decoder leaves short of k is filled greedily, within the same limits."""
    X = [ItemSet(rng.random((6, 1)), phi=rng.random((6, 4))) for _ in range(4)]
    model = ConditionalDPP(given_size=True).fit(X, [[0, 1], [2, 4], [1, 3], [0, 2]])
    groups = np.array([0, 0, 0, 1, 1, 2])
    options = {"rng": 0, "n_samples": 500} if name == "sampled" else {}
    for x in X:
        chosen = model.decode(x, decoder=name, k=4, exclude=[5], groups=groups, max_per_group=1, **options)
        assert sorted(groups[chosen.subset]) == [0, 1]


BEYOND = {"groups": list("aabbccddee"), "min_per_group": 1, "k": 5}  # five groups in four dimensions


@pytest.mark.parametrize(("name", "given"), [("greedy", [0]), *((name, None) for name in DECODERS if name != "exact")])
def test_diversify_meets_what_groups_must_have_beyond_the_rank(name, given, rng):
    E, s = rng.standard_normal((10, 4)), rng.random(10)
    options = {"rng": 0, "n_samples": 20_000} if name == "sampled" else {}
    for by in {"linear", "auto"} if name == "greedy" else {"auto"}:
        found = diversify(E, s, decoder=name, given=given, kernel=by, **BEYOND, **options)
        assert sorted({found.limits.names[c] for c in found.limits.group[found.subset]}) == list("abcde")
