"""Settings chosen by what they say of held-out instances."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, KFold, LeaveOneGroupOut, cross_val_score

from brute_learning import THETA, training_set
from dpplearn import DPP, ConditionalDPP, ItemSet
from dpplearn.learning import ConditionalDPPCV


@pytest.fixture(scope="module")
def data():
    return training_set(40, 10, THETA, np.random.default_rng(1), d=6)


def test_cross_validation_on_a_warm_started_path(data):
    X, y = data
    search = ConditionalDPPCV([1.0, 0.01, 10.0], rhos=[0.0, 0.5], cv=3).fit(X, y)
    assert search.cv_scores_.shape == (2, 3, 3)
    for r, rho in enumerate([0.0, 0.5]):
        for v, variance in enumerate([1.0, 0.01, 10.0]):
            cold = cross_val_score(ConditionalDPP(variance, rho=rho), X, y, cv=3)
            np.testing.assert_allclose(search.cv_scores_[r, v], cold, atol=1e-6)
    r, v = np.unravel_index(search.cv_scores_.mean(axis=2).argmax(), (2, 3))
    assert (search.rho_, search.prior_variance_) == ([0.0, 0.5][r], [1.0, 0.01, 10.0][v])
    np.testing.assert_allclose(
        search.theta_, ConditionalDPP(search.prior_variance_, rho=search.rho_).fit(X, y).theta_, atol=1e-6
    )
    assert clone(search).get_params()["rhos"] == [0.0, 0.5]
    assert len(search.predict(X[:2], k=3)) == 2


def test_cross_validation_by_a_callable_with_references(data):
    X, y = data
    references = [f"reference {t}" for t in range(len(X))]
    seen = []

    def scoring(model, X_test, truth):
        assert len(X_test) == len(truth)
        seen.extend(truth)
        return -abs(np.log10(model.prior_variance))  # 1.0 is best

    search = ConditionalDPPCV([0.1, 1.0, 10.0], cv=4, scoring=scoring).fit(X, y, references=references)
    assert search.prior_variance_ == 1.0
    assert sorted(set(seen)) == sorted(references)
    with pytest.raises(ValueError, match="references must have one entry per instance"):
        search.fit(X, y, references=references[:3])
    with pytest.raises(TypeError, match="scoring must be None or a function"):
        ConditionalDPPCV(scoring="rouge").fit(X, y)


def test_cross_validation_compares_nuggets(data):
    X, y = data
    search = ConditionalDPPCV([0.1, 1.0], rhos=[0.0, 0.5], cv=3, nuggets=[0.0, 0.3]).fit(X, y)
    assert search.cv_scores_.shape == (4, 2, 3)
    for k, (nugget, rho) in enumerate([(0.0, 0.0), (0.0, 0.5), (0.3, 0.0), (0.3, 0.5)]):
        cold = cross_val_score(ConditionalDPP(1.0, rho=rho, nugget=nugget), X, y, cv=3)
        np.testing.assert_allclose(search.cv_scores_[k, 1], cold, atol=1e-6)
    k = int(search.cv_scores_.mean(axis=2).max(axis=1).argmax())
    assert (search.nugget_, search.rho_) == [(0.0, 0.0), (0.0, 0.5), (0.3, 0.0), (0.3, 0.5)][k]
    assert search.similarity_ is search.best_estimator_.similarity_


@pytest.mark.filterwarnings("ignore:Left out")
def test_cross_validation_compares_on_the_same_targets(data):
    """With "drop", a similarity gets no better score for targets that it makes impossible."""
    X, y = list(data[0]), list(data[1])
    twins = ItemSet(X[0].features[:3], phi=[[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    X[3], y[3], X[25], y[25] = twins, [0, 1], twins, [0, 1]
    search = ConditionalDPPCV([1.0], nuggets=[0.0, 0.1], cv=KFold(2), on_impossible="drop").fit(X, y)
    for k, nugget in enumerate((0.0, 0.1)):
        for f, (train, test) in enumerate(KFold(2).split(X)):
            model = ConditionalDPP(nugget=nugget, on_impossible="drop").fit(
                [X[t] for t in train], [y[t] for t in train]
            )
            kept = [t for t in test if t not in (3, 25)]
            expected = model.score([X[t] for t in kept], [y[t] for t in kept])
            assert search.cv_scores_[k, 0, f] == pytest.approx(expected, abs=1e-6)


def test_cross_validation_keeps_groups_together(data):
    """Several targets of one item set: with a number of folds, or with a splitter, they stay in one fold."""
    X, y = [x for x in data[0][:12] for _ in range(2)], [Y for Y in data[1][:12] for _ in range(2)]
    groups = np.repeat(np.arange(12), 2)
    for cv in (3, np.int64(3), None, GroupKFold(3), LeaveOneGroupOut()):
        tested = []

        def scoring(_model, _X, truth, tested=tested):
            tested.append(sorted(truth))
            return 0.0

        search = ConditionalDPPCV([1.0], cv=cv, scoring=scoring).fit(X, y, references=groups.tolist(), groups=groups)
        assert len(tested) == search.cv_scores_.size
        assert all(part[0::2] == part[1::2] for part in tested)
        assert sorted(t for part in tested for t in part) == groups.tolist()
    with pytest.raises(ValueError, match="groups must have one label per instance"):
        ConditionalDPPCV([1.0]).fit(X, y, groups=groups[:3])


def test_cross_validation_says_why_it_cannot_choose(data):
    X, y = data
    with pytest.raises(ValueError, match="train part of fold 0 have sample_weight 0"):
        ConditionalDPPCV(cv=KFold(2)).fit(X, y, 1.0 * (np.arange(40) < 20))
    with pytest.raises(ValueError, match=r"prior_variance=0\.01, rho=0 and nugget=0 is not a number: scoring must"):
        ConditionalDPPCV(scoring=lambda *_: np.nan).fit(X, y)
    with pytest.raises(TypeError, match="prior_variances must be a list of numbers"):
        ConditionalDPPCV(["a"]).fit(X, y)
    twins = ItemSet(np.ones((3, 1)), phi=[[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    with pytest.warns(UserWarning, match="Left out 1 of 10") as caught:
        ConditionalDPPCV([0.1, 1.0], cv=2, on_impossible="drop").fit([twins] * 10, [[0, 2]] * 9 + [[0, 1]])
    assert [one.filename for one in caught] == [__file__]  # once, of the last fit, at the line that asked for it
    with pytest.raises(ValueError, match="no instance to score"):
        ConditionalDPP().fit(X, y).score(X, y, np.zeros(40))


def test_a_search_names_the_instance_that_cannot_be_and_a_cure_that_works():
    twice = ItemSet([[1.0], [2.0], [0.5]], phi=[[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    X, y = [twice] * 6, [[0], [1, 2], [2], [0, 2], [0, 1], [1]]
    with pytest.raises(ValueError, match=r"1 of 6 .*instance 4: .*items 0 and 1.*nuggets=\[0\.01, 0\.1\]"):
        ConditionalDPPCV(cv=2, nuggets=[0.0, 0.1]).fit(X, y)
    assert ConditionalDPPCV(cv=2, nuggets=[0.01, 0.1]).fit(X, y).nugget_ in (0.01, 0.1)


def test_kinds_of_quality_are_compared_by_held_out_likelihood():
    """Where the sign of a product is good trees win, and where a score is linear the linear one; each with every S."""
    rng = np.random.default_rng(0)
    names = {}
    for kind in ("product", "linear"):
        X, y = [], []
        for _ in range(60):
            F = np.column_stack([np.ones(12), rng.standard_normal((12, 2))])
            eta = 3 * np.sign(F[:, 1] * F[:, 2]) - 1.5 if kind == "product" else 2 * F[:, 1] - 1.0
            X.append(ItemSet(F, phi=rng.standard_normal((12, 4))))
            q = np.exp(eta / 2)
            y.append(DPP.from_quality(q, X[-1].similarity_matrix(nugget=0.2)).sample(1, rng=rng)[0])
        search = ConditionalDPPCV([1.0], nuggets=[0.2, 0.5], quality=["linear", "boosted"], n_trees=25, cv=3)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Held-out instances still gain")
            search.fit(X, y)
        assert search.cv_scores_.shape == (4, 1, 3)
        assert search.qualities_ == ["log-linear", "log-linear", "boosted", "boosted"]
        assert [S.nugget for S in search.similarities_] == [0.2, 0.5, 0.2, 0.5]
        names[kind] = search.quality_.kind
        best = int(search.cv_scores_.mean(axis=(1, 2)).argmax())
        assert search.quality_.kind == search.qualities_[best] == search.best_estimator_.quality
        assert search.predict(X[:2])[0].size >= 0
    assert names == {"product": "boosted", "linear": "log-linear"}
    with pytest.raises(ValueError, match="quality must be a kind"):
        ConditionalDPPCV(quality=[]).fit(X, y)
    with pytest.raises(ValueError, match="quality must be one of"):
        ConditionalDPPCV(quality=["trees"]).fit(X, y)
