"""The best DPP of a pairwise field, and the methods beside it, against enumeration."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import chisquare

from brute_mrf import random_mrf
from dpplearn import DPP, LowRankDPP, NonsymmetricDPP
from dpplearn.mrf import Diagnosis, PairwiseMRF, approximate, kl_divergence
from dpplearn.mrf import surrogate as surrogate_module
from dpplearn.mrf.approximate import FAMILIES
from dpplearn.mrf.chains import annealed, gibbs, scores, weighted_moments
from dpplearn.mrf.coverage import heavy_sets
from dpplearn.mrf.enumeration import all_subsets, moments, probabilities_of, quadratic_sums, subsets_to_positions
from dpplearn.mrf.messages import leverage, mean_field, pair_logs, tree_reweighted
from dpplearn.mrf.parameters import Factors, Sine
from dpplearn.mrf.surrogate import Surrogate
from dpplearn.mrf.variational import SURE, Variational, best_process, lower_bound, score_covariance


def pairs_field(n, rng):
    """Disjoint pairs: by equation (13) exactly a DPP."""
    W = np.zeros((n, n))
    for i in range(0, n, 2):
        W[i, i + 1] = W[i + 1, i] = -3.0 * rng.random()
    return PairwiseMRF(rng.standard_normal(n), W)


def rows_of_all_subsets(n):
    return all_subsets(n).to_sparse().toarray().astype(float)


@pytest.fixture(params=[False, True], ids=["symmetric", "nonsymmetric"])
def process(request, rng):
    """Kernels on seven items, their parameters and all 2^7 probabilities."""
    n, skew = 7, request.param
    kernels = Factors(n, n, skew) if skew else Sine(n)
    x = 0.5 * rng.standard_normal(n * n + n * (n - 1) // 2) if skew else 0.6 * rng.standard_normal(n * (n + 1) // 2)
    return kernels, x, np.exp(kernels.process(x).log_prob(all_subsets(n)))


@pytest.fixture(params=[14, 0], ids=["one block", "many blocks"])
def blocks(request, monkeypatch):
    monkeypatch.setattr(surrogate_module, "EXACT", request.param)
    return request.param


def test_the_surrogate_is_the_bound_or_its_known_part(process, blocks, rng):
    """One block: E[score] + H, by enumeration. Many: E[score - c], with c as told."""
    kernels, x, q = process
    mrf = random_mrf(7, rng, repulsive=False)
    Y = rows_of_all_subsets(7)
    score = quadratic_sums(mrf.w, mrf.W)
    np.testing.assert_allclose(scores(mrf.w, mrf.W, Y), score, atol=1e-12)
    K = kernels.at(x).K
    surrogate = Surrogate.of(mrf.w, mrf.W, (K * K.T) ** 2, 3)
    assert surrogate.exact == (blocks == 14)
    value, _ = surrogate(K)
    c = surrogate.log_surrogate(K, Y)
    assert value == pytest.approx(q @ (score - c), abs=1e-6)
    if surrogate.exact:
        assert value == pytest.approx(q @ (score - np.log(q)), abs=1e-6)


def test_blocks_alone_give_more_entropy_than_there_is(rng, monkeypatch):
    """H(q) = sum of H(y_i | y_S_i) - KL(q || q'): the gap is the divergence of the product of conditionals."""
    n = 6
    monkeypatch.setattr(surrogate_module, "EXACT", 0)
    dpp = DPP(np.cov(rng.standard_normal((n, 9))))
    whole = Surrogate.of(np.zeros(n), np.zeros((n, n)), dpp.K**4, 2)
    bare = Surrogate(whole.w, whole.W, whole.first, whole.blocks, np.zeros((n, n)))
    q, c = probabilities_of(dpp), bare.log_surrogate(dpp.K, rows_of_all_subsets(n))
    assert np.exp(c).sum() == pytest.approx(1.0, abs=1e-9)  # a distribution of its own
    assert bare(dpp.K)[0] - dpp.entropy() == pytest.approx(kl_divergence(q, np.exp(c)), abs=1e-9)


@pytest.mark.usefixtures("blocks")
def test_the_gradient_is_that_of_finite_differences(process, rng):
    kernels, x, _ = process
    mrf = random_mrf(7, rng, repulsive=False)
    K = kernels.at(x).K
    surrogate = Surrogate.of(mrf.w, mrf.W, (K * K.T) ** 2, 3)
    point = kernels.at(x)
    gradient = kernels.pull_back(point, surrogate(point.K)[1])
    steps = 1e-6 * np.eye(x.size)
    numeric = [(surrogate(kernels.at(x + e).K)[0] - surrogate(kernels.at(x - e).K)[0]) / 2e-6 for e in steps]
    np.testing.assert_allclose(gradient, numeric, atol=1e-6)


@pytest.mark.parametrize("n", [5, 12])
def test_the_gradient_of_the_bound_is_the_sum_over_subsets(n, rng):
    """d (sum of q (score - log q)) = sum of q (score - log q) d log q, every subset by itself."""
    mrf, kernels = random_mrf(n, rng), Sine(n)
    x = kernels.start(DPP(np.cov(rng.standard_normal((n, 2 * n)))).K)
    point, Y = kernels.at(x), rows_of_all_subsets(n)
    q = probabilities_of(kernels.process(x))
    left = quadratic_sums(mrf.w, mrf.W) - np.log(q)
    A = point.K - np.eye(n) * (1 - Y)[:, None, :]
    G = np.tensordot(q * (left - q @ left), np.linalg.inv(A), 1)
    _, found = Surrogate.of(mrf.w, mrf.W, point.K**2, 8)(point.K)
    np.testing.assert_allclose(kernels.pull_back(point, found), kernels.pull_back(point, G), atol=1e-5)


def test_corrections_are_the_missing_gradient(process, rng, monkeypatch):
    """Surrogate gradient - cov(log q - c, score function) over samples is the gradient of the bound, within noise."""
    kernels, x, _ = process
    monkeypatch.setattr(surrogate_module, "EXACT", 0)
    mrf, K = random_mrf(7, rng), kernels.at(x).K
    surrogate = Surrogate.of(mrf.w, mrf.W, (K * K.T) ** 2, 2)
    monkeypatch.setattr(surrogate_module, "EXACT", 14)
    _, exact = Surrogate.of(mrf.w, mrf.W, K**2, 2)(K)
    draws = kernels.process(x).sample(40_000, rng=rng)
    Y = draws.to_sparse().toarray().astype(float)
    left = np.asarray(kernels.process(x).log_prob(draws)) - surrogate.log_surrogate(K, Y)
    _, G = surrogate(K)
    point = kernels.at(x)
    before = kernels.pull_back(point, G - exact)
    after = kernels.pull_back(point, G - score_covariance(K, Y, left) - exact)
    assert np.abs(after).max() < 0.25 * np.abs(before).max()


@pytest.mark.parametrize("family", ["dpp", "nonsymmetric"])
@pytest.mark.parametrize("n", [2, 8])
def test_a_dpp_is_found_again(family, n, rng):
    mrf = pairs_field(n, rng)
    found = approximate(mrf, family)
    assert kl_divergence(found.q, mrf) < 1e-4
    assert found.log_normalizer == pytest.approx(mrf.log_normalizer, abs=1e-4)
    np.testing.assert_allclose(found.pair_probs, mrf.pair_probs(), atol=1e-3)
    assert found.diagnosis.dpp_like
    assert found.diagnosis.effective > 0.99


def test_a_dpp_of_many_items_is_found_again(rng):
    """Forty items in pairs: log Z is the sum over pairs."""
    mrf = pairs_field(40, rng)
    log_z = sum(PairwiseMRF(mrf.w[i : i + 2], mrf.W[i : i + 2, i : i + 2]).log_normalizer for i in range(0, 40, 2))
    found = approximate(mrf)
    assert found.log_normalizer == pytest.approx(log_z, abs=1e-3)
    assert found.log_normalizer.standard_error < 1e-3
    assert found.diagnosis.divergence < 1e-3
    assert found.diagnosis.dpp_like


@pytest.mark.parametrize(("n", "seed"), [(9, 0), (9, 1), (9, 2), (9, 3), (12, 1)])
def test_bounds_are_on_their_sides(n, seed):
    rng = np.random.default_rng(seed)
    mrf = random_mrf(n, rng, strength=(0.3, 1.0, 3.0, 1.0)[seed], repulsive=seed < 3)
    log_z = mrf.log_normalizer
    dpp, upper, mean = (approximate(mrf, family) for family in ("dpp", "trw", "mean-field"))
    assert mean.log_normalizer - 1e-9 <= dpp.log_normalizer <= log_z + 1e-9  # independent items are a DPP too
    assert upper.log_normalizer >= log_z - 1e-9
    assert (dpp.bound, upper.bound, mean.bound) == ("lower", "upper", "lower")
    q = probabilities_of(dpp.q)
    assert dpp.log_normalizer == pytest.approx(q @ (quadratic_sums(mrf.w, mrf.W) - np.log(q)), abs=1e-6)
    np.testing.assert_allclose(dpp.pair_probs, moments(q), atol=1e-7)
    assert dpp.diagnosis.divergence == pytest.approx(kl_divergence(q, mrf), abs=0.1 + 0.2 * kl_divergence(q, mrf))


@pytest.mark.parametrize("seed", range(3))
def test_an_estimated_bound_is_not_above_log_z(seed):
    """Sixteen items: sampled. A field of great spread takes more samples until the error is as asked."""
    rng = np.random.default_rng(seed)
    mrf = random_mrf(16, rng, strength=(0.3, 1.0, 4.0)[seed])
    found = approximate(mrf, error=0.005, neighbours=3, corrections=1)
    assert 0.0 < found.log_normalizer.standard_error < 0.0055
    assert found.log_normalizer < mrf.log_normalizer + 4 * found.log_normalizer.standard_error
    assert found.log_normalizer > approximate(mrf, "mean-field").log_normalizer - 4 * 0.005


def test_the_estimated_bound_is_the_bound(rng, monkeypatch):
    """With blocks instead of enumeration: unbiased, its error as told, corrections no loss."""
    monkeypatch.setattr(surrogate_module, "EXACT", 0)
    mrf, kernels = random_mrf(9, rng), Sine(9, SURE)
    found = best_process(mrf.w, mrf.W, kernels, neighbours=3, corrections=4, rng=rng)
    q = probabilities_of(kernels.process(found.x))
    bound = q @ (quadratic_sums(mrf.w, mrf.W) - np.log(q))
    runs = [lower_bound(found, np.inf, rng)[0] for _ in range(60)]
    z = (np.array(runs) - bound) / [run.standard_error for run in runs]
    assert abs(z.mean()) < 4 / np.sqrt(60)
    assert 0.7 < z.std() < 1.3
    monkeypatch.setattr(surrogate_module, "EXACT", 14)
    best = approximate(mrf).log_normalizer
    assert bound > mrf.log_normalizer - 1.5 * (mrf.log_normalizer - best) - 0.02


def test_low_rank_and_attraction(rng):
    mrf = random_mrf(8, rng, strength=2.0)
    low, full = approximate(mrf, rank=3), approximate(mrf)
    assert isinstance(low.q, LowRankDPP)
    assert low.q.B.shape == (8, 3)
    assert low.log_normalizer < full.log_normalizer < mrf.log_normalizer
    drawn = low.q.log_prob(low.q.sample(20_000, rng=0))
    assert low.log_normalizer == pytest.approx(  # of q itself, whose subsets have at most three items
        np.mean(mrf.score(low.q.sample(20_000, rng=0)) - drawn), abs=0.03
    )
    W = np.array([[0.0, 2.0, -1.0], [2.0, 0.0, 0.0], [-1.0, 0.0, 0.0]])
    attracting = PairwiseMRF([-1.0, -1.0, 0.0], W, repulsive=False)
    symmetric, skew = approximate(attracting), approximate(attracting, "nonsymmetric")
    assert isinstance(skew.q, NonsymmetricDPP)
    assert attracting.log_normalizer - skew.log_normalizer < 0.2 * (
        attracting.log_normalizer - symmetric.log_normalizer
    )
    assert not symmetric.diagnosis.dpp_like
    assert symmetric.diagnosis.attraction == pytest.approx(2 / 3)


def test_one_factor_of_many_items_chooses_one():
    """Rank 1: at most one item, so that the best bound is log(1 + sum of exp(w_i)), whatever the pairs."""
    w = np.linspace(0.0, 2.0, 16)
    W = -3.0 * (np.abs(np.subtract.outer(np.arange(16), np.arange(16))) == 1)
    found = approximate(PairwiseMRF(w, W), rank=1, corrections=2)
    best = np.log1p(np.exp(w).sum())
    assert best - 0.1 < found.log_normalizer < best + 4 * found.log_normalizer.standard_error
    drawn = found.q.sample(20_000, rng=1)  # the empty set is rare; slopes fitted without it must not be great
    assert found.log_normalizer == pytest.approx(np.mean(found.mrf.score(drawn) - found.q.log_prob(drawn)), abs=0.02)
    assert not found.diagnosis.dpp_like


def strong_field(rng, n=6):
    """Weights of any size and sign, some pairs forbidden."""
    W = np.triu(rng.normal(scale=10.0 ** rng.uniform(-2, 3), size=(n, n)) * (rng.random((n, n)) < 0.7), 1)
    W = np.where(rng.random((n, n)) < 0.1, np.triu(np.full((n, n), -1000.0), 1), W)
    return PairwiseMRF(rng.normal(scale=10.0 ** rng.uniform(-1, 2.5), size=n), W + W.T, repulsive=False)


@pytest.mark.filterwarnings("ignore:The search for the beliefs of trees:RuntimeWarning")
@pytest.mark.parametrize("stopped", [False, True])
def test_trees_bound_from_above_wherever_their_search_stops(stopped, rng, monkeypatch):
    if stopped:  # at any beliefs at all

        def anywhere(_, x, **__):
            return SimpleNamespace(x=np.clip(rng.normal(scale=9.0, size=x.size), -27.0, 27.0))

        monkeypatch.setattr("scipy.optimize.minimize", anywhere)
    for _ in range(40):
        mrf = strong_field(rng)
        log_z = mrf.log_normalizer
        found = tree_reweighted(mrf.w, mrf.W, steps=3)
        assert found.log_z >= log_z - 1e-9 * max(1.0, abs(log_z))


def test_trees_whose_search_does_not_come_to_rest_say_so(rng, monkeypatch):
    monkeypatch.setattr("scipy.optimize.minimize", lambda _, x, **__: SimpleNamespace(x=np.full(x.size, 20.0)))
    mrf = random_mrf(5, rng)
    with pytest.warns(RuntimeWarning, match="may be far above"):
        found = approximate(mrf, "trw")
    assert found.log_normalizer > mrf.log_normalizer  # a bound still


def test_beliefs_of_pairs_have_their_marginals_and_odds(rng):
    x, z = rng.normal(scale=8.0, size=(2, 200))
    a = rng.normal(size=200) * 10.0 ** rng.uniform(-3, 3, size=200)
    both, one, two, neither = pair_logs(x, z, a)
    for log_sum, log_marginal in (
        (np.logaddexp(both, one), -np.logaddexp(0, -x)),
        (np.logaddexp(two, neither), -np.logaddexp(0, x)),
        (np.logaddexp(both, two), -np.logaddexp(0, -z)),
        (np.logaddexp(one, neither), -np.logaddexp(0, z)),
    ):
        np.testing.assert_allclose(log_sum, log_marginal, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(both + neither - one - two, a, rtol=1e-9, atol=1e-9)


def test_belief_propagation_and_trees_are_exact_on_a_tree(rng):
    n = 8
    W = np.zeros((n, n))
    for i in range(1, n):
        j = rng.integers(i)
        W[i, j] = W[j, i] = rng.normal(scale=2.0)
    mrf = PairwiseMRF(rng.standard_normal(n), W, repulsive=False)
    for family in ("bp", "trw"):
        found = approximate(mrf, family)
        assert found.log_normalizer == pytest.approx(mrf.log_normalizer, abs=1e-6)
        np.testing.assert_allclose(found.marginals, mrf.marginals, atol=1e-4)
        edges = np.eye(n, dtype=bool) | (W != 0)
        np.testing.assert_allclose(found.pair_probs[edges], mrf.pair_probs()[edges], atol=1e-4)


def test_edges_of_weighted_trees_by_listing_them(rng):
    """Four items: all 16 spanning trees, weighed by their product of edges."""
    from itertools import combinations

    weights = np.triu(rng.random((4, 4)), 1)
    weights += weights.T
    edges, total, share = list(combinations(range(4), 2)), 0.0, np.zeros((4, 4))
    for tree in combinations(edges, 3):
        reached = {0}
        for _ in range(3):
            reached |= {v for edge in tree for v in edge if set(edge) & reached}
        if len(reached) == 4:
            weight = np.prod([weights[edge] for edge in tree])
            total += weight
            for i, j in tree:
                share[i, j] += weight
                share[j, i] += weight
    np.testing.assert_allclose(leverage(weights), share / total, atol=1e-12)


def test_optimized_trees_are_no_worse_than_the_first(rng):
    mrf = random_mrf(8, rng)
    assert tree_reweighted(mrf.w, mrf.W).log_z <= tree_reweighted(mrf.w, mrf.W, steps=0).log_z


def test_mean_field_is_stationary(rng):
    mrf = random_mrf(6, rng)
    found = mean_field(mrf.w, mrf.W)
    p = found.pairs.diagonal()
    np.testing.assert_allclose(np.log(p / (1 - p)), mrf.w + mrf.W @ p, atol=1e-6)
    assert found.converged


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_annealing_weighs_to_z(share, rng):
    mrf = random_mrf(6, rng, repulsive=False)
    log_weights, Y = annealed(mrf.w, mrf.W, 20_000, 10, rng, share)  # few sweeps: the weights have work to do
    log_z, pairs, share = weighted_moments(log_weights, Y)
    assert abs(log_z - mrf.log_normalizer) < 4 * log_z.standard_error < 0.05
    np.testing.assert_allclose(pairs, mrf.pair_probs(), atol=0.03)
    assert 0.1 < share < 1.0


@pytest.mark.parametrize("with_q", [False, True])
def test_chains_draw_from_the_field(with_q, rng):
    mrf = random_mrf(4, rng)
    q = approximate(mrf).q if with_q else None
    Y = gibbs(mrf.w, mrf.W, 20_000, 30, rng, q)[-20_000:]
    counts = np.bincount(Y @ (1 << np.arange(4)), minlength=16)
    assert chisquare(counts, 20_000 * mrf.probabilities).pvalue > 1e-3


def test_samples_of_an_approximation_are_those_of_the_field(rng):
    mrf = random_mrf(4, rng)
    drawn = approximate(mrf, "mean-field").sample(10_000, rng=1, sweeps=20)
    counts = np.bincount(subsets_to_positions(drawn), minlength=16)
    assert chisquare(counts, 10_000 * mrf.probabilities).pvalue > 1e-3


@pytest.mark.parametrize("seed", range(3))
def test_best_sets_are_the_best(seed):
    mrf = random_mrf(12, np.random.default_rng(seed), repulsive=seed > 0)
    found = approximate(mrf, "mean-field").best_set()
    assert mrf.score(found) == pytest.approx(quadratic_sums(mrf.w, mrf.W).max())


def test_scores_of_any_number_of_items(rng):
    mrf = random_mrf(40, rng)
    Y = DPP(np.eye(40)).sample(5, rng=0)
    np.testing.assert_allclose(mrf.score(Y), [mrf.score(subset) for subset in Y])
    with pytest.raises(ValueError, match="approximate"):
        _ = mrf.log_normalizer
    with pytest.raises(ValueError, match="up to N = 20"):
        mrf.sample(1)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_answers_alike(family, rng):
    """The same record from each, near the truth where repulsion is weak, and the same for the same seed."""
    mrf = random_mrf(16, rng, strength=0.2)
    options = {"chains": 500, "sweeps": 100, "corrections": 2}
    found, again = (approximate(mrf, family, rng=3, **options) for _ in range(2))
    assert found.family == family
    assert isinstance(found.diagnosis, Diagnosis)
    assert found.marginals.shape == (16,)
    assert found.pair_probs.shape == (16, 16)
    np.testing.assert_array_equal(found.pair_probs, again.pair_probs)
    np.testing.assert_array_equal(found.pair_probs.diagonal(), found.marginals)
    np.testing.assert_allclose(found.marginals, mrf.marginals, atol=0.15)
    assert "nan" not in repr(found)
    if family == "gibbs":
        assert np.isnan(found.log_normalizer)
        assert "log Z not estimated" in repr(found)
        assert "not estimated" in repr(found.log_normalizer)
    else:
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
    found = approximate(mrf)
    assert found.log_normalizer == pytest.approx(log_z, abs=0.01)
    assert np.exp(found.q.log_prob(rare)) == pytest.approx(np.exp(mrf.score(rare) - log_z), rel=0.5)
    assert found.diagnosis.divergence < 0.01
    assert found.diagnosis.dpp_like


def test_samples_that_cannot_see_a_set_say_that_the_error_is_unknown():
    mrf = exclusive(15)
    blind = DPP.from_marginal(np.full((15, 15), (1 - 5e-6) / 15) + 1e-9 * np.eye(15))  # P(no item) is 5e-6
    found = approximate(mrf, "importance", q=blind)
    assert found.log_normalizer == pytest.approx(np.log(16), abs=1e-4)  # by the sets that are known
    assert found.log_normalizer.standard_error == np.inf
    assert "error unknown" in repr(found)
    assert found.diagnosis.covered is False
    assert "error of log Z is unknown" in found.diagnosis.reason
    np.testing.assert_allclose(found.marginals, 1 / 16, atol=1e-3)
    lost = approximate(mrf, corrections=0)  # by blocks alone
    assert np.exp(lost.q.log_prob([])) < 1e-4
    assert lost.diagnosis.divergence == pytest.approx(np.log(16) - lost.log_normalizer, abs=1e-3)
    assert not lost.diagnosis.dpp_like
    assert "at least" in lost.diagnosis.reason


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


def test_log_z_is_within_its_error_or_its_error_is_unknown():
    """Samples of mean field, good and bad, and annealing, against enumeration."""
    rng, known = np.random.default_rng(0), []
    for w, W in (field for _ in range(6) for field in fields_of_all_kinds(rng)):
        mrf = PairwiseMRF(w, W, repulsive=False)
        q = approximate(mrf, "mean-field").q
        for options in ({"family": "importance", "q": q}, {"family": "ais", "chains": 300, "sweeps": 200}):
            found = approximate(mrf, rng=1, **options)
            assert abs(found.log_normalizer - mrf.log_normalizer) < 4 * found.log_normalizer.standard_error
            assert found.diagnosis.covered == np.isfinite(found.log_normalizer.standard_error)
            known.append(found.diagnosis.covered)
    assert sum(known[::2]) >= 15  # of 42: mean field is often far from the field
    assert sum(known[1::2]) >= 40


def test_samples_that_see_everything_are_trusted(rng):
    for n in (6, 16, 30):
        mrf = pairs_field(n, rng)
        W = mrf.W
        log_z = sum(PairwiseMRF(mrf.w[i : i + 2], W[i : i + 2, i : i + 2]).log_normalizer for i in range(0, n, 2))
        found = approximate(mrf, "importance", corrections=0)
        assert found.diagnosis.covered
        assert abs(found.log_normalizer - log_z) < 4 * found.log_normalizer.standard_error < 0.02


def test_heavy_sets_are_the_heaviest(rng):
    """Of 2^11 sets, the weight of those found is nearly that of as many of the heaviest; none is there twice."""
    mrf = random_mrf(11, rng, strength=2.0, repulsive=False)
    found = heavy_sets(mrf.w, mrf.W, rng.random((5, 11)) < 0.5, rng)
    position = found @ (1 << np.arange(11))
    assert np.unique(position).size == len(found) < 1 << 11
    assert {0, (1 << 11) - 1} <= set(position)
    best = np.sort(mrf.probabilities)[::-1][: len(found)].sum()
    assert mrf.probabilities[position].sum() > 0.99 * best


@pytest.mark.parametrize(("weight", "pair"), [(20.0, 0.0), (-10.0, 2.0)])
def test_a_bound_whose_samples_are_all_the_same_is_not_above_log_z(weight, pair):
    """q has nearly all its mass on one set: a spread of 0 over samples is not an error of 0."""
    n = 16
    mrf = PairwiseMRF(np.full(n, weight), pair * (1 - np.eye(n)), repulsive=False)
    found = approximate(mrf).log_normalizer
    assert found < mrf.log_normalizer + 1e-4
    assert 1e-5 < found.standard_error < 0.01


def test_belief_propagation_claims_no_error(rng):
    assert approximate(random_mrf(6, rng), "bp").log_normalizer.standard_error == np.inf


def two_phases(n):
    """Two halves that exclude each other: sets are from one or from the other, and q is in one of them."""
    half = np.arange(n) % 2
    return PairwiseMRF(np.full(n, 0.5), -4.0 * (half[:, None] != half))


@pytest.mark.parametrize("family", ["dpp", "mean-field", "importance"])
def test_the_diagnosis_sees_the_phase_that_q_does_not(family):
    mrf = two_phases(16)
    said = approximate(mrf, family, q=approximate(mrf, "mean-field").q if family == "importance" else None).diagnosis
    assert not said.dpp_like
    assert said.effective < 0.6
    if family != "importance":
        q = approximate(mrf, family).q
        assert said.divergence == pytest.approx(kl_divergence(q, mrf), abs=0.1)


def test_hard_exclusions_never_make_it_worse_than_independent_items():
    n = 16
    mrf = PairwiseMRF(np.zeros(n), -1000.0 * (np.abs(np.subtract.outer(np.arange(n), np.arange(n))) == 1))
    found, mean = approximate(mrf), approximate(mrf, "mean-field")
    assert mean.log_normalizer + 0.2 < found.log_normalizer < mrf.log_normalizer
    assert found.log_normalizer.standard_error < 0.01  # rare samples with a forbidden pair do not blow it up
    with pytest.raises(ValueError, match="-1000"):
        PairwiseMRF([0.0, 0.0], [[0.0, -np.inf], [-np.inf, 0.0]])


def test_what_cannot_be_asked():
    mrf = PairwiseMRF([0.0, 0.0], [[0.0, -1.0], [-1.0, 0.0]])
    for options, match in (
        ({"family": "magic"}, "family"),
        ({"rank": 3}, "rank"),
        ({"family": "bp", "rank": 1}, "rank goes with"),
        ({"error": 0.0}, "error must be positive"),
        ({"q": DPP(np.eye(2))}, "q must be"),
        ({"family": "importance", "q": DPP(np.eye(3))}, "on the 2 items"),
    ):
        with pytest.raises(ValueError, match=match):
            approximate(mrf, **options)
    with pytest.raises(TypeError, match="PairwiseMRF"):
        approximate(DPP(np.eye(2)))


def test_strong_and_trivial_fields():
    """No weights, one item, forbidden pairs: no warnings, no wrong side."""
    for w, W in (
        ([0.3], [[0.0]]),
        ([0.0, 1.0, 2.0], np.zeros((3, 3))),
        ([5.0, 5.0, -40.0], -1000.0 * (1 - np.eye(3))),
        ([40.0, 40.0], [[0.0, -1.0], [-1.0, 0.0]]),
    ):
        mrf = PairwiseMRF(w, W)
        lower, upper = approximate(mrf), approximate(mrf, "trw")
        assert mrf.log_normalizer - 0.02 < lower.log_normalizer <= mrf.log_normalizer + 1e-6
        assert upper.log_normalizer >= mrf.log_normalizer - 1e-6
        approximate(mrf, "bp")
        approximate(mrf, "ais", chains=50, sweeps=20)


def test_variational_keeps_what_it_found(rng):
    mrf, kernels = random_mrf(5, rng), Sine(5, SURE)
    found = best_process(mrf.w, mrf.W, kernels, neighbours=2, corrections=0, rng=rng)
    assert isinstance(found, Variational)
    np.testing.assert_allclose(np.abs(found.K), np.abs(kernels.process(found.x).K), atol=1e-8)
