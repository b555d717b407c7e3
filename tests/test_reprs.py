"""Every public class has a short `repr`: one of each, made of data that a long one would print."""

import importlib
import json
import pkgutil
import warnings

import numpy as np
import pytest

import dpplearn
from dpplearn import DPP, KDPP, ImplicitDPP, LowRankDPP, NonsymmetricDPP, diversify, mrf, rouge
from dpplearn.baskets import Baskets, KernelDPP, completion
from dpplearn.decoding import consensus, exact_map, greedy_map, sampled_map
from dpplearn.estimate import Estimate
from dpplearn.learning import ConditionalDPP, ConditionalDPPCV, ItemSet, Shard, log_likelihood
from dpplearn.summarize import Cluster, SentenceFeatures, Summarizer, open_corpus
from playlists import playlists

ABSTRACT = set()
WARNINGS = {"EmptyTextWarning", "SkippedWarning"}
NO_SHOW = ("._loops", ".torch", ".integrations", ".web", ".cli")  # nothing public, extras, and what people only run


def of_learning():
    columns = {"features": ["genre", "tempo", "explicit", "length"], "phi": ["genre", "tempo"], "chosen": "kept"}
    X, y = ItemSet.from_long(playlists(6), group="playlist", **columns)
    yield from (X[0], Shard(X, y, np.ones(len(X))), ConditionalDPPCV())
    yield log_likelihood(np.zeros(X[0].n_features), X[0], y[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few playlists
        for kind in ("fixed", "mixture"):
            model = ConditionalDPP(similarity=kind, nugget=0.3 if kind == "fixed" else 0.0).fit(X, y)
            yield from (model, model.similarity_, model.quality_, model.encoding_)
    baskets = 20 * [["bib", "bottle"], ["cot"]]
    fitted = KernelDPP(alpha=1.0, nonsymmetric=True).fit(baskets)
    yield from (fitted, fitted.factors_, Baskets.read(baskets), completion(fitted, baskets, rng=0))
    yield from (fitted.together(), fitted.together().attract[0])


def of_sets():
    rng = np.random.default_rng(0)
    L, rows = np.eye(40) + 0.1, rng.standard_normal((60, 5))
    dpp = DPP(L)
    yield from (dpp, KDPP(dpp, 3), LowRankDPP(rows), NonsymmetricDPP.from_kernel(L), dpp.sample(90, rng=0))
    yield from (ImplicitDPP(lambda i, j: L[i, j], 40), Estimate(1.23456789, 0.1), Estimate(1 / 3))
    chosen = diversify(rows, rng.random(60), k=30)
    yield from (chosen, chosen.kept[0], chosen.skipped[0], chosen.candidates, chosen.limits)
    options = {"k": 3}
    yield from (greedy_map(dpp, **options), exact_map(dpp, **options), consensus(dpp, **options))
    yield sampled_map(dpp, **options, n_samples=200, rng=0)


def of_fields():
    field = mrf.PairwiseMRF(np.zeros(8), -0.3 * (np.ones((8, 8)) - np.eye(8)))
    near = mrf.approximate(field)
    yield from (field, near, mrf.triangle_inequality(np.eye(8)), mrf.fit_dpp_to(DPP(np.eye(3) + 0.3)))
    yield from (mrf.factor_surface("mrf", 0.5), mrf.ternary_factors(w=(-1.0, -1.0, 0.0), S=(0.8, 0.8, 0.3)))
    yield from (mrf.pair_to_dpp(0.5, 0.4, 0.1), mrf.pair_to_mrf(0.5, 0.4, 0.1))


def of_texts(folder):
    said = {f"topic {k}": "a storm sank ten boats" for k in range(30)}
    scores = rouge.score_corpus(said, {name: [text, "nobody was hurt"] for name, text in said.items()})
    yield from (scores, scores.averages["rouge-1"], scores.averages["rouge-1"].recall, rouge.Rouge(["a storm"] * 20))
    yield from (rouge.score("a storm", ["the storm"])["rouge-1"], rouge.paired_bootstrap(scores, scores))
    summarizer, cluster = Summarizer.load(), Cluster.example()
    summary = summarizer.summarize(cluster, 60, "words", about="the cost")
    yield from (summarizer, SentenceFeatures(), cluster, cluster.documents[0], summary, summary.sentences[0])
    yield from (summary.explain(), summary.explain().as_a_set, summary.prepared.question, summary.prepared.model)
    yield from (summary.choice, summary.prepared, summary.decision)
    path = folder / "corpus.jsonl"
    path.write_text(json.dumps({"id": "a", "documents": ["It rained."], "references": ["Rain."]}) + "\n")
    yield open_corpus(path)


@pytest.fixture(scope="module")
def examples(tmp_path_factory):
    return [*of_learning(), *of_sets(), *of_fields(), *of_texts(tmp_path_factory.mktemp("corpus"))]


def public_classes():
    """The classes that some `__all__` names."""
    modules = pkgutil.walk_packages(dpplearn.__path__, "dpplearn.")
    named = [one.name for one in modules if not any(part in one.name for part in NO_SHOW)]
    for module in [dpplearn, *map(importlib.import_module, named)]:
        if module.__name__.rpartition(".")[2].startswith("_"):
            continue
        for name in getattr(module, "__all__", ()):
            if isinstance(found := getattr(module, name), type):
                yield found


def test_every_public_class_has_an_example(examples):
    seen = {kind for one in examples for kind in type(one).__mro__}
    missing = {one.__name__ for one in public_classes() if one not in seen}
    assert missing == ABSTRACT - {one.__name__ for one in seen} | WARNINGS


def test_reprs_are_short_and_say_what_it_is(examples):
    for one in examples:
        text = repr(one)
        assert len(text) <= 300, (len(text), type(one).__name__, text)
        assert " at 0x" not in text
        assert "np.float64" not in text
        assert type(one).__name__.lower() in text.lower() or isinstance(one, float)
