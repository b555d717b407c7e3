"""Selection without HTTP: prepared clusters, conditional marginals, the map, choices that cannot be."""

import subprocess
import sys

import numpy as np
import pytest

from brute import pmf
from dpplearn.summarize import Cluster, Summarizer
from dpplearn.web import schema
from dpplearn.web.engine import check_choices
from dpplearn.web.problems import Problem

TEXTS = [
    "A storm hit the coast on Friday. It sank ten boats. Schools stay closed. Ten boats sank in the storm.",
    "It sank ten boats. The mayor spoke of a miracle on Friday.",
]


def prepare(*texts):
    return Summarizer.load().prepare(Cluster.from_texts(texts))


def test_marginals_given_pins_and_bans_by_enumeration():
    prepared = prepare(*TEXTS)
    fits = {Y: p for Y, p in pmf(prepared.dpp.L).items() if 3 in Y and 0 not in Y}
    expected = [sum(p for Y, p in fits.items() if i in Y) / sum(fits.values()) for i in range(prepared.n)]
    assert np.allclose(prepared.marginals(np.array([3]), np.array([0])), expected, atol=1e-10)


@pytest.mark.parametrize(
    ("include", "exclude", "budget", "message"),
    [
        ([1], [1], 100, "Sentence 1 cannot be both included and excluded"),
        ([], range(6), 100, "All 6 sentences are excluded"),
        ([0, 3], [], 9, "take 13 words, more than the budget of 9. Raise the budget to 13"),
        ([1, 4], [], 100, "The included sentences cannot go together"),
    ],
)
def test_pins_that_cannot_be(include, exclude, budget, message):
    with pytest.raises(Problem) as caught:
        check_choices(prepare(*TEXTS), schema.Options(include=list(include), exclude=list(exclude)), budget, "words")
    assert caught.value.slug == "infeasible"
    assert message in caught.value.detail


ODD = """
from importlib import import_module
from itertools import product
from pkgutil import walk_packages

import dpplearn
from dpplearn._numba import Loop, _always
from dpplearn.summarize.corpora.cluster import Document
from dpplearn.web import Settings, schema
from dpplearn.web.engine import Engine

rooms = (dpplearn, dpplearn.decoding, dpplearn.sampling, dpplearn.learning, dpplearn.rouge, dpplearn.summarize)
names = {m.name for one in rooms for m in walk_packages(one.__path__, f"{one.__name__}.") if m.name.endswith("_loops")}
loops = {(name, key): f for name in names for key, f in vars(import_module(name)).items() if isinstance(f, Loop)}
compiled = lambda: {(name, str(v.signatures)) for name, f in loops.items() for v in f.versions.values()}
engine = Engine(Settings(samples=200))
engine.warm()
before = compiled()
_always.set(True)  # what was not compiled yet would be now
shorter = "However, the storm, which had come from the sea, hit the coast on Monday, officials said. Rain fell."
for texts in (["Rain fell."], ["Rain fell. Snow fell. Wind rose."], ["Rain fell. Snow fell.", "Rain fell."], [shorter]):
    reading = engine.prepare(engine.featurize([Document(str(i), text) for i, text in enumerate(texts)], None))
    n = reading.prepared.n  # the last has sentences with shorter forms, which exclude each other
    pins = ({}, {"include": [0]}, {"exclude": list(range(n - 1))}, {"include": [0], "exclude": [n - 1] * (n > 1)})
    mores = ({}, {"compress": True, "about": "snow"})
    knobs = product(("greedy", "consensus", "sampled"), (0.0, 0.5, 1.0), (1, 50), pins, mores)
    for decoder, diversity, budget, pin, more in knobs:
        asked = {"decoder": decoder, "diversity": diversity, "budget": budget, "unit": "sentences", **pin, **more}
        engine.summarize(reading, schema.Options(**asked))
print(len(before), sorted(compiled() - before))
"""


def test_once_warm_no_selection_waits_for_a_compiler():
    found = subprocess.run([sys.executable, "-c", ODD], capture_output=True, text=True, check=True).stdout
    count, _, new = found.partition(" ")
    assert int(count) >= 2  # one or more for each of sampling and consensus
    assert new.strip() == "[]"
