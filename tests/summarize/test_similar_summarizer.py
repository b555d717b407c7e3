"""A summarizer whose similarity is learned: named parts, encoders, model files, decoders, reasons, the command line."""

import json
import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from dpplearn.cli import main
from dpplearn.learning.similarity import SIMILARITIES
from dpplearn.summarize import Cluster, Document, SentenceFeatures, Summarizer
from dpplearn.summarize.experiments.held_out import Experiment
from dpplearn.summarize.model import first_choice, similarity_parts
from dpplearn.summarize.model.meaning import encode
from dpplearn.summarize.model.similarity_parts import HASHED, PARTS
from dpplearn.summarize.text.words import words

pytestmark = pytest.mark.filterwarnings("ignore:The learned similarity", "ignore:The starts", "ignore:The weight")
LEARNED = tuple(kind for kind in SIMILARITIES if kind != "fixed")


def variations():
    """Four small clusters cut from the example, each with references."""
    example = Cluster.example()
    return [Cluster(example.documents[k : k + 4], example.references[:2], id=f"part{k}") for k in range(4)]


class Small:
    """A small real encoder: tf-idf and an SVD, fitted on the documents; a constant for texts of unknown words."""

    def __init__(self, dimensions=8):
        texts = [line for d in Cluster.example().documents for line in d.text.splitlines() if line.strip()]
        svd = TruncatedSVD(dimensions, random_state=0)
        self.made, self.asked = make_pipeline(TfidfVectorizer(analyzer=words), svd).fit(texts), []

    def encode(self, texts):
        assert isinstance(texts, list)
        self.asked.append(len(texts))
        return np.hstack([self.made.transform(texts), np.full((len(texts), 1), 0.05)])


def fitted(**options):
    return Summarizer(budget=60, unit="words", **options).fit(variations())


@pytest.fixture(scope="module")
def mixture():
    return fitted(similarity="mixture", encoder=Small())


@pytest.mark.parametrize("kind", LEARNED)
def test_every_kind_trains_decodes_explains_and_is_saved(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(similarity_parts, "HASHED", 16)  # columns: 128 of them take a while
    model, cluster = fitted(similarity=kind), variations()[1]
    found = model.model_.similarity_
    assert found.kind == kind
    assert sum(found.weights.values()) == pytest.approx(1.0)
    model.save(tmp_path / "m.json")
    again = Summarizer.load(tmp_path / "m.json")
    assert again.similarity == kind
    np.testing.assert_array_equal(again.dpp(cluster).L, model.dpp(cluster).L)
    one, two = (m.summarize(cluster, 40, "words") for m in (model, again))
    assert one.text == two.text
    assert 0 < len(one.text.split()) <= 40
    reasons = one.explain()
    assert all(-1.0 <= x.similarity <= 1.0 + 1e-9 for x in reasons.left_out)
    assert sum(reasons.chosen[0].contributions.values()) == pytest.approx(2 * np.log(reasons.chosen[0].quality))
    assert kind in str(model.model_.summary())


@pytest.mark.parametrize("decoder", ["consensus", "greedy", "sampled", "typical", "local", "exact"])
def test_every_decoder(mixture, decoder):
    summary = mixture.summarize(variations()[0], 40, "words", decoder=decoder, n_samples=2_000)
    assert 0 < len(summary.text.split()) <= 40


def test_parts_by_name_are_unit_rows_and_a_mixture_weighs_them(mixture):
    read = mixture.features_.read(variations()[2])
    parts = {part.name: part for part in read.items.parts}
    assert tuple(parts) == (*PARTS, "meaning")
    weights = mixture.model_.similarity_.weights
    assert tuple(weights) == ("own", "all", *parts)
    S = weights["own"] * np.eye(len(read)) + weights["all"]
    for name, part in parts.items():
        rows = part.phi.toarray() if sparse.issparse(part.phi) else part.phi
        np.testing.assert_allclose((rows**2).sum(axis=1), 1.0)
        S = S + weights[name] * rows @ rows.T
    np.testing.assert_allclose(mixture.dpp(read).similarity, S, atol=1e-12)  # the formula of design.md


def test_what_each_part_is():
    rain = Document("a", "Floods hit the town. The flood hit the town. Nobody was hurt at all.", title="Rain")
    more = Document("b", "Snow fell in the hills today. Roads were closed for hours.", title="Rain and snow")
    none = Document("c", "Trains ran late on Monday. Buses did not run.")
    cluster = Cluster([rain, more, none], ["Floods."], id="x")
    read = SentenceFeatures(similarity="mixture").fit([cluster]).read(cluster)
    C = {part.name: read.items.part_cosines(k) for k, part in enumerate(read.items.parts)}
    assert C["stems"][0, 1] > C["words"][0, 1] + 0.05  # flood and floods
    assert C["pairs"][0, 1] > 0.3 > C["pairs"][0, 2] == 0
    same = np.equal.outer(read.document_numbers, read.document_numbers)
    np.testing.assert_array_equal(C["source"], same.astype(float))
    np.testing.assert_allclose(C["titles"][same], 1.0)  # of one document, with no heading
    assert 0 < C["titles"][0, 3] < 1  # rain
    assert C["titles"][0, 5] == 0  # a document without a title is like none


def test_openings_are_alike_and_so_are_ends():
    said = ["Rain", "Snow", "Wind", "Hail", "Fog", "Frost", "Heat", "Ice", "Mist"]
    texts = [" ".join(f"{word} fell on the {place} today." for word in said) for place in ("coast", "hills")]
    cluster = Cluster.from_texts(texts, id="x", references=["Rain fell."])
    read = SentenceFeatures(similarity="mixture").fit([cluster]).read(cluster)
    C = read.items.part_cosines(list(PARTS).index("position"))
    np.testing.assert_allclose(C[:9, 9:].diagonal(), 1.0)
    assert 0 < C[0, 1] < 1
    assert C[0, 2] == C[0, 8] == 0  # two knots away, and at the other end


def test_sentences_that_say_nothing_in_a_part_are_like_no_other():
    cluster = Cluster.from_texts(["Ω ψ. Rain fell in the hills. Rain."], id="x", references=["Rain."])
    read = SentenceFeatures(similarity="mixture").fit([cluster]).read(cluster, keep_all=True)
    assert np.isfinite(read.items.phi.toarray()).all()
    for k, part in enumerate(read.items.parts):
        if part.name in ("stems", "pairs"):
            C = read.items.part_cosines(k)
            np.testing.assert_allclose(C.diagonal(), 1.0)


def test_hashed_words_have_nearly_their_cosines():
    cluster = Cluster.example()
    read = SentenceFeatures(similarity="scaled").fit([cluster]).read(cluster)
    rows = read.items.parts[0].phi
    assert rows.shape == (len(read), HASHED)
    error = (rows @ rows.T - read.C)[np.triu_indices(len(read), 1)]
    assert abs(error.mean()) < 0.01  # signs make it right on average
    assert error.std() < 1.5 / np.sqrt(HASHED)


def test_the_fixed_kind_is_what_it_was():
    plain, cluster = fitted(), variations()[0]
    read = plain.features_.read(cluster)
    assert read.parts == ()
    assert read.items.similarity is read.C
    assert [part.name for part in read.items.parts] == ["phi"]


def test_an_encoder_with_the_fixed_kind_has_equal_shares():
    encoder, cluster = Small(), variations()[0]
    model = fitted(encoder=encoder)
    read = model.features_.read(cluster)
    E = encoder.encode(read.texts)
    E /= np.linalg.norm(E, axis=1)[:, None]
    np.testing.assert_allclose(read.items.similarity, (read.C + E @ E.T) / 2, atol=1e-12)
    assert len(model.summarize(cluster, 40, "words").text.split()) <= 40


def test_model_files_name_their_encoder_and_loading_needs_it(mixture, tmp_path):
    path, cluster = tmp_path / "m.json", variations()[0]
    mixture.save(path)
    data = json.loads(path.read_text())
    assert data["encoder"]["width"] == 9
    assert data["encoder"]["name"].endswith(":Small")
    with pytest.raises(ValueError, match=r"Small.*9 numbers.*Summarizer\.load\(path, encoder="):
        Summarizer.load(path)
    again = Summarizer.load(path, encoder=Small())
    assert again.summarize(cluster, 40, "words").text == mixture.summarize(cluster, 40, "words").text
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


def test_a_similarity_of_another_kind_than_the_file_says(mixture, tmp_path):
    path = tmp_path / "m.json"
    mixture.save(path)
    data = json.loads(path.read_text())
    data["settings"]["similarity"] = "scaled"
    path.write_text(json.dumps(data))
    with pytest.raises(ValueError, match="another kind"):
        Summarizer.load(path, encoder=Small())


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
    "three dimensions": (lambda texts: np.ones((len(texts), 2, 2)), "shape"),
    "no columns": (lambda texts: np.ones((len(texts), 0)), "shape"),
    "zero rows": (lambda texts: np.eye(len(texts), 3), "only zeros for"),
    "all zeros": (lambda texts: np.zeros((len(texts), 3)), "only zeros for"),
    "complex": (lambda texts: np.ones((len(texts), 3), complex), "dtype complex128"),
    "objects": (lambda texts: np.array([[object(), 1]] * len(texts)), "dtype object"),
    "strings": (lambda texts: [["a", "b"]] * len(texts), "real numbers"),
    "several lengths": (lambda texts: [[1.0] * (1 + i % 2) for i in range(len(texts))], "no array"),
    "fails": (raising, "RuntimeError: no memory for"),
    "a generator": (lambda texts: ([1.0, 2.0] for _ in texts), "found generator"),
    "nothing": (lambda _: None, "found NoneType"),
    "a dict": (lambda texts: {text: [1.0] for text in texts}, "found dict"),
}


@pytest.mark.parametrize(("encoder", "said"), BAD.values(), ids=BAD)
def test_bad_encoders_are_told_before_anything_is_learned(encoder, said, monkeypatch):
    def never(*_, **__):
        raise AssertionError("work was begun")

    monkeypatch.setattr("dpplearn.summarize.model.training.training_targets", never)
    with pytest.raises(ValueError, match=said) as error:
        fitted(similarity="mixture", encoder=encoder)
    assert str(error.value).startswith("The encoder ")


@pytest.mark.parametrize("encoder", ["all-MiniLM-L6-v2", 3, Small, b"x"])
def test_what_is_no_encoder(encoder):
    with pytest.raises(TypeError, match=r"encoder must be an object with \.encode"):
        fitted(similarity="mixture", encoder=encoder)


@pytest.mark.parametrize(
    "made",
    [
        lambda rows: rows.tolist(),
        lambda rows: rows.astype(np.float16),
        lambda rows: rows.astype(np.float32) * np.float32(1e30),
        lambda rows: 1e300 * rows,
        lambda rows: sparse.csr_matrix(rows),
        lambda rows: [tuple(row) for row in rows],
    ],
)
def test_what_encoders_may_return(made):
    small = Small()
    plain = encode(small, ["Rain fell.", "Boats sank."])
    cluster = variations()[0]
    one, two = (
        SentenceFeatures(similarity="mixture", encoder=e).fit([cluster]).read(cluster).items.part_cosines(6)
        for e in (small, lambda texts: made(small.encode(texts)))
    )
    assert plain.dtype == np.float64
    np.testing.assert_allclose(two, one, atol=2e-3)


def test_clusters_are_encoded_once_and_by_a_list():
    encoder = Small()
    model = Summarizer(budget=60, unit="words", similarity="mixture", encoder=encoder).fit(variations())
    sizes = [len(model.features_.read(c)) for c in variations()]
    assert encoder.asked[:4] == sizes


def test_given_sentences_questions_and_shorter_forms(mixture):
    cluster = variations()[0]
    ready = mixture.prepare(cluster, compress=True)
    assert len(ready.read.items.parts) == 7
    summary = mixture.summarize(ready, 50, "words", include=[3], exclude=[0], about="How many people were hurt?")
    assert 3 in summary.subset
    assert 0 not in summary.subset
    assert summary.explain().chosen


def test_a_first_choice_among_many_keeps_the_parts(mixture):
    read = mixture.features_.read(Cluster.example())
    kept = first_choice.finalists(read, mixture._predictor, keep=20, part=30)
    assert len(kept) == 20 < len(read)
    names = {part.name for part in kept.items.parts}
    assert names == {*PARTS, "meaning"}
    whole, some = mixture.dpp(read), mixture.dpp(kept)
    place = [read.sentences.index(one) for one in kept.sentences]
    np.testing.assert_allclose(some.L, whole.L[np.ix_(place, place)], atol=1e-12)  # L, restricted


def test_a_cluster_read_for_another_similarity(mixture):
    plain = SentenceFeatures().fit(variations()).read(variations()[0])
    with pytest.raises(ValueError, match=r"another kind of similarity.*features_\.read"):
        mixture.summarize(plain)


def test_likeness_in_reasons_is_that_of_the_parts(mixture):
    summary = mixture.summarize(variations()[0], 40, "words")
    C, weights = summary.ready.likeness, mixture.model_.similarity_.weights
    items = summary.read.items
    mean = sum(weights[part.name] * items.part_cosines(k) for k, part in enumerate(items.parts))
    np.testing.assert_allclose(C, mean / sum(weights[part.name] for part in items.parts), atol=1e-9)
    first = summary.explain().left_out[0]
    assert first.similarity == pytest.approx(max(C[first.number, j] for j in summary.subset))


def test_other_languages_have_no_stems():
    cluster = replace(variations()[0], language="german")
    read = SentenceFeatures(similarity="mixture", language="german").fit([cluster]).read(cluster)
    assert read.items.parts[1].width == len({word for said in read.words for word in said})


def test_tune_is_of_the_fixed_kind():
    with pytest.raises(ValueError, match="tune=True chooses rho"):
        Summarizer(similarity="mixture").fit(variations(), tune=True)


def test_results_of_other_kinds_are_other_results():
    plain = Experiment(Summarizer(), ["dpp-greedy"], variations(), None).record
    learned = Experiment(Summarizer(similarity="mixture", encoder=one_nan), ["dpp-greedy"], variations(), None).record
    assert {name: learned[name] for name in learned if name not in plain} == {
        "similarity": "mixture",
        "encoder": f"{__name__}:one_nan",
    }


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
    options = ["--budget", "60", "--unit", "words", "--similarity", "mixture", *named]
    done = run("train", str(corpus), "--out", model, *options)
    assert "similarity mixture" in done.stderr
    shown = run("info", model)  # without the encoder
    assert "my_encoder:encoder, 3 numbers for a text" in shown.stdout
    assert "meaning" in shown.stdout
    refused = run("summarize", str(text), "--model", model, code=1)
    assert "Summarizer.load(path, encoder=...), or --encoder" in refused.stderr
    assert run("summarize", str(text), "--model", model, *named).stdout.strip()
    refused = run("train", str(corpus), "--out", model, *options[:-1], "my_encoder:nothing", code=1)
    assert "cannot be imported" in refused.stderr
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
