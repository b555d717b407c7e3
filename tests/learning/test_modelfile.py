"""Model files: exact to the bit, and clear about what is wrong with one."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brute_learning import training_set
from dpplearn._io.jsonfile import numbers, plain
from dpplearn.learning import ConditionalDPP, ConditionalDPPCV, ItemSet
from dpplearn.learning.likelihood import LogLinear
from dpplearn.learning.similarity import fixed_similarity


@pytest.fixture(scope="module")
def data():
    return training_set(20, 6, [-1.0, 0.8], np.random.default_rng(1), names=["constant", "größe"])


def attributes(model):
    found = {k: v for k, v in vars(model).items() if k.endswith("_")}
    quality = found.pop("quality_")
    return {**found, "theta_": quality.theta, "names": quality.names}


@pytest.mark.parametrize("variance", [1 / 3, np.array([np.inf, 0.1]), None, np.inf])
def test_round_trip_is_exact(variance, data, tmp_path):
    model = ConditionalDPP(variance, rho=0.1).fit(*data)
    model.save(tmp_path / "model.json")
    loaded = ConditionalDPP.load(tmp_path / "model.json")
    before, after = attributes(model), attributes(loaded)
    assert before.keys() == after.keys()
    for name, value in before.items():
        np.testing.assert_array_equal(after[name], value)  # to the bit
        assert type(after[name]) is type(value), name
    np.testing.assert_array_equal(np.asarray(loaded.prior_variance, float), np.asarray(variance, float))
    assert loaded.tol == model.tol
    np.testing.assert_array_equal(loaded.marginals(data[0][0]), model.marginals(data[0][0]))
    assert json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))["feature_names"] == ["constant", "größe"]
    assert [path.name for path in tmp_path.iterdir()] == ["model.json"]  # nothing temporary is left


def test_a_loaded_model_can_be_fitted_again(data, tmp_path):
    """Its parameters are those of the model that was saved, also where 1 for true was passed."""
    model = ConditionalDPP(rho=0.3, nugget=0.1, constant=1).fit(*data)
    model.save(tmp_path / "model.json")
    loaded = ConditionalDPP.load(tmp_path / "model.json")
    assert loaded.fit(*data).similarity_ == model.similarity_ == fixed_similarity(0.3, 0.1)
    np.testing.assert_array_equal(loaded.theta_, model.theta_)


@given(st.lists(st.floats(), min_size=1, max_size=5))
def test_every_float_survives(values):
    array = np.array(values)
    back = numbers(json.loads(json.dumps(plain(array), allow_nan=False)), "x", "file")
    np.testing.assert_array_equal(back, array)
    np.testing.assert_array_equal(np.signbit(back[~np.isnan(array)]), np.signbit(array[~np.isnan(array)]))


def test_best_model_of_a_search_is_saved(data, tmp_path):
    search = ConditionalDPPCV(param_grid={"prior_variance": [0.1, 1.0]}, cv=2, progress=False).fit(*data)
    search.save(tmp_path / "best.json")
    loaded = ConditionalDPP.load(tmp_path / "best.json")
    np.testing.assert_array_equal(loaded.theta_, search.theta_)
    assert loaded.prior_variance == search.best_params_["prior_variance"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 8}, "has version 8, and this dpplearn reads 7. Update dpplearn"),
        ({"version": 6}, "has version 6, and this dpplearn reads 7. Update dpplearn, or make the file again"),
        ({"version": "7"}, "has version '7', and this dpplearn reads 7"),
        ({"format": "something else"}, "found 'something else'"),
        ({"quality": None}, "is not that of a model"),
        ({"similarity": {"kind": "other"}}, "has no 'names'"),
        ({"w": [0.5, 1.0, -0.5]}, "3 weights, positive numbers that sum to 1"),
        ({"nugget": 1.5}, "nugget must lie between 0 and 1"),
        ({"theta": None}, "theta in .* must be a list of numbers"),
        ({"theta": [1.0, "two"]}, r"theta\[1\] in .* must be a number, found 'two'"),
        ({"theta": [1.0, True]}, r"theta\[1\] in .* must be a number"),
        ({"theta": [1.0]}, "names must have one entry per feature .1., found 2"),
        ({"theta": [1.0, "nan"]}, "only finite ones"),
        ({"theta_std": [1.0]}, "theta_std in .* must have 2 entries, found 1"),
        ({"feature_names": ["a", 1]}, "names must be a sequence of 2 strings"),
        ({"feature_names": ["a", "a"]}, "more than once"),
        ({"n_iter": 1.5}, "n_iter in .* must be a whole number"),
        ({"rho": -1.0}, "rho must lie between 0 and 1e"),
        ({"params": {}}, "params must be an object with exactly"),
        ({"log_likelihood": [1]}, "log_likelihood in .* must be a number"),
        ({"version": 0}, "has version 0, and"),
        ({"theta": [10**400, 1.0]}, r"theta\[0\] in .* no float holds"),
        ({"theta_std": ["nan", 1.0]}, "theta_std must .* none negative"),
        ({"theta_std": [-1.0, 1.0]}, "theta_std must .* none negative"),
        ({"n_iter": -5}, "n_iter in .* not negative, found -5"),
        ({"on_impossible": "foo"}, "model.json .* on_impossible must be one of"),
        ({"max_iter": True}, "max_iter must be a whole number, found True"),
        ({"prior_variance": -1.0}, "model.json .* prior_variance must be positive"),
        ({"prior_variance": [1.0, 2.0, 3.0]}, r"one entry per feature \(2\)"),
        ({"tol": 0}, "model.json .* tol must be"),
    ],
)
def test_bad_files(change, message, data, tmp_path):
    path = tmp_path / "model.json"
    ConditionalDPP().fit(*data).save(path)
    content = json.loads(path.read_text())
    for key, value in change.items():
        params = content["params"] if key not in ("similarity", "quality") else {}
        homes = (params, content["quality"], content["similarity"])
        next((home for home in homes if isinstance(home, dict) and key in home), content)[key] = value
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match=message):
        ConditionalDPP.load(path)


def test_standard_errors_may_be_unknown(data, tmp_path):
    """As those of weights that were given and not learned."""
    path = tmp_path / "model.json"
    model = ConditionalDPP().fit(*data)
    model.theta_std_ = np.full(2, np.nan)
    model.save(path)
    assert np.isnan(ConditionalDPP.load(path).theta_std_).all()


@pytest.mark.parametrize("key", ["quality", "theta_std", "params", "feature_names", "similarity"])
def test_missing_entries(key, data, tmp_path):
    path = tmp_path / "model.json"
    ConditionalDPP().fit(*data).save(path)
    content = json.loads(path.read_text())
    del content[key]
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match=f"has no '{key}'"):
        ConditionalDPP.load(path)


@pytest.mark.parametrize("keep", [0, 1, 40, -3])
def test_truncated_files(keep, data, tmp_path):
    path = tmp_path / "model.json"
    ConditionalDPP().fit(*data).save(path)
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(ValueError, match="or was cut short"):
        ConditionalDPP.load(path)


def test_a_failed_save_leaves_the_old_file(data, tmp_path):
    path = tmp_path / "model.json"
    model = ConditionalDPP().fit(*data)
    model.save(path)
    before = path.read_bytes()
    model.quality_ = LogLinear(np.array([object()]))
    with pytest.raises(TypeError):
        model.save(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["model.json"]


def test_the_covariance_of_the_weights_is_kept(tmp_path, rng):
    """Its diagonal has the squares of the standard errors; a file may lack it, but not have half of it."""
    X = [ItemSet(rng.normal(size=(6, 3)), phi=rng.normal(size=(6, 4))) for _ in range(8)]
    model, path = ConditionalDPP().fit(X, [[0, 1]] * 8), tmp_path / "m.json"
    np.testing.assert_allclose(np.sqrt(model.covariance_.diagonal()), model.theta_std_)
    assert not np.allclose(model.covariance_, np.diag(model.covariance_.diagonal()))
    model.save(path)
    np.testing.assert_array_equal(ConditionalDPP.load(path).covariance_, model.covariance_)
    data = json.loads(path.read_text())
    path.write_text(json.dumps({**data, "covariance": data["covariance"][:2]}))
    with pytest.raises(ValueError, match=r"covariance .* must have a row for each of the 4 weights"):
        ConditionalDPP.load(path)
    del data["covariance"]
    path.write_text(json.dumps(data))
    assert ConditionalDPP.load(path).covariance_ is None
