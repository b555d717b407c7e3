"""What all adapters share, without any framework."""

import importlib
import sys

import numpy as np
import pytest

from dpplearn import diversify
from dpplearn.integrations._common import NOTE, Chooser, warn_estimated

E = [[1.0, 0.0], [1.0, 0.1], [0.0, 1.0]]
NONE = [{}, {}, {}, {}]  # metadata


def test_every_skipped_candidate_is_in_one_note():
    rng = np.random.default_rng(0)
    texts = [f"text {i}" for i in range(12)]
    E, scores = rng.standard_normal((12, 6)), rng.random(12)
    choice = Chooser(k=4)(texts, E, scores, [])
    notes = choice.kept(range(12), lambda _, note: note[NOTE])
    assert choice.order == diversify(E, scores, k=4).subset.tolist()
    assert [note["candidate"] for note in notes] == choice.order
    assert [note["rank"] for note in notes] == [0, 1, 2, 3]
    named = [left["candidate"] for note in notes for left in note["skipped"]]
    assert sorted(named + choice.order) == list(range(12))
    for note in notes:
        for left in note["skipped"]:
            assert left["text"] == texts[left["candidate"]]
            assert choice.selection.nearest.items[left["candidate"]] == note["candidate"]


def test_token_budget_without_a_counter_is_estimated_and_told_once(recwarn):
    """Without the network, as all tests; tiktoken would fetch its tables."""
    warn_estimated.cache_clear()
    chooser = Chooser(max_tokens=3)
    for _ in range(3):
        assert chooser(["abcde", "abcd", "xyz", "u" * 99], [*E, [1, 1]], [3.0, 2.9, 2.8, 0], NONE).selection.cost == 3
    assert len([one for one in recwarn if "every four bytes" in str(one.message)]) == 1
    # a Chinese character is a token or so, not a quarter of one
    assert Chooser(max_tokens=9)(["\u6f6e" * 12, "\u6c34" * 13], np.eye(2), [2.0, 3.0], [{}, {}]).order == [0]


def test_quotas_by_a_field():
    rng = np.random.default_rng(1)
    E, scores = rng.standard_normal((12, 5)), np.arange(12.0)
    metadata = [{"source": source} for source in [*"cc", 3, *"bbb"]] + [{"source": "a"}] * 5 + [{}]

    def chosen(**quotas):
        order = Chooser(k=6, groups="source", diversity=0.0, **quotas)([""] * 12, E, scores, metadata).order
        return sorted(str(metadata[i].get("source")) for i in order)

    assert chosen(max_per_group=1) == ["3", "None", "a", "b", "c"]
    assert chosen(max_per_group={"a": 2, "absent": 1}) == ["None", "a", "a", "b", "b", "b"]
    assert chosen(min_per_group={"c": 5, 3: 1, "absent": 2}) == ["3", "None", "a", "a", "c", "c"]  # there are two c
    assert chosen(min_per_group=1, max_per_group={"a": 3}) == ["3", "None", "a", "a", "b", "c"]
    with pytest.raises(ValueError, match="min_per_group must be at least 0"):
        chosen(min_per_group={"a": -1})


def test_groups_are_a_field_of_the_metadata():
    rng = np.random.default_rng(1)
    E, scores = rng.standard_normal((9, 5)), rng.random(9)
    sources = [*"aaabbb", None, None, None]
    metadata = [{"source": source} if source else {} for source in sources]
    choice = Chooser(k=7, groups="source", max_per_group=1)([""] * 9, E, scores, metadata)
    chosen = [sources[i] for i in choice.order]
    assert sorted(map(str, chosen)) == ["None", "None", "None", "a", "b"]
    mixed = [{"source": value} for value in (1, "1", float("nan"), float("nan"), None, 1, 1, 1, 1)]
    assert len(Chooser(k=9, groups="source", max_per_group=1)([""] * 9, E, scores, mixed).order) == 5
    assert len(Chooser(k=7, groups="source", max_per_group=1, backfill=True)([""] * 9, E, scores, metadata).order) == 7
    with pytest.raises(ValueError, match=r"No candidate has the field 'sauce'.*\['source'\]"):
        Chooser(k=2, groups="sauce", max_per_group=1)([""] * 9, E, scores, metadata)
    with pytest.raises(ValueError, match="go together"):
        Chooser(k=2, groups="source")


@pytest.mark.parametrize(
    ("adapter", "package", "module"),
    [
        ("langchain", "langchain-core", "langchain_core.documents"),
        ("llamaindex", "llama-index-core", "llama_index.core.bridge.pydantic"),
        ("haystack", "haystack-ai", "haystack"),
    ],
)
def test_message_without_the_framework(adapter, package, module, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, f"dpplearn.integrations.{adapter}", raising=False)
    with pytest.raises(ImportError, match=f"pip install {package}"):
        importlib.import_module(f"dpplearn.integrations.{adapter}")
