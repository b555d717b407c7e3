"""The repulsive pairwise MRF against enumeration in plain Python."""

from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from brute import event, subsets
from brute_mrf import brute_pmf, position, random_mrf, symmetric
from dpplearn import DPP, KDPP, LowRankDPP, Subsets
from dpplearn.mrf import PairwiseMRF, kl_divergence
from dpplearn.mrf.enumeration import inclusion_probs, moments, positions_to_subsets, probabilities_of


@pytest.fixture(params=[(1, True), (2, True), (5, True), (6, False)], ids=str)
def case(request, rng):
    n, repulsive = request.param
    mrf = random_mrf(n, rng, repulsive=repulsive)
    return mrf, brute_pmf(mrf.w.tolist(), mrf.W.tolist())


def test_probabilities_are_those_of_equation_11(case):
    mrf, pmf = case
    assert mrf.probabilities.shape == (1 << mrf.n,)
    for Y, p in pmf.items():
        assert mrf.probabilities[position(Y)] == pytest.approx(p, rel=1e-12)
        assert mrf.log_prob(Y) == pytest.approx(log(p), rel=1e-12)
    assert exp(-mrf.log_normalizer) == pytest.approx(pmf[()], rel=1e-12)
    many = Subsets.from_lists(list(pmf), mrf.n)
    np.testing.assert_allclose(mrf.log_prob(many), np.log(list(pmf.values())), rtol=1e-12)


def test_marginals_and_pairs(case):
    mrf, pmf = case
    for i in range(mrf.n):
        assert mrf.marginals[i] == pytest.approx(event(pmf, [i]), rel=1e-12)
        for j in range(mrf.n):
            assert mrf.pair_probs()[i, j] == pytest.approx(event(pmf, {i, j}), rel=1e-12)


def test_draws_follow_the_probabilities(rng):
    mrf = random_mrf(4, rng)
    draws = mrf.sample(20_000, rng=rng)
    counts = np.bincount([position(Y) for Y in draws], minlength=16)
    assert chisquare(counts, 20_000 * mrf.probabilities).pvalue > 1e-3
    assert mrf.sample(50, rng=7) == mrf.sample(50, rng=7)
    assert len(mrf.sample(0, rng=0)) == 0


@given(st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_moments_and_inclusion_of_any_distribution(n, seed):
    p = np.random.default_rng(seed).dirichlet(np.ones(1 << n))
    pmf = {Y: p[position(Y)] for Y in subsets(n)}
    included, found = inclusion_probs(p), moments(p)
    for Y in subsets(n):
        assert included[position(Y)] == pytest.approx(event(pmf, Y), rel=1e-9)
        if 1 <= len(Y) <= 2:
            assert found[Y[0], Y[-1]] == pytest.approx(event(pmf, Y), rel=1e-9)


def test_probabilities_of_every_distribution(rng):
    B = rng.standard_normal((5, 2))
    for distribution in (DPP(B @ B.T + np.eye(5)), LowRankDPP(B), KDPP(DPP(B @ B.T), 2), random_mrf(5, rng)):
        expected = np.exp([distribution.log_prob(Y) for Y in positions_to_subsets(np.arange(32), 5)])
        np.testing.assert_allclose(probabilities_of(distribution), expected, atol=1e-14)


def test_kl_divergence_from_the_definition(rng):
    p, q = rng.dirichlet(np.ones(8)), rng.dirichlet(np.ones(8))
    assert kl_divergence(p, q) == pytest.approx(sum(a * log(a / b) for a, b in zip(p, q, strict=True)))
    assert kl_divergence(p, p) == 0.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: PairwiseMRF(np.zeros(3), symmetric([0, 0.3, 0])), r"items 0 and 2 attract: W\[0, 2\] is 0.3"),
        (lambda: PairwiseMRF(np.zeros(2), [[-1, 0], [0, 0]]), "zeros on its diagonal. Add"),
        (lambda: probabilities_of(np.ones(3) / 3), r"each of the 2\^N subsets.*found 3"),
        (lambda: probabilities_of([0.5, 0.6]), "sum to 1, found 1.1"),
        (lambda: probabilities_of([1.5, -0.5]), r"the least -0\.5"),
        (lambda: probabilities_of(np.full(1 << 21, 0.5**21)), "up to N = 20 items, found 21"),
        (lambda: kl_divergence(np.full(8, 0.125), np.full(4, 0.25)), "same number of items, found 3 and 2"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
