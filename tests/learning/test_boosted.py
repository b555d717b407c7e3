"""Quality by boosted trees: splits against enumeration, slopes against differences, what trees can learn and keep."""

import json
from itertools import combinations

import numpy as np
import pytest
from sklearn.base import clone

from dpplearn import DPP, ConditionalDPP, ItemSet
from dpplearn.learning import save_shard
from dpplearn.learning._tree_loops import UNKNOWN, best_split, histograms, sum_paths, sum_trees
from dpplearn.learning.growing import Binned, Growth, cuts, grow
from dpplearn.learning.likelihood import Instance, LikelihoodRequest
from dpplearn.learning.quality import LogLinear
from dpplearn.learning.similarity import Fixed
from playlists import playlists

RIDGE, LEAST = 0.7, 1.0


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


def gain_of(g, h, left):
    def part(rows):
        return g[rows].sum() ** 2 / (h[rows].sum() + RIDGE)

    if h[left].sum() < LEAST or h[~left].sum() < LEAST:
        return 0.0
    return 0.5 * (part(left) + part(~left) - part(np.ones(g.size, bool)))


@pytest.mark.parametrize("seed", range(5))
def test_the_best_split_by_enumeration(seed):
    """Of numbers every threshold with unknowns on either side, of categories every bipartition of what occurs."""
    rng = np.random.default_rng(seed)
    n = 80
    raw = np.column_stack([rng.integers(0, 9, n) / 4, rng.integers(0, 5, n)]).astype(float)
    raw[rng.random((n, 2)) < 0.15] = np.nan
    g, h = rng.standard_normal(n), 0.05 + 0.2 * rng.random(n)
    h[:] = h.mean()  # with equal curvatures, the order of the means is that of the best cut
    truth = 0.0
    for t in np.unique(raw[~np.isnan(raw[:, 0]), 0]):
        for side in (False, True):
            truth = max(truth, gain_of(g, h, np.where(np.isnan(raw[:, 0]), side, raw[:, 0] <= t)))
    codes = np.where(np.isnan(raw[:, 1]), UNKNOWN, raw[:, 1])
    kinds = np.unique(codes)
    for size in range(1, kinds.size):
        for some in combinations(kinds, size):
            truth = max(truth, gain_of(g, h, np.isin(codes, some)))
    binned = Binned.of(raw, np.array([0, 5]))
    sums = histograms(binned.bins, np.zeros(n, np.int64), g, h, 1)
    gain, column, left = best_split(sums[0], binned.is_category, RIDGE, LEAST)
    went = left[binned.bins[:, column]]
    assert gain == pytest.approx(gain_of(g, h, went))
    # categories are cut in the order of G / (H + 1), which shrinks rare ones: never better than all bipartitions
    assert gain <= truth + 1e-9
    assert gain >= 0.97 * truth


def test_a_tree_on_raw_columns_is_the_one_on_bins():
    """Values of leaves are Newton steps of their items; unknown values and levels go where they went in training."""
    rng = np.random.default_rng(0)
    raw = np.column_stack([rng.standard_normal(500), rng.integers(0, 6, 500)])
    raw[rng.random((500, 2)) < 0.1] = np.nan
    g, h = rng.standard_normal(500) + (raw[:, 0] > 0.3), rng.random(500)
    binned = Binned.of(raw, np.array([0, 6]))
    tree = grow(binned, g, h, Growth(3, RIDGE, 0.1))
    value = sum_trees(raw, tree)
    for leaf in np.unique(value):
        rows = value == leaf
        assert leaf == pytest.approx(0.1 * g[rows].sum() / (h[rows].sum() + RIDGE))
    assert 2 < np.unique(value).size <= 8
    added = sum_paths(raw, tree)
    np.testing.assert_allclose(added.sum(axis=1), value)
    np.testing.assert_allclose(added[:, 0], tree.value[0])
    assert grow(binned, np.zeros(500), h, Growth(3, RIDGE, 0.1)) is None
    assert grow(binned, g, 1e-3 * h, Growth(3, RIDGE, 0.1)) is None  # no leaf would have enough to say


def test_bins_of_numbers():
    np.testing.assert_allclose(cuts(np.array([3.0, 1.0, 1.0, 2.0])), [1.5, 2.5])
    assert cuts(np.array([2.0, 2.0])).size == 0
    many = cuts(np.random.default_rng(0).standard_normal(5000))
    assert many.size == UNKNOWN - 2
    close = np.array([1.0, np.nextafter(1.0, 2.0)])
    assert cuts(close)[0] < close[1]
    sizes = np.diff(np.searchsorted(np.sort(np.random.default_rng(0).standard_normal(5000)), many))
    assert sizes.max() <= 2 * 5000 / 253


@pytest.mark.parametrize("nugget", [0.0, 0.3])
def test_slopes_and_curvatures_of_items(nugget, rng):
    """Against differences of the value in each eta_i."""
    items = ItemSet(np.eye(5), phi=rng.standard_normal((5, 6)))
    theta, Y, S = rng.standard_normal(5), np.array([1, 3]), Fixed(0.2, nugget)
    example = Instance(items, [Y], [1.0], S)

    def value(theta):
        return example.evaluate(LikelihoodRequest(LogLinear(theta), S, 1)).value

    found = example.evaluate(LikelihoodRequest(LogLinear(theta), S, 1, per_item=True)).items
    assert found.values[0] == value(theta)
    for i, e in enumerate(1e-4 * np.eye(5)):
        up, here, down = value(theta + e), value(theta), value(theta - e)
        assert found.slope[i] == pytest.approx((up - down) / 2e-4, abs=1e-7)
        assert found.curvature[i] == pytest.approx(-(up - 2 * here + down) / 1e-8, abs=1e-5)


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
    assert found > low + 2.5
    best = np.mean(
        [
            DPP.from_quality(q, x.similarity_matrix(nugget=0.3)).log_prob(Y)
            for x, Y, q in zip(held, chosen, np.split(truth, 200), strict=True)
        ]
    )
    # Which sets are drawn depends on the version of LAPACK: what is asked is a share of what there is to learn.
    assert found - low > 0.75 * (best - low)


def test_contributions_sum_to_log_q_and_importance(xor):
    X, _, model = xor
    added = model.quality_.contributions(X[0])
    np.testing.assert_allclose(added.sum(axis=1), 2 * model.quality_.log_q(X[0]))
    np.testing.assert_allclose(np.exp(model.quality_.log_q(X[0])), model.qualities(X[0]))
    assert model.quality_.names == ("constant", "1", "a", "b")
    means = np.array([np.abs(model.quality_.contributions(x)[:, 1:]).mean(axis=0) for x in X])
    np.testing.assert_allclose(model.quality_.importance, means.mean(axis=0))
    np.testing.assert_allclose(model.quality_.spread, means.std(axis=0))
    shown = str(model.summary())
    assert "trees" in shown
    assert shown.index("\n1 ") > shown.index("\na ")  # the constant column moves nothing
    with pytest.raises(AttributeError, match="no weights theta"):
        _ = model.theta_


def test_trees_have_no_covariance_of_weights(xor):
    assert xor[2].covariance_ is None


def test_predictions_and_kernels(xor):
    X, _, model = xor
    q = model.qualities(X[0])
    np.testing.assert_allclose(model.dpp(X[0]).L, q[:, None] * X[0].similarity_matrix(nugget=0.3) * q)
    np.testing.assert_allclose(model.marginals(X[0]), model.dpp(X[0]).marginals, atol=1e-8)
    assert model.predict(X[:2], k=3)[0].size == 3


def test_the_same_seed_gives_the_same_model_wherever_it_is_fitted(xor, tmp_path):
    X, y, model = xor
    again = clone(model).fit(X, y)
    two = clone(model).set_params(n_jobs=2).fit(X, y)
    save_shard(tmp_path / "a.npz", X[:70], y[:70])
    save_shard(tmp_path / "b.npz", X[70:], y[70:])
    files = clone(model).fit([tmp_path / "a.npz", tmp_path / "b.npz"])
    for other in (again, two, files):
        for a, b in zip(model.quality_.trees, other.quality_.trees, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)  # a root's step is a sum that cancels
        assert other.quality_.base == pytest.approx(model.quality_.base, rel=1e-9)
    assert clone(model).set_params(random_state=3).fit(X, y).quality_.n_trees > 0


def test_dask_gives_the_same_trees(xor):
    distributed = pytest.importorskip("distributed")
    X, y, model = xor
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        other = clone(model).set_params(backend=client, early_stopping=False, n_trees=3).fit(X, y)
    here = clone(model).set_params(early_stopping=False, n_trees=3).fit(X, y)
    np.testing.assert_allclose(other.quality_.trees.value, here.quality_.trees.value, rtol=1e-9)


def test_early_stopping(rng):
    """Noise asks for few trees or none; without stopping there are as many as are asked for."""
    X = [ItemSet(rng.standard_normal((12, 3)), phi=rng.standard_normal((12, 4))) for _ in range(40)]
    y = [DPP(0.3 * np.eye(12)).sample(1, rng=rng)[0] for _ in X]
    options = {"quality": "boosted", "nugget": 0.9, "n_trees": 30}
    assert ConditionalDPP(**options, early_stopping=False).fit(X, y).quality_.n_trees == 30
    with pytest.warns(UserWarning, match="the quality is a constant"):
        assert ConditionalDPP(**options).fit(X, y).quality_.n_trees == 0
    assert ConditionalDPP(quality="boosted", nugget=0.9, n_trees=4).fit(X[:1], y[:1]).n_iter_ <= 4  # none to hold out


def test_trees_on_categories_and_unknown_values(tmp_path):
    X, y = table(150)
    model = ConditionalDPP(quality="boosted", nugget=0.3, depth=3).fit(X, y)
    assert model.quality_.names == ("constant", "genre", "tempo", "explicit", "length")
    assert (model.quality_.trees.category >= 0).any()
    model.save(tmp_path / "m.json")
    again = ConditionalDPP.load(tmp_path / "m.json")
    for x in X[:5]:
        np.testing.assert_array_equal(again.qualities(x), model.qualities(x))
    assert again.get_params()["quality"] == "boosted"
    new = playlists(3, seed=8)
    new["genre"] = ["zydeco"] * len(new["genre"])
    with pytest.warns(UserWarning, match="zydeco"):
        [x, *_] = ItemSet.from_long(new, group="playlist", encoding=again.encoding_)
    assert np.isfinite(again.qualities(x)).all()
    bare = ItemSet(X[0].features, phi=X[0].phi, names=X[0].names)
    with pytest.raises(ValueError, match=r"grown on 4 columns .* encoding=model\.encoding_"):
        model.qualities(bare)


@pytest.mark.parametrize("given_size", [False, True])
@pytest.mark.filterwarnings("ignore:.*starts end", "ignore:The learned similarity")
def test_on_top_of_a_mixture(given_size):
    X, y = table(25)
    options = {"similarity": "mixture", "n_starts": 1, "given_size": given_size}
    model = ConditionalDPP(quality="boosted", n_trees=3, early_stopping=False, **options).fit(X, y)
    assert sum(model.similarity_.weights.values()) == pytest.approx(1.0)
    assert model.quality_.n_trees == 3
    assert np.isfinite(model.log_prob(X, y)).all()
    assert model.predict(X[:1], k=3)[0].size == 3


def test_sample_weight_counts(xor):
    X, y, _ = xor
    X = [ItemSet(x.features.round(1), phi=x.phi) for x in X]  # few values: bins are those, whatever they count
    weight = np.r_[np.full(20, 2.0), np.ones(20), np.zeros(80)]
    options = {"quality": "boosted", "nugget": 0.3, "early_stopping": False, "n_trees": 5}
    a = ConditionalDPP(**options).fit(X, y, weight)
    b = ConditionalDPP(**options).fit([*X[:20], *X[:40]], [*y[:20], *y[:40]])
    np.testing.assert_allclose(a.quality_.eta(X[0]), b.quality_.eta(X[0]), rtol=1e-8)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"base": "inf"}, "base"),
        ({"columns": "a"}, "columns"),
        ({"n_features": 0}, "n_features"),
        ({"trees.child": "short"}, "child"),
        ({"trees.child": "loop"}, "child"),
        ({"trees.column": "wide"}, "column"),
        ({"trees.root": [10**9]}, "root"),
        ({"trees.left": 3}, "left"),
        ({"trees.unknown_left": [1]}, "unknown_left"),
        ({"trees.value": "nan"}, "value"),
        ({"trees": {}}, "trees"),
    ],
)
def test_files_that_hold_no_trees(change, message, xor, tmp_path):
    xor[2].save(tmp_path / "m.json")
    data = json.loads((tmp_path / "m.json").read_text())
    record = data["quality"]
    [(place, value)] = change.items()
    *outer, last = place.split(".")
    into = record[outer[0]] if outer else record
    old = into[last]
    edits = {
        "short": lambda: old[:-1],
        "loop": lambda: [0, *old[1:]],
        "wide": lambda: [99, *old[1:]],
        "nan": lambda: ["nan", *old[1:]],
    }
    into[last] = edits[value]() if isinstance(value, str) and value in edits else value
    (tmp_path / "m.json").write_text(json.dumps(data))
    with pytest.raises(ValueError, match=message):
        ConditionalDPP.load(tmp_path / "m.json")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"quality": "forest"}, "quality"),
        ({"n_trees": 0}, "n_trees"),
        ({"depth": 0}, "depth"),
        ({"depth": 99}, "depth"),
        ({"learning_rate": 0}, "learning_rate"),
        ({"learning_rate": "fast"}, "learning_rate"),
        ({"random_state": -1}, "random_state"),
        ({"warm_start": True}, "warm_start"),
        ({"checkpoint": "a.json"}, "checkpoint"),
        ({"prior_variance": [1.0, 2.0, 3.0]}, "prior_variance"),
    ],
)
def test_bad_options(options, message, xor):
    with pytest.raises((TypeError, ValueError), match=message):
        ConditionalDPP(**{"quality": "boosted", **options}).fit(xor[0][:3], xor[1][:3])
