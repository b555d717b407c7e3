"""The coordinates in which quality and similarity are climbed together."""

from functools import partial

import numpy as np
import pytest

from dpplearn import DPP, ConditionalDPP, ItemSet
from dpplearn._run.progress import Progress
from dpplearn.learning import fit
from dpplearn.learning.fit import constant_of
from dpplearn.learning.itemset import Shard
from dpplearn.learning.likelihood import LogLinear
from dpplearn.learning.similarity import Similarity
from dpplearn.learning.solve import Posterior
from dpplearn.learning.training_set import Backend, PreparedShard


def products(F):
    G = np.column_stack([F, np.ones(len(F))])
    return G.T @ G


def test_a_constant_is_found_among_features(rng):
    x, kinds = rng.standard_normal((30, 2)), np.eye(3)[np.arange(30) % 3]
    for F in (
        np.column_stack([x, 2 * np.ones(30)]),
        np.column_stack([kinds, x]),  # one column for each level: they sum to 1
        np.column_stack([1e6 * kinds, 1e-6 * x, np.zeros(30)]),
        np.column_stack([np.ones(30), kinds]),  # in more than one way
    ):
        np.testing.assert_allclose(F @ constant_of(products(F)), 1.0, rtol=1e-8)
    for F in (x, np.column_stack([kinds[:, :2], x]), np.zeros((30, 1))):
        np.testing.assert_array_equal(constant_of(products(F)), 0.0)


def make_posterior(rng, constant=(1.0, 0.0, 0.5)):
    n, names = 7, ("a", "b")
    F = rng.standard_normal((n, 3))
    items = [ItemSet(F + t, phi={name: rng.standard_normal((n, 2)) for name in names}) for t in range(2)]
    S, shard = Similarity(names), Shard(items, [np.array([0, 3]), np.array([1, 2, 5])], np.ones(2))
    engine = Backend([shard], partial(PreparedShard.of, evaluator="numpy", similarity=None))
    return Posterior(
        engine,
        engine.survey(),
        Progress(False),
        LogLinear(np.zeros(3)),
        S,
        np.array([0.1, 0.2, 0.3]),
        np.ones(3),
        np.asarray(constant, float),
        3,
        ConditionalDPP(similarity="mixture"),
        learned=True,
    )


def test_derivatives_in_these_coordinates(rng):
    posterior = make_posterior(rng)
    x = np.concatenate([[0.3, -0.2, 0.1], 0.5 * rng.standard_normal(4)])
    point, h = posterior.at(x, 2), 1e-5
    steps = h * np.eye(x.size)
    slopes = [(posterior.at(x + e, 1).value - posterior.at(x - e, 1).value) / (2 * h) for e in steps]
    np.testing.assert_allclose(point.gradient, slopes, atol=1e-6)
    bends = [(posterior.at(x + e, 1).gradient - posterior.at(x - e, 1).gradient) / (2 * h) for e in steps]
    np.testing.assert_allclose(point.hessian, bends, atol=1e-5)


@pytest.mark.filterwarnings("ignore:The learned similarity", "ignore:.*starts end in a lower maximum")
def test_some_of_the_data_do_not_hide_the_better_maximum(monkeypatch):
    rng = np.random.default_rng(5)
    truth = Similarity(("a", "b", "c", "d"), np.array([0.1, 0.2, 0.4, 0.15, 0.1, 0.05]))
    theta = np.concatenate([[-4.0], 0.7 * rng.standard_normal(7)])
    rng, X, y = np.random.default_rng(4), [], []
    for _ in range(30):
        F = np.column_stack([np.ones(250), rng.standard_normal((250, 7))])
        X.append(ItemSet(F, phi={name: rng.standard_normal((250, 5)) for name in truth.names}))
        y.append(DPP.from_quality(np.exp(F @ theta / 2), truth.matrix(X[-1])).sample(1, rng=rng)[0])
    some = ConditionalDPP(similarity="mixture").fit(X, y)
    monkeypatch.setattr(fit, "SAMPLE_INSTANCES", 1000)  # all starts on all data
    every = ConditionalDPP(similarity="mixture").fit(X, y)
    # on one in four of these, a straight way rises from every start to a maximum that is worse by six on all of them
    assert some.starts_.max() == pytest.approx(every.starts_.max(), abs=0.1)
