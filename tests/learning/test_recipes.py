"""The recipes of CONTRIBUTING.md: a new kind of similarity, and a new evaluator, each one class, found by its name."""

import numpy as np
import pytest

import recipes_learning as recipes
from brute_learning import THETA, random_items, training_set
from dpplearn import ConditionalDPP, ItemSet
from dpplearn.learning.evaluators import EVALUATORS
from dpplearn.learning.similarity import SIMILARITIES, Fixed


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setitem(SIMILARITIES, "two-scales", recipes.TwoScales)
    monkeypatch.setitem(EVALUATORS, "counting", "recipes_learning:Counting")


@pytest.fixture(scope="module")
def data():
    return training_set(50, 8, THETA, np.random.default_rng(3), d=5)


def profile(X, y, w):
    fitted = ConditionalDPP(10.0, similarity=recipes.Held(w)).fit(X, y)
    return fitted.log_likelihood_ - fitted.theta_ @ fitted.theta_ / 20


@pytest.mark.parametrize("options", [{}, {"n_jobs": 2}])
def test_a_new_kind_of_similarity_is_one_class(options, data, tmp_path):
    X, y = data
    model = ConditionalDPP(10.0, similarity="two-scales", **options).fit(X, y)
    w = model.similarity_.w
    assert model.converged_
    assert 0.01 < w < 16.0
    found = model.log_likelihood_ - model.theta_ @ model.theta_ / 20
    assert found >= max(profile(X, y, v) for v in (w * 0.8, w * 1.25, 0.1, 1.0, 4.0)) - 1e-9  # its derivative is right
    dpp = model.dpp(X[0])
    assert model.log_prob(X[:1], [[0, 1]])[0] == pytest.approx(dpp.log_prob([0, 1]))
    model.save(tmp_path / "m.json")
    loaded = ConditionalDPP.load(tmp_path / "m.json")
    assert loaded.similarity_ == model.similarity_
    np.testing.assert_array_equal(loaded.marginals(X[0]), model.marginals(X[0]))
    with pytest.raises(ValueError, match="needs similarity features phi"):
        ConditionalDPP(similarity="two-scales").fit(
            [random_items(4, 2, np.random.default_rng(0), similarity=True)], [[0]]
        )


@pytest.mark.parametrize("evaluator", ["counting", recipes.Counting()])
def test_a_new_evaluator_is_one_class(evaluator, data):
    X, y = data
    expected = ConditionalDPP(rho=0.3, nugget=0.1).fit(X, y)
    before = recipes.Counted.evaluations
    model = ConditionalDPP(rho=0.3, nugget=0.1).fit(X, y, evaluator=evaluator)
    assert recipes.Counted.evaluations > before
    np.testing.assert_allclose(model.theta_, expected.theta_, atol=1e-8)
    assert model.similarity_ == Fixed(0.3, 0.1)


def test_what_does_not_count_reaches_no_evaluator():
    twice = ItemSet([[1.0], [2.0], [0.5]], phi=[[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])  # the first two are the same
    X, y, weight = [twice] * 4, [[0, 1], [1, 2], [0], [2]], [1.0, 1.0, 1.0, 0.0]
    with pytest.warns(UserWarning, match="Left out 1 of 4"):
        expected = ConditionalDPP(on_impossible="drop").fit(X, y, weight)
    with pytest.warns(UserWarning, match="Left out 1 of 4"):
        model = ConditionalDPP(on_impossible="drop").fit(X, y, weight, evaluator="counting")
    np.testing.assert_allclose(model.theta_, expected.theta_, atol=1e-8)


@pytest.mark.parametrize("options", [{"rho": 0.3}, {"nugget": 0.1}])
def test_another_similarity_does_not_ignore_what_it_has_no_use_for(options, data):
    with pytest.raises(ValueError, match=f"{next(iter(options))}.*Leave them out"):
        ConditionalDPP(similarity="two-scales", **options).fit(*data)
