"""Files of KernelDPP: what is written is read back to the bit, and what is wrong is refused with its reason."""

import base64
import json

import numpy as np
import pytest

from dpplearn import KernelDPP

BASKETS = 20 * [["bib", "bottle"], ["cot"], ["pram", "bib", "towel"], []] + 5 * [["cot", "towel"], ["bottle"]]


@pytest.fixture(scope="module")
def model():
    return KernelDPP(nonsymmetric=True, alpha=0.5).fit(BASKETS)


@pytest.mark.parametrize("options", [{}, {"nonsymmetric": True}, {"rank": 3, "nonsymmetric": True}, {"rank": 3}])
def test_models_are_read_back_to_the_bit(options, tmp_path):
    model = KernelDPP(alpha=0.5, **options).fit(BASKETS)
    model.save(tmp_path / "model.json")
    again = KernelDPP.load(tmp_path / "model.json")
    assert np.array_equal(again.factors_.W, model.factors_.W)
    assert again.items_.tolist() == model.items_.tolist()
    assert type(again.dpp_) is type(model.dpp_)
    assert again.score(BASKETS) == model.score(BASKETS)
    assert again.recommend(["bib"], 2) == model.recommend(["bib"], 2)
    assert str(again.together()) == str(model.together())
    assert again.summary().tables == model.summary().tables
    assert (again.alpha_, again.n_empty_, again.n_iter_) == (0.5, 20, model.n_iter_)
    assert again.get_params()["rank"] == options.get("rank")
    assert np.allclose(again.fit(BASKETS).factors_.W, model.factors_.W, atol=1e-5)


HOSTILE = {
    "no factors": ({"W": None}, "W in"),
    "other columns": ({"skew_rank": 2}, "W in"),
    "an odd number of columns": ({"skew_rank": 3}, "No kernel"),
    "no items": ({"items": []}, "items in"),
    "items of two kinds": ({"items": ["a", 1, "b", "c", "d"]}, "items in"),
    "numbers no array holds": ({"items": [10**30, 1, 2, 3, 4]}, "64 bits"),
    "a later version": ({"version": 99}, "and this dpplearn reads 5"),
    "alpha as a text": ({"alpha": "a"}, "alpha in"),
    "pairs of two": ({"pairs": {"attract": [["a", "bib"]], "repel": []}}, "pairs in"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_files_that_are_wrong_are_refused(name, model, tmp_path):
    path, (change, message) = tmp_path / "model.json", HOSTILE[name]
    model.save(path)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(ValueError, match=message):
        KernelDPP.load(path)


@pytest.mark.parametrize("entry", [np.nan, np.inf, 1e200])
def test_factors_that_are_no_kernel_are_refused(entry, model, tmp_path):
    path = tmp_path / "model.json"
    model.save(path)
    W = base64.b64encode(np.full(model.factors_.W.shape, entry).tobytes()).decode()
    path.write_text(json.dumps(json.loads(path.read_text()) | {"W": W}))
    with pytest.raises(ValueError, match="too large"):
        KernelDPP.load(path)
