"""Model files: exact to the bit, and clear about what is wrong with one."""

import json

import numpy as np
import pytest

from brute_learning import training_set
from dpplearn.learning import ConditionalDPP


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


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 8}, "has version 8, and this dpplearn reads 7. Update dpplearn"),
        ({"format": "something else"}, "found 'something else'"),
        ({"similarity": {"kind": "other"}}, "has no 'names'"),
        ({"w": [0.5, 1.0, -0.5]}, "3 weights, positive numbers that sum to 1"),
        ({"theta": None}, "theta in .* must be a list of numbers"),
        ({"theta": [1.0, "two"]}, r"theta\[1\] in .* must be a number, found 'two'"),
        ({"theta": [1.0]}, "names must have one entry per feature .1., found 2"),
        ({"feature_names": ["a", 1]}, "names must be a sequence of 2 strings"),
        ({"n_iter": 1.5}, "n_iter in .* must be a whole number"),
        ({"params": {}}, "params must be an object with exactly"),
        ({"theta_std": [-1.0, 1.0]}, "theta_std must .* none negative"),
        ({"on_impossible": "foo"}, "model.json .* on_impossible must be one of"),
        ({"prior_variance": -1.0}, "model.json .* prior_variance must be positive"),
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
