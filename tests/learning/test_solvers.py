"""Where the maximum is hard to find, or not there: warm starts, raw columns, a learned rho, weights nothing holds."""

import json

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from brute_learning import THETA, random_items, training_set
from dpplearn import ConditionalDPP, ItemSet
from dpplearn._io.jsonfile import write_state
from dpplearn.learning.likelihood import Terms
from dpplearn.learning.solvers import newton


@pytest.fixture(scope="module")
def data():
    return training_set(40, 10, THETA, np.random.default_rng(1), d=6)


def test_warm_start(data):
    X, y = data
    model = ConditionalDPP(warm_start=True).fit(X, y)
    assert model.fit(X, y).n_iter_ == 0
    assert ConditionalDPP().fit(X, y).n_iter_ > 0


def test_a_warm_start_far_away_is_not_taken_for_the_optimum(data):
    """At weights in the ten thousands every probability is 0 or 1 and the Hessian 0, with a large gradient."""
    X, y = data
    best = ConditionalDPP(None).fit(X, y)
    for solver in ("newton", "lbfgs"):
        model = ConditionalDPP(None, solver, warm_start=True).fit([ItemSet(x.features * 1e-4, phi=x.phi) for x in X], y)
        assert np.abs(model.theta_).max() > 1e3
        assert model.fit(X, y).converged_
        np.testing.assert_allclose(model.theta_, best.theta_, atol=1e-5)
    with pytest.raises(ValueError, match="from 3 weights, and these data have 2 features"):
        model.fit([ItemSet(x.features[:, :2], phi=x.phi) for x in X], y)


def test_newton_where_the_objective_does_not_bend():
    """-|x - 3| with its corner rounded off: away from the corner the Hessian is 0 and the gradient 1."""

    def objective(theta, _order):
        z = theta[0] - 3.0
        bend = np.cosh(np.clip(20 * z, -300, 300)) ** -2.0
        value = -(abs(20 * z) + np.log1p(np.exp(-2 * abs(20 * z)))) / 20
        return Terms(float(value), -np.tanh(20 * np.array([z])), -20 * np.array([[bend]]))

    found = newton(objective, np.array([400.0]), tol=1e-8, max_iter=100, report=lambda *_: None)
    assert found.converged
    assert found.theta[0] == pytest.approx(3.0, abs=1e-7)


def test_stuck_is_not_converged():
    """No step is better, and the gradient says that one should be: not a maximum."""

    def objective(theta, _order):
        return Terms(-1.0 - float(np.abs(theta).max() > 0), np.ones(1), np.zeros((1, 1)))

    found = newton(objective, np.zeros(1), tol=1e-8, max_iter=50, report=lambda *_: None)
    assert not found.converged


@pytest.mark.parametrize("power", [2, 4, 6])
def test_both_solvers_on_raw_columns(power, rng):
    X, y = training_set(20, 8, [-1.0, 10.0**-power, 0.5 * 10.0**-power], rng, d=5, spread=10.0**power)
    a, b = (ConditionalDPP(solver=solver).fit(X, y) for solver in ("newton", "lbfgs"))
    assert a.converged_
    assert b.converged_
    scale = np.array([1.0, 10.0**power, 10.0**power])
    np.testing.assert_allclose(b.theta_ * scale, a.theta_ * scale, atol=1e-5)
    assert b.log_likelihood_ == pytest.approx(a.log_likelihood_, abs=1e-7)


def test_learned_rho_below_the_first_start():
    """One target that rho = 0 makes impossible among many drawn with it: the maximum is near 0, and not at it."""
    rng = np.random.default_rng(1)
    X, y = training_set(150, 6, [0.5], rng, d=2)
    X.append(ItemSet(np.ones((3, 1)), phi=[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]))
    y.append([0, 1, 2])
    weight = np.append(np.ones(150), 0.01)
    model = ConditionalDPP(learn_rho=True).fit(X, y, weight)
    assert model.converged_
    assert 0 < model.rho_ < 0.02
    for factor in (0.8, 1.25):
        other = ConditionalDPP(rho=model.rho_ * factor).fit(X, y, weight)
        assert other.log_likelihood_ - other.theta_ @ other.theta_ / 2 < (
            model.log_likelihood_ - model.theta_ @ model.theta_ / 2
        )


def state_of(path):
    """What a checkpoint says, without its digest."""
    return {name: value for name, value in json.loads(path.read_text()).items() if name != "digest"}


def test_learned_rho_with_few_iterations_and_a_checkpoint(data, tmp_path):
    """max_iter counts for each rho; too few for one is said; and the file knows every rho that is done."""
    X, y = data
    best = ConditionalDPP(learn_rho=True).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="stopped after"):
        assert not ConditionalDPP(learn_rho=True, max_iter=1).fit(X, y).converged_
    path = tmp_path / "checkpoint.json"
    first = ConditionalDPP(learn_rho=True, checkpoint=path).fit(X, y)
    again = ConditionalDPP(learn_rho=True, checkpoint=path).fit(X, y)
    for model in (first, again):
        assert model.rho_ == best.rho_
        assert model.n_iter_ == best.n_iter_
        np.testing.assert_array_equal(model.theta_, best.theta_)
    content = state_of(path)
    content["profile"] = content["profile"][:4]  # as it was when four were done
    content["n_iter"], content["quality"] = 7, content["profile"][-1]["quality"]
    write_state(path, content)
    rest = ConditionalDPP(learn_rho=True, checkpoint=path).fit(X, y)
    assert rest.rho_ == pytest.approx(best.rho_, abs=1e-7)
    np.testing.assert_allclose(rest.theta_, best.theta_, atol=1e-6)
    assert json.loads(path.read_text())["profile"][:4] == content["profile"]
    with pytest.raises(ValueError, match=r"of another fit: at rho\^2="):
        ConditionalDPP(learn_rho=True, checkpoint=path).fit(X, y[::-1])


def test_learned_rho_is_the_maximum():
    """Data drawn with rho = 1; the profile likelihood at the learned one is no lower than on a fine grid."""
    X, y = training_set(80, 8, THETA, np.random.default_rng(5), d=12, rho=1.0)
    model = ConditionalDPP(10.0, learn_rho=True).fit(X, y)

    def profile(rho):
        fitted = ConditionalDPP(10.0, rho=rho).fit(X, y)
        return fitted.log_likelihood_ - float(fitted.theta_ @ fitted.theta_) / 20

    found = model.log_likelihood_ - float(model.theta_ @ model.theta_) / 20
    grid = [profile(rho) for rho in np.linspace(0, 3, 13)]
    assert found >= max(grid) - 1e-9
    assert found == pytest.approx(profile(model.rho_), abs=1e-9)
    assert 0.4 < model.rho_ < 2.5


def test_learned_rho_can_make_targets_possible(rng):
    """Three items in a plane have probability 0 without the constant similarity feature."""
    X = [ItemSet(np.ones((5, 1)), phi=rng.standard_normal((5, 2))) for _ in range(6)]
    model = ConditionalDPP(learn_rho=True).fit(X, [[0, 1, 2], [0], [3], [], [1, 4], [2]])
    assert model.rho_ > 0.05
    assert np.isfinite(model.log_likelihood_)


def test_learned_rho_may_be_zero():
    X, y = training_set(80, 6, [0.5, 0.3], np.random.default_rng(2), d=2, rho=0.0)
    model = ConditionalDPP(10.0, learn_rho=True).fit(X, y)
    assert model.rho_ < 0.3


# Weights that nothing holds


def test_runaway_weights_are_named(rng):
    """A feature no target ever has: without a prior its weight falls for ever."""
    X = [
        ItemSet(
            np.column_stack([np.ones(6), np.arange(6) == 5, rng.standard_normal(6)]),
            phi=rng.standard_normal((6, 8)),
            names=["constant", "never", "score"],
        )
        for _ in range(12)
    ]
    y = [np.sort(rng.choice(5, 2, replace=False)) for _ in X]
    for solver in ("newton", "lbfgs"):
        with pytest.warns(ConvergenceWarning, match=r"never \(-\d+\.\d and falling\)") as caught:
            model = ConditionalDPP(np.inf, solver).fit(X, y)
        assert not model.converged_
        assert "constant" not in str(caught[0].message)
        assert model.theta_[1] < -5
    held = ConditionalDPP(np.array([np.inf, 1.0, np.inf])).fit(X, y)  # a prior on that one is enough
    assert held.converged_


def test_all_targets_empty_or_full_without_prior(rng):
    X = [random_items(4, 1, rng) for _ in range(5)]
    for y, word in (([[]] * 5, "falling"), ([[0, 1, 2, 3]] * 5, "rising")):
        with (
            pytest.warns(ConvergenceWarning, match=f"x0 .* {word}"),
            pytest.warns(UserWarning, match="nothing tells a good item"),
        ):
            ConditionalDPP(None).fit(X, y)
        with pytest.warns(UserWarning, match="nothing tells a good item"):
            assert ConditionalDPP(1.0).fit(X, y).converged_


def test_collinear_columns(rng):
    X, y = training_set(30, 8, THETA, rng)
    doubled = [ItemSet(np.column_stack([x.features, x.features[:, 1], np.zeros(8)]), phi=x.phi) for x in X]
    model = ConditionalDPP(1.0).fit(doubled, y)
    assert model.converged_
    assert model.theta_[1] == pytest.approx(model.theta_[3])
    assert model.theta_std_[4] == pytest.approx(1.0)  # what the prior says
    with pytest.warns(UserWarning, match="do not determine the weights of x1, x3, x4"):
        free = ConditionalDPP(np.inf).fit(doubled, y)
    assert free.converged_
    assert np.isinf(free.theta_std_[[1, 3, 4]]).all()
    plain = ConditionalDPP(np.inf).fit(X, y)
    assert free.log_likelihood_ == pytest.approx(plain.log_likelihood_, abs=1e-8)
    assert free.theta_[1] + free.theta_[3] == pytest.approx(plain.theta_[1], abs=1e-6)


def test_units_of_features_do_not_matter(rng):
    X, y = training_set(30, 8, THETA, rng)
    scale = np.array([1.0, 1e-6, 1e5])
    scaled = [ItemSet(x.features * scale, phi=x.phi) for x in X]
    a = ConditionalDPP(np.inf, tol=1e-7).fit(X, y)
    b = ConditionalDPP(np.inf, tol=1e-7).fit(scaled, y)
    assert b.converged_
    np.testing.assert_allclose(b.theta_ * scale, a.theta_, atol=1e-4)


@pytest.mark.parametrize("settings", [{"max_iter": 1}, {"tol": 0.5}, {"solver": "lbfgs", "max_iter": 3}])
def test_stopping_early_is_not_separation(settings, data, recwarn):
    ConditionalDPP(None, **settings).fit(*data)
    assert not [w for w in recwarn if "infinity" in str(w.message)]


def test_stopping_early_warns(data):
    with pytest.warns(ConvergenceWarning, match="stopped after 1 iterations with a gradient of"):
        model = ConditionalDPP(max_iter=1).fit(*data)
    assert not model.converged_
    assert model.n_iter_ == 1


# A learned nugget


def profile_of(X, y, rho, nugget):
    fitted = ConditionalDPP(10.0, rho=rho, nugget=nugget).fit(X, y)
    return fitted.log_likelihood_ - float(fitted.theta_ @ fitted.theta_) / 20


@pytest.mark.parametrize("both", [False, True])
def test_learned_nugget_is_the_maximum(both):
    """Data drawn with a nugget: the learned one, and rho with it, is no worse than any on a grid or near it."""
    X, y = training_set(60, 7, THETA, np.random.default_rng(2), d=4, rho=0.6, nugget=0.15)
    model = ConditionalDPP(10.0, rho=0.6, learn_nugget=True, learn_rho=both).fit(X, y)
    assert model.converged_
    assert 0 < model.nugget_ < 0.9
    assert (model.rho_ == 0.6) is not both
    found = model.log_likelihood_ - float(model.theta_ @ model.theta_) / 20
    assert found == pytest.approx(profile_of(X, y, model.rho_, model.nugget_), abs=1e-8)
    near = [(model.rho_, model.nugget_ * f) for f in (0.9, 1.1)]
    near += [(model.rho_ * f, model.nugget_) for f in (0.9, 1.1) if both]
    far = [(rho, nugget) for rho in ((0.0, 0.5, 1.5) if both else (0.6,)) for nugget in (0.02, 0.1, 0.3, 0.6)]
    for rho, nugget in near + far:
        assert found >= profile_of(X, y, rho, nugget) - 1e-9


def test_bounds_of_the_similarity_are_said():
    X, y = training_set(80, 6, [0.3, 0.5], np.random.default_rng(6), d=12, rho=1.0)
    with pytest.warns(UserWarning, match="lower bound nugget = 0"):
        model = ConditionalDPP(rho=1.0, learn_nugget=True).fit(X, y)
    assert model.nugget_ == 0.0
    twins = ItemSet(np.ones((2, 1)), phi=[[1.0], [1.0]])  # both, or one of them: as if they were not alike at all
    with pytest.warns(ConvergenceWarning, match=r"still rises at nugget = 0\.98"):
        ConditionalDPP(None, learn_nugget=True).fit([twins] * 8, [[0, 1]] * 4 + [[0], [1], [], []])
    X, y = [ItemSet(np.ones((6, 1)), S=np.eye(6))] * 20, [[t % 6] for t in range(20)]  # always one
    with pytest.warns(ConvergenceWarning, match=r"still rises at rho = 6\.4"):
        ConditionalDPP(None, learn_rho=True).fit(X, y)


def test_bounds_that_are_not_the_answer_are_not_said(recwarn):
    """On the way, along a line with another nugget, p rises up to rho = 6.4; the best rho is 3.06."""
    X, y = training_set(20, 6, THETA[:2], np.random.default_rng(6), d=4, rho=0.3, nugget=0.3)
    model = ConditionalDPP(10.0, learn_rho=True, learn_nugget=True).fit(X, y)
    assert 2 < model.rho_ < 4
    assert 0 < model.nugget_ < 0.98
    assert not [str(w.message) for w in recwarn]


def test_both_learned_go_on_from_a_checkpoint(tmp_path):
    """Parameters by name; and a file of another version is refused with the reason."""
    X, y = training_set(20, 6, THETA[:2], np.random.default_rng(4), d=4, rho=0.3, nugget=0.3)
    path = tmp_path / "c.json"
    settings = {"learn_rho": True, "learn_nugget": True, "checkpoint": path}
    first = ConditionalDPP(**settings).fit(X, y)
    content = state_of(path)
    assert content["similarity"].keys() == {"rho^2", "nugget"}
    assert len(content["profile"]) >= 18  # both lines
    again = ConditionalDPP(**settings).fit(X, y)
    assert (again.rho_, again.nugget_, again.n_iter_) == (first.rho_, first.nugget_, first.n_iter_)
    for done in (20, len(content["profile"]) - 1):  # on the second line, and in the search of both together
        part = {**content, "profile": content["profile"][:done], "n_iter": 30}
        write_state(path, part)
        rest = ConditionalDPP(**settings).fit(X, y)
        assert rest.similarity_ == first.similarity_
        np.testing.assert_array_equal(rest.theta_, first.theta_)
        assert json.loads(path.read_text())["profile"] == content["profile"]
    write_state(path, {**content, "version": 1})
    with pytest.raises(ValueError, match=r"of version 2 to go on from, but is .* of version 1\. Delete it"):
        ConditionalDPP(**settings).fit(X, y)
    content["profile"][0]["similarity"] = {"rho^2": 0.0}
    write_state(path, content)
    with pytest.raises(ValueError, match=r"profile\[0\]\.nugget .* must be a number, found None"):
        ConditionalDPP(**settings).fit(X, y)
