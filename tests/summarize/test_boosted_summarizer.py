"""A summarizer whose quality is trees on the numbers behind the features."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from dpplearn.cli import main
from dpplearn.summarize import Cluster, SentenceFeatures, Summarizer


def variations():
    """Four small clusters cut from the example, each with references."""
    example = Cluster.example()
    return [Cluster(example.documents[k : k + 4], example.references[:2], id=f"part{k}") for k in range(4)]


@pytest.fixture(scope="module")
def trained():
    return Summarizer(budget=60, unit="words", quality="boosted").fit(variations())


def test_columns_are_numbers_and_ranks():
    features = SentenceFeatures("extended", binned=False).fit(variations())
    assert features.names[:4] == ("length", "length rank", "position", "similarity")
    read = features.read(variations()[0])
    F = dict(zip(features.names, read.F.T, strict=True))
    np.testing.assert_array_equal(F["length"], [len(text.encode()) for text in read.texts])
    order = np.argsort(F["lexrank"], kind="stable")
    assert (np.diff(F["lexrank rank"][order]) >= 0).all()
    assert features.edges == {}


def test_training_summaries_and_reasons(trained):
    assert trained.model_.quality_.n_trees > 0
    summary = trained.summarize(variations()[0], 40, "words")
    assert 0 < len(summary.text.split()) <= 40
    first = summary.explain().chosen[0]
    assert sum(first.contributions.values()) == pytest.approx(2 * np.log(first.quality))
    assert set(first.contributions) <= {"constant", *trained.features_.names}
    with pytest.raises(AttributeError, match="no weights theta"):
        _ = trained.theta_


def test_files(trained, tmp_path):
    trained.save(tmp_path / "m.json")
    again = Summarizer.load(tmp_path / "m.json")
    assert again.quality == "boosted"
    cluster = variations()[1]
    assert again.summarize(cluster, 40, "words").text == trained.summarize(cluster, 40, "words").text
    np.testing.assert_array_equal(again.dpp(cluster).L, trained.dpp(cluster).L)
    np.testing.assert_array_equal(again.learned_, trained.learned_)
    data = json.loads((tmp_path / "m.json").read_text())
    for change in ({"quality": None}, {"quality": 3}, {"quality": {**data["quality"], "columns": ["a"]}}):
        (tmp_path / "bad.json").write_text(json.dumps({**data, **change}))
        with pytest.raises(ValueError, match=r"bad\.json"):
            Summarizer.load(tmp_path / "bad.json")


def test_on_the_command_line(trained, tmp_path):
    trained.save(tmp_path / "m.json")
    shown = CliRunner().invoke(main, ["info", str(tmp_path / "m.json")])
    assert shown.exit_code == 0, shown.output
    assert "spread over instances" in shown.stdout
    lines = [record(cluster) for cluster in variations()[:2]]
    (tmp_path / "c.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    options = ["--budget", "60", "--unit", "words", "--quality", "boosted", "--out", str(tmp_path / "n.json")]
    done = CliRunner().invoke(main, ["train", str(tmp_path / "c.jsonl"), *options])
    assert done.exit_code == 0, done.output
    assert "values of trees" in done.stderr
    refused = CliRunner().invoke(main, ["train", str(tmp_path / "c.jsonl"), *options, "--tune"])
    assert "--tune chooses the variance of weights" in refused.stderr


def record(cluster):
    documents = [{"id": d.id, "text": d.text} for d in cluster.documents]
    return {"id": cluster.id, "documents": documents, "references": list(cluster.references)}
