"""Where the maximum is hard to find, or not there: warm starts, raw columns, many features, weights nothing holds."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from brute_learning import THETA, training_set, with_weights
from dpplearn import ConditionalDPP, ItemSet
from dpplearn.learning import fit
from dpplearn.learning.similarity import Similarity
from passed import passed


@pytest.fixture(scope="module")
def data():
    return training_set(40, 10, THETA, np.random.default_rng(1), d=6)


@pytest.fixture
def without_hessians(monkeypatch):
    """As if there were more features than Hessians are made for; the orders that are asked for."""
    asked = []
    at = fit.Posterior.at
    monkeypatch.setattr(fit, "HESSIAN_LIMIT", 1)

    def counted(self, x, order, **more):
        asked.append(order)
        return at(self, x, order, **more)

    monkeypatch.setattr(fit.Posterior, "at", counted)
    return asked


@pytest.mark.parametrize("power", [2, 4, 6])
def test_many_features_are_learned_without_hessians(power, rng, without_hessians, monkeypatch):
    """Which L-BFGS asked for at its start and its end."""
    X, y = training_set(20, 8, [-1.0, 10.0**-power, 0.5 * 10.0**-power], rng, d=5, spread=10.0**power)
    b = ConditionalDPP().fit(X, y)
    assert set(without_hessians) == {1}
    assert np.isnan(b.theta_std_).all()
    monkeypatch.undo()
    a = ConditionalDPP().fit(X, y)
    assert a.converged_
    assert b.converged_
    scale = np.array([1.0, 10.0**power, 10.0**power])
    np.testing.assert_allclose(b.theta_ * scale, a.theta_ * scale, atol=1e-5)
    assert b.log_likelihood_ == pytest.approx(a.log_likelihood_, abs=1e-7)


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
    with pytest.warns(ConvergenceWarning, match=r"never \(-\d+\.\d and falling\)") as caught:
        model = ConditionalDPP(np.inf).fit(X, y)
    assert not model.converged_
    assert "constant" not in str(caught[0].message)
    assert model.theta_[1] < -5
    held = ConditionalDPP(np.array([np.inf, 1.0, np.inf])).fit(X, y)  # a prior on that one is enough
    assert held.converged_


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


@pytest.mark.parametrize("settings", [{"max_iter": 1}, {"tol": 0.5}])
def test_stopping_early_is_not_separation(settings, data, recwarn):
    ConditionalDPP(None, **settings).fit(*data)
    assert not [w for w in recwarn if "infinity" in str(w.message)]


# A learned nugget and rho: a mixture of one part


def posterior_of(X, y, w):
    """The log-posterior of the best theta for a mixture that is given."""
    S = Similarity(("phi",), w)
    rho, nugget = S.rho, S.nugget
    fitted = ConditionalDPP(10.0, rho=rho, nugget=nugget).fit(X, y)
    return fitted.log_likelihood_ - float(fitted.theta_ @ fitted.theta_) / 20 + 0.1 * np.log(S.w).sum()


def test_a_mixture_of_one_part_learns_rho_and_the_nugget():
    """Data drawn with both: what is learned is no worse than any on a grid or near it, and has standard errors."""
    X, y = training_set(60, 7, THETA, np.random.default_rng(2), d=4, rho=0.6, nugget=0.15)
    model = ConditionalDPP(10.0, similarity="mixture").fit(X, y)
    assert model.converged_
    own, every, part = model.similarity_.w
    assert model.nugget_ == own
    assert model.rho_ == pytest.approx(np.sqrt(every / part))
    np.testing.assert_allclose(model.dpp(X[0]).L, with_weights(model.theta_, model.rho_, model.nugget_).dpp(X[0]).L)
    std = model.similarity_.std
    assert abs(own - 0.15) < 4 * std["own"]
    best = model.starts_.max()
    assert best == pytest.approx(posterior_of(X, y, model.similarity_.w), abs=1e-5)
    grid = [[a, b, 1 - a - b] for a in (0.01, own * 0.9, own * 1.1, 0.5) for b in (0.01, every * 0.9, every * 1.1, 0.4)]
    assert best >= max(posterior_of(X, y, w) for w in grid if w[2] > 0) - 1e-6


@pytest.mark.parametrize(("similarity", "most_files", "most_functions"), [("fixed", 14, 70), ("mixture", 17, 100)])
@pytest.mark.filterwarnings("ignore:The learned similarity", "ignore:.*starts end in a lower maximum")
def test_a_plain_fit_passes_few_files_and_functions(similarity, most_files, most_functions):
    """So that one who reads it need not hold many in mind."""
    rng = np.random.default_rng(0)
    X, y = [], []
    for _ in range(8):
        phi = {name: rng.standard_normal((12, 5)) for name in "ab"}
        phi = phi if similarity == "mixture" else phi["a"]
        X.append(ItemSet(rng.standard_normal((12, 3)), phi=phi, names=["size", "price", "age"]))
        y.append(np.sort(rng.choice(12, 4, replace=False)))
    ConditionalDPP(similarity=similarity).fit(X, y)
    files, functions = passed(lambda: ConditionalDPP(similarity=similarity).fit(X, y))
    assert len(files) <= most_files
    assert 30 < len(functions) <= most_functions, sorted(functions)
