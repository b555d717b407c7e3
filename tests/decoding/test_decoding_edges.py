"""Decoders where arithmetic is hard: sums of decimals, nearly singular kernels, and little time."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from brute import subsets
from brute_decoding import log_minor
from dpplearn import DPP, LowRankDPP
from dpplearn.decoding import consensus, exact_map, greedy_map, local_search, sampled_map

# one rule of what fits


def test_exact_counts_its_levels_as_it_descends():
    """0.53 five times: the running sum is above 2.65, the budget less 0.53 each time is not."""
    found = exact_map(DPP(np.diag(np.linspace(4, 5, 16)) + 0.5), np.full(16, 0.53), 2.65)
    assert found.optimal
    assert found.sorted_subset.tolist() == [11, 12, 13, 14, 15]
    assert found.cost == 2.65


@given(st.lists(st.integers(1, 40), min_size=3, max_size=7), st.integers(1, 127), st.sampled_from([10, 100, 7]))
def test_a_set_that_costs_exactly_the_budget_fits_everywhere(tenths, mask, unit):
    """Costs and the budget are decimals; what fits is decided by fractions, and every decoder agrees."""
    n = len(tenths)
    Y = [i for i in range(n) if mask >> i & 1] or [0]
    exact = [Fraction(t, unit) for t in tenths]
    budget = sum(exact[i] for i in Y)
    cost, limit = [t / unit for t in tenths], float(budget)
    dpp = DPP(np.diag(np.arange(4.0, 4.0 + n)))
    sets = [Z for Z in subsets(n) if sum(exact[i] for i in Z) <= budget]
    best = max(log_minor(dpp.L, Z) for Z in sets)
    found = exact_map(dpp, cost, limit)
    assert found.gains.sum() == pytest.approx(best, abs=1e-9)
    sampled = sampled_map(dpp, cost, limit, n_samples=20_000, tilt=True, rng=0, n_jobs=1)
    assert sampled.gains.sum() == pytest.approx(best, abs=1e-9)
    greedy = greedy_map(dpp, cost, limit)
    others = [greedy, local_search(dpp, cost, limit), consensus(dpp, cost, limit)]
    others.append(local_search(dpp, cost, limit, start=Y))
    for chosen in [found, sampled, *others, local_search(dpp, cost, limit, start=found)]:
        assert tuple(chosen.sorted_subset) in sets
        assert chosen.cost <= limit
    for decode in (greedy_map, exact_map, local_search):
        assert decode(dpp, cost, limit, include=Y).sorted_subset.tolist() == Y
    for item in range(n):  # what is over by one unit of the last decimal does not fit
        if item not in Y:
            with pytest.raises(ValueError, match="include must fit the budget"):
                greedy_map(dpp, cost, limit, include=[*Y, item])


# nearly singular kernels


# log-probabilities of features


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, lambda x: sparse.csr_array(x.astype(np.float32))])
@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e4, 1e9])
@pytest.mark.parametrize("shape", [(6, 9), (9, 6), (9, 3)])
@pytest.mark.parametrize("twice", [False, True])
def test_log_prob_of_features_is_that_of_the_low_rank_model(form, scale, shape, twice, rng):
    phi = rng.standard_normal(shape).astype(np.float32).astype(float)
    if twice:
        phi[1] = phi[0]
    q = scale * np.exp(0.2 * rng.standard_normal(shape[0]))
    chosen = greedy_map((q, form(phi)), k=2, diversity=0.3)
    assert chosen.log_prob == pytest.approx(LowRankDPP.from_quality(q, phi).log_prob(chosen.subset), rel=1e-7, abs=1e-7)


# nothing to draw, nothing to agree with
