"""The coordinates in which quality and similarity are climbed together."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import rosen, rosen_der, rosen_hess

from dpplearn import DPP, ConditionalDPP, ItemSet
from dpplearn.learning import joint
from dpplearn.learning.evaluators.one_by_one import Prepared
from dpplearn.learning.joint import Ascent, Problem, Start, climb
from dpplearn.learning.outcome import outcome
from dpplearn.learning.prior import constant_of
from dpplearn.learning.quality import LogLinear
from dpplearn.learning.similarity import Mixture, Projected, Scaled
from dpplearn.learning.training_set import Shard


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


def make_problem(kind, rng, constant=(1.0, 0.0, 0.5)):
    n, names = 7, ("a", "b")
    F = rng.standard_normal((n, 3))
    items = [ItemSet(F + t, phi={name: rng.standard_normal((n, 2)) for name in names}) for t in range(2)]
    S = {"mixture": Mixture(), "scaled": Scaled(), "projected": Projected(n_components=2)}[kind].bound(
        [part.shape for part in items[0].parts]
    )
    shard = Shard(items, [np.array([0, 3]), np.array([1, 2, 5])], np.ones(2))
    ready = Prepared(shard, S)
    quality = LogLinear(np.zeros(3))
    return Problem(
        ready.evaluate,
        quality,
        S,
        np.array([0.1, 0.2, 0.3]),
        0.1,
        False,
        np.ones(3),
        np.asarray(constant, float),
    )


@pytest.mark.parametrize("kind", ["mixture", "scaled", "projected"])
def test_derivatives_in_these_coordinates(kind, rng):
    problem = make_problem(kind, rng)
    x = np.concatenate([[0.3, -0.2, 0.1], 0.5 * rng.standard_normal(problem.similarity.parameters.size)])
    point, h = problem.at(x, 2), 1e-5
    steps = h * np.eye(x.size)
    slopes = [(problem.at(x + e, 1).value - problem.at(x - e, 1).value) / (2 * h) for e in steps]
    np.testing.assert_allclose(point.gradient, slopes, atol=1e-6)
    bends = [(problem.at(x + e, 1).gradient - problem.at(x - e, 1).gradient) / (2 * h) for e in steps]
    np.testing.assert_allclose(problem.hessian(x, point), bends, atol=1e-5)


@pytest.mark.parametrize("kind", ["mixture", "scaled", "projected"])
def test_coordinates_there_and_back(kind, rng):
    problem = make_problem(kind, rng)
    theta, vector = rng.standard_normal(3), rng.standard_normal(problem.similarity.parameters.size)
    x = problem.join(theta, vector)
    found, S = problem.split(x)
    np.testing.assert_allclose(found, theta, rtol=1e-12)
    np.testing.assert_array_equal(S.parameters, problem.similarity.with_parameters(vector).parameters)
    J, h = problem.jacobian(x), 1e-6
    for e in np.eye(x.size):
        moved = (problem.split(x + h * e)[0] - problem.split(x - h * e)[0]) / (2 * h)
        np.testing.assert_allclose(J[:3] @ e, moved, atol=1e-8)
    # what R = S - w_all 11^T and the constant give together does not change with w_all alone
    before = np.log1p(-S.weights["all"]) + found @ [1, 0, 0]
    at = list(S.weights).index("all")
    further = x + 0.3 * np.eye(x.size)[3 + at]
    again, T = problem.split(further)
    assert np.log1p(-T.weights["all"]) + again[0] == pytest.approx(before, abs=1e-12)


@pytest.mark.parametrize("kind", ["mixture", "scaled", "projected"])
def test_standard_errors_do_not_depend_on_the_coordinates(kind):
    problem = make_problem(kind, np.random.default_rng(2), np.zeros(3))
    best = climb(problem, Start(problem.join(np.zeros(3), problem.similarity.parameters)), tol=1e-9, max_iter=500)
    assert best.converged
    found = []
    for constant in ([0.0, 0.0, 0.0], [1.0, 0.0, 0.5]):
        there = replace(problem, constant=np.array(constant))
        x = there.join(best.x[:3], best.x[3:])
        point = there.at(x, 2)
        found.append(outcome(there, [Ascent(x, point._replace(hessian=there.hessian(x, point)), 1, True)]))
    plain, ridge = found
    # logits that all grow by the same leave no weight undetermined: not those of a constant either
    assert ridge.covariance is not None
    assert plain.covariance is not None
    np.testing.assert_allclose(ridge.std, plain.std, rtol=1e-3)
    np.testing.assert_allclose(ridge.covariance, plain.covariance, atol=1e-3 * plain.std.max() ** 2)
    np.testing.assert_allclose(ridge.similarity.errors, plain.similarity.errors, rtol=1e-3)


@pytest.mark.filterwarnings("ignore:.*starts end in a lower maximum")
def test_the_maximum_does_not_depend_on_the_coordinates(monkeypatch):
    rng, truth, theta = np.random.default_rng(3), Mixture(("a", "b"), np.array([0.2, 0.2, 0.3, 0.3])), [-1.0, 0.5]
    X, y = [], []
    for _ in range(150):
        F = np.column_stack([np.ones(10), rng.standard_normal(10)])
        X.append(ItemSet(F, phi={name: rng.standard_normal((10, 3)) for name in truth.names}))
        y.append(DPP.from_quality(np.exp(F @ theta / 2), truth.matrix(X[-1])).sample(1, rng=rng)[0])
    with_ridge = ConditionalDPP(similarity="mixture").fit(X, y)
    monkeypatch.setattr("dpplearn.learning.posterior.constant_of", lambda products: np.zeros(len(products) - 1))
    without = ConditionalDPP(similarity="mixture").fit(X, y)
    np.testing.assert_allclose(with_ridge.theta_, without.theta_, atol=0.05 * without.theta_std_.min())
    for name, w in with_ridge.similarity_.weights.items():
        assert w == pytest.approx(without.similarity_.weights[name], abs=0.05 * without.similarity_.std[name])
    np.testing.assert_allclose(with_ridge.theta_std_, without.theta_std_, rtol=0.02)


def test_a_step_that_was_cut_short_does_not_pass_for_one_near_the_maximum():
    """A curved ridge (Rosenbrock's), on which steps fail: the Hessian that is returned is not of the way to the top."""
    asked = []

    class Ridge:
        m, unit_of = 0, joint.Problem.unit_of

        def at(self, x, order=2):
            asked.extend([-0.01 * rosen(x)] if order == 2 else [])
            hessian = -0.01 * rosen_hess(x) if order == 2 else None
            return joint.Point(-0.01 * rosen(x), -0.01 * rosen_der(x), hessian, None)

        def hessian(self, _, point):
            return point.hessian

    x = np.array([-1.2, 1.0])
    led = joint.polish(Ridge(), joint.Ascent(x, Ridge().at(x), 0, False), 1e-8, 500, lambda *_: None)
    assert led.converged
    np.testing.assert_allclose(led.x, 1.0, atol=0.01)
    assert asked[-1] > -2 * joint.CLOSE
