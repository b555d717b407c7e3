"""Files of summarizers: exact, of older versions, broken."""

import json

import numpy as np
import pytest

from dpplearn.summarize import Cluster, Summarizer


def variations():
    """Four small clusters cut from the example, each with a reference."""
    example = Cluster.example()
    return [Cluster(example.documents[k : k + 4], example.references[:2], id=f"part{k}") for k in range(4)]


@pytest.fixture(scope="module")
def trained():
    return Summarizer("paper", budget=60, unit="words", decoder="greedy").fit(variations())


def test_model_files_are_exact(trained, tmp_path):
    path = tmp_path / "model.json"
    trained.save(path)
    loaded = Summarizer.load(path)
    np.testing.assert_array_equal(loaded.theta_, trained.theta_)
    np.testing.assert_array_equal(loaded.theta_std_, trained.theta_std_)
    assert loaded.features_.idf == trained.features_.idf
    assert loaded.rho_ == trained.rho_
    assert loaded.summarize(Cluster.example()).text == trained.summarize(Cluster.example()).text
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()


def test_a_model_file_has_what_was_trained(tmp_path):
    """Whatever the arguments are by then; and without a prior, where standard errors may be infinite."""
    path = tmp_path / "model.json"
    with pytest.warns(UserWarning, match="finite prior_variance"):
        fitted = Summarizer("paper", budget=60, unit="words", prior_variance=None, decoder="greedy").fit(variations())
    assert np.isinf(fitted.theta_std_).any()
    fitted.set_params(features="general", language="greek", rho=0.9).save(path)
    loaded = Summarizer.load(path)
    assert (loaded.features, loaded.language, loaded.language_, loaded.rho_) == ("paper", None, None, 0.3)
    np.testing.assert_array_equal(loaded.theta_std_, fitted.theta_std_)
    assert loaded.summarize(Cluster.example()).text == fitted.summarize(Cluster.example()).text


def test_the_model_inside_knows_no_words_and_every_weight_says_something():
    model = Summarizer.load()
    assert model.features == "general"
    assert not model.features_.idf.counts
    assert (np.abs(model.theta_) > 2.0 * model.theta_std_).all()
    assert set(model.training_["corpora"]) == {"news", "papers", "reviews"}
    summary = model.summarize(Cluster.example(), 100, "words")
    for told in ("found cracks in the spillway", "killed two people and drove 6,200", "damage of about 220 million"):
        assert told in summary.text  # why, how many died and had to leave, and what it cost
    assert 80 <= summary.length <= 100


def test_broken_model_files(trained, tmp_path):
    path = tmp_path / "model.json"
    trained.save(path)
    whole = json.loads(path.read_text())
    with pytest.raises(FileNotFoundError, match="no file"):
        Summarizer.load(tmp_path / "none.json")
    path.write_text(path.read_text()[:500])
    with pytest.raises(ValueError, match="cut short"):
        Summarizer.load(path)
    breakages = {
        "Update dpplearn": {"version": 99},
        "format": {"format": "something else"},
        "weights": {"weights": {"constant": [0.0, 1.0]}},
        r"weights\['constant'\]": {"weights": {**whole["weights"], "constant": ["x", 1.0]}},
        "edges": {"edges": {}},
        "ascending": {"edges": {**whole["edges"], "length": [4, 3, 2, 1]}},
        "idf": {"idf": {"documents": "many", "counts": {}}},
        "more documents": {"idf": {"documents": 1, "counts": {"a": 2}}},
        "settings": {"settings": {}},
        "not those of a Summarizer": {"settings": {**whole["settings"], "decoder": "magic"}},
        "rho": {"rho": 1e200},
        "random_state": {"settings": {**whole["settings"], "random_state": "abc"}},
        "standard errors": {"weights": {**whole["weights"], "constant": [0.0, -1.0]}},
    }
    for message, change in breakages.items():
        path.write_text(json.dumps({**whole, **change}))
        with pytest.raises(ValueError, match=message):
            Summarizer.load(path)
    del whole["idf"]
    path.write_text(json.dumps(whole))
    with pytest.raises(ValueError, match="no 'idf'"):
        Summarizer.load(path)
    with pytest.raises(ValueError, match="cannot hold a function"):
        Summarizer(unit=len, budget=300).fit(variations()).save(path)
