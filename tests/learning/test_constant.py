"""The constant that sets how many items are chosen: it is in unless `constant=False`, and signs are then right."""

import warnings

import numpy as np
import pytest

from brute import pmf
from dpplearn import DPP, ConditionalDPP, ItemSet
from dpplearn.learning import load_shard, save_shard

TRUTH = 0.6  # for each standard deviation


def people(seed, mean=50.0, deviation=10.0, missing=0.0, T=40, n=10):
    """A table of people of whom some were invited: those with many papers, and not many of one field."""
    rng = np.random.default_rng(seed)
    table = {"panel": np.repeat(np.arange(T), n), "pubs": [], "field": [], "only": ["x"] * (T * n), "invited": []}
    for _ in range(T):
        z, field = rng.standard_normal(n), rng.choice(list("abcd"), n)
        S = 0.6 * (field[:, None] == field) + 0.4 * np.eye(n)
        Y = DPP.from_quality(np.exp((TRUTH * z - 1.5) / 2), S).sample(1, rng=rng)[0]
        table["pubs"] += np.where(rng.random(n) < missing, np.nan, mean + deviation * z).tolist()
        table["field"] += field.tolist()
        table["invited"] += np.isin(np.arange(n), Y).tolist()
    return table


def read(table, features=("pubs",), phi=("field",), **options):
    return ItemSet.from_long(table, group="panel", features=features, phi=phi, chosen="invited", **options)


@pytest.mark.parametrize(
    ("mean", "deviation", "missing"), [(0.0, 1.0, 0.0), (50.0, 10.0, 0.2), (2000.0, 5.0, 0.0), (1.7e9, 1000.0, 0.0)]
)
def test_the_sign_is_right_whatever_the_mean(mean, deviation, missing):
    """Without a constant all of these were negative but the first; with a prior on it, years and seconds were too."""
    z = []
    for seed in range(4):
        table = people(seed, mean, deviation, missing)
        model = ConditionalDPP(nugget=0.4).fit(*read(table))
        assert model.feature_names_in_[:2].tolist() == ["constant", "pubs"]
        assert model.theta_[1] > 0
        z.append((model.theta_[1] - TRUTH / deviation) / model.theta_std_[1])
    assert np.sqrt(np.mean(np.square(z))) < 1.5


def test_the_model_adds_one_to_arrays_unless_they_span_one():
    bare, y = read(people(0))
    X = [ItemSet(np.column_stack([np.ones(x.n), x.features]), phi=x.phi) for x in bare]
    with_column = ConditionalDPP([1e9, 1.0], nugget=0.4).fit(X, y)
    added = ConditionalDPP(nugget=0.4).fit(bare, y)
    assert added.feature_names_in_.tolist() == ["constant", "pubs"]
    assert (added.n_features_in_, added.theta_.shape, added.covariance_.shape) == (1, (2,), (2, 2))
    np.testing.assert_allclose(added.theta_, with_column.theta_, rtol=0.01)  # a wide prior is nearly none
    np.testing.assert_allclose(added.theta_std_, with_column.theta_std_, rtol=0.01)
    np.testing.assert_allclose(np.sqrt(added.covariance_.diagonal()), added.theta_std_, rtol=1e-9)
    np.testing.assert_allclose(added.marginals(bare[0]), with_column.marginals(X[0]), atol=1e-3)
    spans = [
        ItemSet(np.column_stack([a := x.features[:, 0] > 50, ~a]).astype(float), phi=x.phi) for x in bare
    ]  # they sum to 1
    assert ConditionalDPP(nugget=0.4).fit(spans, y).feature_names_in_.tolist() == ["x0", "x1"]
    named = [ItemSet(x.features, phi=x.phi, names=["constant"]) for x in bare]
    assert ConditionalDPP(nugget=0.4).fit(named, y).feature_names_in_.tolist() == ["added constant", "constant"]
    assert ConditionalDPP(nugget=0.4, given_size=True).fit(bare, y).feature_names_in_.tolist() == ["pubs"]


def test_what_is_learned_is_the_maximum(rng):
    """Against the posterior from its definition: log P by enumeration, and the prior on the average item."""
    X = [ItemSet(rng.standard_normal((5, 1)) + 3, phi=rng.standard_normal((5, 6))) for _ in range(6)]
    y = [np.flatnonzero(rng.random(5) < 0.4) for _ in X]
    mean = np.concatenate([x.features for x in X]).mean()

    def log_posterior(theta):
        value = -(theta[1] ** 2) / (2 * 2.0) - (theta[0] + mean * theta[1]) ** 2 / (2 * 100.0)
        for x, Y in zip(X, y, strict=True):
            q = np.exp((theta[0] + x.features[:, 0] * theta[1]) / 2)
            value += np.log(pmf(q[:, None] * x.similarity_matrix() * q)[tuple(Y.tolist())])
        return value

    best = ConditionalDPP(2.0, tol=1e-10).fit(X, y)
    h = 1e-4 * np.eye(2)
    slopes = [(log_posterior(best.theta_ + e) - log_posterior(best.theta_ - e)) / 2e-4 for e in h]
    np.testing.assert_allclose(slopes, 0.0, atol=1e-6)
    bend = (
        log_posterior(best.theta_ + h[0]) + log_posterior(best.theta_ - h[0]) - 2 * log_posterior(best.theta_)
    ) / 1e-8
    assert np.linalg.inv(best.covariance_)[0, 0] == pytest.approx(-bend, rel=1e-4)


@pytest.mark.parametrize("chosen", [False, True])
def test_none_or_all_chosen(chosen):
    """It is said, and the model stays finite: its prior keeps it."""
    table = people(0, missing=0.1) | {"invited": np.full(400, chosen)}
    X, y = read(table, features=["pubs", "field"])
    with pytest.warns(UserWarning, match="nothing tells a good item from a bad one"):
        model = ConditionalDPP(nugget=0.4).fit(X, y)
    assert model.converged_
    assert np.isfinite(model.theta_std_).all()
    assert abs(model.theta_[1]) < 0.05


@pytest.mark.parametrize("size", [1e101, 1e160, 1e300])
@pytest.mark.parametrize("options", [{}, {"given_size": True}])
def test_features_too_large_are_refused(size, options, rng):
    X = [ItemSet(np.column_stack([rng.random(4), size * rng.random(4)]), phi=np.eye(4), names=["a", "b"])]
    with pytest.raises(ValueError, match=r"Feature 'b' has values up to .*above 1e\+100.*Divide"):
        ConditionalDPP(**options).fit(X, [[0, 1]])


def test_items_that_nothing_makes_alike_are_independent(tmp_path):
    """A logistic regression: P(i) = q_i^2 / (1 + q_i^2), each item by itself."""
    table = people(2)
    X, y = read(table, phi=None)
    assert repr(X[0]) == "<ItemSet of 10 items with 1 features, independent of each other>"
    np.testing.assert_array_equal(X[0].similarity_matrix(), np.eye(10))
    model = ConditionalDPP().fit(X, y)
    odds = np.exp(model.theta_[0] + X[0].features @ model.theta_[1:])
    np.testing.assert_allclose(model.marginals(X[0]), odds / (1 + odds))
    assert "similarity: none, items are independent of each other" in str(model.summary())
    model.save(tmp_path / "m.json")
    [new, *_] = ItemSet.from_long(table, group="panel", encoding=ConditionalDPP.load(tmp_path / "m.json").encoding_)
    np.testing.assert_array_equal(new.features, X[0].features)
    save_shard(tmp_path / "a.npz", X, y)
    assert load_shard(tmp_path / "a.npz").item_sets[0].part_names == ("independent",)
    np.testing.assert_allclose(ConditionalDPP().fit([tmp_path / "a.npz"]).theta_, model.theta_, atol=1e-9)
    with pytest.raises(ValueError, match="learns what makes items alike, and these item sets have neither phi nor"):
        ConditionalDPP(similarity="mixture").fit(X, y)


def test_numbers_in_phi_count_by_distance():
    """Not by their sign: the similarity falls with the distance, in new data by the deviation of training."""
    x = np.array([1.0, 2.0, 4.0, 9.0, np.nan, np.nan])
    sigma = np.nanstd(x)
    expected = np.exp(-np.square(x[:, None] - x) / (2 * sigma**2))
    expected[np.isnan(expected)] = 0.0
    expected[4:, 4:] = 1.0  # unknown is a category
    [items] = ItemSet.from_long({"x": x}, group=None, features=["x"], phi=["x"])
    np.testing.assert_allclose(items.similarity_matrix(), expected, atol=1e-7)
    [new] = ItemSet.from_long({"x": [1.0, 1.0 + sigma, 1e9, -1e9]}, group=None, encoding=items.encoding)
    np.testing.assert_allclose(new.similarity_matrix()[0], [1, np.exp(-0.5), 0, 0], atol=1e-7)
    table = people(3, mean=0.0)
    X, _ = read(table, phi={"field": ["field"], "pubs": ["pubs"]})
    assert min(part.cosines().min() for x in X for part in x.parts) > -1e-7
    rng, dpp = (
        np.random.default_rng(0),
        lambda x: DPP.from_quality(np.full(10, 0.8), 0.9 * x.parts_named(("pubs",))[0].cosines() + 0.1 * np.eye(10)),
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The learned similarity")
        model = ConditionalDPP(similarity="mixture").fit(X * 3, [dpp(x).sample(1, rng=rng)[0] for x in X * 3])
    assert model.similarity_.weights["pubs"] > 0.6


def test_texts_that_are_no_categories_and_the_label_itself_are_refused():
    prices = [f"{price / 100:.2f} EUR" for price in range(900, 1100)]
    table = {"group": [k // 10 for k in range(200)], "price": prices, "y": [k % 10 == 0 for k in range(200)]}
    with pytest.raises(ValueError, match=r"'price' has 200 different texts in 200 rows, such as '10.00 EUR'"):
        ItemSet.from_long(table, group="group", features=["price"], chosen="y")
    with pytest.raises(ValueError, match=r"'y' says which items were chosen: leave it out of features"):
        ItemSet.from_long(table, group="group", features=["y"], chosen="y")
