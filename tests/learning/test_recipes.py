"""The recipe of CONTRIBUTING.md: a new evaluator is one class."""

import numpy as np
import pytest

import recipes_learning as recipes
from brute_learning import THETA, training_set
from dpplearn import ConditionalDPP
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
