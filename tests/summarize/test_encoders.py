"""Encoders that users bring: what they may return, what is told of bad ones, model files, the command line."""

import json
import sys
import warnings

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import sparse

from dpplearn.cli import main
from dpplearn.summarize import Cluster, SentenceFeatures, Summarizer
from dpplearn.summarize.experiments.held_out import Experiment
from dpplearn.summarize.model.meaning import encode
from small_encoder import Small, fitted, variations


@pytest.fixture(scope="module")
def with_encoder():
    return fitted(encoder=Small())


def test_an_encoder_with_the_fixed_kind_has_equal_shares():
    encoder, cluster = Small(), variations()[0]
    model = fitted(encoder=encoder)
    read = model.features_.read(cluster)
    E = encoder.encode(read.texts)
    E /= np.linalg.norm(E, axis=1)[:, None]
    np.testing.assert_allclose(read.items.similarity, (read.C + E @ E.T) / 2, atol=1e-12)
    assert len(model.summarize(cluster, 40, "words").text.split()) <= 40


def test_model_files_name_their_encoder_and_loading_needs_it(with_encoder, tmp_path):
    path, cluster = tmp_path / "m.json", variations()[0]
    with_encoder.save(path)
    data = json.loads(path.read_text())
    assert data["encoder"]["width"] == 9
    assert data["encoder"]["name"].endswith(":Small")
    with pytest.raises(ValueError, match=r"Small.*9 numbers.*Summarizer\.load\(path, encoder="):
        Summarizer.load(path)
    again = Summarizer.load(path, encoder=Small())
    assert again.summarize(cluster, 40, "words").text == with_encoder.summarize(cluster, 40, "words").text
    again.save(tmp_path / "again.json")
    assert json.loads((tmp_path / "again.json").read_text())["encoder"] == data["encoder"]
    with pytest.raises(ValueError, match=r"gave 9 numbers for a text; this one .* gives 4"):
        Summarizer.load(path, encoder=Small(3)).summarize(cluster)
    for record in (3, {"name": "x"}, {"name": 1, "width": 2}, {"name": "x", "width": True}):
        path.write_text(json.dumps({**data, "encoder": record}))
        with pytest.raises(ValueError, match="must have a name and a width"):
            Summarizer.load(path, encoder=Small())
    del data["encoder"]
    path.write_text(json.dumps(data))
    with pytest.raises(ValueError, match="trained without an encoder"):
        Summarizer.load(path, encoder=Small())


def sentence(_):
    raise TypeError("There is no such dtype.")


def raising(texts):
    raise RuntimeError(f"no memory for {len(texts)}")


def one_nan(texts):
    rows = np.ones((len(texts), 3))
    rows[1, 2] = np.nan
    return rows


BAD = {
    "one_nan": (one_nan, "NaN or infinite"),
    "infinite": (lambda texts: np.full((len(texts), 2), np.inf), "NaN or infinite"),
    "sparse NaN": (lambda texts: sparse.csr_array(one_nan(texts)), "NaN or infinite ones for 1"),
    "another length": (lambda texts: np.ones((len(texts) - 1, 3)), r"rows of numbers.*shape \(\d+, 3\)"),
    "one dimension": (lambda texts: np.ones(len(texts)), "list of texts, not one text"),
    "no columns": (lambda texts: np.ones((len(texts), 0)), "shape"),
    "zero rows": (lambda texts: np.eye(len(texts), 3), "only zeros for"),
    "objects": (lambda texts: np.array([[object(), 1]] * len(texts)), "dtype object"),
    "strings": (lambda texts: [["a", "b"]] * len(texts), "real numbers"),
    "several lengths": (lambda texts: [[1.0] * (1 + i % 2) for i in range(len(texts))], "no array"),
    "fails": (raising, "RuntimeError: no memory for"),
    "fails with a sentence": (sentence, r"no such dtype\. Try it"),
    "a generator": (lambda texts: ([1.0, 2.0] for _ in texts), "found generator"),
    "nothing": (lambda _: None, "found NoneType"),
}


@pytest.mark.parametrize(("encoder", "said"), BAD.values(), ids=BAD)
def test_bad_encoders_are_told_before_anything_is_learned(encoder, said, monkeypatch):
    def never(*_, **__):
        raise AssertionError("work was begun")

    monkeypatch.setattr("dpplearn.summarize.model.pipeline.training_targets", never)
    with pytest.raises(ValueError, match=said) as error:
        fitted(encoder=encoder)
    assert str(error.value).startswith("The encoder ")


@pytest.mark.parametrize("encoder", ["all-MiniLM-L6-v2", 3, Small, b"x"])
def test_what_is_no_encoder(encoder):
    with pytest.raises(TypeError, match=r"encoder must be an object with \.encode"):
        fitted(encoder=encoder)


@pytest.mark.parametrize(
    "made",
    [
        lambda rows: rows.tolist(),
        lambda rows: rows.astype(np.float32) * np.float32(1e30),
        lambda rows: 1e300 * rows,
        lambda rows: sparse.csr_matrix(rows),
    ],
)
def test_what_encoders_may_return(made):
    small = Small()
    plain = encode(small, ["Rain fell.", "Boats sank."])
    cluster = variations()[0]
    one, two = (
        SentenceFeatures(encoder=e).fit([cluster]).read(cluster).items.similarity
        for e in (small, lambda texts: made(small.encode(texts)))
    )
    assert plain.dtype == np.float64
    np.testing.assert_allclose(two, one, atol=2e-3)


def test_results_of_other_kinds_are_other_results():
    plain = Experiment(Summarizer(), ["dpp-greedy"], variations(), None).record
    learned = Experiment(Summarizer(encoder=one_nan), ["dpp-greedy"], variations(), None).record
    assert {name: learned[name] for name in learned if name not in plain} == {"encoder": f"{__name__}:one_nan"}


MODULE = """
import numpy as np

def encoder(texts):
    return np.array([[len(text), text.count(" "), 1.0] for text in texts])
"""


def test_on_the_command_line(tmp_path, monkeypatch):
    (tmp_path / "my_encoder.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    corpus, model, text = tmp_path / "c.jsonl", str(tmp_path / "m.json"), tmp_path / "t.txt"
    corpus.write_text("".join(json.dumps(record(cluster)) + "\n" for cluster in variations()[:2]))
    text.write_text(Cluster.example().documents[0].text)
    named = ["--encoder", "my_encoder:encoder"]
    options = ["--budget", "60", "--unit", "words", *named]
    run("train", str(corpus), "--out", model, "--jobs", "1", *options)
    shown = run("info", model)  # without the encoder
    assert "my_encoder:encoder, 3 numbers for a text" in shown.stdout
    refused = run("summarize", str(text), "--model", model, code=1)
    assert "Summarizer.load(path, encoder=...), or --encoder" in refused.stderr
    assert run("summarize", str(text), "--model", model, *named).stdout.strip()
    refused = run("train", str(corpus), "--out", model, *options[:-1], "my_encoder:nothing", code=1)
    assert "cannot be used" in refused.stderr
    sys.modules.pop("my_encoder", None)


def run(*arguments, code=0):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        done = CliRunner().invoke(main, list(arguments))
    assert done.exit_code == code, done.output
    return done


def record(cluster):
    documents = [{"id": d.id, "text": d.text, "title": d.title} for d in cluster.documents]
    return {"id": cluster.id, "documents": documents, "references": list(cluster.references)}
