"""Quality by LightGBM's trees: what they learn that no linear score can, and what a model file keeps of them."""

import json
import sys

import numpy as np
import pytest
from sklearn.base import clone

from dpplearn import DPP, ConditionalDPP, ItemSet
from dpplearn.learning import save_shard
from dpplearn.learning.similarity import Fixed
from dpplearn.learning.training_set import training_data
from dpplearn.learning.trees import Instances
from playlists import playlists

pytest.importorskip("lightgbm")


def draw_xor(n_sets, seed, n=20):
    """Items with a b > 0 are good: no linear score of a and b knows."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n_sets):
        a, b = rng.standard_normal((2, n))
        X.append(ItemSet(np.column_stack([np.ones(n), a, b]), phi=rng.standard_normal((n, 5)), names=["1", "a", "b"]))
        q = np.exp((-1.5 + 2 * np.sign(a * b)) / 2)
        y.append(DPP.from_quality(q, X[-1].similarity_matrix(nugget=0.3)).sample(1, rng=rng)[0])
    return X, y


def table(n_lists=80, like=None, **options):
    columns = {"features": ["genre", "tempo", "explicit", "length"], "phi": ["genre"]}
    how = columns if like is None else {"encoding": like.encoding}
    return ItemSet.from_long(playlists(n_lists, **options), group="playlist", chosen="kept", **how)


@pytest.fixture(scope="module")
def xor():
    X, y = draw_xor(120, 1)
    return X, y, ConditionalDPP(quality="boosted", nugget=0.3).fit(X, y)


@pytest.mark.parametrize("given_size", [False, True])
def test_values_and_derivatives_in_eta(given_size, rng):
    """log P by the DPP itself, and 1[i in Y] - K_ii by differences."""
    X = [ItemSet(rng.standard_normal((5, 2)), phi=rng.standard_normal((5, 6))) for _ in range(2)]
    data = Instances(training_data(X, [[1, 3], [0]], [2.0, 1.0]), Fixed(0.2, 0.1), given_size)
    eta, every = rng.standard_normal(10), np.ones(2, bool)
    value, K = data.evaluate(eta, every)
    models = [ConditionalDPP.from_weights(np.ones(5), rho=0.2, nugget=0.1) for _ in X]
    for model in models:
        model.given_size = given_size
    sets = [ItemSet(np.diag(part), phi=x.phi) for x, part in zip(X, np.split(eta, 2), strict=True)]
    expected = [m.log_prob([x], [Y])[0] for m, x, Y in zip(models, sets, ([1, 3], [0]), strict=True)]
    assert value == pytest.approx(2 * expected[0] + expected[1])
    for i, e in enumerate(1e-5 * np.eye(10)):
        slope = (data.evaluate(eta + e, every)[0] - data.evaluate(eta - e, every)[0]) / 2e-5
        assert slope == pytest.approx((2.0 if i < 5 else 1.0) * (data.chosen[i] - K[i]), abs=1e-6)


def test_what_no_linear_score_can_learn(xor):
    X, y, model = xor
    held, chosen = draw_xor(200, 2)
    linear = ConditionalDPP(nugget=0.3).fit(X, y)
    signs = np.concatenate([np.sign(x.features[:, 1] * x.features[:, 2]) for x in held])
    learned = np.concatenate([model.quality_.log_q(x) for x in held])
    truth = np.exp(-1.5 / 2 + signs)
    assert np.corrcoef(learned, signs)[0, 1] > 0.85
    assert np.corrcoef(np.concatenate([linear.quality_.log_q(x) for x in held]), signs)[0, 1] < 0.3
    low, found = linear.score(held, chosen), model.score(held, chosen)
    best = np.mean(
        [
            DPP.from_quality(q, x.similarity_matrix(nugget=0.3)).log_prob(Y)
            for x, Y, q in zip(held, chosen, np.split(truth, 200), strict=True)
        ]
    )
    # Which sets are drawn depends on the version of LAPACK: what is asked is a share of what there is to learn.
    assert found - low > 0.75 * (best - low)
    assert model.log_likelihood_ / len(X) == pytest.approx(model.score(X, y))


def test_contributions_sum_to_log_q_and_importance(xor):
    X, _, model = xor
    added = model.quality_.contributions(X[0])
    np.testing.assert_allclose(added.sum(axis=1), 2 * model.quality_.log_q(X[0]))
    np.testing.assert_allclose(np.exp(model.quality_.log_q(X[0])), model.qualities(X[0]))
    assert model.quality_.names == ("constant", "1", "a", "b")
    every = np.concatenate([np.abs(model.quality_.contributions(x)[:, 1:]) for x in X])
    np.testing.assert_allclose(model.quality_.importance, every.mean(axis=0))
    shown = str(model.summary())
    assert f"{model.n_iter_} trees" in shown
    assert shown.index("\n1 ") > shown.index("\na ")  # the constant column moves nothing
    assert model.covariance_ is None
    with pytest.raises(AttributeError, match="no weights theta"):
        _ = model.theta_


def test_the_same_seed_gives_the_same_model(xor, tmp_path):
    X, y, model = xor
    assert clone(model).fit(X, y).quality_.model == model.quality_.model
    assert clone(model).set_params(random_state=3).fit(X, y).n_iter_ > 0
    save_shard(tmp_path / "a.npz", X, y)
    with pytest.raises(TypeError, match="in memory"):
        clone(model).fit([tmp_path / "a.npz"])


def test_where_nothing_is_to_be_split_there_are_no_trees(xor, rng):
    X = [ItemSet(np.ones((12, 1)), phi=rng.standard_normal((12, 4))) for _ in range(40)]
    y = [DPP(0.3 * np.eye(12)).sample(1, rng=rng)[0] for _ in X]
    with pytest.warns(UserWarning, match="the quality is a constant") as caught:
        model = ConditionalDPP(quality="boosted", nugget=0.9).fit(X, y)
    assert caught[0].filename == __file__  # the line that asked for the fit
    assert np.ptp(model.quality_.eta(X[0])) == 0.0
    few = ConditionalDPP(quality={"n_estimators": 4}, nugget=0.9).fit(xor[0][:1], xor[1][:1])  # nothing to hold out
    assert few.n_iter_ <= 4


def test_parameters_of_lightgbm(xor):
    X, y, _ = xor
    with pytest.warns(UserWarning, match="still gain from more trees than n_estimators=6"):
        model = ConditionalDPP(quality={"n_estimators": 6, "max_depth": 2}, nugget=0.3).fit(X, y)
    assert model.n_iter_ == 6
    assert all(tree["num_leaves"] <= 4 for tree in model.quality_.booster.dump_model()["tree_info"])


def test_trees_on_categories_and_unknown_values(tmp_path):
    X, y = table(150)
    model = ConditionalDPP(quality={"max_depth": 3}, nugget=0.3).fit(X, y)
    assert model.quality_.names == ("constant", "genre", "tempo", "explicit", "length")
    assert '"decision_type": "=="' in json.dumps(model.quality_.booster.dump_model())
    model.save(tmp_path / "m.json")
    again = ConditionalDPP.load(tmp_path / "m.json")
    for x in X[:5]:
        np.testing.assert_array_equal(again.qualities(x), model.qualities(x))
    assert again.get_params()["quality"] == {"max_depth": 3}
    new = playlists(3, seed=8)
    new["genre"] = ["zydeco"] * len(new["genre"])
    with pytest.warns(UserWarning, match="zydeco"):
        [x, *_] = ItemSet.from_long(new, group="playlist", encoding=again.encoding_)
    assert np.isfinite(again.qualities(x)).all()
    bare = ItemSet(X[0].features, phi=X[0].phi, names=X[0].names)
    with pytest.raises(ValueError, match=r"grown on 4 columns .* encoding=model\.encoding_"):
        model.qualities(bare)


@pytest.mark.parametrize("given_size", [False, True])
@pytest.mark.filterwarnings("ignore:.*starts end", "ignore:The learned similarity", "ignore:Held-out instances")
def test_on_top_of_a_mixture(given_size):
    X, y = table(25)
    options = {"similarity": "mixture", "given_size": given_size}
    model = ConditionalDPP(quality={"n_estimators": 3}, **options).fit(X, y)
    linear = ConditionalDPP(**options).fit(X, y)
    assert model.similarity_ == linear.similarity_
    assert np.isfinite(model.log_prob(X, y)).all()
    assert model.predict(X[:1], k=3)[0].size == 3


def test_sample_weight_counts(xor):
    X, y, _ = xor
    weight = np.r_[np.full(20, 2.0), np.ones(20), np.zeros(80)]
    a, b = (
        Instances(training_data(*data), Fixed(0.0, 0.3), False)
        for data in ((X, y, weight), ([*X[:20], *X[:40]], [*y[:20], *y[:40]], None))
    )
    assert a.base() == pytest.approx(b.base())
    assert {len(np.unique(np.array(fold))) for fold in b.folds(0)} == {2}
    for held in b.folds(0):  # the same items are never on both sides
        assert (held[:20] == held[20:40]).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"base": "x"}, "base"),
        ({"columns": "a"}, "columns"),
        ({"n_features": "3"}, "not as they were written"),
        ({"model": "tree"}, "not as they were written"),
        ({"model": None}, "not as they were written"),
        ({"importance": [1.0]}, "importance"),
    ],
)
def test_files_that_hold_no_trees(change, message, xor, tmp_path):
    xor[2].save(tmp_path / "m.json")
    data = json.loads((tmp_path / "m.json").read_text())
    data["quality"] |= change
    (tmp_path / "m.json").write_text(json.dumps(data))
    with pytest.raises(ValueError, match=message):
        ConditionalDPP.load(tmp_path / "m.json")


def test_bad_options(xor, monkeypatch):
    X, y = xor[0][:3], xor[1][:3]
    for options, message in (
        ({"quality": "forest"}, "quality"),
        ({"quality": "boosted", "random_state": -1}, "random_state"),
        ({"quality": "boosted", "prior_variance": [1.0, 2.0, 3.0]}, "prior_variance"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            ConditionalDPP(**options).fit(X, y)
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(ImportError, match=r'pip install "dpplearn\[trees\]"'):
        ConditionalDPP(quality="boosted", nugget=0.3).fit(X, y)
