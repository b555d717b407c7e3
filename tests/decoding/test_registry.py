"""One table of decoder names; a decoder that joins it works wherever a name is asked for."""

from dataclasses import replace
from inspect import signature

import pytest

from dpplearn import ConditionalDPP, ItemSet, diversify
from dpplearn.decoding.greedy import greedy_choice
from dpplearn.decoding.registry import DECODERS, check_decoder, decoder


def worst_first(candidates, limits, fewer=1):
    """A decoder made up for this test: greedy, without the last items that it would choose."""
    found = greedy_choice(candidates, limits)
    return greedy_choice(candidates, replace(limits, k=max(len(found) - fewer, 0)))


@pytest.fixture
def added(monkeypatch):
    monkeypatch.setitem(DECODERS, "worst-first", f"{__name__}:worst_first")
    return "worst-first"


@pytest.mark.parametrize("name", ["best", "Greedy", "sample", None, ["greedy"]])
def test_an_unknown_name_lists_those_that_are_known(name):
    with pytest.raises(ValueError, match=r"^--decoder .*'greedy'.*'local'.*found"):
        check_decoder(name, "--decoder")


def test_a_new_decoder_works_in_diversify(added, rng):
    E, s = rng.standard_normal((6, 4)), rng.random(6)
    found = diversify(E, s, k=3, decoder=added)
    assert found.subset.tolist() == diversify(E, s, k=2).subset.tolist()
    assert found.parameters["decoder"] == added
    assert len(diversify(E, s, k=3, decoder=added, fewer=2)) == 1


@pytest.mark.parametrize("name", list(DECODERS))
def test_an_option_that_a_decoder_does_not_have_is_named_with_those_it_has(name, rng):
    E, items = rng.standard_normal((6, 4)), ItemSet(rng.standard_normal((6, 2)), phi=rng.standard_normal((6, 4)))
    own = list(signature(decoder(name)).parameters)[2:]
    said = rf"^the decoder '{name}' has no option 'n_sample'; its own are {'.*'.join(own)}\.$"
    with pytest.raises(TypeError, match=said):
        diversify(E, k=2, decoder=name, n_sample=3)
    with pytest.raises(TypeError, match=said):
        ConditionalDPP().fit([items], [[0]]).decode(items, decoder=name, k=2, n_sample=3)
