"""Settings chosen by what they say of held-out instances, with the conventions of GridSearchCV."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, LeaveOneGroupOut

from brute_learning import THETA, training_set
from dpplearn import ConditionalDPP, ItemSet
from dpplearn.learning import ConditionalDPPCV


@pytest.fixture(scope="module")
def data():
    return training_set(40, 10, THETA, np.random.default_rng(1), d=6)


def search(grid=None, estimator=None, **options):
    return ConditionalDPPCV(estimator, grid, **{"progress": False, **options})


def test_the_scores_are_those_of_scikit_learn(data):
    """Of GridSearchCV itself, name by name."""
    X, y = data
    grid = {"prior_variance": [1.0, 0.01, 10.0], "rho": [0.0, 0.5], "nugget": [0.0, 0.3]}
    ours = search(grid, cv=3).fit(X, y)
    theirs = GridSearchCV(ConditionalDPP(), grid, cv=3).fit(X, y)
    assert set(ours.cv_results_) == set(theirs.cv_results_)
    assert ours.cv_results_["params"] == theirs.cv_results_["params"]
    for name in ours.cv_results_:
        if name.endswith("score") and "time" not in name:
            np.testing.assert_allclose(ours.cv_results_[name], theirs.cv_results_[name], atol=1e-6, err_msg=name)
        if name.startswith("param_"):
            assert ours.cv_results_[name].tolist() == theirs.cv_results_[name].tolist()
    for name in ("best_params_", "best_index_", "n_splits_"):
        assert getattr(ours, name) == getattr(theirs, name)
    assert ours.best_score_ == pytest.approx(theirs.best_score_)
    np.testing.assert_array_equal(ours.theta_, theirs.best_estimator_.theta_)
    assert ours.rho_ == ours.best_params_["rho"]
    assert ours.similarity_ is ours.best_estimator_.similarity_
    assert len(ours.predict(X[:2], k=3)) == 2
    assert str(ours.summary()).startswith("ConditionalDPP")


def test_settings_that_cannot_be_are_refused_before_any_fit(data, monkeypatch):
    """A mixture learns its own nugget: a grid of both would fail inside the folds, after the work on those before."""
    monkeypatch.setattr(ConditionalDPP, "fit", lambda *_: pytest.fail("a fit was begun"))
    for grid in (
        {"similarity": ["fixed", "mixture"], "nugget": [0.05, 0.2]},
        {"similarity": ["fixed", "mixture"], "rho": [0.0, 0.2]},
        {"nugget": [0.05, -1.0]},
        {"tol": [1e-6, 0.0]},
    ):
        with pytest.raises(ValueError, match=r"mapping of its own|must"):
            search(grid, cv=2).fit(*data)


def test_by_a_callable_with_references(data):
    X, y = data
    references = [f"reference {t}" for t in range(len(X))]
    seen = []

    def scoring(model, X_test, truth):
        assert len(X_test) == len(truth)
        seen.extend(truth)
        return -abs(np.log10(model.prior_variance))  # 1.0 is best

    one = search({"prior_variance": [0.1, 1.0, 10.0]}, cv=4, scoring=scoring).fit(X, y, references=references)
    assert one.best_params_ == {"prior_variance": 1.0}
    assert sorted(set(seen)) == sorted(references)
    with pytest.raises(ValueError, match="references must have one entry per instance"):
        one.fit(X, y, references=references[:3])
    with pytest.raises(TypeError, match="scoring must be None or a function"):
        search(scoring="rouge").fit(X, y)


@pytest.mark.filterwarnings("ignore:Left out")
def test_all_are_compared_on_the_same_targets(data):
    """With "drop", a similarity gets no better score for targets that it makes impossible."""
    X, y = list(data[0]), list(data[1])
    twins = ItemSet(X[0].features[:3], phi=[[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    X[3], y[3], X[25], y[25] = twins, [0, 1], twins, [0, 1]
    one = search({"nugget": [0.0, 0.1]}, ConditionalDPP(on_impossible="drop"), cv=KFold(2)).fit(X, y)
    for k, nugget in enumerate((0.0, 0.1)):
        for f, (train, test) in enumerate(KFold(2).split(X)):
            model = ConditionalDPP(nugget=nugget, on_impossible="drop").fit(
                [X[t] for t in train], [y[t] for t in train]
            )
            kept = [t for t in test if t not in (3, 25)]
            expected = model.score([X[t] for t in kept], [y[t] for t in kept])
            assert one.cv_results_[f"split{f}_test_score"][k] == pytest.approx(expected, abs=1e-6)


def test_groups_stay_together(data):
    """Several targets of one item set: with a number of folds, or with a splitter, they stay in one fold."""
    X, y = [x for x in data[0][:12] for _ in range(2)], [Y for Y in data[1][:12] for _ in range(2)]
    groups = np.repeat(np.arange(12), 2)
    for cv in (3, np.int64(3), None, GroupKFold(3), LeaveOneGroupOut()):
        tested = []

        def scoring(_model, _X, truth, tested=tested):
            tested.append(sorted(truth))
            return 0.0

        one = search({"nugget": [0.1]}, cv=cv, scoring=scoring).fit(X, y, references=groups.tolist(), groups=groups)
        assert len(tested) == one.n_splits_
        assert all(part[0::2] == part[1::2] for part in tested)
        assert sorted(t for part in tested for t in part) == groups.tolist()
    with pytest.raises(ValueError, match="groups must have one entry per instance"):
        search().fit(X, y, groups=groups[:3])
