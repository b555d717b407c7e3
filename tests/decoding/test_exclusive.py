"""Items that exclude each other: at most one of each number in a set, whatever the decoder."""

from __future__ import annotations

import numpy as np
import pytest

from brute_decoding import algorithm_2, best_set, clipped_f1, feasible, kernel, random_problem
from dpplearn import DPP, LowRankDPP, NonsymmetricDPP
from dpplearn.decoding import consensus, exact_map, greedy_map, local_search, sampled_map
from dpplearn.decoding.registry import DECODERS, decoder


def problem(seed, n=8):
    """A kernel in which items of one number need not be alike: the limit, and nothing else, keeps them apart."""
    q, phi, cost, budget = random_problem(seed, n)
    return kernel(q, phi), phi * q[:, None], cost, budget, np.random.default_rng(seed).integers(-2, 3, n)


@pytest.mark.parametrize("seed", range(40))
def test_exact_finds_the_best_set_of_different_numbers(seed):
    L, _, cost, budget, exclusive = problem(seed)
    best, _ = best_set(L, cost, budget, exclusive=exclusive)
    found = exact_map(DPP(L), cost, budget, exclusive=exclusive)
    assert found.optimal
    assert len(set(exclusive[found.subset])) == len(found)
    assert np.sum(found.gains) == pytest.approx(best, abs=1e-9)
    assert best < best_set(L, cost, budget)[0] or exact_map(DPP(L), cost, budget).sorted_subset.tolist() == list(
        found.sorted_subset
    )


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("rule", ["probability", "log"])
def test_greedy_of_every_kind_of_model_passes_over_what_is_excluded(seed, rule):
    L, B, cost, budget, exclusive = problem(seed)
    power = [0.0, 0.5, 1.0][seed % 3]
    truth = algorithm_2(L, cost, budget, rule, power, exclusive=exclusive)
    q = np.linalg.norm(B, axis=1)
    skew = NonsymmetricDPP(B, np.zeros((8, 2)), np.zeros((2, 2)))
    for model in (DPP(L), LowRankDPP(B), (q, B), skew):
        found = greedy_map(model, cost, budget, gain=rule, cost_power=power, exclusive=exclusive)
        assert found.subset.tolist() == truth


@pytest.mark.parametrize("seed", range(20))
def test_samples_with_two_of_a_number_do_not_count(seed):
    L, _, cost, budget, exclusive = problem(seed)
    _, Y = best_set(L, cost, budget, exclusive=exclusive)
    found = sampled_map(DPP(L), cost, budget, n_samples=30_000, m=300, rng=seed, exclusive=exclusive)
    assert found.sorted_subset.tolist() == list(Y)
    fit = set(feasible(cost, budget, exclusive=exclusive))
    assert {tuple(one.sorted_subset.tolist()) for one in found.best} <= fit
    P = np.exp(DPP(L).log_prob([])) * sum(np.exp(np.linalg.slogdet(L[np.ix_(Z, Z)])[1]) if Z else 1.0 for Z in fit)
    assert abs(found.n_feasible - 30_000 * P) < 5 * np.sqrt(30_000 * P * (1 - P)) + 1e-9


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("asked", ["counts", "function"])
def test_consensus_is_best_among_sets_of_different_numbers(seed, asked):
    L, _, cost, budget, exclusive = problem(seed)
    counts = np.random.default_rng(seed).integers(0, 3, (8, 6)) + np.eye(8, 6, dtype=int)
    utility = counts if asked == "counts" else lambda A, B: clipped_f1(counts, A, B)
    options = {"utility": utility, "n_samples": 60, "rng": seed, "exclusive": exclusive}
    found = consensus(DPP(L), cost, budget, **options)
    assert len(set(exclusive[found.subset])) == len(found)
    for R in found.references:
        assert len(set(exclusive[R])) == len(R)

    def value(Y):
        return np.mean([clipped_f1(counts, Y, R) for R in found.references])

    assert found.utility == pytest.approx(value(found.subset), abs=1e-6)
    best = max(map(value, feasible(cost, budget, exclusive=exclusive)))
    assert found.utility > 0.97 * best  # a search, from three starts
    for Y in feasible(cost, budget, exclusive=exclusive):  # no move of one item is better
        if len(set(Y) ^ set(found.subset.tolist())) == 1:
            assert value(Y) <= found.utility + 1e-6


@pytest.mark.parametrize("seed", range(20))
def test_local_search_ends_where_no_allowed_move_helps(seed):
    L, _, cost, budget, exclusive = problem(seed)
    found = local_search(DPP(L), cost, budget, exclusive=exclusive)
    Y = set(found.subset.tolist())
    assert len(set(exclusive[found.subset])) == len(found)
    value = float(found.gains.sum())
    for Z in feasible(cost, budget, exclusive=exclusive):
        if len(Y - set(Z)) <= 1 and len(set(Z) - Y) <= 1:
            assert np.linalg.slogdet(L[np.ix_(Z, Z)])[1] <= value + 1e-8


@pytest.mark.parametrize("name", list(DECODERS))
def test_an_item_to_include_excludes_its_own_kind_and_two_are_refused(name):
    L, _, cost, budget, _ = problem(3)
    exclusive = [7, 7, 7, 0, 1, 2, 3, 4]
    options = {"rng": 0} if DECODERS[name].random else {}
    found = decoder(name)(DPP(L), cost, budget, include=[1], exclusive=exclusive, **options)
    assert 1 in found.subset
    assert not {0, 2} & set(found.subset.tolist())
    with pytest.raises(ValueError, match="0 and 2 both have the number 7"):
        decoder(name)(DPP(L), cost, cost.sum(), include=[0, 2], exclusive=exclusive, **options)
    with pytest.raises(ValueError, match=r"exclusive .* 8 items"):
        decoder(name)(DPP(L), cost, budget, exclusive=[1, 2], **options)
    with pytest.raises(ValueError, match=r"exclusive .* integer"):
        decoder(name)(DPP(L), cost, budget, exclusive=np.ones(8), **options)


def test_the_reason_says_that_others_are_excluded():
    found = greedy_map(DPP(3.0 * np.eye(4)), k=4, exclusive=[0, 0, 1, 1])
    assert found.sorted_subset.tolist() == [0, 2]
    assert "excluded by one that is chosen" in found.reason


def test_numbers_past_those_of_the_items_left(rng):
    """With most items excluded, the numbers of the others are larger than there are items."""
    n = 40
    dpp = DPP(np.eye(n) * 2.0)
    group = np.repeat(np.arange(n // 2), 2)
    found = sampled_map(dpp, np.ones(n), 3.0, exclude=np.arange(34), exclusive=group, n_samples=5_000, rng=rng)
    assert found.subset.min() >= 34
    assert np.unique(group[found.subset]).size == found.subset.size == 3
