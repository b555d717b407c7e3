"""The recipe of CONTRIBUTING.md: a new evaluator is one class."""

import numpy as np
import pytest

import recipes_learning as recipes
from brute_learning import THETA, training_set
from dpplearn import ConditionalDPP, ItemSet
from dpplearn.learning.similarity import fixed_similarity


@pytest.fixture(scope="module")
def data():
    return training_set(50, 8, THETA, np.random.default_rng(3), d=5)


def test_a_new_evaluator_is_one_class(data):
    X, y = data
    expected = ConditionalDPP(rho=0.3, nugget=0.1).fit(X, y)
    before = recipes.Counted.evaluations
    model = ConditionalDPP(rho=0.3, nugget=0.1).fit(X, y, evaluator=recipes.Counting())
    assert recipes.Counted.evaluations > before
    np.testing.assert_allclose(model.theta_, expected.theta_, atol=1e-8)
    assert model.similarity_ == fixed_similarity(0.3, 0.1)


def test_what_does_not_count_reaches_no_evaluator():
    twice = ItemSet([[1.0], [2.0], [0.5]], phi=[[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])  # the first two are the same
    X, y, weight = [twice] * 4, [[0, 1], [1, 2], [0], [2]], [1.0, 1.0, 1.0, 0.0]
    with pytest.warns(UserWarning, match="Left out 1 of 4"):
        expected = ConditionalDPP(on_impossible="drop").fit(X, y, weight)
    with pytest.warns(UserWarning, match="Left out 1 of 4"):
        model = ConditionalDPP(on_impossible="drop").fit(X, y, weight, evaluator=recipes.Counting())
    np.testing.assert_allclose(model.theta_, expected.theta_, atol=1e-8)


@pytest.mark.parametrize("options", [{"rho": 0.3}, {"nugget": 0.1}])
def test_a_mixture_does_not_ignore_what_it_has_no_use_for(options, data):
    with pytest.raises(ValueError, match=f"{next(iter(options))}.*Leave them out"):
        ConditionalDPP(similarity="mixture", **options).fit(*data)
