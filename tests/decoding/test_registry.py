"""One table of decoder names; a decoder that joins it works wherever a name is asked for."""

import json

import pytest
from click.testing import CliRunner

from dpplearn import ConditionalDPP, ItemSet, diversify
from dpplearn.cli import main
from dpplearn.decoding import greedy_map, registry
from dpplearn.decoding.registry import DECODERS, Decoder, check_decoder, decoder


def worst_first(dpp, cost=None, budget=None, *, k=None, include=(), exclude=(), diversity=0.5):
    """A decoder made up for this test: greedy, without the last item that it would choose."""
    found = greedy_map(dpp, cost, budget, k=k, include=include, exclude=exclude, diversity=diversity)
    return greedy_map(dpp, cost, budget, k=max(len(found) - 1, 0), include=include, exclude=exclude)


@pytest.fixture
def added(monkeypatch):
    monkeypatch.setitem(DECODERS, "worst-first", Decoder(worst_first, "one item fewer than greedy"))
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


def test_a_new_decoder_works_in_a_fitted_model(added, rng):
    items = ItemSet(rng.standard_normal((6, 2)), phi=rng.standard_normal((6, 4)))
    model = ConditionalDPP().fit([items] * 2, [[0, 1], [2]])
    assert len(model.decode(items, decoder=added, k=3)) == len(model.decode(items, k=3)) - 1
    for name in DECODERS:
        options = {"rng": 0} if registry.DECODERS[name].random else {}
        assert len(model.decode(items, decoder=name, k=2, **options)) <= 2


def test_a_new_decoder_works_on_the_command_line(added, tmp_path):
    path = tmp_path / "items.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in ("a b", "b c", "d e", "f")))

    def select(*options):
        done = CliRunner().invoke(main, ["select", str(path), "-k", "3", "--json", *options])
        return done, len(json.loads(done.stdout)["selected"]) if done.exit_code == 0 else None

    assert select()[1] == 3
    assert select("--decoder", added)[1] == 2
    failed, _ = select("--decoder", "best")
    assert failed.exit_code == 2
    assert f"'{added}'" in failed.stderr


def test_consensus_is_a_function_and_a_module():
    import dpplearn.decoding
    import dpplearn.decoding.consensus

    assert dpplearn.decoding.consensus is decoder("consensus")
