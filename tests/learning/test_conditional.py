"""The estimator: optimum, standard errors, scikit-learn's tools, and what it says about bad data."""

from itertools import combinations

import numpy as np
import pytest
from scipy import optimize, sparse
from sklearn.utils import estimator_checks

from brute_learning import THETA, log_pmf_table, random_items, training_set, with_weights
from dpplearn import ConditionalDPP, ItemSet
from dpplearn.decoding import greedy_map, sampled_map
from dpplearn.decoding.registry import DECODERS
from dpplearn.learning import ConditionalDPPCV
from dpplearn.learning.likelihood import algorithm1


@pytest.fixture(scope="module")
def data():
    return training_set(40, 10, THETA, np.random.default_rng(1), d=6)


def total(theta, X, y, variance=1.0):
    """The posterior and its gradient, by Algorithm 1."""
    terms = [algorithm1(theta, x, np.array(Y, np.int64)) for x, Y in zip(X, y, strict=True)]
    precision = 1 / np.broadcast_to(variance, theta.shape)
    return sum(t.value for t in terms) - precision @ theta**2 / 2, sum(t.gradient for t in terms) - precision * theta


def independent_optimum(X, y, variance):
    def loss(theta):
        value, gradient = total(theta, X, y, variance)
        return -value, -gradient

    return optimize.minimize(loss, np.zeros(X[0].n_features), jac=True, method="BFGS", options={"gtol": 1e-7}).x


@pytest.mark.parametrize("variance", [1.0, np.array([100.0, 1.0, 0.1]), None])
def test_the_optimum_of_an_independent_search(variance, data, monkeypatch):
    X, y = data
    fits = [ConditionalDPP(variance, tol=1e-8).fit(X, y)]
    monkeypatch.setattr("dpplearn.learning.fit.HESSIAN_LIMIT", 1)  # without Hessians
    fits.append(ConditionalDPP(variance, tol=1e-8).fit(X, y))
    numeric = np.inf if variance is None else variance
    best = independent_optimum(X, y, numeric)
    for model in fits:
        assert model.converged_
        assert model.gradient_norm_ < 1e-6
        np.testing.assert_allclose(model.theta_, best, atol=1e-7)
        np.testing.assert_allclose(model.theta_, fits[0].theta_, atol=1e-7)
        assert model.log_likelihood_ == pytest.approx(total(model.theta_, X, y, np.inf)[0])
    assert fits[0].n_iter_ < 12


def test_standard_errors_are_those_of_the_curvature(data):
    X, y = data
    model = ConditionalDPP(2.0).fit(X, y)
    h = 1e-5
    steps = h * np.eye(3)
    H = [(total(model.theta_ + e, X, y, 2.0)[1] - total(model.theta_ - e, X, y, 2.0)[1]) / (2 * h) for e in steps]
    np.testing.assert_allclose(model.theta_std_, np.sqrt(np.linalg.inv(-np.array(H)).diagonal()), rtol=1e-6)
    low, high = model.intervals(0.95).T
    np.testing.assert_allclose((high - low) / 2, 1.959963985 * model.theta_std_)


def test_weights_count_instances(data):
    X, y = data
    weights = np.arange(len(X)) % 3
    repeated = [t for t, w in enumerate(weights) for _ in range(w)]
    a = ConditionalDPP().fit(X, y, sample_weight=weights)
    b = ConditionalDPP().fit([X[t] for t in repeated], [y[t] for t in repeated])
    np.testing.assert_allclose(a.theta_, b.theta_, atol=1e-9)
    assert a.log_likelihood_ == pytest.approx(b.log_likelihood_)
    assert a.score(X, y, weights) == pytest.approx(a.log_likelihood_ / weights.sum())


def test_questions_of_a_fitted_model(data):
    X, y = data
    model = ConditionalDPP(rho=0.4).fit(X, y)
    x = X[0]
    np.testing.assert_allclose(model.qualities(x), np.exp(x.features @ model.theta_ / 2))
    dpp = model.dpp(x)
    np.testing.assert_allclose(model.marginals(x), dpp.marginals, atol=1e-12)
    table = log_pmf_table(model.theta_, x, 0.4)
    assert dpp.log_prob([1, 2]) == pytest.approx(table[1, 2])
    np.testing.assert_allclose(model.log_prob([x, x], [[1, 2], []]), [table[1, 2], table[()]])
    assert model.score(X, y) == pytest.approx(model.log_likelihood_ / len(X))
    wide_items = random_items(5, 3, np.random.default_rng(0), d=9)
    assert model.dpp(wide_items).log_prob([0]) == pytest.approx(model.log_prob([wide_items], [[0]])[0])


def test_predict_is_greedy_under_the_budget(data):
    X, y = data
    rng = np.random.default_rng(3)
    X = [ItemSet(x.features, phi=x.phi, cost=rng.uniform(1, 3, x.n)) for x in X]
    model = ConditionalDPP().fit(X, y)
    for x, Y in zip(X, model.predict(X, budget=5.0), strict=True):
        assert x.cost[Y].sum() <= 5.0
        np.testing.assert_array_equal(Y, greedy_map(model.dpp(x), cost=x.cost, budget=5.0).sorted_subset)
    assert all(len(Y) <= 2 for Y in model.predict(X, k=2))
    assert model.decode(X[0], 5.0).cost <= 5.0
    sampled = model.predict(X[:1], 5.0, decoder="sampled", n_samples=200, rng=0)
    expected = sampled_map(model.dpp(X[0]), cost=X[0].cost, budget=5.0, n_samples=200, rng=0)
    assert sampled[0].tolist() == expected.sorted_subset.tolist()
    with pytest.raises(ValueError, match="decoder must be one of"):
        model.predict(X, decoder="best")
    assert model.predict([]) == []


# Targets that cannot be


def test_impossible_targets(rng):
    duplicates = ItemSet(np.ones((4, 1)), phi=np.array([[1.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]))
    thin = ItemSet(np.ones((3, 1)), phi=rng.standard_normal((3, 1)) * [[1]] + np.zeros((3, 1)))
    plane = ItemSet(np.ones((3, 1)), phi=np.array([[1.0, 0, 0], [0, 1, 0], [1, 1, 0]]))
    X, y = [duplicates, duplicates, plane], [[2, 3], [0, 1, 2], [0, 1, 2]]
    with pytest.raises(ValueError, match="2 of 3 targets have probability 0") as caught:
        ConditionalDPP().fit(X, y)
    assert "instance 1: its target holds items 0 and 1, which are duplicates" in str(caught.value)
    assert "instance 2" in str(caught.value)
    assert 'on_impossible="drop"' in str(caught.value)
    with pytest.warns(UserWarning, match="Left out 2 of 3 instances"):
        dropped = ConditionalDPP(on_impossible="drop").fit(X, y)
    np.testing.assert_array_equal(dropped.theta_, ConditionalDPP().fit(X[:1], y[:1]).theta_)
    with pytest.raises(ValueError, match="nothing is left"):
        ConditionalDPP(on_impossible="drop").fit([plane], [[0, 1, 2]])
    with pytest.raises(ValueError, match="nothing is left"):  # the possible one counts for nothing
        ConditionalDPP(on_impossible="drop").fit([plane, duplicates], [[0, 1, 2], [2, 3]], sample_weight=[1, 0])
    with pytest.raises(ValueError, match="duplicates of each other"):
        ConditionalDPP().fit([thin], [[0, 1]])
    assert dropped.log_prob([duplicates], [[0, 1]])[0] == -np.inf
    assert "nugget=0.01" in str(caught.value)  # and that cures all of them
    assert ConditionalDPP(nugget=0.01).fit(X, y).converged_
    learned = ConditionalDPP(similarity="mixture").fit(X, y)
    assert np.isfinite(learned.log_prob(X, y)).all()
    ConditionalDPP().fit(X, y, sample_weight=[1, 0, 0])  # those that count for nothing do no harm


def test_more_items_than_directions(rng):
    items = ItemSet(np.ones((5, 1)), phi=rng.standard_normal((5, 2)))
    with pytest.raises(ValueError, match="2 similarity features allow at most 2"):
        ConditionalDPP().fit([items], [[0, 1, 2]])
    assert ConditionalDPP(rho=0.5).fit([items], [[0, 1, 2]]).converged_  # the constant is one direction more


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"y": None}, TypeError, "chosen subset of each"),
        ({"y": [[0], [7]]}, IndexError, r"y\[1\] must hold item numbers from 0 to 3, found 7"),
        ({"y": [[0], [0, 1, 0, 1]]}, ValueError, r"y\[1\] .*np\.flatnonzero\(y\[1\]\)"),
        ({"y": [[True, False], [0]]}, ValueError, r"y\[0\] as a boolean mask must have length 4, found 2"),
        ({"X": [], "y": []}, ValueError, "no instances"),
        ({"X": "shard.npz", "y": None}, TypeError, "found a single path"),
        ({"X": [np.ones((4, 2))] * 2}, TypeError, r"X\[0\] must be an ItemSet, found ndarray"),
        ({"sample_weight": [1.0, -1.0]}, ValueError, r"sample_weight\[1\] is -1"),
        ({"prior_variance": 0.0}, ValueError, "prior_variance must be positive"),
        ({"prior_variance": [1.0, 2.0, 3.0]}, ValueError, r"one entry per feature \(2\)"),
        ({"sample_weight": [0.0, 0.0]}, ValueError, "All sample_weight are 0"),
        ({"tol": 0.0}, ValueError, "tol must be a positive"),
        ({"rho": -0.3}, ValueError, "rho must lie between 0 and 1e"),
        ({"evaluator": "abacus"}, ValueError, "evaluator must be one of 'numpy'"),
        ({"on_impossible": "ignore"}, ValueError, "on_impossible must be one of"),
        ({"backend": "spark"}, TypeError, "backend must be None"),
    ],
)
def test_bad_input(change, error, message, rng):
    arguments = {"X": [random_items(4, 2, rng) for _ in range(2)], "y": [[0], []], **change}
    names = ("X", "y", "sample_weight", "evaluator", "work")
    fit = {k: arguments.pop(k) for k in names if k in arguments}
    with pytest.raises(error, match=message):
        ConditionalDPP(**arguments).fit(**fit)


@pytest.mark.parametrize(
    "check",
    [
        "check_no_attributes_set_in_init",
        "check_parameters_default_constructible",
        "check_get_params_invariance",
        "check_set_params",
        "check_estimator_repr",
        "check_estimator_cloneable",
        "check_do_not_raise_errors_in_init_or_set_param",
        "check_valid_tag_types",
        "check_mixin_order",
    ],
)
@pytest.mark.parametrize("kind", [ConditionalDPP, ConditionalDPPCV])
def test_checks_of_scikit_learn_that_need_no_arrays(check, kind):
    found = getattr(estimator_checks, check, None)
    if found is None:
        pytest.skip("this version of scikit-learn has no such check")
    found(kind.__name__, kind())


def test_at_most_fourteen_arguments():
    assert len(ConditionalDPP().get_params()) <= 14


GROUPS = np.array([0, 0, 0, 0, 1, 1])


@pytest.mark.parametrize("quota", [{}, {"max_per_group": 2}, {"max_per_group": {0: 1}}, {"min_per_group": {1: 2}}])
def test_a_set_of_the_size_given_keeps_quotas(quota):
    """All decoders choose three items within the quotas; a search finds the best such set, by enumeration."""
    limits = {"groups": GROUPS, **quota} if quota else {}
    most, least = quota.get("max_per_group", 3), quota.get("min_per_group", {})
    most = most if isinstance(most, dict) else {0: most, 1: most}
    for seed in range(2):
        rng = np.random.default_rng(seed)
        x = ItemSet(rng.normal(size=(6, 2)), phi=rng.normal(size=(6, 4)), k=3)
        model = ConditionalDPP.from_weights([-2.0, 1.0], nugget=0.1).set_params(given_size=True)
        L = model.dpp(x).L
        allowed = [
            Y
            for Y in map(list, combinations(range(6), 3))
            if all(least.get(g, 0) <= (GROUPS[Y] == g).sum() <= most.get(g, 3) for g in (0, 1))
        ]
        best = max(allowed, key=lambda Y, L=L: np.linalg.slogdet(L[np.ix_(Y, Y)])[1])
        for decoder in DECODERS:
            if decoder == "exact" and least:
                continue  # it takes no such quota, and says so
            draws = {"n_samples": 500} if decoder == "sampled" else {}
            found = model.decode(x, decoder=decoder, **draws, **limits).sorted_subset.tolist()
            assert found in allowed, decoder
            if decoder in ("exact", "local"):
                assert found == best


def test_sparse_features_and_sizes_mixed(rng):
    """Instances of any size, with phi dense or sparse, or S, in one training set."""
    X = [
        random_items(3, 2, rng),
        ItemSet(
            rng.standard_normal((40, 2)),
            phi=sparse.random_array((40, 80), density=0.2, rng=rng) + sparse.csr_array(np.eye(40, 80)),
        ),
        random_items(30, 2, rng, d=3),
        random_items(1, 2, rng, similarity=True),
    ]
    y = [[0], [3, 4], [], [0]]
    model = ConditionalDPP(constant=False).fit(X, y)
    np.testing.assert_allclose(model.theta_, independent_optimum(X, y, 1.0), atol=1e-6)


def test_recovery_of_known_weights():
    """Draws from a known theta: the errors are as large as their standard errors, and shrink with more examples."""
    rng, truth, z, rms = np.random.default_rng(0), with_weights(THETA), [], []
    for T, repeats in ((20, 30), (180, 10)):
        errors = []
        for _ in range(repeats):
            X = [random_items(8, 3, rng, d=6) for _ in range(T)]
            y = [truth.dpp(x).sample(1, rng=rng, n_jobs=1)[0] for x in X]
            model = ConditionalDPP(np.inf).fit(X, y)
            errors.append(model.theta_ - THETA)
            z.append(errors[-1] / model.theta_std_)
        rms.append(np.sqrt(np.mean(np.square(errors))))
    assert 2 < rms[0] / rms[1] < 4.5  # about the root of 9
    assert np.mean(np.abs(z) < 1.96) > 0.88  # of 120 intervals
