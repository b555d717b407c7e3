"""KernelDPP: kernels from baskets, against enumeration, finite differences and each other."""

import signal

import numpy as np
import pytest

from brute import subsets
from dpplearn import DPP, KernelDPP, NonsymmetricDPP, Subsets
from dpplearn._run.progress import Progress
from dpplearn.baskets import Baskets, likelihood
from dpplearn.baskets.fit import start_factors
from dpplearn.baskets.likelihood import total_log_prob
from made_up_baskets import at_most_five, made_up

ROWS = 2 * [np.empty((0, 0))]


@pytest.mark.parametrize("skew_rank", [0, 4])
@pytest.mark.parametrize(("identity", "rows"), [(False, False), (False, True), (True, False)])
def test_gradients_are_those_of_finite_differences(identity, rows, skew_rank, monkeypatch):
    rng = np.random.default_rng(0)
    if rows:
        monkeypatch.setattr(likelihood, "MAX_DENSE_ITEMS", 0)
    baskets = Baskets.read([rng.choice(7, rng.integers(0, 5), replace=False) for _ in range(40)], range(7))
    shard, factors = baskets.distinct, start_factors(baskets, 5, skew_rank, identity, 0)

    def objective(x):
        at = factors.with_parameters(x)
        kernel = at.kernel()
        value, *slopes = total_log_prob(shard, kernel)
        penalty, drag = at.penalty(0.7)
        return value - penalty, at.pull_back(kernel, *slopes) - drag

    x = factors.W.ravel() + 0.1 * rng.normal(size=factors.W.size)
    steps = 1e-6 * np.eye(x.size)
    numeric = [(objective(x + e)[0] - objective(x - e)[0]) / 2e-6 for e in steps]
    assert objective(x)[1] == pytest.approx(numeric, rel=1e-5, abs=1e-5)
    dpp = factors.with_parameters(x).distribution()
    known = sum(
        w * dpp.log_prob(Y) for w, Y in zip(shard.weights, Subsets(shard.indptr, shard.indices, 7), strict=True)
    )
    assert objective(x)[0] == pytest.approx(known - factors.with_parameters(x).penalty(0.7)[0], rel=1e-10)


def test_a_fit_finds_the_probabilities_that_baskets_were_drawn_from():
    true, draws = made_up(size=8_000)
    fitted = KernelDPP(nonsymmetric=True, alpha=0.1).fit(draws)
    sets = Subsets.from_lists(subsets(6), 6)
    gap = np.exp(true.log_prob(sets)) - np.exp(fitted.dpp_.log_prob(sets))
    assert np.abs(gap).sum() / 2 < 0.04  # total variation
    assert fitted.log_likelihood_ >= true.log_prob(draws).sum()
    assert np.exp(fitted.dpp_.log_prob(sets)).sum() == pytest.approx(1.0)
    assert isinstance(fitted.dpp_, NonsymmetricDPP)


def test_attraction_is_what_a_symmetric_kernel_cannot_say(draws, fitted):
    held_out = made_up(seed=1)[1]
    symmetric = KernelDPP(alpha=0.1).fit(draws)
    assert fitted.score(held_out) > symmetric.score(held_out) + 0.05
    assert fitted.together(0, 1)[0].item == 1
    assert fitted.together(0, 1)[0].correlation > 0.3
    assert fitted.alike(4, 1)[0].item == 5
    assert fitted.alike(4, 1)[0].correlation < -0.1
    assert symmetric.together(0) == []
    assert symmetric.alike(4, 1)[0].item == 5
    assert fitted.correlations_with(2) == pytest.approx(fitted.dpp_.correlations()[2], abs=1e-9)


def same(one, two):
    """The same fit, but for the last bits, which a compiler that comes in between may change."""
    return np.allclose(one.factors_.W, two.factors_.W, rtol=0.0, atol=1e-5)


def test_batches_come_near_lbfgs(draws, monkeypatch):
    draws = at_most_five(draws)
    exact = KernelDPP(rank=5, nonsymmetric=True, alpha=1.0).fit(draws)
    monkeypatch.setattr("dpplearn.baskets.kernel.MANY_BASKETS", 10)
    options = {"rank": 5, "nonsymmetric": True, "alpha": 1.0}
    batches = KernelDPP(**options, max_iter=300).fit(draws)
    assert batches.score(draws) > exact.score(draws) - 0.02
    assert batches.n_iter_ == 300
    assert same(*(KernelDPP(**options, max_iter=2).fit(draws) for _ in range(2)))


@pytest.mark.parametrize("symmetric", [False, True])
def test_large_baskets_are_inverted_like_small_ones(symmetric):
    rng = np.random.default_rng(0)
    M = rng.normal(size=(80, 80)) / 9
    L = M @ M.T + 0.5 * np.eye(80) + (0.0 if symmetric else 1.0) * (M - M.T)
    baskets = [rng.choice(80, k, replace=False) for k in (31, 32, 33, 60, 1)]
    shard = Baskets.read(baskets, range(80)).distinct
    value, (G, *_) = shard.evaluate(L, *ROWS)
    known, sum_of = 0.0, np.zeros_like(L)
    for Y in Subsets(shard.indptr, shard.indices, 80):
        known += np.linalg.slogdet(L[np.ix_(Y, Y)])[1]
        sum_of[np.ix_(Y, Y)] += np.linalg.inv(L[np.ix_(Y, Y)]).T
    assert value == pytest.approx(known)
    assert pytest.approx(sum_of, abs=1e-9) == G
    for bad in (np.zeros((80, 80)), np.diag(np.append(-1.0, np.ones(79)))):  # no minor, and one below 0
        large = Baskets.read([range(40)], range(80)).distinct
        assert large.evaluate(bad, *ROWS)[0] == -np.inf


@pytest.mark.parametrize("k", [3, 12])
@pytest.mark.parametrize("skew", [0.0, 1.0])
def test_a_block_that_is_singular_but_for_rounding_has_no_probability(k, skew):
    """Rank k - 1, on any scale of the items: elimination leaves a pivot of rounding, which is not a determinant."""
    rng = np.random.default_rng(1)
    B, C = rng.normal(size=(k, k - 1)), rng.normal(size=(k - 1, k - 1))
    q = 10.0 ** rng.uniform(-4, 4, k)
    L = q[:, None] * (B @ (np.eye(k - 1) + skew * (C - C.T)) @ B.T) * q
    shard = Baskets.read([range(k)], range(k)).distinct
    assert shard.evaluate(L, *ROWS)[0] == -np.inf
    almost = Baskets.read([range(k - 1)], range(k)).distinct
    assert almost.evaluate(L, *ROWS)[0] == pytest.approx(np.linalg.slogdet(L[:-1, :-1])[1], rel=1e-6)


def test_alpha_is_chosen_on_held_out_baskets(draws):
    model = KernelDPP(nonsymmetric=True).fit(draws[:600])
    best = max(model.alphas_.values())
    assert model.alpha_ in model.alphas_
    assert model.alphas_[model.alpha_] > best - 0.05
    alone = DPP(np.diag([0.3, 0.4, 0.5, 0.6, 0.2, 0.3])).sample(400, rng=0)
    assert KernelDPP(nonsymmetric=True).fit(alone).alpha_ >= 4 > model.alpha_  # nothing to learn but the items
    given = KernelDPP(nonsymmetric=True, alpha=model.alpha_).fit(draws[:600])
    assert same(given, model)
    independent = KernelDPP(nonsymmetric=True, alpha=1e6).fit(draws[:300])
    assert independent.dpp_.marginals == pytest.approx(draws[:300].inclusion_counts() / 300, abs=2e-3)
    assert np.abs(independent.dpp_.correlations() - np.eye(6)).max() < 1e-3


class Stops(Progress):
    """Ctrl-C after the fourth iteration."""

    def finish(self, iteration, log_likelihood, gradient):
        super().finish(iteration, log_likelihood, gradient)
        if iteration == 4:
            signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("many", [10, 300_000], ids=["batches", "all"])
def test_a_stopped_fit_says_that_nothing_is_kept(many, draws, monkeypatch):
    monkeypatch.setattr("dpplearn.baskets.kernel.MANY_BASKETS", many)
    with pytest.raises(KeyboardInterrupt, match="nothing is kept"):
        KernelDPP(alpha=1.0, max_iter=30, progress=Stops(False)).fit(draws)
