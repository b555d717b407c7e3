"""A summarizer whose similarity is learned: named parts, model files, decoders, reasons."""

import json
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import sparse

from dpplearn._checks import unit_rows
from dpplearn.cli import main
from dpplearn.learning import fit
from dpplearn.learning.diagnosis import warn_about_starts
from dpplearn.summarize import Cluster, Document, SentenceFeatures, Summarizer
from dpplearn.summarize.model import first_choice
from dpplearn.summarize.model.similarity_parts import PARTS
from small_encoder import Small, fitted, variations

pytestmark = pytest.mark.filterwarnings("ignore:The learned similarity", "ignore:The starts", "ignore:The weight")


@pytest.fixture(scope="module")
def mixture():
    return fitted(similarity="mixture", encoder=Small())


def test_a_mixture_trains_decodes_explains_and_is_saved(tmp_path):
    model, cluster = fitted(similarity="mixture"), variations()[1]
    found = model.model_.similarity_
    assert found.kind == "mixture"
    assert sum(found.weights.values()) == pytest.approx(1.0)
    model.save(tmp_path / "m.json")
    again = Summarizer.load(tmp_path / "m.json")
    assert again.similarity == "mixture"
    np.testing.assert_array_equal(again.dpp(cluster).L, model.dpp(cluster).L)
    one, two = (m.summarize(cluster, 40, "words") for m in (model, again))
    assert one.text == two.text
    assert 0 < len(one.text.split()) <= 40
    reasons = one.explain()
    assert all(-1.0 <= x.similarity <= 1.0 + 1e-9 for x in reasons.left_out)
    assert sum(reasons.chosen[0].contributions.values()) == pytest.approx(2 * np.log(reasons.chosen[0].quality))
    assert "mixture" in str(model.model_.summary())


def test_what_is_said_of_starts_can_be_done_with_a_summarizer(monkeypatch, tmp_path):
    monkeypatch.setattr(fit, "warn_about_starts", lambda _: warn_about_starts(np.array([0.0, -3.0, -4.0])))
    with pytest.warns(UserWarning, match='2 of 3 starts .* similarity="fixed"') as said:
        model = fitted(similarity="mixture")
    assert not any("n_starts" in str(one.message) for one in said)
    near = [name for name, error in model.model_.similarity_.std.items() if np.isnan(error)]
    assert near
    model.save(tmp_path / "m.json")
    for shown in (str(model.model_.summary()), CliRunner().invoke(main, ["info", str(tmp_path / "m.json")]).stdout):
        assert f"no standard error: {', '.join(near)}, so near 0" in shown


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


def test_the_fixed_kind_is_what_it_was():
    plain, cluster = fitted(), variations()[0]
    read = plain.features_.read(cluster)
    assert read.parts == ()
    assert read.items.similarity is read.C
    assert [part.name for part in read.items.parts] == ["phi"]


def test_a_similarity_of_another_kind_than_the_file_says(mixture, tmp_path):
    path = tmp_path / "m.json"
    mixture.save(path)
    data = json.loads(path.read_text())
    data["similarity"] = {"kind": "fixed", "rho": 0.3, "nugget": 0.0}
    path.write_text(json.dumps(data))
    with pytest.raises(ValueError, match="another kind"):
        Summarizer.load(path, encoder=Small())


def test_a_new_part_is_one_entry_and_older_models_do_without(mixture, tmp_path, monkeypatch):
    mixture.save(tmp_path / "m.json")
    before = mixture.dpp(variations()[0]).L
    monkeypatch.setitem(PARTS, "length", lambda read, _: unit_rows(np.array([[len(text), 9.0] for text in read.texts])))
    old = Summarizer.load(tmp_path / "m.json", encoder=Small())
    np.testing.assert_array_equal(old.dpp(variations()[0]).L, before)
    read = SentenceFeatures(similarity="mixture").fit(variations()[:1]).read(variations()[0])
    assert read.items.parts[-1].name == "length"
    monkeypatch.undo()
    data = json.loads((tmp_path / "m.json").read_text())
    data["similarity"]["names"][0] = "length"
    (tmp_path / "m.json").write_text(json.dumps(data))
    with pytest.raises(ValueError, match="parts that dpplearn makes"):
        Summarizer.load(tmp_path / "m.json", encoder=Small())


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
