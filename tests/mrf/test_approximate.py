"""The best DPP of a pairwise field, and the methods beside it, against enumeration."""

import numpy as np
import pytest
from scipy.stats import chisquare

from brute_mrf import position, random_mrf
from dpplearn import DPP
from dpplearn.mrf import PairwiseMRF, approximate, entropy, kl_divergence
from dpplearn.mrf.chains import annealed, sweep
from dpplearn.mrf.entropy import Surrogate
from dpplearn.mrf.enumeration import all_scores, moments, positions_to_subsets, probabilities_of, scores
from dpplearn.mrf.starts import Sine
from dpplearn.mrf.variational import best_dpp, lower_bound


def pairs_field(n, rng):
    """Disjoint pairs: by equation (13) exactly a DPP."""
    W = np.zeros((n, n))
    for i in range(0, n, 2):
        W[i, i + 1] = W[i + 1, i] = -3.0 * rng.random()
    return PairwiseMRF(rng.standard_normal(n), W)


def all_subsets(n):
    return positions_to_subsets(np.arange(1 << n), n)


def rows_of_all_subsets(n):
    return all_subsets(n).to_sparse().toarray().astype(float)


@pytest.fixture
def process(rng):
    """A kernel on seven items by its parameters, and all 2^7 probabilities."""
    kernels = Sine(7)
    x = 0.6 * rng.standard_normal(28)
    return kernels, x, np.exp(DPP.from_marginal(kernels.at(x)[0]).log_prob(all_subsets(7)))


@pytest.fixture(params=[14, 0], ids=["one block", "many blocks"])
def blocks(request, monkeypatch):
    monkeypatch.setattr(entropy, "EXACT", request.param)
    return request.param


def test_the_surrogate_is_the_bound_or_its_known_part(process, blocks, rng):
    """One block: E[score] + H, by enumeration. Many: E[score - c], with c as told."""
    kernels, x, q = process
    mrf = random_mrf(7, rng, repulsive=False)
    Y = rows_of_all_subsets(7)
    score = all_scores(mrf.w, mrf.W)
    np.testing.assert_allclose(scores(mrf.w, mrf.W, Y), score, atol=1e-12)
    K = kernels.at(x)[0]
    surrogate = Surrogate.of(mrf.w, mrf.W, K, 3)
    assert surrogate.exact == (blocks == 14)
    value, _ = surrogate(K)
    c = surrogate.log_surrogate(K, Y)
    assert value == pytest.approx(q @ (score - c), abs=1e-6)
    if surrogate.exact:
        assert value == pytest.approx(q @ (score - np.log(q)), abs=1e-6)


@pytest.mark.usefixtures("blocks")
def test_the_gradient_is_that_of_finite_differences(process, rng):
    kernels, x, _ = process
    mrf = random_mrf(7, rng, repulsive=False)
    K = kernels.at(x)[0]
    surrogate = Surrogate.of(mrf.w, mrf.W, K, 3)
    gradient = kernels.pull_back(kernels.at(x)[1], surrogate(K)[1])
    steps = 1e-6 * np.eye(x.size)
    numeric = [(surrogate(kernels.at(x + e)[0])[0] - surrogate(kernels.at(x - e)[0])[0]) / 2e-6 for e in steps]
    np.testing.assert_allclose(gradient, numeric, atol=1e-6)


@pytest.mark.parametrize("n", [2, 8])
def test_a_dpp_is_found_again(n, rng):
    mrf = pairs_field(n, rng)
    found = approximate(mrf)
    assert kl_divergence(found.q, mrf) < 1e-4
    assert found.log_normalizer == pytest.approx(mrf.log_normalizer, abs=1e-4)
    np.testing.assert_allclose(found.pair_probs, mrf.pair_probs(), atol=1e-3)
    assert found.dpp_like


@pytest.mark.parametrize(("n", "seed"), [(9, 0), (9, 2), (9, 3), (10, 1)])
def test_bounds_are_on_their_sides(n, seed):
    rng = np.random.default_rng(seed)
    mrf = random_mrf(n, rng, strength=(0.3, 1.0, 3.0, 1.0)[seed], repulsive=seed < 3)
    log_z = mrf.log_normalizer
    dpp, mean = (approximate(mrf, family) for family in ("dpp", "mean-field"))
    assert mean.log_normalizer - 1e-9 <= dpp.log_normalizer <= log_z + 1e-9  # independent items are a DPP too
    q = probabilities_of(dpp.q)
    assert dpp.log_normalizer == pytest.approx(q @ (all_scores(mrf.w, mrf.W) - np.log(q)), abs=1e-6)
    np.testing.assert_allclose(dpp.pair_probs, moments(q), atol=1e-7)
    assert abs(dpp.divergence - kl_divergence(q, mrf)) < 4 * dpp.divergence.standard_error


def test_the_estimated_bound_is_the_bound(rng, monkeypatch):
    """With blocks instead of enumeration: unbiased, its error as told."""
    monkeypatch.setattr(entropy, "EXACT", 0)
    mrf = random_mrf(12, rng)
    found = best_dpp(mrf.w, mrf.W, mrf.pair_probs(), rng)
    assert not found.surrogate.exact
    q = probabilities_of(found.q)
    bound = q @ (all_scores(mrf.w, mrf.W) - np.log(q))
    runs = [lower_bound(found, np.inf, rng) for _ in range(25)]
    z = (np.array(runs) - bound) / [run.standard_error for run in runs]
    assert abs(z.mean()) < 4 / np.sqrt(25)
    assert 0.5 < z.std() < 1.5
    monkeypatch.setattr(entropy, "EXACT", 14)
    best = approximate(mrf).log_normalizer
    assert bound > mrf.log_normalizer - 1.5 * (mrf.log_normalizer - best) - 0.02


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_annealing_weighs_to_z(share, rng):
    mrf = random_mrf(6, rng, repulsive=False)
    log_z, states = annealed(mrf.w, mrf.W, 20_000, 10, rng, share)  # few sweeps: the weights have work to do
    assert abs(log_z - mrf.log_normalizer) < 4 * log_z.standard_error < 0.05
    np.testing.assert_allclose(states.T @ states.astype(float) / len(states), mrf.pair_probs(), atol=0.02)


def test_gibbs_chains_are_those_of_the_field(rng):
    mrf = random_mrf(4, rng)
    drawn = np.zeros((10_000, 4), bool)
    sweep(mrf.w, mrf.W, mrf.w, np.ones(21), drawn, rng)
    counts = np.bincount([position(np.flatnonzero(Y)) for Y in drawn], minlength=16)
    assert chisquare(counts, 10_000 * mrf.probabilities).pvalue > 1e-3


@pytest.mark.parametrize("family", ["dpp", "mean-field", "ais"])
def test_every_family_answers_alike(family, rng):
    """The same record from each, near the truth where repulsion is weak, and the same for the same seed."""
    mrf = random_mrf(16, rng, strength=0.2)
    found, again = (approximate(mrf, family, rng=3, chains=600, sweeps=100) for _ in range(2))
    assert found.family == family
    assert found.marginals.shape == (16,)
    np.testing.assert_array_equal(found.pair_probs, again.pair_probs)
    np.testing.assert_array_equal(found.pair_probs.diagonal(), found.marginals)
    np.testing.assert_allclose(found.marginals, mrf.marginals, atol=0.15)
    assert found.log_normalizer == pytest.approx(mrf.log_normalizer, abs=1.5)
    assert f"16 items by {family}" in repr(found)


def exclusive(n, groups=1):
    """At most one item of each group: log Z is the sum of log(1 + items) over the groups."""
    group = np.arange(n) % groups
    return PairwiseMRF(np.zeros(n), -20.0 * (group[:, None] == group) * (1 - np.eye(n)))


def all_but_one(n):
    """At most one item is left out: all sets of n and n - 1 items have the same score."""
    return PairwiseMRF(np.full(n, 20.0 * (n - 1)), -20.0 * (1 - np.eye(n)))


@pytest.mark.parametrize(
    ("mrf", "rare", "log_z"),
    [
        (exclusive(15), range(0), np.log(16)),
        (exclusive(30, 2), range(0), 2 * np.log(16)),
        (all_but_one(15), range(15), np.log(16) + 20 * 105),
    ],
    ids=["at most one", "one of each", "all but one"],
)
def test_the_search_keeps_the_set_that_no_block_sees(mrf, rare, log_z):
    found = approximate(mrf, error=0.002)
    assert found.log_normalizer == pytest.approx(log_z, abs=0.01)
    assert np.exp(found.q.log_prob(rare)) == pytest.approx(np.exp(mrf.score(rare) - log_z), rel=0.5)
    assert found.dpp_like


def fields_of_all_kinds(rng):
    """Exclusive, in groups, repulsive, attracting, frustrated, in two phases, with strong weights of items."""
    n = int(rng.integers(15, 18))
    one, half = 1 - np.eye(n), np.arange(n) % 2
    upper = np.triu(rng.standard_normal((n, n)), 1)
    normal = upper + upper.T
    w = rng.standard_normal(n)
    yield w / 2 + rng.choice([-2.0, 0.0, 2.0]), -rng.choice([8.0, 20.0, 1000.0]) * one
    yield w / 2 + 1.0, -10.0 * (half[:, None] == half) * one
    yield w, -rng.choice([0.3, 1.0, 3.0]) * np.abs(normal)
    yield 0.3 * w - 0.5 * (n - 1) / 2 * rng.uniform(0.7, 1.1), 0.5 * one
    yield w, rng.choice([1.0, 2.0, 5.0]) * normal
    yield 0.1 * w + 0.5, -rng.choice([2.0, 8.0]) * (half[:, None] != half)
    yield 8.0 * w, rng.choice([-2.0, 2.0]) * np.abs(normal)


def test_log_z_is_within_the_error_of_annealing():
    rng = np.random.default_rng(0)
    for w, W in (field for _ in range(3) for field in fields_of_all_kinds(rng)):
        mrf = PairwiseMRF(w, W, repulsive=False)
        found = approximate(mrf, "ais", rng=1, chains=300, sweeps=200).log_normalizer
        assert abs(found - mrf.log_normalizer) < 4 * found.standard_error
